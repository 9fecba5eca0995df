"""Results as NetCDF, MATLAB and Parquet files, each with the units where its readers look for them."""

from __future__ import annotations

import importlib.util
import io
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import OutputError, SimulationError
from bough.files import open_file, write_bytes

if TYPE_CHECKING:
    from bough.run.result import Result

Array: TypeAlias = NDArray[np.float64]
Name: TypeAlias = str | os.PathLike[str]

LARGEST = 2**31 - 2**20
"""Bytes of one array in a MATLAB file of version 5, and of one variable of NetCDF 3; a little is left for its head."""


@dataclass(frozen=True, eq=False)
class Content:
    """What a file holds: columns by name, `time` first; units; name of the model; statistics."""

    columns: Mapping[str, Array]
    units: Mapping[str, str]
    model_name: str
    statistics: Mapping[str, float]


def write_netcdf(result: Result, path: Name) -> None:
    """NetCDF 3 (64-bit offsets): a variable for each column, dimension `time`, attribute `units`."""
    from scipy.io import netcdf_file

    _check_size(path, 8 * len(result), "choose a longer step between rows")
    out = io.BytesIO()
    file: Any = netcdf_file(out, "w", version=2)
    file.createDimension("time", len(result))
    for name in ("time", *result.names):
        variable = file.createVariable(name, "f8", ("time",))
        variable[:] = result[name]
        unit = "s" if name == "time" else result.units.get(name)
        if unit:
            variable.units = unit
    file.model = result.model_name
    file.statistics = json.dumps(result.statistics)
    file.flush()
    write_bytes(path, out.getvalue())


def read_netcdf(path: Name) -> Content:
    """Every variable over the dimension `time`."""
    from scipy.io import netcdf_file

    def parse(data: io.BytesIO) -> Content:
        file: Any = netcdf_file(data, "r", mmap=False)
        kept = {name: v for name, v in file.variables.items() if v.dimensions == ("time",)}
        columns = {name: np.array(v[:], dtype=np.float64) for name, v in kept.items()}
        units = {name: _text(v.units) for name, v in kept.items() if hasattr(v, "units")}
        statistics = json.loads(_text(getattr(file, "statistics", b"{}")) or "{}")
        return Content(columns, units, _text(getattr(file, "model", b"")), statistics)

    return _parsed(path, "a NetCDF 3 file with a dimension `time`", parse)


def write_mat(result: Result, path: Name) -> None:
    """MATLAB 5: `time` (n, 1), `data` (n, m), cell arrays `names` and `units`, `model`, struct `statistics`.

    A name such as `hub.w[1]` is no name of a variable in MATLAB: the columns of `data` go by `names`.
    """
    from scipy.io import savemat

    _check_size(path, 8 * len(result) * len(result.names), "write .nc or .parquet, or keep fewer rows")
    out: Any = io.BytesIO()
    columns = [result[name] for name in result.names]
    data = {
        "time": result.t.reshape(-1, 1),
        "data": np.column_stack(columns) if columns else np.empty((len(result), 0)),
        "names": _cells(result.names),
        "units": _cells([result.units.get(name, "") for name in result.names]),
        "model": result.model_name,
        "statistics": _cells([json.dumps(result.statistics)]),
    }
    savemat(out, data, do_compression=False, oned_as="column")
    write_bytes(path, out.getvalue())


def read_mat(path: Name) -> Content:
    """What `write_mat` has written."""
    from scipy.io import loadmat

    def parse(data: Any) -> Content:
        found = loadmat(data)
        names, units = ([_cell(each) for each in found[key].ravel()] for key in ("names", "units"))
        table = np.asarray(found["data"], dtype=np.float64)
        columns = {"time": np.asarray(found["time"], dtype=np.float64).ravel()}
        columns |= {name: table[:, j].copy() for j, name in enumerate(names)}
        told = {name: unit for name, unit in zip(names, units, strict=True) if unit}
        statistics = json.loads(_cell(found["statistics"].ravel()[0]) or "{}")
        return Content(columns, told, _cell(found["model"]), statistics)

    return _parsed(path, "a MATLAB file with `time`, `data`, `names` and `units`", parse)


def write_parquet(result: Result, path: Name) -> None:
    """Parquet: a column for each variable with the unit in its field's metadata, key `unit`."""
    arrow, parquet = _arrow()
    fields = [
        arrow.field(name, arrow.float64(), nullable=False, metadata={"unit": unit} if unit else None)
        for name in ("time", *result.names)
        for unit in ("s" if name == "time" else result.units.get(name, ""),)
    ]
    about = {"model": result.model_name, "statistics": json.dumps(result.statistics)}
    table = arrow.table([result[field.name] for field in fields], schema=arrow.schema(fields, metadata=about))
    out = io.BytesIO()
    parquet.write_table(table, out)
    write_bytes(path, out.getvalue())


def read_parquet(path: Name) -> Content:
    """Columns of numbers, with the units that their fields have."""
    _, parquet = _arrow()

    def parse(data: io.BytesIO) -> Content:
        table = parquet.read_table(data)
        columns = {name: np.array(table[name], dtype=np.float64) for name in table.column_names}
        about = {field.name: field.metadata or {} for field in table.schema}
        units = {name: each[b"unit"].decode() for name, each in about.items() if b"unit" in each}
        whole = table.schema.metadata or {}
        statistics = json.loads(whole.get(b"statistics", b"{}"))
        return Content(columns, units, whole.get(b"model", b"").decode(), statistics)

    return _parsed(path, "a Parquet file of numbers", parse)


def arrow_missing() -> str:
    """Why Parquet cannot be written or read, with the cure; empty if it can."""
    if importlib.util.find_spec("pyarrow") is not None:
        return ""
    return "Parquet needs pyarrow, which is not installed: `pip install pyarrow`, or choose .csv, .mat or .nc"


def _arrow() -> tuple[Any, Any]:
    if arrow_missing():
        raise SimulationError(arrow_missing())
    import pyarrow
    import pyarrow.parquet

    return pyarrow, pyarrow.parquet


def _parsed(path: Name, expected: str, parse: Callable[[io.BytesIO], Content]) -> Content:
    """Read a file whose library may raise anything over a broken one."""
    try:
        with open_file(path) as stream:
            data = stream.read()
    except FileNotFoundError:
        raise SimulationError(f"cannot read {path}: there is no such file") from None
    except OSError as error:
        raise SimulationError(f"cannot read {path}: {error.strerror}") from None
    try:
        content = parse(io.BytesIO(data))
        lengths = {column.shape for column in content.columns.values()}
        if "time" not in content.columns or len(lengths) != 1:
            raise ValueError("columns of one length, `time` among them, are missing")
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SimulationError(f"cannot read {path}: expected {expected} ({reason})") from None
    return content


def _check_size(path: Name, size: int, cure: str) -> None:
    if size > LARGEST:
        raise OutputError(f"cannot write {path}: an array of {size / 2**30:.3g} GiB, at most 2 are possible; {cure}")


def _cells(texts: list[str]) -> NDArray[np.object_]:
    """A column of a cell array."""
    out = np.empty((len(texts), 1), dtype=object)
    out[:, 0] = texts
    return out


def _cell(value: Any) -> str:
    """A text as scipy reads one: an array of one string, or of none."""
    found = np.asarray(value).ravel()
    return str(found[0]) if found.size else ""


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
