"""The run of coupled FMUs: instances, initialization, steps, rows."""

from __future__ import annotations

import re
import time as clock
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bough.coupling.assembly import Assembly, Port
from bough.coupling.exchange import Exchange
from bough.coupling.master import Coupling
from bough.coupling.outside import Signal, stops
from bough.coupling.slave import CALL_TIMEOUT, Channel, Failure, Slave
from bough.run.pace import Pacer
from bough.run.result import Interrupted, Result
from bough.text.problems import one_of

FEW = 3
"""So many warnings alike are told one by one."""
_NAMES = re.compile(
    r"(?<!\w)(?:[A-Za-z_]\w*(?:\.\w+)*(?:\[\d+\])+(?:\.\w+)*|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[-+]?\d[\w.+-]*)"
)
"""Names of variables, `motor.u[2]`, and numbers."""


@dataclass(frozen=True)
class How:
    """Options of a run.

    Attributes:
        every: Rows: every n-th communication point, and the last one.
        progress: Called with the fraction done.
        isolate: Whether FMUs run in processes of their own; None: all but those with bough's own code.
        call_timeout: Longest time of a call there, s; 0: none.
        rtol: Relative tolerance for the FMUs' solvers; None: their own.
        alone: What messages call the only FMU of a system, whose variables then go by their bare names.
        pace: Called after each communication point with its time, s, and before with `begin`: a run in real time.
        said: Gets what the components have warned of while the run went well, each once.
    """

    every: int = 1
    progress: Callable[[float], None] | None = None
    isolate: bool | None = None
    call_timeout: float = CALL_TIMEOUT
    rtol: float | None = None
    alone: str | None = None
    pace: Pacer | None = None
    said: list[str] = field(default_factory=list)


def folded(texts: Iterable[str]) -> list[str]:
    """Warnings with those in one that differ in names and numbers only, where there are more than three of them."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(_NAMES.sub("#", text), []).append(text)
    out = []
    for same in groups.values():
        if len(same) <= FEW:
            out += same
            continue
        named = [next(iter(_NAMES.findall(text)), "") for text in same[1:]]
        out.append(f"{same[0]} (and the same of {len(named)} more: {one_of(dict.fromkeys(named))})")
    return out


def announce(texts: Iterable[str], warn: Callable[[str], None] | None) -> None:
    """Give warnings to whom they are for, alike ones as one; None: to `warnings`, as of the caller's caller."""
    for text in folded(texts):
        if warn is None:
            warnings.warn(text, stacklevel=3)
        else:
            warn(text)


def simulate(
    assembly: Assembly, signals: Mapping[Port, Signal], points: Sequence[float], how: How, folder: Path
) -> Result:
    """Run a system.

    Args:
        assembly: The system.
        signals: Inputs from outside.
        points: Communication points from the start to the end, s.
        how: Options.
        folder: For the unpacked FMUs.

    Raises:
        Failure: A component failed; `result` has the rows until then.
        Interrupted: The user has stopped it; `result` has the rows until then.
    """
    run = _Run(assembly, how)
    try:
        for k, component in enumerate(assembly.components):
            slave = Slave(component, folder / f"run{k}", how.isolate, how.call_timeout, how.alone)
            run.slaves[component.name] = slave
        run.start(signals, points)
        if how.pace is not None:
            how.pace.begin(points[0])
        for i, parts in enumerate(stops(points, signals.values(), assembly), 1):
            run.advance(parts, i % how.every == 0 or i == len(points) - 1)
            if how.pace is not None:
                how.pace(points[i])
            if how.progress is not None:
                how.progress(i / (len(points) - 1))
        for slave in run.slaves.values():
            how.said.extend(slave.warned())
            slave.end()
    except Failure as failure:
        failure.result = run.result()
        raise
    except KeyboardInterrupt:
        result = run.result()
        if result is None:
            raise
        raise Interrupted(result) from None
    finally:
        for slave in run.slaves.values():
            slave.free()
    found = run.result()
    assert found is not None
    return found


