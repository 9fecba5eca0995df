"""`bough run X.fmu`: an FMU for Co-Simulation, by FMPy."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bough._kernel import METHODS
from bough.cli.inputs import Series, gather_named
from bough.cli.running import Progress, Run, deliver
from bough.errors import SimulationError
from bough.result import Result


def run_fmu(path: Path, file: Path | None, settings: Iterable[str], run: Run) -> None:
    """Simulate an FMU, write, tell.

    Args:
        path: The FMU.
        file: CSV of inputs over time, if any.
        settings: Inputs held constant, `name=value`.
        run: The options.

    Raises:
        SimulationError: FMPy is missing, or the FMU cannot be read or run.
    """
    fmpy = _fmpy()
    if not path.is_file():
        raise SimulationError(f"cannot read {path}: there is no such file")
    try:
        description = fmpy.read_model_description(str(path))
    except Exception as error:  # FMPy raises whatever it meets
        raise SimulationError(f"cannot read {path} as an FMU: {error}") from None
    if description.coSimulation is None:
        raise SimulationError(f"{path} is not for Co-Simulation: `bough run` cannot run it")
    known = [v.name for v in description.modelVariables if v.causality == "input"]
    inputs = gather_named(known, file, settings)
    deliver(description.modelName, lambda progress: _simulate(path, description, inputs, run, progress), run)


def _fmpy() -> Any:
    try:
        import fmpy
    except ImportError:
        raise SimulationError("running an FMU needs the package FMPy: pip install 'bough[fmu]'") from None
    return fmpy


def _simulate(path: Path, description: Any, inputs: dict[str, Series | float], run: Run, progress: Progress) -> Result:
    variables = {v.name: v for v in description.modelVariables}
    start: dict[str, Any] = {name: value for name, value in inputs.items() if isinstance(value, float)}
    if "solver.method" in variables:
        start["solver.method"] = METHODS[run.method]
    messages: list[str] = []

    def log(*arguments: Any) -> None:
        text = arguments[-1]
        messages.append(text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text))

    def finished(time: float, _: Any) -> bool:
        if progress is not None and run.stop > 0.0:
            progress(min(1.0, time / run.stop))
        return True

    began = clock.perf_counter()
    try:
        rows = _fmpy().simulate_fmu(
            str(path),
            start_time=0.0,
            stop_time=run.stop,
            output_interval=run.step or run.stop / 1000.0 or None,
            relative_tolerance=run.rtol,
            fmi_type="CoSimulation",
            start_values=start,
            input=_signals([v.name for v in description.modelVariables if v.causality == "input"], inputs),
            output=[v.name for v in description.modelVariables if v.causality in ("input", "output")],
            logger=log,
            step_finished=finished,
        )
    except Exception as error:  # FMPy raises whatever it meets
        told = "".join(f"\n{text}" for text in messages[-5:])
        raise SimulationError(f"{path} failed: {error}{told}") from None
    columns = {name: np.asarray(rows[name], dtype=np.float64) for name in rows.dtype.names if name != "time"}
    units = {name: variables[name].unit or "" for name in columns}
    statistics = {"seconds": clock.perf_counter() - began}
    return Result(np.asarray(rows["time"]), columns, units, description.modelName, statistics)


def _signals(known: Iterable[str], inputs: dict[str, Series | float]) -> Any:
    """Inputs over time as FMPy takes them: one table of all inputs, linear between its times."""
    series = {name: value for name, value in inputs.items() if not isinstance(value, float)}
    if not series:
        return None
    times, _ = next(iter(series.values()))  # all columns of a file share its times
    table = np.zeros(times.size, dtype=[("time", np.float64), *((name, np.float64) for name in known)])
    table["time"] = times
    for name, value in inputs.items():
        table[name] = value if isinstance(value, float) else value[1]
    return table
