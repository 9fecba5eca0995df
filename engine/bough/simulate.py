"""Simulation: inputs, output times, and the run in the kernel."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough import _kernel
from bough.errors import ArgumentError, SimulationError, did_you_mean, listed
from bough.model import Model
from bough.pulse import Pulse
from bough.result import Interrupted, Result, decimals, short_times
from bough.system import System
from bough.variables import Variable

Array: TypeAlias = NDArray[np.float64]
Input: TypeAlias = float | ArrayLike | tuple[ArrayLike, ArrayLike] | Callable[[float], float]
"""A number; a series on the output times; a pair (times, values), linear between; or a function of time in s."""

ATOL_FACTOR = 1e-2
"""Default absolute tolerance over the relative one: coordinates are of order one in SI units."""
_PARAMETERS = ("damping", "stiffness", "rest", "armature", "locked", "damping_scale", "mass", "com", "inertia")
"""Last part of the names of parameters that hinges and bodies have."""


@dataclass(frozen=True)
class _Signal:
    """One input as a function of time, and where its value goes."""

    variable: Variable
    value: Callable[[float], float]
    constant: bool


def simulate(
    model: Model | System | str | os.PathLike[str] | Mapping[str, Any],
    stop: float,
    inputs: Mapping[str, Input] | None = None,
    step: float | None = None,
    *,
    start: float = 0.0,
    method: str = "dopri5",
    rtol: float = 1e-6,
    atol: float | None = None,
    solver_step: float | None = None,
    initial: tuple[ArrayLike, ArrayLike] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Simulate a model.

    Args:
        model: A model, or what `bough.load` takes, or a System.
        stop: End time, s.
        inputs: By FMU name, such as `shoulder.tau` or `upper.tip.force[1]`: a number, a series with one value per
            output time, a pair (times, values) that is linear between and constant outside, or a function of time.
        step: Distance of output times, s; a thousandth of the run if not given.
        start: Start time, s.
        method: `dopri5` (adaptive, order 5, dense output), `rk4` (fixed step), or `rosenbrock2` (linearly implicit,
            order 2, for stiff modes; fixed step if `solver_step` is given, else adaptive).
        rtol: Relative tolerance of the adaptive methods.
        atol: Absolute tolerance of positions, rad, m or modal; a hundredth of rtol if not given. That of speeds, per
            second, is a hundred times as much.
        solver_step: Step of the fixed-step methods, s (default: `step`); first step of dopri5.
        initial: q and u to start from, instead of the model's own.
        progress: Called about ten times a second with the fraction done.

    Returns:
        Time and every variable.

    Warns:
        ProgressWarning: The run is so slow that it will hardly end.

    Raises:
        ArgumentError: An argument is wrong; the message names it.
        SimulationError: The run failed; `error.result` holds what was computed until then.
        Interrupted: The user has stopped it (a `KeyboardInterrupt`); `result` holds what was computed until then.

    Example:
        >>> import bough
        >>> cart = {"bough": 1, "name": "cart", "bodies": [{"name": "box", "parent": "ground",
        ...     "hinge": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0]}, "rigid": {"mass": 2.0}}]}
        >>> run = bough.simulate(cart, stop=1.0, inputs={"rail.f": 4.0}, step=0.5)
        >>> run["rail.s"].round(9)
        array([0.  , 0.25, 1.  ])
    """
    system = model if isinstance(model, System) else System(model)
    start = _number("start", start)
    times = _output_times(start, _number("stop", stop), None if step is None else _number("step", step))
    spacing = float(times[1] - times[0]) if times.size > 1 else 0.0
    _check_options(method, rtol, atol, solver_step)
    fixed = solver_step if solver_step is not None else (spacing if method == "rk4" else 0.0)
    absolute = ATOL_FACTOR * rtol if atol is None else atol
    signals = _signals(system, inputs or {}, times)
    q, u = _start_state(system, initial)
    recorder = _Recorder(system, times, signals)
    sim = _kernel.KernelSim(system._data, len(system.block.loads), method, rtol, absolute, fixed, 0.0)
    sim.set_input(recorder.fill if signals else None)
    pulse = Pulse(start, float(times[-1]), progress)
    began = clock.perf_counter()
    done = 0
    failure: SimulationError | None = None
    stopped: KeyboardInterrupt | None = None
    try:
        sim.start(start, q, u, float(times[-1]))
        for done, t in enumerate(times):  # noqa: B007  (done counts what has been recorded)
            sim.advance(float(t))
            recorder.record(done, sim.q, sim.u)
            pulse.beat(sim.time, lambda: sim.counts[0])
        done += 1
        pulse.tell(float(times[-1]))
    except KeyboardInterrupt as error:
        stopped = error
    except _kernel.KernelError as error:
        if isinstance(sim.failure, KeyboardInterrupt):
            stopped = sim.failure
        else:
            failure = _failure(system, sim, error)
    except SimulationError as error:
        failure = error
    steps, rejected, evaluations = sim.counts
    statistics = {
        "steps": float(steps),
        "rejected": float(rejected),
        "evaluations": float(evaluations),
        "seconds": clock.perf_counter() - began,
    }
    result = recorder.result(done, statistics)
    if stopped is not None:
        raise Interrupted(result) if done else stopped
    if failure is not None:
        failure.result = result
        raise failure
    return result


