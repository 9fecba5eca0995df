"""What a mechanism looks like while it moves: a Mechanism and a Result as points and lines, for the report's animation.

Deflections can be exaggerated: all modal coordinates times a factor, then the kinematics as ever. Bodies stay
together, and the larger the factor the farther what hangs on a bent body is off its true place.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bough.errors import SimulationError
from bough.mechanism.mechanism import Mechanism
from bough.model import Body, End, Model, Rigid
from bough.report import Animation, Part, Trail
from bough.report.mode_pictures import spanning_edges
from bough.report.palette import COLOURS, INK
from bough.report.retrace import positions
from bough.run.result import Result

Array: TypeAlias = NDArray[np.float64]

FRAMES = 300
"""Frames of an animation: five seconds at the rate of a screen."""
VISIBLE = 0.12
"""Deflection over a body's size that is easily seen: what an automatic exaggeration aims at."""
MOST_EXAGGERATED = 1000.0
SAMPLES = 40
"""Frames that an automatic exaggeration looks at."""
THIN = 0.02
"""Least side of the box that stands for a rigid body, of its longest."""
_FACES = ((0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
          (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3))  # fmt: skip
"""Triangles of a box with corners numbered by the bits x, y, z."""
_CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def animate(
    system: Mechanism,
    result: Result,
    *,
    frames: int = FRAMES,
    exaggeration: float | Sequence[float] | None = None,
    trails: Sequence[str] | None = None,
    prefix: str = "",
    title: str = "Motion",
    stop: float = np.inf,
) -> Animation:
    """The animation of a run.

    Beams are drawn as their bent node lines, nodal and FE bodies by their nodes, rigid bodies by lines from the hinge
    to their nodes and mass centre, and a box of their mass and inertia.

    Args:
        system: The mechanism.
        result: A run of it, with all of its coordinates.
        frames: Frames at most, evenly spaced in time, taken from the rows of the result.
        exaggeration: Factor on the deflections; several give a choice in the page. By default the true scale and, if
            that shows too little, a factor by which the largest deflection can be seen.
        trails: Nodes `body.node` whose paths are drawn; by default the model's sensors, three at most.
        prefix: What the mechanism's variables begin with in the result of a coupled system, such as `arm.`.
        title: Heading in the page.
        stop: Where it ends, s, if before the end of the run.

    Raises:
        SimulationError: The result lacks coordinates or rows, or there is no such node.
    """
    q = positions(system, result, prefix)
    rows = _frames(result.t, np.all(np.isfinite(q), axis=1) & (result.t <= stop), frames)
    times, q = result.t[rows], q[rows]
    factors = _factors(system, q, exaggeration)
    chosen = system.model.outputs[:3] if trails is None else tuple(trails)
    for node in chosen:
        if node not in system.node_names:
            raise SimulationError(f"there is no node {node!r} whose path could be drawn; see `outputs:` of the model")
    scenes = [_Poses(system, exaggerated(system, q, factor)) for factor in factors]
    parts = [_links(system, scenes)]
    for i, body in enumerate(_seen(system)):
        parts += _body(body, scenes, COLOURS[i % len(COLOURS)])
    parts.append(_hinges(system, scenes))
    if system.model.forces:
        parts.append(_forces(system, scenes))
    paths = [Trail(node, np.stack([scene.points(node) for scene in scenes])) for node in chosen]
    return Animation(times, parts, paths, factors, title)


def mechanism_of(model: Mechanism | Model | str | os.PathLike[str]) -> Mechanism:
    """The mechanism of a model, or of the file of one; a Mechanism is that already."""
    return model if isinstance(model, Mechanism) else Mechanism(model)


def exaggerated(system: Mechanism, q: Array, factor: float) -> Array:
    """Positions with every modal coordinate times a factor."""
    modal = np.array([c.modal for c in system.q_table], dtype=bool)
    out: Array = np.where(modal, factor * q, q)
    return out


def _frames(t: Array, good: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    """Rows nearest to evenly spaced times, without those that are not finite or repeat a time."""
    rows = np.flatnonzero(good & np.isfinite(t))
    rows = rows[np.append(True, np.diff(t[rows]) > 0.0)] if rows.size else rows
    if not rows.size:
        raise SimulationError("the result has no finite rows: there is nothing to animate")
    wanted = np.linspace(t[rows[0]], t[rows[-1]], max(2, most))
    right = np.searchsorted(t[rows], wanted).clip(1, rows.size - 1) if rows.size > 1 else np.zeros(2, dtype=np.intp)
    nearer = np.where(wanted - t[rows[right - 1]] < t[rows[right]] - wanted, right - 1, right)
    out: NDArray[np.intp] = rows[np.unique(nearer.clip(0, rows.size - 1))]
    return out


# ---- poses


class _Poses:
    """Poses of every node at every frame."""

    def __init__(self, system: Mechanism, q: Array) -> None:
        names, still = system.node_names, np.zeros(system.nu)
        self.poses: Array = np.stack([system.node_motion(row, still, None, names)[0] for row in q])
        self.column = {name: j for j, name in enumerate(names)}

    def points(self, node: str) -> Array:
        """Positions of a node, m, (frames, 3)."""
        return self.poses[:, self.column[node], :3]

    def of(self, body: Body) -> Array:
        """Positions of all nodes of a body, m, (frames, nodes, 3)."""
        first = self.column[f"{body.name}.{body.node_names[0]}"]
        return self.poses[:, first : first + len(body.node_names), :3]

    def frame(self, node: str) -> tuple[Array, Array]:
        """Origin (frames, 3) and axes (frames, 3, 3) of a node."""
        pose = self.poses[:, self.column[node]]
        return pose[:, :3], Rotation.from_quat(pose[:, 3:]).as_matrix()


def _base(body: Body) -> str:
    """The node that carries the body's own hinge."""
    if body.rigid is not None:
        return f"{body.name}.origin"
    flexible = body.nodal or body.fe
    return f"{body.name}.{'root' if flexible is None else flexible.attach}"


# ---- bodies as parts


def _seen(system: Mechanism) -> list[Body]:
    """Bodies that are drawn: rotors of gears have no place, and a wheel within a body is its body's."""
    return [b for b in system.model.whole_bodies if not b.hinge.drives and b.spin is None]


def _body(body: Body, scenes: Sequence[_Poses], colour: str) -> list[Part]:
    if body.rigid is not None:
        return [_rigid(body, body.rigid, scenes, colour)]
    points = np.stack([scene.of(body) for scene in scenes])
    count = points.shape[2]
    if body.beam is not None:
        return [Part(body.name, points, [range(count)], colour=colour, width=8.0)]
    heavy = [] if body.nodal is None else [i for i, node in enumerate(body.nodal.nodes) if node.mass > 0.0]
    # Which nodes neighbour each other is not told: the shortest tree through the shape at the start is a good guess.
    edges = spanning_edges(points[0, 0])
    dots = heavy if len(edges) and count <= 60 else range(count)
    return [Part(body.name, points, edges.tolist(), list(dots), colour=colour, width=6.0, dot_size=5.0)]


def _rigid(body: Body, rigid: Rigid, scenes: Sequence[_Poses], colour: str) -> Part:
    """Spokes from the origin to nodes and mass centre, and a box of the same mass and inertia."""
    local = [np.array(node.position) for node in rigid.nodes.values()] + [np.array(rigid.com)]
    box = inertia_box(rigid)
    shape = np.array(local) if box is None else np.concatenate([local, box])
    origin = list(rigid.nodes).index("origin")
    moved = []
    for scene in scenes:
        base, axes = scene.frame(f"{body.name}.origin")
        moved.append(base[:, None, :] + shape @ np.swapaxes(axes, 1, 2))
    reach = [i for i, point in enumerate(local) if i != origin and np.any(point)]
    faces = () if box is None else tuple((a + len(local), b + len(local), c + len(local)) for a, b, c in _FACES)
    spokes = [(origin, i) for i in reach] or [(origin, origin)]
    dots = [len(local) - 1] if rigid.mass > 0.0 else [origin]
    return Part(body.name, np.stack(moved), spokes, dots, faces, colour, 5.0, 5.0)


def inertia_box(rigid: Rigid) -> Array | None:
    """Corners, m, (8, 3), body axes, of the uniform box with a body's mass, mass centre and inertia; None for a point.

    A box with sides a, b, c has `I_1 = m (b^2 + c^2) / 12`, so that `a^2 = 6 (I_2 + I_3 - I_1) / m`.
    """
    xx, yy, zz, xy, xz, yz = rigid.inertia
    if rigid.mass <= 0.0:
        return None
    moments, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    sides = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / rigid.mass, 0.0))
    if sides.max() <= 0.0:
        return None
    corners: Array = np.array(rigid.com) + (_CORNERS * np.maximum(sides, THIN * sides.max())) @ axes.T
    return corners


