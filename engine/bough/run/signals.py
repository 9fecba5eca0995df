"""Inputs of a run: what a user gives, cut into pieces of time on which every input is linear.

An integrator that chooses its own steps sees an input only where it looks. Steps therefore end at every knot of every
table, where an input jumps or bends; between two knots the kernel has the inputs as polynomials and cannot miss
anything. A function of time shows no knots: steps are bounded by the distance of the rows, and a jump between two rows
is looked for by halving. A function of time and state is asked at every stage of the integrator; where it jumps with
the state, the error control finds the place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ArgumentError, SimulationError, choices, did_you_mean, listed
from bough.mechanism.kernel_sim import LinearInputs
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.variables import Variable
from bough.model import Model

Array: TypeAlias = NDArray[np.float64]
Input: TypeAlias = float | ArrayLike | tuple[ArrayLike, ArrayLike] | Callable[..., float]
"""A number; a series on the output times; a pair (times, values), linear between; a function of time in s; or a
function of time and `State`."""

_SURE = 5
"""Halvings before a function may be called smooth."""
_STEEP = 0.5
"""A function that changes by less than this part of the whole, in a small part of the time, is smooth enough there."""
_PARAMETERS = ("damping", "stiffness", "rest", "armature", "locked", "damping_scale", "mass", "com", "inertia")
"""Last part of the names of parameters that hinges and bodies have."""


class State:
    """Positions and speeds at the stage at which an input is asked for, by the names of `q_names` and `u_names`."""

    def __init__(self, system: Mechanism) -> None:
        """Of a mechanism; `now` says which."""
        self._places = {name: (0, i) for i, name in enumerate(system.q_names)}
        self._places |= {name: (1, i) for i, name in enumerate(system.u_names)}
        self._arrays: tuple[Array, Array] = (np.empty(0), np.empty(0))

    def now(self, q: Array, u: Array) -> State:
        """Look at this state from now on."""
        self._arrays = (q, u)
        return self

    def __getitem__(self, name: str) -> float:
        """A position or a speed, such as `state["shoulder.phi"]`."""
        if name not in self._places:
            raise ArgumentError(f"there is no state {name!r}{choices(name, list(self._places))}")
        which, index = self._places[name]
        return float(self._arrays[which][index])


def input_function(function: Callable[..., float]) -> tuple[Callable[[float, State], float], bool]:
    """A function of time and state from one of time, or of both; whether it was one of both."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # written in C, without a signature
        parameters = ()  # type: ignore[assignment]
    needed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    if len(needed) == 2:
        return function, True
    return lambda t, _: function(t), False


@dataclass(frozen=True, eq=False)
class _Table:
    """An input that is linear between its times, s, and constant outside. Two equal times are a jump."""

    variable: Variable
    times: Array
    values: Array

    def bends(self) -> Array:
        """Times at which the input jumps or bends; where it rests there are none."""
        moves = np.diff(self.values) != 0.0
        ends = np.concatenate(([False], moves)) | np.concatenate((moves, [False]))
        return self.times[ends]

    def pieces(self, knots: Array) -> tuple[Array, Array]:
        """Value just after each knot and slope from there on."""
        t, v = self.times, self.values
        at = np.searchsorted(t, knots, side="right") - 1
        inside = (at >= 0) & (at < t.size - 1)
        left = np.clip(at, 0, max(t.size - 2, 0))
        right = np.minimum(left + 1, t.size - 1)
        slope = np.where(inside, (v[right] - v[left]) / np.where(inside, t[right] - t[left], 1.0), 0.0)
        value = np.where(at < 0, v[0], np.where(inside, v[left] + slope * (knots - t[left]), v[-1]))
        return value, slope


@dataclass(frozen=True, eq=False)
class _Function:
    variable: Variable
    value: Callable[[float], float]

    def jump(self, low: float, high: float) -> tuple[float, float] | None:
        """Where the function jumps between two times, s: the last time before and the first after; None if smooth.

        Half of the interval keeps most of the change again and again where there is a jump, less and less elsewhere.
        """
        first, last = self.value(low), self.value(high)
        change = abs(last - first)
        if not change > 0.0:
            return None
        halvings = 0
        while True:
            middle = 0.5 * (low + high)
            if not low < middle < high:
                return low, high
            here = self.value(middle)
            if abs(here - first) >= abs(last - here):
                high, last = middle, here
            else:
                low, first = middle, here
            halvings += 1
            if halvings >= _SURE and abs(last - first) < _STEEP * change:
                return None


