"""What an FMU's modelDescription.xml says, independent of the FMI version: variables and who depends on whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bough.fmu.dependencies import dependency_rows, is_known, start_rows
from bough.fmu.marks import set_bits
from bough.mechanism.fields import Kind
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.variable_table import FmuVariable, array_table, scalar_table

STOP_TIME = 1.0
STEP_SIZE = 1e-3
"""Default experiment, s."""

LISTED = 200_000
"""Up to so many dependencies, an unknown that depends on all knowns has a list nonetheless. Standards let it be left
out, but CasADi does not read FMI 3 without. Longer ones are left out: a thousand bodies would take 250 MB."""

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
        every: Whether these are all knowns that there are.
    """

    reference: int
    dependencies: tuple[int, ...]
    constant: bool
    every: bool = False


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
        indicators: Event functions; knowns likewise.
        initial: Unknowns of initialization; their knowns are states, inputs and tunable parameters.
        partner: Whether it is a partner: inputs held over a step, no derivatives.
        exchange: Whether it is for Model Exchange too.
        events: Whether it has an event mode in Co-Simulation (FMI 3): steps end at samples.
        author: Who has made the model; empty if not told.
        version: Of the model; empty if not told.
    """

    name: str
    text: str
    tool: str
    variables: tuple[FmuVariable, ...]
    outputs: tuple[Unknown, ...]
    derivatives: tuple[Unknown, ...]
    initial: tuple[Unknown, ...]
    partner: bool = False
    exchange: bool = True
    events: bool = False
    author: str = ""
    version: str = ""
    indicators: tuple[Unknown, ...] = ()

    @property
    def drifts(self) -> bool:
        """Whether an importer's integration may open loops: it then has to tell when a step is complete."""
        return any(v.kind in (Kind.CLOSURE, Kind.COUPLING) for v in self.variables)

    @property
    def spelt(self) -> bool:
        """Whether unknowns that depend on all knowns have a list nonetheless."""
        return sum(len(x.dependencies) for x in (*self.outputs, *self.derivatives, *self.initial)) <= LISTED


def describe(system: Mechanism, tool: str, *, arrays: bool = False, parameters: bool = False) -> Description:
    """Everything that the XML writers need.

    Args:
        system: The model, compiled.
        tool: Name and version of this program.
        arrays: Whether `name[1]`, `name[2]`... become arrays `name`.
        parameters: Whether tunable parameters count as knowns of outputs and derivatives (FMI 3), or only of
            initial unknowns (FMI 2).
    """
    scalars = variables = scalar_table(system)
    rows = dependency_rows(system, scalars)
    place: Sequence[int] = range(len(scalars))
    if arrays:
        variables, place = array_table(scalars)
    found = _Lists(variables, place)
    run = found.unknowns(rows, parameters)
    start = found.unknowns(start_rows(system, scalars, rows), True)
    model = system.model
    if model.loops or model.couplings:
        start = found.assembled(start)
    bodies, dofs = len(model.whole_bodies), system.nu
    text = f"Multibody system {model.name}: {_count(bodies, 'body', 'bodies')}, {_count(dofs, 'degree')} of freedom"
    return Description(
        model.name,
        text,
        tool,
        variables,
        tuple(x for x in run if variables[x.reference].causality == "output"),
        tuple(x for x in run if variables[x.reference].derivative is not None),
        tuple(x for x in start if _is_initial(variables[x.reference])),
        indicators=tuple(x for x in run if variables[x.reference].kind == Kind.INDICATOR),
    )


def _is_initial(v: FmuVariable) -> bool:
    """Whether the standards list it among the unknowns of initialization: outputs and derivatives."""
    return v.initial in ("calculated", "approx") and v.kind != Kind.INDICATOR


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


class _Lists:
    """Lists of dependencies of variables from bits of scalars; rows that are alike share one."""

    def __init__(self, variables: Sequence[FmuVariable], place: Sequence[int]) -> None:
        self.variables, self.place = variables, place
        first = [i for i, j in enumerate(place) if i == 0 or place[i - 1] != j]
        self.ends = [*first, len(place)]
        self.parameters = {j for j, v in enumerate(variables) if v.causality == "parameter"}
        knowns = {j for j, v in enumerate(variables) if is_known(v)}
        self.count = {True: len(knowns), False: len(knowns - self.parameters)}
        self.made: dict[tuple[int, bool], tuple[tuple[int, ...], bool]] = {}

    def unknowns(self, rows: Sequence[int], parameters: bool) -> list[Unknown]:
        """Outputs, states and derivatives with what any of their elements depends on."""
        out = []
        for i, v in enumerate(self.variables):
            if v.causality in ("output", "local"):
                bits = 0
                for row in rows[self.ends[i] : self.ends[i + 1]]:
                    bits |= row
                found, every = self._list(bits, parameters)
                constant = v.state or (len(found) == 1 and _is_constant(v, self.variables[found[0]]))
                out.append(Unknown(i, found, constant, every))
        return out

    def assembled(self, start: Sequence[Unknown]) -> list[Unknown]:
        """The unknowns of initialization with loops: states follow from start values and parameters."""
        tuned = {j for j in self.parameters if is_known(self.variables[j])}
        out = []
        for x in start:
            inputs = {j for j in x.dependencies if self.variables[j].causality == "input"}
            out.append(Unknown(x.reference, tuple(sorted(tuned | inputs)), False, False))
        return out

    def _list(self, bits: int, parameters: bool) -> tuple[tuple[int, ...], bool]:
        """The variables behind some bits, and whether they are all knowns."""
        if (bits, parameters) not in self.made:
            self.made[bits, parameters] = self._read(bits, parameters)
        return self.made[bits, parameters]

    def _read(self, bits: int, parameters: bool) -> tuple[tuple[int, ...], bool]:
        there = sorted({self.place[j] for j in set_bits(bits)})
        found = tuple(j for j in there if parameters or j not in self.parameters)
        return found, len(found) == self.count[parameters]


def _is_constant(v: FmuVariable, known: FmuVariable) -> bool:
    """A position's rate is its speed, a driven speed's rate is the input."""
    return {Kind.QDOT: Kind.U, Kind.UDOT: Kind.MOTION}.get(v.kind) == known.kind
