"""The report on paper: the same charts as in the page, as PDF, PNG or SVG."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.errors import OutputError
from bough.files import write_bytes
from bough.report.animation import Animation
from bough.report.charts import Chart, Series
from bough.report.figures import DPI, new_figure, style_axes
from bough.report.page import shown_charts, subtitle
from bough.report.palette import INK, line_style
from bough.report.stills import draw_stills
from bough.report.thin import thin
from bough.run.result import Result
from bough.text.units import pretty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 8.3
"""Inches: the width of an A4 page; all charts of a report share it."""
PANEL, HEAD, STILLS = 2.55, 0.8, 3.8
"""Heights of a chart, of the heading and of the pictures of the mechanism, inches."""
PAGE = 11.7
"""Height of a page of the PDF, inches."""
MOST_POINTS = 2000
"""Points of a curve: more cannot be told apart on paper."""
NAMED = 10
"""Curves that a legend names."""
MOST_PIXELS = 2**16 - 1
"""Height of a picture that can be written as PNG."""


def write_paper(
    result: Result,
    path: str | os.PathLike[str],
    title: str,
    animation: Animation | None = None,
    extra: Sequence[Series] = (),
    *,
    source: str = "",
    notes: Mapping[str, str] | None = None,
) -> None:
    """Write the report as its ending says, `.pdf` (pages), `.png` or `.svg` (one sheet). Arguments as in `render_page`.

    Raises:
        SimulationError: Extra curves do not fit, or the file cannot be written.
    """
    ending = Path(path).suffix.lower()
    shown = shown_charts(result, extra, notes or {})
    head = (title, subtitle(result, source))
    out = io.BytesIO()
    if ending == ".pdf":
        from matplotlib.backends.backend_pdf import PdfPages

        with PdfPages(out, metadata={"Creator": "bough", "Producer": None, "CreationDate": None}) as pages:
            for figure in _pages(shown, head, animation):
                pages.savefig(figure)
    else:
        height = HEAD + PANEL * len(shown) + (STILLS if animation is not None else 0.0)
        if ending == ".png" and height * DPI > MOST_PIXELS:
            raise OutputError(f"cannot write {path}: {len(shown)} charts are too many for one picture; write a .pdf")
        figure = _sheet(shown, head, animation, height)
        metadata: dict[str, Any] = {"Date": None} if ending == ".svg" else {"Software": None}
        figure.savefig(out, format=ending[1:], dpi=DPI, metadata=metadata)
    write_bytes(path, out.getvalue())


def _pages(
    shown: Sequence[tuple[Result, Chart]], head: tuple[str, str], animation: Animation | None
) -> Iterator[Figure]:
    rest = list(shown)
    first = True
    while rest or first:
        used = HEAD + (STILLS if animation is not None else 0.0) if first else HEAD
        count = int((PAGE - used) // PANEL)
        yield _sheet(rest[:count], head, animation if first else None, PAGE)
        rest, first = rest[count:], False


def _sheet(
    shown: Sequence[tuple[Result, Chart]], head: tuple[str, str], animation: Animation | None, height: float
) -> Figure:
    """Heading, the mechanism, and charts one below the other: axes of one width, whatever their numbers and legends."""
    figure = new_figure(WIDTH, height)
    figure.set_layout_engine("none")
    figure.text(0.06, 1 - 0.32 / height, head[0], fontsize=14, fontweight="bold", color=INK)
    figure.text(0.06, 1 - 0.55 / height, head[1], fontsize=9, color=INK)
    top = HEAD
    if animation is not None:
        draw_stills(figure, animation, (0.02, 1 - (top + STILLS) / height, 0.96, STILLS / height))
        top += STILLS
    for own, chart in shown:
        place = (0.11, 1 - (top + PANEL - 0.55) / height, 0.62, (PANEL - 0.95) / height)
        _draw(figure, place, own, chart)
        top += PANEL
    return figure


def _draw(figure: Figure, place: tuple[float, float, float, float], result: Result, chart: Chart) -> None:
    axes = figure.add_axes(place)
    for i, name in enumerate(chart.names):
        colour, dash = line_style(i // 2 if chart.paired else i)
        style = "dotted" if chart.paired and i % 2 == 0 else {"dash": "dashed", "dot": "dotted"}.get(dash, dash)
        finite = np.isfinite(result[name])
        t, y = thin(result.t[finite], result[name][finite], MOST_POINTS)
        axes.plot(t, y, linestyle=style, color=colour, linewidth=1.2, label=name if i < NAMED else None)
    more = len(chart.names) - NAMED
    if more > 0:
        axes.plot([], [], linestyle="none", label=f"and {more} more")
    style_axes(axes, chart.title, "time, s", pretty(chart.unit))
    axes.margins(x=0)
    axes.legend(
        loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0, fontsize=7.5, frameon=False, labelcolor=INK
    )
