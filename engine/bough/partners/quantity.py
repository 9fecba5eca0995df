"""What a partner is made of: quantities with name, unit, range and meaning.

One description serves the command line, modelDescription.xml, the resource that the native library reads, the FMU in
Python and the documentation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from bough.errors import BuildError
from bough.export.table import FmuType, FmuVariable, Kind, Variability

Role: TypeAlias = Literal["input", "output", "tunable", "fixed"]
Value: TypeAlias = float | bool | Sequence[float]
AXES_MOST = 100
"""Axes of one partner."""
INDEX_STEP = 1000
"""A variable's index is its quantity's number times this, plus the axis."""


@dataclass(frozen=True)
class Quantity:
    """A variable of a partner, one for each axis.

    Attributes:
        name: As users see it; with several axes `name[1]`, `name[2]`...
        unit: A key of `bough.export.units.UNITS`; empty for Integer and Boolean.
        text: One line of English.
        role: Inputs, outputs, and parameters that may change between steps or only before the run.
        start: Start value, for each axis the same unless set.
        minimum: Least value allowed.
        maximum: Greatest value allowed.
        type: Real, Integer or Boolean.
        depends: Outputs: names of quantities that the value depends on at the same instant; `time` may be among them.
        count: How many there are: 0 is one for each axis, 1 is one for all.
        across: Outputs: whether it depends on those of all axes, not only of its own.
        sampled: Inputs and outputs: whether it counts at samples only, and is held in between.
    """

    name: str
    unit: str
    text: str
    role: Role
    start: float = 0.0
    minimum: float | None = None
    maximum: float | None = None
    type: FmuType = "Real"
    depends: tuple[str, ...] = ()
    count: int = 0
    across: bool = False
    sampled: bool = False

    @property
    def settable(self) -> bool:
        """Whether it has a start value of its own."""
        return self.role != "output"


@dataclass(frozen=True)
class Partner:
    """A partner for some number of axes, with its start values: everything that its FMU says.

    Attributes:
        kind: `motor`, `controller` or `model-controller`.
        number: Which one the native library is to be.
        text: One line of English.
        axes: How many axes it has.
        quantities: In the order that the library knows.
        starts: Start values that differ from the quantities' own, by name, one per axis.
        table: Further numbers for the library.
        block: The kernel's model block, if it has a model.
        bodies: Names of the model's bodies and hinges.
        axis_names: What the axes are, for descriptions; empty for numbers.
    """

    kind: str
    number: int
    text: str
    axes: int
    quantities: tuple[Quantity, ...]
    starts: Mapping[str, tuple[float, ...]]
    table: tuple[float, ...] = ()
    block: bytes = b""
    bodies: tuple[tuple[str, str], ...] = ()
    axis_names: tuple[str, ...] = ()

    def about(self, q: Quantity, axis: int) -> str:
        """Description of a quantity's variable."""
        if q.count == 0 and self.axis_names:
            return f"{q.text}, {self.axis_names[axis]}"
        what = "axis" if q.count == 0 else "mode"
        return q.text if self.count(q) == 1 else f"{q.text}, {what} {axis + 1}"

    def count(self, q: Quantity) -> int:
        """How many variables a quantity stands for."""
        return q.count or self.axes

    def names(self, q: Quantity) -> list[str]:
        """Names of its variables; an only one has no index."""
        n = self.count(q)
        return [q.name] if n == 1 else [f"{q.name}[{i + 1}]" for i in range(n)]

    def start(self, q: Quantity) -> tuple[float, ...]:
        """Start values of a quantity."""
        return self.starts.get(q.name, (q.start,) * self.count(q))

    def slots(self) -> Iterator[tuple[int, Quantity, int, str, float]]:
        """Number of the quantity, quantity, axis, name and start value of each variable, in order."""
        for number, q in enumerate(self.quantities):
            for axis, (name, start) in enumerate(zip(self.names(q), self.start(q), strict=True)):
                yield number, q, axis, name, start

    def set(self, values: Mapping[str, Value]) -> Partner:
        """The same with other start values: `{"R": 0.5}` for all axes, `{"R": [0.5, 0.7]}` or `{"R[2]": 0.7}` for some.

        Raises:
            BuildError: A name is unknown, or a value is out of range.
        """
        starts = dict(self.starts)
        for name, value in values.items():
            q, axis = self._find(name)
            now = list(starts.get(q.name, (q.start,) * self.count(q)))
            if axis is not None:
                now[axis] = _number(self, name, value)
            elif isinstance(value, (int, float)):
                now = [_number(self, name, value)] * len(now)
            else:
                now = [_number(self, name, x) for x in value]
                if len(now) != self.count(q):
                    raise BuildError(f"{self.kind}: {name} has {len(now)} values; expected one, or {self.count(q)}")
            for x in now:
                _check_range(self, q, name, x)
            starts[q.name] = tuple(now)
        return replace(self, starts=starts)

    def _find(self, name: str) -> tuple[Quantity, int | None]:
        for q in self.quantities:
            if q.settable and q.name == name:
                return q, None
            if q.settable and name in self.names(q):
                return q, self.names(q).index(name)
        computed = any(q.name == name for q in self.quantities)
        why = f"'{name}' is computed by the {self.kind}" if computed else f"the {self.kind} has no parameter '{name}'"
        known = [f"{q.name}{f' ({q.unit})' if q.unit and q.unit != '1' else ''}" for q in self.parameters]
        raise BuildError(f"{why}. Parameters: {', '.join(known)}.")

    @property
    def parameters(self) -> list[Quantity]:
        """What can be set before a run."""
        return [q for q in self.quantities if q.role in ("tunable", "fixed")]