@dataclass(frozen=True, eq=False)
class _Law:
    variable: Variable
    value: Callable[[float, State], float]


class Schedule:
    """All inputs of a run.

    Attributes:
        knots: Start of each piece of time, s; the last one is the end of the run.
        functions: Whether an input is a function of time.
    """

    def __init__(self, system: Mechanism, inputs: Mapping[str, Input], times: Array) -> None:
        """Check the inputs and cut them.

        Args:
            system: The mechanism.
            inputs: By name.
            times: Output times of the run, s.

        Raises:
            ArgumentError: A name is unknown, or a value is none that an input can have.
        """
        known = {v.name: v for v in system.variables if v.causality == "input"}
        tables: list[_Table] = []
        self._functions: list[_Function] = []
        self._laws: list[_Law] = []
        self._state = State(system)
        for name, value in inputs.items():
            if name not in known:
                raise _no_input(system, name, list(known))
            signal = _signal(known[name], value, times)
            if isinstance(signal, _Table):
                tables.append(signal)
            elif isinstance(signal, _Law):
                self._laws.append(signal)
            else:
                self._functions.append(signal)
        start, stop = times[0], times[-1]
        bends = np.unique(np.concatenate([np.array([start, stop]), *(table.bends() for table in tables)]))
        self.knots: Array = bends[(bends >= start) & (bends <= stop)]
        self.nu, self.loads = system.nu, len(system.block.loads)
        self._base = np.zeros((2, 2 * self.nu + 6 * self.loads))
        self._places = np.array([self._place(table.variable) for table in tables], dtype=np.intc)
        pieces = [table.pieces(self.knots) for table in tables]
        self._values = np.array([value for value, _ in pieces]).reshape(len(tables), self.knots.size)
        self._slopes = np.array([slope for _, slope in pieces]).reshape(len(tables), self.knots.size)

    @property
    def functions(self) -> bool:
        """Whether any input is a function, which only the function knows."""
        return bool(self._functions or self._laws)

    def _place(self, variable: Variable) -> int:
        first = {"tau": 0, "motion": self.nu, "loads": 2 * self.nu}
        return first[variable.kind] + variable.index

    def piece(self, number: int) -> Array:
        """Inputs from knot `number` to the next: values there, and slopes, (2, 2 nu + 6 loads)."""
        self._base[0, self._places] = self._values[:, number]
        self._base[1, self._places] = self._slopes[:, number]
        return self._base

    @property
    def linear(self) -> LinearInputs:
        """All inputs that are not functions."""
        return LinearInputs(self.knots, self._places, self._values, self._slopes)

    def jumps(self, low: float, high: float) -> list[tuple[float, float]]:
        """Jumps of functions between two times, s: pairs of the last time before and the first after one."""
        found = (function.jump(low, high) for function in self._functions)
        return sorted({jump for jump in found if jump is not None})

    def fill(self, t: float, q: Array, u: Array, tau: Array, motion: Array, loads: Array) -> None:
        """Functions at time t and state q, u, into the arrays of the kernel."""
        targets = {"tau": tau, "motion": motion, "loads": loads.reshape(-1)}
        for s in self._functions:
            targets[s.variable.kind][s.variable.index] = s.value(t)
        state = self._state.now(q, u)
        for law in self._laws:
            targets[law.variable.kind][law.variable.index] = law.value(t, state)

    def at(self, t: float, q: Array, u: Array, tau: Array, motion: Array, loads: Array) -> None:
        """Every input at time t, s, and state q, u; where one jumps, as it is afterwards."""
        number = int(np.clip(np.searchsorted(self.knots, t, side="right") - 1, 0, self.knots.size - 1))
        values, slopes = self.piece(number)
        now = values + (t - self.knots[number]) * slopes
        nu = self.nu
        tau[:], motion[:], loads.reshape(-1)[:] = now[:nu], now[nu : 2 * nu], now[2 * nu :]
        self.fill(t, q, u, tau, motion, loads)

    def ask_again(self, t: float, q: Array, u: Array, tau: Array, motion: Array, loads: Array) -> None:
        """Compare functions with what `at` has found: noise would pass for rounding in the stages of a step.

        Raises:
            SimulationError: A function gives another value.
        """
        found = {"tau": tau, "motion": motion, "loads": loads.reshape(-1)}
        state = self._state.now(q, u)
        again = [(s.variable, s.value(t)) for s in self._functions]
        again += [(law.variable, law.value(t, state)) for law in self._laws]
        for variable, value in again:
            first = float(found[variable.kind][variable.index])
            if value != first and not (np.isnan(value) and np.isnan(first)):
                raise SimulationError(
                    f"inputs[{variable.name!r}] is not a function of its arguments: asked twice at t = {t:.9g} s "
                    f"it gave {first:.9g} and {float(value):.9g}. A solver asks several times for one step. Draw noise "
                    "beforehand and give it as a pair (times, values); step a controller that remembers with bough.Run"
                )


