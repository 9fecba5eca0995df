"""Variables chosen by patterns in which only `*` is special: brackets are parts of names here."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bough.errors import SimulationError
from bough.run.result import Result


def matches(name: str, pattern: str) -> bool:
    """Whether a name fits a pattern; `*` stands for anything, also for nothing."""
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), name) is not None


def chosen(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """The names that fit any of the patterns, in their own order; all without a pattern.

    Raises:
        SimulationError: A pattern fits nothing.
    """
    for pattern in patterns:
        if not any(matches(name, pattern) for name in names):
            raise SimulationError(f"no variable fits {pattern!r}; there are: {', '.join(names[:20])}, ...")
    return [name for name in names if not patterns or any(matches(name, pattern) for pattern in patterns)]


def select(result: Result, patterns: Sequence[str]) -> Result:
    """A result with the variables that fit any of the patterns; all without a pattern.

    Raises:
        SimulationError: A pattern fits nothing.
    """
    if not patterns:
        return result
    kept = chosen(result.names, patterns)
    units = {name: result.units.get(name, "") for name in kept}
    return Result(result.t, {name: result[name] for name in kept}, units, result.model_name, result.statistics)
