"""modelDescription.xml and terminalsAndIcons.xml of FMI 3.0."""

from __future__ import annotations

from collections.abc import Iterable

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
from bough.fmu.markup import Lines, Value, document, element
from bough.mechanism.variable_table import FmuVariable
from bough.mechanism.variables import hinge_dofs
from bough.model import Body, Model
from bough.text.units import display_unit

VERSION = "3.0"
_TYPES = {"Real": "Float64", "Integer": "Int32", "Boolean": "Boolean", "Enumeration": "Enumeration"}
PARTNER: dict[str, Value] = {
    "providesDirectionalDerivatives": False,
    "providesAdjointDerivatives": False,
    "maxOutputDerivativeOrder": 0,
    "providesIntermediateUpdate": False,
    "canReturnEarlyAfterIntermediateUpdate": False,
}
"""What a partner cannot do."""


def model_description(d: Description, token: str) -> str:
    """The text of modelDescription.xml.

    Args:
        d: What to say.
        token: The FMU's instantiation token.
    """
    attributes: dict[str, Value] = {
        "fmiVersion": VERSION,
        "modelName": d.name,
        "instantiationToken": token,
        **head(d),
    }
    common: dict[str, Value] = {
        "modelIdentifier": d.name,
        "needsExecutionTool": False,
        "canBeInstantiatedOnlyOncePerProcess": False,
        "canGetAndSetFMUState": True,
        "canSerializeFMUState": True,
        "providesDirectionalDerivatives": True,
        "providesAdjointDerivatives": True,
        "providesPerElementDependencies": False,
    }
    model_exchange: dict[str, Value] = {
        "needsCompletedIntegratorStep": d.drifts,
        "providesEvaluateDiscreteStates": False,
    }
    co_simulation: dict[str, Value] = {
        "canHandleVariableCommunicationStepSize": True,
        "maxOutputDerivativeOrder": 1,
        "recommendedIntermediateInputSmoothness": 0,
        "providesIntermediateUpdate": True,
        "mightReturnEarlyFromDoStep": d.events or bool(d.indicators),
        "canReturnEarlyAfterIntermediateUpdate": True,
        "hasEventMode": d.events,
        "providesEvaluateDiscreteStates": False,
    }
    less = PARTNER if d.partner else {}
    own = {key: less.get(key, value) for key, value in common.items()}
    structure = _unknowns("Output", d.outputs, d.spelt) + _unknowns("ContinuousStateDerivative", d.derivatives, d.spelt)
    structure += _unknowns("InitialUnknown", d.initial, d.spelt) + _unknowns("EventIndicator", d.indicators, d.spelt)
    return document(
        element(
            "fmiModelDescription",
            attributes,
            [
                *(element("ModelExchange", {**own, **model_exchange}) if d.exchange else []),
                *element("CoSimulation", {**common, **co_simulation, **less}),
                *unit_definitions(d),
                *_types(d),
                *log_categories(),
                *default_experiment(),
                *element(
                    "ModelVariables", {}, (x for i, v in enumerate(d.variables) for x in _variable(v, i, not d.partner))
                ),
                *element("ModelStructure", {}, structure),
            ],
        )
    )


def _types(d: Description) -> Lines:
    if not has_enumeration(d):
        return []
    return element("TypeDefinitions", {}, element("EnumerationType", {"name": METHOD_TYPE}, enumeration_items()))


def _variable(v: FmuVariable, reference: int, updates: bool) -> Lines:
    attributes: dict[str, Value] = {
        "name": v.name,
        "valueReference": reference,
        "description": v.description,
        "causality": v.causality,
        "variability": v.variability,
        "intermediateUpdate": True if updates and v.causality in ("input", "output") else None,
        "initial": v.initial,
    }
    if v.type == "Real":
        attributes |= {"unit": v.unit, "displayUnit": display_unit(v.unit), "min": v.minimum, "max": v.maximum}
        attributes["nominal"] = nominal_value(v)
    elif v.type in ("Integer", "Enumeration"):
        attributes["declaredType"] = METHOD_TYPE if v.type == "Enumeration" else None
        attributes |= {key: int(x) for key, x in (("min", v.minimum), ("max", v.maximum)) if x is not None}
    attributes["start"] = start_text(v)
    attributes["derivative"] = v.derivative
    attributes["reinit"] = v.reinit or None
    return element(_TYPES[v.type], attributes, element("Dimension", {"start": v.count}) if v.array else ())


def _unknowns(tag: str, unknowns: Iterable[Unknown], spelt: bool) -> Lines:
    return [
        line
        for x, dependencies in dependency_lists(unknowns, 0, spelt)
        for line in element(tag, {"valueReference": x.reference, **dependencies})
    ]


# ---- terminals


def terminals_and_icons(model: Model, d: Description) -> str:
    """The text of terminalsAndIcons.xml: a terminal per hinge, and in it one per DOF if there are several."""
    square: dict[str, Value] = {"x1": -100.0, "y1": -100.0, "x2": 100.0, "y2": 100.0}
    picture = element("CoordinateSystem", {**square, "suggestedScalingFactorTo_mm": 0.1}) + element("Icon", square)
    names = {v.name for v in d.variables}
    terminals = [line for body in model.bodies if body.hinge.kind.nu for line in _hinge_terminal(body, names)]
    children = element("GraphicalRepresentation", {}, picture)
    if terminals:
        children += element("Terminals", {}, terminals)
    return document(element("fmiTerminalsAndIcons", {"fmiVersion": VERSION}, children))


def _hinge_terminal(body: Body, names: set[str]) -> Lines:
    """Members are those of Modelica's flanges: force or torque that flows in, position and speed."""
    h, dofs = body.hinge.name, hinge_dofs(body)
    groups: dict[str, Lines] = {}
    for d in dofs:
        members = [d.force, d.position, d.speed] + ([d.acceleration] if body.hinge.drive == "motion" else [])
        suffix = d.speed[1:]  # "" or "[i]"
        if f"{h}.{d.speed}" not in names:  # arrays: one terminal for all translations, one for all rotations
            members, suffix = [m.removesuffix(suffix) for m in members], ""
        name = ("rotation" if d.rotation else "translation") + suffix
        if name not in groups:
            groups[name] = [
                line
                for m in members
                if f"{h}.{m}" in names
                for line in _member(f"{h}.{m}", m.split("[")[0], m.split("[")[0] in ("f", "tau"))
            ]
    text = f"Hinge {h} of body {body.name}: {body.hinge.type}"
    if len(groups) == 1:
        name, members = next(iter(groups.items()))
        return _terminal(h, name, text, members)
    nested = (line for name, group in groups.items() for line in _terminal(name, name, f"{text}, {name}", group))
    return element("Terminal", {"name": h, "matchingRule": "plug", "description": text}, nested)


def _terminal(name: str, kind: str, text: str, members: Lines) -> Lines:
    attributes: dict[str, Value] = {
        "name": name,
        "matchingRule": "plug",
        "terminalKind": f"_bough_{kind.split('[')[0]}",
    }
    return element("Terminal", {**attributes, "description": text}, members)


def _member(variable: str, member: str, flow: bool) -> Lines:
    kind = "inflow" if flow else "signal"
    return element("TerminalMemberVariable", {"variableName": variable, "memberName": member, "variableKind": kind})
