"""Checks connections: both ends exist, an output feeds an input, units and types agree, an input has one source."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bough.coupling.assembly import Component, Link, Port, Unit, Variable
from bough.coupling.carry import carried_value
from bough.coupling.settings import other_index
from bough.coupling.system_file import ConnectionFile
from bough.errors import SimulationError
from bough.text.problems import Path, Report, describe, one_of
from bough.text.translate import check

_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*(?:\[\d+\])?)+")
SOURCES = ("output", "calculatedParameter", "parameter")


@dataclass(frozen=True)
class _Wire:
    """A connection as read, with the place in the file that a message points at."""

    source: str
    target: str
    factor: float | None
    offset: float | None
    convert: bool
    path: Path


def check_links(wires: Any, components: list[Component], report: Report) -> tuple[list[Link], list[Link], list[str]]:
    """Links of a system; what is wrong is in the report.

    A connection to a parameter is no link: its value is found here, by initializing the source, and becomes a value of
    the component in `components`.

    Returns:
        Links, connections to parameters, and warnings.
    """
    links: list[Link] = []
    carried: list[Link] = []
    warnings: list[str] = []
    taken: dict[Port, str] = {}
    for wire in _scalar(_wires(wires, report), components, report):
        ends = _ends(wire, components, report)
        if ends is None:
            continue
        source, target = ends
        if target in taken:
            expected = "one source for each input"
            report.add(wire.path, expected, f"{wire.target} is fed by {taken[target]} already", "remove one of them")
            continue
        taken[target] = wire.source
        link = _link(wire, source, target, components, report, warnings)
        if link is None:
            continue
        if _variable(components, target).causality == "parameter":
            carried.append(link)
            _carry(link, components, wire.path, report, warnings)
        else:
            links.append(link)
    return links, carried, warnings


def _wires(wires: Any, report: Report) -> list[_Wire]:
    if wires is None:
        return []
    if not isinstance(wires, list):
        cure = 'write a list, such as ["motor.tau -> arm.shoulder.tau"]'
        report.add(("connections",), "a list of connections", describe(wires), cure)
        return []
    out = []
    for i, wire in enumerate(wires):
        path = ("connections", i)
        if isinstance(wire, str):
            source, arrow, target = (part.strip() for part in wire.partition("->"))
            if arrow and source and target:
                out.append(_Wire(source, target, None, None, False, path))
            else:
                cure = f'write "{_guess(wire)}"'
                report.add(path, "`component.output -> component.input`", describe(wire), cure)
            continue
        file = check(ConnectionFile, wire, path, report)
        if file is not None:
            out.append(_Wire(file.source, file.target, file.factor, file.offset, file.convert, path))
    return out


def _scalar(wires: list[_Wire], components: Sequence[Component], report: Report) -> list[_Wire]:
    """Connections of vectors, `ctrl.u -> motor.u`, element by element; the others as they are."""
    out = []
    for wire in wires:
        a, b = _elements(wire.source, components), _elements(wire.target, components)
        if not a and not b:
            out.append(wire)
        elif len(a) == len(b):
            out += [replace(wire, source=x, target=y) for x, y in zip(a, b, strict=True)]
        elif (a and b) or _causality(wire.target if a else wire.source, components):
            found = f"{wire.source} has {len(a) or 1}, {wire.target} has {len(b) or 1}"
            cure = f"connect them one by one; it has elements: {one_of(a if len(a) > len(b) else b)}"
            report.add(wire.path, "as many elements at both ends", found, cure)
        else:
            out.append(wire)
    return out


def _elements(text: str, components: Sequence[Component]) -> list[str]:
    """`motor.u[1]`, `motor.u[2]`... for `motor.u`, if that is a vector of scalar variables; else nothing."""
    name, _, variable = text.partition(".")
    there = next((c.interface for c in components if c.name == name), None)
    if there is None or variable in there.variables or variable.endswith("]"):
        return []
    return [f"{name}.{element}" for element in there.elements(variable)]


def _guess(wire: str) -> str:
    """A connection that is not written as one, as it may be meant: two names with anything between them."""
    names = _NAME.findall(wire)
    return " -> ".join(names) if len(names) == 2 else "motor.tau -> arm.shoulder.tau"


def _ends(wire: _Wire, components: Sequence[Component], report: Report) -> tuple[Port, Port] | None:
    if _causality(wire.source, components) == "input" and _causality(wire.target, components) == "output":
        found = f"{wire.source}, which is an input, before {wire.target}, which is an output"
        report.add(wire.path, "output -> input", found, f'turn the connection round: "{wire.target} -> {wire.source}"')
        return None
    source = _end(wire.source, wire.path, components, report, SOURCES)
    target = _end(wire.target, wire.path, components, report, ("input", "parameter"))
    return None if source is None or target is None else (source, target)


def _causality(text: str, components: Sequence[Component]) -> str | None:
    """Causality of one end; None if there is no such variable."""
    name, _, variable = text.partition(".")
    found = next((c.interface.variables.get(variable) for c in components if c.name == name), None)
    return None if found is None else found.causality


def _end(
    text: str, path: Path, components: Sequence[Component], report: Report, causalities: tuple[str, ...]
) -> Port | None:
    """Component and variable of one end; None with a problem in the report."""
    name, _, variable = text.partition(".")
    found = next((c for c in components if c.name == name), None)
    what = "an output" if "output" in causalities else "an input or a tunable parameter"
    if found is None:
        # A component that could not be made is a problem already.
        names = [c.name for c in components]
        close = report.suggest(name, names)
        cure = f"did you mean '{close}.{variable}'?" if close else f"the components are {one_of(names)}"
        report.add(path, f"{what}, `component.variable`", f"no component {name!r}", cure)
        return None
    known = found.interface.variables
    if variable not in known:
        fitting = [v.name for v in known.values() if v.causality in causalities]
        close = report.suggest(variable, fitting)
        cure = f"did you mean '{name}.{close}'?" if close else f"use one of {one_of(fitting)}"
        cure = other_index(found, variable, f"{name}.") or cure
        report.add(path, f"{what} of component {name}", f"no variable {variable!r}", cure)
        return None
    v = known[variable]
    if v.causality not in causalities:
        turned = v.causality in ("input", "output")
        cure = (
            "turn the connection round"
            if turned
            else f"use one of {one_of(x.name for x in found.interface.named(*causalities))}"
        )
        report.add(
            path, what, f"{text}, which is an {v.causality}" if turned else f"{text}, a {v.causality} variable", cure
        )
        return None
    if v.kind == "clock":
        cure = "leave it out: periodic clocks tick by themselves, and what output clocks bring is read"
        report.add(path, "a number, a text, bytes or an array", f"{text}, which is a clock", cure)
        return None
    return name, variable


def _variable(components: Sequence[Component], port: Port) -> Variable:
    return next(c for c in components if c.name == port[0]).interface.variables[port[1]]


def _link(
    wire: _Wire, source: Port, target: Port, components: Sequence[Component], report: Report, warnings: list[str]
) -> Link | None:
    """The link with its factor and offset, if type and unit allow it."""
    a, b = _variable(components, source), _variable(components, target)
    if a.kind != b.kind:
        found = f"{wire.source} is {a.kind}, {wire.target} is {b.kind}"
        report.add(wire.path, "the same type at both ends", found, "connect another variable")
        return None
    if a.size != b.size:
        found = f"{wire.source} has {a.size} elements, {wire.target} has {b.size}"
        report.add(wire.path, "arrays of the same size", found, "connect another variable")
        return None
    if b.causality == "parameter" and not b.plain:
        cure = "give it a value under `set:`, or connect an input"
        report.add(wire.path, "a parameter that is a number", f"{wire.target}, an array, a text or bytes", cure)
        return None
    factor, offset = 1.0, 0.0
    if wire.factor is not None or wire.offset is not None:
        if a.kind != "real":
            report.add(wire.path, "no factor or offset: the values are not real", f"{a.kind} values", "remove them")
            return None
        factor, offset = 1.0 if wire.factor is None else wire.factor, wire.offset or 0.0
    elif a.kind == "real":
        converted = _conversion(wire, a, b, _units(components, source), _units(components, target), report, warnings)
        if converted is None:
            return None
        factor, offset = converted
    if not a.exact and (factor, offset) != (1.0, 0.0):
        cure = "remove it: arrays and 64-bit integers are moved as they are"
        report.add(wire.path, "no factor, offset or change of unit", f"factor {factor:g}, offset {offset:g}", cure)
        return None
    return Link(source, target, factor, offset)


def _units(components: Sequence[Component], port: Port) -> Mapping[str, Unit]:
    return next(c for c in components if c.name == port[0]).interface.units


def _conversion(
    wire: _Wire,
    a: Variable,
    b: Variable,
    units_a: Mapping[str, Unit],
    units_b: Mapping[str, Unit],
    report: Report,
    warnings: list[str],
) -> tuple[float, float] | None:
    """Factor and offset; None if the units do not go together."""
    if a.unit is None or b.unit is None:
        if a.unit != b.unit:
            which = wire.source if a.unit is None else wire.target
            warnings.append(f"{wire.source} -> {wire.target}: {which} says no unit, the units are not compared")
        return 1.0, 0.0
    one, two = units_a.get(a.unit), units_b.get(b.unit)
    if one is None or two is None:
        if a.unit == b.unit:
            return 1.0, 0.0
        cure = "connect other variables, or give a `factor`: {from: ..., to: ..., factor: ...}"
        report.add(wire.path, f"the unit {b.unit} of {wire.target}", f"{a.unit} of {wire.source}", cure)
        return None
    if one.base != two.base:
        cure = "connect other variables; if it is meant, give a `factor`: {from: ..., to: ..., factor: ...}"
        report.add(wire.path, f"the unit {b.unit} of {wire.target}", f"{a.unit} of {wire.source}", cure)
        return None
    factor, offset = one.to(two)
    if (abs(factor - 1.0) > 1e-12 or offset) and not wire.convert:
        cure = f"write {{from: {wire.source}, to: {wire.target}, convert: true}} to have it converted"
        report.add(wire.path, f"the unit {b.unit} of {wire.target}", f"{a.unit} of {wire.source}", cure)
        return None
    return (factor, offset) if wire.convert else (1.0, 0.0)


def _carry(link: Link, components: list[Component], path: Path, report: Report, warnings: list[str]) -> None:
    """Turn a connection to a parameter into its value."""
    component = next(c for c in components if c.name == link.source[0])
    variable = component.interface.variables[link.source[1]]
    try:
        value = carried_value(link, component)
    except SimulationError as error:
        cure = f"write the number under `set:`, `{'.'.join(link.target)}: ...`"
        report.add(path, f"a value of {'.'.join(link.source)}, for a parameter", str(error), cure)
        return
    # FMI 2 has no outputs that stay the same; an armature is one, and everybody connects it.
    if variable.variability in ("continuous", "discrete") and not variable.name.startswith("armature"):
        warnings.append(f"{link}: a parameter keeps the value of the start, {value!r}")
    at = next(i for i, c in enumerate(components) if c.name == link.target[0])
    target = components[at]
    values = {**target.values, link.target[1]: value}
    components[at] = Component(target.name, target.fmu, target.interface, values)
