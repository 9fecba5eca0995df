"""Units in the spelling of FMI: what each is in SI base units, and what users like to read instead."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """A unit in FMI spelling.

    Attributes:
        name: For instance `N.m`.
        base: Exponents of SI base units and rad, as pairs.
        display: Display units as pairs (name, factor): shown value = factor * value. The first is the default.
    """

    name: str
    base: tuple[tuple[str, int], ...]
    display: tuple[tuple[str, float], ...] = ()


NONE = "1"
"""Unit of numbers without one: modal coordinates, quaternions, factors."""

_DEG = 180.0 / math.pi
_RPM = 30.0 / math.pi
_POWER = re.compile(r"(?<=[A-Za-z])\d+")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

UNITS: dict[str, Unit] = {
    unit.name: unit
    for unit in (
        Unit(NONE, ()),
        Unit("s", (("s", 1),)),
        Unit("1/s", (("s", -1),)),
        Unit("1/s2", (("s", -2),)),
        Unit("m", (("m", 1),)),
        Unit("m/s", (("m", 1), ("s", -1))),
        Unit("m/s2", (("m", 1), ("s", -2))),
        Unit("rad", (("rad", 1),), (("deg", _DEG),)),
        Unit("rad/s", (("s", -1), ("rad", 1)), (("rpm", _RPM), ("rev/min", _RPM), ("deg/s", _DEG))),
        Unit("rad/s2", (("s", -2), ("rad", 1)), (("deg/s2", _DEG),)),
        Unit("kg", (("kg", 1),)),
        Unit("kg.m2", (("kg", 1), ("m", 2))),
        Unit("N", (("kg", 1), ("m", 1), ("s", -2))),
        Unit("N.m", (("kg", 1), ("m", 2), ("s", -2))),
        Unit("N/m", (("kg", 1), ("s", -2))),
        Unit("N.m/rad", (("kg", 1), ("m", 2), ("s", -2), ("rad", -1))),
        Unit("N.s/m", (("kg", 1), ("s", -1))),
        Unit("N.m.s", (("kg", 1), ("m", 2), ("s", -1))),
        Unit("N.m.s/rad", (("kg", 1), ("m", 2), ("s", -1), ("rad", -1))),
        Unit("N.m.s2/rad", (("kg", 1), ("m", 2), ("rad", -1))),
        Unit("N.m/(rad.s)", (("kg", 1), ("m", 2), ("s", -3), ("rad", -1))),
        Unit("W", (("kg", 1), ("m", 2), ("s", -3))),
        Unit("A", (("A", 1),)),
        Unit("V", (("kg", 1), ("m", 2), ("s", -3), ("A", -1))),
        Unit("V/V", ()),
        Unit("V/(N.m)", (("A", -1),)),
        Unit("V/N", (("m", 1), ("A", -1))),
        Unit("V.s/m", (("kg", 1), ("m", 1), ("s", -2), ("A", -1))),
        Unit("Ohm", (("kg", 1), ("m", 2), ("s", -3), ("A", -2))),
        Unit("H", (("kg", 1), ("m", 2), ("s", -2), ("A", -2))),
        Unit("N.m/A", (("kg", 1), ("m", 2), ("s", -2), ("A", -1))),
        Unit("V/rad", (("kg", 1), ("m", 2), ("s", -3), ("A", -1), ("rad", -1))),
        Unit("V.s/rad", (("kg", 1), ("m", 2), ("s", -2), ("A", -1), ("rad", -1))),
        Unit("V.s2/rad", (("kg", 1), ("m", 2), ("s", -1), ("A", -1), ("rad", -1))),
        Unit("V/(rad.s)", (("kg", 1), ("m", 2), ("s", -4), ("A", -1), ("rad", -1))),
    )
}


def display_unit(unit: str) -> str | None:
    """The display unit that a variable of this unit gets by default."""
    display = UNITS[unit].display
    return display[0][0] if display else None


def used_units(units: set[str]) -> list[Unit]:
    """Definitions of the given units, in one fixed order."""
    return [definition for name, definition in UNITS.items() if name in units]


def pretty(unit: str) -> str:
    """A unit as people write it: `rad/s2` is rad/s², `N.m` is N·m; the unit 1 of a plain number is empty."""
    if unit in ("", NONE):
        return ""
    raised = _POWER.sub(lambda match: match[0].translate(_RAISED), unit)
    return raised.replace("Ohm", "Ω").replace(".", "·")
