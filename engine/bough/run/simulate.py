"""Simulation: inputs, output times, and the run in the kernel."""

from __future__ import annotations

import os
import time as clock
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ArgumentError, SimulationError, TheoryWarning, ToleranceWarning, did_you_mean, listed
from bough.mechanism import kernel, kernel_calls, kernel_sim
from bough.mechanism.kernel_watch import new_warnings, watch
from bough.mechanism.mechanism import Mechanism
from bough.model import Model
from bough.run.pulse import Pulse
from bough.run.result import Interrupted, Result, decimals, short_times
from bough.run.signals import Input, Schedule

Array: TypeAlias = NDArray[np.float64]
MOST_ROWS = 10_000_000
"""Output times of a run: more would fill the memory before the run begins."""
NEAR = 100.0
"""A coordinate that never gets this many absolute tolerances away from its start value is reported."""
_MOST_STEPS = 1e10
"""Fixed steps of a run; more would take hours for the smallest model."""


def simulate(
    model: Model | Mechanism | str | os.PathLike[str] | Mapping[str, Any],
    stop: float,
    inputs: Mapping[str, Input] | None = None,
    step: float | None = None,
    *,
    start: float = 0.0,
    method: str = "dopri5",
    rtol: float = 1e-6,
    atol: float | None = None,
    solver_step: float | None = None,
    max_step: float | None = None,
    initial: tuple[ArrayLike, ArrayLike] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Simulate a model.

    Args:
        model: A model, or what `bough.load` takes, or a Mechanism.
        stop: End time, s.
        inputs: By FMU name, such as `shoulder.tau` or `upper.tip.force[1]`: a number, a series with one value per
            output time, a pair (times, values) that is linear between and constant outside (two equal times make a
            jump), a function of time, or a function of time and state, which sees the state of every stage of the
            solver: `lambda t, state: -0.3 * state["shoulder.w"]`. Steps end where a series jumps or bends.
        step: Distance of output times, s; a thousandth of the run if not given.
        start: Start time, s.
        method: `dopri5` (adaptive, order 5, dense output), `rk4` (fixed step), `rosenbrock2` (linearly implicit,
            order 2, for stiff modes; fixed step if `solver_step` is given, else adaptive), `radau5` (implicit, order 5,
            adaptive, dense output, for stiff modes), or `auto` (dopri5 or radau5, whichever goes faster).
        rtol: Relative tolerance of the adaptive methods.
        atol: Absolute tolerance of positions, rad, m or modal; that of speeds, per second, is a hundred times as much.
            If not given, the error of each coordinate is measured against the size of its own motion since the start,
            so that small motions have as many digits as large ones.
        solver_step: Step of the fixed-step methods, s (default: `step`); first step of dopri5.
        max_step: Longest step of the solver, s. Where an input is a function of time the default is `step`, so that
            nothing that lasts as long as a row is stepped over; otherwise there is no bound.
        initial: q and u to start from, instead of the model's own.
        progress: Called about ten times a second with the fraction done.

    Returns:
        Time and every variable.

    Warns:
        ProgressWarning: The run is so slow that it will hardly end.
        TheoryWarning: A flexible body leaves the limits of its modes; once per body and limit, with number and cure.

    Raises:
        ArgumentError: An argument is wrong; the message names it.
        SimulationError: The run failed; `error.result` holds what was computed until then.
        Interrupted: The user has stopped it (a `KeyboardInterrupt`); `result` holds what was computed until then.

    Warns:
        ToleranceWarning: `atol` was given, and the motion of a coordinate is not much larger.

    Example:
        >>> import bough
        >>> cart = {"bough": 1, "name": "cart", "bodies": [{"name": "box", "parent": "ground",
        ...     "hinge": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0]}, "rigid": {"mass": 2.0}}]}
        >>> run = bough.simulate(cart, stop=1.0, inputs={"rail.f": 4.0}, step=0.5)
        >>> run["rail.s"].round(9)
        array([0.  , 0.25, 1.  ])
    """
    system = model if isinstance(model, Mechanism) else Mechanism(model)
    start = _number("start", start)
    times = _output_times(start, _number("stop", stop), None if step is None else _number("step", step))
    spacing = float(times[1] - times[0]) if times.size > 1 else 0.0
    _check_options(method, rtol, atol, solver_step, max_step, float(times[-1] - start))
    fixed = solver_step if solver_step is not None else (spacing if method == "rk4" else 0.0)
    schedule = Schedule(system, inputs or {}, times)
    longest = max_step if max_step is not None else spacing if schedule.functions else 0.0
    q, u = _start_state(system, initial)
    recorder = _Recorder(system, times, schedule)
    sim = kernel_sim.KernelSim(recorder.data, schedule.loads, method, rtol, atol or 0.0, fixed, longest)
    pulse = Pulse(start, float(times[-1]), progress)
    sim.paused = lambda: pulse.beat(sim.time, lambda: sim.counts[0])
    began = clock.perf_counter()
    done = 0
    failure: SimulationError | None = None
    stopped: KeyboardInterrupt | None = None
    try:
        sim.start(start, q, u)
        recorder.warn(3)
        if schedule.functions:
            walk = _Walk(sim, schedule, longest)
            for t in times:
                walk.to(float(t))
                recorder.record(done, sim.q, sim.u)
                recorder.warn(3)
                done += 1
                pulse.beat(sim.time, lambda: sim.counts[0])
        else:

            def told(count: int) -> None:
                nonlocal done
                done = count
                recorder.warn(5)
                pulse.beat(sim.time, lambda: sim.counts[0])

            sim.record(times, schedule.linear, recorder.nodes, recorder.store, told)
        pulse.tell(float(times[-1]))
    except KeyboardInterrupt as error:
        stopped = error
    except kernel.KernelError as error:
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
    recorder.warn(3)
    result = recorder.result(done, statistics)
    if stopped is not None:
        raise Interrupted(result) if done else stopped
    if failure is not None:
        failure.result = result
        raise failure
    if atol is not None and method != "rk4":
        _warn_of_tolerance(system, sim)
    return result


class _Walk:
    """The way of an integrator through its inputs: a step ends wherever one of them jumps or bends."""

    def __init__(self, sim: kernel_sim.KernelSim, schedule: Schedule, longest: float) -> None:
        self.sim, self.schedule, self.longest, self.number = sim, schedule, longest, -1
        self.now, self.before = float(schedule.knots[0]), np.inf
        if schedule.functions:
            sim.set_input(self._fill)
        self._next()

    def _next(self) -> None:
        self.number += 1
        knots = self.schedule.knots
        self.end = float(knots[min(self.number + 1, knots.size - 1)])
        self.sim.set_inputs(float(knots[self.number]), self.schedule.piece(self.number))
        self.sim.set_stop(self.end)

    def _fill(self, t: float, q: Array, u: Array, tau: Array, motion: Array, loads: Array) -> None:
        self.schedule.fill(min(t, self.before), q, u, tau, motion, loads)

    def to(self, t: float) -> None:
        """Go to time t, s."""
        while self.end < t:
            self._smoothly(self.end)
            self._next()
        self._smoothly(t)

    def _smoothly(self, t: float) -> None:
        """Go to time t; functions may jump on the way, tables do not."""
        if self.schedule.functions:
            for before, after in self._jumps(t):
                self._stop_at(before, after)
        self.sim.advance(t)
        self.now = t

    def _jumps(self, t: float) -> list[tuple[float, float]]:
        """Jumps of functions on the way to t, looked for from one longest step to the next."""
        parts = np.linspace(self.now, t, max(2, 1 + int(np.ceil((t - self.now) / self.longest * (1 - 1e-9)))))
        try:
            return [
                jump for low, high in zip(parts, parts[1:], strict=False) for jump in self.schedule.jumps(low, high)
            ]
        except Exception:  # the user's function may raise anything; it will again when the integrator gets there
            return []

    def _stop_at(self, before: float, after: float) -> None:
        """End a step at a jump, seen from the time before; go on with what comes after."""
        self.before = before
        self.sim.set_stop(after)
        self.sim.advance(after)
        self.before = np.inf
        self.sim.disturb()
        self.sim.set_stop(self.end)


def _warn_of_tolerance(system: Mechanism, sim: kernel_sim.KernelSim) -> None:
    """Tell which coordinates hardly moved, by the measure of the absolute tolerance."""
    size, floors = sim.excursion
    names = [*system.q_names, *system.u_names]
    near = [name for name, s, floor in zip(names, size, floors, strict=True) if 0.0 < s < NEAR * floor]
    if near:
        one = names.index(near[0])
        told = f"{near[0]} moves by {size[one]:.3g}, less than {NEAR:g} times its absolute tolerance {floors[one]:.3g}"
        more = "" if len(near) == 1 else f"; so do {listed(near[1:])}"
        cure = "its digits mean little: choose a smaller atol, or none, which judges each coordinate by its own motion"
        warnings.warn(f"{told}{more}; {cure}", ToleranceWarning, stacklevel=3)


def _failure(system: Mechanism, sim: kernel_sim.KernelSim, error: kernel.KernelError) -> SimulationError:
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


def _check_options(
    method: str, rtol: float, atol: float | None, solver_step: float | None, max_step: float | None, span: float
) -> None:
    if method not in kernel_sim.METHODS:
        known = tuple(kernel_sim.METHODS)
        expected = f"method: expected one of {', '.join(known)}, found {method!r}"
        raise ArgumentError(f"{expected}{did_you_mean(str(method), known)}")
    if not 0.0 < _number("rtol", rtol) < 1.0:
        raise ArgumentError(f"rtol: expected a number between 0 and 1, found {rtol}")
    if atol is not None and not 0.0 < _number("atol", atol) < np.inf:
        raise ArgumentError(f"atol: expected a positive number, found {atol}")
    for name, value in (("solver_step", solver_step), ("max_step", max_step)):
        if value is not None and not 0.0 < _number(name, value) < np.inf:
            raise ArgumentError(f"{name}: expected a positive number of seconds, found {value}")
        if value is not None and span / value > _MOST_STEPS:
            count = f"that makes {span / value:.3g} steps; at most {_MOST_STEPS:.0e} are made"
            raise ArgumentError(f"{name}: expected {span / _MOST_STEPS:.3g} s or more, found {value}: {count}")


def _start_state(system: Mechanism, initial: tuple[ArrayLike, ArrayLike] | None) -> tuple[Array, Array]:
    if initial is None:
        return system.initial_state()
    try:
        q, u = (np.array(x, dtype=np.float64) for x in initial)
    except (TypeError, ValueError):
        raise ArgumentError(f"initial: expected a pair of arrays (q, u), found {initial!r}") from None
    if q.shape != (system.nq,) or u.shape != (system.nu,):
        raise ArgumentError(f"initial: expected shapes ({system.nq},) and ({system.nu},), found {q.shape}, {u.shape}")
    if np.all(np.isfinite(q)) and np.all(np.isfinite(u)):  # the kernel names what is not
        system.refuse_open(q, u)
    return q, u


def _output_times(start: float, stop: float, step: float | None) -> Array:
    if not (np.isfinite(start) and np.isfinite(stop) and stop >= start):
        raise ArgumentError(f"stop: expected finite times, s, with stop >= start = {start}, found {stop}")
    if step is None:
        even = np.linspace(start, stop, 1001, dtype=np.float64) if stop > start else np.array([start])
        return short_times(even, max(decimals(start), decimals(stop)) + 3)
    if not 0.0 < step < np.inf:
        raise ArgumentError(f"step: expected a positive number of seconds, found {step}")
    rows = (stop - start) / step
    if not rows < MOST_ROWS or (stop > start and (start + step == start or stop - step == stop)):
        cure = f"take a longer one, so that there are at most {MOST_ROWS} rows and no two of them at one time"
        raise ArgumentError(f"step: {step:g} s divides the run from {start:g} s to {stop:g} s too finely; {cure}")
    count = int(np.floor(rows * (1 + 1e-12) + 1e-9))
    times: Array = start + step * np.arange(count + 1, dtype=np.float64)
    if (count == 0 and stop > start) or stop - times[-1] > 1e-9 * step:
        times = np.append(times, stop)
    else:
        times[-1] = stop
    return short_times(times, max(decimals(start), decimals(step)))


class _Recorder:
    """Evaluates every variable at the output times."""

    def __init__(self, system: Mechanism, times: Array, schedule: Schedule) -> None:
        self.system, self.schedule, self.times = system, schedule, times
        self.data = system._data.copy()  # of this run alone: its inputs may ask the system meanwhile
        self.variables = system.variables
        self.labels = [body.label for body in system.model.bodies]
        nb, sensors, loads = len(system.model.bodies), len(system.model.outputs), len(system.block.loads)
        nu = system.nu
        self.tau, self.motion, self.loads = np.zeros(nu), np.zeros(nu), np.zeros((loads, 6))
        self.nodes = system._node_index(system.model.outputs)
        drives = self.data.model.drives
        self.computed: tuple[str, ...] = (
            *("udot", "force", "reaction", "pose", "velocity", "acceleration"),
            *("closure", "coupling", "element"),
        )
        self.computed += ("local",) * bool(system.model.local) + ("deflection",) * bool(system.model.deflections)
        if drives:
            self.computed += kernel_calls.DRIVE_VALUES
        sizes = {"q": system.nq, "u": nu, "udot": nu, "force": nu, "motion": nu, "loads": 6 * loads}
        sizes |= {
            "pose": 7 * sensors,
            "velocity": 6 * sensors,
            "acceleration": 6 * sensors,
            "reaction": 6 * nb,
            "closure": 6 * len(system.model.loops),
            "coupling": len(system.model.couplings),
            "element": self.data.model.element_values,
            "local": 9 * sensors if system.model.local else 0,
            "deflection": 6 * sensors if system.model.deflections else 0,
        }
        sizes |= dict.fromkeys(kernel_calls.DRIVE_VALUES if drives else (), drives)
        # Memory is taken row by row as the run gets there.
        self.store = {kind: np.empty((times.size, size)) for kind, size in sizes.items()}

    def record(self, i: int, q: Array, u: Array) -> None:
        """Evaluate everything at output time number i."""
        t = float(self.times[i])
        try:
            self.schedule.at(t, q, u, self.tau, self.motion, self.loads)
            self.schedule.ask_again(t, q, u, self.tau, self.motion, self.loads)
        except SimulationError:
            raise
        except Exception as error:  # the user's function may raise anything
            raise _input_failure(t, error) from None
        at = {"q": q, "u": u, "tau": self.tau, "motion": self.motion, "loads": self.loads}
        try:
            self.data.evaluate(at, {name: self.store[name][i] for name in self.computed}, self.nodes)
        except kernel.KernelError as error:
            raise self.system.failure(error, t) from None
        watch(self.data, t, reaction=self.store["reaction"][i])
        for kind, value in (("q", q), ("u", u), ("motion", self.motion), ("loads", self.loads)):
            self.store[kind][i] = np.ravel(value)

    def warn(self, depth: int) -> None:
        """Tell what has been passed since the last call, nearly always nothing, as of the caller's caller."""
        for text in new_warnings(self.data, self.labels):
            warnings.warn(text, TheoryWarning, stacklevel=depth)

    def _applied(self, count: int) -> Array:
        """Forces applied at the hinges in the first rows."""
        out = np.zeros((count, self.system.nu))
        for i in range(count):
            q, u = self.store["q"][i], self.store["u"][i]
            self.schedule.at(float(self.times[i]), q, u, self.tau, self.motion, self.loads)
            out[i] = self.tau
        return out

    def result(self, count: int, statistics: Mapping[str, float]) -> Result:
        """The columns, by the names of the variable table."""
        shown = {"tau": "force"}
        columns = {v.name: self.store[shown.get(v.kind, v.kind)][:count, v.index].copy() for v in self.variables}
        held = self.data.get(kernel.HELD, self.system.nu) != 0.0
        locked = [v for v in self.variables if v.kind == "tau" and held[v.index]]
        if locked:  # what is applied, as in an FMU; what holds the hinge is in its reaction
            applied = self._applied(count)
            columns |= {v.name: applied[:, v.index].copy() for v in locked}
        units = {v.name: v.unit for v in self.variables}
        return Result(self.times[:count], columns, units, self.system.model.name, statistics)
