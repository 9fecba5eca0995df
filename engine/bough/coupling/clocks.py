"""Clocks of an FMI 3 description, which FMPy does not read in full."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

PERIODIC = ("constant", "fixed", "calculated", "tunable")
"""Interval variabilities of clocks that tick by themselves, at even intervals."""


def read_clocks(text: bytes) -> dict[str, Any]:
    """Periodic input clocks, output clocks and the variables that they clock, as `embedded.Clocked` takes them.

    Raises:
        ValueError: A periodic clock has no interval in the description, or none above zero.
        KeyError: An attribute is missing.
        ParseError: It is no XML.
    """
    root = ElementTree.fromstring(text)
    found = root.find("ModelVariables")
    variables = list(found) if found is not None else []
    types = {e.get("name"): e for e in root.findall("TypeDefinitions/ClockType")}
    clocks: list[tuple[int, float, float]] = []
    triggers: list[int] = []
    silent: list[tuple[str, str]] = []
    for e in (e for e in variables if e.tag == "Clock"):
        kind = types.get(e.get("declaredType"))
        variability = e.get("intervalVariability") or _of(kind, "intervalVariability") or "triggered"
        if e.get("causality") == "output":
            triggers.append(int(e.attrib["valueReference"]))
        elif e.get("causality") != "input":
            continue
        elif variability in PERIODIC:
            clocks.append((int(e.attrib["valueReference"]), *_interval(e, kind)))
        else:
            silent.append((e.attrib["name"], variability))
    clocked = {
        int(e.attrib["valueReference"]): (
            "Int64" if e.tag == "Enumeration" else e.tag,
            e.get("causality") == "input",
            [int(r) for r in e.get("clocks", "").split()],
        )
        for e in variables
        if e.get("clocks") and e.tag != "Clock"
    }
    arrays = {int(e.attrib["valueReference"]): e.findall("Dimension") for e in variables}
    sizes = {r: math.prod(int(d.get("start", "1")) for d in dims) for r, dims in arrays.items() if dims}
    wrong = [e.get("name") for e in variables if int(e.attrib["valueReference"]) in clocked.keys() & sizes.keys()]
    if wrong:
        raise ValueError(f"the array {wrong[0]} is clocked; clocked numbers are known here, arrays of them are not")
    return {"clocks": clocks, "clocked": clocked, "sizes": sizes, "triggers": triggers, "silent": silent}


def _of(kind: Element | None, key: str) -> str | None:
    return None if kind is None else kind.get(key)


def _interval(e: Element, kind: Element | None) -> tuple[float, float]:
    """Interval and shift, s: decimal, or counted in parts of a resolution."""

    def number(key: str) -> float | None:
        text = e.get(key) or _of(kind, key)
        return None if text is None else float(text)

    interval, shift = number("intervalDecimal"), number("shiftDecimal") or 0.0
    resolution, counter = number("resolution"), number("intervalCounter")
    if interval is None and resolution and counter:
        interval, shift = counter / resolution, (number("shiftCounter") or 0.0) / resolution
    if interval is None or not interval > 0.0:
        raise ValueError(f"the clock {e.get('name')} has no interval above zero in the description")
    return interval, shift
