"""Every variable of an FMU: those of `bough.mechanism.variables`, the states' derivatives, and the parameters.

The same table goes into modelDescription.xml and, as kinds and indices, into the resource that the binary reads.
The value reference of a variable is its place in the table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import groupby
from typing import Literal, TypeAlias

from bough.mechanism.drive_block import driven, shafts
from bough.mechanism.fields import FIELDS, Kind
from bough.mechanism.kernel_sim import METHODS
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.nominals import nominal_values
from bough.mechanism.variables import Variable, hinge_dofs
from bough.model import Body, Model
from bough.text.units import NONE

FmuType: TypeAlias = Literal["Real", "Integer", "Boolean", "Enumeration"]
Causality: TypeAlias = Literal["independent", "input", "output", "local", "parameter"]
Variability: TypeAlias = Literal["continuous", "discrete", "tunable", "fixed"]
Initial: TypeAlias = Literal["exact", "approx", "calculated"]


class Role(IntEnum):
    """What a variable is for, as the resource says it."""

    FIXED = 0
    TUNABLE = 1
    INPUT = 2
    OUTPUT = 3
    LOCAL = 4
    INDEPENDENT = 5


TYPES: dict[FmuType, int] = {"Real": 0, "Integer": 1, "Boolean": 2, "Enumeration": 3}
TOLERANCE = 1e-6
"""Default relative tolerance of the solver."""
TOLERANCE_MOST = math.nextafter(1.0, 0.0)
"""Greatest relative tolerance: one itself is refused."""
METHOD = 1
"""Default solver: dopri5."""

_KINDS = {field.member: kind for kind, field in FIELDS.items()}
_PER_SECOND = {NONE: "1/s", "1/s": "1/s2", "m": "m/s", "m/s": "m/s2", "rad": "rad/s", "rad/s": "rad/s2"}
_HINGE_PARAMETERS = (
    # name, attribute of the hinge, kind, unit of a translation, unit of a rotation, text
    ("damping", Kind.DAMPING, "N.s/m", "N.m.s/rad", "Damping of hinge {}"),
    ("stiffness", Kind.STIFFNESS, "N/m", "N.m/rad", "Spring stiffness of hinge {}"),
    ("rest", Kind.REST, "m", "rad", "Position at which the spring of hinge {} is slack"),
    ("armature", Kind.ARMATURE, "kg", "kg.m2", "Rotor inertia seen at hinge {}"),
)


@dataclass(frozen=True)
class FmuVariable:
    """One variable of an FMU, a scalar or (FMI 3, on request) an array.

    Attributes:
        name: As users see it.
        unit: A key of `bough.text.units.UNITS`; empty for Integer and Boolean.
        description: One line of English.
        causality: As in the standard, like variability, initial and type.
        variability: See causality.
        initial: None for the independent variable, and for inputs, which take the standard's default.
        kind: Where the binary finds its number.
        index: Place among the numbers of its kind.
        start: One start value per element; empty for none.
        type: Real is Float64, Integer is Int32 in FMI 3. The one enumeration is the solver's method, `METHODS`.
        derivative: Value reference of the state whose derivative this is.
        minimum: Least value allowed.
        maximum: Greatest value allowed.
        reinit: Whether the FMU may set this state anew at an event.
        array: Whether it is an array.
        count: Number of elements.
        nominal: Size of usual values, one per element; empty where it is one.
    """

    name: str
    unit: str
    description: str
    causality: Causality
    variability: Variability
    initial: Initial | None
    kind: Kind
    index: int
    start: tuple[float, ...] = ()
    type: FmuType = "Real"
    derivative: int | None = None
    minimum: float | None = None
    maximum: float | None = None
    reinit: bool = False
    array: bool = False
    count: int = 1
    nominal: tuple[float, ...] = ()

    @property
    def state(self) -> bool:
        """Whether this is a continuous state."""
        return self.kind in (Kind.Q, Kind.U)

    @property
    def role(self) -> Role:
        """What it is for, as the resource says it."""
        if self.causality == "parameter":
            return Role.TUNABLE if self.variability == "tunable" else Role.FIXED
        return Role[self.causality.upper()]


def scalar_table(system: Mechanism) -> tuple[FmuVariable, ...]:
    """Every variable of the model's FMU as a scalar, in the order of the value references."""
    model = system.model
    out = [FmuVariable("time", "s", "Time", "independent", "continuous", None, Kind.TIME, 0)]
    q, u = system.initial_state()
    start = {Kind.Q: q.tolist(), Kind.U: u.tolist()}
    looped = bool(model.loops or model.couplings)
    # Speeds jump where a hinge is locked or hits a limit, and where friction brings it to rest.
    lockable = any(_lockable(body) or body.hinge.friction or body.hinge.limits for body in model.bodies)
    limited = any(body.hinge.limits for body in model.bodies)
    out += [_public(v, start, lockable, limited, looped) for v in system.variables]
    # The n-th state of the order of q, u gets the n-th derivative: the integrator's order of states.
    states = sorted(((v.kind, v.index, i) for i, v in enumerate(out) if v.state))
    out += [_derivative(out[i], i) for _, _, i in states]
    usual = nominal_values(system)
    out = [replace(v, nominal=(usual[v.kind, v.index],)) if (v.kind, v.index) in usual else v for v in out]
    out += _indicators(model)
    out += _parameters(model)
    return tuple(out)


