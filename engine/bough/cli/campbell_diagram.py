"""The command `bough campbell`, and the option --spin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from bough.cli.console import answer, console, guarded, say, told_warnings
from bough.cli.options import Json
from bough.errors import ArgumentError
from bough.files import write_text
from bough.flex import load
from bough.mechanism.campbell import SPEEDS, campbell
from bough.mechanism.mechanism import Mechanism
from bough.model.named_files import check_target
from bough.text.ranges import named_numbers, named_range

SHOWN = 6
"""Frequencies of each speed that the table shows; CSV and JSON have all."""
ENDINGS = (".png", ".svg", ".csv")


def spins(settings: Sequence[str]) -> dict[str, float]:
    """`hub=52.4`, several joined by commas, as numbers."""
    try:
        return named_numbers(settings, "HINGE=SPEED, rad/s")
    except ArgumentError as error:
        raise typer.BadParameter(str(error), param_hint="--spin") from None


@guarded
def diagram(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    spin: Annotated[
        str, typer.Option("--spin", metavar="HINGE=FROM:TO", help="Hinge and range of speeds, rad/s: hub=0:60.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The diagram: .png, .svg or .csv.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Campbell diagram: natural frequencies over the speed of a hinge, about steady rotation."""
    if output is not None:
        if output.suffix.lower() not in ENDINGS:
            raise typer.BadParameter(f"expected a name that ends in {', '.join(ENDINGS)}, found {output}")
        check_target(output, model)
    system = Mechanism(load(model))
    try:
        hinge, speeds = named_range(spin, SPEEDS)
    except ArgumentError as error:
        raise typer.BadParameter(f"{error}, rad/s", param_hint="--spin") from None
    with told_warnings():
        found = campbell(system, {hinge: speeds})
    if as_json:
        rows = [[None if np.isnan(x) else float(x) for x in row] for row in found.frequencies]
        answer({"hinge": hinge, "speeds": found.speeds.tolist(), "frequencies": rows})
    else:
        out = console()
        out.print(
            f"{system.model.name}: frequencies, Hz, while {hinge} spins, seen by one who turns along", markup=False
        )
        for speed, hertz in zip(found.speeds, found.frequencies, strict=True):
            out.print(f"{speed:10.5g} rad/s  " + "  ".join(f"{x:10.5g}" for x in hertz[:SHOWN]), markup=False)
    if output is None:
        return
    if output.suffix.lower() == ".csv":
        write_text(output, found.to_csv())
    else:
        from bough.report.campbell_picture import draw_campbell

        name = f"{system.model.name}, {hinge} spinning"
        draw_campbell(output, name, found.speeds, found.frequencies, found.damping)
    say(f"{output}: the diagram")
