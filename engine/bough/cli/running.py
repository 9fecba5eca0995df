"""What `bough run` does once its options are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from bough.cli.console import (
    FAILED,
    answer,
    complain,
    data_stream,
    problems,
    progress_bar,
    say,
    told_warnings,
    uninterrupted,
)
from bough.cli.inputs import Series
from bough.errors import SimulationError
from bough.mechanism.kernel_sim import METHODS
from bough.mechanism.mechanism import Mechanism
from bough.model.named_files import check_target
from bough.run.pace import REAL_TIME, Pacer
from bough.run.pace import told as told_pace
from bough.run.result import Interrupted, Result
from bough.run.result_csv import metadata_path
from bough.run.result_files import CSV, ENDINGS, check_result_name, is_stream

Progress: TypeAlias = Callable[[float], None] | None
STDOUT = Path("-")
MOST_ROWS = 10_000_000
Atol: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--atol",
        metavar="A",
        help="Absolute tolerance of positions, rad or m; of speeds a hundred times as much.",
        show_default="by the motion of each coordinate",
    ),
]
MaxStep: TypeAlias = Annotated[
    float | None,
    typer.Option("--max-step", metavar="H", help="Longest step of the solver, s.", show_default="no bound"),
]
RESULT_HELP = f"Where the result goes, in the format of its ending: {', '.join(ENDINGS)}; - for CSV on stdout."
METHOD_HELP = f"Integration method: {', '.join(METHODS)}."


def known_method(method: str | None) -> str | None:
    """Pass a method of the kernel on; option callback.

    Raises:
        BadParameter: It is none.
    """
    if method is None or method in METHODS:
        return method
    raise typer.BadParameter(f"expected one of {', '.join(METHODS)}, found {method!r}")


@dataclass(frozen=True)
class Run:
    """Options of a run: times in s, method and tolerance, where the result goes, and how to tell."""

    stop: float
    step: float | None
    method: str
    rtol: float
    output: Path
    as_json: bool
    atol: float | None = None
    max_step: float | None = None
    pace: Pacer | None = None

    def check(self, *inputs: Path | None) -> None:
        """Refuse numbers that make no run, and an output that is one of the files it reads.

        Raises:
            typer.BadParameter: Wrong use.
            SimulationError: The output cannot be written.
        """
        self.check_numbers()
        check_result_output(self.output, *inputs)

    def check_numbers(self) -> None:
        """Refuse numbers that make no run.

        Raises:
            typer.BadParameter: Wrong use.
        """
        if not 0.0 <= self.stop < float("inf"):
            raise typer.BadParameter(f"expected a time of zero or more seconds, found {self.stop}", param_hint="--stop")
        if self.step is not None and not 0.0 < self.step < float("inf"):
            raise typer.BadParameter(f"expected more than zero seconds, found {self.step}", param_hint="--step")
        if self.step is not None and self.stop / self.step > MOST_ROWS:
            rows = f"{self.stop / self.step:.3g} rows; at most {MOST_ROWS} are written"
            raise typer.BadParameter(f"that makes {rows}", param_hint="--step")
        if not 0.0 < self.rtol < 1.0:
            raise typer.BadParameter(f"expected a number between 0 and 1, found {self.rtol}", param_hint="--rtol")
        if self.atol is not None and not 0.0 < self.atol < float("inf"):
            raise typer.BadParameter(f"expected a positive number, found {self.atol}", param_hint="--atol")
        if self.max_step is not None and not 0.0 < self.max_step < float("inf"):
            raise typer.BadParameter(f"expected more than zero seconds, found {self.max_step}", param_hint="--max-step")
        if self.output == STDOUT and self.as_json:
            raise typer.BadParameter("the result and --json cannot both go to stdout", param_hint="-o -")


def check_result_output(path: Path, *inputs: Path | None) -> None:
    """Refuse, before the run, a result whose ending says no format, that cannot be written, or that is an input.

    Raises:
        OutputError: With the reason and the cure.
    """
    if path == STDOUT:
        return
    check_target(path, *inputs, stream=True)
    check_result_name(path)
    if path.suffix.lower() == CSV and not is_stream(path):
        check_target(metadata_path(path), *inputs)


def execute(system: Mechanism, series: Mapping[str, Series], settings: Mapping[str, float], run: Run) -> None:
    """Simulate a model with inputs over time and with values set, write, tell."""
    from bough.run.explicit import damping_note
    from bough.run.studies import Plan, run_set

    note = damping_note(system, settings, run.stop, run.method)
    if note:
        complain(f"warning: {note}")
    plan = Plan(run.stop, run.step, series, run.method, run.rtol, run.atol, run.max_step)

    def work(progress: Progress) -> Result:
        if run.pace is None:
            return run_set(system, settings, plan, progress)
        from bough.run.pacing import paced

        return paced(
            system, run.stop, run.step or 1e-3, inputs=series, settings=settings, method=run.method, rtol=run.rtol,
            max_step=run.max_step, pacer=run.pace, progress=progress,
        )  # fmt: skip

    deliver(system.model.name, work, run)


def deliver(name: str, work: Callable[[Progress], Result], run: Run) -> None:
    """Run, write, tell. A run that fails or is interrupted leaves what it has, with a message."""
    failure: SimulationError | Interrupted | None = None
    with progress_bar(name) as progress, told_warnings():
        try:
            result = work(progress)
        except (SimulationError, Interrupted) as error:
            if error.result is None:
                if run.as_json:
                    answer(problems(error))
                raise
            failure, result = error, error.result
    kept = len(result) > 0
    if kept:
        write_result(result, run.output)
    if run.as_json:
        answer(_statistics(result, run, failure))
    if failure is None:
        say(_told(result, run))
        if run.pace is not None and len(result) > 1:
            say(told_pace(result.statistics, float(result.t[1] - result.t[0])))
        return
    complain(str(failure))
    if kept:
        where = "on stdout" if run.output == STDOUT else f"in {run.output}"
        complain(f"the {len(result)} rows until t = {result.t[-1]:.9g} s are {where}")
    raise typer.Exit(FAILED)


def write_result(result: Result, path: Path) -> None:
    """Write the result as its ending says: a file as a whole or not at all; stdout and devices as they come, in CSV."""
    with uninterrupted():
        if path == STDOUT:
            result.write_rows(data_stream())
        else:
            result.save(path)


def _statistics(result: Result, run: Run, failure: SimulationError | Interrupted | None) -> dict[str, Any]:
    keys: tuple[str, ...] = ("steps", "rejected", "evaluations")
    counts = {key: int(result.statistics[key]) for key in keys if key in result.statistics}
    return {
        "ok": failure is None,
        "model": result.model_name,
        "method": run.method,
        "output": str(run.output) if len(result) else None,
        "rows": len(result),
        "time": float(result.t[-1]) if len(result) else None,
        **counts,
        "seconds": result.statistics["seconds"],
        **{key: result.statistics[key] for key in REAL_TIME if key in result.statistics},
        "error": None if failure is None else str(failure),
    }


def _told(result: Result, run: Run) -> str:
    steps, seconds = result.statistics.get("steps"), result.statistics["seconds"]
    where = "stdout" if run.output == STDOUT else str(run.output)
    told = f"{where}: {len(result)} rows of {len(result.names)} variables to t = {result.t[-1]:.6g} s"
    how = "" if steps is None else f"{run.method}, {steps:.0f} steps, "
    return f"{told} ({how}{seconds:.3g} s)"
