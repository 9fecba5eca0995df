"""A picture of the mechanism in its start pose: as SVG for the documentation, as PNG for the icon."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.bodies import quaternion_matrix
from bough.model import Body
from bough.system import System

Array: TypeAlias = NDArray[np.float64]

COLOURS = ("#1f6feb", "#d1495b", "#2a9d5c", "#8e5bd0", "#e08a1e", "#0f8b9d", "#7a5c3e", "#5b6472")
VIEWS = (("x", "z", 0, 2), ("x", "y", 0, 1), ("y", "z", 1, 2))
"""Axis names and indices, right and up, of the projections."""
SHOWN = 2
"""Projections side by side."""
WIDTH, HEIGHT, MARGIN = 380.0, 300.0, 42.0
"""Size of a projection, pixels."""
ICON = 128
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


def shapes(system: System) -> tuple[Shape, ...]:
    """Every body in the start pose."""
    q, u = system.initial_state()
    names = system.node_names
    poses, _, _ = system.node_motion(q, u, None, names)
    where = dict(zip(names, poses, strict=True))
    return tuple(_shape(body, where) for body in system.model.bodies)


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
            x, y, z, w = where[f"{body.name}.origin"][3:]
            com = base + quaternion_matrix((x, y, z, w)) @ np.array(body.rigid.com)
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
    flat = _Plane(size / 2, size / 2, a, b, (low + high) / 2, 0.76 * size / extent)
    image = np.zeros((size, size, 4))
    image[..., :3] = 1.0
    for k, s in enumerate(parts):
        colour = np.array([int(COLOURS[k % len(COLOURS)][i : i + 2], 16) for i in (1, 3, 5)]) / 255
        _paint(image, [flat(line) for line in (*s.lines, s.link)], 0.028 * size, colour)
    for s in parts:
        _paint(image, [flat(s.base[None, :])], 0.04 * size, np.array([0.14, 0.16, 0.18]))
        _paint(image, [flat(s.base[None, :])], 0.024 * size, np.ones(3))
    return _encode(np.round(image * 255).astype(np.uint8))


def _paint(image: Array, lines: Sequence[Array], radius: float, colour: Array) -> None:
    """Lines of round pens over the image; a line of one point is a dot."""
    points = np.concatenate(lines)
    low = np.floor(points.min(axis=0) - radius - 1).clip(0).astype(int)
    high = np.ceil(points.max(axis=0) + radius + 1).astype(int)
    part = image[low[1] : high[1], low[0] : high[0]]
    x, y = np.arange(part.shape[1]) + low[0] + 0.5, (np.arange(part.shape[0]) + low[1] + 0.5)[:, None]
    least = np.full(part.shape[:2], np.inf)
    for line in lines:
        for (px, py), (qx, qy) in zip(line, line[1:] if len(line) > 1 else line, strict=False):
            dx, dy = qx - px, qy - py
            along = (((x - px) * dx + (y - py) * dy) / max(dx * dx + dy * dy, 1e-12)).clip(0.0, 1.0)
            least = np.minimum(least, np.hypot(x - px - along * dx, y - py - along * dy))
    cover = (radius - least + 0.5).clip(0.0, 1.0)[..., None]
    part[..., :3] = part[..., :3] * (1 - cover) + colour * cover
    part[..., 3:] = part[..., 3:] * (1 - cover) + cover


def _encode(pixels: NDArray[np.uint8]) -> bytes:
    """PNG file of (height, width, 4) pixels."""
    height, width = pixels.shape[:2]
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1).tobytes()

    def chunk(tag: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
