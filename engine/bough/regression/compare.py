"""Has a run moved? One rule, for every variable on its own.

Row by row at the same times, nothing smoothed, shifted or interpolated: what a plot would show as a phase shift counts
as the difference that it is. A variable may move by a part of its own amplitude,

    |y(t) - y_ref(t)| <= tol * amplitude      for all t,      amplitude = max y_ref - min y_ref,

because a pointing error of a microradian and a reaction of a kilonewton have no tolerance in common, and because an
offset says nothing about how large a motion is. Two floors keep out what is no motion. The amplitude counts for no less
than OFFSET of the variable's largest magnitude: solvers keep errors relative to magnitudes, and tol is a hundred times
as wide as theirs, so that a constant may move by what a solver may. And it counts for no less than CANCELLED of the
largest amplitude among variables of the same unit: a component that is zero but for round-off is not judged by its
round-off. What is exactly zero may move by an absolute tolerance.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError
from bough.run.patterns import matches
from bough.run.result import Result

Array: TypeAlias = NDArray[np.float64]

RELATIVE = 1e-4
"""Tolerance, of the amplitude: a hundred times what the solver is asked for, so that another sequence of steps passes,
and a tenth of what can be seen in a plot."""
ABSOLUTE = 1e-12
"""Tolerance of what is exactly zero in the reference, in the variable's own unit."""
OFFSET, CANCELLED = 1e-2, 1e-6
"""Least amplitudes: of the variable's largest magnitude, and of the largest amplitude of its unit."""
_INDEX = re.compile(r"\[\d+\]\Z")


@dataclass(frozen=True)
class Tolerance:
    """How far variables may move.

    Attributes:
        relative: Of each variable's amplitude.
        absolute: At least, in the variable's unit.
        variables: Other relative tolerances by name; `*` stands for anything. The last that fits counts.
    """

    relative: float = RELATIVE
    absolute: float = ABSOLUTE
    variables: Mapping[str, float] = field(default_factory=dict)

    def of(self, name: str) -> float:
        """Relative tolerance of a variable."""
        fitting = [value for pattern, value in self.variables.items() if matches(name, pattern)]
        return fitting[-1] if fitting else self.relative


@dataclass(frozen=True)
class Deviation:
    """The farthest that one variable is from its reference.

    Attributes:
        name: The variable.
        unit: SI; empty for none or not known.
        time: When, s.
        reference: Its value in the reference then.
        value: Its value now.
        amplitude: Of the reference, floors included.
        allowed: Deviation that is within the tolerance.
    """

    name: str
    unit: str
    time: float
    reference: float
    value: float
    amplitude: float
    allowed: float

    @property
    def size(self) -> float:
        """|value - reference|; infinite if the value is not finite."""
        size = abs(self.value - self.reference)
        return size if np.isfinite(size) else float("inf")

    @property
    def relative(self) -> float:
        """Of the amplitude."""
        return self.size / self.amplitude if self.amplitude > 0.0 else (0.0 if self.size == 0.0 else float("inf"))

    @property
    def moved(self) -> bool:
        """Whether it is beyond the tolerance."""
        return not self.size <= self.allowed

    @property
    def excess(self) -> float:
        """Size over what is allowed: above one if it has moved."""
        return self.size / self.allowed if self.allowed > 0.0 else (0.0 if self.size == 0.0 else float("inf"))


@dataclass(frozen=True, eq=False)
class Comparison:
    """A run and its reference.

    Attributes:
        reference: The run as it was.
        result: The run as it is now.
        deviations: Of every variable of the reference that is still there, worst first.
        gone: Variables of the reference that the run lacks; they count as moved.
        new: Variables that the reference lacks; they are told, not judged.
    """

    reference: Result
    result: Result
    deviations: tuple[Deviation, ...]
    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    @property
    def moved(self) -> tuple[Deviation, ...]:
        """Those beyond the tolerance, worst first."""
        return tuple(d for d in self.deviations if d.moved)

    @property
    def ok(self) -> bool:
        """Whether everything is where it was."""
        return not self.moved and not self.gone


def compare(reference: Result, result: Result, tolerance: Tolerance | None = None) -> Comparison:
    """Judge a run by its reference.

    Raises:
        SimulationError: The two do not have the same times: they are not runs of the same kind.
    """
    _check_times(reference.t, result.t)
    rule = tolerance or Tolerance()
    common = [name for name in reference.names if name in result]
    amplitudes = _amplitudes(reference, result.units)
    found = [_deviation(name, reference, result, amplitudes[name], rule) for name in common]
    ranked = sorted(found, key=lambda d: (-d.excess, -d.relative))
    gone = tuple(name for name in reference.names if name not in result)
    new = tuple(name for name in result.names if name not in reference)
    return Comparison(reference, result, tuple(ranked), gone, new)


def _check_times(reference: Array, now: Array) -> None:
    if reference.shape == now.shape and reference.size:
        if float(np.max(abs(reference - now))) <= 1e-9 * max(1.0, float(abs(reference).max())):
            return
    ends = f"{now.size} rows to t = {now[-1]:.6g} s" if now.size else "no rows"
    expected = f"{reference.size} rows to t = {reference[-1]:.6g} s" if reference.size else "an empty reference"
    raise SimulationError(f"the times differ: the reference has {expected}, the run {ends}; record it again")


def _amplitudes(reference: Result, units: Mapping[str, str]) -> dict[str, float]:
    """Amplitude of each variable with its floors."""
    plain = {name: float(np.ptp(reference[name])) for name in reference.names}
    largest: dict[str, float] = {}
    for name, amplitude in plain.items():
        largest[_kin(name, units)] = max(largest.get(_kin(name, units), 0.0), amplitude)
    return {
        name: max(amplitude, OFFSET * float(abs(reference[name]).max()), CANCELLED * largest[_kin(name, units)])
        for name, amplitude in plain.items()
    }


def _kin(name: str, units: Mapping[str, str]) -> str:
    """Variables of one unit; without units, of one quantity."""
    return units.get(name, "") or _INDEX.sub("", name.rpartition(".")[2])


def _deviation(name: str, reference: Result, result: Result, amplitude: float, rule: Tolerance) -> Deviation:
    was, now = reference[name], result[name]
    off = abs(now - was)
    worst = int(np.argmax(np.where(np.isfinite(off), off, np.inf)))
    allowed = max(rule.of(name) * amplitude, rule.absolute)
    unit = result.units.get(name, "")
    return Deviation(name, unit, float(reference.t[worst]), float(was[worst]), float(now[worst]), amplitude, allowed)
