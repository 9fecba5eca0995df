"""Parts of modelDescription.xml that FMI 2 and FMI 3 spell the same way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bough.fmu.description import LOG_CATEGORIES, STEP_SIZE, STOP_TIME, Description, Unknown
from bough.fmu.markup import Lines, Value, element, text
from bough.mechanism.variable_table import TOLERANCE, FmuVariable, units_of
from bough.text.units import Unit, used_units


def unit_definitions(d: Description) -> Lines:
    """The units that occur, in terms of SI base units, with their display units."""
    used = used_units(units_of(d.variables))
    return element("UnitDefinitions", {}, (line for unit in used for line in _unit(unit)))


def _unit(unit: Unit) -> Lines:
    children = element("BaseUnit", dict(unit.base))
    for name, factor in unit.display:
        children += element("DisplayUnit", {"name": name, "factor": factor})
    return element("Unit", {"name": unit.name}, children)


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
    return " ".join(text(int(x) if v.type == "Integer" else float(x)) for x in v.start)


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
