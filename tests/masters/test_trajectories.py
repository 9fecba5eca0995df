"""One model, one trajectory: simulate, FMPy (both kinds of FMU), ecospy, libcosimpy, and an FMU in an FMU.

Every run integrates with dopri5 to a relative tolerance of 1e-11, but each master makes the solver stop at its own
communication points, so that steps differ: runs agree to the tolerance times what the motion makes of it in a second,
and that is asked to be below 1e-9 of each output's largest value (at least one).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmu.fmi import Array
from fmu.models import system
from house.tools import IN_CI
from masters.children import EVERY, ROWS, STEP
from masters.conftest import Builder

import bough

AGREE = 1e-9
INPUTS = {
    "arm": {"shoulder.tau": 0.3, "lower.tip.force[3]": 0.5, "hand.tool.torque[1]": 0.01},
    "flyer": {"root.tau": 0.1},
}
TESTS = Path(__file__).parents[1]


def names(model: str) -> list[str]:
    return [v.name for v in system(model).variables if v.causality == "output"]


def start(model: str) -> dict[str, float]:
    return {**INPUTS[model], "solver.tolerance": 1e-11}


@cache
def reference(model: str) -> Array:
    """A row per tenth of a second of every output, from bough.simulate."""
    run = bough.simulate(system(model), ROWS * EVERY * STEP, INPUTS[model], step=EVERY * STEP, rtol=1e-11)
    rows: Array = np.array([run[n] for n in names(model)]).T[1:]
    return rows


def differ(rows: Array, model: str) -> float:
    expected = reference(model)
    assert rows.shape == expected.shape
    return float(np.max(np.abs(rows - expected) / np.maximum(1.0, np.abs(expected).max(axis=0))))


def fmpy_run(path: Path, model: str, kind: str, values: dict[str, float], **options: float) -> Array:
    wanted = names(model)
    out = fmpy.simulate_fmu(
        str(path),
        stop_time=ROWS * EVERY * STEP,
        output_interval=STEP,
        fmi_type=kind,
        start_values=values,
        output=wanted,
        **options,
    )
    rows: Array = np.array([out[n] for n in wanted]).T[EVERY::EVERY]
    return rows


@pytest.mark.parametrize("model", ["arm", "flyer"])
def test_fmpy_steps_the_co_simulation_fmu_along_the_trajectory_of_simulate(
    built: Builder, fmi: str, model: str
) -> None:
    rows = fmpy_run(built(model, fmi), model, "CoSimulation", start(model), step_size=STEP)
    assert differ(rows, model) < AGREE


@pytest.mark.parametrize("model", ["arm", "flyer"])
def test_fmpy_integrates_the_model_exchange_fmu_with_cvode_to_its_tolerance(
    built: Builder, fmi: str, model: str
) -> None:
    """CVODE controls the error of each step: what adds up over a second is some thousand times its tolerance for
    states, and accelerations see deflections times squares of frequencies."""
    rows = fmpy_run(built(model, fmi), model, "ModelExchange", INPUTS[model], relative_tolerance=1e-10)
    states = [names(model).index(n) for n in (*system(model).q_names, *system(model).u_names)]
    expected = reference(model)
    scale = np.maximum(1.0, np.abs(expected).max(axis=0))
    error = np.abs(rows - expected) / scale
    assert error[:, states].max() < 1e-6
    assert error.max() < 1e-4


def child(master: str, path: Path, model: str, folder: Path, tolerance: str = "solver.tolerance") -> Array:
    job, out = folder / "job.json", folder / "out.npy"
    job.write_text(json.dumps([names(model), {**INPUTS[model], tolerance: 1e-11}]), encoding="utf-8")
    command = [sys.executable, "-X", "faulthandler", "-m", "masters.children", master, str(path), str(job), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=TESTS, timeout=120)
    if "libtbb" in done.stderr and not IN_CI:
        pytest.skip("ecospy needs libtbb12")
    assert done.returncode == 0, done.stderr[-3000:]
    rows: Array = np.load(out)
    return rows


@pytest.mark.parametrize("model", ["arm", "flyer"])
def test_ecos_gives_the_trajectory_of_simulate(built: Builder, fmi: str, model: str, tmp_path: Path) -> None:
    assert differ(child("ecos", built(model, fmi), model, tmp_path), model) < AGREE


@pytest.mark.parametrize("model", ["arm", "flyer"])
def test_libcosim_gives_the_trajectory_of_simulate(built: Builder, model: str, tmp_path: Path) -> None:
    """FMI 2 only: libcosimpy knows no other."""
    assert differ(child("cosim", built(model, "2.0"), model, tmp_path), model) < AGREE


def test_fmu_nested_in_a_container_gives_the_trajectory_of_simulate(built: Builder, fmi: str, tmp_path: Path) -> None:
    path = built("arm", fmi)
    description = {
        "name": "nest.fmu",
        "fmu": [path.name],
        "step_size": STEP,
        "auto_input": True,
        "auto_output": True,
        "auto_link": False,
        "auto_parameter": True,
    }
    (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "nest.json").write_text(json.dumps(description), encoding="utf-8")
    program = Path(sys.executable).with_name("fmucontainer")
    command = [str(program), "-container", "nest.json", "-fmu-directory", str(tmp_path), "-fmi", fmi[0]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ})
    nest = tmp_path / "nest.fmu"
    assert nest.exists(), done.stdout + done.stderr
    known = {v.name for v in fmpy.read_model_description(str(nest), validate=False).modelVariables}
    tolerance = next(n for n in known if n.endswith("solver.tolerance"))
    assert differ(child("container", nest, "arm", tmp_path, tolerance), "arm") < AGREE
