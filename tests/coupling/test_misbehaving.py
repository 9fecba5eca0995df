"""Components that crash, exit, hang, print or move: the run ends with a message and its rows, and nothing is left.

One FMU in C (c/misbehaving.c) does all of it on demand. It integrates its input from 0, in steps of 0.125 s that
make sums exact, and misbehaves from t = 0.375 s on if it does so in a call of the run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fmpy
import fmu_manipulation_toolbox
import numpy as np
import pytest
from coupling.parts import RIGID, edited
from house.tools import require_tool
from typer.testing import CliRunner

import bough
from bough.cli.app import app
from bough.coupling import couple
from bough.coupling import run as run_system
from bough.coupling.fmu_interface import read_interface
from bough.coupling.own import is_own
from bough.coupling.single import run_fmu
from bough.regression import record

HEADERS = Path(fmu_manipulation_toolbox.__file__).parent / "resources" / "fmi"
SOURCE = Path(__file__).parent / "c" / "misbehaving.c"
Maker = Callable[..., Path]

DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="integrator" guid="{1}" generationTool="bough 99">
<CoSimulation modelIdentifier="misbehaving" canHandleVariableCommunicationStepSize="true"/>
<ModelVariables>
<ScalarVariable name="u" valueReference="0" causality="input"><Real start="0"/></ScalarVariable>
<ScalarVariable name="y" valueReference="1" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="label" valueReference="2" causality="input" variability="discrete">
<String start=""/></ScalarVariable>
<ScalarVariable name="gain" valueReference="3" causality="parameter" variability="fixed" initial="exact">
<Real start="1"/></ScalarVariable>
</ModelVariables>
<ModelStructure><Outputs><Unknown index="2" dependencies=""/></Outputs></ModelStructure>
</fmiModelDescription>
"""
OPTIONS = ["--stop", "1", "--step", "0.125"]
T = 0.375
GONE = "did not return: its process"
BROKEN = [
    # where, what; the time of the message, rows that are left, and what it says beside the call
    ("step", "segfault", T, 4, f"{GONE} was ended by the signal SIGSEGV"),
    ("step", "abort", T, 4, f"{GONE} was ended by the signal SIGABRT"),
    ("step", "exit0", T, 4, f"{GONE} exited with code 0"),
    ("step", "exit3", T, 4, f"{GONE} exited with code 3"),
    ("step", "_exit0", T, 4, f"{GONE} exited with code 0"),
    ("step", "sigterm", T, 4, f"{GONE} was ended by the signal SIGTERM"),
    ("step", "sigkill", T, 4, f"{GONE} was ended by the signal SIGKILL"),
    ("step", "overflow", T, 4, f"{GONE} was ended by the signal SIGSEGV"),
    ("step", "thread", T, 4, f"{GONE} was ended by the signal SIGSEGV"),
    ("step", "memory", T, 4, f"{GONE} was ended by the signal SIGSEGV"),
    ("step", "fork", T, 4, f"{GONE} exited with code 0"),
    ("get", "closeall", T, 3, f"{GONE} lost its connection"),
    ("step", "fatal", T, 4, "returned fatal"),
    ("step", "error", T, 4, "returned error"),
    ("step", "discard", T, 4, "returned discard"),
    ("get", "segfault", T, 3, f"{GONE} was ended by the signal SIGSEGV"),
    ("get", "exit0", T, 3, f"{GONE} exited with code 0"),
    ("set", "exit0", T, 3, f"{GONE} exited with code 0"),
    ("init", "segfault", 0, 0, f"{GONE} was ended by the signal SIGSEGV"),
    ("instantiate", "exit0", 0, 0, f"{GONE} exited with code 0"),
    ("terminate", "exit0", 1, 9, f"{GONE} exited with code 0"),
    ("free", "segfault", 1, 9, f"{GONE} was ended by the signal SIGSEGV"),
    ("step", "loop", T, 4, "did not return within 2 s"),
    ("step", "sleep", T, 4, "did not return within 2 s"),
    ("step", "chatter", T, 4, "did not return within 2 s"),
]
CALLS = {
    "step": "fmi2DoStep",
    "get": "fmi2GetReal",
    "set": "fmi2SetReal",
    "init": "fmi2EnterInitializationMode",
    "instantiate": "fmi2Instantiate",
    "terminate": "fmi2Terminate",
    "free": "fmi2FreeInstance",
}
HARMLESS = ["print", "flood", "chdir", "close", "stdin", "litter", "locale", "rounding", "log"]
"""What does no harm in a process of its own: the numbers are those of a component that behaves."""


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., bytes]:
    """The compiled FMU."""
    folder = tmp_path_factory.mktemp("library")

    def compiled(*flags: str) -> bytes:
        target = folder / f"misbehaving{len(flags)}.so"
        if not target.exists():
            command = [require_tool("gcc"), "-std=c11", "-O0", "-shared", "-fPIC", "-pthread", f"-I{HEADERS}"]
            command += [*flags, "-w", str(SOURCE), "-lm", "-o", str(target)]
            subprocess.run(command, check=True)
        return target.read_bytes()

    return compiled


