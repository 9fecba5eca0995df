"""A damping that an explicit method cannot step over is told before the run, with the method that can."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import bough
from bough.cli import app
from bough.run.explicit import EXPLICIT, damping_note


def _door(damping: float) -> dict[str, object]:
    hinge = {"name": "pin", "type": "revolute", "axis": [0, 0, 1], "damping": damping, "initial": {"w": 1.0}}
    body = {"name": "door", "parent": "ground", "hinge": hinge, "rigid": {"mass": 1.0, "inertia": [1, 1, 2, 0, 0, 0]}}
    return {"bough": 1, "name": "door", "bodies": [body]}


def test_strong_damping_is_told_with_explicit_methods_only() -> None:
    system = bough.Mechanism(_door(1e6))
    told = damping_note(system, {}, 10.0, "dopri5")
    # dw/dt = -(1e6 / 2) w: a time constant of 2e-6 s, 1.5e6 steps in ten seconds.
    assert "at pin stops a motion in 2e-06 s" in told and "1.5e+06 steps" in told and "rosenbrock2" in told
    assert not damping_note(system, {}, 10.0, "rosenbrock2")
    assert not damping_note(system, {"pin.damping": 1.0}, 10.0, "dopri5")
    assert damping_note(bough.Mechanism(_door(1.0)), {"pin.damping": 1e7}, 10.0, "rk4")


def test_the_bound_on_the_step_is_that_of_the_method() -> None:
    # Below the bound rk4 damps, above it the motion grows: w halves at a rate of 1000 / s.
    for factor, stable in ((0.98, True), (1.02, False)):
        step = factor * EXPLICIT["rk4"] / 1000.0
        run = bough.simulate(_door(2000.0), stop=200 * step, step=step, method="rk4")
        assert (abs(run["pin.w"][-1]) < 1.0) == stable


def test_run_command_warns_before_it_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "door.json"
    path.write_text(json.dumps(_door(1e9)), encoding="utf-8")
    arguments = ["run", str(path), "--stop", "0.1", "-o", str(tmp_path / "x.csv"), "--method", "rosenbrock2"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0 and "warning" not in done.stderr
    assert np.isfinite(bough.Result.load(tmp_path / "x.csv")["pin.w"]).all()

    def run_set(*_: object) -> None:
        raise bough.SimulationError("the run begins")

    monkeypatch.setattr("bough.run.studies.run_set", run_set)
    told = CliRunner().invoke(app, arguments[:-2]).stderr
    assert told.index("warning: the damping at pin") < told.index("the run begins")


@pytest.mark.parametrize("damping", [0.0, 5.0])
def test_ordinary_models_get_no_note(damping: float) -> None:
    assert not damping_note(bough.Mechanism(_door(damping)), {}, 10.0, "dopri5")
