"""FMUs that need help to step: those for Model Exchange only get a solver, those with clocks get their ticks.

Both look like FMPy's slaves from outside. Like `loaded.py` this file imports nothing of bough: it runs in the process
of a foreign FMU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

NEAR = 1e-9
"""Times closer than this, in steps, are the same."""
INTERNAL_STEPS = 100_000
"""Steps of the solver within one communication step before it is given up."""
TOLERANCE = 1e-6
"""Relative tolerance of the solver, unless the run has one."""
UPDATES = 1000
"""Rounds of an event before it is given up: values that never settle."""


class _Held:
    """Inputs of the solver's own: they stay as they are during a step."""

    def apply(self, time: float, *_: Any, **__: Any) -> None:
        """Nothing to do."""


class Embedded:
    """An FMU for Model Exchange with a solver, CVODE of SUNDIALS as FMPy has it: between steps it is in event mode."""

    def __init__(self, fmu: Any, fmi: int, states: int, indicators: int, completed: bool) -> None:
        """Take an instance.

        Args:
            fmu: FMPy's FMU2Model or FMU3Model, instantiated.
            fmi: Version of the standard, 2 or 3.
            states: Number of continuous states.
            indicators: Number of event indicators.
            completed: Whether the FMU wants to hear of every step of the solver.
        """
        self._fmu, self._new = fmu, fmi == 3
        self._sizes, self._completed = (states, indicators), completed
        self._start, self._tolerance = 0.0, TOLERANCE
        self._next: float | None = None
        self._solver: Any = None

    def __getattr__(self, name: str) -> Any:
        """Everything else is the FMU's."""
        return getattr(self._fmu, name)

    def setupExperiment(self, tolerance: float | None, start: float, stop: float | None) -> None:  # noqa: N802
        """FMI 2: times of the run."""
        self._start, self._tolerance = start, tolerance or TOLERANCE
        self._fmu.setupExperiment(tolerance, start, stop)

    def enterInitializationMode(self, *arguments: Any) -> None:  # noqa: N802
        """FMI 3: with the times of the run."""
        if arguments:
            self._tolerance, self._start = arguments[0] or TOLERANCE, arguments[1]
        self._fmu.enterInitializationMode(*arguments)

    def exitInitializationMode(self) -> None:  # noqa: N802
        """End the initialization, with the events at the start."""
        from fmpy.sundials import CVodeSolver

        self._fmu.exitInitializationMode()
        self._update()
        self._solver = CVodeSolver(
            nx=self._sizes[0],
            nz=self._sizes[1],
            get_x=self._fmu.getContinuousStates,
            set_x=self._fmu.setContinuousStates,
            get_dx=self._fmu.getContinuousStateDerivatives if self._new else self._fmu.getDerivatives,
            get_z=self._fmu.getEventIndicators,
            get_nominals=self._fmu.getNominalsOfContinuousStates,
            set_time=self._fmu.setTime,
            input=_Held(),
            startTime=self._start,
            relativeTolerance=self._tolerance,
            maxNumSteps=INTERNAL_STEPS,
        )

    def doStep(self, time: float, size: float, *_: Any) -> Any:  # noqa: N802
        """Integrate over a communication step; events on the way are handled where they are."""
        end, near = time + size, NEAR * size
        self._update()  # inputs have been set in event mode
        self._fmu.enterContinuousTimeMode()
        self._solver.reset(time)
        while time < end - near:
            target = end if self._next is None or self._next >= end - near else max(self._next, time + near)
            state_event, _, time = self._solver.step(time, target)
            self._fmu.setTime(time)
            event = bool(state_event) or (self._next is not None and time >= self._next - near)
            if self._completed:
                wanted, ended = self._fmu.completedIntegratorStep()
                if ended:
                    raise RuntimeError(f"the FMU asked at t = {time:.9g} s for the simulation to end")
                event = event or bool(wanted)
            if event and time < end - near:
                self._fmu.enterEventMode()
                self._update()
                self._fmu.enterContinuousTimeMode()
                self._solver.reset(time)
        self._fmu.setTime(end)
        self._fmu.enterEventMode()
        self._update()
        return (False, False, False, end) if self._new else None

    def _update(self) -> None:
        update = self._fmu.updateDiscreteStates if self._new else self._fmu.newDiscreteStates
        self._next = settle(update)


def settle(update: Callable[[], Sequence[Any]]) -> float | None:
    """Go through an event until the discrete states stay; the time of the next event, if it is known."""
    for _ in range(UPDATES):
        again, ended, _, _, defined, time = update()
        if ended:
            raise RuntimeError("the FMU asked at an event for the simulation to end")
        if not again:
            return float(time) if defined else None
    raise RuntimeError(f"the discrete states do not settle: an event was gone through {UPDATES} times")


NOTHING: dict[str, Any] = {"String": "", "Binary": b"", "Boolean": False, "Float64": 0.0, "Float32": 0.0}
"""What a variable of an output clock is before the first tick; integers: 0."""


