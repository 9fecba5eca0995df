"""Inputs from outside of a system, over time: what an FMU feels of them during a communication step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from bough.coupling.assembly import Assembly, Port, Variable
from bough.coupling.slave import Channel, Slave
from bough.errors import SimulationError
from bough.run.result import Array
from bough.text.problems import one_of

NEAR = 1e-9
"""Communication steps from which on two times differ."""


@dataclass(frozen=True)
class Formula:
    """A function of time; a constant is one too.

    Attributes:
        function: Value at a time, s.
        knots: Times at which it bends or jumps, s: none are known.
    """

    function: Callable[[float], float]
    knots: Sequence[float] = ()

    def __call__(self, time: float) -> float:
        """The value at a time, s."""
        return float(self.function(time))

    def over(self, begin: float, end: float, held: bool) -> tuple[float, float]:
        """What an input does in a step from `begin` to `end`, s: the value there, if it is `held`, or amid the step."""
        value = self(begin if held else begin + (end - begin) / 2)
        return value, value


class Table:
    """Values at times: linear between them, constant before the first and after the last; a time twice is a jump.

    Attributes:
        knots: Times at which it bends or jumps, s: steps end there.
    """

    def __init__(self, times: Array, values: Array, steps: bool) -> None:
        """Take times, s, in order, and their values; `steps`: each value holds until the next one."""
        if steps:
            times, values = np.repeat(times, 2)[1:], np.repeat(values, 2)[:-1]
        self._times, self._values, self._steps = times, values, steps
        inner = np.ones(times.size, dtype=bool)
        inner[1:-1] = (values[:-2] != values[1:-1]) | (values[1:-1] != values[2:])
        self.knots: Sequence[float] = np.unique(times[inner]).tolist()

    def __call__(self, time: float) -> float:
        """The value at a time, s; after a jump if there is one."""
        return self._between(int(np.searchsorted(self._times, time, "right")), time)

    def over(self, begin: float, end: float, held: bool) -> tuple[float, float]:
        """Its line if the step crosses no knot, else its mean: FMUs with equal steps feel what passes meanwhile."""
        i, j = int(np.searchsorted(self._times, begin, "right")), int(np.searchsorted(self._times, end, "left"))
        first, last = self._between(i, begin), self._between(j, end)
        if self._steps:
            return first, first
        if i == j:
            return first, last
        t = np.concatenate([[begin], self._times[i:j], [end]])
        y = np.concatenate([[first], self._values[i:j], [last]])
        mean = float(np.sum(np.diff(t) * (y[1:] + y[:-1])) / (2 * (end - begin)))
        return mean, mean

    def _between(self, i: int, time: float) -> float:
        """Value at a time on the line from point i - 1 to point i."""
        if i == 0 or i == self._times.size:
            return float(self._values[max(i - 1, 0)])
        t0, t1 = float(self._times[i - 1]), float(self._times[i])
        y0, y1 = float(self._values[i - 1]), float(self._values[i])
        if y0 == y1 or time == t0:
            return y0
        return y1 if time == t1 else y0 + (y1 - y0) * ((time - t0) / (t1 - t0))


Signal: TypeAlias = Formula | Table
"""An input from outside."""


def signal(name: str, variable: Variable, given: Any) -> Signal:
    """A number, times and values, or a function of time, as the input of that name feels it.

    Raises:
        SimulationError: It is none of these, or does not fit.
    """
    if callable(given):
        return Formula(given)
    if isinstance(given, tuple):
        times, values = (np.asarray(part, dtype=np.float64) for part in given)
        if times.ndim != 1 or times.shape != values.shape or not times.size:
            raise SimulationError(f"{name}: expected times and values of equal length")
        if np.any(np.diff(times) < 0.0) or not np.all(np.isfinite(times) & np.isfinite(values)):
            raise SimulationError(f"{name}: expected finite values at times that do not go back")
        return Table(times, values, steps=variable.kind != "real" or variable.variability != "continuous")
    value = float(given)
    if not math.isfinite(value):
        raise SimulationError(f"{name} is {value}: expected a finite number")
    return Formula(lambda _: value)


class Outside:
    """Inputs of one component that come from outside."""

    def __init__(self, slave: Slave, signals: Mapping[str, Signal]) -> None:
        """Take the FMU, and a signal for each of some of its inputs."""
        about = slave.component.interface
        variables = [about.variables[name] for name in signals]
        self._slave, self._signals = slave, list(signals.values())
        self._channel = Channel(slave, variables)
        # An FMU that takes derivatives follows the line; any other one gets its mean.
        tables = [k for k, found in enumerate(self._signals) if isinstance(found, Table)]
        smooth = [k for k in tables if variables[k].fmi_type == "Real" and variables[k].variability == "continuous"]
        self._slopes = smooth if about.interpolates else []
        self._references = [variables[k].reference for k in self._slopes]

    def at(self, time: float) -> None:
        """Set what the inputs are at a time, s."""
        self._channel.set([found(time) for found in self._signals])

    def over(self, begin: float, end: float, held: bool) -> None:
        """Set what the inputs do during a step, s; `held`: functions keep what they are when it begins."""
        lines = [found.over(begin, end, held) for found in self._signals]
        values = [(first + last) / 2 for first, last in lines]
        for k in self._slopes:
            values[k] = lines[k][0]
        self._channel.set(values)
        if self._slopes:
            rates = [(lines[k][1] - lines[k][0]) / (end - begin) for k in self._slopes]
            self._slave.set_derivatives(self._references, rates)


def stops(points: Sequence[float], signals: Iterable[Signal], assembly: Assembly) -> Iterator[list[float]]:
    """For each communication point after the first, where steps end up to it: at knots that lie before it, and there.

    Components that take equal steps only are not stopped at knots.
    """
    knots = np.array(sorted({float(t) for found in signals for t in found.knots}))
    if not knots.size or _equal_steps(assembly):
        yield from ([point] for point in points[1:])
        return
    for begin, end in zip(points, points[1:], strict=False):
        near = NEAR * (end - begin)
        first, last = np.searchsorted(knots, [begin + near, end - near])
        inner: list[float] = []
        for knot in knots[first:last].tolist():
            if not inner or knot - inner[-1] > near:
                inner.append(knot)
        yield [*inner, end]


def warn_of_knots(points: Sequence[float], signals: Mapping[Port, Signal], assembly: Assembly) -> list[str]:
    """A warning if a table bends or jumps where a component with equal steps cannot stop."""
    fixed = _equal_steps(assembly)
    grid = np.array(points)
    near = NEAR * assembly.master.step
    late = []
    for port, found in signals.items():
        knots = np.array([t for t in found.knots if grid[0] < t < grid[-1]])
        nearest = grid[np.clip(np.searchsorted(grid, knots - near), 0, grid.size - 1)]
        if knots.size and np.any(np.abs(nearest - knots) > near):
            late.append(port)
    if not fixed or not late:
        return []
    who = one_of(fixed)
    what = one_of(variable if len(assembly.components) == 1 else f"{name}.{variable}" for name, variable in late)
    return [
        f"{who} takes equal communication steps only, and the table of {what} changes between them: the mean of each "
        "step is felt. Choose a step that ends where the table bends or jumps"
    ]


def _equal_steps(assembly: Assembly) -> list[str]:
    return [c.name for c in assembly.components if not c.interface.variable_steps]
