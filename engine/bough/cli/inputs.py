"""Inputs of `bough run`: series from a CSV file and constants from the command line."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import typer
from numpy.typing import NDArray

from bough.errors import SimulationError
from bough.system import System

Array: TypeAlias = NDArray[np.float64]
Series: TypeAlias = tuple[Array, Array]


def gather(system: System, file: Path | None, settings: Iterable[str]) -> dict[str, Series | float]:
    """Inputs by name: those of the file, and those set to a constant.

    Raises:
        SimulationError: The file cannot be read, or names what is no input of the model.
        typer.BadParameter: A setting is not `name=number`, or names no input.
    """
    return gather_named([v.name for v in system.variables if v.causality == "input"], file, settings)


def gather_named(known: list[str], file: Path | None, settings: Iterable[str]) -> dict[str, Series | float]:
    """The same for inputs of these names."""
    inputs: dict[str, Series | float] = {}
    if file is not None:
        inputs.update(_from_file(file, known))
    for setting in settings:
        name, value = _setting(setting, known)
        if name in inputs:
            raise typer.BadParameter(f"{name} is given twice", param_hint="--set")
        inputs[name] = value
    return inputs


def _setting(text: str, known: list[str]) -> tuple[str, float]:
    name, equals, number = text.partition("=")
    name = name.strip()
    try:
        value = float(number) if equals else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise typer.BadParameter(f"expected name=number, found {text!r}", param_hint="--set")
    if name not in known:
        raise typer.BadParameter(f"there is no input {name!r}; inputs are: {_list(known)}", param_hint="--set")
    return name, value


def _from_file(path: Path, known: list[str]) -> dict[str, Series]:
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
            raise SimulationError(f"{path}:1: there is no input {name!r}; inputs are: {_list(known)}")
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
        with path.open(newline="", encoding="utf-8-sig") as stream:
            return list(csv.reader(stream))
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


def _list(known: list[str]) -> str:
    shown = ", ".join(known[:20])
    return f"{shown}, ... ({len(known)} in all)" if len(known) > 20 else shown or "none"
