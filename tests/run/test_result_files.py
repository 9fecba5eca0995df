"""Results in files: the ending says the format, numbers read back the same bits, units travel along."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import fmpy
import numpy as np
import pandas as pd
import pytest
from run.cases import craft
from typer.testing import CliRunner

import bough
from bough.cli import app
from bough.errors import OutputError, SimulationError
from bough.run import result_binary
from bough.run.result_csv import _block_text, metadata_path
from bough.run.result_files import ENDINGS
from bough.run.sweep_files import RunFolder


def _awkward() -> bough.Result:
    rng = np.random.default_rng(1)
    values = rng.normal(size=400) * 10.0 ** rng.integers(-300, 300, 400)
    values[:6] = [-0.0, 5e-324, 1.7976931348623157e308, 0.1, np.inf, np.nan]
    columns = {"hub.w[1]": values, "a.b.r[2]": values[::-1].copy(), "bare": np.arange(400.0)}
    return bough.Result(np.arange(400) * 0.1, columns, {"hub.w[1]": "rad/s", "a.b.r[2]": "m"}, "awkward", {"steps": 7})


@pytest.mark.parametrize("ending", ENDINGS)
def test_numbers_read_back_the_same_bits_and_units_travel(tmp_path: Path, ending: str) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    run, path = _awkward(), tmp_path / f"run{ending}"
    run.save(path)
    back = bough.Result.load(path)
    assert back.names == run.names and back.t.tobytes() == run.t.tobytes()
    for name in run.names:
        assert back[name].tobytes() == run[name].tobytes(), name
    assert back.units == run.units and back.model_name == "awkward"
    assert not list(tmp_path.glob("*.part"))


def test_fmpy_pandas_and_csv_readers_take_the_csv_without_help(tmp_path: Path) -> None:
    run, path = bough.simulate(craft(), 0.2, step=0.01), tmp_path / "run.csv"
    run.to_csv(path)
    theirs = fmpy.read_csv(path)
    frame = pd.read_csv(path)
    numpys = np.genfromtxt(path, delimiter=",", skip_header=1)
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    assert list(theirs.dtype.names) == list(frame.columns) == rows[0] == ["time", *run.names]
    for j, name in enumerate(rows[0]):
        assert np.array_equal(theirs[name], run[name]) and np.array_equal(numpys[:, j], run[name])
        assert np.array_equal(frame[name].to_numpy(dtype=float), run[name])


def test_other_readers_find_numbers_and_units_in_the_binary_formats(tmp_path: Path) -> None:
    from scipy.io import loadmat, netcdf_file

    run = bough.simulate(craft(), 0.1, step=0.05)
    run.save(tmp_path / "run.mat")
    found = loadmat(tmp_path / "run.mat", simplify_cells=True)
    at = list(found["names"]).index("tether.w[1]")
    assert found["units"][at] == "rad/s" and np.array_equal(found["data"][:, at], run["tether.w[1]"])
    run.save(tmp_path / "run.nc")
    with netcdf_file(str(tmp_path / "run.nc"), mmap=False) as file:
        assert file.variables["tether.w[1]"].units == b"rad/s" and file.variables["time"].units == b"s"
        assert np.array_equal(file.variables["tether.w[1]"][:], run["tether.w[1]"])
    parquet = pytest.importorskip("pyarrow.parquet")
    run.save(tmp_path / "run.parquet")
    assert parquet.read_schema(tmp_path / "run.parquet").field("tether.w[1]").metadata == {b"unit": b"rad/s"}
    assert np.array_equal(pd.read_parquet(tmp_path / "run.parquet")["tether.w[1]"], run["tether.w[1]"])


def test_units_of_numbers_that_were_there_before_do_not_stay(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    _awkward().to_csv(path)
    assert metadata_path(path).is_file()
    t = np.arange(3.0)
    bough.Result(t, {"hub.w[1]": t}).to_csv(path)
    assert bough.Result.load(path).units == {} and not metadata_path(path).exists()


def test_metadata_that_cannot_be_read_is_told_and_not_ignored(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    _awkward().to_csv(path)
    metadata_path(path).write_text("{", encoding="utf-8")
    with pytest.raises(SimulationError, match=r"run\.csv-metadata\.json, which holds the units of run\.csv"):
        bough.Result.load(path)


def test_runs_of_a_longer_sweep_before_keep_their_units(tmp_path: Path) -> None:
    """A sweep that ends early, or is shorter, leaves old runs in its folder: with other columns, too."""
    t = np.arange(3.0)
    for names, units, numbers in (
        (["hub.w[1]"], {"hub.w[1]": "rad/s"}, (1, 2, 3)),
        (["arm.s"], {"arm.s": "m"}, (1, 2)),
        (["arm.s"], {"arm.s": "m"}, (1,)),
    ):
        folder = RunFolder(tmp_path, 3)
        for number in numbers:
            folder(number, bough.Result(t, dict.fromkeys(names, t), units, names[0]))
        folder.finish()
    runs = [bough.Result.load(tmp_path / f"run_{number:04d}.csv") for number in (1, 2, 3)]
    assert [run.units["hub.w[1]" if run.model_name == "hub.w[1]" else "arm.s"] for run in runs] == ["m", "m", "rad/s"]
    (tmp_path / "run_0003.csv").unlink()
    folder.finish()
    assert "run_0003" not in (tmp_path / "csv-metadata.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("ending", [".mat", ".nc", ".parquet"])
def test_what_is_not_what_its_ending_says_is_refused(tmp_path: Path, ending: str) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"run{ending}"
    with pytest.raises(SimulationError, match="there is no such file"):
        bough.Result.load(path)
    for content in (b"", b"time,x\n1,2\n", bytes(range(256)) * 9):
        path.write_bytes(content)
        with pytest.raises(SimulationError, match=f"cannot read .*run{ending}: expected a"):
            bough.Result.load(path)


@pytest.mark.parametrize("name", ["run.xlsx", "run", "run.h5"])
def test_endings_that_say_no_format_are_refused_before_any_work(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match=r"ends in \.csv, \.mat, \.nc or \.parquet, found"):
        _awkward().save(tmp_path / name)
    # The model does not even exist: it was not looked at.
    done = CliRunner().invoke(app, ["run", str(tmp_path / "no.yaml"), "-o", str(tmp_path / name)])
    assert done.exit_code == 1 and "expected a name that ends in .csv, .mat, .nc or .parquet" in done.stderr
    done = CliRunner().invoke(app, ["report", str(tmp_path / "no.csv"), "-o", str(tmp_path / "report.docx")])
    assert done.exit_code == 1 and "expected a name that ends in .html, .pdf, .png or .svg" in done.stderr
    assert not list(tmp_path.iterdir())


def test_parquet_without_pyarrow_is_refused_with_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_binary.importlib.util, "find_spec", lambda name: None)
    for act in (_awkward().save, bough.Result.load):
        with pytest.raises(SimulationError, match="needs pyarrow, which is not installed: `pip install pyarrow`"):
            act(tmp_path / "run.parquet")


def test_both_ways_of_writing_rows_say_the_same_numbers() -> None:
    pytest.importorskip("orjson")
    rng = np.random.default_rng(2)
    block = rng.normal(size=(50, 4)) * 10.0 ** rng.integers(-300, 300, (50, 4))
    block[0] = [0.0, -0.0, 5e-324, 1.0]
    fast = _block_text(block)
    slow = "".join(",".join(map(repr, row)) + "\n" for row in block.tolist())
    read = [np.array([row.split(",") for row in text.splitlines()], dtype=float) for text in (fast, slow)]
    assert read[0].tobytes() == read[1].tobytes() == block.tobytes()


def test_stdout_gets_rows_alone(tmp_path: Path) -> None:
    code = "import bough, numpy as np; t = np.arange(2.0); bough.Result(t, {'x': t}, {'x': 'm'}).save('/dev/stdout')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=tmp_path, check=True)
    assert done.stdout == b"time,x\n0.0,0.0\n1.0,1.0\n" and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "row, found",
    [("1,2\r,3", r"x\.csv:3: expected 3 numbers, found \['1', '2'\]"), (f"1,2,{'x' * 200_000}", r"x\.csv:3: .*limit")],
    ids=["carriage return", "endless field"],
)
def test_damaged_row_is_refused_with_its_line(row: str, found: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(f"time,a,b\n0,1,2\n{row}\n".encode())
    with pytest.raises(SimulationError, match=found):
        bough.Result.load(tmp_path / "x.csv")
