"""`bough report`: a result as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bough.cli.console import guarded, say
from bough.model.named_files import check_target
from bough.report.charts import has_mechanism
from bough.run.result import Result


@guarded
def report(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Result of `bough run`, in any of its formats.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The report: .html, .pdf, .png or .svg.",
            show_default="RUN.html beside the result",
        ),
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
    """Draw a result: as an interactive page that needs no network (.html), or for paper (.pdf, .png, .svg)."""
    from bough.report.document import PAGE_ENDING, report_ending, write_report

    if model is None and (exaggerate or trail):
        raise typer.BadParameter("the animation needs the model: add --model MODEL", param_hint="--model")
    target = run.with_suffix(PAGE_ENDING) if output is None else output
    check_target(target, run, model, stream=True)
    report_ending(target)
    found = write_report(_source(run), target, model, frames=frames, exaggeration=exaggerate or None, trails=trail)
    hint = "; `--model MODEL` adds the animation" if model is None and has_mechanism(found.names) else ""
    bare = "" if found.units else f"; no units: {run.name} comes without any"
    say(f"{target}: {len(found)} rows of {len(found.names)} variables{bare}{hint}")


def _source(run: Path) -> Path | Result:
    """What to draw: a file; a reference with the units that its description has."""
    from bough.regression import ENDING, read_reference
    from bough.regression.reference import about_path

    return read_reference(run).result() if run.name.endswith(ENDING) and about_path(run).is_file() else run
