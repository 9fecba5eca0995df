"""Whatever a command can do, Python can do with one call; help, completion and doctor say what there is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from small_models import SLIDER
from typer.testing import CliRunner

import bough
from bough.cli import app
from bough.cli.app import FMUS, HELP, MODELS, SYSTEMS

BEAM = {
    "length": 1.0,
    "elements": 6,
    "section": {"shape": "rectangle", "width": 0.02, "height": 0.01},
    "material": {"E": 70e9, "nu": 0.33, "rho": 2700},
    "modes": {"boundary": "cantilever", "bending_y": 1, "torsion": 1},
}
SWING = {
    "bough": 1,
    "name": "swing",
    "gravity": [0, 0, -9.81],
    "bodies": [
        {
            "name": "boom",
            "parent": "ground",
            "hinge": {"name": "pin", "type": "revolute", "axis": [0, 1, 0]},
            "beam": BEAM,
        }
    ],
}
UP, DOWN = -np.pi / 2, np.pi / 2
"""Angles of the pin, rad, at which the boom stands and hangs."""


def _json(*arguments: object) -> dict[str, object]:
    done = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_calls_give_what_the_commands_answer(tmp_path: Path) -> None:
    path = tmp_path / "swing.json"
    path.write_text(json.dumps(SWING), encoding="utf-8")
    assert bough.check(path) == _json("check", path)
    assert {"bodies": bough.flex_summary(path)} == _json("flex", path)
    answered = _json("modes", path, "--at", f"pin.phi={DOWN}")["modes"]
    assert [mode["frequency"] for mode in answered] == [m.frequency for m in bough.modes(path, {"pin.phi": DOWN}).modes]


def test_a_hanging_boom_swings_as_the_formula_says() -> None:
    slow = bough.modes(SWING, {"pin.phi": DOWN}).modes[0]
    # A uniform rod about its end: omega^2 = 3 g / (2 L); its bending, forty times faster, lowers it by some 1e-4.
    assert 2 * np.pi * slow.frequency == pytest.approx(np.sqrt(1.5 * 9.81), rel=2e-3)


def test_growing_motions_and_torsion_are_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "swing.json"
    path.write_text(json.dumps(SWING), encoding="utf-8")
    told = CliRunner().invoke(app, ["modes", str(path), "--at", f"pin.phi={UP}"]).stdout
    # The same rate as the frequency of the hanging boom: 1 / sqrt(3 g / (2 L)) = 0.2607 s.
    assert "grows e-fold in 0.261 s" in told and "-100" not in told
    assert "boom.eta_dot[2] (torsion 1) 100 %" in told


def test_positions_that_make_no_sense_are_refused() -> None:
    for at, message in (({"pin.fi": 0.0}, "did you mean 'pin.phi'"), ({"pin.phi": np.nan}, "finite number")):
        with pytest.raises(bough.BoughError, match=message):
            bough.modes(SWING, at)
    with pytest.raises(ValueError, match="at: expected length 1, found a quaternion base.Q of length 2"):
        free = {"name": "b", "parent": "ground", "hinge": {"name": "base", "type": "free"}}
        body = {**free, "rigid": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}}
        bough.modes({"bough": 1, "name": "f", "bodies": [body]}, {"base.Q[4]": 2.0})


def test_doctor_tells_of_this_machine() -> None:
    found = bough.doctor()
    assert found["bough"] == bough.__version__ and found["packages"]["numpy"] == np.__version__
    assert found["kernel"]["runs"] in found["kernel"]["builds"]
    assert found["machine"] in found["fmu"]["platforms"]["2.0"]
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == (0 if found["ok"] else 1)
    for word in (f"numpy {np.__version__}", found["machine"], "pythonfmu"):
        assert word in done.stdout


def test_doctor_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = bough.fmu.doctor._version
    monkeypatch.setattr("bough.fmu.doctor._version", lambda name: None if name == "rich" else real(name))
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 1 and "`pip install rich`" in done.stdout


def test_every_command_is_in_a_panel_of_the_help() -> None:
    for command in [*app.registered_commands, *app.registered_groups]:
        assert command.rich_help_panel in (MODELS, FMUS, SYSTEMS, HELP)
    shown = CliRunner().invoke(app, ["--help"]).stdout
    assert [shown.index(panel) for panel in (MODELS, FMUS, SYSTEMS, HELP)] == sorted(
        shown.index(panel) for panel in (MODELS, FMUS, SYSTEMS, HELP)
    )


@pytest.mark.parametrize(("words", "wanted"), [("bough re", {"report", "record"}), ("bough run --st", {"--stop"})])
def test_shells_complete_commands_and_options(words: str, wanted: set[str]) -> None:
    about = {"_BOUGH_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    code = "import sys; sys.argv[0] = 'bough'; from bough.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **about}, capture_output=True, text=True, check=False
    )
    assert wanted <= set(done.stdout.split()), done


def test_notebooks_show_a_plot_and_a_table_of_a_result_and_a_summary_of_models() -> None:
    run = bough.simulate(SLIDER, 0.2, step=0.01)
    shown = run._repr_html_()
    assert (
        shown.count("<svg") == 1 and "<table>" in shown and f"<td style='text-align:left'>{run.names[0]}</td>" in shown
    )
    svg = ElementTree.fromstring(shown[shown.index("<svg") : shown.index("</svg>") + 6])
    assert sum("line2d" in (each.get("id") or "") for each in svg.iter()) > 3, "curves are in the plot"
    assert "0 rows" in bough.Result(np.zeros(0), {})._repr_html_()
    model = bough.load(SWING)
    assert "<td>boom</td><td>beam</td><td>ground.origin</td><td>pin: revolute</td><td>2</td>" in model._repr_html_()
    assert "pin.phi, boom.eta[1]" in bough.Mechanism(model)._repr_html_()
