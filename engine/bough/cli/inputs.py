"""Inputs of `bough run`: series from a CSV file and constants from the command line."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import typer

from bough.series_file import Series, listed, read_series
from bough.system import System

__all__ = ["Series", "gather", "gather_named"]


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
        inputs.update(read_series(file, known))
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
        raise typer.BadParameter(f"there is no input {name!r}; inputs are: {listed(known)}", param_hint="--set")
    return name, value
