"""SystemStructure.ssd and parameter sets (.ssv): the XML of an SSP 1.0 package."""

from __future__ import annotations

from collections.abc import Mapping

from bough.coupling.assembly import Assembly, Component, Link, Unit, Value, Variable
from bough.fmu.markup import Lines, document, element

SSD = "http://ssp-standard.org/SSP1/SystemStructureDescription"
SSC = "http://ssp-standard.org/SSP1/SystemStructureCommon"
SSV = "http://ssp-standard.org/SSP1/SystemStructureParameterValues"
MASTER = "urn:bough:master:1"
ANNOTATION = "bough.master"
PARAMETER_SET = "parameters"
"""Name of the parameter set of every component: masters that choose a set by its name find all of them under one."""
BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
_TYPES = {"real": "Real", "integer": "Integer", "boolean": "Boolean"}


def structure(assembly: Assembly, tool: str) -> str:
    """The text of SystemStructure.ssd."""
    units = _units(assembly)
    system = element(
        "ssd:System",
        {"name": assembly.name},
        [
            *element("ssd:Elements", {}, [line for c in assembly.components for line in _component(c, units)]),
            *(
                element("ssd:Connections", {}, [line for link in assembly.links for line in _connection(link)])
                if assembly.links
                else []
            ),
        ],
    )
    named = [line for name, unit in units.items() for line in _unit(name, unit)]
    children = [*system, *(element("ssd:Units", {}, named) if named else []), *_experiment(assembly)]
    spaces = {"xmlns:ssd": SSD, "xmlns:ssc": SSC, "xmlns:ssv": SSV}
    head = {**spaces, "version": "1.0", "name": assembly.name, "generationTool": tool}
    return document(element("ssd:SystemStructureDescription", head, children))


def parameter_set(component: Component) -> str:
    """The text of a component's .ssv."""
    lines = [line for name, value in component.values.items() for line in _parameter(component, name, value)]
    head = {"xmlns:ssv": SSV, "xmlns:ssc": SSC, "version": "1.0", "name": PARAMETER_SET}
    return document(element("ssv:ParameterSet", head, element("ssv:Parameters", {}, lines)))


def _parameter(component: Component, name: str, value: Value) -> Lines:
    kind = component.interface.variables[name].kind
    return element("ssv:Parameter", {"name": name}, element(f"ssv:{_TYPES[kind]}", {"value": value}))


def _units(assembly: Assembly) -> dict[str, Unit]:
    """Units of all connectors; a name that two FMUs define differently is left out."""
    found: dict[str, Unit] = {}
    odd: set[str] = set()
    for c in assembly.components:
        for v in _connectors(c):
            unit = c.interface.units.get(v.unit or "")
            if v.unit and unit is not None and found.setdefault(v.unit, unit) != unit:
                odd.add(v.unit)
    return {name: unit for name, unit in found.items() if name not in odd}


def _connectors(c: Component) -> list[Variable]:
    return [v for v in c.interface.named("input", "output") if v.size == 1 and v.kind in _TYPES]


def _component(c: Component, units: Mapping[str, Unit]) -> Lines:
    connectors = []
    for v in _connectors(c):
        unit = v.unit if v.kind == "real" and v.unit in units else None
        inside = element(f"ssc:{_TYPES[v.kind]}", {"unit": unit})
        connectors += element("ssd:Connector", {"name": v.name, "kind": v.causality}, inside)
    children = element("ssd:Connectors", {}, connectors) if connectors else []
    if c.values:
        binding = element("ssd:ParameterBinding", {"source": f"resources/{c.name}.ssv"})
        children += element("ssd:ParameterBindings", {}, binding)
    head = {"name": c.name, "source": f"resources/{c.name}.fmu", "type": "application/x-fmu-sharedlibrary"}
    return element("ssd:Component", {**head, "implementation": "CoSimulation"}, children)


def _connection(link: Link) -> Lines:
    ends = {
        "startElement": link.source[0],
        "startConnector": link.source[1],
        "endElement": link.target[0],
        "endConnector": link.target[1],
    }
    if (link.factor, link.offset) == (1.0, 0.0):
        return element("ssd:Connection", ends)
    line = element("ssc:LinearTransformation", {"factor": link.factor, "offset": link.offset})
    # The factor holds the change of the unit: an importer that converts too would do it twice.
    return element("ssd:Connection", {**ends, "suppressUnitConversion": True}, line)


def _unit(name: str, unit: Unit) -> Lines:
    base: dict[str, int | float | None] = {key: n or None for key, n in zip(BASE, unit.base, strict=True)}
    base["factor"] = None if unit.factor == 1.0 else unit.factor
    base["offset"] = unit.offset or None
    return element("ssc:Unit", {"name": name}, element("ssc:BaseUnit", base))


def _experiment(assembly: Assembly) -> Lines:
    master = assembly.master
    options: dict[str, str | int | float | bool | None] = {
        "xmlns:bough": MASTER,
        "step": master.step,
        "order": master.order,
        "sequence": " ".join(master.sequence) or None,
        "extrapolation": master.extrapolation,
        "tolerance": master.tolerance,
    }
    carried = [line for link in assembly.carried for line in _carried(link)]
    annotation = element("ssc:Annotation", {"type": ANNOTATION}, element("bough:Master", options, carried))
    times = {"startTime": master.start, "stopTime": master.stop}
    return element("ssd:DefaultExperiment", times, element("ssd:Annotations", {}, annotation))


def _carried(link: Link) -> Lines:
    """A connection to a parameter, whose value is in the package: a run that changes its source finds it anew."""
    ends = {"source": ".".join(link.source), "target": ".".join(link.target)}
    return element("bough:Carried", {**ends, "factor": link.factor, "offset": link.offset})
