"""A mechanism in motion, for the report: points that move, how they are joined, and a player in the page.

Numbers go into the page as 16-bit integers between the corners of the scene: a step is 1/65535 of its size, far below
what a screen shows, at a sixth of the space of text. The player (`player.js`) hands them to plotly frame by frame.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError
from bough.report.palette import COLOURS, INK

Array: TypeAlias = NDArray[np.float64]

GAP = -1
"""In a list of points: the line ends here, the next begins."""
LEVELS = 65535
SCRIPTS = ("view.js", "player.js")
"""Where the camera stands, and what moves the scene."""
FLATTEST = 0.2
"""Least extent of the scene along an axis, of the largest: a flat mechanism still has room around it."""
MARGIN = 0.06
"""Space around the scene, of its size."""
TICKS = 6
"""Ticks of the longest axis; a shorter one has fewer, which do not run into one another."""
SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Choices of playing speed, of real time."""
SHOWN_TIME = (1.0, 60.0)
"""Seconds that playing the run in real time may take; otherwise another speed is set at first."""
TRIAD = (("x", "#c0392b"), ("y", "#2e8b57"), ("z", "#2563b0"))
TRIAD_SIZE = 0.11
"""Length of the ground's axes, of the scene's size."""
TRAILS = (("#6b7480", "solid"), ("#b83280", "dash"), ("#0f8b8d", "dot"), ("#8a6d1b", "dashdot"))
"""Colours and dashes of paths: told from one another, and none of them a body's."""


@dataclass(frozen=True, eq=False)
class Part:
    """A thing that moves: points, and how they are drawn.

    Attributes:
        name: For the legend; parts without a name are not in it.
        points: Inertial frame, m, (sets, frames, n, 3): one set for each exaggeration of the animation.
        lines: Polylines, as places in `points`.
        dots: Points that are drawn as dots.
        faces: Triangles, as places in `points`.
        colour: `#rrggbb`; the next of the palette if empty.
        width: Of the lines, pixels.
        dot_size: Pixels.
        hollow: Whether the dots are white with a rim.
    """

    name: str
    points: Array
    lines: Sequence[Sequence[int]] = ()
    dots: Sequence[int] = ()
    faces: Sequence[tuple[int, int, int]] = ()
    colour: str = ""
    width: float = 6.0
    dot_size: float = 6.0
    hollow: bool = False


@dataclass(frozen=True, eq=False)
class Trail:
    """The path of a point: name, positions in m, (sets, frames, 3), colour (the next of `TRAILS` if empty)."""

    name: str
    points: Array
    colour: str = ""


@dataclass(frozen=True, eq=False)
class Animation:
    """A mechanism over time.

    Attributes:
        times: Of the frames, s, rising, (frames,).
        parts: What moves.
        trails: Paths that grow with time.
        exaggeration: Factor on the deflections of each set of points; the first is shown first.
        title: Heading of its section.
    """

    times: Array
    parts: Sequence[Part]
    trails: Sequence[Trail] = ()
    exaggeration: Sequence[float] = (1.0,)
    title: str = "Motion"

    def check(self) -> None:
        """Refuse shapes that do not fit together, and numbers that cannot be drawn.

        Raises:
            SimulationError: What is wrong, and where.
        """
        frames, sets = self.times.size, len(self.exaggeration)
        if not frames or not np.all(np.isfinite(self.times)) or np.any(np.diff(self.times) <= 0.0):
            raise SimulationError("the animation needs at least one time, and times that rise")
        if not self.parts or not sets:
            raise SimulationError("the animation has nothing that moves: give it parts and an exaggeration")
        for part in self.parts:
            _fits("part", part.name, part.points, (sets, frames, part.points.shape[-2], 3))
        for trail in self.trails:
            _fits("trail", trail.name, trail.points, (sets, frames, 3))


def _fits(kind: str, name: str, points: Array, shape: tuple[int, ...]) -> None:
    if points.shape != shape or not np.all(np.isfinite(points)):
        expected = f"finite numbers of shape {shape}, found shape {points.shape}"
        raise SimulationError(f"animation, {kind} {name!r}: expected {expected}")


