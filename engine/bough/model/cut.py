"""A beam cut into bodies: pieces that are fixed to one another, each with modes that carry a moment at its tip.

The pieces are Craig-Bampton bodies: six static shapes for the tip of a piece, and for every other node that carries a
hinge or a mass. So each piece bends under any force and moment at its ends as a beam does, and with n pieces the
statics of small deflections are exact, frequencies err with n^-4, and the second-order parts that one body with linear
modes lacks (foreshortening, the turning of loads) with n^-2, because each piece turns by the n-th part only.
Cantilever modes do not do: their curvature vanishes at the tip, so that a piece carries no moment there, and more
pieces converge to the wrong limit.

Node i of the beam stays node i, whichever piece has it, and modes are numbered through from the root.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from bough.model.axis import Array, corner_places, divided
from bough.model.beam_data import Beam, BeamModes, Cut, ModalInitial, Vector3, beam_node_names
from bough.model.model import Body, Hinge
from bough.text.problems import Report, describe

SHOWN_MODES = 12
"""Lowest modes of the whole beam that are there to be shown."""


def cut_bodies(bodies: Sequence[Body], report: Report) -> tuple[Body, ...]:
    """The bodies with every beam cut that asks for it; children hang on the piece that has their node."""
    taken = {name for body in bodies for name in (body.name, body.hinge.name)}
    out: list[Body] = []
    owner: dict[tuple[str, str], str] = {}
    for i, body in enumerate(bodies):
        parent = owner.get((body.parent, body.at), body.parent)
        body = body.model_copy(update={"parent": parent}) if parent != body.parent else body
        if body.beam is None or body.beam.bodies == 1:
            out.append(body)
            continue
        hung = {other.at for other in bodies if other.parent == body.name}
        pieces = _pieces(body, body.beam, hung)
        _check_initial(body.beam, sum(piece.mode_count for piece in pieces), i, report)
        for piece in pieces:
            for node in piece.node_names:
                owner.setdefault((body.name, node), piece.name)
        for piece in pieces[1:]:
            if piece.hinge.name in taken:
                expected = f"a name other than {piece.hinge.name!r}, which the cut at that node of {body.name!r} has"
                report.add(("bodies", i, "name"), expected, f"{piece.hinge.name!r} twice", "rename one of the two")
        out += pieces
    return tuple(out)


def piece_bounds(elements: int, bodies: int) -> list[int]:
    """Nodes (indices) at which the pieces begin, and the tip: as equal numbers of elements as can be."""
    return [round(k * elements / bodies) for k in range(bodies + 1)]


def _check_initial(beam: Beam, count: int, index: int, report: Report) -> None:
    for key in ("eta", "eta_dot"):
        given = getattr(beam.initial, key)
        if given and len(given) != count:
            expected = f"a list of {count} numbers, one for each mode of the {beam.bodies} bodies"
            path = ("bodies", index, "beam", "initial", key)
            report.add(path, expected, describe(list(given)), f"give {count} values")


def _pieces(body: Body, beam: Beam, hung: Collection[str]) -> list[Body]:
    names = beam_node_names(beam.elements)
    corners = np.array(beam.points)
    s = divided(corner_places(corners), beam.elements)
    x = np.stack([np.interp(s, corner_places(corners), corners[:, i]) for i in range(3)], axis=-1)
    bounds = piece_bounds(beam.elements, beam.bodies)
    count = min(SHOWN_MODES, 6 * beam.elements)
    still = ModalInitial(eta=(), eta_dot=())
    shown = BeamModes(boundary="cantilever", count=count)
    whole = beam.model_copy(update={"modes": shown, "initial": still})
    out: list[Body] = []
    before = 0
    for k, (first, last) in enumerate(zip(bounds[:-1], bounds[1:], strict=True)):
        own = names[first : last + 1]
        piece = _piece(beam, s[first : last + 1], x[first : last + 1], own, hung)
        start = {key: getattr(beam.initial, key) for key in ("eta", "eta_dot")}
        total = piece.modes.total or 0
        start = {key: values[before : before + total] or (0.0,) * total for key, values in start.items()}
        piece = piece.model_copy(update={"initial": ModalInitial(**start)})
        cut = Cut(of=body.name, number=k, modes_before=before, whole=whole)
        if k == 0:
            out.append(body.model_copy(update={"beam": piece, "cut": cut}))
        else:
            name, hinge = f"{body.name}#{k + 1}", _fixed(f"{body.name}_{own[0]}")
            next_piece = Body(name=name, parent=out[-1].name, at=own[0], hinge=hinge, beam=piece, cut=cut)
            out.append(next_piece.model_copy(update={"fidelity": body.fidelity}))
        before += total
    return out


def _piece(beam: Beam, s: Array, x: Array, names: tuple[str, ...], hung: Collection[str]) -> Beam:
    """The part of a beam between nodes at path coordinates s (m,), positions x (m, 3)."""
    straight = len(beam.points) == 2
    points: list[Vector3] = [(float(p[0]), float(p[1]), float(p[2])) for p in (x[[0, -1]] if straight else x)]
    # A mass at a cut belongs to the inboard piece, as the node does.
    inner = names if names[0] == "root" else names[1:]
    masses = tuple(mass for mass in beam.masses if mass.node in inner)
    carriers = {*hung, *(mass.node for mass in masses)}
    # A single station holds everywhere; otherwise places may lie outside of the piece.
    uniform = len(beam.stations) == 1
    stations = beam.stations
    if not uniform:
        stations = tuple(station.model_copy(update={"at": station.at - float(s[0])}) for station in beam.stations)
    interfaces = tuple(name for name in names[1:-1] if name in carriers)
    return beam.model_copy(
        update={
            "points": tuple(points),
            "length": float(s[-1] - s[0]),
            "elements": len(names) - 1,
            "stations": stations,
            "masses": masses,
            "modes": beam.modes.model_copy(update={"interfaces": (*interfaces, names[-1])}),
            "names": names,
            "bodies": 1,
        }
    )


def _fixed(name: str) -> Hinge:
    none: tuple[float, ...] = ()
    return Hinge(
        name=name,
        type="fixed",
        axes=(),
        position=(0.0, 0.0, 0.0),
        quaternion=(0.0, 0.0, 0.0, 1.0),
        damping=none,
        stiffness=none,
        rest=none,
        armature=none,
        drive="torque",
        initial_q=none,
        initial_u=none,
    )
