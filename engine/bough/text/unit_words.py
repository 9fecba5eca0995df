"""Numbers with a unit behind them, which a model file does not take: what they are in the unit that it expects."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from bough.text.scalars import number_of

# By the unit as the descriptions of keys write it: other units of the same quantity, and how many of it each is.
_UNITS: dict[str, dict[str, float]] = {
    "Pa": {"GPa": 1e9, "MPa": 1e6, "N/mm2": 1e6, "kPa": 1e3, "kN/mm2": 1e9},
    "m": {"km": 1e3, "dm": 0.1, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "µm": 1e-6, "in": 0.0254, "ft": 0.3048},
    "m^2": {"cm2": 1e-4, "mm2": 1e-6},
    "m^4": {"cm4": 1e-8, "mm4": 1e-12},
    "m/s": {"mm/s": 1e-3, "cm/s": 1e-2, "km/h": 1 / 3.6},
    "m/s^2": {"mm/s2": 1e-3, "g": 9.80665},
    "kg": {"t": 1e3, "g": 1e-3, "mg": 1e-6, "lb": 0.45359237},
    "kg/m^3": {"g/cm3": 1e3, "t/m3": 1e3, "kg/dm3": 1e3, "t/mm3": 1e12},
    "kg.m^2": {"g.mm2": 1e-9, "kg.mm2": 1e-6, "g.cm2": 1e-7, "kg.cm2": 1e-4},
    "rad": {"deg": math.pi / 180, "degree": math.pi / 180, "degrees": math.pi / 180, "°": math.pi / 180},
    "rad/s": {"deg/s": math.pi / 180, "°/s": math.pi / 180, "rpm": math.pi / 30},
    "Hz": {"kHz": 1e3, "MHz": 1e6, "1/s": 1.0},
    "N/m": {"N/mm": 1e3, "kN/m": 1e3},
    "N.m/rad": {"kNm/rad": 1e3, "kN.m/rad": 1e3, "Nm/rad": 1.0},
    "N.s/m": {"Ns/m": 1.0, "kN.s/m": 1e3},
    "N.m.s/rad": {"Nms/rad": 1.0, "Nm.s/rad": 1.0},
    "N.m.s": {"Nms": 1.0},
    "ratio": {"%": 1e-2, "percent": 1e-2},
}
_TEXT = re.compile(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*([A-Za-zµ°%].*?|1/s)\s*\Z")

_AT_END = re.compile(r"(?:_in)?_(m|mm|cm|kg|g|t|s|ms|hz|n|nm|rad|deg|degrees?|pa|kpa|mpa|gpa|si)\Z")


@dataclass(frozen=True)
class SiNumber:
    """A number as a user would write it, and its unit; empty for a ratio."""

    text: str
    unit: str


def without_unit(key: str) -> str:
    """The key in small letters, without a unit at its end: `length_mm` is `length`."""
    return _AT_END.sub("", key.lower().replace("-", "_").replace(" ", "_"))


def si_number(text: str, expected: str) -> SiNumber | None:
    """The number in the unit that is expected, if the text is a number in a unit of the same quantity.

    Args:
        text: Such as `20 GPa`.
        expected: What the key takes, such as `a number above 0: Young's modulus, Pa`.
    """
    match = _TEXT.match(text[:80])
    number = None if match is None else number_of(match[1])
    if match is None or number is None or not math.isfinite(number):
        return None
    given = _plain(match[2])
    for unit, others in _UNITS.items():
        factors = {_plain(unit): 1.0, **{_plain(other): factor for other, factor in others.items()}}
        if given in factors and re.search(rf"(?<![\w/.^]){re.escape(unit)}(?![\w/.^])", expected):
            return SiNumber(_written(match[1], number, factors[given]), "" if unit == "ratio" else unit)
    return None


def _plain(unit: str) -> str:
    """The unit without what is written in more than one way: powers and products."""
    for old, new in (("**", ""), ("^", ""), ("²", "2"), ("³", "3"), ("⁴", "4"), ("*", "."), ("·", ".")):
        unit = unit.replace(old, new)
    return unit


def _written(digits: str, number: float, factor: float) -> str:
    """Digits as the user has them, with the power of ten behind where that is large; else the product."""
    power = round(math.log10(factor))
    if power >= 6 and math.isclose(factor, 10.0**power) and "e" not in digits.lower():
        return f"{digits}e{power}"
    return digits if factor == 1.0 else f"{number * factor:.10g}"
