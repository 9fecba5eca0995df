"""Collects what is wrong with a model, so that a user sees all of it in one go."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NoReturn, TypeAlias

from bough.errors import ModelError, Problem, closest
from bough.text.vocabulary import Vocabulary

Path: TypeAlias = tuple[str | int, ...]
"""Keys and list indices from the top of the model to a value."""

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_LONGEST = 60
NO_WORDS = Vocabulary()
MAX_SUGGESTIONS = 200
"""Suggestions per report: looking for similar names takes long where everything is misspelt."""


class Foreign:
    """Stands for a value that no model file can hold, such as a complex number or an open file."""

    def __init__(self, value: object) -> None:
        """Keep the name of the type only."""
        self.type_name = type(value).__name__


class Report:
    """The problems found so far in one source."""

    def __init__(
        self,
        file: str,
        line_of: Callable[[Path], int | None],
        folder: str = "",
        words: Vocabulary = NO_WORDS,
    ) -> None:
        """Name the file, how to find the line of a key path in it, the folder that its paths start from, its words."""
        self.file = file
        self.folder = folder
        self.words = words
        self.problems: list[Problem] = []
        self.corrected: set[Path] = set()
        """Keys that are missing only because the file has them under a wrong name."""
        self._line_of = line_of
        self._suggestions = MAX_SUGGESTIONS

    def add(self, path: Path, expected: str, found: str, cure: str) -> None:
        """Note one problem at a key path."""
        line = self._line_of(path)
        self.problems.append(Problem(self.file, line, key_path(path), expected, found, cure))

    def suggest(self, name: str, known: Iterable[str]) -> str | None:
        """The known name that looks most like this one, if any does."""
        # A misspelling is short: a pasted page resembles no key.
        if self._suggestions <= 0 or len(name) > 4 * _LONGEST:
            return None
        self._suggestions -= 1
        return closest(name, known)

    def fail(self) -> NoReturn:
        """Raise what was found, in the order of the file."""
        raise ModelError(sorted(self.problems, key=lambda problem: problem.line or 0))

    def fail_if_any(self) -> None:
        """Raise if there is at least one problem."""
        if self.problems:
            self.fail()


def key_path(path: Path) -> str:
    """The path as a user would write it: `bodies[1].hinge.axis`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if _PLAIN_KEY.match(part) and len(part) <= _LONGEST else _short(part)
            text += f".{name}" if text else name
    return text


def describe(value: object) -> str:
    """A short description of a value for a message, whatever the value is."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value!r}"
    if isinstance(value, str):
        return f"the text {_short(value)}"
    if isinstance(value, list):
        return _describe_list(value)
    if isinstance(value, dict):
        keys = ", ".join(map(str, list(value)[:6])) + (", ..." if len(value) > 6 else "")
        return f"a mapping with the keys {_short(keys)}" if value else "an empty mapping"
    name = value.type_name if isinstance(value, Foreign) else type(value).__name__
    return f"an object of type {name}"


def _describe_list(value: list[object]) -> str:
    if not value:
        return "an empty list"
    count = f"a list of {len(value)} value{'s' if len(value) > 1 else ''}"
    if len(value) <= 6 and all(isinstance(x, (int, float)) for x in value):
        return f"{count}: {value!r}"
    return count


def _short(text: str) -> str:
    shown = repr(text[:_LONGEST])
    return shown if len(text) <= _LONGEST else f"{shown} and {len(text) - _LONGEST} more characters"


def one_of(names: Iterable[str]) -> str:
    """A list of names for a message, cut where it would tire the reader."""
    known = list(names)
    text = ", ".join(known[:30])
    return text if len(known) <= 30 else f"{text}, ... ({len(known)} in all)"
