"""Pictures of mode shapes: small panels with the body at rest in grey and the moved one coloured by its motion."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from scipy.spatial.transform import Rotation

from bough.report.animation import TRIAD
from bough.report.figures import new_figure, save_figure
from bough.report.palette import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

Array: TypeAlias = NDArray[np.float64]
Edges: TypeAlias = NDArray[np.intp]

AMPLITUDE, ANGLE = 0.16, 0.7
"""Largest translation drawn, of the body's size, and largest rotation, rad."""
ARM = 0.045
"""Half width of the bar that a line of nodes with rotations is drawn as, of the body's size."""
FLATTEST = 0.1
"""Least side of a flat section as it is drawn, of its longer one: thinner, its edges would run into one line."""
SAMPLES = 9
"""Points along an edge that is drawn as a curve."""
MOST_LINKED = 1500
"""Nodes beyond which a body is drawn by points alone."""
TRIAD_SIZE = 0.08
"""Length of the axes drawn in a panel, of its width."""
PALE = "#b9c2cb"
PANEL, TITLE, CAPTION = 2.8, 0.36, 0.5
"""Width of a panel and heights of a title and a caption, inches."""
VIEW = np.array([[0.766, 0.643, 0.0], [-0.341, 0.406, 0.848], [0.545, -0.65, 0.53]])
"""Rows: the directions to the right, up, and towards the eye; x to the right, z up, y away."""


