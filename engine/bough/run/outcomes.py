"""What is kept of many runs: a grid of settings, and final, peak and rms value of each variable of each run."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import ArgumentError
from bough.run.result import Result

Array: TypeAlias = NDArray[np.float64]

MOST_RUNS = 1_000_000
MEASURES = ("final", "peak", "rms")
"""Last value; largest magnitude; root of the mean square over time."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """One run of a sweep.

    Attributes:
        number: From 1 on, in the order of the grid.
        settings: What was set, by name.
        measures: (variables, 3): final, peak and rms of each variable, nan if the run failed.
        error: Why the run failed; empty if it did not.
    """

    number: int
    settings: Mapping[str, float]
    measures: Array
    error: str = ""

    @property
    def ok(self) -> bool:
        """Whether the run reached its end."""
        return not self.error


@dataclass(frozen=True, eq=False)
class Sweep:
    """All runs: names of the variables, an outcome for each point of the grid, units of what was set or measured."""

    names: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    units: Mapping[str, str] = field(default_factory=dict)


class SweepInterrupted(KeyboardInterrupt):
    """The user has stopped a sweep.

    Attributes:
        sweep: The runs that had ended.
        missing: Numbers of the others.
    """

    def __init__(self, sweep: Sweep, count: int) -> None:
        """Keep what there is of so many runs."""
        ended = {outcome.number for outcome in sweep.outcomes}
        self.sweep = sweep
        self.missing = tuple(number for number in range(1, count + 1) if number not in ended)
        super().__init__(f"interrupted: {len(ended)} of {count} runs are done")


def grid(values: Mapping[str, Sequence[float]]) -> list[dict[str, float]]:
    """Every combination of the values; the last name changes fastest.

    Raises:
        ArgumentError: There are too many.
    """
    count = math.prod(len(v) for v in values.values())
    if count > MOST_RUNS:
        raise ArgumentError(f"that makes {count} runs; at most {MOST_RUNS} are made")
    return [dict(zip(values, point, strict=True)) for point in itertools.product(*values.values())]


def measure(result: Result, names: Sequence[str]) -> Array:
    """Final value, largest magnitude and root mean square over time of some variables, (n, 3)."""
    t = result.t
    span = float(t[-1] - t[0])
    out = np.empty((len(names), len(MEASURES)))
    for i, name in enumerate(names):
        y = result[name]
        # Trapezia: rows need not be evenly spaced at the end of the run.
        mean = float(np.sum(np.diff(t) * (y[1:] ** 2 + y[:-1] ** 2)) / (2 * span)) if span > 0.0 else float(y[0] ** 2)
        out[i] = y[-1], np.max(abs(y)), math.sqrt(mean)
    return out
