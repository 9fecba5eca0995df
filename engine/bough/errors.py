"""The one exception family of bough: everything a user can cause to fail is a `BoughError`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

SHOWN = 20
"""Problems printed in full before the message says how many more there are."""
LISTED = 20
"""Names that a message lists before it says how many there are."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a model, where it is and what to do about it.

    Attributes:
        file: The file as the user named it, or '<dict>' for a model given as a mapping.
        line: Line in that file, counted from 1; None where there is no text to point at.
        key: Key path such as `bodies[1].hinge.axis`; empty for the model as a whole.
        expected: What the model file allows there.
        found: What is there.
        cure: What the user can do.
    """

    file: str
    line: int | None
    key: str
    expected: str
    found: str
    cure: str

    @property
    def location(self) -> str:
        """File, line and key path, as far as they exist: `arm.yaml:12: bodies[1].hinge.axis`."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.key}" if self.key else place

    def __str__(self) -> str:
        """One paragraph of four lines."""
        return f"{self.location}\n  expected: {self.expected}\n  found:    {self.found}\n  cure:     {self.cure}"


class BoughError(Exception):
    """Base of every error that bough raises on purpose."""


class ModelError(BoughError):
    """The model is wrong: refused before anything runs.

    Attributes:
        problems: Everything found wrong, in the order of the file; empty if only a message was given.
    """

    def __init__(self, problems: str | Problem | Iterable[Problem]) -> None:
        """Take the problems, or a bare message where there is no place in a file to point at."""
        self.problems: tuple[Problem, ...] = ()
        if isinstance(problems, str):
            message = problems
        else:
            self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
            message = _paragraphs(self.problems)
        super().__init__(message)

    def __reduce__(self) -> tuple[type[ModelError], tuple[str | tuple[Problem, ...]]]:
        """Pickle by the problems, so that the error survives the way back from a worker process."""
        return type(self), (self.problems or str(self),)


class SimulationError(BoughError):
    """A run failed: a step that cannot be taken, an input that does not fit, a state that is not finite.

    Attributes:
        result: What was computed until then (a `bough.Result`), or None.
    """

    result: Any = None


class BuildError(BoughError):
    """An FMU or another artefact could not be written."""


class OutputError(SimulationError, BuildError):
    """A file cannot be written; what was there under its name is still there."""


class ArgumentError(BoughError, ValueError):
    """An argument of a call is wrong: its name comes first in the message. A `ValueError` too, as Python has it."""


class UnknownNameError(BoughError, KeyError):
    """There is nothing of that name. A `KeyError` too, as Python has it."""

    def __str__(self) -> str:
        """The message as it is: a KeyError would put it in quotation marks."""
        return str(self.args[0]) if self.args else ""


class BoughWarning(UserWarning):
    """Base of every warning: the computation is sound, but the answer may not be what it looks like."""


class ProgressWarning(BoughWarning):
    """A run goes on, but so slowly that it will hardly end."""


class ToleranceWarning(BoughWarning):
    """A motion is hardly larger than the error that the tolerances allow."""


class TheoryWarning(BoughWarning):
    """A flexible body leaves the limits of its modes: the computation is sound, and the answer is wrong."""


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like this one, if any does."""
    candidates = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower()[:200], candidates, n=1, cutoff=0.6)
    return candidates[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The known name that looks most like this one, as a question that follows a semicolon; empty if none does."""
    close = closest(name, known)
    return "" if close is None else f"; did you mean '{close}'?"


def listed(known: Sequence[str]) -> str:
    """Names for a message, the first of them."""
    shown = ", ".join(known[:LISTED])
    return f"{shown}, ... ({len(known)} in all)" if len(known) > LISTED else shown or "none"


def choices(name: str, known: Sequence[str]) -> str:
    """What follows a name that is not known: the one that looks like it, or a list of those that are."""
    return did_you_mean(name, known) or f"; there are: {listed(known)}"


def _paragraphs(problems: tuple[Problem, ...]) -> str:
    shown = [str(problem) for problem in problems[:SHOWN]]
    more = len(problems) - len(shown)
    if more:
        shown.append(f"... and {more} more problem{'s' if more > 1 else ''}")
    return "\n\n".join(shown)