class Clocked:
    """An FMI 3 slave with clocks: steps end at ticks of periodic ones, and clocked variables are met there.

    Clocked inputs are kept until their clock ticks; clocked outputs show what they were at the last tick. Output clocks
    tick when the FMU says so, at events; before the first tick their variables are zero or empty.
    """

    def __init__(
        self,
        fmu: Any,
        clocks: Sequence[tuple[int, float, float]],
        clocked: Mapping[int, Any],
        sizes: Mapping[int, int] | None = None,
        triggers: Sequence[int] = (),
        silent: Sequence[Any] = (),
    ) -> None:
        """Take an instance.

        Args:
            fmu: FMPy's FMU3Slave, instantiated with event mode.
            clocks: Value reference, interval and shift, s, of each periodic clock.
            clocked: For clocked variables by value reference: type, whether it is an input, references of its clocks.
            sizes: Numbers of elements of arrays, by value reference.
            triggers: Value references of output clocks.
            silent: Input clocks that nothing ticks: the master has told of them.
        """
        self._triggers = list(triggers)
        self._sizes = dict(sizes or {})
        self._fmu, self._clocks, self._clocked = fmu, list(clocks), dict(clocked)
        self._ticks = [0] * len(clocks)
        self._start = 0.0
        self._next: float | None = None
        periodic = {reference for reference, _, _ in clocks}
        rare = {r: kind for r, (kind, is_input, own) in clocked.items() if not is_input and not periodic & set(own)}
        self._kept: dict[int, Any] = {r: NOTHING.get(kind, 0) for r, kind in rare.items()}

    def __getattr__(self, name: str) -> Any:
        """Values of clocked variables are kept here; everything else is the FMU's."""
        own = getattr(self._fmu, name)
        if name[:3] not in ("get", "set") or name[3:4].islower() or "Clock" in name or "State" in name:
            return own
        return (
            (lambda vr, *rest: self._get(own, vr, *rest))
            if name[:3] == "get"
            else (lambda vr, values: self._set(own, vr, values))
        )

    def _get(self, own: Callable[..., Any], vr: Sequence[int], *count: int) -> Any:
        if not any(r in self._clocked for r in vr):
            return own(vr, *count)
        plain = [r for r in vr if r not in self._kept]
        numbers = iter(own(plain, sum(self._sizes.get(r, 1) for r in plain)) if plain else ())
        out: list[Any] = []
        for r in vr:
            out += [self._kept[r]] if r in self._kept else [next(numbers) for _ in range(self._sizes.get(r, 1))]
        return out

    def _set(self, own: Callable[..., Any], vr: Sequence[int], values: Sequence[Any]) -> None:
        if not any(r in self._clocked for r in vr):
            own(vr, values)
            return
        numbers = iter(values)
        plain: list[int] = []
        rest: list[Any] = []
        for r in vr:
            given = [next(numbers) for _ in range(self._sizes.get(r, 1))]
            if r in self._clocked:
                self._kept[r] = given[0]
            else:
                plain.append(r)
                rest += given
        if plain:
            own(plain, rest)

    def enterInitializationMode(self, *arguments: Any) -> None:  # noqa: N802
        """With the times of the run."""
        self._start = arguments[1]
        self._fmu.enterInitializationMode(*arguments)

    def exitInitializationMode(self) -> None:  # noqa: N802
        """End the initialization, with the ticks at the start: the FMU is in event mode then."""
        self._fmu.exitInitializationMode()
        self._event(self._start, 0.0)
        self._fmu.enterStepMode()

    def doStep(self, time: float, size: float, keep: bool) -> Any:  # noqa: N802
        """A communication step, in parts that end at ticks and events."""
        end, near = time + size, NEAR * size
        while time < end - near:
            due = [t for t in (self._tick(k) for k in range(len(self._clocks))) if t > time + near]
            if self._next is not None and self._next > time + near:
                due.append(self._next)
            target = min([end, *due])
            target = end if target > end - near else target
            event, ended, early, last = self._fmu.doStep(time, target - time, keep)
            if ended:
                return False, True, False, last
            time = last if early else target
            if event or early or any(t <= time + near for t in (*due, *self._over(time, near))):
                self._fmu.enterEventMode()
                self._event(time, near)
                self._fmu.enterStepMode()
        return False, False, False, end

    def _tick(self, k: int) -> float:
        """When a clock ticks next: a multiple of its interval, never a sum."""
        _, interval, shift = self._clocks[k]
        return self._start + shift + self._ticks[k] * interval

    def _over(self, time: float, near: float) -> list[float]:
        return [t for k in range(len(self._clocks)) if (t := self._tick(k)) <= time + near]

    def _event(self, time: float, near: float) -> None:
        ticking = [k for k in range(len(self._clocks)) if self._tick(k) <= time + near]
        references = [self._clocks[k][0] for k in ticking]
        if references:
            self._fmu.setClock(references, [True] * len(references))
        for r, (kind, is_input, own) in self._clocked.items():
            if is_input and r in self._kept and set(own) & set(references):
                getattr(self._fmu, f"set{kind}")([r], [self._kept[r]])
        self._take(references)
        self._next = settle(self._update)
        for k in ticking:
            while self._tick(k) <= time + near:
                self._ticks[k] += 1

    def _update(self) -> Sequence[Any]:
        """What output clocks bring, before the update that ends their ticks."""
        if self._triggers:
            ticks = self._fmu.getClock(self._triggers)
            self._take([r for r, ticked in zip(self._triggers, ticks) if ticked])  # noqa: B905
        found: Sequence[Any] = self._fmu.updateDiscreteStates()
        return found

    def _take(self, ticking: Sequence[int]) -> None:
        """Outputs of clocks that tick."""
        for r, (kind, is_input, own) in self._clocked.items():
            if not is_input and set(own) & set(ticking):
                self._kept[r] = getattr(self._fmu, f"get{kind}")([r])[0]
