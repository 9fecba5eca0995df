"""What `bough flex` tells of a flexible body: mass, inertia, nodes, modes, and a picture of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from bough.cli.console import answer, complain, console, guarded, say
from bough.cli.options import Json
from bough.errors import ArgumentError, SimulationError
from bough.files import check_different
from bough.flex.appendix_c import check_ending, write_integrals
from bough.flex.body_summary import Shown, bodies_of, facts
from bough.flex.sid.sid import write_sid
from bough.model.named_files import check_target
from bough.report import draw_modes
from bough.report.sketches import body_sketches

SHOWN_NODES = 8
"""Nodes that the table shows; the JSON has all."""


@guarded
def flex(
    file: Annotated[
        Path,
        typer.Argument(
            help="Model file, or the file of one body: .sid, .npz, .sti, .mtx, .bdf ...", show_default=False
        ),
    ],
    body: Annotated[str | None, typer.Argument(help="One body of the model.", show_default="all flexible ones")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="PNG", help="The picture.", show_default="FILE_modes.png, none with --json"
        ),
    ] = None,
    sid: Annotated[Path | None, typer.Option("--sid", metavar="FILE", help="Write the body as a SID_FEM file.")] = None,
    integrals: Annotated[
        Path | None,
        typer.Option("--integrals", metavar="FILE", help="Write the body's modal integrals by name: .json or .npz."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show flexible bodies: mass, inertia, nodes, modes, and a picture of the modes."""
    picture = Path(f"{file.stem}_modes.png") if output is None and not as_json else output
    if picture is not None:
        check_picture(picture, file)
    if sid is not None:
        check_target(sid, file, stream=True)
    if integrals is not None:
        try:
            check_ending(integrals)
        except ArgumentError as error:
            raise typer.BadParameter(str(error), param_hint="--integrals") from None
        check_target(integrals, file)
    check_different(picture, sid, integrals)
    shown = bodies_of(file, body)
    if integrals is not None:
        if len(shown) != 1:
            names = ", ".join(each.name for each in shown)
            raise typer.BadParameter(f"name one body of {names}", param_hint="--integrals")
        write_integrals(shown[0].body, integrals)
    numbers: dict[str, int] = {}
    if sid is not None:
        numbers = _export(shown, sid)
    if as_json:
        answer({"bodies": [facts(each) for each in shown], **({"sid": str(sid), "nodes": numbers} if sid else {})})
    else:
        for each in shown:
            print_facts(facts(each), console())
            if each.note:
                complain(f"note: {each.note}")
    sketches = [] if picture is None else body_sketches(shown)
    if picture is not None and sketches:
        draw_modes(sketches, picture)
        say(f"{picture}: the modes")
    if sid is not None and not as_json:
        say(f"{sid}: " + ", ".join(f"{name} is node {number}" for name, number in numbers.items()))


def check_picture(path: Path, *inputs: Path) -> None:
    """Refuse a picture that is no PNG, cannot be written, or is one of the inputs, before the work begins."""
    if path.suffix.lower() != ".png":
        raise typer.BadParameter(f"expected a name that ends in .png, found {path}", param_hint="-o")
    check_target(path, *inputs)


def _export(shown: list[Shown], path: Path) -> dict[str, int]:
    if len(shown) > 1:
        names = ", ".join(each.name for each in shown)
        raise typer.BadParameter(f"name one body to write: {names}", param_hint="--sid")
    each = shown[0]
    if each.pieces > 1:
        told = f"{each.name} is a beam cut into {each.pieces} bodies, and a SID file holds one"
        raise SimulationError(f"{told}: remove `bodies` from the beam and choose its modes")
    return write_sid(each.body, path, each.stiffening, f"{each.name}, written by bough")


def print_facts(data: dict[str, Any], out: Console) -> None:
    """A body as a few lines and two tables."""
    modes, nodes = data["modes"], data["nodes"]
    reach = max(abs(x) for at in nodes.values() for x in at)
    counts = f"{len(nodes)} node{'s' if len(nodes) != 1 else ''}, {len(modes)} mode{'s' if len(modes) != 1 else ''}"
    out.print(f"{data['name']} ({data['kind']}): {data['mass']:.6g} kg, {counts}", style="bold", markup=False)
    about = ("xx", "yy", "zz", "xy", "xz", "yz")
    inertia = ", ".join(f"{axes} {x:.5g}" for axes, x in zip(about, _tidy(data["inertia"]), strict=True))
    out.print(f"centre {_vector(data['centre'], reach)} m; inertia about it: {inertia} kg.m2", markup=False)
    table = Table(header_style="bold")
    for title, side in (("node", "left"), ("position, m", "left"), ("", "left")):
        table.add_column(title, justify=side)  # type: ignore[arg-type]
    names = list(nodes)
    middle = len(names) - SHOWN_NODES
    for i, name in enumerate(names):
        if middle > 0 and SHOWN_NODES // 2 <= i < SHOWN_NODES // 2 + middle:
            if i == SHOWN_NODES // 2:
                table.add_row("...", f"{middle} more", "")
            continue
        table.add_row(name, _vector(nodes[name], reach), "attach" if name == data["attach"] else "")
    out.print(table)
    if modes:
        out.print(_mode_table(modes, data["effective_mass"]))


def _mode_table(modes: list[dict[str, Any]], total: list[float]) -> Table:
    table = Table(header_style="bold", show_footer=True)
    table.add_column("#", justify="right")
    table.add_column("mode", footer="all together")
    for title in ("frequency, Hz", "damping, %"):
        table.add_column(title, justify="right")
    for axis, share in zip("xyz", total, strict=True):
        table.add_column(f"moves mass\nalong {axis}, %", justify="right", footer=_percent(share))
    for i, mode in enumerate(modes, 1):
        hertz = "-" if mode["frequency"] is None else f"{mode['frequency']:.5g}"
        damping = "-" if mode["damping"] is None else f"{100 * mode['damping']:.3g}"
        table.add_row(str(i), mode["name"], hertz, damping, *(_percent(share) for share in mode["effective_mass"]))
    return table


def _percent(share: float) -> str:
    return "" if share < 5e-5 else f"{100 * share:.1f}"


def _tidy(numbers: list[float], largest: float = 0.0) -> list[float]:
    """Round-off next to the largest number becomes zero."""
    largest = max([largest, *(abs(x) for x in numbers)])
    return [x if abs(x) > 1e-12 * largest else 0.0 for x in numbers]


def _vector(numbers: list[float], largest: float) -> str:
    return "[" + ", ".join(f"{x:.5g}" for x in _tidy(numbers, largest)) + "]"
