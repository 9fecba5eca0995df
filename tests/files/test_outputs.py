"""No command writes over what it reads, and none works first and refuses then."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from files.kills import ARM, SHORT, SYSTEM
from typer.testing import CliRunner, Result

from bough.cli import app
from bough.errors import OutputError, SimulationError
from bough.model.named_files import named_files
from bough.regression import read_reference


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of each kind that a command reads."""
    folder = tmp_path_factory.mktemp("made")
    before = Path.cwd()
    os.chdir(folder)
    try:
        Path("arm.json").write_text(json.dumps(ARM), encoding="utf-8")
        Path("drive.json").write_text(json.dumps(SYSTEM), encoding="utf-8")
        Path("torque.csv").write_text("time,shoulder.tau\n0,0\n1,2\n", encoding="utf-8")
        for arguments in (
            ("run", "arm.json", *SHORT),
            ("build", "arm.json", "--platform", "native"),
            ("couple", "drive.json", "--platform", "native"),
            ("record", "arm.json", *SHORT, "--input", "torque.csv"),
            ("flex", "arm.json", "--sid", "blade.sid"),
        ):
            done = invoke(*arguments)
            assert done.exit_code == 0, done.output
        with_fe = {"bough": 1, "name": "fe", "bodies": [_fe_body("blade.sid")]}
        Path("fe.json").write_text(json.dumps(with_fe), encoding="utf-8")
        system = {**SYSTEM, "components": {"arm": "arm.fmu", "motor": {"partner": "motor"}}}
        Path("built.json").write_text(json.dumps(system), encoding="utf-8")
    finally:
        os.chdir(before)
    return folder


def _fe_body(file: str) -> dict[str, Any]:
    hinge = {"name": "root", "type": "revolute", "axis": [0, 0, 1]}
    interfaces = {"attach": {"nodes": [1]}}
    return {"name": "blade", "parent": "ground", "hinge": hinge, "fe": {"file": file, "interfaces": interfaces}}


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    monkeypatch.chdir(copy)
    return copy


# What each command reads, and how it is asked to write over it.
OVERWRITING = {
    "run: the model": ("arm.json", "run", "arm.json", "-o", "OUT"),
    "run: the table": ("torque.csv", "run", "arm.json", "--input", "torque.csv", "-o", "OUT"),
    "run: an FE file of the model": ("blade.sid", "run", "fe.json", "-o", "OUT"),
    "run: the FMU": ("arm.fmu", "run", "arm.fmu", "-o", "OUT"),
    "run: the table of an FMU": ("torque.csv", "run", "arm.fmu", "--input", "torque.csv", "-o", "OUT"),
    "run: the package": ("drive.ssp", "run", "drive.ssp", "-o", "OUT"),
    "run: the system": ("drive.json", "run", "drive.json", "-o", "OUT"),
    "run: a model in the system": ("arm.json", "run", "drive.json", "-o", "OUT"),
    "run: an FMU in the system": ("arm.fmu", "run", "built.json", "-o", "OUT"),
    "report: the result": ("run.csv", "report", "run.csv", "-o", "OUT"),
    "report: the model": ("arm.json", "report", "run.csv", "--model", "arm.json", "-o", "OUT"),
    "flex: the model": ("arm.json", "flex", "arm.json", "--sid", "OUT"),
    "flex: the body": ("blade.sid", "flex", "blade.sid", "--sid", "OUT"),
    "build: the model": ("arm.json", "build", "arm.json", "-o", "OUT"),
    "build-partner: the model": ("arm.json", "build-partner", "model-controller", "arm.json", "-o", "OUT"),
    "couple: the system": ("drive.json", "couple", "drive.json", "-o", "OUT"),
    "couple: a model": ("arm.json", "couple", "drive.json", "-o", "OUT"),
    "couple: an FMU": ("arm.fmu", "couple", "built.json", "-o", "OUT"),
    "couple: an FMU by the container": ("arm.fmu", "couple", "built.json", "-o", "x.ssp", "--container", "OUT"),
    "sweep: the model": ("arm.json", "sweep", "arm.json", "--set", "shoulder.tau=0,1", "-o", "OUT"),
    "sweep: the table": (
        "torque.csv", "sweep", "arm.json", "--set", "upper.mass=1,2", "--input", "torque.csv", "-o", "OUT"),
    "verify: the model": ("arm.json", "verify", "arm.json", "-o", "OUT"),
    "verify: the reference": ("arm.reference.csv", "verify", "arm.json", "-o", "OUT"),
    "verify: its table": ("torque.csv", "verify", "arm.json", "-o", "OUT"),
}  # fmt: skip


