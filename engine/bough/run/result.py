"""What a simulation leaves: time and every variable, by name."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, TextIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError, UnknownNameError, choices
from bough.files import open_file, text_file

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

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write `time` and every variable as CSV, the whole file or none of it; numbers read back the same.

        Raises:
            OutputError: It cannot be written; what was there is still there.
        """
        with text_file(path, stream=True) as stream:
            self.write_rows(stream)

    def write_rows(self, stream: TextIO) -> None:
        """Write the same to a stream."""
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["time", *self.names])
        for row in np.column_stack([self.t, *self._columns.values()]).tolist():
            writer.writerow([repr(x) for x in row])

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str]) -> Result:
        """Read what `to_csv`, or any tool with a `time` column, has written."""
        try:
            with open_file(path, "r", newline="", encoding="utf-8") as stream:
                rows = list(csv.reader(stream))
        except FileNotFoundError:
            raise SimulationError(f"cannot read {path}: there is no such file") from None
        except OSError as error:
            raise SimulationError(f"cannot read {path}: {error.strerror}") from None
        except (UnicodeDecodeError, csv.Error):
            raise SimulationError(f"cannot read {path}: expected a CSV file, which is text, found other data") from None
        if not rows or not rows[0] or rows[0][0].strip() not in ("time", "t"):
            found = repr(",".join(rows[0])[:60]) if rows else "an empty file"
            raise SimulationError(
                f"{path}:1: expected a header that begins with 'time', found {found}; "
                "give a result as `bough run` writes it: a line of names, then a line of numbers for each time"
            )
        names = [name.strip() for name in rows[0]]
        data = np.empty((len(rows) - 1, len(names)))
        for i, row in enumerate(rows[1:]):
            try:
                numbers = [float(x) for x in row]
                if len(numbers) != len(names):
                    raise ValueError
                data[i] = numbers
            except ValueError:
                raise SimulationError(f"{path}:{i + 2}: expected {len(names)} numbers, found {row}") from None
        return cls(data[:, 0], {name: data[:, j + 1] for j, name in enumerate(names[1:])})

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with the time as its index."""
        import pandas as pd

        frame: pd.DataFrame = pd.DataFrame(self._columns, index=pd.Index(self.t, name="time"))
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
