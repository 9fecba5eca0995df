"""What a simulation leaves: time and every variable, by name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import UnknownNameError, choices
from bough.run.result_csv import read_metadata, read_table, rows_text, write_table
from bough.run.result_files import BINARY, check_result_name, is_stream

if TYPE_CHECKING:
    import pandas as pd

Array: TypeAlias = NDArray[np.float64]

MOST_DECIMALS = 15
"""Decimals that a double still tells apart near one second."""


class Result:
    """Time series of a run.

    Attributes:
        t: Times, s, (n,).
        names: Variables, in the order of the columns.
        units: Unit of each variable, by name.
        model_name: Name of the model.
        statistics: Integration steps, rejected steps, evaluations, computing time in s.
    """

    def __init__(
        self,
        t: Array,
        columns: Mapping[str, Array],
        units: Mapping[str, str] | None = None,
        model_name: str = "",
        statistics: Mapping[str, float] | None = None,
    ) -> None:
        """Keep times and columns of equal length."""
        self.t: Array = t
        self._columns = dict(columns)
        self.units: dict[str, str] = dict(units or {})
        self.model_name = model_name
        self.statistics: dict[str, float] = dict(statistics or {})

    @property
    def names(self) -> list[str]:
        """Names of the variables."""
        return list(self._columns)

    def __repr__(self) -> str:
        """Whose run it is, how much of it there is, and until when."""
        span = f", t = {self.t[0]:.6g} s to {self.t[-1]:.6g} s" if self.t.size else ""
        of = f" of {self.model_name}" if self.model_name else ""
        return f"<bough.Result{of}: {len(self)} rows of {len(self._columns)} variables{span}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: a plot and a table."""
        from bough.run.notebook import result_html

        return result_html(self)

    def __getitem__(self, name: str) -> Array:
        """Time series of one variable; `time` is one too.

        Raises:
            UnknownNameError: There is no such variable; a `KeyError` too.
        """
        if name == "time":
            return self.t
        try:
            return self._columns[name]
        except KeyError:
            told = f"no variable {name!r} in the result{choices(str(name), self.names)}"
            raise UnknownNameError(told) from None

    def __contains__(self, name: object) -> bool:
        """Whether a variable is there."""
        return name == "time" or name in self._columns

    def __iter__(self) -> Iterator[str]:
        """Names of the variables."""
        return iter(self._columns)

    def __len__(self) -> int:
        """Number of times."""
        return int(self.t.size)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result as the ending of the name says, the whole file or none of it; numbers read back the same.

        | ending | what is written | where the units are |
        |---|---|---|
        | `.csv` | a line of names, then a line for each time | beside it, in `run.csv-metadata.json` |
        | `.mat` | MATLAB: `time`, `data`, `names`, `units` | `units` |
        | `.nc` | NetCDF 3: a variable for each column | attribute `units` of each variable |
        | `.parquet` | Parquet, by pyarrow: a column for each variable | metadata `unit` of each field |

        Raises:
            OutputError: It cannot be written, or the ending is none of these; what was there is still there.

        Example:
            >>> import bough, numpy as np, os, tempfile
            >>> run = bough.Result(np.array([0.0, 0.1]), {"rail.s": np.array([0.0, 0.3])}, {"rail.s": "m"})
            >>> path = os.path.join(tempfile.mkdtemp(), "run.nc")
            >>> run.save(path)
            >>> bough.Result.load(path).units
            {'rail.s': 'm'}
        """
        check_result_name(path)
        form = None if is_stream(path) else BINARY.get(Path(path).suffix.lower())
        if form is None:
            self.to_csv(path)
        else:
            form.write(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read what `save` has written, by the ending of its name; any other ending is read as CSV.

        Raises:
            SimulationError: The file cannot be read, or is not what its ending says.
        """
        form = BINARY.get(Path(path).suffix.lower())
        if form is None:
            return cls.from_csv(path)
        found = form.read(path)
        columns = {name: column for name, column in found.columns.items() if name != "time"}
        units = {name: unit for name, unit in found.units.items() if name in columns}
        return cls(found.columns["time"], columns, units, found.model_name, found.statistics)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write `time` and every variable as CSV, the whole file or none of it; numbers read back the same.

        The units go beside it, into `run.csv-metadata.json`; a device or a pipe gets the numbers alone.

        Raises:
            OutputError: It cannot be written; what was there is still there.
        """
        units = {"time": "s", **self.units} if self.units else {}
        write_table(path, self._pieces(), ["time", *self.names], units, self.model_name)

    def write_rows(self, stream: TextIO) -> None:
        """Write the same lines of CSV to a stream."""
        for piece in self._pieces():
            stream.write(piece)

    def _pieces(self) -> Iterator[str]:
        return rows_text(["time", *self.names], [self.t, *self._columns.values()])

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str]) -> Result:
        """Read what `to_csv`, or any tool with a `time` column, has written; units from the file beside it, if any.

        Raises:
            SimulationError: The file cannot be read; or a line is wrong, with its number.
        """
        names, data = read_table(path)
        units, model_name = read_metadata(path)
        columns = {name: data[:, j] for j, name in enumerate(names[1:], 1)}
        return cls(data[:, 0], columns, {name: units[name] for name in columns if name in units}, model_name)

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with the time, s, as its index; `frame.attrs["units"]` holds the units by column."""
        import pandas as pd

        frame: pd.DataFrame = pd.DataFrame(self._columns, index=pd.Index(self.t, name="time"))
        frame.attrs["units"] = dict(self.units)
        return frame


class Interrupted(KeyboardInterrupt):
    """The user has stopped the run.

    Attributes:
        result: What was computed until then.
    """

    def __init__(self, result: Result) -> None:
        """Keep the rows."""
        super().__init__(f"interrupted at t = {result.t[-1]:.9g} s")
        self.result = result


def decimals(time: float) -> int:
    """Decimals that a time has when it is written."""
    exponent = Decimal(repr(time)).normalize().as_tuple().exponent
    return max(0, -int(exponent))


def short_times(times: Array, places: int) -> Array:
    """The same times as one would write them, 2.002 for 2.0020000000000002: no more than rounding changes.

    Args:
        times: s.
        places: Decimals that they have when written.
    """
    if places > MOST_DECIMALS or not times.size:
        return times
    rounded = np.round(times, places)
    return np.where(np.abs(rounded - times) <= 4 * np.spacing(np.abs(times).max()), rounded, times)
