"""Reads SystemStructure.ssd, of any tool: components, connections, parameter values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from bough.coupling.assembly import Assembly, Component, Link, Master, Port, Value, Variable
from bough.coupling.fmu_interface import read_interface
from bough.coupling.settings import hint, unsettable
from bough.coupling.ssd import MASTER, SSC, SSD, SSV
from bough.errors import SimulationError

FMU_TYPE = "application/x-fmu-sharedlibrary"


class Reader:
    """Makes an assembly of the XML."""

    def __init__(self, file: str, locate: Callable[[str], Path]) -> None:
        """Name the package for messages, and how to find a file in it."""
        self._file, self._locate = file, locate
        self._warnings: list[str] = []

    def read(self, root: Element) -> Assembly:
        """The assembly.

        Raises:
            SimulationError: Something is missing, wrong, or not known here.
        """
        if root.tag != f"{{{SSD}}}SystemStructureDescription":
            self._refuse(f"the root is {root.tag}; expected SystemStructureDescription of SSP 1 or 2")
        if root.get("version", "").partition(".")[0] not in ("1", "2"):
            self._refuse(f"SSP version {root.get('version')!r}; expected 1.0 or 2.0")
        system = root.find(f"{{{SSD}}}System")
        if system is None:
            self._refuse("it has no System")
        elements = system.find(f"{{{SSD}}}Elements")
        components = [self._component(e) for e in (elements if elements is not None else [])]
        if not components:
            self._refuse("the system has no components")
        components = self._with_bindings(system, components)
        connections = system.findall(f"{{{SSD}}}Connections/{{{SSD}}}Connection")
        assembly = Assembly(system.get("name") or root.get("name") or "system", tuple(components), ())
        found = [link for e in connections if (link := self._link(e, assembly)) is not None]
        for port in {link.target for link in found}:
            if sum(link.target == port for link in found) > 1:
                self._refuse(f"{'.'.join(port)} has more than one source")
        master = self._master(root.find(f"{{{SSD}}}DefaultExperiment"))
        carried = tuple(self._carried(e, assembly) for e in root.iter(f"{{{MASTER}}}Carried"))
        return replace(assembly, links=tuple(found), master=master, warnings=tuple(self._warnings), carried=carried)

    def _refuse(self, what: str) -> NoReturn:
        raise SimulationError(f"{self._file}: {what}")

    # ---- components

    def _component(self, e: Element) -> Component:
        name, kind = e.get("name", ""), _local(e)
        if kind == "System":
            self._refuse(f"the system {name!r} is nested; only flat systems of FMUs are known here")
        if kind != "Component":
            self._refuse(f"the element {name!r} is a {kind}; only FMUs are known here")
        if e.get("type", FMU_TYPE) != FMU_TYPE:
            self._refuse(f"component {name} is of type {e.get('type')}; only FMUs are known here")
        if e.get("implementation") == "ModelExchange":
            self._refuse(f"component {name} asks for Model Exchange; this master is for Co-Simulation")
        path = self._locate(e.get("source", ""))
        try:
            component = Component(name, path, read_interface(path))
        except SimulationError as error:
            if "FMPy" in str(error):
                raise
            self._refuse(f"component {name}, {e.get('source')}: {error}")
        return self._with_bindings(e, [component])[0]

    def _with_bindings(self, e: Element, components: list[Component]) -> list[Component]:
        """Components with the values that the bindings of a component, or of the system, give."""
        whole = _local(e) == "System"
        values: dict[str, dict[str, Value]] = {c.name: dict(c.values) for c in components}
        for binding in e.findall(f"{{{SSD}}}ParameterBindings/{{{SSD}}}ParameterBinding"):
            if binding.find(f"{{{SSD}}}ParameterMapping") is not None:
                self._refuse("parameter mappings (.ssm) are not known here")
            prefix = binding.get("prefix", "")
            for name, text in self._parameters(binding):
                full = prefix + name
                owner, _, variable = full.partition(".") if whole else (components[0].name, "", full)
                component = next((c for c in components if c.name == owner), None)
                if component is None or variable not in component.interface.variables:
                    known = component.interface.variables if component is not None else values
                    self._refuse(f"a parameter set names {full!r}, which is no variable{hint(variable or full, known)}")
                reason = unsettable(component, variable)
                if reason:
                    self._refuse(f"a parameter set sets {owner}.{variable}: {reason}")
                values[owner][variable] = self._value(component.interface.variables[variable], text, full)
        return [replace(c, values=values[c.name]) for c in components]

    def _parameters(self, binding: Element) -> list[tuple[str, str]]:
        source = binding.get("source")
        if source is not None:
            try:
                top = ElementTree.parse(self._locate(source)).getroot()
            except (ElementTree.ParseError, LookupError, ValueError) as error:  # the latter two: of its encoding
                self._refuse(f"{source} is no XML: {error}")
        else:
            found = binding.find(f"{{{SSD}}}ParameterValues/{{{SSV}}}ParameterSet")
            if found is None:
                return []
            top = found
        out = []
        for parameter in top.findall(f"{{{SSV}}}Parameters/{{{SSV}}}Parameter"):
            typed = [child for child in parameter if child.get("value") is not None]
            if typed:
                out.append((parameter.get("name", ""), typed[0].get("value", "")))
        return out

    def _value(self, v: Variable, text: str, name: str) -> Value:
        try:
            if v.kind == "boolean":
                return {"true": True, "1": True, "false": False, "0": False}[text]
            return float(text) if v.kind == "real" else int(text)
        except (KeyError, ValueError):
            self._refuse(f"parameter {name} is {text!r}; expected {v.kind}")

    # ---- connections

    def _link(self, e: Element, assembly: Assembly) -> Link | None:
        start = (e.get("startElement"), e.get("startConnector", ""))
        end = (e.get("endElement"), e.get("endConnector", ""))
        if start[0] is None or end[0] is None:
            self._warnings.append(f"the system's own connector {(start if start[0] is None else end)[1]} is left out")
            return None
        one, two = self._port(assembly, (start[0], start[1])), self._port(assembly, (end[0], end[1]))
        kinds = {assembly.variable(one).causality, assembly.variable(two).causality}
        if "input" not in kinds or not kinds & {"output", "calculatedParameter", "parameter", "local"}:
            self._refuse(f"{'.'.join(one)} and {'.'.join(two)} are connected: {' and '.join(sorted(kinds))} do not fit")
        if assembly.variable(two).causality != "input":  # direction is a matter of causality, not of start and end
            one, two = two, one
        a, b = assembly.variable(one), assembly.variable(two)
        if a.kind != b.kind or a.kind == "string" or a.size != 1 or b.size != 1:
            self._refuse(
                f"{'.'.join(one)} -> {'.'.join(two)}: expected numbers of one type, found {a.kind} and {b.kind}"
            )
        factor, offset = self._conversion(assembly, one, two, e)
        line = e.find(f"{{{SSC}}}LinearTransformation")
        if line is not None:
            own = float(line.get("factor", "1"))
            factor, offset = own * factor, own * offset + float(line.get("offset", "0"))
        elif len(e) and any(_local(child).endswith("Transformation") for child in e):
            self._refuse(f"{'.'.join(one)} -> {'.'.join(two)}: only linear transformations are known here")
        return Link(one, two, factor, offset)

    def _carried(self, e: Element, assembly: Assembly) -> Link:
        """A connection that became the value of a parameter."""
        ends = []
        for key in ("source", "target"):
            component, _, variable = e.get(key, "").partition(".")
            ends.append(self._port(assembly, (component, variable)))
        try:
            return Link(ends[0], ends[1], float(e.get("factor", "1")), float(e.get("offset", "0")))
        except ValueError as error:
            self._refuse(f"Carried: {error}")

    def _port(self, assembly: Assembly, port: Port) -> Port:
        names = [c.name for c in assembly.components]
        if port[0] not in names:
            self._refuse(f"a connection names the component {port[0]!r}{hint(port[0], names)}")
        known = assembly.component(port[0]).interface.variables
        if port[1] not in known:
            self._refuse(f"a connection names {port[0]}.{port[1]}, which the FMU has not{hint(port[1], known)}")
        return port

    def _conversion(self, assembly: Assembly, one: Port, two: Port, e: Element) -> tuple[float, float]:
        """What the standard leaves to the importer: values change with their units unless that is suppressed."""
        if e.get("suppressUnitConversion") in ("true", "1"):
            return 1.0, 0.0
        units = []
        for port in (one, two):
            name = assembly.variable(port).unit
            units.append(assembly.component(port[0]).interface.units.get(name) if name else None)
        a, b = units
        if a is None or b is None or a == b:
            return 1.0, 0.0
        if a.base != b.base:
            names = [assembly.variable(port).unit for port in (one, two)]
            self._refuse(f"{'.'.join(one)} -> {'.'.join(two)}: the units {names[0]} and {names[1]} do not fit")
        return a.to(b)

    # ---- how it is run

    def _master(self, e: Element | None) -> Master:
        master = Master()
        if e is None:
            return master
        try:
            start, stop = float(e.get("startTime", "0")), float(e.get("stopTime", "nan"))
            master = replace(master, start=start, stop=stop if stop == stop else start + 1.0)
            own = e.find(f".//{{{MASTER}}}Master")
            if own is None:
                return master
            tolerance = own.get("tolerance")
            return replace(
                master,
                step=float(own.get("step", master.step)),
                order=own.get("order", master.order),
                sequence=tuple(own.get("sequence", "").split()),
                extrapolation=own.get("extrapolation", master.extrapolation),
                tolerance=None if tolerance is None else float(tolerance),
            )
        except ValueError as error:
            self._refuse(f"DefaultExperiment: {error}")


def _local(e: Element) -> str:
    return e.tag.rpartition("}")[2]