def animation_section(animation: Animation) -> str:
    """The section of the page: scene, controls, numbers and player. The page itself brings plotly.

    Raises:
        SimulationError: The animation's arrays do not fit together.
    """
    animation.check()
    scene = _Scene(animation)
    data = json.dumps(scene.data(), separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    view, player = (files("bough.report").joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    return (
        f'<section id="animation"><h2>{html.escape(animation.title)}</h2>\n'
        f'<div class="player">{_controls(animation)}</div>\n'
        '<div id="scene" class="scene"></div>\n<div id="scene-legend" class="legend"></div>\n'
        f'<script type="application/json" id="scene-data">{data}</script>\n'
        f"<script>{view}{player}</script></section>\n"
    )


def _controls(animation: Animation) -> str:
    last = animation.times.size - 1
    first = _speed(float(animation.times[-1] - animation.times[0]))
    speeds = "".join(
        f'<option value="{speed:g}"{" selected" if speed == first else ""}>{_speed_text(speed)}</option>'
        for speed in SPEEDS
    )
    factors = "".join(
        f'<option value="{i}">{"to scale" if factor == 1.0 else f"{factor:g} times"}</option>'
        for i, factor in enumerate(animation.exaggeration)
    )
    deflections = f'<label>deflections <select id="scene-factor">{factors}</select></label>'
    return (
        '<button id="scene-play" type="button" aria-label="play or pause">Play</button>'
        f'<input id="scene-time" type="range" min="0" max="{last}" value="0" aria-label="time">'
        '<output id="scene-clock"></output>'
        f'<label>speed <select id="scene-speed">{speeds}</select></label>'
        + (deflections if len(animation.exaggeration) > 1 else "")
    )


def _speed(duration: float) -> float:
    """Real time if a person can watch it; else the speed that takes about ten seconds."""
    if SHOWN_TIME[0] <= duration <= SHOWN_TIME[1] or duration <= 0.0:
        return 1.0
    return min(SPEEDS, key=lambda speed: abs(np.log(duration / speed / 10.0)))


def _speed_text(speed: float) -> str:
    return "real time" if speed == 1.0 else f"{speed:g} times"


class _Scene:
    """Traces of plotly, and the points that the player moves them by."""

    def __init__(self, animation: Animation) -> None:
        self.animation = animation
        trails = [trail.points[:, :, None, :] for trail in animation.trails]
        self.points: Array = np.concatenate([*(part.points for part in animation.parts), *trails], axis=2)
        flat = self.points.reshape(-1, 3)
        low, high = np.minimum(flat.min(axis=0), 0.0), np.maximum(flat.max(axis=0), 0.0)
        self.size = float((high - low).max()) or 1.0
        high = np.maximum(high, TRIAD_SIZE * self.size * 1.2)
        # The corners that the integers count from, and the wider ones of the axes.
        self.low, self.high = low, high
        room = np.maximum(high - low, FLATTEST * self.size) * (1.0 + 2.0 * MARGIN)
        middle = 0.5 * (low + high)
        self.ranges, self.room = np.column_stack([middle - 0.5 * room, middle + 0.5 * room]), room
        self.traces: list[dict[str, Any]] = []
        self.moved: list[dict[str, Any]] = []
        self._build()

    def data(self) -> dict[str, Any]:
        """Everything the player needs."""
        step = np.maximum((self.high - self.low) / LEVELS, np.finfo(float).tiny)
        sets = []
        for points in self.points:
            levels = np.rint((points - self.low) / step).clip(0, LEVELS).astype("<u2")
            sets.append(base64.b64encode(levels.tobytes()).decode("ascii"))
        return {
            "times": [float(f"{t:.9g}") for t in self.animation.times],
            "points": int(self.points.shape[2]),
            "low": self.low.tolist(),
            "step": step.tolist(),
            "sets": sets,
            "traces": self.traces,
            "moved": self.moved,
            "direction": self._direction(),
            "layout": self._layout(),
        }

    def _build(self) -> None:
        self._triad()
        first, plain = 0, 0
        for part in self.animation.parts:
            colour = part.colour or COLOURS[plain % len(COLOURS)]
            plain += not part.colour
            self._part(part, first, colour)
            first += part.points.shape[2]
        for k, trail in enumerate(self.animation.trails):
            colour, dash = TRAILS[k % len(TRAILS)]
            line = {"color": trail.colour or colour, "width": 3, "dash": dash}
            trace = {"type": "scatter3d", "mode": "lines", "name": f"path of {trail.name}", "line": line}
            self._add({**trace, "hoverinfo": "skip"}, {"trail": first})
            first += 1

    def _part(self, part: Part, first: int, colour: str) -> None:
        """Lines, dots and faces of a part share one entry of the legend."""
        common = {"name": part.name, "legendgroup": part.name or f"part {first}", "hoverinfo": "name"}
        named = bool(part.name)
        if not part.name:
            common["hoverinfo"] = "skip"
        if part.faces:
            i, j, k = ([int(face[n]) for face in part.faces] for n in range(3))
            light = {"ambient": 0.75, "diffuse": 0.5, "specular": 0.05}
            mesh = {"type": "mesh3d", "i": i, "j": j, "k": k, "color": colour, "opacity": 0.36, "flatshading": True}
            # A mesh keeps all points of the part: its triangles count from there.
            every = list(range(first, first + part.points.shape[2]))
            self._add({**mesh, "lighting": light, **common, "showlegend": False}, {"index": every})
        if part.lines:
            index: list[int] = []
            for line in part.lines:
                index += [first + int(i) for i in line] + [GAP]
            style = {"type": "scatter3d", "mode": "lines", "line": {"color": colour, "width": part.width}}
            self._add({**style, **common, "showlegend": named}, {"index": index[:-1]})
        if part.dots:
            marker: dict[str, Any] = {"size": part.dot_size, "color": "#ffffff" if part.hollow else colour}
            if part.hollow:
                marker["line"] = {"color": colour, "width": 1}
            style = {"type": "scatter3d", "mode": "markers", "marker": marker}
            shown = named and not part.lines
            self._add({**style, **common, "showlegend": shown}, {"index": [first + int(i) for i in part.dots]})

    def _add(self, trace: dict[str, Any], moves: dict[str, Any]) -> None:
        self.moved.append({"trace": len(self.traces), **moves})
        self.traces.append(trace)

    def _triad(self) -> None:
        length = TRIAD_SIZE * self.size
        for axis, (name, colour) in enumerate(TRIAD):
            end = [0.0, 0.0, 0.0]
            end[axis] = length
            self.traces.append(
                {
                    "type": "scatter3d",
                    "mode": "lines+text",
                    "x": [0.0, end[0]],
                    "y": [0.0, end[1]],
                    "z": [0.0, end[2]],
                    "text": ["", name],
                    "textfont": {"color": colour, "size": 13},
                    "line": {"color": colour, "width": 3},
                    "showlegend": False,
                    "hoverinfo": "skip",
                }
            )

    def _layout(self) -> dict[str, Any]:
        """Axes of one scale whose ranges stay; the player sets the camera, which depends on the window."""
        axes = {}
        for i, name in enumerate("xyz"):
            axes[f"{name}axis"] = {
                "range": self.ranges[i].tolist(),
                "autorange": False,
                "title": {"text": f"{name}, m"},
                "tickfont": {"size": 10},
                "nticks": max(2, round(TICKS * float(self.room[i] / self.room.max()))),
                "backgroundcolor": "#f7f9fb",
                "gridcolor": "#dbe2e9",
                "zerolinecolor": "#c3ccd5",
                "showbackground": True,
                "showspikes": False,
            }
        ratio = self.room / float(self.room.max())
        scene = {
            **axes,
            "aspectmode": "manual",
            "aspectratio": dict(zip("xyz", ratio.tolist(), strict=True)),
            "dragmode": "turntable",
            "hovermode": False,  # looking for what is under the mouse would cost more than drawing
            "uirevision": "kept",
        }
        return {
            "scene": scene,
            "autosize": True,
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
            "uirevision": "kept",
            "showlegend": False,  # the page has its own, which covers nothing
            "font": {"family": "system-ui, sans-serif", "color": INK},
        }

    def _direction(self) -> list[float]:
        """Towards the eye: from above, the longer horizontal axis across; what is flat is seen on its broad side."""
        x, y, z = self.points.reshape(-1, 3).max(axis=0) - self.points.reshape(-1, 3).min(axis=0)
        turn = -1.2 if x >= y else 0.45  # angle of the eye about z, from x, rad
        rise = 0.45  # its angle above the horizon, rad
        if z < 0.2 * max(x, y):
            rise = 0.95
        return [float(np.cos(turn) * np.cos(rise)), float(np.sin(turn) * np.cos(rise)), float(np.sin(rise))]