def _failure(system: System, sim: _kernel.KernelSim, error: _kernel.KernelError) -> SimulationError:
    if sim.failure is not None:
        if not isinstance(sim.failure, Exception):
            raise sim.failure
        return _input_failure(error.time, sim.failure)
    return system.failure(error, error.time)


def _input_failure(t: float, error: Exception) -> SimulationError:
    return SimulationError(f"an input function failed at t = {t:.9g} s: {error!r}")


def _number(name: str, value: float) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: expected a number, found {value!r}") from None


def _check_options(method: str, rtol: float, atol: float | None, solver_step: float | None) -> None:
    if method not in _kernel.METHODS:
        known = tuple(_kernel.METHODS)
        expected = f"method: expected one of {', '.join(known)}, found {method!r}"
        raise ArgumentError(f"{expected}{did_you_mean(str(method), known)}")
    if not 0.0 < _number("rtol", rtol) < 1.0:
        raise ArgumentError(f"rtol: expected a number between 0 and 1, found {rtol}")
    if atol is not None and not 0.0 < _number("atol", atol) < np.inf:
        raise ArgumentError(f"atol: expected a positive number, found {atol}")
    if solver_step is not None and not 0.0 < _number("solver_step", solver_step) < np.inf:
        raise ArgumentError(f"solver_step: expected a positive number of seconds, found {solver_step}")


def _start_state(system: System, initial: tuple[ArrayLike, ArrayLike] | None) -> tuple[Array, Array]:
    if initial is None:
        return system.initial_state()
    try:
        q, u = (np.array(x, dtype=np.float64) for x in initial)
    except (TypeError, ValueError):
        raise ArgumentError(f"initial: expected a pair of arrays (q, u), found {initial!r}") from None
    if q.shape != (system.nq,) or u.shape != (system.nu,):
        raise ArgumentError(f"initial: expected shapes ({system.nq},) and ({system.nu},), found {q.shape}, {u.shape}")
    return q, u


def _output_times(start: float, stop: float, step: float | None) -> Array:
    if not (np.isfinite(start) and np.isfinite(stop) and stop >= start):
        raise ArgumentError(f"stop: expected finite times, s, with stop >= start = {start}, found {stop}")
    if step is None:
        even = np.linspace(start, stop, 1001, dtype=np.float64) if stop > start else np.array([start])
        return short_times(even, max(decimals(start), decimals(stop)) + 3)
    if not 0.0 < step < np.inf:
        raise ArgumentError(f"step: expected a positive number of seconds, found {step}")
    count = int(np.floor((stop - start) / step * (1 + 1e-12) + 1e-9))
    times: Array = start + step * np.arange(count + 1, dtype=np.float64)
    if stop - times[-1] > 1e-9 * step:
        times = np.append(times, stop)
    else:
        times[-1] = stop
    return short_times(times, max(decimals(start), decimals(step)))


# ---- inputs


def setting_hint(model: Model, name: str) -> str:
    """What to do in the model file so that a load or a mass of this name can be set; empty for another name."""
    owner, _, key = name.partition("[")[0].rpartition(".")
    bodies = {body.name: body for body in model.bodies}
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


def _other_hint(system: System, name: str) -> str:
    """Where a state or a parameter can be set, since it is no input; empty for another name."""
    if name in system.q_names or name in system.u_names:
        return "it is a state: hand over its start value by initial=(q, u)"
    owner, _, key = name.partition("[")[0].rpartition(".")
    owners = {body.name for body in system.model.bodies} | {body.hinge.name for body in system.model.bodies}
    if (owner in owners and key in _PARAMETERS) or key == "gravity":
        return "it is a parameter: change it in the model, or run with bough.sweeping.run_set"
    return ""


