"""Runs a system: instances, initialization, steps, result."""

from __future__ import annotations

import os
import tempfile
import time as clock
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bough.errors import SimulationError
from bough.files import check_archives
from bough.result import Array, Interrupted, Result
from bough.systems.exchange import Exchange
from bough.systems.gather import gather
from bough.systems.master import Coupling, communication_points
from bough.systems.package import open_package
from bough.systems.recognize import MODELS
from bough.systems.settings import checked_master, split
from bough.systems.slave import Channel, Failure, Slave
from bough.systems.structure import Assembly, Port, Value
from bough.systems.warned import warnings_of

Signal: TypeAlias = float | tuple[Array, Array] | Callable[[float], float]
"""An input from outside: a number, times and values (linear between them), or a function of time."""


def run(
    source: str | os.PathLike[str] | Assembly,
    stop: float | None = None,
    step: float | None = None,
    order: str | None = None,
    *,
    extrapolation: str | None = None,
    tolerance: float | None = None,
    inputs: Mapping[str, Signal] | None = None,
    values: Mapping[str, Value] | None = None,
    every: int = 1,
    progress: Callable[[float], None] | None = None,
    warn: Callable[[str], None] | None = None,
) -> Result:
    """Run a system of FMUs. What is not given is as the package says.

    Args:
        source: An SSP package; a system file, which is coupled first; or what `open_system` has made of one.
        stop: End of the run, s.
        step: Communication step, s.
        order: 'jacobi' or 'gauss-seidel'.
        extrapolation: 'constant', 'linear' or 'energy'.
        tolerance: Relative error of a step; the steps are then chosen by step doubling, at most `step` long.
        inputs: Inputs that nothing is connected to, by `component.variable`.
        values: Parameters and start values that override those of the package.
        every: Rows of the result: every n-th communication point, and the last one.
        progress: Called with the fraction done.
        warn: Called with each warning, before the run begins; None: Python's `warnings`.

    Returns:
        Inputs and outputs of all components, `component.variable`, at the communication points. `statistics` has
        `steps`, `rejected`, `seconds`, and for each power port `energy LINK` and `residual LINK`, J.

    Raises:
        ModelError: The system file is wrong.
        SimulationError: The package cannot be read, an option does not fit, or a component failed; then `result`
            has what was computed until then.
        Interrupted: The user has stopped it; `result` has what was computed until then.
    """
    with tempfile.TemporaryDirectory(prefix="bough-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        assembly = source if isinstance(source, Assembly) else open_system(source, folder)
        changes: dict[str, Any] = {
            "stop": stop,
            "step": step,
            "order": order,
            "extrapolation": extrapolation,
            "tolerance": tolerance,
        }
        master = replace(assembly.master, **{k: v for k, v in changes.items() if v is not None})
        assembly, signals = split(replace(assembly, master=master), inputs or {}, values or {})
        checked_master(assembly)
        try:
            check_archives(component.fmu for component in assembly.components)
        except (OSError, zipfile.BadZipFile) as error:
            raise SimulationError(f"the FMUs of the system cannot be unpacked: {error}") from None
        if every < 1:
            raise SimulationError(f"every is {every}: expected 1 or more")
        for text in warnings_of(assembly, signals):
            if warn is None:
                warnings.warn(text, stacklevel=2)
            else:
                warn(text)
        return _simulate(assembly, signals, every, progress, folder)


def open_system(source: str | os.PathLike[str], folder: Path) -> Assembly:
    """An SSP package or a system file, with its FMUs in a folder that has to stay as long as it is run.

    Raises:
        ModelError: The system file is wrong.
        SimulationError: The package cannot be read.
    """
    path = Path(source)
    if path.suffix.lower() in MODELS:
        return gather(path, folder)
    return open_package(path, folder)


def _simulate(
    assembly: Assembly,
    signals: Mapping[Port, Callable[[float], float]],
    every: int,
    progress: Callable[[float], None] | None,
    folder: Path,
) -> Result:
    began = clock.perf_counter()
    master = assembly.master
    points = communication_points(master.start, master.stop, master.step)
    slaves: dict[str, Slave] = {}
    recorder: _Recorder | None = None
    coupling: Coupling | None = None
    try:
        for k, component in enumerate(assembly.components):
            slaves[component.name] = Slave(component, folder / f"run{k}")
        exchange = Exchange(assembly, slaves, signals)
        for slave in slaves.values():
            slave.enter_initialization(master.start, master.stop, None)
        exchange(master.start, at_start=True)
        for slave in slaves.values():
            slave.exit_initialization()
        exchange(master.start)
        recorder = _Recorder(assembly, slaves)
        recorder.add(master.start)
        coupling = Coupling(assembly, slaves, exchange)
        for i, point in enumerate(points[1:], 1):
            coupling.step_to(point, master.step)
            if i % every == 0 or i == len(points) - 1:
                recorder.add(point)
            if progress is not None:
                progress(i / (len(points) - 1))
    except Failure as failure:
        if recorder is not None and recorder.times:
            failure.result = recorder.result(_statistics(assembly, coupling, began))
        raise
    except KeyboardInterrupt:
        if recorder is None or not recorder.times:
            raise
        raise Interrupted(recorder.result(_statistics(assembly, coupling, began))) from None
    finally:
        for slave in slaves.values():
            slave.free()
    return recorder.result(_statistics(assembly, coupling, began))


def _statistics(assembly: Assembly, coupling: Coupling | None, began: float) -> dict[str, float]:
    out: dict[str, float] = {"seconds": clock.perf_counter() - began}
    if coupling is None:
        return out
    out |= {"steps": coupling.steps, "rejected": coupling.rejected}
    for port, taken, given in zip(coupling.meter.ports, coupling.meter.taken, coupling.meter.given, strict=True):
        link = assembly.links[port.effort]
        out[f"energy {link}"] = taken
        out[f"residual {link}"] = taken - given
    return out


class _Recorder:
    """Inputs and outputs of all components, row by row."""

    def __init__(self, assembly: Assembly, slaves: Mapping[str, Slave]) -> None:
        self._assembly = assembly
        self.times: list[float] = []
        self._rows: list[list[float]] = []
        self._names: list[str] = []
        self._units: dict[str, str] = {}
        self._channels: list[Channel] = []
        for component in assembly.components:
            shown = [v for v in component.interface.named("output", "input") if v.kind != "string" and v.size]
            self._channels.append(Channel(slaves[component.name], shown))
            for v in shown:
                full = f"{component.name}.{v.name}"
                names = [full] if v.size == 1 else [f"{full}[{i + 1}]" for i in range(v.size)]
                self._names += names
                self._units.update((name, v.unit or "") for name in names)

    def add(self, time: float) -> None:
        self._rows.append([value for channel in self._channels for value in channel.get()])
        self.times.append(time)

    def result(self, statistics: Mapping[str, float]) -> Result:
        # Whoever interrupts may do so between a row and its time.
        rows: np.ndarray[Any, np.dtype[np.float64]] = np.array(self._rows[: len(self.times)], dtype=np.float64)
        columns = {name: rows[:, j] for j, name in enumerate(self._names)}
        return Result(np.array(self.times), columns, self._units, self._assembly.name, statistics)
