"""Units as people write them: `rad/s2` is rad/s², `N.m` is N·m."""

from __future__ import annotations

import re

_POWER = re.compile(r"(?<=[A-Za-z])\d+")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def pretty(unit: str) -> str:
    """A unit in the spelling of FMI, for the eye; the unit 1 of a plain number is empty."""
    if unit in ("", "1"):
        return ""
    raised = _POWER.sub(lambda match: match[0].translate(_RAISED), unit)
    return raised.replace("Ohm", "Ω").replace(".", "·")