class _Run:
    """A run on its way."""

    def __init__(self, assembly: Assembly, how: How) -> None:
        self._assembly, self._how = assembly, how
        self._began = clock.perf_counter()
        self._recorder: _Recorder | None = None
        self._coupling: Coupling | None = None
        self.slaves: dict[str, Slave] = {}

    def start(self, signals: Mapping[Port, Signal], points: Sequence[float]) -> None:
        """Initialize, and record the first row."""
        start = points[0]
        exchange = Exchange(self._assembly, self.slaves, signals)
        for slave in self.slaves.values():
            slave.enter_initialization(start, points[-1], self._how.rtol)
        exchange(start, at_start=True)
        for slave in self.slaves.values():
            slave.exit_initialization()
        exchange(start)
        self._recorder = _Recorder(self.slaves, bare=self._how.alone is not None)
        self._recorder.add(start)
        self._coupling = Coupling(self._assembly, self.slaves, exchange)

    def advance(self, parts: Sequence[float], row: bool) -> None:
        """Go on to some times, s; whether a row is recorded at the last one."""
        assert self._coupling is not None and self._recorder is not None
        for time in parts:
            self._coupling.step_to(time, self._assembly.master.step)
        if row:
            self._recorder.add(parts[-1])

    def result(self) -> Result | None:
        """The rows so far; None without any."""
        if self._recorder is None or not self._recorder.times:
            return None
        return self._recorder.result(self._assembly.name, self._statistics())

    def _statistics(self) -> dict[str, float]:
        out: dict[str, float] = {"seconds": clock.perf_counter() - self._began}
        if self._how.pace is not None:
            out |= self._how.pace.statistics()
        coupling = self._coupling
        if coupling is None or self._how.alone is not None:  # communication steps of one FMU are no news
            return out
        out |= {"steps": coupling.steps, "rejected": coupling.rejected}
        for port, taken, given in zip(coupling.meter.ports, coupling.meter.taken, coupling.meter.given, strict=True):
            link = self._assembly.links[port.effort]
            out[f"energy {link}"] = taken
            out[f"residual {link}"] = taken - given
        return out


class _Recorder:
    """Inputs and outputs of all components, row by row."""

    def __init__(self, slaves: Mapping[str, Slave], bare: bool) -> None:
        self.times: list[float] = []
        self._rows: list[list[float]] = []
        self._names: list[str] = []
        self._units: dict[str, str] = {}
        self._channels: list[tuple[Slave, Channel, list[str]]] = []
        for slave in slaves.values():
            shown = [
                v
                for v in slave.component.interface.named("output", "input")
                if v.kind in ("real", "integer", "boolean") and v.size
            ]
            names = []
            for v in shown:
                own = [v.name] if v.size == 1 else [f"{v.name}[{i + 1}]" for i in range(v.size)]
                full = own if bare else [f"{slave.name}.{name}" for name in own]
                self._units.update((name, v.unit or "") for name in full)
                names += full
            self._channels.append((slave, Channel(slave, shown), names))
            self._names += names

    def add(self, time: float) -> None:
        row: list[float] = []
        for slave, channel, names in self._channels:
            values = channel.get()
            bad = next((name for name, value in zip(names, values, strict=True) if value != value), None)
            if bad is not None:
                raise slave.failure(f"{bad} is nan")
            row += values
        self._rows.append(row)
        self.times.append(time)

    def result(self, name: str, statistics: Mapping[str, float]) -> Result:
        # Whoever interrupts may do so between a row and its time.
        rows: np.ndarray[Any, np.dtype[np.float64]] = np.array(self._rows[: len(self.times)], dtype=np.float64)
        columns = {name: rows[:, j] for j, name in enumerate(self._names)}
        return Result(np.array(self.times), columns, self._units, name, statistics)
