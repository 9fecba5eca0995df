"""Many runs of a system over a grid of values."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bough.coupling.assembly import Assembly
from bough.coupling.run_system import Signal, open_system, run
from bough.coupling.settings import find_settable
from bough.errors import SimulationError
from bough.run.outcomes import MEASURES, Outcome, Sweep, SweepInterrupted, grid, measure
from bough.run.patterns import chosen
from bough.run.result import Interrupted, Result


def sweep_system(
    source: str | os.PathLike[str] | Assembly,
    values: Mapping[str, Sequence[float]],
    stop: float | None = None,
    step: float | None = None,
    *,
    only: Sequence[str] = (),
    inputs: Mapping[str, Signal] | None = None,
    keep: Callable[[int, Result], None] | None = None,
    progress: Callable[[float], None] | None = None,
    warn: Callable[[str], None] | None = None,
    **options: Any,
) -> Sweep:
    """Run a system for every combination of values, one after the other.

    Args:
        source: An SSP package, a system file, or what `open_system` has made of one. It is coupled once.
        values: Values of parameters, start values and free inputs, by `component.variable`.
        stop: End of each run, s; as the package says if None.
        step: Communication step, s; as the package says if None.
        only: Patterns of the variables that are measured, `*` for anything; all if empty.
        inputs: Free inputs over time, the same in every run.
        keep: Called with the number and the result of each run, also of those that failed on their way.
        progress: Called with the fraction done.
        warn: Called with each warning of the first run; None: Python's `warnings`.
        options: Further options of `bough.coupling.run`.

    Returns:
        Final, peak and rms value of each variable of each run; runs that fail do not end the sweep.

    Raises:
        ModelError: The system file is wrong.
        ArgumentError: There are too many combinations.
        SimulationError: The package cannot be read, or a name cannot be set.
        SweepInterrupted: The user has stopped it; `sweep` has the runs that had ended.
    """
    points = grid(values)
    with tempfile.TemporaryDirectory(prefix="bough-", ignore_cleanup_errors=True) as scratch:
        assembly = source if isinstance(source, Assembly) else open_system(source, Path(scratch))
        units = _units(assembly, values)
        names: tuple[str, ...] | None = None
        outcomes: list[Outcome] = []
        failed: list[tuple[int, dict[str, float], str]] = []
        for number, point in enumerate(points, 1):
            say = warn if number == 1 else _silent
            try:
                result, error = run(assembly, stop, step, inputs=inputs, values=point, warn=say, **options), ""
            except SimulationError as problem:
                result, error = problem.result, str(problem)
            except Interrupted:
                raise SweepInterrupted(_sweep(names, outcomes, failed, units), len(points)) from None
            if result is not None and len(result):
                if names is None:
                    names = tuple(chosen(list(result.names), only))
                units |= {name: result.units[name] for name in names if result.units.get(name)}
                if keep is not None:
                    keep(number, result)
            if error or result is None or names is None:
                failed.append((number, dict(point), error))
            else:
                outcomes.append(Outcome(number, dict(point), measure(result, names)))
            if progress is not None:
                progress(number / len(points))
        return _sweep(names, outcomes, failed, units)


def _silent(_: str) -> None:
    """Warnings are those of the first run."""


def _units(assembly: Assembly, values: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """Units of what is varied; refuses what cannot be set."""
    return {name: assembly.variable(find_settable(assembly, name)[0]).unit or "" for name in values}


def _sweep(
    names: tuple[str, ...] | None,
    outcomes: Sequence[Outcome],
    failed: Sequence[tuple[int, Mapping[str, float], str]],
    units: Mapping[str, str],
) -> Sweep:
    kept = names or ()
    nothing = np.full((len(kept), len(MEASURES)), np.nan)
    all_of_them = [*outcomes, *(Outcome(number, point, nothing, error) for number, point, error in failed)]
    return Sweep(kept, tuple(sorted(all_of_them, key=lambda outcome: outcome.number)), units)
