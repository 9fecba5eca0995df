"""What a sweep leaves: a table with a row for each run, and every run in full in a folder."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from bough.files import check_different, make_folder, write_text
from bough.mechanism.mechanism import Mechanism
from bough.model import Model
from bough.model.named_files import check_target
from bough.run.patterns import chosen
from bough.run.result_csv import OF_FOLDER, folder_metadata, rows_text, write_table
from bough.run.series_file import Series
from bough.run.studies import MEASURES, Plan, Sweep, check_settings, grid
from bough.run.studies import sweep as run_points

if TYPE_CHECKING:
    from bough.run.result import Result

Name: TypeAlias = str | os.PathLike[str]
_RUN = re.compile(r"run_\d+\.csv")


def sweep(
    model: Model | str | os.PathLike[str] | Mapping[str, Any],
    values: Mapping[str, Sequence[float]],
    stop: float,
    step: float | None = None,
    *,
    inputs: Mapping[str, Series] | None = None,
    only: Sequence[str] = (),
    method: str = "dopri5",
    rtol: float = 1e-6,
    atol: float | None = None,
    max_step: float | None = None,
    jobs: int | None = None,
    runs: Name | None = None,
    progress: Callable[[float], None] | None = None,
) -> Sweep:
    """Run a model for every combination of values.

    Args:
        model: A model, or what `bough.load` takes.
        values: Values of tunable parameters, start values and inputs, by the names of the FMU.
        stop: End of each run, s.
        step: Distance of rows, s; a thousandth of the run if None.
        inputs: Inputs over time, pairs (times, values) by name, the same in every run.
        only: Patterns of the variables that are measured, `*` for anything; all if empty.
        method: As `bough.simulate` names it.
        rtol: Relative tolerance.
        atol: Absolute tolerance, as `bough.simulate` takes it.
        max_step: Longest step of the solver, s; no bound if None.
        jobs: Threads; as many as there are processors by default.
        runs: Folder for every run in full, `run_0001.csv` and so on, with their units in `csv-metadata.json`.
        progress: Called with the fraction done.

    Returns:
        Final, peak and rms value of each variable of each run; runs that fail do not end the sweep.

    Raises:
        ModelError: The model is wrong.
        ArgumentError: There are too many combinations.
        SimulationError: A name is unknown, a value is not allowed, or a file cannot be written.
        SweepInterrupted: The user has stopped it; `sweep` has the runs that had ended.

    Example:
        >>> import bough
        >>> cart = {"bough": 1, "name": "cart", "bodies": [{"name": "box", "parent": "ground",
        ...     "hinge": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0]}, "rigid": {"mass": 2.0}}]}
        >>> done = bough.sweep(cart, {"rail.f": [1.0, 4.0]}, stop=1.0, only=["rail.s"])
        >>> [round(float(run.measures[0, 0]), 9) for run in done.outcomes]  # final value of rail.s, m
        [0.25, 1.0]
    """
    points = grid(values)
    system = Mechanism(model)
    plan = Plan(stop, step, inputs or {}, method, rtol, atol, max_step)
    check_settings(system, points, plan.inputs)
    names = chosen([v.name for v in system.variables], only)
    folder = None if runs is None else RunFolder(Path(runs), len(points))
    if folder is not None:
        make_folder(folder.folder)
    try:
        return run_points(system.model, points, plan, names=names, jobs=jobs, keep=folder, progress=progress)
    finally:
        if folder is not None:
            folder.finish()


class RunFolder:
    """Writes the runs of a sweep into a folder: numbers run by run, their units at the end, for all of them."""

    def __init__(self, folder: Path, count: int) -> None:
        """Number files so that so many runs sort by their names."""
        self.folder, self.digits = folder, max(4, len(str(count)))
        self._written: set[str] = set()
        self._last: Result | None = None

    def check(self, output: Path, *inputs: Path | None) -> None:
        """Refuse a folder that cannot be written to, or in which the table or an input is one of the runs."""
        if _RUN.fullmatch(output.name):
            check_different(output, self.path(int(output.stem[4:])))
        if self.folder.exists():
            old = [each for each in self.folder.iterdir() if _RUN.fullmatch(each.name)] if self.folder.is_dir() else []
            for path in [self.path(0), *old]:
                check_target(path, *inputs)

    def path(self, number: int) -> Path:
        """Of a run."""
        return self.folder / f"run_{number:0{self.digits}d}.csv"

    def __call__(self, number: int, result: Result) -> None:
        """Keep a run."""
        path = self.path(number)
        names = ["time", *result.names]
        write_table(path, rows_text(names, [result[name] for name in names]), names, {})
        self._written.add(path.name)
        self._last = result

    def finish(self) -> None:
        """Write the units of the runs that were kept; runs of before that are still there keep theirs."""
        if self._last is None:
            return
        names, units = ["time", *self._last.names], {"time": "s", **self._last.units}
        text = folder_metadata(self.folder, self._written, names, units, self._last.model_name)
        write_text(self.folder / OF_FOLDER, text)


def write_sweep(done: Sweep, path: Name) -> None:
    """Write a row for each run: number, what was set, 1 if it reached its end, then the measures; empty if it did not.

    Raises:
        OutputError: It cannot be written; what was there is still there.
    """
    set_names = list(done.outcomes[0].settings) if done.outcomes else []
    measured = {f"{name}.{key}": name for name in done.names for key in MEASURES}
    units = {name: done.units[name] for name in set_names if done.units.get(name)}
    units |= {column: done.units[name] for column, name in measured.items() if done.units.get(name)}
    names = ["run", *set_names, "ok", *measured]
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\n")
    writer.writerow(names)
    for outcome in done.outcomes:
        numbers = [repr(x) if math.isfinite(x) else "" for x in outcome.measures.ravel().tolist()]
        writer.writerow([outcome.number, *map(repr, outcome.settings.values()), int(outcome.ok), *numbers])
    write_table(path, [rows.getvalue()], names, units)
