"""`bough report`: a result as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bough.cli.console import check_target, guarded, say
from bough.flex import load
from bough.result import Result
from bough.system import System


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
    check_target(target)
    result = Result.from_csv(run_csv)
    from bough.report import write_page

    if model is None:
        write_page(result, target, run_csv.stem)
    else:
        from bough.geometry import animate
        from bough.retrace import energy_series, find_prefix

        system = System(load(model))
        prefix = find_prefix(system, result)
        scene = animate(system, result, frames=frames, exaggeration=exaggerate or None, trails=trail, prefix=prefix)
        write_page(result, target, run_csv.stem, scene, [energy_series(system, result, prefix)])
    say(f"{target}: {len(result)} rows of {len(result.names)} variables")
