"""Many runs of one model: over a grid of parameters, start values and inputs, by the names of its FMU.

Every worker thread has a kernel of its own; while a run computes, other threads go on, because calls into the kernel
release Python's lock. Which thread makes a run does not matter: each begins from the model's own parameters.
"""

from __future__ import annotations

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
from bough.mechanism.instance import Instance
from bough.mechanism.kernel import KernelData
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.resource import resource
from bough.mechanism.variable_table import FmuVariable, scalar_table
from bough.model import Model
from bough.run.outcomes import MEASURES, Outcome, Sweep, SweepInterrupted, grid, measure
from bough.run.result import Result
from bough.run.series_file import Series
from bough.run.signals import setting_hint
from bough.run.simulate import simulate

Array: TypeAlias = NDArray[np.float64]
__all__ = ["MEASURES", "Outcome", "Plan", "Sweep", "SweepInterrupted", "check_settings", "grid", "measure", "refusal",
           "run_set", "settable", "started", "sweep"]  # fmt: skip


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
    return f"there is no {name!r} that can be set" + (f"; {hint}" if hint else choices(name, known))


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
    bench, own = _Bench(system), system._data.copy()
    if all(bench.known[name].causality == "input" for name in settings):
        return plan.simulate(system, settings, progress=progress)
    try:
        return bench.simulate(settings, plan, progress)
    finally:
        system._data.take(own)


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
    known, instance = settable(system), _instance(system)
    for point in points:
        for name in point:
            if name not in known:
                raise SimulationError(refusal(system, name, list(known)))
            if name in series:
                raise SimulationError(f"{name} is given twice: as a series over time, and as a constant")
        instance.set_all(point)


def _instance(system: Mechanism) -> Instance:
    """The runtime of the FMU: it checks what is set, and says what a run starts from."""
    return Instance(resource(system, scalar_table(system), system.model.name), "sweep")


def started(system: Mechanism, settings: Mapping[str, float]) -> tuple[KernelData, Array, Array]:
    """Parameters of a run with values set, and its start state q, u.

    Raises:
        SimulationError: A setting is unknown or refused.
    """
    data = system._data.copy()
    return data, *_Bench(system).start(settings, data)


class _Bench:
    """A system of one thread, and the runtime that sets its parameters and start values."""

    def __init__(self, system: Mechanism) -> None:
        self.system, self.known, self.instance = system, settable(system), _instance(system)

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
            SimulationError: A setting is refused, or the run failed.
        """
        initial = self.start(settings, self.system._data)
        constant = {name: value for name, value in settings.items() if self.known[name].causality == "input"}
        return plan.simulate(self.system, constant, initial, progress)

    def start(self, settings: Mapping[str, float], data: KernelData) -> tuple[Array, Array]:
        """Hand parameters over; return the start state."""
        self.instance.reset()
        self.instance.set_all(settings)
        self.instance.enter_initialization()
        return self.instance.hand_over(data)