def _number(partner: Partner, name: str, value: object) -> float:
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        raise BuildError(f"{partner.kind}: {name} is {value!r}; expected a finite number")
    return float(value)


def _check_range(partner: Partner, q: Quantity, name: str, x: float) -> None:
    low = "" if q.minimum is None else f"at least {q.minimum:g}"
    high = "" if q.maximum is None else f"at most {q.maximum:g}"
    wrong = (q.minimum is not None and x < q.minimum) or (q.maximum is not None and x > q.maximum)
    if q.type != "Real" and x != int(x):
        wrong, low = True, f"a whole number, {low}" if low else "a whole number"
    if q.type == "Boolean":
        wrong, low, high = wrong or x not in (0.0, 1.0), "true or false", ""
    if wrong:
        unit = f" {q.unit}" if q.unit and q.unit != "1" else ""
        raise BuildError(f"{partner.kind}: {name} is {x:g}{unit}; expected {' and '.join(t for t in (low, high) if t)}")


def variable_table(partner: Partner) -> tuple[FmuVariable, ...]:
    """Every variable of the FMU: `time`, then the quantities."""
    out = [FmuVariable("time", "s", "Time", "independent", "continuous", None, Kind.TIME, 0)]
    for number, q, axis, name, start in partner.slots():
        text = partner.about(q, axis)
        causality = q.role if q.role in ("input", "output") else "parameter"
        out.append(
            FmuVariable(
                name,
                q.unit,
                text,
                causality,
                _variability(q),
                None if q.role == "input" else "calculated" if q.role == "output" else "exact",
                Kind.PARTNER,
                number * INDEX_STEP + axis,
                () if q.role == "output" else (start,),
                q.type,
                minimum=q.minimum if q.type != "Boolean" else None,
                maximum=q.maximum if q.type != "Boolean" else None,
            )
        )
    return tuple(out)


def _variability(q: Quantity) -> Variability:
    if q.role in ("tunable", "fixed"):
        return "tunable" if q.role == "tunable" else "fixed"
    return "discrete" if q.sampled else "continuous"


def dependencies(partner: Partner) -> dict[int, list[int]]:
    """For each output, by value reference, the variables that it depends on at the same instant."""
    references: dict[str, list[int]] = {"time": [0]}
    place = 1
    for q in partner.quantities:
        references[q.name] = list(range(place, place + partner.count(q)))
        place += partner.count(q)
    out: dict[int, list[int]] = {}
    for q in partner.quantities:
        if q.role != "output":
            continue
        for axis, reference in enumerate(references[q.name]):
            found: list[int] = []
            for name in q.depends:
                all_of_them = references[name]
                found += all_of_them if q.across or len(all_of_them) == 1 else [all_of_them[axis]]
            out[reference] = sorted(found)
    return out
