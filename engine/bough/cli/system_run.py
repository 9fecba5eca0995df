"""`bough run X.ssp`, or a system file: a system of FMUs, by the master of bough.coupling."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from bough.cli.console import FAILED, answer, complain, problems, progress_bar, say
from bough.cli.containing import Contained
from bough.cli.inputs import gather_named
from bough.cli.running import STDOUT, Progress, check_result_output, write_result
from bough.errors import BoughError, SimulationError
from bough.run.pace import REAL_TIME, Pacer
from bough.run.pace import told as told_pace
from bough.run.result import Interrupted, Result

if TYPE_CHECKING:
    from bough.coupling import Assembly


class Order(str, Enum):
    """Orders of stepping."""

    jacobi = "jacobi"
    gauss_seidel = "gauss-seidel"


class Extrapolation(str, Enum):
    """What inputs do between communication points."""

    constant = "constant"
    linear = "linear"
    energy = "energy"


def is_system(path: Path) -> bool:
    """Whether a file is an SSP package or a system file."""
    if path.suffix.lower() == ".ssp":
        return True
    from bough.coupling import is_system_file

    return is_system_file(path)


@dataclass(frozen=True)
class SystemRun:
    """Options of the run of a system; None: as the package or the system file says. Times in s."""

    stop: float | None
    step: float | None
    order: Order | None
    extrapolation: Extrapolation | None
    tolerance: float | None
    every: int | None
    output: Path
    as_json: bool
    contained: Contained
    settle: bool = False
    pace: Pacer | None = None

    def special(self) -> list[str]:
        """Names of the options that were given and that only packages have."""
        named = {"--order": self.order, "--extrapolation": self.extrapolation}
        return [
            name for name, value in (named | {"--tolerance": self.tolerance, "--every": self.every}).items() if value
        ]

    def check(self, *inputs: Path | None) -> None:
        """Refuse numbers that make no run, and an output that is one of the files it reads.

        Raises:
            typer.BadParameter: Wrong use.
            SimulationError: The output cannot be written.
        """
        for name, value in (("--stop", self.stop), ("--step", self.step)):
            if value is not None and not 0.0 < value < float("inf"):
                raise typer.BadParameter(f"expected more than zero seconds, found {value}", param_hint=name)
        if self.tolerance is not None and not 0.0 < self.tolerance < 1.0:
            found = f"expected a number between 0 and 1, found {self.tolerance}"
            raise typer.BadParameter(found, param_hint="--tolerance")
        if self.every is not None and self.every < 1:
            raise typer.BadParameter(f"expected 1 or more, found {self.every}", param_hint="--every")
        if self.output == STDOUT and self.as_json:
            raise typer.BadParameter("the result and --json cannot both go to stdout", param_hint="-o -")
        check_result_output(self.output, *inputs)

    def execute(self, path: Path, file: Path | None, settings: Iterable[str]) -> None:
        """Run a system, write, tell. A run that fails or is interrupted leaves what it has, with a message.

        Args:
            path: The SSP package, or the system file.
            file: CSV of inputs over time, if any.
            settings: Inputs and parameters, `component.variable=value`.
        """
        from bough.coupling import open_system

        self.check(path, file)
        failure: SimulationError | Interrupted | None = None
        with tempfile.TemporaryDirectory(prefix="bough-", ignore_cleanup_errors=True) as scratch:
            try:
                assembly = open_system(path, Path(scratch))
                inputs, values = _sorted(assembly, file, settings)
                with progress_bar(assembly.name) as progress:
                    result = self._run(assembly, inputs, values, progress)
            except (SimulationError, Interrupted) as error:
                if error.result is None:
                    self._refuse(error)
                failure, result = error, error.result
            except BoughError as error:
                self._refuse(error)
        self._deliver(result, failure)

    def _refuse(self, error: BaseException) -> NoReturn:
        """Tell a program of an error without a result; `guarded` tells the person."""
        if self.as_json and isinstance(error, BoughError):
            answer(problems(error))
        raise error

    def _deliver(self, result: Result, failure: BaseException | None) -> None:
        """Write the rows, and say whether they are all."""
        write_result(result, self.output)
        if self.as_json:
            answer(_summary(result, self.output, failure))
        if failure is None:
            say(_told(result, self.output))
            if self.pace is not None:
                say(told_pace(result.statistics, float(result.t[1] - result.t[0])))
            return
        complain(str(failure))
        where = "on stdout" if self.output == STDOUT else f"in {self.output}"
        complain(f"the {len(result)} rows until t = {result.t[-1]:.9g} s are {where}")
        raise typer.Exit(FAILED)

    def _run(self, assembly: Assembly, inputs: dict[str, Any], values: dict[str, Any], progress: Progress) -> Result:
        from bough.coupling import run

        return run(
            assembly,
            self.stop,
            self.step,
            None if self.order is None else self.order.value,
            extrapolation=None if self.extrapolation is None else self.extrapolation.value,
            tolerance=self.tolerance,
            inputs=inputs,
            values=values,
            every=self.every or 1,
            settle=self.settle,
            pace=self.pace,
            progress=progress,
            warn=lambda text: complain(f"warning: {text}"),
            isolate=self.contained.isolate,
            call_timeout=self.contained.call_timeout,
            strict=self.contained.strict,
        )


def _sorted(assembly: Assembly, file: Path | None, settings: Iterable[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Inputs over time, and values before the run.

    Raises:
        SimulationError: The file cannot be read, or names what is no input.
        typer.BadParameter: A setting is wrong; the message has what can be set instead.
    """
    from bough.coupling.settings import find_settable

    named = list(settings)
    known, ports = [], []
    for setting in named:
        known.append(setting.partition("=")[0].strip())
        try:
            ports += find_settable(assembly, known[-1])
        except SimulationError as error:
            raise typer.BadParameter(str(error), param_hint="--set") from None
    inputs = dict(gather_named([".".join(port) for port in assembly.open_inputs()], file, []))
    values = gather_named(known, None, named)
    twice = [name for port in ports if (name := ".".join(port)) in inputs]
    if twice:
        raise typer.BadParameter(f"{twice[0]} is given twice", param_hint="--set")
    return inputs, values


def _summary(result: Result, output: Path, failure: BaseException | None) -> dict[str, Any]:
    statistics = result.statistics
    names = [key.partition(" ")[2] for key in statistics if key.startswith("energy ")]
    return {
        "ok": failure is None,
        "model": result.model_name,
        "output": str(output),
        "rows": len(result),
        "time": float(result.t[-1]),
        "steps": int(statistics.get("steps", 0)),
        "rejected": int(statistics.get("rejected", 0)),
        "seconds": statistics["seconds"],
        **{key: statistics[key] for key in REAL_TIME if key in statistics},
        "ports": [
            {"port": name, "energy": statistics[f"energy {name}"], "residual": statistics[f"residual {name}"]}
            for name in names
        ],
        "error": None if failure is None else str(failure),
    }


def _told(result: Result, output: Path) -> str:
    steps, seconds = result.statistics["steps"], result.statistics["seconds"]
    where = "stdout" if output == STDOUT else str(output)
    told = f"{where}: {len(result)} rows of {len(result.names)} variables to t = {result.t[-1]:.6g} s"
    return f"{told} ({steps:.0f} steps, {seconds:.3g} s)"