@pytest.mark.parametrize("way", ["itself", "symbolic link", "hard link"])
@pytest.mark.parametrize("case", OVERWRITING.values(), ids=OVERWRITING)
def test_command_does_not_write_over_what_it_reads(case: tuple[str, ...], way: str, folder: Path) -> None:
    read, *arguments = case
    out = read
    if way != "itself":
        out = "out.fmu" if arguments[0] == "build" else "out"
        os.link(read, out) if way == "hard link" else os.symlink(read, out)
    elif arguments[0] == "build":
        os.rename(read, "arm.fmu")  # the name of an FMU gets its ending
        read = out = "arm.fmu"
        arguments = [word.replace("arm.json", "arm.fmu") for word in arguments]
    before = Path(read).read_bytes()
    done = invoke(*(out if word == "OUT" else word for word in arguments))
    assert done.exit_code == 1, done.output
    assert f"cannot write {out}: it is" in done.stderr and "which is read; choose another output" in done.stderr
    assert Path(read).read_bytes() == before
    assert not list(folder.glob("*.part")) and not Path("x.ssp").exists()


def test_picture_that_is_an_input_is_refused(folder: Path) -> None:
    """Pictures have names that end in .png: no input has, unless somebody calls it so."""
    for command in ("flex", "modes"):
        shutil.copyfile("arm.json", "arm.png")
        done = invoke(command, "arm.png", "-o", "arm.png")
        assert done.exit_code == 1 and "which is read" in done.stderr
        assert Path("arm.png").read_bytes() == Path("arm.json").read_bytes()


@pytest.mark.parametrize(
    "arguments",
    [
        ("flex", "arm.json", "-o", "x.png", "--sid", "x.png"),
        ("couple", "drive.json", "-o", "x.fmu", "--container", "./x.fmu"),
        ("sweep", "arm.json", "--set", "shoulder.tau=0,1", "-o", "r/run_0001.csv", "--runs", "r"),
    ],
)
def test_two_outputs_that_are_one_file_are_refused(arguments: tuple[str, ...], folder: Path) -> None:
    Path("r").mkdir()
    done = invoke(*arguments)
    assert done.exit_code == 1 and "they are one file" in done.stderr


def test_run_of_a_sweep_that_would_be_its_table_is_refused(folder: Path) -> None:
    Path("r").mkdir()
    shutil.copyfile("torque.csv", "r/run_0002.csv")
    before = Path("r/run_0002.csv").read_bytes()
    done = invoke("sweep", "arm.json", "--set", "upper.mass=1,2", "--input", "r/run_0002.csv", "--runs", "r", *SHORT)
    assert done.exit_code == 1 and "which is read" in done.stderr
    assert Path("r/run_0002.csv").read_bytes() == before


def test_reference_that_would_be_its_own_table_is_refused(folder: Path) -> None:
    shutil.copyfile("torque.csv", "arm.reference.csv")
    done = invoke("record", "arm.json", *SHORT, "--input", "arm.reference.csv", "--force")
    assert done.exit_code == 1 and "which is read" in done.stderr
    assert Path("arm.reference.csv").read_bytes() == Path("torque.csv").read_bytes()


def test_files_that_a_model_stands_for(folder: Path) -> None:
    """Includes, and what FE programs write beside each other."""
    Path("sub").mkdir()
    for name in ("job.sti", "job.mas", "job.dof", "job.csv", "sub/set.inp"):
        Path(name).write_text("", encoding="utf-8")
    Path("job.inp").write_text("*NODE\n1,0,0,0\n*INCLUDE, INPUT=sub/set.inp\n", encoding="utf-8")
    Path("deck.bdf").write_text("BEGIN BULK\nINCLUDE 'job.csv'\n", encoding="utf-8")
    bodies = [_fe_body("job.sti"), _fe_body("deck.bdf")]
    Path("fe.json").write_text(json.dumps({"bough": 1, "name": "fe", "bodies": bodies}), encoding="utf-8")
    system = {**SYSTEM, "components": {"a": "fe.json", "b": {"fmu": "arm.fmu"}}}
    Path("all.json").write_text(json.dumps(system), encoding="utf-8")
    found = {str(path) for path in named_files("all.json")}
    expected = {"all.json", "fe.json", "arm.fmu", "job.sti", "job.mas", "job.dof", "job.inp", "sub/set.inp"}
    assert found == expected | {"deck.bdf", "job.csv"}


