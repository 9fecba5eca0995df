"""`bough record` and `bough verify` through FMUs in FMPy."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from regression.arm import write_arm, write_torque
from typer.testing import CliRunner, Result

import bough
from bough.cli import app
from bough.regression import read_reference, references_of


def _bough(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    model, torque = write_arm(folder), write_torque(folder)
    done = _bough("record", model, "--stop", 1, "--step", 0.01, "--input", torque)
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def folder(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "copy"
    shutil.copytree(recorded, copy)
    monkeypatch.chdir(copy)
    return copy


def test_reference_holds_the_run_and_how_it_was_made(recorded: Path) -> None:
    run = bough.Result.from_csv(recorded / "arm.reference.csv")
    assert len(run) == 101
    assert [repr(t) for t in run.t.tolist()] == [repr(float(f"{i}e-2")) for i in range(101)], "not 0.07000000000000001"
    assert abs(run["shoulder.tau"]).max() == pytest.approx(1.0, abs=0.01), "the inputs were there"
    about = json.loads((recorded / "arm.reference.json").read_text(encoding="utf-8"))
    assert about["source"] == "arm.json"
    assert about["run"]["input"] == "torque.csv"
    assert about["made_by"]["command"] == "bough record arm.json --stop 1 --step 0.01 --input torque.csv"
    assert {"bough", "fmpy", "platform"} <= set(about["made_by"])
    assert str(recorded) not in json.dumps(about), "the folder can be moved"


def test_unchanged_model_is_the_same_to_the_last_digit(folder: Path) -> None:
    done = _bough("verify", "arm.json")
    assert done.exit_code == 0, done.output
    assert "the same to the last digit" in done.stdout
    assert done.stdout.startswith("arm.reference.csv: "), "as it was typed, without the folders of this machine"
    assert not list(folder.glob("*.png")), "nothing moved: no picture"


def test_moved_run_is_told_with_place_size_and_picture(folder: Path) -> None:
    write_arm(folder, mass=0.6)
    done = _bough("verify", "arm.json")
    assert done.exit_code == 1
    assert "MOVED" in done.stdout
    assert "changed since the reference was recorded: arm.json" in done.stdout
    assert (folder / "arm.verify.png").read_bytes().startswith(b"\x89PNG")
    told = json.loads(_bough("verify", "arm.json", "--json").stdout)
    assert told["ok"] is False
    phi = next(d for d in told["references"][0]["deviations"] if d["name"] == "shoulder.phi")
    was = bough.Result.from_csv(folder / "arm.reference.csv")["shoulder.phi"]
    fmu = bough.build_fmu("arm.json", folder / "new.fmu", platforms="native")
    run = _bough("run", fmu, "--stop", 1, "--step", 0.01, "--input", "torque.csv", "-o", "new.csv")
    assert run.exit_code == 0, run.output
    off = abs(bough.Result.from_csv(folder / "new.csv")["shoulder.phi"] - was)
    # The deviations are those of the FMU as `bough run` runs it, at the same tolerance: the same digits.
    assert phi["absolute"] == off.max()
    assert phi["time"] == pytest.approx(0.01 * int(np.argmax(off)), abs=1e-9)
    assert phi["relative"] == pytest.approx(off.max() / np.ptp(was))


def test_update_accepts_and_keeps_the_recipe(folder: Path) -> None:
    write_arm(folder, mass=0.6)
    before = read_reference(folder / "arm.reference.csv")
    done = _bough("verify", "arm.json", "--update")
    assert done.exit_code == 0, done.output
    assert "updated" in done.stdout
    after = read_reference(folder / "arm.reference.csv")
    assert (after.recipe, after.tolerance) == (before.recipe, before.tolerance)
    assert after.changed_files() == ()
    assert _bough("verify", "arm.json").exit_code == 0


def test_tolerance_of_the_command_goes_before_the_recorded_one(folder: Path) -> None:
    write_arm(folder, mass=0.5001)
    assert _bough("verify", "arm.json").exit_code == 1
    assert _bough("verify", "arm.json", "--tol", 0.1).exit_code == 0
    assert _bough("verify", "arm.json", "--tol", -1).exit_code == 2


def test_picture_is_drawn_where_asked_even_if_all_is_well(folder: Path) -> None:
    assert _bough("verify", "arm.json", "-o", "same.png").exit_code == 0
    assert (folder / "same.png").stat().st_size > 10_000


def test_fmu_is_recorded_and_verified_as_it_is(folder: Path) -> None:
    fmu = bough.build_fmu("arm.json", folder / "plant.fmu", fmi="3.0", platforms="native", arrays=True)
    done = _bough("record", fmu, "--stop", 0.2, "--step", 0.01, "--set", "shoulder.w=1.0", "--only", "shoulder.*")
    assert done.exit_code == 0, done.output
    run = bough.Result.from_csv(folder / "plant.reference.csv")
    assert run["shoulder.w"][0] == 1.0, "start values can be set"
    assert all(name.startswith("shoulder.") for name in run.names)
    assert _bough("verify", fmu).exit_code == 0
    bough.build_fmu(write_arm(folder, 0.7), fmu, fmi="3.0", platforms="native", arrays=True)
    assert _bough("verify", fmu).exit_code == 1


def test_model_has_several_references_by_name(folder: Path) -> None:
    done = _bough("record", "arm.json", "--stop", 0.1, "--name", "fall", "--set", "gravity[1]=1", "--tol", 1e-6)
    assert done.exit_code == 0, done.output
    assert [p.name for p in references_of(folder / "arm.json")] == ["arm.fall.reference.csv", "arm.reference.csv"]
    done = _bough("verify", "arm.json")
    assert done.exit_code == 0
    assert done.stdout.count("same to the last digit") == 2
    assert _bough("verify", "arm.fall.reference.csv").exit_code == 0


def test_other_source_is_compared_with_a_given_reference(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    heavier = write_arm(other, 0.9)
    assert _bough("verify", heavier, "--reference", "arm.reference.csv").exit_code == 1
    assert _bough("verify", write_arm(other), "--reference", "arm.reference.csv").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["record", "arm.json", "--stop", "1"], 1, "is there already"),
        (["record", "arm.json", "--stop", "0"], 2, "--stop"),
        (["record", "arm.json", "--step", "20"], 2, "--step"),
        (["record", "arm.json", "--set", "x"], 2, "NAME=NUMBER"),
        (["record", "arm.json", "--set", "x=1", "--name", "b"], 1, "no 'x' that can be set"),
        (["record", "arm.json", "--set", "link.mass=1", "--name", "b"], 1, "mass of link follows from its shape"),
        (["record", "arm.json", "--set", "shoulder.dampng=1", "--name", "b"], 1, "did you mean 'shoulder.damping'?"),
        (["record", "arm.json", "--only", "nix*", "--name", "b", "--stop", "0.1"], 1, "no variable fits 'nix*'"),
        (["record", "arm.json", "--tol-for", "x=-1"], 2, "NAME=NUMBER"),
        (["record", "none.json", "--stop", "1"], 1, "none.json"),
        (["verify", "none.json"], 1, "no such file"),
        (["verify", "torque.csv"], 1, "bough record"),
        (["verify", "none.reference.csv"], 1, "none.reference.csv"),
    ],
)
def test_wrong_use_is_told(folder: Path, arguments: list[str], code: int, message: str) -> None:
    done = _bough(*arguments)
    assert (done.exit_code, message in done.output) == (code, True), done.output
    assert not [p for p in os.listdir(folder) if ".b." in p]


def test_damaged_description_is_refused_with_a_cure(folder: Path) -> None:
    about = folder / "arm.reference.json"
    text = about.read_text(encoding="utf-8")
    for damaged, message in (
        (text.replace('"bough_reference": 1', '"bough_reference": 99'), "this version reads 1"),
        (text.replace('"stop"', '"end"'), "record the run again"),
        (text.replace('"relative": 0.0001', '"relative": "much"'), "expected a number"),
        (text[:50], "record the run again"),
    ):
        about.write_text(damaged, encoding="utf-8")
        done = _bough("verify", "arm.reference.csv")
        assert (done.exit_code, message in done.output) == (1, True), done.output


def test_missing_input_file_is_named(folder: Path) -> None:
    (folder / "torque.csv").unlink()
    done = _bough("verify", "arm.json")
    assert done.exit_code == 1
    assert "torque.csv" in done.output


def test_reference_of_another_file_of_that_name_is_told_with_its_owner(folder: Path) -> None:
    """`record` had said that it is there, and `verify` that it is not."""
    model = folder / "arm.json"
    other = shutil.copy(model, folder / "arm.yaml")
    for command in ("record", "verify"):
        done = _bough(command, other)
        assert done.exit_code == 1
        assert f"is the reference of {model.name}, not of {Path(other).name}" in " ".join(done.output.split())
