"""`bough run X.fmu`: an FMU for Co-Simulation."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer

from bough.cli.console import complain
from bough.cli.containing import Contained
from bough.cli.inputs import gather_named
from bough.cli.running import Progress, Run, deliver
from bough.coupling import single
from bough.mechanism.kernel_sim import METHODS
from bough.run.result import Result


def run_fmu(path: Path, file: Path | None, settings: Iterable[str], run: Run, contained: Contained) -> None:
    """Simulate an FMU, write, tell.

    Args:
        path: The FMU.
        file: CSV of inputs over time, if any.
        settings: Constant inputs, parameters and start values, `name=value`.
        run: The options.
        contained: Where the FMU runs.

    Raises:
        SimulationError: FMPy is missing, or the FMU cannot be read or run.
    """
    fmu = single.open_fmu(path)
    inputs = gather_named(single.inputs_of(fmu), file, settings, single.settable_in(fmu))
    series = {name: value for name, value in inputs.items() if not isinstance(value, float)}
    start = {name: value for name, value in inputs.items() if isinstance(value, float)}
    parameters = single.settable_in(fmu)
    if "solver.method" in parameters:
        start.setdefault("solver.method", METHODS[run.method].number)
    if run.atol is not None:
        raise typer.BadParameter("an FMU takes a relative tolerance only: --rtol", param_hint="--atol")
    if run.max_step is not None and "solver.max_step" not in parameters:
        raise typer.BadParameter("this FMU has no parameter `solver.max_step`; try --step", param_hint="--max-step")
    if run.max_step is not None:
        start["solver.max_step"] = run.max_step

    def work(progress: Progress) -> Result:
        return single.run_fmu(
            fmu, run.stop, run.step, series, start, run.rtol, progress,
            isolate=contained.isolate, call_timeout=contained.call_timeout,
            strict=contained.strict, pace=run.pace, warn=lambda text: complain(f"warning: {text}"),
        )  # fmt: skip

    deliver(fmu.name, work, run)
