"""`bough sweep`: many runs of a model over a grid of values."""

from __future__ import annotations

import tempfile
import time as clock
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bough.cli.console import (
    FAILED,
    answer,
    complain,
    guarded,
    problems,
    progress_bar,
    say,
    told_warnings,
    uninterrupted,
)
from bough.cli.inputs import gather_named, input_names
from bough.cli.options import Json
from bough.cli.running import METHOD_HELP, Atol, MaxStep, Run, known_method
from bough.cli.system_run import is_system
from bough.errors import BoughError, listed
from bough.files import make_folder
from bough.flex import load
from bough.mechanism.mechanism import Mechanism
from bough.model.named_files import check_target
from bough.run.result_files import CSV, check_ending, is_stream
from bough.run.series_file import read_series
from bough.text.ranges import grid_values

if TYPE_CHECKING:
    from bough.run.studies import Sweep

TOLD = 3
"""Failed runs whose reason is told in full."""


@guarded
def sweep(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL|X.ssp", help="Model file, system file or SSP package.", show_default=False)
    ],
    set_: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="NAME=VALUES",
            help="Tunable parameter, start value or input: `a,b,c` or `low:high:count`; may be repeated.",
            show_default=False,
        ),
    ],
    stop: Annotated[
        float | None,
        typer.Option("--stop", metavar="T", help="End of each run, s.", show_default="10, or as the system says"),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(
            "--step",
            metavar="H",
            help="Time between rows, s; of a system the communication step.",
            show_default="a thousandth of the run, or as the system says",
        ),
    ] = None,
    method: Annotated[str, typer.Option("--method", metavar="M", help=METHOD_HELP, callback=known_method)] = "dopri5",
    rtol: Annotated[float, typer.Option("--rtol", metavar="R", help="Relative tolerance of adaptive methods.")] = 1e-6,
    atol: Atol = None,
    max_step: MaxStep = None,
    input_: Annotated[
        Path | None, typer.Option("--input", metavar="CSV", help="Inputs over time, the same in every run.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="PATTERN", help="Variables to sum up, * for anything; may be repeated."),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="CSV", help="One row for each run.")] = Path(
        "sweep.csv"
    ),
    runs: Annotated[
        Path | None, typer.Option("--runs", metavar="DIR", help="Also every run in full, run_0001.csv and so on.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", min=1, help="Runs at a time.", show_default="one per processor"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Simulate a model for every combination of values; keep final, peak and rms value of every variable."""
    from bough.run.studies import SweepInterrupted, check_settings, grid
    from bough.run.sweep_files import RunFolder, write_sweep
    from bough.run.sweep_files import sweep as run_grid

    coupled = is_system(model)
    if coupled:
        _only_models(method != "dopri5", rtol != 1e-6, atol, max_step, jobs)
    length = 10.0 if stop is None else stop
    options = Run(length, step, method, rtol, output, as_json, atol, max_step)
    options.check_numbers()
    check_target(output, model, input_, stream=True)
    if not is_stream(output):
        check_ending(output, (CSV,))
    try:
        values = grid_values(set_)
        count = len(grid(values))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--set") from None
    began = clock.perf_counter()
    missing: tuple[int, ...] = ()
    try:
        if runs is not None:
            RunFolder(runs, count).check(output, model, input_)
        try:
            if coupled:
                done = _run_system(model, values, stop, step, input_, only or (), runs)
            else:
                checked = load(model)
                mechanism = Mechanism(checked)
                series = {} if input_ is None else read_series(input_, input_names(mechanism))
                check_settings(mechanism, grid(values), series)
                with progress_bar(f"{checked.name}, {count} runs") as progress, told_warnings():
                    done = run_grid(
                        checked, values, length, step, inputs=series, only=only or (), method=method, rtol=rtol,
                        atol=atol, max_step=max_step, jobs=jobs, runs=runs, progress=progress,
                    )  # fmt: skip
        except SweepInterrupted as error:
            done, missing = error.sweep, error.missing
        if done.outcomes:
            with uninterrupted():
                write_sweep(done, output)
    except BoughError as error:
        if as_json:
            answer(problems(error))
        raise
    _tell(done, missing, output, as_json, clock.perf_counter() - began)


def _only_models(*given: object) -> None:
    """Refuse options of the solver: FMUs of a system have their own, `--set arm.solver.tolerance=...`."""
    for name, value in zip(("--method", "--rtol", "--atol", "--max-step", "--jobs"), given, strict=True):
        if value:
            found = "a system has none: its FMUs do, `--set COMPONENT.solver.tolerance=...`; runs are made one by one"
            raise typer.BadParameter(found, param_hint=name)


def _run_system(
    path: Path,
    values: dict[str, list[float]],
    stop: float | None,
    step: float | None,
    file: Path | None,
    only: Sequence[str],
    runs: Path | None,
) -> Sweep:
    from bough.coupling import open_system, sweep_system
    from bough.run.studies import grid
    from bough.run.sweep_files import RunFolder

    count = len(grid(values))
    folder = None if runs is None else RunFolder(runs, count)
    if folder is not None:
        make_folder(folder.folder)
    with tempfile.TemporaryDirectory(prefix="bough-", ignore_cleanup_errors=True) as scratch:
        assembly = open_system(path, Path(scratch))
        inputs = dict(gather_named([".".join(port) for port in assembly.open_inputs()], file, []))
        try:
            with progress_bar(f"{assembly.name}, {count} runs") as progress:
                return sweep_system(
                    assembly, values, stop, step, only=only, inputs=inputs, keep=folder, progress=progress,
                    warn=lambda text: complain(f"warning: {text}"),
                )  # fmt: skip
        finally:
            if folder is not None:
                folder.finish()


def _tell(done: Sweep, missing: tuple[int, ...], output: Path, as_json: bool, seconds: float) -> None:
    failed = [outcome for outcome in done.outcomes if not outcome.ok]
    if as_json:
        rows = [{"run": o.number, "set": dict(o.settings), "error": o.error} for o in failed]
        about: dict[str, Any] = {
            "ok": not failed and not missing,
            "output": str(output) if done.outcomes else None,
            "runs": len(done.outcomes),
            "variables": len(done.names),
        }
        answer({**about, "failed": rows, "missing": list(missing), "seconds": seconds})
    if done.outcomes:
        say(f"{output}: {len(done.outcomes)} runs, {len(done.names)} variables ({seconds:.3g} s)")
    for outcome in failed[:TOLD]:
        settings = ", ".join(f"{name}={value:g}" for name, value in outcome.settings.items())
        complain(f"run {outcome.number} ({settings}) failed: {outcome.error}")
    if len(failed) > TOLD:
        complain(f"... and {len(failed) - TOLD} more failed")
    if missing:
        kept = f"{output} has the {len(done.outcomes)} runs that had ended" if done.outcomes else "no run had ended"
        complain(f"interrupted: {kept}; missing: {listed([str(number) for number in missing])}")
    if failed or missing:
        raise typer.Exit(FAILED)
