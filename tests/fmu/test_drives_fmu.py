"""Events of friction and limits in FMUs: inside steps, and by event indicators of an importer's solver."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

import bough


def _slide(name: str, **hinge: Any) -> dict[str, Any]:
    rail = {"name": "rail", "type": "prismatic", "axis": [1, 0, 0], **hinge}
    return {
        "bough": 1,
        "name": name,
        "bodies": [{"name": "b", "parent": "ground", "hinge": rail, "rigid": {"mass": 2.0}}],
    }


RUBS = _slide("rubs", stiffness=50.0, initial={"s": 1.0}, friction={"coulomb": 3.0, "static": 5.0, "stribeck": 0.1})
BALL = {**_slide("ball", initial={"s": 1.0}, limits={"lower": 0.0, "restitution": 0.7}), "gravity": [-9.81, 0, 0]}


@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize(("model", "count", "flag"), [(RUBS, 1, "rail.sticking"), (BALL, 2, "rail.contact")])
def test_cosimulation_model_exchange_and_simulate_agree_across_events(
    tmp_path: Path, version: str, model: dict[str, Any], count: int, flag: str
) -> None:
    path = tmp_path / "m.fmu"
    bough.build_fmu(model, path, fmi=version, platforms="x86_64-linux")
    assert validate_fmu(str(path)) == []
    description = fmpy.read_model_description(str(path))
    assert description.numberOfEventIndicators == count or len(description.eventIndicators) == count
    expected = bough.simulate(model, stop=3.0, step=0.01, rtol=1e-11)
    for kind in ("CoSimulation", "ModelExchange"):
        run = fmpy.simulate_fmu(
            str(path),
            fmi_type=kind,
            stop_time=3.0,
            output_interval=0.01,
            step_size=0.01,
            output=["rail.s", flag],
            relative_tolerance=1e-9,
            start_values={"solver.tolerance": 1e-10} if kind == "CoSimulation" else {},
        )
        at = np.searchsorted(expected.t, run["time"] - 1e-9).clip(max=expected.t.size - 1)
        rows = abs(expected.t[at] - run["time"]) < 1e-9  # events add rows
        assert rows.sum() == expected.t.size
        assert abs(run["rail.s"] - expected["rail.s"][at])[rows].max() < 1e-6
        assert (run[flag] == expected[flag][at])[rows].all()
