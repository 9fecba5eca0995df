"""One package, three masters: bough, ecos and fmucontainer take it along one trajectory.

All three hold inputs and step everybody from the same instant (Jacobi). They differ in how they initialize, which
here makes no difference, since no output that is connected depends on an input at once: the trajectories agree to the
last digits. With direct dependencies they agree to the order of the coupling, which is one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import fmpy
import numpy as np
import pytest
from coupling.children import ROWS
from coupling.conftest import drive
from coupling.parts import MOTOR, Numbers, fitted_order
from house.tools import IN_CI

from bough.coupling import couple, run

NAMES = ["arm.shoulder.phi", "arm.shoulder.w", "motor.i", "motor.tau"]
TESTS = Path(__file__).parents[1]
END = ROWS / 10


def ours(package: Path, step: float, **options: str) -> Numbers:
    result = run(package, END, step, **options)
    rows: Numbers = np.array([result[name][:: round(0.1 / step)][1:] for name in NAMES]).T
    return rows


def ecos(package: Path, step: float, folder: Path) -> Numbers:
    job, out = folder / "job.json", folder / "out.npy"
    job.write_text(json.dumps(NAMES), encoding="utf-8")
    command = [sys.executable, "-m", "coupling.children", str(package), str(step), str(job), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=TESTS, timeout=120)
    if "libtbb" in done.stderr and not IN_CI:
        pytest.skip("ecospy needs libtbb12")
    assert done.returncode == 0, done.stderr[-3000:]
    rows: Numbers = np.load(out)
    return rows


def contained(fmu: Path, step: float) -> Numbers:
    # No logger: FMPy keeps the last one for every later FMU of the process, and frees it with the run.
    found = fmpy.simulate_fmu(str(fmu), stop_time=END, step_size=step, output_interval=0.1, output=NAMES)
    rows: Numbers = np.array([found[name][1:] for name in NAMES]).T
    return rows


@pytest.fixture(params=["2", "3"], ids=["fmi2", "fmi3"])
def package(request: pytest.FixtureRequest, parts: Path, tmp_path: Path) -> Path:
    tail = "" if request.param == "2" else "3"
    files = {"arm": str(parts / f"arm{tail}.fmu"), "motor": str(parts / f"motor{tail}.fmu")}
    path = tmp_path / "drive.ssp"
    couple(drive(parts, components=files), path)
    return path


def test_ecos_runs_the_package_along_our_trajectory(package: Path, tmp_path: Path) -> None:
    np.testing.assert_allclose(ecos(package, 0.01, tmp_path), ours(package, 0.01), rtol=1e-9)


def test_fmucontainer_builds_the_package_into_an_fmu_with_our_trajectory(package: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(package) as archive:
        archive.extractall(tmp_path / "unpacked")
    program = Path(sys.executable).with_name("fmucontainer")
    description = Path("..") / "extra" / "bough.fmucontainer" / "container.json"
    folder = tmp_path / "unpacked" / "resources"
    command = [str(program), "-container", str(description), "-fmu-directory", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ})
    assert (folder / "drive.fmu").exists(), done.stdout + done.stderr
    np.testing.assert_allclose(contained(folder / "drive.fmu", 0.01), ours(package, 0.01), rtol=1e-9)


def test_fmucontainer_reads_the_structure_of_the_package(driven: Path, tmp_path: Path) -> None:
    (tmp_path / "drive.ssp").write_bytes(driven.read_bytes())
    program = Path(sys.executable).with_name("fmucontainer")
    command = [str(program), "-container", "drive.ssp:0.01", "-fmu-directory", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ})
    assert (tmp_path / "drive.fmu").exists(), done.stdout + done.stderr
    known = {v.name for v in fmpy.read_model_description(str(tmp_path / "drive.fmu"), validate=False).modelVariables}
    assert {"motor.tau", "arm.shoulder.w"} <= known


def test_masters_agree_to_the_order_of_the_coupling_with_direct_dependencies(parts: Path, tmp_path: Path) -> None:
    motor = {"partner": "motor", "set": {**MOTOR, "L": 0.0}}
    data = drive(parts, components={"arm": str(parts / "arm.fmu"), "motor": motor})
    steps, there, nested = [0.01, 0.005, 0.0025], [], []
    exact = None
    for step in steps:
        package, fmu = tmp_path / "drive.ssp", tmp_path / "drive.fmu"
        data["master"] = {"step": step, "stop": END}
        couple(data, package, platforms="native", container=fmu)
        if exact is None:
            exact = ours(package, 0.0005, extrapolation="linear")[:, 1]
        there.append(float(np.abs(ecos(package, step, tmp_path)[:, 1] - exact).max()))
        nested.append(float(np.abs(contained(fmu, step)[:, 1] - exact).max()))
    assert fitted_order(steps, there) == pytest.approx(1.0, abs=0.2)
    assert fitted_order(steps, nested) == pytest.approx(1.0, abs=0.2)
    # Our own exchange follows direct dependencies at each communication point; it is at least as close.
    assert np.abs(ours(package, steps[-1])[:, 1] - exact).max() < 1.05 * min(there[-1], nested[-1])