@dataclass(frozen=True)
class _Joint:
    """A body's own hinge: the node it starts from, '' for the ground, and the node it ends at."""

    start: str
    end: str


def _joints(system: Mechanism) -> list[_Joint]:
    bodies = _seen(system)
    return [_Joint("" if b.parent == "ground" else f"{b.parent}.{b.at}", _base(b)) for b in bodies]


def _links(system: Mechanism, scenes: Sequence[_Poses]) -> Part:
    """Thin lines from each parent's node to where the child begins: offsets and sliding hinges."""
    pairs = []
    for joint in _joints(system):
        ends = np.stack([scene.points(joint.end) for scene in scenes])
        starts = np.zeros_like(ends) if not joint.start else np.stack([scene.points(joint.start) for scene in scenes])
        pairs += [starts, ends]
    hung = [(2 * i, 2 * i + 1) for i, b in enumerate(_seen(system)) if _shown_link(b)]
    return Part("", np.stack(pairs, axis=2), hung, colour="#8a949e", width=2.0)


def _shown_link(body: Body) -> bool:
    """A free body does not hang on anything."""
    return body.hinge.kind.nu < 6


def _hinges(system: Mechanism, scenes: Sequence[_Poses]) -> Part:
    """A dot where a hinge can move."""
    seen = _seen(system)
    moving = [_base(b) for b in seen if b.hinge.kind.nu and _shown_link(b)]
    nodes = moving or [_base(seen[0])]
    points = np.stack([np.stack([scene.points(node) for node in nodes], axis=1) for scene in scenes])
    return Part("hinges", points, dots=range(len(nodes)), colour=INK, dot_size=5.0, hollow=True)


