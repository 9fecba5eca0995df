"""What a partner is made of: quantities with name, unit, range and meaning.

One description serves the command line, modelDescription.xml, the resource that the native library reads, the FMU in
Python and the documentation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Literal, TypeAlias

import numpy as np

from bough.errors import did_you_mean
from bough.mechanism.fields import Kind
from bough.mechanism.variable_table import FmuType, FmuVariable, Variability
from bough.partners.misfit import FITTING, Misfit, PartnerError
from bough.text.problems import describe, one_of

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
        unit: A key of `bough.text.units.UNITS`; empty for Integer and Boolean.
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
        optional: Inputs: whether it adds to something else, so that nothing is missing where nothing is connected.
        main: Outputs: whether it is what the partner is there for; of several such one is enough.
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
    optional: bool = False
    main: bool = False

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
        options: Names of what is settled when the FMU is built and is no variable of it, for messages.
        units: For each axis the units that differ from the quantities' own; empty: none does.
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
    options: tuple[str, ...] = ()
    units: tuple[Mapping[str, str], ...] = ()

    def unit(self, q: Quantity, axis: int) -> str:
        """Unit of a quantity's variable: an axis that slides has metres where others have radians."""
        return self.units[axis].get(q.unit, q.unit) if self.units and q.count == 0 else q.unit

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

    def set(self, values: Mapping[str, object]) -> Partner:
        """The same with other start values: `{"R": 0.5}` for all axes, `{"R": [0.5, 0.7]}` or `{"R[2]": 0.7}` for some.

        Raises:
            PartnerError: Names are unknown, or values out of range: all of them are told.
        """
        starts, misfits = dict(self.starts), list[Misfit]()
        for name, value in values.items():
            found = self._find(name)
            if isinstance(found, Misfit):
                misfits.append(found)
                continue
            q, axis = found
            numbers = self._fitting(q, axis, name, value)
            if isinstance(numbers, Misfit):
                misfits.append(numbers)
            elif axis is None:
                starts[q.name] = numbers
            else:
                now = starts.get(q.name, (q.start,) * self.count(q))
                starts[q.name] = (*now[:axis], *numbers, *now[axis + 1 :])
        if misfits:
            raise PartnerError(self.kind, misfits)
        return replace(self, starts=starts)

    def _fitting(self, q: Quantity, axis: int | None, name: str, value: object) -> tuple[float, ...] | Misfit:
        """Numbers for one axis, or for all of them."""
        given = as_list(value)
        count = 1 if axis is not None else self.count(q)
        if len(given) not in (1, count):
            hinge = "one hinge is driven" if axis is None else "of one axis"
            wanted = f"1 value ({hinge})" if count == 1 else f"1 value for all axes, or {count}: one for each"
            return Misfit(name, f"{name} has {len(given)} values", wanted, self._more_axes(q, axis, len(given)))
        for x in given:
            misfit = _misfit(q, name, x)
            if misfit is not None:
                return misfit
        numbers = tuple(float(x) for x in given if isinstance(x, Real))
        return numbers * count if len(numbers) == 1 else numbers

    def _more_axes(self, q: Quantity, axis: int | None, count: int) -> str:
        """The cure where several values are given to a partner of one axis: its axes have been forgotten."""
        fixed = self.axes > 1 or self.axis_names or q.count or axis is not None
        if fixed or not 1 < count <= AXES_MOST:
            return FITTING
        return f"for {count} axes write `axes: {count}` beside `set` (on the command line: --axes {count})"

    def _find(self, name: str) -> tuple[Quantity, int | None] | Misfit:
        for q in self.quantities:
            if q.settable and q.name == name:
                return q, None
            if q.settable and name in self.names(q):
                return q, self.names(q).index(name)
        computed = any(q.name == name or name in self.names(q) for q in self.quantities)
        why = f"'{name}' is computed by the {self.kind}" if computed else f"there is no parameter '{name}'"
        known = [f"{q.name}{f' ({q.unit})' if q.unit and q.unit != '1' else ''}" for q in self.parameters]
        near = [x for q in self.quantities if q.settable for x in (q.name, *self.names(q))]
        same = next((q for q in self.quantities if q.settable and q.name == name.partition("[")[0]), None)
        cure = did_you_mean(name, [*near, *self.options]).removeprefix("; ")
        if same is not None:  # the index is wrong
            cure = f"there is {one_of(self.names(same))}"
        return Misfit(name, why, f"one of {', '.join([*known, *self.options])}", cure or FITTING)

    @property
    def parameters(self) -> list[Quantity]:
        """What can be set before a run."""
        return [q for q in self.quantities if q.role in ("tunable", "fixed")]


def as_list(value: object) -> list[object]:
    """One value or several, as a list."""
    if isinstance(value, np.ndarray):
        return list(value.ravel().tolist())
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _misfit(q: Quantity, name: str, x: object) -> Misfit | None:
    """What is wrong with one value, or None."""
    if not isinstance(x, Real):
        kind = "true or false" if q.type == "Boolean" else "a number"
        return Misfit(name, f"{name} is {describe(x)}", kind)
    number = float(x)
    if not math.isfinite(number):
        return Misfit(name, f"{name} is {number!r}", "a finite number")
    unit = f" {q.unit}" if q.unit and q.unit != "1" else ""
    low = "" if q.minimum is None else f"at least {q.minimum:g}{unit}"
    high = "" if q.maximum is None else f"at most {q.maximum:g}{unit}"
    wrong = (q.minimum is not None and number < q.minimum) or (q.maximum is not None and number > q.maximum)
    if q.type != "Real" and not number.is_integer():
        wrong, low = True, f"a whole number, {low}" if low else "a whole number"
    if q.type == "Boolean":
        wrong, low, high = wrong or number not in (0.0, 1.0), "true or false", ""
    return Misfit(name, f"{name} is {number:g}{unit}", " and ".join(t for t in (low, high) if t)) if wrong else None


def variable_table(partner: Partner) -> tuple[FmuVariable, ...]:
    """Every variable of the FMU: `time`, then the quantities."""
    out = [FmuVariable("time", "s", "Time", "independent", "continuous", None, Kind.TIME, 0)]
    for number, q, axis, name, start in partner.slots():
        text = partner.about(q, axis)
        causality = q.role if q.role in ("input", "output") else "parameter"
        out.append(
            FmuVariable(
                name,
                partner.unit(q, axis),
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
