"""The command `bough campbell`, and the option --spin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from bough.cli.console import answer, console, guarded, say
from bough.files import write_text
from bough.flex import load
from bough.mechanism.campbell import SPEEDS, campbell
from bough.mechanism.mechanism import Mechanism
from bough.model.named_files import check_target

SHOWN = 6
"""Frequencies of each speed that the table shows; CSV and JSON have all."""
ENDINGS = (".png", ".svg", ".csv")


def spins(settings: Sequence[str]) -> dict[str, float]:
    """`hub=52.4`, several joined by commas, as numbers."""
    out: dict[str, float] = {}
    for setting in (part.strip() for given in settings for part in given.split(",") if part.strip()):
        name, _, text = (part.strip() for part in setting.partition("="))
        try:
            out[name] = float(text)
        except ValueError:
            told = f"expected HINGE=SPEED, rad/s, found {setting!r}"
            raise typer.BadParameter(told, param_hint="--spin") from None
    return out


def speed_range(setting: str) -> tuple[str, NDArray[np.float64]]:
    """`hub=0:60` or `hub=0:60:31`: the hinge and its speeds."""
    name, _, text = (part.strip() for part in setting.partition("="))
    try:
        first, last, *rest = text.split(":")
        count = int(rest[0]) if rest else SPEEDS
        if len(rest) > 1 or not 2 <= count <= 10_000:
            raise ValueError(text)
        return name, np.linspace(float(first), float(last), count)
    except ValueError:
        told = f"expected HINGE=FROM:TO or HINGE=FROM:TO:NUMBER, rad/s, found {setting!r}"
        raise typer.BadParameter(told, param_hint="--spin") from None


@guarded
def diagram(
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    spin: Annotated[
        str, typer.Option("--spin", metavar="HINGE=FROM:TO", help="Hinge and range of speeds, rad/s: hub=0:60.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The diagram: .png, .svg or .csv.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON, for a program.")] = False,
) -> None:
    """Campbell diagram: natural frequencies over the speed of a hinge, about steady rotation."""
    if output is not None:
        if output.suffix.lower() not in ENDINGS:
            raise typer.BadParameter(f"expected a name that ends in {', '.join(ENDINGS)}, found {output}")
        check_target(output, model)
    system = Mechanism(load(model))
    hinge, speeds = speed_range(spin)
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