@pytest.fixture
def make(library: Callable[..., bytes], tmp_path: Path) -> Maker:
    """FMUs that misbehave."""

    def write(place: str = "", kind: str = "", name: str = "bad", freed: str = "", binary: bytes | None = None) -> Path:
        path = tmp_path / f"{name}.fmu"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", DESCRIPTION)
            archive.writestr(f"binaries/{fmpy.platform}/misbehaving.so", library() if binary is None else binary)
            archive.writestr("resources/plan.txt", f"{place} {kind}\n")
            if freed:
                archive.writestr("resources/freed.txt", freed)
        return path

    return write


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder that can be looked into, and a table of the input."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "u.csv").write_text("time,u\n0,1\n1,1\n", encoding="utf-8")
    return folder


def bough_cli(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


def column(path: Path, name: str) -> list[float]:
    result = bough.Result.from_csv(path)
    assert result.t.tolist() == [0.125 * k for k in range(len(result))]
    return result[name].tolist()  # type: ignore[no-any-return]


def limit(kind: str) -> list[str]:
    return ["--call-timeout", "2"] if kind in ("loop", "sleep", "chatter") else []


@pytest.mark.parametrize(("place", "kind", "at", "rows", "words"), BROKEN)
def test_fmu_that_ends_its_process_is_named_and_the_rows_before_are_kept(
    make: Maker, scratch: Path, place: str, kind: str, at: float, rows: int, words: str
) -> None:
    fmu = make(place, kind)
    done = bough_cli("run", fmu, *OPTIONS, "--input", "u.csv", "-o", "run.csv", "--json", *limit(kind))
    assert done.exit_code == 1, done.output
    told = json.loads(done.stdout)
    assert told["ok"] is False
    assert f"{fmu} failed at t = {at:g} s: {CALLS[place]} {words}" in told["error"]
    assert (column(Path("run.csv"), "y") if rows else []) == [0.125 * k for k in range(rows)]
    assert Path("run.csv").exists() == bool(rows)
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(("place", "kind", "at", "rows", "words"), BROKEN)
def test_component_that_ends_its_process_leaves_the_rows_and_the_others_are_freed(
    make: Maker, scratch: Path, tmp_path: Path, place: str, kind: str, at: float, rows: int, words: str
) -> None:
    freed = tmp_path / "freed.txt"
    make(name="good", freed=str(freed))
    make(place, kind)
    system = {
        "bough_system": 1,
        "name": "pair",
        "components": {"good": "good.fmu", "bad": "bad.fmu"},
        "connections": ["good.y -> bad.u"],
        "set": {"good.u": 1.0},
        "master": {"step": 0.125, "stop": 1.0},
    }
    Path("pair.yaml").write_text(json.dumps(system), encoding="utf-8")
    done = bough_cli("run", "pair.yaml", "-o", "run.csv", "--json", *limit(kind))
    assert done.exit_code == 1, done.output
    told = json.loads(done.stdout)
    assert f"component bad failed at t = {at:g} s: {CALLS[place]} {words}" in told["error"]
    assert freed.exists()
    assert (column(Path("run.csv"), "good.y") if rows else []) == [0.125 * k for k in range(rows)]
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("kind", HARMLESS)
def test_misbehaviour_that_stays_in_its_process_changes_no_number(make: Maker, scratch: Path, kind: str) -> None:
    here = Path.cwd()
    done = bough_cli("run", make("step", kind), *OPTIONS, "--set", "u=1", "-o", "run.csv", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["ok"] is True
    assert column(here / "run.csv", "y") == [0.125 * k for k in range(9)]
    assert Path.cwd() == here
    assert list(scratch.iterdir()) == []
    if kind == "print":
        assert "integrator: printed by the FMU" in done.stderr and r"and to stderr: \xff\xfe" in done.stderr
    if kind == "flood":
        assert len(done.stderr) < 200_000 and "more lines" in done.stderr


@pytest.mark.parametrize(
    ("place", "kind"),
    [("step", "exit0"), ("step", "segfault"), ("step", "nan"), ("terminate", "exit0"), ("free", "_exit0")],
)
def test_record_and_verify_fail_with_the_fmu(make: Maker, scratch: Path, place: str, kind: str) -> None:
    good = make(name="good")
    record(good, 1.0, 0.125, settings={"u": 1.0})
    bad = make(place, kind)
    verified = bough_cli("verify", bad, "--reference", "good.reference.csv")
    assert verified.exit_code == 1 and "bad.fmu failed at t = " in verified.stderr
    recorded = bough_cli("record", bad, *OPTIONS, "--set", "u=1")
    assert recorded.exit_code == 1 and "bad.fmu failed at t = " in recorded.stderr
    assert not Path("bad.reference.csv").exists() and not Path("bad.reference.json").exists()
    assert list(scratch.iterdir()) == []


def test_output_that_is_not_a_number_ends_the_run(make: Maker) -> None:
    done = bough_cli("run", make("step", "nan"), *OPTIONS, "--set", "u=1", "-o", "run.csv")
    assert done.exit_code == 1
    assert "bad.fmu failed at t = 0.5 s: y is nan" in done.stderr
    assert column(Path("run.csv"), "y") == [0.0, 0.125, 0.25, 0.375]


@pytest.mark.parametrize("flaw", ["missing symbol", "other machine", "no library", "refuses"])
def test_fmu_that_cannot_be_loaded_is_named_with_the_reason(
    make: Maker, library: Callable[..., bytes], scratch: Path, flaw: str
) -> None:
    binary = library("-DMISSING") if flaw == "missing symbol" else library()
    if flaw == "other machine":
        binary = binary[:18] + b"\x02\x00" + binary[20:]  # e_machine of ELF: SPARC
    if flaw == "no library":
        binary = b"not a library"
    done = bough_cli("run", make("any", "null" if flaw == "refuses" else "", binary=binary), *OPTIONS)
    assert done.exit_code == 1
    assert "bad.fmu failed at t = 0 s: cannot be loaded: " in done.stderr
    assert {"missing symbol": "fmi2GetTypesPlatform", "refuses": "instantiate"}.get(
        flaw, "misbehaving.so"
    ) in done.stderr
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("place", ["", "setup", "init"])
def test_values_arrive_in_an_fmu_that_forgets_what_was_set_before(make: Maker, place: str) -> None:
    """y = gain u t; it forgets at set-up, or when initialization begins."""
    fmu = make(place, "forget" if place else "")
    found = run_fmu(fmu, 1.0, 0.125, {}, {"gain": 3.0, "u": 2.0})
    assert found["y"][-1] == 6.0
    Path("one.yaml").write_text(
        "{bough_system: 1, name: one, components: {it: bad.fmu}, set: {it.gain: 3, it.u: 2}, "
        "master: {stop: 1, step: 0.125}}",
        encoding="utf-8",
    )
    assert run_system(Path("one.yaml"), warn=lambda _: None)["it.y"][-1] == 6.0


def test_inputs_that_are_texts_stay_as_they_are_and_no_table_gives_them(make: Maker) -> None:
    """The FMU has one, `label`: runs with a table of `u` work, and a table of `label` is refused."""
    fmu = make()
    assert bough_cli("run", fmu, *OPTIONS, "--input", "u.csv", "-o", "run.csv").exit_code == 0
    assert bough.Result.from_csv("run.csv").names == ["u", "y"]
    Path("one.yaml").write_text("{bough_system: 1, name: one, components: {it: bad.fmu}}", encoding="utf-8")
    for source, name in ((fmu, "label"), ("one.yaml", "it.label")):
        Path("label.csv").write_text(f"time,{name}\n0,1\n", encoding="utf-8")
        done = bough_cli("run", source, "--input", "label.csv")
        assert done.exit_code == 1 and f"there is no input '{name}'" in done.stderr


def test_numbers_are_the_same_in_this_process_and_in_another(parts: Path) -> None:
    """Bit for bit: FMI 2 and 3, and a coupled system with states that are saved and restored."""
    for name in ("arm.fmu", "arm3.fmu", "motor.fmu", "motor3.fmu"):
        variable = "u" if name.startswith("motor") else "shoulder.tau"
        table = {variable: (np.array([0.0, 0.11, 0.11, 0.37]), np.array([0.1, 0.3, -0.2, 0.7]))}
        one, other = (run_fmu(parts / name, 0.5, 0.01, table, isolate=isolate) for isolate in (True, False))
        assert one.names == other.names
        for column in one.names:
            assert one[column].tobytes() == other[column].tobytes(), column
    data = {
        "bough_system": 1,
        "name": "drive",
        "components": {"arm": str(parts / "arm.fmu"), "motor": str(parts / "motor3.fmu")},
        "connections": ["motor.tau -> arm.shoulder.tau", "arm.shoulder.w -> motor.w"],
        "master": {"step": 0.02, "stop": 0.2, "tolerance": 1e-4},
    }
    couple(data, "drive.ssp")
    first, second = (run_system("drive.ssp", isolate=isolate) for isolate in (True, False))
    assert first.statistics["steps"] == second.statistics["steps"] > 10
    assert all(first[name].tobytes() == second[name].tobytes() for name in first.names)


def test_only_the_installed_binary_counts_as_own(make: Maker, parts: Path, tmp_path: Path) -> None:
    """A description that names bough as its tool makes no FMU one of bough's, and another one makes it no stranger."""
    renamed = edited(parts / "arm.fmu", tmp_path / "renamed.fmu", ('generationTool="bough', 'generationTool="other'))
    for number, (fmu, own) in enumerate([(parts / "arm3.fmu", True), (renamed, True), (make(), False)]):
        folder = tmp_path / f"unpacked{number}"
        with zipfile.ZipFile(fmu) as archive:
            archive.extractall(folder)
        assert is_own(folder, read_interface(fmu)) is own
        binary = next(path for path in folder.rglob("*.so"))
        binary.write_bytes(binary.read_bytes() + b"\0")
        assert not is_own(folder, read_interface(fmu))


def start(*words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bough", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until_it_hangs(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if "hanging" in line:
            return
    raise AssertionError("it ended before")


def test_ctrl_c_ends_a_hanging_component_and_keeps_the_rows(make: Maker, scratch: Path) -> None:
    process = start("run", make("step", "loop"), *OPTIONS, "--set", "u=1", "-o", "run.csv", "--call-timeout", 0)
    until_it_hangs(process)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=600)
    assert process.returncode == 1 and "interrupted at t = 0.375 s" in told
    assert column(Path("run.csv"), "y") == [0.0, 0.125, 0.25, 0.375]
    assert list(scratch.iterdir()) == []


def test_hanging_component_ends_when_its_master_is_killed(make: Maker, scratch: Path) -> None:
    process = start("run", make("step", "sleep"), *OPTIONS, "-o", "run.csv")
    until_it_hangs(process)
    worker = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True).stdout
    process.kill()
    process.communicate(timeout=600)
    for _ in range(600):
        if not Path(f"/proc/{worker.strip()}").exists():
            return
        time.sleep(0.1)
    os.kill(int(worker), signal.SIGKILL)
    raise AssertionError("it outlived its master by a minute")


def test_components_in_this_process_print_and_end_as_they_like(make: Maker) -> None:
    """The option for those who trust their FMUs: the exit of one ends the command, here in a process of its own."""
    with start("run", make("step", "exit3"), *OPTIONS, "-o", "run.csv", "--in-process") as process:
        assert process.wait(60) == 3


def test_in_process_and_time_limit_exclude_each_other(make: Maker) -> None:
    fmu = make()
    assert bough_cli("run", fmu, "--in-process", "--call-timeout", "5").exit_code == 2
    assert bough_cli("run", fmu, "--call-timeout", "-1").exit_code == 2
    Path("arm.yaml").write_text(json.dumps(RIGID), encoding="utf-8")
    assert bough_cli("run", "arm.yaml", "--in-process").exit_code == 2
