"""A run says when a flexible body leaves the limits of its modes: once per body, with the number and the cure."""

from __future__ import annotations

import copy
import json
import math
import warnings
from pathlib import Path
from typing import Any

import pytest
from small_models import Dict, beam, body, hinge, model, rigid
from typer.testing import CliRunner

import bough
from bough.cli.app import app
from bough.mechanism.limits import body_limits

E, RHO, SIDE, LENGTH = 7e9, 2700.0, 0.02, 2.0
EI, AREA = E * SIDE**4 / 12.0, SIDE**2
FIRST = 1.8751040687119611**2 / LENGTH**2 * math.sqrt(EI / (RHO * AREA))
"""First frequency of the cantilever, rad/s."""
BUCKLING = math.pi**2 * EI / (4.0 * LENGTH**2)
"""Euler's load of the flagpole, N."""


def blade(modes: Dict | None = None, hinge_: Dict | None = None, **more: Any) -> Dict:
    """A square rod on a hub."""
    rod = beam(
        LENGTH,
        modes or {"boundary": "cantilever", "bending_y": 3, "bending_z": 3},
        {"shape": "rectangle", "width": SIDE, "height": SIDE},
        {"E": E, "nu": 0.3, "rho": RHO},
    )
    return model("rotor", body("blade", "ground", hinge_ or hinge("revolute", "hub", [0, 0, 1]), beam=rod), **more)


def spun(rate: float, **more: Any) -> Dict:
    """The rod, turning at a part of its first frequency."""
    out = blade(**more)
    out["bodies"][0]["hinge"]["initial"] = {"w": rate * FIRST}
    return out


def said(made: Dict, stop: float = 0.01, **more: Any) -> list[str]:
    """Warnings of a run."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bough.simulate(made, stop, **more)
    assert all(w.category is bough.TheoryWarning and w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught]


def stepped(made: Dict, stop: float = 0.01) -> list[str]:
    """Warnings of the same run by steps."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = bough.Run(made)
        for _ in range(4):
            run.step(stop / 4)
    assert all(w.category is bough.TheoryWarning and w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught]


def test_spin_near_the_first_frequency_is_told_once_with_number_and_cure() -> None:
    for told in (said(spun(0.5)), stepped(spun(0.5)), bough.check(spun(0.5))["notes"]):
        assert len(told) == 1
        text = told[0] if isinstance(told[0], str) else told[0]["text"]
        assert "body 'blade' turns at" in text
        assert f"0.5 times its first frequency of {FIRST:.3g} rad/s" in text
        assert text.endswith("Cure: geometric_stiffening: true.")


def test_within_limits_nothing_is_said() -> None:
    for made in (spun(0.25), spun(0.9, geometric_stiffening=True), spun(0.0)):
        assert said(made) == stepped(made) == []
        assert bough.check(made)["notes"] == []


def test_spin_about_the_own_axis_needs_no_stiffening() -> None:
    made = blade(hinge_=hinge("revolute", "hub", [1, 0, 0], initial={"w": 0.5 * FIRST}))
    assert said(made) == []


def test_spin_is_of_the_body_and_not_of_its_hinge() -> None:
    """A hub carries a blade whose own hinge stands still; two hinges against each other carry one at rest."""
    carried = blade(hinge_=hinge("fixed", "root"))
    hub = body(
        "hub", "ground", hinge("revolute", "drive", [0, 0, 1], initial={"w": 0.5 * FIRST}), rigid=rigid(1, (1, 1, 1))
    )
    carried["bodies"] = [hub, {**carried["bodies"][0], "parent": "hub"}]
    assert len(said(carried)) == 1
    against = copy.deepcopy(carried)
    against["bodies"][1]["hinge"] = hinge("revolute", "root", [0, 0, 1], initial={"w": -0.5 * FIRST})
    assert said(against) == []