def _forces(system: Mechanism, scenes: Sequence[_Poses]) -> Part:
    """A line between the two ends of each force."""
    ends = [end for force in system.model.forces for end in force.ends]
    points = np.stack([np.stack([_end(scene, end) for end in ends], axis=1) for scene in scenes])
    lines = [(2 * i, 2 * i + 1) for i in range(len(system.model.forces))]
    return Part("forces", points, lines, range(len(ends)), colour="#b3261e", width=2.0, dot_size=3.0)


def _end(scene: _Poses, end: End) -> Array:
    """Positions of one end of a force, m, (frames, 3)."""
    offset = np.array(end.position)
    if end.body == "ground":
        still: Array = np.tile(offset, (scene.poses.shape[0], 1))
        return still
    base, axes = scene.frame(f"{end.body}.{end.node}")
    moved: Array = base + axes @ offset
    return moved


# ---- exaggeration


def _factors(system: Mechanism, q: Array, given: float | Sequence[float] | None) -> tuple[float, ...]:
    if given is None:
        automatic = automatic_exaggeration(system, q)
        return (1.0,) if automatic == 1.0 else (1.0, automatic)
    factors = (float(given),) if isinstance(given, (int, float)) else tuple(float(f) for f in given)
    if not factors or not all(np.isfinite(factors)):
        raise SimulationError(f"expected finite factors of exaggeration, found {given}")
    return factors


def automatic_exaggeration(system: Mechanism, q: Array) -> float:
    """1, 2 or 5 times a power of ten that makes the largest deflection easily seen; 1 if it is, or nothing bends."""
    flexible = [body for body in system.model.whole_bodies if body.mode_count]
    if not flexible:
        return 1.0
    few = q[np.unique(np.linspace(0, len(q) - 1, SAMPLES).round().astype(int))]
    bent, straight = _Poses(system, few), _Poses(system, exaggerated(system, few, 0.0))
    most = 0.0
    for body in flexible:
        seen = [_own_axes(poses, body) for poses in (bent, straight)]
        size = float(np.linalg.norm(np.ptp(seen[1][0], axis=0)))
        if size > 0.0:
            most = max(most, float(np.linalg.norm(seen[0] - seen[1], axis=-1).max()) / size)
    if most <= 1e-9 or most >= 0.5 * VISIBLE:
        return 1.0
    wanted = min(VISIBLE / most, MOST_EXAGGERATED)
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(max(f * power for f in (1.0, 2.0, 5.0) if f * power <= wanted * (1 + 1e-12)))


def _own_axes(poses: _Poses, body: Body) -> Array:
    """Nodes of a body as its base sees them."""
    base, axes = poses.frame(_base(body))
    own: Array = (poses.of(body) - base[:, None, :]) @ axes
    return own
