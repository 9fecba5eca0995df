"""One FMU for Co-Simulation, anybody's: a system of one component."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from bough.coupling import Assembly, Component, Master
from bough.coupling.fmu_interface import read_interface
from bough.coupling.master import communication_points
from bough.coupling.outside import signal, warn_of_knots
from bough.coupling.settings import checked_master, checked_timeout, misfit, settable
from bough.coupling.slave import CALL_TIMEOUT
from bough.coupling.steps import How, announce, simulate
from bough.coupling.warned import disliked, silent_clocks
from bough.errors import SimulationError
from bough.run.pace import Pacer
from bough.run.result import Result
from bough.run.series_file import Series

ROWS = 1000
"""Communication steps of a run whose step is not given."""


def open_fmu(path: Path) -> Component:
    """An FMU for Co-Simulation, FMI 2 or 3.

    Raises:
        SimulationError: FMPy is missing, or it is no such FMU.
    """
    try:
        interface = read_interface(path)
    except SimulationError as error:
        raise SimulationError(f"cannot run {path}: {error}") from None
    return Component(interface.model, path, interface)


def inputs_of(fmu: Component) -> list[str]:
    """Inputs that a table can give: numbers, no arrays and no texts."""
    return [v.name for v in fmu.interface.named("input") if v.plain]


def settable_in(fmu: Component) -> list[str]:
    """What can be set before a run: inputs, parameters, and states with start values."""
    return settable(fmu)


def run_fmu(
    fmu: Path | Component,
    stop: float,
    step: float | None = None,
    inputs: Mapping[str, Series] | None = None,
    start: Mapping[str, float] | None = None,
    rtol: float | None = None,
    progress: Callable[[float], None] | None = None,
    *,
    isolate: bool | None = None,
    call_timeout: float = CALL_TIMEOUT,
    warn: Callable[[str], None] | None = None,
    strict: bool = False,
    pace: Pacer | None = None,
) -> Result:
    """Run an FMU from time zero.

    Args:
        fmu: Its path, or what `open_fmu` has made of it.
        stop: End, s.
        step: Distance of rows and longest communication step, s; a thousandth of the run if not given.
        inputs: Inputs over time, linear between their times. Steps end at these times. Within a step an FMU that takes
            derivatives of inputs follows the line; any other one gets its mean.
        start: Constant inputs, parameters and start values of states, by name; all others stay as they are.
        rtol: Relative tolerance for the FMU's solver; its own if not given.
        progress: Called with the fraction done.
        isolate: Whether it runs in a process of its own, where it can do no harm; None: unless its code is bough's.
            The numbers are the same.
        call_timeout: Longest time of a call in a process of its own, s; 0: none.
        warn: Called with each warning, before the run begins, and at its end with those of the FMU; None: Python's
            `warnings` for the former.
        strict: Whether an FMU whose description a validator dislikes is refused; else it runs with a warning.
        pace: Keeps the run at the pace of the wall clock.

    Returns:
        Time and every input and output.

    Raises:
        SimulationError: The FMU failed; with its last messages, and the rows until then in `result`.
        Interrupted: The user has stopped it; `result` has the rows until then.
    """
    component = fmu if isinstance(fmu, Component) else open_fmu(fmu)
    about, values = component.interface, dict(start or {})
    for name, value in values.items():
        wrong = misfit(about.variables[name], value)
        if wrong:
            raise SimulationError(f"{name} is {value!r}; expected {wrong}")
    component = replace(component, values=values)
    spacing = step or stop / ROWS or 1.0
    assembly = Assembly(about.model, (component,), (), Master(spacing, stop))
    checked_master(assembly)
    points = communication_points(0.0, stop, spacing) if stop > 0.0 else [0.0]
    signals = {
        (component.name, name): signal(name, about.variables[name], series) for name, series in (inputs or {}).items()
    }
    announce([*disliked(assembly, strict), *silent_clocks(assembly), *warn_of_knots(points, signals, assembly)], warn)
    how = How(1, progress, isolate, checked_timeout(call_timeout), rtol, str(component.fmu), pace)
    with tempfile.TemporaryDirectory(prefix="bough-", ignore_cleanup_errors=True) as folder:
        result = simulate(assembly, signals, points, how, Path(folder))
    if warn is not None:
        announce(how.said, warn)
    return result
