"""From `loops:` and `couplings:` to checked ones: names, ends, axes, lengths, coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from bough.model.closures import CLOSURES
from bough.model.ends import resolve_ends
from bough.model.file_loops import CouplingFile, LoopFile
from bough.model.hinges import HINGES
from bough.model.model import Body, Coupling, Loop
from bough.model.resolve_hinge import resolve_axes
from bough.model.tree import GROUND, RESERVED
from bough.text.problems import Path, Report, describe, one_of

MOST_TERMS = 16
"""Of one coupling: what the kernel has room for."""

_VALUE = {"rod": "length", "rolling": "radius"}


def resolve_loops(
    files: Sequence[LoopFile], bodies: Sequence[Body], names: set[str], report: Report
) -> tuple[Loop, ...]:
    """The checked loops; `names` that are taken grows by theirs."""
    nodes = {b.name: b.node_names for b in bodies}
    rigid = {b.name for b in bodies if b.rigid is not None} | {GROUND}
    loops = []
    for i, file in enumerate(files):
        path: Path = ("loops", i)
        name = file.name or f"loop{i + 1}"
        take_name(name, "loop", (*path, "name"), names, report)
        for key in ("length", "radius"):
            if key in file.model_fields_set and _VALUE.get(file.type) != key:
                owner = next(t for t, k in _VALUE.items() if k == key)
                report.add(
                    (*path, key), f"no `{key}` for a {file.type} loop", "it is there", f"remove it: a {owner} has one"
                )
        if file.type == "rolling" and file.radius is None:
            report.add((*path, "radius"), "a number, more than 0: radius, m", "no such key", "write e.g. `radius: 0.3`")
        ends = resolve_ends(file.between, file.frames, nodes, path, report)
        if ends[0].body == ends[1].body and ends[0].body in rigid and file.between[0] != file.between[1]:
            cure = "name nodes of two bodies, or of a flexible one"
            report.add(
                (*path, "between"), "two nodes that can move against each other", f"both on {ends[0].body!r}", cure
            )
        loops.append(
            Loop(
                name=name,
                type=file.type,
                ends=ends,
                axes=resolve_axes(file, CLOSURES[file.type], f"{file.type} loop", path, report),
                value=file.length if file.type == "rod" else file.radius,
            )
        )
    return tuple(loops)


def take_name(name: str, what: str, path: Path, names: set[str], report: Report) -> None:
    """Refuse a name that is taken, and take it."""
    if name in RESERVED or name in names:
        expected = "a name that no body, hinge, loop, coupling or force has"
        report.add(path, expected, f"{name!r:.80}, which is taken", f"give the {what} another name")
    names.add(name)


def resolve_couplings(
    files: Sequence[CouplingFile], bodies: Sequence[Body], names: set[str], report: Report
) -> tuple[Coupling, ...]:
    """The checked couplings; `names` that are taken grows by theirs."""
    hinges = [(b.hinge.name, HINGES[b.hinge.type]) for b in bodies]
    known = [f"{name}.{'s' if kind.n_lin else 'phi'}" for name, kind in hinges if kind.nu == 1]
    couplings = []
    for i, file in enumerate(files):
        path: Path = ("couplings", i)
        name = file.name or f"coupling{i + 1}"
        take_name(name, "coupling", (*path, "name"), names, report)
        if not 1 <= len(file.of) <= MOST_TERMS:
            expected = f"1 to {MOST_TERMS} coordinates"
            report.add((*path, "of"), expected, f"{len(file.of)}", "write e.g. {motor.phi: 1, shoulder.phi: -50}")
        for coordinate, factor in file.of.items():
            if coordinate not in known:
                close = report.suggest(coordinate, known)
                cure = f"name one of {one_of(known)}" if close is None else f"did you mean '{close}'?"
                report.add((*path, "of", coordinate), "a coordinate of a one-DOF hinge", describe(coordinate), cure)
            elif factor == 0.0:
                report.add((*path, "of", coordinate), "a factor that is not zero", "0", "remove the coordinate")
        terms = tuple((c, float(f)) for c, f in file.of.items())
        couplings.append(Coupling(name=name, terms=terms, offset=file.offset))
    return tuple(couplings)
