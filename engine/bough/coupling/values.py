"""Values that a system file sets: each has a variable to go to, of its type and within its range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bough.coupling.assembly import Component, Value
from bough.coupling.settings import misfit, other_index, settable, unsettable
from bough.text.problems import Path, Report, describe, one_of

_WANTED = {"real": "a finite number", "integer": "a whole number", "boolean": "true or false", "string": "a text"}


def with_own_values(component: Component, given: Mapping[str, Any], path: Path, report: Report) -> Component:
    """A component with the values under its own `set`; what does not fit is in the report."""
    for name, value in given.items():
        component = _with_value(component, name, value, (*path, name), "", report)
    return component


def with_values(components: list[Component], given: Mapping[str, Any], key: str, report: Report) -> list[Component]:
    """Components with the values that the file sets at its top level, `component.variable: value`."""
    names = [c.name for c in components]
    out = {c.name: c for c in components}
    for full, value in given.items():
        name, _, variable = full.partition(".")
        if name in out:
            out[name] = _with_value(out[name], variable, value, (key, full), f"{name}.", report)
            continue
        close = report.suggest(name, names)
        cure = f"did you mean '{close}.{variable}'?" if close else f"use one of {one_of(names)}"
        report.add((key, full), "`component.variable`", f"no component {name!r}", cure)
    return list(out.values())


def _with_value(component: Component, name: str, value: Any, place: Path, prefix: str, report: Report) -> Component:
    """A component with one value more. `prefix` is what the file writes before its variables."""
    known = component.interface.variables
    elements = [] if name in known or name.endswith("]") else component.interface.elements(name)
    if elements:  # one value for all of them
        before = len(report.problems)
        for element in elements:
            component = _with_value(component, element, value, place, prefix, report)
            if len(report.problems) > before:
                return component
        return component
    if name not in known:
        close = report.suggest(name, settable(component)) or report.suggest(name, known)
        cure = f"did you mean '{prefix}{close}'?" if close else f"use one of {one_of(settable(component))}"
        cure = other_index(component, name, prefix) or cure
        report.add(place, f"a variable of component {component.name}", f"no variable {name!r}", cure)
        return component
    reason, v = unsettable(component, name), known[name]
    if reason:
        cure = f"set one of {one_of(settable(component))}"
        report.add(place, "a parameter, an input or a start value", f"{prefix}{name}: {reason}", cure)
        return component
    if isinstance(value, str) and value in v.items:
        value = v.items[value]
    if not _fits(value, v.kind):
        wanted = _WANTED.get(v.kind, "nothing: it has bytes")
        wanted = f"{wanted}, or one of {one_of(v.items)}" if v.items else wanted
        report.add(place, wanted, describe(value), f"write {wanted}")
        return component
    wrong = misfit(v, value)
    if wrong:
        report.add(place, wrong, describe(value), f"write a value of {wrong}")
        return component
    return replace(component, values={**component.values, name: float(value) if v.kind == "real" else value})


def _fits(value: Any, kind: str) -> bool:
    if kind in ("boolean", "string", "binary"):
        return isinstance(value, bool) if kind == "boolean" else kind == "string" and isinstance(value, str)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return isinstance(value, int) if kind == "integer" else abs(value) < float("inf")


def input_values(component: Component, given: Mapping[str, Any]) -> dict[str, Value]:
    """Values of a partner's inputs, axis by axis, of what it has been built with: `u: 2`, `u: [2, 3]` or `u[2]: 3`."""
    out: dict[str, Value] = {}
    for v in component.interface.named("input"):
        name, _, index = v.name.partition("[")
        value = given.get(name)
        if isinstance(value, (list, tuple)):
            value = value[int(index[:-1]) - 1 if index and len(value) > 1 else 0]
        value = given.get(v.name, value)
        if value is not None:
            out[v.name] = float(value)
    return out
