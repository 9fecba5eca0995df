"""The report as one HTML file: interactive charts, no network needed to look at it."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError
from bough.files import write_text
from bough.report.animation import Animation, animation_section
from bough.report.charts import Chart, Series, charts
from bough.report.choice import drawn_charts
from bough.report.palette import line_style
from bough.report.thin import MOST, thin
from bough.run.result import Result
from bough.text.units import pretty

MOST_CURVES = 24
"""Curves that one chart shows at first; the others wait in its legend."""
MOST_POINTS, FEWEST = 190_000, 800
"""Points of all charts together, which bounds the size of the page, and the fewest that a curve has even then: about
one per pixel of a chart's width."""

MOST_LINKS = 6
"""Charts that the bar at the top names one by one; more are folded away under one word."""


def render_page(
    result: Result,
    title: str,
    animation: Animation | None = None,
    extra: Sequence[Series] = (),
    *,
    source: str = "",
    notes: Mapping[str, str] | None = None,
) -> str:
    """The report of a run as the text of an HTML file.

    Args:
        result: A run, from `simulate` or `Result.from_csv`.
        title: Heading of the page.
        animation: The mechanism in motion, see `bough.report.scenes.animate`; it heads the page.
        extra: Curves besides the variables of the result; only what controllers follow comes before these.
        source: Where the result comes from, such as the name of a file; shown beside the heading.
        notes: Captions of charts, by their titles.

    Raises:
        SimulationError: Arrays of the animation or of extra curves do not fit together.
    """
    from plotly.offline import get_plotlyjs

    every = charts(result)
    shown = shown_charts(result, extra, notes or {})
    sections = [] if animation is None else [animation_section(animation)]
    curves = sum(len(chart.names) for _, chart in shown)
    most = int(np.clip(MOST_POINTS // max(curves, 1), FEWEST, MOST))
    room = _legend_room(name for _, chart in shown for name in chart.names)
    sections += [_section(own, chart, i, most, room) for i, (own, chart) in enumerate(shown)]
    style, script = (
        files("bough.report").joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js")
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n"
        f"<script>{get_plotlyjs()}</script>\n</head>\n<body>\n"
        f"<header><h1>{html.escape(title)}</h1><p>{html.escape(subtitle(result, source))}</p></header>\n"
        f"<nav>{_links(animation, [chart for _, chart in shown])}</nav>\n"
        f"<main>\n{''.join(sections)}{_numbers(result, every, extra)}</main>\n"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def shown_charts(result: Result, extra: Sequence[Series], notes: Mapping[str, str]) -> list[tuple[Result, Chart]]:
    """What a report draws, in its order: charts, each with the result that holds its curves."""
    drawn = drawn_charts(result, charts(result))
    shown = [(result, replace(chart, caption=_caption(chart, notes))) for chart in drawn]
    first = sum(chart.leads for _, chart in shown)
    shown[first:first] = [_of_series(result, series) for series in extra]
    return shown


def _caption(chart: Chart, notes: Mapping[str, str]) -> str:
    return " ".join(text for text in (notes.get(chart.title, ""), chart.caption) if text)


def _links(animation: Animation | None, shown: Sequence[Chart]) -> str:
    """Ways to the parts of the page; many charts are folded away, so that the bar stays one line."""
    head = "" if animation is None else f'<a href="#animation">{html.escape(animation.title)}</a>'
    links = "".join(f'<a href="#chart{i}">{html.escape(chart.title)}</a>' for i, chart in enumerate(shown))
    if len(shown) > MOST_LINKS:
        links = f"<details><summary>Charts ({len(shown)})</summary><div>{links}</div></details>"
    return f'{head}{links}<a href="#numbers">Numbers</a>'


def _of_series(result: Result, series: Series) -> tuple[Result, Chart]:
    """Extra curves as a result of their own and the chart that shows it."""
    t = result.t if series.t is None else series.t
    curves = {name: np.asarray(y, dtype=np.float64) for name, y in series.curves.items()}
    for name, y in curves.items():
        if y.shape != t.shape:
            raise SimulationError(f"{series.title}, {name}: expected {t.size} values, found shape {y.shape}")
    return Result(t, curves), Chart(series.title, series.unit, tuple(curves), series.caption)


def write_page(
    result: Result,
    path: str | os.PathLike[str],
    title: str,
    animation: Animation | None = None,
    extra: Sequence[Series] = (),
    *,
    source: str = "",
    notes: Mapping[str, str] | None = None,
) -> None:
    """Write the report; nothing half-written is left. Arguments as in `render_page`.

    Raises:
        SimulationError: The result is empty, arrays do not fit together, or the file cannot be written.
    """
    if not len(result) or not result.names:
        raise SimulationError("the result has no rows or no variables: there is nothing to report")
    text = render_page(result, title, animation, extra, source=source, notes=notes)
    write_text(path, text, stream=True)


def subtitle(result: Result, source: str) -> str:
    """Where a result comes from, and how much of it there is."""
    lead = f"{source}: " if source else ""
    rows = f"{lead}{len(result)} rows, {len(result.names)} variables"
    return f"{rows}, t = {result.t[0]:.6g} s to {result.t[-1]:.6g} s"


def _section(result: Result, chart: Chart, number: int, most: int, room: int) -> str:
    figure = _figure(result, chart, most, room)
    body = figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=f"plot{number}",
        config={"displaylogo": False, "responsive": True},
    )
    unit = f" <small>{html.escape(pretty(chart.unit))}</small>" if pretty(chart.unit) else ""
    caption = f'<p class="caption">{html.escape(chart.caption)}</p>' if chart.caption else ""
    return f'<section id="chart{number}"><h2>{html.escape(chart.title)}{unit}</h2>\n{body}{caption}</section>\n'


def _figure(result: Result, chart: Chart, most: int, room: int) -> Any:
    from plotly import graph_objects

    figure = graph_objects.Figure()
    for i, name in enumerate(chart.names):
        # What is thinned needs its times too: half as many points take the same space.
        fewer = result.t.size if result.t.size <= max(most, 2 * FEWEST) else max(most // 2, FEWEST)
        t, y = thin(result.t, result[name], fewer)
        colour, dash = _line(chart, i)
        figure.add_trace(
            graph_objects.Scatter(
                **_times(t),
                # Seven digits are more than a screen shows, and half the size of the page.
                y=_single(y),
                name=name,
                mode="lines",
                line={"width": 1.6, "color": colour, "dash": dash, "simplify": False},
                visible=True if i < MOST_CURVES else "legendonly",
                hovertemplate="%{y:.6g}",
            )
        )
    figure.update_layout(
        height=380,
        # All charts of a page leave the same room beside them: equal times stand below one another.
        margin={"l": 80, "r": room, "t": 10, "b": 50, "autoexpand": False},
        template="plotly_white",
        hovermode="x unified",
        showlegend=True,
        legend={"font": {"size": 12}, "y": 0.92},  # below the buttons
        xaxis={"title": {"text": "time, s"}},
        yaxis={"title": {"text": pretty(chart.unit)}, "exponentformat": "power"},
    )
    return figure


def _legend_room(names: Iterable[str]) -> int:
    """Pixels beside a chart for the longest of these names and the line before it."""
    return int(np.clip(70 + 6.6 * max(map(len, names), default=0), 120, 360))


def _line(chart: Chart, i: int) -> tuple[str, str]:
    """Colour and dash of a curve; a reference is dotted, in the colour of what follows it."""
    colour, dash = line_style(i // 2 if chart.paired else i)
    return (colour, "dot") if chart.paired and i % 2 == 0 else (colour, dash)


def _times(t: NDArray[np.float64]) -> dict[str, Any]:
    """Times for plotly: first and distance where they are even, which takes no space."""
    if t.size > 2:
        distance = float(t[-1] - t[0]) / (t.size - 1)
        if np.max(abs(t - (t[0] + distance * np.arange(t.size)))) <= 1e-6 * distance:
            return {"x0": float(t[0]), "dx": distance}
    resolved = t.size > 1 and np.min(np.diff(t)) > 1e-5 * np.max(abs(t))
    return {"x": _single(t) if resolved else t}


def _single(y: NDArray[np.float64]) -> NDArray[np.float32]:
    """In single precision; what does not fit is drawn as a gap."""
    with np.errstate(over="ignore"):
        return y.astype(np.float32)


def _numbers(result: Result, every: Sequence[Chart], extra: Sequence[Series]) -> str:
    """First, lowest, highest and last value of every variable and every extra curve."""
    rows = []
    shown = [(result, chart) for chart in every] + [_of_series(result, series) for series in extra]
    for own, chart in shown:
        unit = html.escape(pretty(chart.unit))
        for name in chart.names:
            y = own[name]
            finite = y[np.isfinite(y)]
            low, high = (float(finite.min()), float(finite.max())) if finite.size else (np.nan, np.nan)
            # A negative zero becomes a plain one by adding zero.
            cells = "".join(f"<td>{value + 0.0:.6g}</td>" for value in (y[0], low, high, y[-1]))
            rows.append(f"<tr><td>{html.escape(name)}</td>{cells}<td>{unit}</td></tr>")
    head = "<tr><th>variable</th><th>first</th><th>lowest</th><th>highest</th><th>last</th><th>unit</th></tr>"
    table = f'<div class="wide"><table>{head}\n{"".join(rows)}</table></div>'
    return f'<section id="numbers"><h2>Numbers</h2>\n{table}</section>\n'