def test_a_run_that_diverges_has_said_why() -> None:
    """The finding that started this: twice the first frequency, a modal coordinate of millions, and not a word."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bough.simulate(spun(2.1), 2.0)
    kinds = [str(w.message).split("'")[2].split()[0] for w in caught]
    assert kinds[0] == "turns"
    assert len(kinds) == len(set(kinds))


@pytest.mark.parametrize("sign", [-1, 1])
def test_axial_load_is_compared_with_eulers_load(sign: int) -> None:
    made = blade(hinge_=hinge("fixed", "root"), inputs=["blade.tip.force"])
    limit = body_limits(bough.Mechanism(made).block.bodies[0], False, False, False, True)
    assert limit is not None
    assert limit.buckling == pytest.approx(BUCKLING, rel=0.01)  # eight nodes, three modes
    word = "pulled" if sign > 0 else "pressed"
    told = said(made, inputs={"blade.tip.force[1]": sign * 0.3 * BUCKLING})
    assert len(told) == 1
    assert f"is {word} along its axis by {0.3 * BUCKLING:.3g} N" in told[0]
    assert said(made, inputs={"blade.tip.force[1]": sign * 0.2 * BUCKLING}) == []
    stiffened = {**made, "geometric_stiffening": True}
    assert said(stiffened, inputs={"blade.tip.force[1]": sign * 0.3 * BUCKLING}) == []


def test_between_two_pins_the_load_is_four_times_as_large() -> None:
    made = blade(modes={"boundary": "craig-bampton", "bending_y": 3, "bending_z": 3}, hinge_=hinge("fixed", "root"))
    data = bough.Mechanism(made).block.bodies[0]
    held = body_limits(data, False, False, True, True)
    assert held is not None
    assert held.buckling == pytest.approx(4.0 * BUCKLING, rel=0.02)


@pytest.mark.parametrize("boundary", ["cantilever", "craig-bampton"])
def test_deflection_above_a_tenth_of_the_length_is_told(boundary: str) -> None:
    """Weight that bends the tip by 0.12 of the length, by either set of modes; check foresees it."""
    gravity = 0.12 * LENGTH * 8.0 * EI / (RHO * AREA * LENGTH**4)
    modes = {"boundary": boundary, "bending_y": 3, "bending_z": 3}
    made = blade(modes, hinge("fixed", "root"), gravity=[0, 0, -gravity])
    notes = bough.check(made)["notes"]
    assert len(notes) == 1
    assert f"bends by {0.12 * LENGTH:.3g} m" in notes[0]["text"]
    assert notes[0]["cure"].startswith("cut it into several bodies")
    # From straight it swings to twice the deflection at rest, and meets the limit on the way.
    told = said(made, 0.6 * 2 * math.pi / FIRST)
    assert len(told) == 1
    assert f"times its length of {LENGTH:g} m" in told[0]
    half = blade(modes, hinge("fixed", "root"), gravity=[0, 0, -0.35 * gravity])
    assert said(half, 0.6 * 2 * math.pi / FIRST) == bough.check(half)["notes"] == []


def test_pieces_of_a_cut_beam_bend_little() -> None:
    gravity = 0.3 * LENGTH * 8.0 * EI / (RHO * AREA * LENGTH**4)
    made = blade(hinge_=hinge("fixed", "root"), gravity=[0, 0, -gravity])
    made["bodies"][0]["beam"] |= {"bodies": 8, "modes": {}}
    assert bough.check(made)["notes"] == []


def test_whirl_of_a_ruthless_body_is_told_from_its_own_number_on() -> None:
    """A spin of 0.05 of the frequency splits the two bending frequencies by that much; ruthless leaves it out."""
    made = blade(hinge_=hinge("revolute", "hub", [1, 0, 0], initial={"w": 0.06 * FIRST}), fidelity="ruthless")
    told = said(made)
    assert len(told) == 1
    assert "gyroscopic" in told[0]
    made["bodies"][0]["hinge"]["initial"] = {"w": 0.04 * FIRST}
    assert said(made) == []


def test_campbell_diagrams_and_modes_tell_what_a_ruthless_body_leaves_out() -> None:
    """The whirl of a body that chose `ruthless` in a full model does not split, and that is said, once per body."""
    made = blade(hinge_=hinge("revolute", "hub", [1, 0, 0]))
    assert steady(made) == []
    made["bodies"][0]["fidelity"] = "ruthless"
    told = steady(made)
    assert len(told) == 2  # of the diagram and of the modes
    assert all("gyroscopic" in text and "in steady motion" in text for text in told)


def steady(made: Dict) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bough.campbell(made, {"hub": (0.0, 0.02 * FIRST, 0.06 * FIRST, 0.08 * FIRST)})
        bough.modes(made, spin={"hub": 0.06 * FIRST})
    assert all(w.category is bough.TheoryWarning and w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught]


def test_the_command_line_tells_what_steady_motion_passes(tmp_path: Path) -> None:
    path = tmp_path / "rotor.yaml"
    path.write_text(json.dumps(blade(hinge_=hinge("revolute", "hub", [1, 0, 0]), fidelity="ruthless")))
    for command in (
        ["campbell", str(path), "--spin", f"hub=0:{FIRST}"],
        ["modes", str(path), "--spin", f"hub={FIRST}"],
    ):
        run = CliRunner().invoke(app, command)
        assert run.exit_code == 0 and run.stderr.count("gyroscopic") == 1


def test_an_undamped_ruthless_model_is_told_when_it_moves() -> None:
    made = blade(fidelity="ruthless")
    made["bodies"][0]["beam"]["damping"] = 0.0
    assert [text[:38] for text in said(made)] == ["body 'blade' is ruthless and its modes"[:38]]
    made["bodies"][0]["hinge"] = hinge("fixed", "root")
    assert said(made) == []


def test_the_command_line_tells_it_on_stderr(tmp_path: Path) -> None:
    path = tmp_path / "rotor.yaml"
    path.write_text(json.dumps(spun(0.5)))
    run = CliRunner().invoke(app, ["run", str(path), "--stop", "0.01", "-o", str(tmp_path / "run.csv")])
    assert run.exit_code == 0
    assert "warning: body 'blade' turns at" in run.stderr
    check = CliRunner().invoke(app, ["check", str(path)])
    assert "note: body 'blade' turns at" in check.stdout
