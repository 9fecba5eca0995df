"""What an FMU's modelDescription.xml says, independent of the FMI version: variables and who depends on whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bough.fmu.dependencies import Mask, dependency_matrix
from bough.mechanism.fields import Kind
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.variable_table import FmuVariable, array_table, scalar_table

STOP_TIME = 1.0
STEP_SIZE = 1e-3
"""Default experiment, s."""

LOG_CATEGORIES = (
    ("logEvents", "Events: hinges that lock or are released, parameters that change"),
    ("logStatusWarning", "Warnings"),
    ("logStatusDiscard", "Calls that were refused and may be tried again"),
    ("logStatusError", "Errors: what failed, at which body or variable, and the cure"),
    ("logStatusFatal", "Errors that end this instance"),
    ("logAll", "All messages"),
)


@dataclass(frozen=True)
class Unknown:
    """One unknown of the model structure.

    Attributes:
        reference: Its value reference.
        dependencies: Value references of the knowns that it depends on, ascending.
        constant: Whether every known enters with a constant factor.
    """

    reference: int
    dependencies: tuple[int, ...]
    constant: bool


@dataclass(frozen=True)
class Description:
    """Content of a modelDescription.xml.

    Attributes:
        name: Model name, also the model identifier.
        text: One line on the model.
        tool: Name and version of the program that wrote it.
        variables: In the order of value references.
        outputs: All outputs; their knowns are states, inputs and, if asked for, tunable parameters.
        derivatives: Derivatives of all states, in the order of the states; knowns likewise.
        initial: Unknowns of initialization; their knowns are states, inputs and tunable parameters.
        partner: Whether it is a partner: Co-Simulation only, inputs held over a step, no derivatives.
    """

    name: str
    text: str
    tool: str
    variables: tuple[FmuVariable, ...]
    outputs: tuple[Unknown, ...]
    derivatives: tuple[Unknown, ...]
    initial: tuple[Unknown, ...]
    partner: bool = False


def describe(system: Mechanism, tool: str, *, arrays: bool = False, parameters: bool = False) -> Description:
    """Everything that the XML writers need.

    Args:
        system: The model, compiled.
        tool: Name and version of this program.
        arrays: Whether `name[1]`, `name[2]`... become arrays `name`.
        parameters: Whether tunable parameters count as knowns of outputs and derivatives (FMI 3), or only of
            initial unknowns (FMI 2).
    """
    scalars = scalar_table(system)
    matrix = dependency_matrix(system, scalars)
    variables = scalars
    if arrays:
        variables, place = array_table(scalars)
        matrix = _merged(matrix, place, len(variables))
    knowns: Mask = np.array([parameters or v.causality != "parameter" for v in variables], dtype=bool)
    run, start = list(_unknowns(variables, matrix & knowns)), list(_unknowns(variables, matrix))
    model = system.model
    bodies, dofs = len(model.whole_bodies), system.nu
    text = f"Multibody system {model.name}: {_count(bodies, 'body', 'bodies')}, {_count(dofs, 'degree')} of freedom"
    return Description(
        model.name,
        text,
        tool,
        variables,
        tuple(x for x in run if variables[x.reference].causality == "output"),
        tuple(x for x in run if variables[x.reference].derivative is not None),
        tuple(x for x in start if variables[x.reference].initial == "calculated"),
    )


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def _merged(matrix: Mask, place: Sequence[int], count: int) -> Mask:
    """Dependencies between arrays: any element on any element."""
    first = np.flatnonzero(np.diff(np.array([-1, *place])))
    rows = np.logical_or.reduceat(matrix, first, axis=0)
    out: Mask = np.logical_or.reduceat(rows, first, axis=1)
    return out.reshape(count, count)


def _unknowns(variables: Sequence[FmuVariable], matrix: Mask) -> Iterator[Unknown]:
    for i, v in enumerate(variables):
        if v.causality in ("output", "local"):
            found = tuple(int(j) for j in np.flatnonzero(matrix[i]))
            yield Unknown(i, found, _is_constant(v, [variables[j] for j in found]))


def _is_constant(v: FmuVariable, knowns: Sequence[FmuVariable]) -> bool:
    """A state is itself, a position's rate is its speed, a driven speed's rate is the input."""
    if v.state:
        return True
    pair = {Kind.QDOT: Kind.U, Kind.UDOT: Kind.MOTION}.get(v.kind)
    return len(knowns) == 1 and knowns[0].kind == pair
