"""A model in real time, with the C code of its FMU."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bough.errors import ArgumentError, SimulationError
from bough.mechanism.mechanism import Mechanism
from bough.model import Model
from bough.run.pace import Pacer
from bough.run.result import Interrupted, Result
from bough.run.series_file import Series
from bough.run.stepping import Run


def paced(
    model: Model | Mechanism | str | os.PathLike[str] | Mapping[str, Any],
    stop: float,
    step: float = 1e-3,
    *,
    inputs: Mapping[str, float | Series] | None = None,
    settings: Mapping[str, float] | None = None,
    method: str = "rk4",
    rtol: float = 1e-6,
    max_step: float | None = None,
    pacer: Pacer | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Run a model in real time, with the C code of its FMU.

    Args:
        model: A model, or what `bough.load` takes, or a Mechanism.
        stop: End, s.
        step: Communication step and distance of rows, s; the step of fixed-step methods too.
        inputs: Numbers, or times and values; a table is read at the beginning of each step and held.
        settings: Parameters and start values, by the names of the FMU.
        method: As `bough.simulate` names it; the work of `rk4` is the same in every step.
        rtol: Relative tolerance of adaptive methods.
        max_step: Longest step of the solver, s.
        pacer: What waits and measures.
        progress: Called with the fraction done.

    Returns:
        The run; `statistics` has `p50`, `p99`, `worst` of the steps' computing time, s, `overruns`, `late`, `seconds`.

    Raises:
        SimulationError: A step cannot be finished, or a setting is not allowed; `result` has the rows until then.
        Interrupted: The user has stopped it; `result` has the rows until then.
    """
    if not (stop > 0.0 and 0.0 < step <= stop):
        raise ArgumentError(f"expected a step between zero and the end of {stop} s, found {step}")
    system = model if isinstance(model, Mechanism) else Mechanism(model)
    given = dict(inputs or {})
    numbers = {name: float(value) for name, value in given.items() if not isinstance(value, tuple)}
    tables = {name: value for name, value in given.items() if isinstance(value, tuple)}
    run = Run(system, settings, numbers, method=method, rtol=rtol, solver_step=step, max_step=max_step)
    names = [v.name for v in system.variables]
    units = {v.name: v.unit for v in system.variables if v.unit}
    count, pace = round(stop / step), pacer or Pacer()
    times, rows = [0.0], [run.values(*names)]
    pace.begin()

    def result() -> Result:
        kept = np.array(rows[: len(times)])
        told = {**pace.statistics(), "steps": float(len(times) - 1), "seconds": sum(pace.took)}
        columns = {name: kept[:, j] for j, name in enumerate(names)}
        return Result(np.array(times), columns, units, system.model.name, told)

    try:
        for k in range(count):
            if tables:
                run.set({name: float(np.interp(k * step, *table)) for name, table in tables.items()})
            run.step((k + 1) * step - run.time)
            rows.append(run.values(*names))
            times.append((k + 1) * step)
            pace(times[-1])
            if progress is not None:
                progress((k + 1) / count)
    except SimulationError as error:
        error.result = result()
        raise
    except KeyboardInterrupt:
        raise Interrupted(result()) from None
    return result()