def _public(v: Variable, start: dict[Kind, list[float]], lockable: bool, limited: bool, looped: bool) -> FmuVariable:
    unit, kind = v.unit or NONE, _KINDS[v.kind]
    if v.causality == "input":
        return FmuVariable(v.name, unit, v.description, "input", "continuous", None, kind, v.index, (0.0,))
    if FIELDS[kind].type != "REAL":
        type_: FmuType = "Boolean" if FIELDS[kind].type == "BOOLEAN" else "Integer"
        return FmuVariable(v.name, "", v.description, "output", "discrete", "calculated", kind, v.index, type=type_)
    if kind not in start:
        return FmuVariable(v.name, unit, v.description, "output", "continuous", "calculated", kind, v.index)
    value = (start[kind][v.index],)
    reinit = looped or (lockable if kind == Kind.U else limited)
    initial: Initial = "approx" if looped else "exact"  # assembly may move it
    return FmuVariable(
        v.name, unit, v.description, "output", "continuous", initial, kind, v.index, value, reinit=reinit
    )


def _indicators(model: Model) -> Iterator[FmuVariable]:
    """Event functions of friction, limits and gears: positive until something changes."""
    drives, gears = list(driven(model)), list(shafts(model))
    for n, d in enumerate(drives):
        name, axis = d.body.hinge.name, "" if d.body.hinge.kind.nu == 1 else f"[{d.dof + 1}]"
        hard = d.limits is not None and d.limits.kind != "gives"
        if d.friction is not None or hard:
            text = f"Event function of hinge {name}: friction, and what rests on a limit"
            yield _indicator(f"{name}.grip{axis}", text, 2 * n)
        if d.limits is not None:
            yield _indicator(f"{name}.gap{axis}", f"Event function of hinge {name}: limits", 2 * n + 1)
    for n, (_, _, body) in enumerate(gears):
        if body.hinge.gear is not None and body.hinge.gear.backlash > 0.0:
            text = f"Event function of the gear of hinge {body.hinge.name}: flanks"
            yield _indicator(f"{body.hinge.name}.flank", text, 2 * len(drives) + n)


def _indicator(name: str, text: str, index: int) -> FmuVariable:
    return FmuVariable(name, NONE, text, "local", "continuous", "calculated", Kind.INDICATOR, index)


def _derivative(state: FmuVariable, reference: int) -> FmuVariable:
    kind = Kind.QDOT if state.kind == Kind.Q else Kind.UDOT
    name, unit = f"der({state.name})", _PER_SECOND[state.unit]
    text = f"Time derivative of {state.name}"
    return FmuVariable(name, unit, text, "local", "continuous", "calculated", kind, state.index, derivative=reference)


def _parameter(
    name: str, unit: str, text: str, kind: Kind, index: int, start: float, minimum: float | None = None
) -> FmuVariable:
    return FmuVariable(name, unit, text, "parameter", "tunable", "exact", kind, index, (start,), minimum=minimum)


def _lockable(body: Body) -> bool:
    return body.hinge.kind.nu > 0 and body.hinge.drive != "motion"


def _parameters(model: Model) -> Iterator[FmuVariable]:
    for i, g in enumerate(model.gravity):
        text = f"Gravity, inertial frame, component {'xyz'[i]}"
        yield _parameter(f"gravity[{i + 1}]", "m/s2", text, Kind.GRAVITY, i, g)
    u0 = 0
    for k, body in enumerate(model.bodies):
        yield from _hinge_parameters(body, k, u0)
        u0 += body.hinge.kind.nu + body.mode_count
        if body.mode_count:
            text, suffix = f"Factor on the modal damping of {body.label}: 1 is the model file's", ""
            if body.cut is not None:
                text, suffix = f"{text}, piece {body.cut.number + 1}", f"[{body.cut.number + 1}]"
            yield _parameter(f"{body.label}.damping_scale{suffix}", NONE, text, Kind.MODAL_DAMPING, k, 1.0, 0.0)
        yield from _rigid_parameters(body, k)
    yield from _solver_parameters()


