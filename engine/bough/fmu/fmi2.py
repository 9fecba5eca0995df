"""modelDescription.xml of FMI 2.0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bough.fmu.common_xml import (
    METHOD_TYPE,
    default_experiment,
    dependency_lists,
    enumeration_items,
    has_enumeration,
    head,
    log_categories,
    nominal_value,
    start_text,
    unit_definitions,
)
from bough.fmu.description import Description, Unknown
from bough.fmu.markup import Lines, Value, around, document, element
from bough.mechanism.variable_table import FmuVariable
from bough.text.units import display_unit

PYTHON: dict[str, Value] = {
    "needsExecutionTool": True,
    "providesDirectionalDerivative": False,
    "canInterpolateInputs": False,
    "maxOutputDerivativeOrder": 0,
}
"""What an FMU in Python can and cannot do, where it differs: pythonfmu has no derivatives."""
PARTNER: dict[str, Value] = {
    "providesDirectionalDerivative": False,
    "canInterpolateInputs": False,
    "maxOutputDerivativeOrder": 0,
}
"""What a partner cannot do."""


def model_description(d: Description, token: str, python: bool = False, sources: Sequence[str] = ()) -> str:
    """The file's text.

    Args:
        d: What to say.
        token: The FMU's GUID.
        python: Whether the FMU runs in Python: Co-Simulation only.
        sources: C files to compile, in `sources/`; none for an FMU with binaries.
    """
    attributes: dict[str, Value] = {
        "fmiVersion": "2.0",
        "modelName": d.name,
        "guid": token,
        **head(d),
        "numberOfEventIndicators": sum(d.variables[x.reference].count for x in d.indicators),
    }
    exchange = d.exchange and not python
    variables = (x for i, v in enumerate(d.variables) for x in _variable(v, i, exchange))
    structure = element("Outputs", {}, _unknowns(d.outputs, d.spelt)) if d.outputs else []
    structure += element("Derivatives", {}, _unknowns(d.derivatives, d.spelt)) if d.derivatives else []
    structure += element("InitialUnknowns", {}, _unknowns(d.initial, d.spelt)) if d.initial else []
    return document(
        element(
            "fmiModelDescription",
            attributes,
            [
                *_interfaces(d, python, sources),
                *unit_definitions(d),
                *_types(d),
                *log_categories(),
                *default_experiment(),
                *element("ModelVariables", {}, variables),
                *element("ModelStructure", {}, structure),
            ],
        )
    )


def _interfaces(d: Description, python: bool, sources: Sequence[str]) -> Lines:
    common: dict[str, Value] = {
        "modelIdentifier": d.name,
        "needsExecutionTool": False,
        "canBeInstantiatedOnlyOncePerProcess": False,
        "canNotUseMemoryManagementFunctions": True,
        "canGetAndSetFMUstate": True,
        "canSerializeFMUstate": True,
        "providesDirectionalDerivative": True,
    }
    co_simulation: dict[str, Value] = {
        "canHandleVariableCommunicationStepSize": True,
        "canInterpolateInputs": True,
        "maxOutputDerivativeOrder": 1,
        "canRunAsynchronuously": False,
    }
    files = [x for name in sources for x in element("File", {"name": name})]
    inside = element("SourceFiles", {}, files) if files else []
    less = {**(PARTNER if d.partner else {}), **(PYTHON if python else {})}
    step = element("CoSimulation", {**common, **co_simulation, **less}, inside)
    own = {key: less.get(key, value) for key, value in common.items()}
    exchange = element("ModelExchange", {**own, "completedIntegratorStepNotNeeded": not d.drifts}, inside)
    return [*exchange, *step] if d.exchange and not python else step


def _types(d: Description) -> Lines:
    if not has_enumeration(d):
        return []
    items = element("Enumeration", {}, enumeration_items())
    return element("TypeDefinitions", {}, element("SimpleType", {"name": METHOD_TYPE}, items))


def _variable(v: FmuVariable, reference: int, exchange: bool) -> Lines:
    attributes: dict[str, Value] = {
        "name": v.name,
        "valueReference": reference,
        "description": v.description,
        "causality": v.causality,
        "variability": v.variability,
        "initial": v.initial,
    }
    kind: dict[str, Value] = {}
    if v.type == "Real":
        kind = {"unit": v.unit, "displayUnit": display_unit(v.unit), "min": v.minimum, "max": v.maximum}
        kind["nominal"] = nominal_value(v)
    elif v.type in ("Integer", "Enumeration"):
        declared = METHOD_TYPE if v.type == "Enumeration" else None
        kind = {"declaredType": declared, "min": _integer(v.minimum), "max": _integer(v.maximum)}
    kind["start"] = start_text(v)
    kind["derivative"] = None if v.derivative is None else v.derivative + 1
    kind["reinit"] = (exchange and v.reinit) or None
    return around("ScalarVariable", attributes, element(v.type, kind))


def _integer(x: float | None) -> int | None:
    return None if x is None else int(x)


def _unknowns(unknowns: Iterable[Unknown], spelt: bool) -> Lines:
    """Unknowns by index, which counts from 1 where value references count from 0."""
    return [
        line
        for x, dependencies in dependency_lists(unknowns, 1, spelt)
        for line in element("Unknown", {"index": x.reference + 1, **dependencies})
    ]
