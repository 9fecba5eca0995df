"""A mechanism in motion on paper: where it is at a few instants, drawn over one another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.report.animation import TRAILS, Animation, Part
from bough.report.palette import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array: TypeAlias = NDArray[np.float64]

INSTANTS = 4
PALEST = 0.18
"""Opacity of the first instant; the last one is drawn in full."""
LEAST = 0.15
"""Least extent of an axis, of the longest."""


def draw_stills(
    figure: Figure, animation: Animation, place: tuple[float, float, float, float], instants: int = INSTANTS
) -> None:
    """Draw the true scale of an animation into a part of a figure, the paths of its trails included.

    Args:
        figure: Where to draw.
        animation: The mechanism over time.
        place: Left, bottom, width and height, of the figure's size.
        instants: How many, evenly spaced over the frames; the last one is the darkest.
    """
    axes = figure.add_axes(place, projection="3d", computed_zorder=False)
    frames = np.unique(np.linspace(0, animation.times.size - 1, instants).round().astype(int))
    for i, frame in enumerate(frames):
        strength = 1.0 if len(frames) == 1 else PALEST + (1 - PALEST) * (i / (len(frames) - 1)) ** 2
        for j, part in enumerate(animation.parts):
            _part(axes, part, part.colour or COLOURS[j % len(COLOURS)], int(frame), strength, i + 1 == len(frames))
    for (colour, _), trail in zip(TRAILS, animation.trails, strict=False):
        x, y, z = trail.points[0].T
        axes.plot(x, y, z, color=trail.colour or colour, linewidth=0.9, linestyle=":", label=f"path of {trail.name}")
    _frame(axes, np.concatenate([part.points[0].reshape(-1, 3) for part in animation.parts]))
    times = ", ".join(f"{animation.times[frame]:.3g}" for frame in frames)
    heading = f"{animation.title} at t = {times} s" if len(frames) > 1 else animation.title
    left, bottom, _, height = place
    figure.text(left + 0.04, bottom + height, heading, va="top", fontsize=11, fontweight="bold", color=INK)
    axes.legend(loc="center left", bbox_to_anchor=(1.16, 0.5), fontsize=7.5, frameon=False, labelcolor=INK)


def _part(axes: Any, part: Part, colour: str, frame: int, strength: float, last: bool) -> None:
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    points = part.points[0, frame]
    name = part.name if last else None
    lines = [points[list(line)] for line in part.lines if len(line) > 1]
    if lines:
        drawn = Line3DCollection(lines, colors=colour, linewidths=0.45 * part.width, alpha=strength, label=name)
        axes.add_collection3d(drawn)
        name = None
    if part.faces:
        faces = [points[list(face)] for face in part.faces]
        axes.add_collection3d(Poly3DCollection(faces, facecolors=colour, alpha=0.35 * strength))
    if len(part.dots):
        x, y, z = points[list(part.dots)].T
        fill = "white" if part.hollow else colour
        axes.scatter(x, y, z, s=part.dot_size**2 * 0.4, c=fill, edgecolors=colour, alpha=strength, label=name)


def _frame(axes: Any, points: Array) -> None:
    """Equal scales on all axes, and their names with the unit."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = float((high - low).max()) or 1.0
    half = np.maximum(high - low, LEAST * size) / 2 * 1.05
    middle = (low + high) / 2
    for name, centre, reach in zip("xyz", middle, half, strict=True):
        getattr(axes, f"set_{name}lim")(centre - reach, centre + reach)
        getattr(axes, f"set_{name}label")(f"{name}, m", fontsize=8, color=INK)
    axes.set_box_aspect(tuple(half))
    axes.tick_params(labelsize=7, colors=INK)
    axes.locator_params(nbins=4)
