"""What `bough flex` tells of a flexible body: mass, inertia, nodes, modes, and a picture of them."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from bough.cli.console import answer, complain, console, guarded, say
from bough.errors import ModelError, Problem, SimulationError, did_you_mean, listed
from bough.files import check_different
from bough.flex import FlexBody, flex_body, load
from bough.flex.fe.fe_body import fe_body, read_fe
from bough.flex.fe.node_shapes import all_shapes, counted_entry, free_entry
from bough.flex.integrals import inertia_tensor
from bough.flex.sid.sid import load_sid, sid_body, write_sid
from bough.model import Beam, Body, Fe, Model
from bough.model.named_files import check_target
from bough.model.resolve_fe import ENDINGS
from bough.report import Section, Sketch, draw_modes

Array: TypeAlias = NDArray[np.float64]

SHOWN_NODES = 8
"""Nodes that the table shows; the JSON has all."""
DRAWN_MODES = 12
"""Modes of a body that the picture shows."""
MOST_LINES = 4000
"""Lines between nodes beyond which a body is drawn by its nodes alone."""


@dataclass(frozen=True, eq=False)
class Shown:
    """A body to be told of.

    Attributes:
        name: Of the body, or of its file.
        body: Its data.
        kind: 'beam', 'nodal' or 'fe', or the format of a file that is no model.
        fe: Entry of an FE body whose modes are known at nodes that the body does not have; None for another.
        section: Of a beam, to be drawn; None for another.
        stiffening: Whether its model asks for geometric stiffening.
        note: What a user should know of the file or the body; empty if nothing.
        pieces: Bodies that a beam is cut into.
    """

    name: str
    body: FlexBody
    kind: str
    fe: Fe | None = None
    section: Section | None = None
    stiffening: bool = True
    note: str = ""
    pieces: int = 1


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
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON, for a program.")] = False,
) -> None:
    """Show flexible bodies: mass, inertia, nodes, modes, and a picture of the modes."""
    picture = Path(f"{file.stem}_modes.png") if output is None and not as_json else output
    if picture is not None:
        check_picture(picture, file)
    if sid is not None:
        check_target(sid, file, stream=True)
    check_different(picture, sid)
    shown = bodies_of(file, body)
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
    if picture is not None and any(each.body.nm for each in shown):
        draw_modes([sketch(each) for each in shown if each.body.nm], picture)
        say(f"{picture}: the modes")
    if sid is not None and not as_json:
        say(f"{sid}: " + ", ".join(f"{name} is node {number}" for name, number in numbers.items()))


def check_picture(path: Path, *inputs: Path) -> None:
    """Refuse a picture that is no PNG, cannot be written, or is one of the inputs, before the work begins."""
    if path.suffix.lower() != ".png":
        raise typer.BadParameter(f"expected a name that ends in .png, found {path}", param_hint="-o")
    check_target(path, *inputs)


def bodies_of(file: Path, wanted: str | None) -> list[Shown]:
    """The flexible bodies of a model, or that of a file.

    Raises:
        ModelError: The file is wrong.
        SimulationError: It has no such body.
    """
    if not file.is_file():
        raise SimulationError(f"cannot read {file}: there is no such file")
    kind = ENDINGS.get(file.suffix.lower())
    if kind is not None:
        if wanted is not None:
            raise SimulationError(f"{file} holds one body: leave out {wanted!r}")
        return [_sid_file(file) if kind == "sid" else _fe_file(file, kind)]
    model = load(file)
    flexible = [each for each in model.whole_bodies if each.rigid is None]
    if not flexible:
        raise SimulationError(f"{file}: all bodies are rigid")
    if wanted is not None:
        names = [each.name for each in flexible]
        flexible = [each for each in flexible if each.name == wanted]
        if not flexible:
            rigid = any(each.name == wanted for each in model.whole_bodies)
            told = f"the body {wanted!r} is rigid" if rigid else f"there is no body {wanted!r}"
            hint = "" if rigid else did_you_mean(wanted, names)
            raise SimulationError(f"{file}: {told}; flexible bodies are: {listed(names)}{hint}")
    return [_of_model(each, model) for each in flexible]


def _of_model(body: Body, model: Model) -> Shown:
    whole = body.fe if body.fe is not None and body.fe.format != "sid" and body.fe.modes.boundary != "file" else None
    section = None if body.beam is None else _section(body.beam)
    pieces, note = model.pieces(body.name), ""
    if len(pieces) > 1:
        modes = sum(piece.mode_count for piece in pieces)
        note = f"{body.name} moves as {len(pieces)} bodies with {modes} modes; shown are mass and modes of the whole"
    return Shown(body.name, flex_body(body), body.kind, whole, section, model.geometric_stiffening, note, len(pieces))


def _section(beam: Beam) -> Section:
    """The rectangle with the beam's second moments per area at its root."""
    root = beam.section
    width, height = np.sqrt(12.0 * np.array([root.Iz, root.Iy]) / root.area)
    return Section(float(width), float(height), beam.up)


