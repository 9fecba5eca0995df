"""What `bough run` is told: series from a CSV file, and constants from the command line."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Sequence
from pathlib import Path

import typer

from bough.errors import choices
from bough.mechanism.mechanism import Mechanism
from bough.run.series_file import Series, read_series

__all__ = ["Series", "gather", "gather_named", "input_names"]

_WORDS = {"true": 1.0, "false": 0.0}
"""Values of a boolean parameter, such as `shoulder.locked`."""


def gather(system: Mechanism, file: Path | None, settings: Iterable[str]) -> tuple[dict[str, Series], dict[str, float]]:
    """Inputs over time from the file; constant inputs, parameters and start values from the settings.

    Raises:
        SimulationError: The file cannot be read, or names what is no input of the model; or a value is not allowed.
        typer.BadParameter: A setting is not `name=number`, or names what cannot be set.
    """
    from bough.run.studies import check_settings, refusal, settable

    known = list(settable(system))
    series = {} if file is None else read_series(file, input_names(system))
    constant = _settings(settings, known, series, lambda name: refusal(system, name, known))
    check_settings(system, [constant], series)
    return series, constant


def input_names(system: Mechanism) -> list[str]:
    """Names that columns of a table of inputs may have."""
    return [v.name for v in system.variables if v.causality == "input"]


def gather_named(
    known: list[str], file: Path | None, settings: Iterable[str], settable: list[str] | None = None
) -> dict[str, Series | float]:
    """The same for inputs of these names, all in one.

    Args:
        known: Names that columns of the file may have.
        file: CSV of inputs over time, if any.
        settings: `name=value`.
        settable: Names that settings may have; those of the columns if not given.
    """
    names = known if settable is None else settable
    series = {} if file is None else read_series(file, known)
    constant = _settings(
        settings, names, series, lambda name: f"there is no {name!r} that can be set{choices(name, names)}"
    )
    return {**series, **constant}


def _settings(
    settings: Iterable[str], known: Sequence[str], series: Container[str], refusal: Callable[[str], str]
) -> dict[str, float]:
    """Numbers by name; none of them unknown, none given twice."""
    out: dict[str, float] = {}
    for setting in settings:
        name, value = _setting(setting)
        if name not in known:
            raise typer.BadParameter(refusal(name), param_hint="--set")
        if name in out or name in series:
            raise typer.BadParameter(f"{name} is given twice", param_hint="--set")
        out[name] = value
    return out


def _setting(text: str) -> tuple[str, float]:
    name, equals, number = (part.strip() for part in text.partition("="))
    try:
        value = _WORDS[number] if number in _WORDS else float(number) if equals else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise typer.BadParameter(f"expected name=number, found {text!r}", param_hint="--set")
    return name, value