def _no_input(system: System, name: str, known: Sequence[str]) -> ArgumentError:
    """Why a name cannot be an input, with the cure."""
    hint = setting_hint(system.model, name) or _other_hint(system, name)
    if hint:
        return ArgumentError(f"inputs: {name!r} is not an input of {system.model.name}; {hint}")
    told = f"there is no input {name!r}; inputs are: {listed(known)}{did_you_mean(name, known)}"
    return ArgumentError(f"inputs: {told}")


def _signals(system: System, inputs: Mapping[str, Input], times: Array) -> list[_Signal]:
    known = {v.name: v for v in system.variables if v.causality == "input"}
    signals = []
    for name, value in inputs.items():
        if name not in known:
            raise _no_input(system, name, list(known))
        signals.append(_signal(known[name], value, times))
    return signals


def _signal(variable: Variable, value: Input, times: Array) -> _Signal:
    where = f"inputs[{variable.name!r}]"
    if callable(value):
        return _Signal(variable, value, False)
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
        return _Signal(variable, lambda _: number, True)
    if grid.ndim != 1 or series.shape != grid.shape or grid.size == 0:
        raise ArgumentError(f"{where}: expected {grid.shape} values, one per time, found shape {series.shape}")
    if not (np.all(np.isfinite(series)) and np.all(np.isfinite(grid)) and np.all(np.diff(grid) >= 0)):
        raise ArgumentError(f"{where}: expected finite values at times that do not go back")
    return _Signal(variable, lambda t: float(np.interp(t, grid, series)), False)


class _Recorder:
    """Evaluates every variable at the output times."""

    def __init__(self, system: System, times: Array, signals: list[_Signal]) -> None:
        self.system, self.signals, self.times = system, signals, times
        self.variables = system.variables
        nb, sensors, loads = len(system.model.bodies), len(system.model.outputs), len(system.block.loads)
        nu = system.nu
        self.tau, self.motion, self.loads = np.zeros(nu), np.zeros(nu), np.zeros((loads, 6))
        self.udot, self.force, self.reaction = np.zeros(nu), np.zeros(nu), np.zeros((nb, 6))
        self.nodes = system._node_index(system.model.outputs)
        sizes = {"q": system.nq, "u": nu, "udot": nu, "tau": nu, "motion": nu, "load": 6 * loads}
        sizes |= {
            "pose": 7 * sensors,
            "velocity": 6 * sensors,
            "acceleration": 6 * sensors,
            "reaction": 6 * nb,
        }
        # Memory is taken row by row as the run gets there.
        self.store = {kind: np.empty((times.size, size)) for kind, size in sizes.items()}

    def fill(self, t: float, tau: Array, motion: Array, loads: Array) -> None:
        """Inputs at time t, for the kernel."""
        targets = {"tau": tau, "motion": motion, "load": loads.reshape(-1)}
        for s in self.signals:
            targets[s.variable.kind][s.variable.index] = s.value(t)

    def record(self, i: int, q: Array, u: Array) -> None:
        """Evaluate everything at output time number i."""
        t = float(self.times[i])
        try:
            self.fill(t, self.tau, self.motion, self.loads)
        except Exception as error:  # the user's function may raise anything
            raise _input_failure(t, error) from None
        loads = self.loads if self.loads.size else None
        data = self.system._data
        try:
            data.forward(q, u, self.tau, self.motion, loads, self.udot, self.force, self.reaction)
        except _kernel.KernelError as error:
            raise self.system.failure(error, t) from None
        row = {
            "q": q,
            "u": u,
            "udot": self.udot,
            "tau": self.force,
            "motion": self.motion,
            "load": self.loads,
        }
        row["reaction"] = self.reaction
        if self.nodes.size:
            pose, velocity, acceleration = data.node_motion(q, u, self.udot, self.nodes)
            row |= {"pose": pose, "velocity": velocity, "acceleration": np.asarray(acceleration)}
        for kind, value in row.items():
            self.store[kind][i] = np.ravel(value)

    def result(self, count: int, statistics: Mapping[str, float]) -> Result:
        """The columns, by the names of the variable table."""
        columns = {v.name: self.store[v.kind][:count, v.index].copy() for v in self.variables}
        units = {v.name: v.unit for v in self.variables}
        return Result(self.times[:count], columns, units, self.system.model.name, statistics)
