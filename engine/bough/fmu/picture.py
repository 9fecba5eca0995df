"""A picture of the mechanism in its start pose: as SVG for the documentation, as PNG for the icon."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy.spatial.transform import Rotation

from bough.mechanism.mechanism import Mechanism
from bough.model import Body

Array: TypeAlias = NDArray[np.float64]

COLOURS = ("#1f6feb", "#d1495b", "#2a9d5c", "#8e5bd0", "#e08a1e", "#0f8b9d", "#7a5c3e", "#5b6472")
VIEWS = (("x", "z", 0, 2), ("x", "y", 0, 1), ("y", "z", 1, 2))
"""Axis names and indices, right and up, of the projections."""
SHOWN = 2
"""Projections side by side."""
WIDTH, HEIGHT, MARGIN = 380.0, 300.0, 42.0
"""Size of a projection, pixels."""
ICON = 128
FINER = 4
"""An icon is drawn so many times larger, and averaged: Pillow draws without antialiasing."""
MOST_POINTS = 13
"""Points of a line that are drawn: a beam of many elements does not need all of its nodes."""


@dataclass(frozen=True, eq=False)
class Shape:
    """One body: lines through its nodes, its hinge, and the line from the parent's node to it; m, inertial frame."""

    name: str
    hinge: str
    lines: tuple[Array, ...]
    base: Array
    link: Array
    dots: Array


def shapes(system: Mechanism) -> tuple[Shape, ...]:
    """Every body in the start pose."""
    q, u = system.initial_state()
    names = system.node_names
    poses, _, _ = system.node_motion(q, u, None, names)
    where = dict(zip(names, poses, strict=True))
    return tuple(_shape(body, where) for body in system.model.whole_bodies)


def _shape(body: Body, where: dict[str, Array]) -> Shape:
    points = {n: where[f"{body.name}.{n}"][:3] for n in body.node_names}
    dots = np.zeros((0, 3))
    lines: tuple[Array, ...]
    if body.beam is not None:
        path = np.array(list(points.values()))
        keep = np.unique(np.linspace(0, len(path) - 1, MOST_POINTS).round().astype(int))
        base, lines = path[0], (path[keep],)
    elif body.fe is not None:
        base = points[body.fe.attach]
        lines = tuple(np.array([base, p]) for p in points.values())
    elif body.nodal is not None:
        base = points[body.nodal.attach]
        dots = np.array([points[n.name] for n in body.nodal.nodes if n.mass > 0.0]).reshape(-1, 3)
        lines = tuple(np.array([base, p]) for p in points.values())
    else:
        base, lines = points["origin"], tuple(np.array([points["origin"], p]) for p in points.values())
        if body.rigid is not None:
            com = base + Rotation.from_quat(where[f"{body.name}.origin"][3:]).apply(body.rigid.com)
            dots, lines = com[None, :], (*lines, np.array([base, com]))
    start = np.zeros(3) if body.parent == "ground" else where[f"{body.parent}.{body.at}"][:3]
    link = np.array([base if body.parent == "ground" else start, base])
    return Shape(body.name, body.hinge.name, lines, base, link, dots)


# ---- SVG


def largest_views(extent: Array) -> list[tuple[str, str, int, int]]:
    """The projections in which a mechanism looks largest: a mast seen from above would be a point.

    Args:
        extent: Along x, y and z, m, (3,).
    """
    # Where the sizes are equal, round-off must not choose.
    return sorted(VIEWS, key=lambda view: -round(float(np.hypot(*extent[list(view[2:])])), 9))[:SHOWN]


def svg(parts: Sequence[Shape]) -> str:
    """Two projections side by side, and which colour is which body."""
    points = np.concatenate([x for s in parts for x in (*s.lines, s.link)])
    low, high = points.min(axis=0), points.max(axis=0)
    views = largest_views(high - low)
    size = np.maximum(high - low, 1e-9 + 0.05 * float((high - low).max()))
    scale = float(min(min((WIDTH - 2 * MARGIN) / size[a], (HEIGHT - 2 * MARGIN) / size[b]) for _, _, a, b in views))
    legend, bottom = _legend([s.name for s in parts])
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH * SHOWN:.0f} {bottom:.0f}" role="img" '
        'font-family="sans-serif" font-size="11">',
        "<title>The mechanism in its start pose, two projections</title>",
    ]
    for i, (right, up, a, b) in enumerate(views):
        flat = _Plane(i * WIDTH + WIDTH / 2, HEIGHT / 2, a, b, (low + high) / 2, scale)
        out.append(
            f'<rect x="{i * WIDTH + 4:.1f}" y="4" width="{WIDTH - 8:.1f}" height="{HEIGHT - 8:.1f}" rx="6" '
            'fill="none" stroke="#d0d7de"/>'
        )
        out += _axes(i * WIDTH + 18, HEIGHT - 18, right, up)
        for k, s in enumerate(parts):
            out += _svg_shape(s, flat, COLOURS[k % len(COLOURS)])
    return "\n".join([*out, *legend, "</svg>"])