@dataclass(frozen=True, eq=False)
class Section:
    """What a bar looks like across: sides along its y and z axes, m, and the direction that z leans to, body axes."""

    width: float
    height: float
    up: Sequence[float] = (0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Sketch:
    """A body or a mechanism and its modes.

    Attributes:
        title: Heads its panels.
        positions: Undeformed, m, (n, 3).
        shapes: Rotation and translation of each node, rad and m per unit of each mode, (n, 6, nm).
        captions: One per mode.
        edges: Pairs of nodes to be joined by lines, (m, 2); None for the shortest tree that joins all of them.
        marked: Nodes to be marked, such as the one that carries the hinge.
        section: Proportions of a bar, enlarged as a whole to be seen; a square if it is not known.
    """

    title: str
    positions: Array
    shapes: Array
    captions: Sequence[str]
    edges: Edges | None = None
    marked: Sequence[int] = field(default=())
    section: Section | None = None


def spanning_edges(positions: Array) -> Edges:
    """The shortest tree that joins all points, (n - 1, 2); nothing for very many."""
    n = len(positions)
    if not 2 <= n <= MOST_LINKED:
        return np.zeros((0, 2), dtype=np.intp)
    distance = cdist(positions, positions)
    # What is below 1e-8 means no link to the graph: points in one place are told apart by a little.
    apart = distance / (float(distance.max()) or 1.0) + 1e-6 * (1.0 - np.eye(n))
    tree = minimum_spanning_tree(apart).tocoo()
    return np.column_stack([tree.row, tree.col]).astype(np.intp)


def draw_modes(sketches: Sequence[Sketch], path: str | os.PathLike[str], columns: int = 4) -> None:
    """Write the picture, PNG: a block of panels for every sketch.

    Raises:
        SimulationError: The file cannot be written.
    """
    save_figure(mode_figure(sketches, columns), path, dpi=120)


def mode_figure(sketches: Sequence[Sketch], columns: int = 4) -> Figure:
    """The figure that `draw_modes` writes."""
    widest = max((len(sketch.captions) for sketch in sketches), default=1)
    columns = max(2, min(columns, widest))
    plans = [_plan(sketch) for sketch in sketches]
    rows = [max(1, -(-len(sketch.captions) // columns)) for sketch in sketches]
    heights = [TITLE + n * (CAPTION + PANEL * plan.shape) for n, plan in zip(rows, plans, strict=True)]
    figure = new_figure(PANEL * columns, sum(heights))
    figure.set_layout_engine("none")
    # Places by hand, in inches from the top: titles, then captions and panels row by row.
    total, top = sum(heights), 0.0
    for sketch, plan, height in zip(sketches, plans, heights, strict=True):
        y = 1.0 - (top + 0.1) / total
        figure.text(0.01, y, sketch.title, va="top", fontsize=12, fontweight="bold", color=INK)
        for k, caption in enumerate(sketch.captions):
            bottom = top + TITLE + (k // columns + 1) * (CAPTION + PANEL * plan.shape)
            place = (k % columns / columns, 1.0 - bottom / total, 1.0 / columns, PANEL * plan.shape / total)
            axes = figure.add_axes(place)
            _draw(axes, sketch, plan, k)
            axes.set_title(caption, fontsize=9.5, color=INK, pad=2)
        top += height
    return figure


@dataclass(frozen=True, eq=False)
class _Plan:
    """How the panels of a sketch are drawn: size of the body, lines of each mode, limits, height over width."""

    size: float
    edges: Edges
    bar: bool
    centre: Array
    width: float
    shape: float


def _plan(sketch: Sketch) -> _Plan:
    x = sketch.positions
    size = float(np.linalg.norm(np.ptp(x, axis=0))) or 1.0
    edges = spanning_edges(x) if sketch.edges is None else sketch.edges
    bar = bool(np.any(sketch.shapes[:, :3])) and _is_bar(x, edges)
    seen = [x @ VIEW.T]
    for k in range(len(sketch.captions)):
        motion = _scaled(sketch.shapes[:, :, k], size)
        still, moved, _ = _curves(x, motion, edges, size, bar, sketch.section)
        seen += [line @ VIEW.T for line in (*still, *moved)] or [(x + motion[:, 3:]) @ VIEW.T]
    points = np.concatenate(seen)[:, :2]
    low, high = points.min(axis=0), points.max(axis=0)
    wide, tall = np.maximum(high - low, 0.05 * size) * 1.12
    shape = float(np.clip(tall / wide, 0.3, 1.0))
    return _Plan(size, edges, bar, 0.5 * (low + high), max(wide, tall / shape), shape)


def _is_bar(x: Array, edges: Edges) -> bool:
    """Whether the nodes follow each other along lines: then twist is drawn too."""
    if len(edges) == 1:
        return True
    neighbours: dict[int, list[int]] = {}
    for i, j in edges.tolist():
        neighbours.setdefault(i, []).append(j)
        neighbours.setdefault(j, []).append(i)
    if not neighbours or max(len(others) for others in neighbours.values()) > 2:
        return False
    straight, corners = 0, 0
    for i, others in neighbours.items():
        if len(others) == 2:
            one, other = x[others[0]] - x[i], x[others[1]] - x[i]
            straight += bool(one @ other < -0.9 * np.linalg.norm(one) * np.linalg.norm(other))
            corners += 1
    return 2 * straight > corners


def _colours() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("motion", [COLOURS[0], "#5aa6a0", COLOURS[4], COLOURS[1]])


def _draw(axes: Axes, sketch: Sketch, plan: _Plan, k: int) -> None:
    from matplotlib.collections import LineCollection

    x = sketch.positions
    motion = _scaled(sketch.shapes[:, :, k], plan.size)
    still, moved, amounts = _curves(x, motion, plan.edges, plan.size, plan.bar, sketch.section)
    if moved:
        axes.add_collection(LineCollection([(line @ VIEW.T)[:, :2] for line in still], colors=PALE, linewidths=1.0))
        # Segments one by one, farthest first: the colour follows the motion along a curve.
        pieces = np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in moved]) @ VIEW.T
        values = np.concatenate([0.5 * (amount[:-1] + amount[1:]) for amount in amounts])
        order = np.argsort(pieces[:, :, 2].mean(axis=1), kind="stable")
        lines = LineCollection(list(pieces[order, :, :2]), linewidths=1.6, capstyle="round", cmap=_colours())
        lines.set_array(values[order])
        lines.set_clim(0.0, max(float(values.max()), 1e-300))
        axes.add_collection(lines)
    else:
        amount = np.linalg.norm(motion[:, 3:], axis=1)
        seen = (x + motion[:, 3:]) @ VIEW.T
        order = np.argsort(seen[:, 2], kind="stable")
        dot = max(1.0, min(16.0, 1.2e4 / len(x)))
        rest = x @ VIEW.T
        axes.scatter(rest[:, 0], rest[:, 1], s=0.5 * dot, c=PALE, linewidths=0)
        axes.scatter(seen[order, 0], seen[order, 1], s=dot, c=amount[order], cmap=_colours(), linewidths=0)
    if len(sketch.marked):
        at = (x + motion[:, 3:])[np.asarray(sketch.marked, dtype=np.intp)] @ VIEW.T
        axes.scatter(at[:, 0], at[:, 1], s=16, c=INK, zorder=4)
    half = 0.5 * plan.width
    axes.set_xlim(plan.centre[0] - half, plan.centre[0] + half)
    axes.set_ylim(plan.centre[1] - half * plan.shape, plan.centre[1] + half * plan.shape)
    _triad(axes, plan)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _triad(axes: Axes, plan: _Plan) -> None:
    """The directions x, y, z of the body's frame, in the lower left corner."""
    size = TRIAD_SIZE * plan.width
    corner = plan.centre + np.array([-0.5 * plan.width + 0.4 * size, -0.5 * plan.width * plan.shape + 0.75 * size])
    for i, (name, colour) in enumerate(TRIAD):
        end = corner + size * VIEW[:2, i]
        axes.plot(*zip(corner, end, strict=True), color=colour, linewidth=1.2, zorder=5)
        x, y = corner + 1.35 * size * VIEW[:2, i]
        axes.text(x, y, name, color=colour, fontsize=7, ha="center", va="center", zorder=5)


def _scaled(motion: Array, size: float) -> Array:
    """The motion of every node as large as can be drawn, (n, 6)."""
    turn = float(np.linalg.norm(motion[:, :3], axis=1).max(initial=0.0)) / ANGLE
    move = float(np.linalg.norm(motion[:, 3:], axis=1).max(initial=0.0)) / (AMPLITUDE * size)
    # What bends is bounded by its translation; what only twists, by its rotation.
    bound = move if move * AMPLITUDE > 0.05 * turn * ANGLE else max(move, turn)
    return motion / bound if bound > 0.0 else motion


def _curves(
    x: Array, motion: Array, edges: Edges, size: float, bar: bool, section: Section | None
) -> tuple[list[Array], list[Array], list[Array]]:
    """Lines of the body at rest, its lines moved, and how far each of their points moves.

    A line of nodes is drawn as a bar, so that twist can be seen; a net of nodes by its edges.
    """
    turns = bool(np.any(motion[:, :3]))
    still: list[Array] = []
    moved: list[Array] = []
    amounts: list[Array] = []
    for i, j in edges:
        along = x[j] - x[i]
        length = float(np.linalg.norm(along))
        if length < 1e-9 * size:
            continue
        offsets = _arms(along / length, ARM * size, section) if bar else np.zeros((1, 3))
        rings: list[list[Array]] = [[], []]
        for offset in offsets:
            base, curve = _edge(x[i], x[j], motion[i], motion[j], offset, turns)
            still.append(base)
            moved.append(curve)
            amounts.append(np.linalg.norm(curve - base, axis=1))
            rings[0].append(base)
            rings[1].append(curve)
        if bar:
            for end in (0, -1):
                base = np.array([line[end] for line in (*rings[0], rings[0][0])])
                curve = np.array([line[end] for line in (*rings[1], rings[1][0])])
                moved.append(curve)
                amounts.append(np.linalg.norm(curve - base, axis=1))
    return still, moved, amounts


def _arms(along: Array, arm: float, section: Section | None) -> Array:
    """Four corners of a section across a direction, the longer side twice `arm`, (4, 3)."""
    # The axes of a beam lie along those of its body more often than not.
    up = np.eye(3)[int(np.argmin(abs(along)))] if section is None else np.asarray(section.up, dtype=np.float64)
    one = np.cross(up, along)
    one /= np.linalg.norm(one)
    other = np.cross(along, one)
    if section is not None:
        sides = np.array([section.width, section.height]) / max(section.width, section.height)
        one, other = np.maximum(sides, FLATTEST)[:, None] * np.array([one, other])
    return arm * np.array([one + other, one - other, -one - other, other - one])


def _edge(a: Array, b: Array, move_a: Array, move_b: Array, offset: Array, turns: bool) -> tuple[Array, Array]:
    """An edge at rest and moved, (SAMPLES, 3) each: a cubic by the ends' rotations if they turn, else straight."""
    s = np.linspace(0.0, 1.0, SAMPLES if turns else 2)[:, None]
    base = a + s * (b - a) + offset
    if not turns:
        return base, base + (1 - s) * move_a[3:] + s * move_b[3:]
    d = b - a
    h = [1 - 3 * s**2 + 2 * s**3, s - 2 * s**2 + s**3, 3 * s**2 - 2 * s**3, s**3 - s**2]
    slopes = [np.cross(move[:3], d) for move in (move_a, move_b)]
    lift = h[0] * move_a[3:] + h[1] * slopes[0] + h[2] * move_b[3:] + h[3] * slopes[1]
    turn = (1 - s) * move_a[:3] + s * move_b[:3]
    return base, base - offset + lift + Rotation.from_rotvec(turn).apply(offset)
