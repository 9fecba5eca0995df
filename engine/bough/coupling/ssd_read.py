"""Reads SystemStructure.ssd, of any tool: components of all systems in it, connections, how it is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn, TypeAlias
from xml.etree.ElementTree import Element

from bough.coupling.assembly import Assembly, Component, Link, Master, Port
from bough.coupling.fmu_interface import read_interface
from bough.coupling.settings import hint
from bough.coupling.ssd import MASTER, SSC, SSD
from bough.coupling.ssv_read import Bindings
from bough.errors import SimulationError

FMU_TYPE = "application/x-fmu-sharedlibrary"
SOURCES = ("output", "calculatedParameter", "parameter", "local")
Node: TypeAlias = tuple[str, str, str]
"""An end of a connection: 'component', 'system' or 'dictionary'; its path or name; variable, connector or entry."""


@dataclass
class _Place:
    """A system in the tree.

    Attributes:
        path: Names of the systems around it and its own, joined by underscores; empty for the outermost.
        parts: What each element in it is: 'component', 'system' or 'dictionary', and its full name.
        kinds: Kind of each of its own connectors.
    """

    path: str
    parts: dict[str, tuple[str, str]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)


class Reader:
    """Makes an assembly of the XML. Systems within systems become one: `arm` in `left` is `left_arm`."""

    def __init__(self, file: str, locate: Callable[[str], Path]) -> None:
        """Name the package for messages, and how to find a file in it."""
        self._file, self._locate = file, locate
        self._warnings: list[str] = []
        self._components: dict[str, Component] = {}
        self._feeds: dict[Node, tuple[Node, Element]] = {}
        self._kinds: dict[tuple[str, str], str] = {}
        self._bindings = Bindings(locate, self._refuse)

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
        self._system(system, "")
        if not self._components:
            self._refuse("the system has no components")
        name = system.get("name") or root.get("name") or "system"
        assembly = Assembly(name, tuple(self._components.values()), ())
        assembly = assembly.with_links(self._links(assembly))
        master = self._master(root.find(f"{{{SSD}}}DefaultExperiment"))
        carried = tuple(self._carried(e, assembly) for e in root.iter(f"{{{MASTER}}}Carried"))
        return replace(assembly, master=master, warnings=tuple(self._warnings), carried=carried)

    def _refuse(self, what: str) -> NoReturn:
        raise SimulationError(f"{self._file}: {what}")

    # ---- systems and components

    def _system(self, e: Element, path: str) -> _Place:
        """Everything in a system: its components are kept, its connections noted."""
        place = _Place(path)
        for connector in e.findall(f"{{{SSD}}}Connectors/{{{SSD}}}Connector"):
            place.kinds[connector.get("name", "")] = connector.get("kind", "")
        self._kinds |= {(path, name): kind for name, kind in place.kinds.items()}
        elements = e.find(f"{{{SSD}}}Elements")
        for child in elements if elements is not None else ():
            name, kind = child.get("name", ""), _local(child)
            if not name or name in place.parts:
                self._refuse(f"{'two elements have' if name else 'an element has no'} name {name!r}")
            full = f"{path}_{name}" if path else name
            if kind == "System":
                place.parts[name] = ("system", full)
                self._system(child, full)
            elif kind == "SignalDictionaryReference":
                place.parts[name] = ("dictionary", child.get("dictionary", ""))
            elif kind == "Component":
                place.parts[name] = ("component", full)
                self._component(child, full)
            else:
                self._refuse(f"the element {name!r} is a {kind}; FMUs, systems and signal dictionaries are known here")
        own = {name: full for name, (kind, full) in place.parts.items() if kind == "component"}
        inner = {name: full for name, (kind, full) in place.parts.items() if kind == "system"}
        self._bindings.of_system(e, own, inner, self._components)
        for connection in e.findall(f"{{{SSD}}}Connections/{{{SSD}}}Connection"):
            self._connection(connection, place)
        return place

    def _component(self, e: Element, full: str) -> None:
        if full in self._components:
            self._refuse(f"two components are called {full} when the systems around them are left out")
        if e.get("type", FMU_TYPE) != FMU_TYPE:
            self._refuse(f"component {full} is of type {e.get('type')}; only FMUs are known here")
        path = self._locate(e.get("source", ""))
        try:
            component = Component(full, path, read_interface(path))
        except SimulationError as error:
            if "FMPy" in str(error):
                raise
            self._refuse(f"component {full}, {e.get('source')}: {error}")
        if e.get("implementation") == "ModelExchange" and "states" not in component.interface.helped:
            self._warnings.append(
                f"component {full} asks for Model Exchange; it is run by Co-Simulation, which it has too"
            )
        self._components[full] = self._bindings.of_component(e, component)

    # ---- connections

    def _connection(self, e: Element, place: _Place) -> None:
        ends = [
            self._node(place, e.get("startElement"), e.get("startConnector", "")),
            self._node(place, e.get("endElement"), e.get("endConnector", "")),
        ]
        gives = [self._gives(node, place) for node in ends]
        if gives == [None, None]:
            self._refuse(f"{_told(ends[0])} and {_told(ends[1])} are connected: neither says which way values go")
        if gives[0] is not None and gives[0] == gives[1]:
            both = "both give values" if gives[0] else "both take values"
            self._refuse(f"{_told(ends[0])} and {_told(ends[1])} are connected: {both}, they do not fit")
        first = gives[0] if gives[0] is not None else not gives[1]
        source, target = ends if first else ends[::-1]
        if target in self._feeds:
            self._refuse(f"{_told(target)} has more than one source")
        self._feeds[target] = source, e

    def _node(self, place: _Place, element: str | None, name: str) -> Node:
        if element is None:
            if name not in place.kinds:
                self._refuse(f"a connection names the connector {name!r} of its system{hint(name, place.kinds)}")
            return "system", place.path, name
        if element not in place.parts:
            self._refuse(f"a connection names the component {element!r}{hint(element, place.parts)}")
        kind, full = place.parts[element]
        if kind == "component" and name not in (known := self._components[full].interface.variables):
            self._refuse(f"a connection names {full}.{name}, which the FMU does not have{hint(name, known)}")
        if kind == "system" and (full, name) not in self._kinds:
            known_names = [n for path, n in self._kinds if path == full]
            self._refuse(f"a connection names the connector {name!r} of system {full}{hint(name, known_names)}")
        return kind, full, name

    def _gives(self, node: Node, place: _Place) -> bool | None:
        """Whether an end gives values to the other one, takes them, or does either (None)."""
        kind, full, name = node
        if kind == "component":
            return self._components[full].interface.variables[name].causality in SOURCES
        if kind == "dictionary":
            return None
        how = self._kinds[full, name]
        inside = full == place.path  # an input of the system itself gives what comes from outside
        return None if how == "inout" else (how in ("input", "parameter")) == inside

    def _links(self, assembly: Assembly) -> list[Link]:
        """Connections from component to component, through systems and dictionaries."""
        found = []
        for target in self._feeds:
            if target[0] != "component":
                continue
            steps: list[Element] = []
            node = target
            while node in self._feeds and len(steps) <= len(self._feeds):
                node, e = self._feeds[node]
                steps.insert(0, e)
            if node[0] != "component":
                self._warnings.append(f"{_told(node)} has no source: {_told(target)} keeps its start value")
                continue
            found.append(self._link(node[1:], target[1:], steps, assembly))
        return found

    def _link(self, one: Port, two: Port, steps: list[Element], assembly: Assembly) -> Link:
        a, b = assembly.variable(one), assembly.variable(two)
        names = f"{'.'.join(one)} -> {'.'.join(two)}"
        if b.causality != "input":
            self._refuse(f"{names}: {a.causality} and {b.causality} do not fit")
        if a.kind != b.kind or a.size != b.size or a.kind == "clock":
            sizes = "" if a.size == b.size else f", with {a.size} and {b.size} elements"
            self._refuse(f"{names}: expected values of one type and size, found {a.kind} and {b.kind}{sizes}")
        factor, offset = 1.0, 0.0
        if not any(e.get("suppressUnitConversion") in ("true", "1") for e in steps):
            factor, offset = self._conversion(assembly, one, two)
        for e in steps:
            line = e.find(f"{{{SSC}}}LinearTransformation")
            if line is not None:
                own = float(line.get("factor", "1"))
                factor, offset = own * factor, own * offset + float(line.get("offset", "0"))
            elif any(_local(child).endswith("Transformation") for child in e):
                self._refuse(f"{names}: only linear transformations are known here")
        if not a.exact and (factor, offset) != (1.0, 0.0):
            self._refuse(f"{names}: arrays, texts and 64-bit integers are moved as they are, without transformation")
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
            self._refuse(f"a connection names {port[0]}.{port[1]}, which the FMU does not have{hint(port[1], known)}")
        return port

    def _conversion(self, assembly: Assembly, one: Port, two: Port) -> tuple[float, float]:
        """What the standard leaves to the importer: values change with their units unless that is suppressed."""
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


def _told(node: Node) -> str:
    kind, full, name = node
    if kind == "component":
        return f"{full}.{name}"
    if kind == "dictionary":
        return f"the entry {name} of the signal dictionary {full}"
    return f"the connector {name} of system {full}" if full else f"the system's own connector {name}"
