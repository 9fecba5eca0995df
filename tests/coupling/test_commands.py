"""`bough couple` and `bough run X.ssp` answer as their documentation says."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from coupling.conftest import drive
from coupling.test_refusals import failing
from house.tools import ROOT
from ruamel.yaml import YAML
from typer.testing import CliRunner, Result

import bough
from bough.cli import app
from bough.coupling import Interrupted, run
from bough.demo.drive import MODEL_SYSTEM, SYSTEM


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


Writer = Callable[[dict[str, Any]], Path]


def test_couple_and_run_write_package_and_result_and_say_so(parts: Path, written: Writer, tmp_path: Path) -> None:
    """Connections are counted as the user has written them: one of the three has become a parameter."""
    package, target = tmp_path / "drive.ssp", tmp_path / "run.csv"
    done = invoke("couple", written(drive(parts)), "-o", package)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{package}: arm, motor; 3 connections (1 sets a parameter); ")
    done = invoke("run", package, "--stop", 0.2, "--step", 0.02, "--order", "gauss-seidel", "-o", target)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{target}: 11 rows of ")
    found = bough.Result.from_csv(target)
    expected = run(package, 0.2, 0.02, "gauss-seidel")
    assert found["arm.shoulder.w"].tolist() == expected["arm.shoulder.w"].tolist()
    assert len(found) == 11


def test_couple_and_run_answer_a_program(parts: Path, written: Writer, tmp_path: Path) -> None:
    package, target = tmp_path / "drive.ssp", tmp_path / "run.csv"
    data = json.loads(invoke("couple", written(drive(parts)), "-o", package, "--json").stdout)
    assert data["ok"] and data["components"]["arm"]["values"]["shoulder.armature"] == 0.004
    assert data["connections"][0] == {"from": "motor.tau", "to": "arm.shoulder.tau"}
    assert data["parameters"] == [{"from": "motor.armature", "to": "arm.shoulder.armature", "value": 0.004}]
    assert data["open_inputs"] == ["motor.u"]
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


def test_system_file_runs_as_it_is(parts: Path, driven: Path, written: Writer, tmp_path: Path) -> None:
    target = tmp_path / "run.csv"
    done = invoke("run", written(drive(parts)), "--stop", 0.2, "--set", "motor.u=1", "-o", target)
    assert (done.exit_code, done.stderr) == (0, "")
    expected = run(driven, 0.2, values={"motor.u": 1.0})
    assert bough.Result.from_csv(target)["arm.shoulder.w"].tolist() == expected["arm.shoulder.w"].tolist()
    done = invoke("run", written(drive(parts, connections=["motor.tau -> arm.elbow.tau"])), "--json")
    assert done.exit_code == 1 and json.loads(done.stdout)["problems"][0]["key"] == "connections[0]"


def test_setting_that_is_not_there_names_the_component_and_what_can_be_set_in_it(driven: Path) -> None:
    done = invoke("run", driven, "--set", "motor.KT=2")
    message = " ".join(done.stderr.replace("│", " ").split())
    assert done.exit_code == 2
    assert "component motor has no 'KT'; did you mean 'motor.Kt'?" in message
    assert "In motor you can set: u, Ka, u_max, R, L, Kt, Kb, N, eta, J, i_max" in message and "arm." not in message


def test_interrupted_run_keeps_its_rows(
    driven: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Ctrl-C is the signal itself, sent when half of the run is done."""

    @contextlib.contextmanager
    def bar(title: str) -> Iterator[Callable[[float], None]]:
        yield lambda fraction: signal.raise_signal(signal.SIGINT) if fraction > 0.5 else None

    monkeypatch.setattr("bough.cli.system_run.progress_bar", bar)
    # What runs in the background of a shell ignores the signal from the start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    target = tmp_path / "run.csv"
    done = invoke("run", driven, "-o", target)
    assert done.exit_code == 1 and done.stdout == ""
    assert "interrupted at t = 0.41 s" in done.stderr
    assert f"the 42 rows until t = 0.41 s are in {target}" in done.stderr
    assert bough.Result.from_csv(target)["arm.shoulder.w"].tolist() == run(driven, 0.41)["arm.shoulder.w"].tolist()
    data = json.loads(invoke("run", driven, "-o", target, "--json").stdout)
    assert (data["ok"], data["rows"], data["error"]) == (False, 42, "interrupted at t = 0.41 s")


def test_interrupt_in_python_is_a_keyboard_interrupt_with_the_rows(driven: Path) -> None:
    def stop(fraction: float) -> None:
        if fraction > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        run(driven, progress=stop)
    assert isinstance(caught.value, Interrupted) and len(caught.value.result) == 42


def test_schema_of_the_system_file_holds_for_system_files(parts: Path, tmp_path: Path) -> None:
    """Those of the repository pass; what the loader refuses does not."""
    invoke("schema", "--system", "-o", tmp_path / "schema.json")
    schema = json.loads((tmp_path / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for file in (SYSTEM, MODEL_SYSTEM, ROOT / "examples" / "msat_drive" / "system.yaml"):
        validator.validate(YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8")))
    validator.validate(drive(parts, connections=[{"from": "a.b", "to": "c.d", "factor": 2}, "a.b -> c.d"]))
    for change in ({"connecions": []}, {"components": {}}, {"connections": [{"from": "a.b"}]}, {"bough_system": 2},
                   {"master": {"order": "random"}}, {"components": {"a-b": "x.fmu"}}):  # fmt: skip
        assert not validator.is_valid(drive(parts, **change)), change


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
    assert done.exit_code == 2 and "SSP packages and system files only" in " ".join(
        done.stderr.replace("│", " ").split()
    )
