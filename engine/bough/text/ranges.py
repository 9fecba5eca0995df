"""Settings as people type them: `hub=52.4`, `shoulder.damping=0.1,0.2`, `hub=0:60`, `mass=1:2:5`."""

from __future__ import annotations

import math
from collections.abc import Iterable

from bough.errors import ArgumentError

MOST_VALUES = 2_000_000
"""Values of a range; more are a slip."""


def named_numbers(settings: Iterable[str], expected: str = "NAME=NUMBER") -> dict[str, float]:
    """Numbers by name: `hub=52.4`, several joined by commas.

    Args:
        settings: The texts.
        expected: What a message says was expected.

    Raises:
        ArgumentError: A text is not that.
    """
    out: dict[str, float] = {}
    for text in (part.strip() for given in settings for part in given.split(",") if part.strip()):
        name, _, value = (part.strip() for part in text.partition("="))
        try:
            out[name] = float(value)
        except ValueError:
            raise ArgumentError(f"expected {expected}, found {text!r}") from None
    return out


def named_range(setting: str, count: int) -> tuple[str, list[float]]:
    """`hub=0:60`, or `hub=0:60:31` with the number of values: a name and evenly spaced values, ends included.

    Args:
        setting: The text.
        count: How many values, where the text does not say.

    Raises:
        ArgumentError: It is not that.
    """
    name, _, values = (part.strip() for part in setting.partition("="))
    try:
        low, high, *rest = values.split(":")
        if len(rest) > 1 or not name:
            raise ValueError(setting)
        return name, _spaced(float(low), float(high), int(rest[0]) if rest else count)
    except ValueError:
        raise ArgumentError(f"expected NAME=FROM:TO or NAME=FROM:TO:NUMBER, found {setting!r}") from None


def grid_values(settings: Iterable[str]) -> dict[str, list[float]]:
    """Values by name: `a,b,c`, or `low:high:count` for evenly spaced ones, ends included.

    Raises:
        ArgumentError: A text is not that, a number is not finite, or a name comes twice.
    """
    out: dict[str, list[float]] = {}
    for text in settings:
        name, _, values = (part.strip() for part in text.partition("="))
        try:
            numbers = [x for part in values.split(",") for x in _numbers(part)]
        except ValueError:
            raise ArgumentError(f"expected NAME=a,b,c or NAME=low:high:count, found {text!r}") from None
        if not name or not all(math.isfinite(x) for x in numbers):
            raise ArgumentError(f"expected NAME and finite numbers, found {text!r}")
        if name in out:
            raise ArgumentError(f"{name} is given twice")
        out[name] = numbers
    return out


def _numbers(text: str) -> list[float]:
    if ":" not in text:
        return [float(text)]
    low, high, count = text.split(":")
    return _spaced(float(low), float(high), int(count))


def _spaced(low: float, high: float, count: int) -> list[float]:
    if not 2 <= count <= MOST_VALUES:
        raise ValueError(count)
    return [low + (high - low) * i / (count - 1) for i in range(count)]