def _hinge_parameters(body: Body, k: int, u0: int) -> Iterator[FmuVariable]:
    hinge, dofs = body.hinge, hinge_dofs(body)
    suffixes = [""] if len(dofs) == 1 else [f"[{j}]" for j in range(1, len(dofs) + 1)]
    for key, kind, linear, angular, text in _HINGE_PARAMETERS:
        least = None if kind == Kind.REST else 0.0
        for j, d in enumerate(dofs):
            if kind == Kind.REST and d.rotation and hinge.kind.quaternion:
                continue  # the spring of a ball joint acts on the rotation vector: slack where the frames agree
            unit, tail = angular if d.rotation else linear, "" if len(dofs) == 1 else f", axis {j + 1}"
            start = getattr(hinge, key)[j]
            yield _parameter(
                f"{hinge.name}.{key}{suffixes[j]}", unit, text.format(hinge.name) + tail, kind, u0 + j, start, least
            )
    if _lockable(body):
        start, text = float(hinge.drive == "locked"), f"Whether hinge {hinge.name} is held where it is"
        locked = _parameter(f"{hinge.name}.locked", "", text, Kind.LOCKED, k, start)
        yield replace(locked, type="Boolean")


def _rigid_parameters(body: Body, k: int) -> Iterator[FmuVariable]:
    rigid, name = body.rigid, body.name
    if rigid is None or not rigid.tunable:
        return
    yield _parameter(f"{name}.mass", "kg", f"Mass of {name}", Kind.RIGID, 10 * k, rigid.mass, 0.0)
    for i, r in enumerate(rigid.com):
        text = f"Mass centre of {name}, body axes, component {'xyz'[i]}"
        yield _parameter(f"{name}.com[{i + 1}]", "m", text, Kind.RIGID, 10 * k + 1 + i, r)
    for i, J in enumerate(rigid.inertia):
        text = (
            f"Inertia of {name} about its mass centre, body axes, component {('xx', 'yy', 'zz', 'xy', 'xz', 'yz')[i]}"
        )
        yield _parameter(
            f"{name}.inertia[{i + 1}]", "kg.m2", text, Kind.RIGID, 10 * k + 4 + i, J, 0.0 if i < 3 else None
        )


def _solver_parameters() -> Iterator[FmuVariable]:
    known = ", ".join(f"{method.number} {name} ({method.note})" for name, method in METHODS.items())
    text = f"Co-simulation solver: {known}"
    method = _parameter("solver.method", "", text, Kind.SOLVER_METHOD, 0, float(METHOD), 0.0)
    yield replace(method, variability="fixed", type="Enumeration", maximum=len(METHODS) - 1.0)
    text = "Step of the co-simulation solver: rk4 (0: 1 ms) and rosenbrock2 (0: adaptive); dopri5 chooses its own"
    yield replace(_parameter("solver.step", "s", text, Kind.SOLVER_STEP, 0, 0.0, 0.0), variability="fixed")
    text = "Relative tolerance of the adaptive solvers"
    tolerance = _parameter("solver.tolerance", NONE, text, Kind.SOLVER_TOLERANCE, 0, TOLERANCE, 1e-14)
    yield replace(tolerance, variability="fixed", maximum=TOLERANCE_MOST)
    text = "Longest step of the co-simulation solver; 0: no bound"
    yield replace(_parameter("solver.max_step", "s", text, Kind.SOLVER_MAX_STEP, 0, 0.0, 0.0), variability="fixed")


# ---- arrays

_ELEMENT = re.compile(r"^(?P<stem>.*)\[\d+\](?P<end>\)?)$")
_TAIL = re.compile(r", (?:mode \d+|component [wxyz]+|axis \d+|piece \d+)$")


def array_table(scalars: Sequence[FmuVariable]) -> tuple[tuple[FmuVariable, ...], tuple[int, ...]]:
    """Scalars `name[1]`, `name[2]`... as arrays `name`; those of different units stay scalars.

    Returns:
        The table, and for every scalar the place of its variable in it.
    """
    groups: list[tuple[list[FmuVariable], str | None]] = []
    for stem, run in groupby(scalars, key=lambda v: _stem(v.name)):
        members = list(run)
        whole = stem is not None and len({v.unit for v in members}) == 1
        groups += [(members, stem)] if whole else [([v], None) for v in members]
    place = tuple(g for g, (members, _) in enumerate(groups) for _ in members)
    return tuple(_merged(members, stem, place) for members, stem in groups), place


def _stem(name: str) -> str | None:
    match = _ELEMENT.match(name)
    return None if match is None else match["stem"] + match["end"]


def _merged(members: Sequence[FmuVariable], stem: str | None, place: Sequence[int]) -> FmuVariable:
    first = members[0]
    derivative = None if first.derivative is None else place[first.derivative]
    if stem is None:
        return replace(first, derivative=derivative)
    return replace(
        first,
        name=stem,
        description=_TAIL.sub("", first.description) if derivative is None else f"Time derivative of {stem[4:-1]}",
        start=tuple(x for v in members for x in v.start),
        derivative=derivative,
        minimum=None if any(v.minimum is None for v in members) else first.minimum,
        array=True,
        count=len(members),
        nominal=tuple(x for v in members for x in v.nominal or (1.0,)) if any(v.nominal for v in members) else (),
    )


def units_of(variables: Iterable[FmuVariable]) -> set[str]:
    """Units that occur."""
    return {v.unit for v in variables if v.unit}
