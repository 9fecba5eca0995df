"""`bough report`: a result as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from bough.cli.console import guarded, say
from bough.errors import SimulationError
from bough.flex import load
from bough.mechanism.mechanism import Mechanism
from bough.model.named_files import check_target
from bough.partners import Quantity
from bough.partners.controller import QUANTITIES as CONTROLLER
from bough.partners.model_controller import MODAL
from bough.partners.model_controller import QUANTITIES as MODEL_CONTROLLER
from bough.partners.motor import QUANTITIES as MOTOR
from bough.report.charts import has_mechanism, quantity_of
from bough.run.result import Result

PARTNERS: dict[str, tuple[Quantity, ...]] = {
    "motor": MOTOR,
    "controller": CONTROLLER,
    "model-controller": (*MODEL_CONTROLLER, *MODAL),
}
"""Kinds of partners, and what each may have."""
MAKERS = {".yaml": "a model or a system file", ".yml": "a model or a system file", ".json": "a model or a system file",
          ".fmu": "an FMU", ".ssp": "a packed system"}  # fmt: skip
"""Files that users may have in hand instead of a result, and what they are."""
COMMAND = ("u", "u_ff")
"""Of a controller: volts into an amplifier or N.m on a hinge, as it was built; their names do not tell."""


@guarded
def report(
    run_csv: Annotated[Path, typer.Argument(help="Result of `bough run`.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="HTML", help="The report.", show_default="RUN.html beside the result"),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", metavar="MODEL", help="Model of the run: adds its motion in 3-D and its energy."),
    ] = None,
    exaggerate: Annotated[
        list[float] | None,
        typer.Option(
            "--exaggerate",
            metavar="F",
            help="Factor on the deflections in the animation; several give a choice in the page.",
            show_default="1, and one that shows them if 1 does not",
        ),
    ] = None,
    trail: Annotated[
        list[str] | None,
        typer.Option(
            "--trail",
            metavar="BODY.NODE",
            help="Node whose path is drawn; may be repeated.",
            show_default="the first three of the model's outputs",
        ),
    ] = None,
    frames: Annotated[int, typer.Option("--frames", metavar="N", min=2, max=2000, help="Frames at most.")] = 300,
) -> None:
    """Draw a result as one interactive HTML file, to be opened without a network."""
    if model is None and (exaggerate or trail):
        raise typer.BadParameter("the animation needs the model: add --model MODEL", param_hint="--model")
    target = run_csv.with_suffix(".html") if output is None else output
    check_target(target, run_csv, model, stream=True)
    result = with_units(_read(run_csv))
    from bough.report import write_page

    if model is None:
        write_page(result, target, result.model_name or run_csv.stem, source=run_csv.name)
    else:
        from bough.report.retrace import energy_series, find_prefix
        from bough.report.scenes import animate

        system = Mechanism(load(model))
        prefix = find_prefix(system, result)
        scene = animate(system, result, frames=frames, exaggeration=exaggerate or None, trails=trail, prefix=prefix)
        title = _title(system.model.name, result, prefix)
        write_page(result, target, title, scene, [energy_series(system, result, prefix)], source=run_csv.name)
    hint = "; `--model MODEL` adds the animation" if model is None and has_mechanism(result.names) else ""
    say(f"{target}: {len(result)} rows of {len(result.names)} variables{hint}")


def _read(path: Path) -> Result:
    """The result in a file.

    Raises:
        SimulationError: It is not there, or no result: with what it seems to be, and what to do.
    """
    found = MAKERS.get(path.suffix.lower(), "")
    if found and path.exists():
        raise SimulationError(
            f"{path}: expected the CSV file of a run, found {found}; run it first, `bough run {path} -o run.csv`, "
            "then `bough report run.csv`"
        )
    return Result.from_csv(path)


def _title(name: str, result: Result, prefix: str) -> str:
    """The model, and the other components of the system that it ran in."""
    parts = dict.fromkeys(each.partition(".")[0] for each in result.names if prefix)
    others = [part for part in parts if part != prefix.removesuffix(".")]
    return f"{name} with {', '.join(others)}" if others else name


# ---- partners of bough, by the names of their variables


def with_units(result: Result) -> Result:
    """The result with the units of the motors and controllers of bough in it: a CSV file carries none."""
    owned: dict[str, list[str]] = {}
    for name in result.names:
        owner, _ = quantity_of(name)
        if "." not in owner:
            owned.setdefault(owner, []).append(name)
    kinds = {owner: partner_kind({quantity_of(name)[1] for name in names}) for owner, names in owned.items()}
    units = dict(result.units)
    for owner, kind in kinds.items():
        known: dict[str, str | None] = {q.name: q.unit for q in PARTNERS.get(kind, ())}
        if kind == "controller":
            command = _command_unit(result, owned[owner], "motor" in kinds.values())
            known |= dict.fromkeys(COMMAND, command)
        for name in owned[owner] if kind else ():
            unit = known[quantity_of(name)[1]]
            if unit is not None:
                units.setdefault(name, unit)
    return Result(result.t, {name: result[name] for name in result.names}, units, result.model_name, result.statistics)


def partner_kind(keys: set[str]) -> str:
    """Which partner has these quantities: all of its outputs, and none that it does not know; '' for no partner."""
    for kind, quantities in PARTNERS.items():
        # A mechanism without modes leaves a model-controller none to estimate.
        outputs = {q.name for q in quantities if q.role == "output" and q not in MODAL}
        if outputs <= keys <= {q.name for q in quantities}:
            return kind
    return ""


def _command_unit(result: Result, names: list[str], with_motor: bool) -> str | None:
    """Unit of a controller's command, by what it goes to; None if that cannot be told."""
    torques = [result[name] for name in result.names if quantity_of(name)[1] == "tau"]
    commands = [result[name] for name in names if quantity_of(name)[1] == "u"]
    if any(np.ptp(u) > 0.0 and np.array_equal(u, tau) for u in commands for tau in torques):
        return "N.m"
    return "V" if with_motor else None
