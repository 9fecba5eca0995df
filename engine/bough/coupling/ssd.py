"""SystemStructure.ssd and parameter sets (.ssv): the XML of an SSP 1.0 package."""

from __future__ import annotations

from collections.abc import Mapping

from bough.coupling.assembly import Assembly, Component, Link, Unit, Value, Variable
from bough.fmu.markup import Lines, document, element

SSD = "http://ssp-standard.org/SSP1/SystemStructureDescription"
SSC = "http://ssp-standard.org/SSP1/SystemStructureCommon"
SSV = "http://ssp-standard.org/SSP1/SystemStructureParameterValues"
SSM = "http://ssp-standard.org/SSP1/SystemStructureParameterMapping"
MASTER = "urn:bough:master:1"
ANNOTATION = "org.bough.master"
"""Reversed domain names, as the standard asks for; the content is known by its namespace."""
OMS = "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"
OMS_ANNOTATION = "org.openmodelica"
"""What OMSimulator wants to find in a system: its kind of master and the step."""
PARAMETER_SET = "parameters"
"""Name of the parameter set of every component: masters that choose a set by its name find all of them under one."""
BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
_TYPES = {"real": "Real", "integer": "Integer", "boolean": "Boolean", "string": "String", "binary": "Binary"}


def structure(assembly: Assembly, tool: str) -> str:
    """The text of SystemStructure.ssd."""
    units = _units(assembly)
    system = element(
        "ssd:System",
        {"name": assembly.name},
        [
            *element("ssd:Elements", {}, [line for c in assembly.components for line in _component(c, units)]),
            *(
                element(
                    "ssd:Connections",
                    {},
                    [line for link in (*assembly.links, *assembly.wide) for line in _connection(link)],
                )
                if assembly.links or assembly.wide
                else []
            ),
            *_omsimulator(assembly),
        ],
    )
    named = [line for name, unit in units.items() for line in _unit(name, unit)]
    children = [*system, *_enumerations(assembly), *(element("ssd:Units", {}, named) if named else [])]
    children += _experiment(assembly)
    spaces = {"xmlns:ssd": SSD, "xmlns:ssc": SSC, "xmlns:ssv": SSV}
    head = {**spaces, "version": "1.0", "name": assembly.name, "generationTool": tool}
    return document(element("ssd:SystemStructureDescription", head, children))


def parameter_set(component: Component) -> str:
    """The text of a component's .ssv."""
    lines = [line for name, value in component.values.items() for line in _parameter(component, name, value)]
    head = {"xmlns:ssv": SSV, "xmlns:ssc": SSC, "version": "1.0", "name": PARAMETER_SET}
    return document(element("ssv:ParameterSet", head, element("ssv:Parameters", {}, lines)))


def _parameter(component: Component, name: str, value: Value) -> Lines:
    v = component.interface.variables[name]
    item = next((key for key, number in v.items.items() if number == value), None)
    if item is not None:
        inside = element("ssv:Enumeration", {"value": item, "name": _type_of(component, v)})
    else:
        shown = value.hex() if isinstance(value, bytes) else value
        inside = element(f"ssv:{_TYPES[v.kind]}", {"value": shown})
    return element("ssv:Parameter", {"name": name}, inside)


def _type_of(component: Component, v: Variable) -> str:
    """Name of an enumeration in the package: two FMUs may have different ones under one name."""
    return f"{component.name}_{v.name}".replace(".", "_")


def _enumerations(assembly: Assembly) -> Lines:
    """Definitions of the enumerations that have a value in a parameter set."""
    found = [
        element("ssc:Enumeration", {"name": _type_of(c, v)}, [line for item in items for line in item])
        for c in assembly.components
        for name in c.values
        if (v := c.interface.variables[name]).items
        and (items := [element("ssc:Item", {"name": key, "value": n}) for key, n in v.items.items()])
    ]
    return element("ssd:Enumerations", {}, [line for lines in found for line in lines]) if found else []


def _omsimulator(assembly: Assembly) -> Lines:
    """OMSimulator takes a system for one of Co-Simulation by this annotation, and does not open it without."""
    how: dict[str, str | int | float | bool | None] = {
        "description": "oms-ma",
        "stepSize": assembly.master.step,
        "absoluteTolerance": 1e-6,
        "relativeTolerance": 1e-6,
    }
    inside = element("oms:SimulationInformation", {}, element("oms:FixedStepMaster", how))
    annotation = element("oms:Annotations", {"xmlns:oms": OMS}, inside)
    return element("ssd:Annotations", {}, element("ssc:Annotation", {"type": OMS_ANNOTATION}, annotation))


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
    return [v for v in c.interface.named("input", "output") if v.plain or (v.size == 1 and v.kind == "string")]


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
