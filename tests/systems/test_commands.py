"""`bough couple` and `bough run X.ssp` answer as their documentation says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from systems.conftest import drive
from systems.test_refusals import failing
from typer.testing import CliRunner, Result

import bough
from bough.cli import app
from bough.systems import run


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


Writer = Callable[[dict[str, Any]], Path]


def test_couple_and_run_write_package_and_result_and_stay_quiet(parts: Path, written: Writer, tmp_path: Path) -> None:
    package, target = tmp_path / "drive.ssp", tmp_path / "run.csv"
    done = invoke("couple", written(drive(parts)), "-o", package)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    done = invoke("run", package, "--stop", 0.2, "--step", 0.02, "--order", "gauss-seidel", "-o", target)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    found = bough.Result.from_csv(target)
    expected = run(package, 0.2, 0.02, "gauss-seidel")
    assert found["arm.shoulder.w"].tolist() == expected["arm.shoulder.w"].tolist()
    assert len(found) == 11


def test_couple_and_run_answer_a_program(parts: Path, written: Writer, tmp_path: Path) -> None:
    package, target = tmp_path / "drive.ssp", tmp_path / "run.csv"
    data = json.loads(invoke("couple", written(drive(parts)), "-o", package, "--json").stdout)
    assert data["ok"] and data["components"]["arm"]["values"]["shoulder.armature"] == 0.004
    assert data["connections"][0] == {"from": "motor.tau", "to": "arm.shoulder.tau"}
    done = invoke("run", package, "--stop", 0.2, "--tolerance", 1e-4, "--every", 5, "-o", target, "--json")
    data = json.loads(done.stdout)
    assert data["ok"] and data["rows"] == 5 and data["time"] == 0.2 and data["steps"] >= 20
    assert data["ports"][0]["port"] == "motor.tau -> arm.shoulder.tau" and data["ports"][0]["energy"] > 0.0


def test_inputs_and_parameters_come_from_the_command_line(driven: Path, tmp_path: Path) -> None:
    target, table = tmp_path / "run.csv", tmp_path / "in.csv"
    table.write_text("time,motor.u\n0,0\n0.1,3\n", encoding="utf-8")
    done = invoke("run", driven, "--input", table, "--set", "arm.shoulder.damping=0.5", "-o", target, "--stop", 0.3)
    assert done.exit_code == 0, done.stderr
    found = bough.Result.from_csv(target)
    assert found["motor.u"][5] == pytest.approx(1.5) and found["motor.u"][-1] == 3.0


def test_unconnected_input_is_warned_of_on_stderr(parts: Path, written: Writer, tmp_path: Path) -> None:
    done = invoke("couple", written(drive(parts, connections=[])), "-o", tmp_path / "x.ssp")
    assert done.exit_code == 0 and "warning: nothing is connected to arm.shoulder.tau, motor.w" in done.stderr


def test_wrong_system_file_ends_with_1_and_its_problems(parts: Path, written: Writer, tmp_path: Path) -> None:
    path = written(drive(parts, connections=["motor.tau -> arm.elbow.tau"]))
    done = invoke("couple", path, "-o", tmp_path / "x.ssp", "--json")
    assert done.exit_code == 1 and "no variable 'elbow.tau'" in done.stderr
    assert json.loads(done.stdout)["problems"][0]["key"] == "connections[0]"


def test_failure_in_mid_run_ends_with_1_names_component_and_time_and_keeps_the_rows(
    parts: Path, tmp_path: Path
) -> None:
    target = tmp_path / "run.csv"
    done = invoke("run", failing(parts, tmp_path, late=0.55, jump=1e300), "-o", target)
    assert done.exit_code == 1 and done.stdout == ""
    assert "component arm failed at t = 0.6 s" in done.stderr
    assert f"the 7 rows until t = 0.6 s are in {target}" in done.stderr
    assert len(bough.Result.from_csv(target)) == 7


@pytest.mark.parametrize(
    "arguments",
    [
        ["--order", "random"],
        ["--tolerance", "2"],
        ["--every", "0"],
        ["--step", "0"],
        ["--method", "rk4"],
        ["--set", "arm.nothing=1"],
        ["-o", "-", "--json"],
    ],
)
def test_wrong_use_ends_with_2(driven: Path, arguments: list[str]) -> None:
    assert invoke("run", driven, *arguments).exit_code == 2


def test_options_of_packages_are_refused_for_models(tmp_path: Path) -> None:
    done = invoke("run", tmp_path / "model.yaml", "--extrapolation", "linear")
    assert done.exit_code == 2 and "SSP packages only" in done.stderr