def _signal(variable: Variable, value: Input, times: Array) -> _Table | _Function | _Law:
    where = f"inputs[{variable.name!r}]"
    if callable(value):
        law, of_state = input_function(value)
        return _Law(variable, law) if of_state else _Function(variable, value)
    try:
        pair = value if isinstance(value, tuple) and len(value) == 2 else (times, value)
        grid, series = (np.asarray(x, dtype=np.float64) for x in pair)
    except (TypeError, ValueError):
        expected = f"{where}: expected a number, an array or a function of time"
        raise ArgumentError(f"{expected}, found {value!r}") from None
    if series.ndim == 0 and grid is times:
        number = float(series)
        if not np.isfinite(number):
            raise ArgumentError(f"{where}: expected a finite number, found {number}")
        return _Table(variable, times[:1], np.array([number]))
    if grid.ndim != 1 or series.shape != grid.shape or grid.size == 0:
        raise ArgumentError(f"{where}: expected {grid.shape} values, one per time, found shape {series.shape}")
    if not (np.all(np.isfinite(series)) and np.all(np.isfinite(grid)) and np.all(np.diff(grid) >= 0)):
        raise ArgumentError(f"{where}: expected finite values at times that do not go back")
    return _Table(variable, grid, series)


# ---- names that are not inputs


def setting_hint(model: Model, name: str) -> str:
    """What to do in the model file so that a load or a mass of this name can be set; empty for another name."""
    owner, _, key = name.partition("[")[0].rpartition(".")
    bodies = {body.name: body for body in model.whole_bodies}
    if owner in bodies and key in ("mass", "com", "inertia"):
        rigid = bodies[owner].rigid
        if rigid is None:
            return f"the mass of {owner} follows from its shape, in the model file"
        return "" if rigid.tunable else "mark the body `tunable: true` in the model file, beside its mass"
    body, _, node = owner.rpartition(".")
    if key in ("force", "torque") and body in bodies and node in bodies[body].node_names:
        load = f"{owner}.{key}"
        if load in model.inputs:
            return f"it is a vector: its parts are {load}[1], {load}[2] and {load}[3]"
        return f"declare it in the model file, under inputs: [{load}]"
    return ""


def _other_hint(system: Mechanism, name: str) -> str:
    """Where a state or a parameter can be set, since it is no input; empty for another name."""
    if name in system.q_names or name in system.u_names:
        return "it is a state: hand over its start value by initial=(q, u)"
    owner, _, key = name.partition("[")[0].rpartition(".")
    owners = {body.label for body in system.model.bodies} | {body.hinge.name for body in system.model.bodies}
    if (owner in owners and key in _PARAMETERS) or key == "gravity":
        return "it is a parameter: change it in the model, or run with bough.run.studies.run_set"
    return ""


def _no_input(system: Mechanism, name: str, known: Sequence[str]) -> ArgumentError:
    """Why a name cannot be an input, with the cure."""
    hint = setting_hint(system.model, name) or _other_hint(system, name)
    if hint:
        return ArgumentError(f"inputs: {name!r} is not an input of {system.model.name}; {hint}")
    told = f"there is no input {name!r}; inputs are: {listed(known)}{did_you_mean(name, known)}"
    return ArgumentError(f"inputs: {told}")
