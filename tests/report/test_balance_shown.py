"""The report states where energy came from and went, and what the balance leaves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from house.chromium import open_page
from small_models import body, hinge, model

import bough
from bough.report.charts import charts
from bough.report.retrace import balance_series


def drive() -> dict[str, Any]:
    """A bar behind a gear with play, with friction, a rigid stop, a strut and a wheel."""
    joint = hinge(
        "revolute",
        "joint",
        [0, 0, 1],
        damping=0.1,
        friction={"coulomb": 1.0},
        limits={"lower": -1, "upper": 1, "restitution": 0.4},
        gear={"ratio": 100, "inertia": 1e-4, "stiffness": 1e4, "damping": 30, "backlash": 1e-2},
    )
    bar = {
        "mass": 3.0,
        "com": [0.4, 0, 0],
        "inertia": [0.01, 0.2, 0.2, 0, 0, 0],
        "nodes": {"eye": {"position": [0.8, 0, 0]}},
        "wheels": [{"name": "rw", "axis": [0, 0, 1], "inertia": 1e-3}],
    }
    strut = {"name": "strut", "type": "spring", "between": ["arm.eye", "ground.origin"], "stiffness": 200, "damping": 5}
    strut |= {"frames": [{}, {"position": [0.3, -0.6, 0]}]}
    return model("drive", body("arm", "ground", joint, rigid=bar), gravity=[0, -9.81, 0], forces=[strut])


def driven(stop: float = 2.0) -> bough.Result:
    inputs = {"joint.tau": lambda t: 0.3 * np.sin(6.0 * t), "arm.rw.tau": lambda t: 0.01 * np.cos(t)}
    return bough.simulate(drive(), stop=stop, inputs=inputs, step=0.005)


def test_every_contribution_has_a_curve_and_the_caption_states_the_residual() -> None:
    (series,) = balance_series(bough.Mechanism(drive()), driven())
    parts = ["damping of joint", "friction of joint", "shaft of joint", "strut", "impacts"]
    works = ["work of joint.tau", "work of arm.rw.tau"]
    assert set(series.curves) == {"energy gained", *works, *(f"lost in {part}" for part in parts), "residual"}
    # A damped shaft of 30 Hz, with play, in rows of 5 ms.
    found = re.match(
        r"Energy gained less work plus losses leaves (\S+) J at most, (\S+) of the (\S+) J", series.caption
    )
    assert found is not None
    left, share, whole = map(float, found.groups())
    assert left == float(f"{abs(series.curves['residual']).max():.2g}") and left < 1e-3 * whole
    assert share == float(f"{left / whole:.1g}")
    assert "impacts take is found by difference" in series.caption and "That is much" not in series.caption


def test_a_run_that_another_model_made_is_doubted() -> None:
    other = drive()
    other["bodies"][0]["rigid"]["mass"] = 4.0
    (series,) = balance_series(bough.Mechanism(other), driven())
    assert "That is much" in series.caption


def test_small_contributions_are_summed_up() -> None:
    rod = {"mass": 1.0, "com": [0.5, 0, 0]}
    bodies = [
        body(f"b{i}", "ground", hinge("revolute", f"h{i}", [0, 0, 1], damping=0.01 * (1 + i)), rigid=rod)
        for i in range(12)
    ]
    row = model("row", *bodies, gravity=[0, -9.81, 0])
    (series,) = balance_series(bough.Mechanism(row), bough.simulate(row, stop=0.5, step=0.01))
    assert "lost in 4 others" in series.curves and len(series.curves) == 11
    whole = sum(y for name, y in series.curves.items() if name.startswith("lost"))
    assert abs(series.curves["energy gained"] + whole - series.curves["residual"]).max() < 1e-12


def test_the_page_shows_the_balance_as_a_chart_and_in_its_numbers(tmp_path: Path) -> None:
    bough.write_report(driven(0.5), tmp_path / "run.html", drive())
    with open_page(tmp_path / "run.html") as page:
        titles = page.evaluate("[...document.querySelectorAll('section h2')].map(h => h.textContent)")
        assert any(title.startswith("Energy balance") for title in titles)
        cells = page.evaluate("[...document.querySelectorAll('#numbers td:first-child')].map(c => c.textContent)")
        assert {"work of joint.tau", "lost in friction of joint", "residual"} <= set(cells)
        assert page.evaluate("document.body.textContent.includes('Energy gained less work plus losses leaves')")
        assert page.errors == []


def test_hinges_with_friction_gears_and_forces_have_charts_of_their_kind() -> None:
    drawn = {chart.title: chart.names for chart in charts(driven(0.02))}
    assert drawn["Hinge angles"] == ("joint.phi", "arm.rw.phi", "joint.rotor.phi")
    assert drawn["Friction in hinges"] == ("joint.friction",)
    assert drawn["Hinges that stick (1: held by friction)"] == ("joint.sticking",)
    assert drawn["Hinges at a limit (-1: lower, 1: upper)"] == ("joint.contact",)
    assert drawn["Momenta of wheels"] == ("arm.rw.h",)
    assert drawn["Forces between nodes"] == ("strut.f",)
    assert drawn["Lengths and gaps of forces"] == ("strut.s",)