def _sid_file(file: Path) -> Shown:
    sid = load_sid(file)
    turned = sum(bool(abs(node.AP.M0 - np.eye(3)).max() > 1e-9) for node in sid.nodes)
    note = (
        f"{turned} nodes have axes of their own in the file; bough's are parallel to the body frame" if turned else ""
    )
    return Shown(file.stem, sid_body(sid), "sid", note=note)


def _fe_file(file: Path, kind: str) -> Shown:
    """A file by itself: free-free modes; what else it needs can only be told in a model file."""
    fe = free_entry(os.path.abspath(file), kind)
    try:
        fe = counted_entry(fe, read_fe(fe))
        return Shown(file.stem, fe_body(fe, file.stem), kind, fe)
    except ModelError as error:
        raise ModelError([_told(problem, file) for problem in error.problems]) from None


def _told(problem: Problem, file: Path) -> Problem:
    """A problem of a file by itself, with the way out that a model file is."""
    keys = "mesh, mass_file, matrices, units, interfaces"
    cure = (
        f"{problem.cure}; or write a model file whose body says the rest: fe: {{file: {file.name}, ...}}, with {keys}"
    )
    return replace(problem, file=str(file), cure=cure)


def _export(shown: list[Shown], path: Path) -> dict[str, int]:
    if len(shown) > 1:
        names = ", ".join(each.name for each in shown)
        raise typer.BadParameter(f"name one body to write: {names}", param_hint="--sid")
    each = shown[0]
    if each.pieces > 1:
        told = f"{each.name} is a beam cut into {each.pieces} bodies, and a SID file holds one"
        raise SimulationError(f"{told}: remove `bodies` from the beam and choose its modes")
    return write_sid(each.body, path, each.stiffening, f"{each.name}, written by bough")


def facts(shown: Shown) -> dict[str, Any]:
    """A body in numbers, ready for JSON; SI units."""
    body = shown.body
    m, offset = body.mass, body.integrals.inertia[1:4] / body.mass
    J = inertia_tensor(body.integrals.inertia) - m * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    shares = effective_masses(body)
    return {
        "name": shown.name,
        "kind": shown.kind,
        "mass": m,
        "centre": (body.node_positions[body.attach] + offset).tolist(),
        "inertia": [float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))],
        "attach": body.node_names[body.attach],
        "nodes": {name: at.tolist() for name, at in zip(body.node_names, body.node_positions, strict=True)},
        "geometric_stiffening": body.stiffening is not None,
        "modes": [_mode(body, k, shares[:, k]) for k in range(body.nm)],
        "effective_mass": total_effective_mass(body).tolist(),
    }


def _mode(body: FlexBody, k: int, shares: Array) -> dict[str, Any]:
    omega = float(body.frequencies[k])
    stiffness, mass = float(body.stiffness[k, k]), float(body.modal_mass[k, k])
    critical = 2.0 * np.sqrt(max(stiffness * mass, 0.0))
    return {
        "name": body.mode_names[k] if body.mode_names else f"mode {k + 1}",
        "frequency": omega / (2 * np.pi) if np.isfinite(omega) else None,
        "damping": float(body.damping[k, k]) / critical if critical > 0.0 else None,
        "effective_mass": shares.tolist(),
    }


def effective_masses(body: FlexBody) -> Array:
    """Share of the body's mass that each mode by itself moves along x, y, z, (3, nm): (sum m gam)^2 / (M_rr m)."""
    mass = np.diag(body.modal_mass) * body.mass
    return np.divide(body.integrals.F0[3:] ** 2, mass, out=np.zeros((3, body.nm)), where=mass > 0.0)


def total_effective_mass(body: FlexBody) -> Array:
    """Share of the body's mass that its modes move together, (3,): E M^-1 E' / m."""
    E = body.integrals.F0[3:]
    if not body.nm:
        return np.zeros(3)
    total: Array = np.einsum("ir,ri->i", E, np.linalg.lstsq(body.modal_mass, E.T, rcond=1e-12)[0]) / body.mass
    return total


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


def sketch(shown: Shown) -> Sketch:
    """The body and its first modes, to be drawn."""
    body = shown.body
    positions, shapes, edges = body.node_positions, body.node_shapes, None
    marked: tuple[int, ...] = (body.attach,)
    if shown.fe is not None:
        positions, shapes, edges = all_shapes(shown.fe)
        marked = ()
        if len(edges) > MOST_LINES:
            edges = edges[:0]
    count = min(body.nm, DRAWN_MODES)
    captions = []
    for k, mode in enumerate(facts(shown)["modes"][:count]):
        hertz = "no mass" if mode["frequency"] is None else f"{mode['frequency']:.4g} Hz"
        label = mode["name"] if mode["name"] == f"mode {k + 1}" else f"{k + 1}  {mode['name']}"
        captions.append(f"{label}\n{hertz}")
    more = f", {count} of {body.nm} modes" if count < body.nm else ""
    return Sketch(f"{shown.name}{more}", positions, shapes[:, :, :count], captions, edges, marked, shown.section)
