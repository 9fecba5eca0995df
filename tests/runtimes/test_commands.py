"""`bough build` and `bough run X.fmu`: what they write, what they say, and how they end."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from house.tools import ROOT
from typer.testing import CliRunner

import bough
from bough.cli import app

MODEL = str(ROOT / "examples" / "pendulum" / "model.yaml")


def call(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("options", "platforms"),
    [
        ([], ["aarch64-darwin", "aarch64-linux", "darwin64", "linux64", "win64"]),
        (["--fmi", "3.0", "--platform", "x86_64-linux", "--platform", "aarch64-darwin", "--arrays"],
         ["aarch64-darwin", "x86_64-linux"]),
        (["--runtime", "python"], ["linux64", "win64"]),
        (["--runtime", "source"], []),
    ],
)  # fmt: skip
def test_build_writes_an_fmu_and_tells_a_program(tmp_path: Path, options: list[str], platforms: list[str]) -> None:
    target = tmp_path / "x.fmu"
    code, out, _ = call("build", MODEL, "-o", target, "--json", *options)
    told = json.loads(out)
    assert code == 0 and told["ok"] and told["platforms"] == platforms and told["bytes"] == target.stat().st_size
    assert zipfile.is_zipfile(target)


def test_build_says_one_line_in_a_pipe_and_names_the_file_after_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call("build", MODEL, "--platform", "native")
    assert (code, err) == (0, "") and out.startswith("pendulum.fmu: FMI 2.0, ") and out.count("\n") == 1
    assert out.rstrip("\n").isprintable(), "no bar, no control characters"
    assert [p.name for p in tmp_path.iterdir()] == ["pendulum.fmu"]


@pytest.mark.parametrize(
    "options",
    [["--platform", "amiga"], ["--platform", "win32"], ["--fmi", "1.0"], ["--runtime", "cloud"], ["--arrays"],
     ["--runtime", "python", "--fmi", "3.0"]],
)  # fmt: skip
def test_wrong_use_ends_with_2(tmp_path: Path, options: list[str]) -> None:
    code, out, err = call("build", MODEL, "-o", tmp_path / "x.fmu", *options)
    assert code == 2 and not out and "Invalid value" in err and not list(tmp_path.iterdir())


def test_what_cannot_be_built_ends_with_1_and_one_message(tmp_path: Path) -> None:
    code, out, err = call("build", MODEL, "-o", tmp_path / "no" / "x.fmu", "--platform", "native")
    assert code == 1 and not out and "cannot write" in err and "Traceback" not in err
    (tmp_path / "bad.yaml").write_text("bough: 1\nname: x\nbodies: []\n", encoding="utf-8")
    code, out, err = call("build", tmp_path / "bad.yaml", "-o", tmp_path / "x.fmu", "--json")
    assert code == 1 and json.loads(out)["ok"] is False and "bodies" in err
    code, _, err = call("build", MODEL, "-o", tmp_path / "x.fmu", "--runtime", "source", "--platform", "native")
    assert code == 1 and "leave platforms out" in err


@pytest.mark.parametrize("options", [["--fmi", "2.0"], ["--fmi", "3.0"], ["--runtime", "python"]])
def test_run_of_an_fmu_equals_the_run_of_its_model(tmp_path: Path, options: list[str]) -> None:
    fmu, one, other = tmp_path / "x.fmu", tmp_path / "fmu.csv", tmp_path / "model.csv"
    assert call("build", MODEL, "-o", fmu, *options)[0] == 0
    common = ["--stop", 0.5, "--step", 0.05, "--rtol", 1e-9, "--set", "pivot.tau=0.4"]
    code, out, err = call("run", fmu, *common, "-o", one, "--json")
    assert code == 0 and json.loads(out)["rows"] == 11
    assert err.startswith(f"{one}: 11 rows of ") and err.count("\n") == 1
    assert call("run", MODEL, *common, "-o", other)[0] == 0
    a, b = bough.Result.from_csv(one), bough.Result.from_csv(other)
    assert set(a.names) == set(b.names)
    for name in a.names:
        np.testing.assert_allclose(a[name], b[name], atol=1e-7, err_msg=name)


def test_run_of_an_fmu_takes_inputs_from_a_file(tmp_path: Path) -> None:
    fmu, table, out = tmp_path / "x.fmu", tmp_path / "in.csv", tmp_path / "run.csv"
    assert call("build", MODEL, "-o", fmu, "--platform", "native")[0] == 0
    table.write_text("time,pivot.tau\n0,0\n1,2\n", encoding="utf-8")
    code, told, err = call("run", fmu, "--stop", 1, "--step", 0.1, "--input", table, "-o", out)
    assert (code, err) == (0, "") and told.startswith(f"{out}: 11 rows of ") and told.count("\n") == 1
    np.testing.assert_allclose(bough.Result.from_csv(out)["pivot.tau"], np.linspace(0.0, 2.0, 11), atol=1e-12)
    table.write_text("time,nothing\n0,0\n", encoding="utf-8")
    code, _, err = call("run", fmu, "--input", table, "-o", out)
    assert code == 1 and "no input 'nothing'" in err


def test_what_is_no_fmu_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.fmu").write_bytes(b"nothing")
    for name, words in (("x.fmu", "not a readable FMU"), ("y.fmu", "no such file")):
        code, _, err = call("run", tmp_path / name, "-o", tmp_path / "run.csv")
        assert code == 1 and words in err and "Traceback" not in err


def test_without_fmpy_the_cure_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fmpy", None)
    code, _, err = call("run", tmp_path / "x.fmu")
    assert code == 1 and "pip install fmpy" in err
