"""Inputs over time from a CSV file: a column `time`, s, and a column for each input."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError, did_you_mean, listed
from bough.files import TEXT_BYTES, lines_in, open_file

Array: TypeAlias = NDArray[np.float64]
Series: TypeAlias = tuple[Array, Array]
"""Times, s, and values: linear between, constant outside."""


def read_series(path: Path, known: Sequence[str]) -> dict[str, Series]:
    """Read the file.

    Args:
        path: Of the file.
        known: Names that columns may have.

    Raises:
        SimulationError: The file cannot be read, names what is no input, or holds what is no number; with its line.
    """
    rows = _read(path)
    header = [name.strip() for name in rows[0]] if rows else []
    if "time" not in header:
        raise SimulationError(
            f"{path}:1: expected a header with a column 'time', found {', '.join(header) or 'nothing'}"
        )
    for name in header:
        if header.count(name) > 1:
            raise SimulationError(f"{path}:1: the column {name!r} is there {header.count(name)} times")
        if name != "time" and name not in known:
            told = f"there is no input {name!r}; inputs are: {listed(known)}{did_you_mean(name, known)}"
            raise SimulationError(f"{path}:1: {told}")
    data = np.array([_numbers(path, i, row, header) for i, row in enumerate(rows[1:], 2) if row])
    if not data.size:
        raise SimulationError(f"{path}: expected at least one row of numbers under the header")
    at = header.index("time")
    back = np.flatnonzero(np.diff(data[:, at]) < 0)
    if back.size:
        raise SimulationError(f"{path}: the time goes back from {data[back[0], at]!r} to {data[back[0] + 1, at]!r}")
    return {name: (data[:, at], data[:, j]) for j, name in enumerate(header) if j != at}


def _read(path: Path) -> list[list[str]]:
    try:
        with open_file(path, "r", most=TEXT_BYTES, newline="", encoding="utf-8-sig") as stream:
            return list(csv.reader(line for _, line in lines_in(stream)))
    except OSError as error:
        raise SimulationError(f"cannot read {path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise SimulationError(f"cannot read {path} as CSV: {error}") from None


def _numbers(path: Path, line: int, row: list[str], header: list[str]) -> list[float]:
    if len(row) != len(header):
        raise SimulationError(f"{path}:{line}: expected {len(header)} numbers, found {len(row)}")
    numbers = []
    for name, text in zip(header, row, strict=True):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise SimulationError(f"{path}:{line}: {name}: expected a finite number, found {text!r}")
        numbers.append(value)
    return numbers