def _legend(names: Sequence[str]) -> tuple[list[str], float]:
    """A line of names under the projections, broken where it must, and where it ends."""
    x, y, out = 10.0, HEIGHT + 14.0, []
    for k, name in enumerate(names):
        wide = 28.0 + 7.0 * len(name)
        if x + wide > WIDTH * SHOWN and x > 10.0:
            x, y = 10.0, y + 18.0
        out.append(f'<rect x="{x:.0f}" y="{y - 8:.0f}" width="9" height="9" fill="{COLOURS[k % len(COLOURS)]}"/>')
        out.append(f'<text x="{x + 14:.0f}" y="{y:.0f}" fill="#24292f">{name}</text>')
        x += wide
    return out, y + 10.0


@dataclass(frozen=True, eq=False)
class _Plane:
    x: float
    y: float
    a: int
    b: int
    middle: Array
    scale: float

    def __call__(self, points: Array) -> Array:
        """Pixels, y down."""
        flat = (points - self.middle)[..., [self.a, self.b]] * self.scale
        out: Array = np.array([self.x, self.y]) + flat * np.array([1.0, -1.0])
        return out


def _axes(x: float, y: float, right: str, up: str) -> list[str]:
    return [
        f'<path d="M{x:.1f} {y - 24:.1f}V{y:.1f}H{x + 24:.1f}" fill="none" stroke="#57606a"/>',
        f'<text x="{x + 27:.1f}" y="{y + 4:.1f}" fill="#57606a">{right}</text>',
        f'<text x="{x - 3:.1f}" y="{y - 28:.1f}" fill="#57606a">{up}</text>',
    ]


def _svg_shape(s: Shape, flat: _Plane, colour: str) -> list[str]:
    def path(points: Array) -> str:
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in flat(points))

    out = [f'<path d="{path(s.link)}" fill="none" stroke="#57606a" stroke-dasharray="3 3"/>']
    lines = "".join(path(line) for line in s.lines)
    out.append(f'<path d="{lines}" fill="none" stroke="{colour}" stroke-width="3" stroke-linecap="round"/>')
    out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in flat(s.dots)]
    x, y = flat(s.base)
    out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="#ffffff" stroke="#24292f" stroke-width="1.5"/>')
    return out


# ---- PNG


def png(parts: Sequence[Shape], size: int = ICON) -> bytes:
    """A square icon: the projection in which the mechanism looks largest, antialiased, on a transparent ground."""
    points = np.concatenate([x for s in parts for x in (*s.lines, s.link)])
    low, high = points.min(axis=0), points.max(axis=0)
    _, _, a, b = largest_views(high - low)[0]
    extent = float((high - low)[[a, b]].max()) or 1.0
    size *= FINER
    flat = _Plane(size / 2, size / 2, a, b, (low + high) / 2, 0.76 * size / extent)
    image = Image.new("RGBA", (size, size), "#ffffff00")
    draw = ImageDraw.Draw(image)
    for k, s in enumerate(parts):
        for line in (*s.lines, s.link):
            pixels = [(float(x), float(y)) for x, y in flat(line)]
            draw.line(pixels, COLOURS[k % len(COLOURS)], round(0.056 * size), joint="curve")
            for end in (pixels[0], pixels[-1]):
                draw.circle(end, 0.028 * size, COLOURS[k % len(COLOURS)])
    for s in parts:
        x, y = flat(s.base)
        draw.circle((x, y), 0.04 * size, "#24292e")
        draw.circle((x, y), 0.024 * size, "#ffffff")
    file = io.BytesIO()
    image.reduce(FINER).save(file, "PNG", optimize=True)
    return file.getvalue()
