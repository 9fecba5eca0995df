"""Numbers in text files of FE programs, read strictly: ASCII digits, no underscores, in the range of 64 bits.

Python's own `int` and `float` take more: digits of every script and `1_000`. `str.isdigit` is true for a superscript
two, which no number begins with.
"""

from __future__ import annotations

import math
import re

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_REAL = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:[EeDd]?([+-][0-9]{1,9})|[EeDd]([0-9]{1,9}))?")


def whole_number(text: str) -> int | None:
    """The whole number of a text, blanks around it apart; None if it is none, or has more than 18 digits."""
    return int(text) if _WHOLE.fullmatch(text.strip()) else None


def real_number(text: str) -> float | None:
    """The finite number of a text; None if it is none.

    The exponent follows E, D or its sign alone: 1.5e-3, 1.5D-3 and 1.5-3 are the same.
    """
    match = _REAL.fullmatch(text.strip())
    if match is None:
        return None
    value = float(f"{match[1]}e{match[2] or match[3] or 0}")
    return value if math.isfinite(value) else None


def whole_or_error(text: str) -> int:
    """As `whole_number`; ValueError if it is none."""
    value = whole_number(text)
    if value is None:
        raise ValueError(text)
    return value


def real_or_error(text: str) -> float:
    """As `real_number`; ValueError if it is none."""
    value = real_number(text)
    if value is None:
        raise ValueError(text)
    return value