WRITING = {
    "run": ("run", "arm.json", *SHORT, "-o", "out.csv"),
    "run an FMU": ("run", "arm.fmu", *SHORT, "-o", "out.csv"),
    "run a system": ("run", "drive.json", "-o", "out.csv"),
    "report": ("report", "run.csv", "-o", "out.html"),
    "flex": ("flex", "arm.json", "-o", "out.png"),
    "flex --sid": ("flex", "arm.json", "--sid", "out.sid"),
    "modes": ("modes", "arm.json", "-o", "out.png"),
    "schema": ("schema", "-o", "out.json"),
    "build": ("build", "arm.json", "-o", "out.fmu"),
    "build-partner": ("build-partner", "motor", "-o", "out.fmu"),
    "couple": ("couple", "drive.json", "-o", "out.ssp"),
    "couple --container": ("couple", "drive.json", "-o", "x.ssp", "--container", "out.fmu"),
    "record": ("record", "arm.json", "--name", "out", *SHORT),
    "record, the other file": ("record", "arm.json", "--name", "out", *SHORT),
    "verify": ("verify", "arm.json", "-o", "out.png"),
    "verify --update": ("verify", "arm.json", "--update"),
    "sweep": ("sweep", "arm.json", "--set", "shoulder.tau=0,1", "-o", "out.csv"),
    "sweep --runs": ("sweep", "arm.json", "--set", "shoulder.tau=0,1", "--runs", "r", "-o", "x.csv"),
}
TARGETS = {
    "record": "arm.out.reference.csv",
    "record, the other file": "arm.out.reference.json",
    "verify --update": "arm.reference.csv",
    "sweep --runs": "r/run_0001.csv",
}


@pytest.mark.parametrize("name", WRITING)
def test_protected_output_is_noticed_before_the_work(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = WRITING[name]
    target = TARGETS.get(name) or next(word for word in arguments if word.startswith("out."))
    Path("r").mkdir()
    if name != "verify --update":
        Path(target).write_bytes(b"old")
    before, real = Path(target).read_bytes(), os.access
    monkeypatch.setattr(
        "os.access",
        lambda path, mode: (
            real(path, mode) and not (mode & os.W_OK and os.path.basename(path) == os.path.basename(target))
        ),
    )
    for work in (
        "bough.mechanism.mechanism.Mechanism.__init__",
        "bough.coupling.single.run_fmu",
        "bough.cli.flex_body.bodies_of",
    ):
        monkeypatch.setattr(work, _no_work)
    done = invoke(*arguments, *(["--force"] if name.startswith("record") else []))
    assert done.exit_code == 1 and "is write-protected" in done.stderr, done.output
    assert Path(target).read_bytes() == before


def _no_work(*_: object, **__: object) -> None:
    raise AssertionError("work has begun")


def test_halves_of_two_references_do_not_pass_for_one(folder: Path) -> None:
    """A process that dies between the two moves leaves new rows with the old recipe."""
    invoke("record", "arm.json", *SHORT, "--name", "other", "--set", "shoulder.tau=5")
    shutil.copyfile("arm.other.reference.csv", "arm.reference.csv")
    with pytest.raises(SimulationError, match="belongs to other rows than those in arm.reference.csv.*record the run"):
        read_reference(Path("arm.reference.csv"))
    done = invoke("verify", "arm.json", "--reference", "arm.reference.csv")
    assert done.exit_code == 1 and "record the run again" in done.stderr


def test_demo_does_not_write_over_a_model_that_was_edited(folder: Path) -> None:
    from bough.demo import run_demo

    Path("d").mkdir()
    Path("d/model.yaml").write_text("bough: 1  # mine\n", encoding="utf-8")
    with pytest.raises(OutputError, match="is not the demonstration's: choose another folder"):
        run_demo("d")
    assert [path.name for path in Path("d").iterdir()] == ["model.yaml"]
    assert Path("d/model.yaml").read_text(encoding="utf-8") == "bough: 1  # mine\n"


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no second file system")
def test_container_goes_to_another_file_system(folder: Path) -> None:
    if os.stat("/dev/shm").st_dev == os.stat(folder).st_dev:
        pytest.skip("/dev/shm is no other file system")
    target = Path("/dev/shm") / f"bough-{os.getpid()}.fmu"
    try:
        done = invoke("couple", "drive.json", "--platform", "native", "-o", "x.ssp", "--container", str(target))
        assert done.exit_code == 0, done.output
        assert target.read_bytes()[:2] == b"PK"
    finally:
        target.unlink(missing_ok=True)
