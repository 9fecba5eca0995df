"""Many runs of one model: over a grid of parameters, start values and inputs, by the names of its FMU.

Every worker thread has a kernel of its own; while a run computes, other threads go on, because calls into the kernel
release Python's lock. Which thread makes a run does not matter: each begins from the model's own parameters.
"""

from __future__ import annotations

import math
import os
import queue
import threading
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError, choices
from bough.files.interrupts import noted
from bough.mechanism import kernel, kernel_run
from bough.mechanism.fields import Kind
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.variable_table import PARAMETER_ARRAYS, FmuVariable, scalar_table
from bough.model import Model
from bough.run.outcomes import MEASURES, Outcome, Sweep, SweepInterrupted, grid, measure
from bough.run.result import Result
from bough.run.series_file import Series
from bough.run.signals import setting_hint
from bough.run.simulate import simulate

Array: TypeAlias = NDArray[np.float64]
__all__ = ["MEASURES", "Outcome", "Plan", "Sweep", "SweepInterrupted", "check_settings", "grid", "measure", "refusal",
           "run_set", "settable", "sweep"]  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """What every run of a sweep has in common.

    Attributes:
        stop: End, s.
        step: Distance of rows, s; a thousandth of the run if None.
        inputs: Inputs over time, by name.
        method: As `bough.simulate` names it.
        rtol: Relative tolerance.
        atol: Absolute tolerance; each coordinate is measured by its own motion if None.
        max_step: Longest step of the solver, s; no bound if None.
    """

    stop: float
    step: float | None = None
    inputs: Mapping[str, Series] = field(default_factory=dict)
    method: str = "dopri5"
    rtol: float = 1e-6
    atol: float | None = None
    max_step: float | None = None

    def simulate(
        self,
        system: Mechanism,
        constant: Mapping[str, float],
        initial: tuple[Array, Array] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Result:
        """One run of a system, with constant inputs besides those over time."""
        return simulate(
            system, self.stop, {**self.inputs, **constant}, self.step,
            method=self.method, rtol=self.rtol, atol=self.atol, max_step=self.max_step, initial=initial,
            progress=progress,
        )  # fmt: skip


def settable(system: Mechanism) -> dict[str, FmuVariable]:
    """What a run can be given, by name: tunable parameters, start values of states, inputs."""
    return {
        v.name: v
        for v in scalar_table(system)
        if v.state or v.causality == "input" or (v.causality == "parameter" and v.variability == "tunable")
    }


def refusal(system: Mechanism, name: str, known: Sequence[str]) -> str:
    """Why a name cannot be set, with the cure."""
    hint = setting_hint(system.model, name)
    if name.startswith("solver."):
        hint = "the solver of a run is chosen by its method, step and rtol"
    return f"there is no {name!r} to be set" + (f"; {hint}" if hint else choices(name, known))


def run_set(
    model: Model | Mechanism | str | os.PathLike[str] | Mapping[str, Any],
    settings: Mapping[str, float],
    plan: Plan,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """One run with some values set; a Mechanism is left as it was.

    Args:
        model: A model, or what `bough.load` takes, or a Mechanism.
        settings: Tunable parameters, start values of states and constant inputs, by the names of the FMU.
        plan: Times, inputs over time, and method.
        progress: Called now and then with the fraction done.

    Raises:
        ModelError: The model is wrong.
        SimulationError: A setting is unknown or not allowed, or the run failed.
    """
    system = model if isinstance(model, Mechanism) else Mechanism(model)
    check_settings(system, [settings], plan.inputs)
    bench = _Bench(system)
    if all(bench.known[name].causality == "input" for name in settings):
        return plan.simulate(system, settings, progress=progress)
    try:
        return bench.simulate(settings, plan, progress)
    finally:
        bench.reset()


def sweep(
    model: Model | str | os.PathLike[str] | Mapping[str, Any],
    points: Sequence[Mapping[str, float]],
    plan: Plan,
    *,
    names: Sequence[str] | None = None,
    jobs: int | None = None,
    keep: Callable[[int, Result], None] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Sweep:
    """Run a model at every point.

    Args:
        model: A model, or what `bough.load` takes.
        points: Settings of each run, by the names of the FMU; see `grid`.
        plan: What all runs have in common.
        names: Variables whose measures are kept; all by default.
        jobs: Threads; as many as there are processors by default.
        keep: Called with the number and the whole result of each run, also of those that failed on their way; from
            the threads, one at a time.
        progress: Called with the fraction done.

    Returns:
        The outcomes, in the order of the points. Runs that fail do not end the sweep.

    Raises:
        ModelError: The model is wrong.
        SimulationError: A setting is unknown or not allowed.
        SweepInterrupted: The user has stopped it; `sweep` has the runs that had ended.
    """
    first = Mechanism(model)
    check_settings(first, points, plan.inputs)
    kept = tuple(v.name for v in first.variables) if names is None else tuple(names)
    workers = max(1, min(jobs or os.cpu_count() or 1, len(points)))
    benches: queue.SimpleQueue[_Bench] = queue.SimpleQueue()
    for system in [first, *(Mechanism(first.model) for _ in range(workers - 1))]:
        benches.put(_Bench(system))
    lock, ending, outcomes = threading.Lock(), threading.Event(), dict[int, Outcome]()

    def go_on(_: float) -> None:
        if ending.is_set():
            raise KeyboardInterrupt

    def work(job: tuple[int, Mapping[str, float]]) -> None:
        number, settings = job
        if ending.is_set():
            return
        bench = benches.get()
        try:
            result, error = bench.run(settings, plan, go_on)
        except KeyboardInterrupt:
            return
        finally:
            benches.put(bench)
        measures = np.full((len(kept), len(MEASURES)), np.nan) if error or result is None else measure(result, kept)
        with lock:
            if keep is not None and result is not None and len(result):
                keep(number, result)
            if progress is not None:
                progress((len(outcomes) + 1) / len(points))
            outcomes[number] = Outcome(number, dict(settings), measures, error)

    with noted(ending.set), ThreadPoolExecutor(workers, thread_name_prefix="sweep") as pool:
        try:
            for job in [pool.submit(work, job) for job in enumerate(points, 1)]:
                job.result()
        except BaseException:  # no run ends a sweep, but a result that cannot be kept does
            ending.set()
            raise
    units = {v.name: v.unit for v in settable(first).values()} | {v.name: v.unit for v in first.variables}
    done = Sweep(kept, tuple(outcomes[number] for number in sorted(outcomes)), units)
    if len(outcomes) < len(points):
        raise SweepInterrupted(done, len(points))
    return done


def check_settings(system: Mechanism, points: Sequence[Mapping[str, float]], series: Container[str] = ()) -> None:
    """Refuse settings that no run can have.

    Args:
        system: The model.
        points: Settings of each run.
        series: Names of inputs that are given over time.

    Raises:
        SimulationError: A name is unknown or given twice, or a value is not allowed.
    """
    known = settable(system)
    for point in points:
        for name, value in point.items():
            v = known.get(name)
            if v is None:
                raise SimulationError(refusal(system, name, list(known)))
            if name in series:
                raise SimulationError(f"{name} is given twice: as a series over time, and as a constant")
            if not math.isfinite(value) or (v.minimum is not None and value < v.minimum):
                least = "" if v.minimum is None else f", {v.minimum:g} or more"
                raise SimulationError(f"{name}: expected a finite number{least}, found {value!r}")
            if v.type == "Boolean" and value not in (0.0, 1.0):
                raise SimulationError(f"{name}: expected 0 or 1, found {value!r}")


class _Bench:
    """A system of one thread, and its parameters as the model file has them."""

    def __init__(self, system: Mechanism) -> None:
        self.system, self.known = system, settable(system)
        nu, nb = system.nu, len(system.model.bodies)
        sizes = {kernel.GRAVITY: 3, kernel.MODAL_DAMPING_SCALE: nb}
        self.arrays = {which: system._data.get(which, sizes.get(which, nu)) for which in PARAMETER_ARRAYS.values()}
        self.rigid = np.zeros(10 * nb)
        for v in self.known.values():
            if v.kind == Kind.RIGID:
                self.rigid[v.index] = v.start[0]
        self.tunable = sorted({v.index // 10 for v in self.known.values() if v.kind == Kind.RIGID})

    def run(
        self, settings: Mapping[str, float], plan: Plan, progress: Callable[[float], None]
    ) -> tuple[Result | None, str]:
        """The result, as far as it got, and what went wrong."""
        try:
            return self.simulate(settings, plan, progress), ""
        except SimulationError as error:
            return error.result, str(error)

    def simulate(
        self, settings: Mapping[str, float], plan: Plan, progress: Callable[[float], None] | None = None
    ) -> Result:
        """The result.

        Raises:
            SimulationError: The kernel refuses a setting, or the run failed.
        """
        try:
            initial = self._set(settings)
        except kernel.KernelError as error:
            raise self.system.failure(error) from None
        constant = {name: value for name, value in settings.items() if self.known[name].causality == "input"}
        return plan.simulate(self.system, constant, initial, progress)

    def reset(self) -> None:
        """The parameters of the model file."""
        self._set({})

    def _set(self, settings: Mapping[str, float]) -> tuple[Array, Array]:
        """Hand parameters to the kernel; return the start state."""
        arrays = {which: values.copy() for which, values in self.arrays.items()}
        rigid, held = self.rigid.copy(), self.system._held.astype(np.float64)
        q, u = self.system.initial_state()
        model = self.system._kernel_model
        for name, value in settings.items():
            v = self.known[name]
            if v.kind in PARAMETER_ARRAYS:
                arrays[PARAMETER_ARRAYS[v.kind]][v.index] = value
            elif v.kind == Kind.RIGID:
                rigid[v.index] = value
            elif v.kind == Kind.LOCKED:
                held[kernel_run.hinge(model, v.index)[1]] = value
            elif v.state:
                (q if v.kind == Kind.Q else u)[v.index] = value
        u[(held != 0.0) & ~self.system._held] = 0.0  # a locked hinge does not move
        self._normalize(q)
        data = self.system._data
        for which, values in arrays.items():
            data.set(which, values)
        data.set(kernel.HELD, held)
        for body in self.tunable:
            kernel_run.set_rigid(data, body, rigid[10 * body : 10 * body + 10])
        return q, u

    def _normalize(self, q: Array) -> None:
        """Quaternions of unit length."""
        at = 0
        for body in self.system.model.bodies:
            nq = body.hinge.kind.nq
            if body.hinge.kind.quaternion and not q[at + nq - 4 : at + nq].any():
                raise SimulationError(f"the quaternion '{body.hinge.name}.Q' is zero")
            at += nq + body.mode_count
        kernel_run.normalize(self.system._kernel_model, q)
