"""Pictures for paper and screen, drawn with matplotlib without a display."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.files import write_bytes
from bough.report.palette import COLOURS, GRID, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bough.report.animation import Animation

Array: TypeAlias = NDArray[np.float64]

DPI = 200
"""Dots per inch: a picture 8 inches wide fills a slide of 1600 pixels."""


SCENE = 4.0
"""Height of the mechanism above panels, inches."""


@dataclass(frozen=True, eq=False)
class Curve:
    """One curve of a panel.

    Attributes:
        label: For the legend.
        y: Values at the times of the figure, (n,).
        colour: A matplotlib colour; the next of the palette if empty.
        style: A matplotlib line style.
    """

    label: str
    y: Array
    colour: str = ""
    style: str = "-"


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves over time with one axis.

    Attributes:
        title: What they are.
        label: Of the axis, with its unit.
        curves: From the lowest to the top one.
        caption: A line below the axis of time, for what the curves do not say by themselves.
        log: Whether the axis is logarithmic.
    """

    title: str
    label: str
    curves: Sequence[Curve]
    caption: str = ""
    log: bool = False


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches, laid out so that nothing overlaps."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def style_axes(axes: Axes, title: str, x: str, y: str) -> None:
    """House style: title at the left, light grid, no box."""
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK)
    axes.set_xlabel(x, fontsize=9, color=INK)
    axes.set_ylabel(y, fontsize=9, color=INK)
    axes.tick_params(labelsize=8.5, colors=INK)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GRID)


def draw_panel(axes: Axes, t: Array, panel: Panel, x: str = "time, s", columns: int = 4) -> None:
    """Draw the curves of a panel over time; the legend has so many columns at most."""
    for i, curve in enumerate(panel.curves):
        colour = curve.colour or COLOURS[i % len(COLOURS)]
        axes.plot(t, curve.y, curve.style, color=colour, label=curve.label, linewidth=1.5)
    style_axes(axes, panel.title, f"{x}\n{panel.caption}" if panel.caption else x, panel.label)
    axes.margins(x=0)
    if panel.log:
        axes.set_yscale("log")
    if any(curve.label for curve in panel.curves):
        # Above the axes, beside the title: there it hides no curve.
        axes.legend(
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            borderaxespad=0.1,
            ncols=min(len(panel.curves), columns),
            fontsize=8.5,
            frameon=False,
            labelcolor=INK,
            handlelength=1.6,
            columnspacing=1.2,
        )


def draw_panels(
    t: Array, panels: Sequence[Panel], path: str | os.PathLike[str], motion: Animation | None = None
) -> None:
    """Draw panels one below the other over the same time, above them the mechanism if given; write the PNG file."""
    below = 0.6 + 2.6 * len(panels)  # inches
    figure = new_figure(8.0, below if motion is None else below + SCENE)
    if motion is not None:
        draw_scene(figure, motion)
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for i, panel in enumerate(panels):
        draw_panel(axes[i], t, panel, "time, s" if i + 1 == len(panels) else "")
    figure.align_ylabels(list(axes))
    save_figure(figure, path)


def draw_scene(figure: Figure, motion: Animation) -> None:
    """Draw a mechanism at a few instants into the top `SCENE` inches, and leave what is below to the other axes."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    from bough.report.stills import draw_stills

    share = SCENE / float(figure.get_figheight())
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(rect=(0.0, 0.0, 1.0, 1.0 - share))
    draw_stills(figure, motion, (0.0, 1.0 - share, 0.72, 0.97 * share))


def save_figure(figure: Figure, path: str | os.PathLike[str], dpi: int = DPI) -> None:
    """Write a figure as PNG, or as SVG if its name ends so; the same figure gives the same bytes.

    Raises:
        OutputError: The file cannot be written.
    """
    out = io.BytesIO()
    if os.fspath(path).lower().endswith(".svg"):
        from matplotlib import rc_context

        with rc_context({"svg.hashsalt": "bough"}):
            figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    else:
        figure.savefig(out, format="png", dpi=dpi, metadata={"Software": None})
        out = _with_palette(out)
    write_bytes(path, out.getvalue())


def _with_palette(png: io.BytesIO) -> io.BytesIO:
    """The same picture in 256 colours, a third of its size: lines, areas and letters have no more."""
    from PIL import Image

    out = io.BytesIO()
    with Image.open(png) as image:
        few = image.convert("RGB").quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        few.save(out, "PNG", optimize=True)
    return out
