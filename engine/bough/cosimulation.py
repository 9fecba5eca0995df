"""One FMU for Co-Simulation, anybody's, run by FMPy."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bough.errors import SimulationError
from bough.result import Result, decimals, short_times
from bough.series_file import Series

ROWS = 1000
"""Communication steps of a run whose step is not given."""


def open_fmu(path: Path) -> Any:
    """FMPy's description of an FMU for Co-Simulation.

    Raises:
        SimulationError: FMPy is missing, or it is no such FMU.
    """
    fmpy = _fmpy()
    if not path.is_file():
        raise SimulationError(f"cannot read {path}: there is no such file")
    try:
        description = fmpy.read_model_description(str(path))
    except Exception as error:  # FMPy raises whatever it meets
        raise SimulationError(f"cannot read {path} as an FMU: {error}") from None
    if description.coSimulation is None:
        raise SimulationError(f"{path} is not for Co-Simulation: bough cannot run it")
    return description


def names(description: Any, *causalities: str) -> list[str]:
    """Names of the variables of these causalities."""
    return [v.name for v in description.modelVariables if v.causality in causalities]


def settable(description: Any) -> list[str]:
    """What can be set before a run: inputs, parameters, and states with start values."""
    return [
        v.name
        for v in description.modelVariables
        if v.causality in ("input", "parameter") or (v.initial in ("exact", "approx") and v.start is not None)
    ]


def run_fmu(
    path: Path,
    stop: float,
    step: float | None = None,
    inputs: Mapping[str, Series] | None = None,
    start: Mapping[str, float] | None = None,
    rtol: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Run an FMU from time zero.

    Args:
        path: The FMU.
        stop: End, s.
        step: Communication step and distance of rows, s; a thousandth of the run if not given.
        inputs: Inputs over time, all with the same times; set at each step and held until the next.
        start: Constant inputs, parameters and start values of states, by name.
        rtol: Relative tolerance that the FMU is told; its own if not given.
        progress: Called with the fraction done.

    Returns:
        Time and every input and output.

    Raises:
        SimulationError: The FMU failed; with its last messages.
    """
    description = open_fmu(path)
    messages: list[str] = []

    def log(*arguments: Any) -> None:
        text = arguments[-1]
        messages.append(text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text))

    def finished(time: float, _: Any) -> bool:
        if progress is not None and stop > 0.0:
            progress(min(1.0, time / stop))
        return True

    constant = dict(start or {})
    began = clock.perf_counter()
    try:
        rows = _fmpy().simulate_fmu(
            str(path),
            start_time=0.0,
            stop_time=stop,
            output_interval=step or stop / ROWS or None,
            relative_tolerance=rtol,
            fmi_type="CoSimulation",
            start_values=_typed(description, constant),
            input=_table(names(description, "input"), inputs or {}, constant),
            output=names(description, "input", "output"),
            logger=log,
            step_finished=finished,
        )
    except Exception as error:  # FMPy raises whatever it meets
        told = "".join(f"\n{text}" for text in messages[-5:])
        raise SimulationError(f"{path} failed: {error}{told}") from None
    places = decimals(stop / ROWS if step is None else step)
    return _result(rows, description, places, clock.perf_counter() - began)


def _fmpy() -> Any:
    try:
        import fmpy
    except ImportError:
        raise SimulationError(
            "running an FMU needs the package FMPy, which is not installed: pip install fmpy"
        ) from None
    return fmpy


def _typed(description: Any, start: Mapping[str, float]) -> dict[str, Any]:
    """Start values as the types of their variables want them."""
    kinds = {v.name: v.type for v in description.modelVariables}
    out: dict[str, Any] = {}
    for name, value in start.items():
        kind = kinds.get(name, "Real")
        real = kind in ("Real", "Float64", "Float32")
        out[name] = bool(value) if kind == "Boolean" else float(value) if real else int(value)
    return out


def _table(known: list[str], series: Mapping[str, Series], constant: Mapping[str, float]) -> Any:
    """Inputs over time as FMPy takes them: one table of all inputs, linear between its times."""
    if not series:
        return None
    times, _ = next(iter(series.values()))
    table = np.zeros(times.size, dtype=[("time", np.float64), *((name, np.float64) for name in known)])
    table["time"] = times
    for name in known:
        table[name] = series[name][1] if name in series else constant.get(name, 0.0)
    return table


def _result(rows: Any, description: Any, places: int, seconds: float) -> Result:
    units = {v.name: v.unit or "" for v in description.modelVariables}
    columns, column_units = {}, {}
    for name in rows.dtype.names:
        if name == "time":
            continue
        values = np.asarray(rows[name], dtype=np.float64).reshape(len(rows), -1)
        # An array of FMI 3 becomes its elements, named as FMI 2 names them.
        parts = [name] if rows[name].ndim == 1 else [f"{name}[{i + 1}]" for i in range(values.shape[1])]
        for i, part in enumerate(parts):
            columns[part], column_units[part] = values[:, i], units[name]
    times = short_times(np.asarray(rows["time"]), places)
    return Result(times, columns, column_units, description.modelName, {"seconds": seconds})
