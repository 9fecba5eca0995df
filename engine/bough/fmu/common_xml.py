"""Parts of modelDescription.xml that FMI 2 and FMI 3 spell the same way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bough.fmu.description import LOG_CATEGORIES, STEP_SIZE, STOP_TIME, Description, Unknown
from bough.fmu.markup import Lines, Value, element, text
from bough.mechanism.kernel_sim import METHODS
from bough.mechanism.variable_table import TOLERANCE, FmuVariable, units_of
from bough.text.units import Unit, used_units

METHOD_TYPE = "SolverMethod"
"""Name of the type of the solver's method."""
NO_DATE = "0000-00-00T00:00:00Z"
"""Stands in for the date of writing until the token is made, which does not depend on it."""


def head(d: Description) -> dict[str, Value]:
    """Attributes of the root that say who made what when."""
    return {
        "description": d.text,
        "author": d.author or None,
        "version": d.version or None,
        "generationTool": d.tool,
        "generationDateAndTime": NO_DATE,
        "variableNamingConvention": "structured",
    }


def unit_definitions(d: Description) -> Lines:
    """The units that occur, in terms of SI base units, with their display units."""
    used = used_units(units_of(d.variables))
    return element("UnitDefinitions", {}, (line for unit in used for line in _unit(unit)))


def _unit(unit: Unit) -> Lines:
    children = element("BaseUnit", dict(unit.base))
    for name, factor in unit.display:
        children += element("DisplayUnit", {"name": name, "factor": factor})
    return element("Unit", {"name": unit.name}, children)


def enumeration_items() -> Lines:
    """The items of the one enumeration, the solver's method."""
    rows = [(name, method.number, method.note) for name, method in METHODS.items()]
    return [
        line
        for name, number, note in rows
        for line in element("Item", {"name": name, "value": number, "description": note})
    ]


def has_enumeration(d: Description) -> bool:
    """Whether a variable is of that type: partners have none."""
    return any(v.type == "Enumeration" for v in d.variables)


def nominal_value(v: FmuVariable) -> float | None:
    """The attribute `nominal`: one for all elements, the largest; none where it is one, as without it."""
    return max(v.nominal, default=1.0) if v.type == "Real" and set(v.nominal) - {1.0} else None


def log_categories() -> Lines:
    """Categories that messages are logged under."""
    rows = (element("Category", {"name": name, "description": what}) for name, what in LOG_CATEGORIES)
    return element("LogCategories", {}, (line for row in rows for line in row))


def default_experiment() -> Lines:
    """What a tool proposes to run."""
    attributes: dict[str, Value] = {"startTime": 0.0, "stopTime": STOP_TIME, "tolerance": TOLERANCE}
    return element("DefaultExperiment", {**attributes, "stepSize": STEP_SIZE})


def start_text(v: FmuVariable) -> str | None:
    """Start values as the attribute `start` wants them: one, or a list."""
    if not v.start:
        return None
    if v.type == "Boolean":
        return " ".join(text(x != 0.0) for x in v.start)
    return " ".join(text(float(x) if v.type == "Real" else int(x)) for x in v.start)


def dependency_lists(
    unknowns: Iterable[Unknown], first: int, spelt: bool
) -> Iterator[tuple[Unknown, dict[str, Value]]]:
    """Each unknown with its attributes `dependencies` and `dependenciesKind`; without them it depends on all knowns.

    Args:
        unknowns: In their order.
        first: Number of the first variable.
        spelt: Whether those that depend on all knowns have a list too.
    """
    made: dict[tuple[int, ...], str] = {}
    for x in unknowns:
        if x.every and not x.constant and not spelt:
            yield x, {}
            continue
        if x.dependencies not in made:
            made[x.dependencies] = " ".join(str(j + first) for j in x.dependencies)
        kind = " ".join(["constant"] * len(x.dependencies)) if x.constant else None
        yield x, {"dependencies": made[x.dependencies], "dependenciesKind": kind}
