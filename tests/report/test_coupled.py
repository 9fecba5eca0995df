"""The report of a coupled run tells the mechanism from its motors and controllers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from report.mechanisms import slider_run
from small_models import SLIDER
from typer.testing import CliRunner

import bough
from bough.cli import app
from bough.partners import describe_partner
from bough.report import charts, render_page
from bough.report.charts import COORDINATES, Chart
from bough.report.choice import drawn_charts

ARM = {
    "bough": 1,
    "name": "two_hinges",
    "bodies": [
        {"name": "a", "parent": "ground", "hinge": {"name": "one", "type": "revolute", "axis": [0, 0, 1]},
         "rigid": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0], "nodes": {"tip": {"position": [1, 0, 0]}}}},
        {"name": "b", "parent": "a", "at": "tip", "hinge": {"name": "two", "type": "revolute", "axis": [0, 0, 1]},
         "rigid": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}},
    ],
}  # fmt: skip


def _partner_names(kind: str, axes: int) -> dict[str, str]:
    """Inputs and outputs of a partner, as a master records them, with their units."""
    partner = describe_partner(kind, axes, model=ARM if kind == "model-controller" else None)
    return {name: q.unit for q in partner.quantities if q.role in ("input", "output") for name in partner.names(q)}


def _coupled(kind: str = "controller") -> bough.Result:
    """A crane, its motor and its controller in one result, with their units, as the master of a system gives it."""
    _, run = slider_run()
    t = run.t
    columns = {f"crane.{name}": run[name] for name in run.names}
    units = {f"crane.{name}": unit for name, unit in run.units.items()}
    for owner, partner in (("motor", "motor"), ("controller", kind)):
        names = _partner_names(partner, 2)
        units |= {f"{owner}.{name}": unit for name, unit in names.items()}
        for i, name in enumerate(names):
            columns[f"{owner}.{name}"] = np.sin((i + 2) * t) * (10.0 if owner == "motor" else 40.0)
    for name in ("phi_cmd", "w_cmd", "a_cmd"):
        columns |= {f"controller.{name}[{i}]": np.zeros(t.size) for i in (1, 2)}
    columns["motor.armature[1]"] = np.full(t.size, 0.02)
    columns["motor.w[1]"] = run["luff.w"]
    return bough.Result(t, columns, units)


def _of(drawn: list[Chart], title: str) -> Chart:
    return next(chart for chart in drawn if chart.title == title)


def test_hinge_charts_hold_hinges_of_the_mechanism_only() -> None:
    drawn = charts(_coupled())
    assert _of(drawn, "Hinge angles").names == ("crane.luff.phi",)
    for chart in drawn:
        if chart.title.startswith(("Hinge", "Modal", "Reaction", "Node")):
            assert all(name.startswith("crane.") for name in chart.names), chart.title


def test_estimated_modes_of_a_controller_are_not_the_mechanisms() -> None:
    model = {**ARM, "bodies": [*ARM["bodies"][:1]]}  # type: ignore[misc]
    t = np.linspace(0.0, 1.0, 3)
    names = [f"controller.{name}" for name in _partner_names("model-controller", 1)] + ["controller.eta[1]"]
    names += [f"arm.{v.name}" for v in bough.Mechanism(model).variables] + ["arm.boom.eta[1]"]
    drawn = charts(bough.Result(t, dict.fromkeys(names, t)))
    assert _of(drawn, "Modal amplitudes").names == ("arm.boom.eta[1]",)


def test_foreign_component_with_an_angle_is_no_hinge() -> None:
    result = _coupled()
    columns = {name: result[name] for name in result.names} | {"encoder.phi": result.t, "encoder.w": result.t}
    assert "encoder.phi" not in _of(charts(bough.Result(result.t, columns)), "Hinge angles").names


def test_quantities_of_partners_are_drawn_by_unit() -> None:
    drawn = charts(_coupled())
    assert {chart.title: chart.unit for chart in drawn}.items() >= {
        "Voltages": "V", "Currents": "A", "Power": "W", "Torques": "N.m", "Inertias": "kg.m2"
    }.items()  # fmt: skip
    for chart in drawn:
        assert chart.unit or not any(name.startswith("motor.") for name in chart.names), chart.title


def test_reference_and_error_of_a_controller_come_first() -> None:
    drawn = charts(_coupled())
    assert [chart.title for chart in drawn[:3]] == [
        "controller: angle, reference and actual",
        "controller: error, reference minus measured",
        "controller: angular speed, reference and actual",
    ]
    assert drawn[0].names == tuple(f"controller.{name}[{i}]" for i in (1, 2) for name in ("phi_ref", "phi"))
    assert (drawn[0].unit, drawn[0].paired) == ("rad", True)
    page = render_page(_coupled(), "x")
    headings = [each.strip() for each in re.findall(r"<h2>([^<]*)", page)]
    assert headings[0] == "controller: angle, reference and actual"


def test_reference_in_another_unit_has_a_chart_of_its_own() -> None:
    t = np.linspace(0.0, 1.0, 3)
    drawn = charts(bough.Result(t, {"c.phi": t, "c.phi_ref": t, "c.u": t}, {"c.phi": "rad", "c.phi_ref": "deg"}))
    assert [(chart.unit, chart.names, chart.paired) for chart in drawn[:2]] == [
        ("rad", ("c.phi",), False),
        ("deg", ("c.phi_ref",), False),
    ]


def test_constants_and_copies_are_in_the_table_only() -> None:
    result = _coupled()
    every = charts(result)
    drawn = drawn_charts(result, every)
    shown = {name for chart in drawn for name in chart.names}
    assert not shown & {"controller.phi_cmd[1]", "controller.a_cmd[2]", "motor.armature[1]"}
    assert "motor.w[1]" not in shown, "it is the hinge's"
    assert "motor.w[1] is crane.luff.w" in _of(drawn, "Angular speeds").caption
    page = render_page(result, "x")
    for name in result.names:
        assert f"<td>{name}</td>" in page


def test_hinge_coordinates_at_rest_are_drawn_and_a_run_at_rest_is_too() -> None:
    t = np.linspace(0.0, 1.0, 3)
    rest = {"h.phi": 0 * t, "h.w": 0 * t, "h.a": 0 * t}
    resting = bough.Result(t, rest)
    assert [chart.title for chart in drawn_charts(resting, charts(resting))] == ["Hinge angles"]
    moving = bough.Result(t, {**rest, "h.tau": t})
    assert [chart.title for chart in drawn_charts(moving, charts(moving))] == ["Hinge angles", "Hinge torques"]
    still = bough.Result(t, {"x.y": 0 * t, "x.z": 0 * t})
    assert len(drawn_charts(still, charts(still))) == 2, "nothing else is left"
    assert "Hinge angles" in COORDINATES


def _csv(folder: Path, result: bough.Result) -> Path:
    path = folder / "drive.csv"
    few = range(0, len(result), 50)
    bough.Result(result.t[few], {name: result[name][few] for name in result.names}, result.units).to_csv(path)
    return path


def test_report_command_names_the_model_and_shows_voltages(tmp_path: Path) -> None:
    model, path = tmp_path / "model.json", _csv(tmp_path, _coupled())
    model.write_text(json.dumps(SLIDER), encoding="utf-8")
    done = CliRunner().invoke(app, ["report", str(path), "--model", str(model)])
    assert done.exit_code == 0, done.output
    page = path.with_suffix(".html").read_text(encoding="utf-8")
    assert "<h1>slider with motor, controller</h1><p>drive.csv: " in page
    headings = [each.strip() for each in re.findall(r"<h2>([^<]*)", page)]
    assert {"Voltages", "Currents", "Power"} <= set(headings)
    assert headings.index("Motion") < headings.index("controller: angle, reference and actual")
    assert headings.index("controller: angle, reference and actual") < headings.index("Energy")


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("gantry.yaml", "bough: 1\n", "expected the CSV file of a run, found a model or a system file; run it first"),
        ("gantry.csv", "bough: 1\n", "gantry.csv:1: expected a header that begins with 'time', found 'bough: 1'; give"),
        ("empty.csv", "", "expected a header that begins with 'time', found an empty file"),
        ("nofile.csv", None, "cannot read nofile.csv: there is no such file\n"),
    ],
)
def test_what_is_no_result_is_refused_with_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str | None, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path(name).write_text(text, encoding="utf-8")
    done = CliRunner().invoke(app, ["report", name])
    assert done.exit_code == 1
    assert told in done.output
    assert done.output.count(name) <= 2
    assert "Errno" not in done.output


def test_several_controllers_lead_in_turn_each_with_angle_error_and_speed() -> None:
    _, run = slider_run()
    columns = {f"crane.{name}": run[name] for name in run.names}
    owners = {"left": "controller", "right": "controller", "whole": "model-controller"}
    names = {owner: _partner_names(kind, 2) for owner, kind in owners.items()}
    # As a master may record them: one variable of each in turn.
    for i in range(max(map(len, names.values()))):
        for owner in owners:
            for name in list(names[owner])[i : i + 1]:
                columns[f"{owner}.{name}"] = np.sin((i + 2) * run.t)
    result = bough.Result(run.t, columns)
    parts = ("angle, reference and actual", "error, reference minus measured", "angular speed, reference and actual")
    wanted = [f"{owner}: {part}" for owner in owners for part in parts]
    for drawn in (charts(result), drawn_charts(result, charts(result))):
        assert [chart.title for chart in drawn if chart.leads] == wanted
        assert [chart.title for chart in drawn[: len(wanted)]] == wanted


def test_a_controller_of_a_translation_leads_with_its_error_too() -> None:
    t = np.linspace(0.0, 1.0, 5)
    columns = {f"c.{name}": (i + 1.0) * t for i, name in enumerate(("v_ref", "v", "e", "s_ref", "s"))}
    drawn = charts(bough.Result(t, columns))
    parts = ("position, reference and actual", "error, reference minus measured", "speed, reference and actual")
    assert [chart.title for chart in drawn] == [f"c: {part}" for part in parts]
