"""Runs a system file or a package."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from bough.coupling.assembly import Assembly, Value
from bough.coupling.gather import gather
from bough.coupling.master import communication_points
from bough.coupling.outside import warn_of_knots
from bough.coupling.recognize import MODELS
from bough.coupling.settings import checked_master, checked_timeout, split
from bough.coupling.settle import settled_system
from bough.coupling.slave import CALL_TIMEOUT
from bough.coupling.ssp import open_package
from bough.coupling.steps import How, announce, simulate
from bough.coupling.warned import disliked, warnings_of
from bough.errors import SimulationError
from bough.files import check_archives
from bough.run.pace import Pacer
from bough.run.result import Array, Result

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
    settle: bool = False,
    progress: Callable[[float], None] | None = None,
    warn: Callable[[str], None] | None = None,
    isolate: bool | None = None,
    call_timeout: float = CALL_TIMEOUT,
    strict: bool = False,
    pace: Pacer | None = None,
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
        settle: Whether mechanisms start at rest, bent by their weight, and controllers with the feed-forward that holds
            them there. For system files, which name the models.
        progress: Called with the fraction done.
        warn: Called with each warning, before the run begins; None: Python's `warnings`.
        isolate: Whether FMUs run in processes of their own, where they can do no harm; None: all but those with
            bough's own code. The numbers are the same.
        call_timeout: Longest time of a call of an FMU in a process of its own, s; 0: none.
        strict: Whether FMUs whose description a validator dislikes are refused; else they run with a warning.
        pace: Keeps the run at the pace of the wall clock; `statistics` then has `p50`, `p99` and `worst` of a step's
            computing time, s, `overruns` and `late`.

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
        if settle:
            assembly = settled_system(assembly, assembly.models)
        checked_master(assembly)
        disliked(assembly, strict)
        try:
            check_archives(component.fmu for component in assembly.components)
        except (OSError, zipfile.BadZipFile) as error:
            raise SimulationError(f"the FMUs of the system cannot be unpacked: {error}") from None
        if every < 1:
            raise SimulationError(f"every is {every}: expected 1 or more")
        points = communication_points(master.start, master.stop, master.step)
        announce([*warnings_of(assembly, signals), *warn_of_knots(points, signals, assembly)], warn)
        how = How(every, progress, isolate, checked_timeout(call_timeout), pace=pace)
        result = simulate(assembly, signals, points, how, folder)
        announce(how.said, warn)
        return result


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
