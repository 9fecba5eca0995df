"""`bough run X.ssp`: a system of FMUs, by the master of bough.systems."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bough.cli.console import FAILED, answer, check_target, complain, problems, progress_bar, say
from bough.cli.inputs import gather_named
from bough.cli.running import STDOUT, Progress, write_result
from bough.errors import SimulationError
from bough.result import Result

if TYPE_CHECKING:
    from bough.systems import Assembly


class Order(str, Enum):
    """Orders of stepping."""

    jacobi = "jacobi"
    gauss_seidel = "gauss-seidel"


class Extrapolation(str, Enum):
    """What inputs do between communication points."""

    constant = "constant"
    linear = "linear"
    energy = "energy"


@dataclass(frozen=True)
class SystemRun:
    """Options of the run of a package; None: as the package says. Times in s."""

    stop: float | None
    step: float | None
    order: Order | None
    extrapolation: Extrapolation | None
    tolerance: float | None
    every: int | None
    output: Path
    as_json: bool

    def special(self) -> list[str]:
        """Names of the options that were given and that only packages have."""
        named = {"--order": self.order, "--extrapolation": self.extrapolation}
        return [
            name for name, value in (named | {"--tolerance": self.tolerance, "--every": self.every}).items() if value
        ]

    def check(self) -> None:
        """Refuse numbers that make no run.

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
        if self.output != STDOUT:
            check_target(self.output)

    def execute(self, path: Path, file: Path | None, settings: Iterable[str]) -> None:
        """Run a system, write, tell. A run that fails leaves what it has, with a message.

        Args:
            path: The SSP package.
            file: CSV of inputs over time, if any.
            settings: Inputs and parameters, `component.variable=value`.
        """
        from bough.systems import open_package

        self.check()
        with tempfile.TemporaryDirectory(prefix="bough-", ignore_cleanup_errors=True) as scratch:
            assembly = open_package(path, Path(scratch))
        for warning in assembly.warnings:
            complain(f"warning: {warning}")
        inputs, values = _sorted(assembly, file, settings)
        failure: SimulationError | None = None
        with progress_bar(assembly.name) as progress:
            try:
                result = self._run(path, inputs, values, progress)
            except SimulationError as error:
                if error.result is None:
                    if self.as_json:
                        answer(problems(error))
                    raise
                failure, result = error, error.result
        write_result(result, self.output)
        if self.as_json:
            answer(_summary(result, self.output, failure))
        if failure is None:
            say(_told(result, self.output))
            return
        complain(str(failure))
        where = "on stdout" if self.output == STDOUT else f"in {self.output}"
        complain(f"the {len(result)} rows until t = {result.t[-1]:.9g} s are {where}")
        raise typer.Exit(FAILED)

    def _run(self, path: Path, inputs: dict[str, Any], values: dict[str, Any], progress: Progress) -> Result:
        from bough.systems import run

        return run(
            path,
            self.stop,
            self.step,
            None if self.order is None else self.order.value,
            extrapolation=None if self.extrapolation is None else self.extrapolation.value,
            tolerance=self.tolerance,
            inputs=inputs,
            values=values,
            every=self.every or 1,
            progress=progress,
        )


def _sorted(assembly: Assembly, file: Path | None, settings: Iterable[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Inputs over time, and values before the run."""
    from bough.systems.settings import unsettable

    free = [".".join(port) for port in assembly.open_inputs()]
    taken = {link.target for link in assembly.links}
    known = [
        f"{c.name}.{name}"
        for c in assembly.components
        for name in c.interface.variables
        if unsettable(c, name) is None and (c.name, name) not in taken
    ]
    inputs = dict(gather_named(free, file, []))
    values = gather_named(known, None, settings)
    twice = [name for name in values if name in inputs]
    if twice:
        raise typer.BadParameter(f"{twice[0]} is given twice", param_hint="--set")
    return inputs, values


def _summary(result: Result, output: Path, failure: SimulationError | None) -> dict[str, Any]:
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
        "ports": [
            {"port": name, "energy": statistics[f"energy {name}"], "residual": statistics[f"residual {name}"]}
            for name in names
        ],
        "error": None if failure is None else str(failure),
    }


def _told(result: Result, output: Path) -> str:
    steps, seconds = result.statistics["steps"], result.statistics["seconds"]
    told = f"{output}: {len(result)} rows of {len(result.names)} variables to t = {result.t[-1]:.6g} s"
    return f"{told} ({steps:.0f} steps, {seconds:.3g} s)"
