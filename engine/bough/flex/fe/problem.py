"""How a reader or a check says what is wrong with an FE model."""

from __future__ import annotations

import os
from typing import NoReturn

from bough.errors import ModelError, Problem


def refuse(key: str, expected: str, found: str, cure: str) -> NoReturn:
    """Raise ModelError at a key of `fe:`; the body is named where it is known."""
    raise ModelError(Problem(file="", line=None, key=f"fe.{key}", expected=expected, found=found, cure=cure))


def name_of(path: str) -> str:
    """A file's name for messages, without its folder."""
    return repr(os.path.basename(path))


def some(numbers: object, most: int = 8) -> str:
    """A few numbers of many, for a message."""
    known = [str(number) for number in numbers]  # type: ignore[attr-defined]
    text = ", ".join(known[:most])
    return text if len(known) <= most else f"{text}, ... ({len(known)} in all)"
