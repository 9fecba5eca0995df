"""The report as one HTML file: interactive charts, no network needed to look at it."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError
from bough.report.animation import Animation, animation_section
from bough.report.charts import Chart, Series, charts
from bough.report.palette import COLOURS
from bough.report.thin import MOST, thin
from bough.result import Result

MOST_CURVES = 24
"""Curves that one chart shows at first; the others wait in its legend."""
MOST_POINTS, FEWEST = 190_000, 800
"""Points of all charts together, which bounds the size of the page, and the fewest that a curve has even then: about
one per pixel of a chart's width."""

_STYLE = """
:root { color-scheme: light; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: #1c2733; background: #f4f6f8; }
header { background: #12324a; color: #fff; padding: 1rem 2rem; }
header h1 { margin: 0; font-size: 1.5rem; font-weight: 600; }
header p { margin: .3rem 0 0; color: #c3d2de; }
nav { position: sticky; top: 0; z-index: 9; background: #fff; border-bottom: 1px solid #d7dee5; padding: .5rem 2rem;
  white-space: nowrap; overflow-x: auto; scrollbar-width: thin; }
nav a { display: inline-block; margin-right: 1.2rem; color: #0b5c8a; text-decoration: none; }
nav a:hover { text-decoration: underline; }
main { max-width: 1180px; margin: 0 auto; padding: 1rem 2rem 3rem; }
section { background: #fff; border: 1px solid #d7dee5; border-radius: 6px; margin: 1rem 0; padding: 1rem 1.2rem;
  scroll-margin-top: 3.5rem; }
h2 { margin: 0 0 .4rem; font-size: 1.1rem; font-weight: 600; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { text-align: right; padding: .2rem .7rem; border-bottom: 1px solid #e6ebf0; }
th:first-child, td:first-child { text-align: left; font-family: ui-monospace, monospace; }
.scene { width: 100%; height: 560px; }
.player { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; padding-top: .6rem; }
.player input[type=range] { flex: 1 1 14rem; accent-color: #0b5c8a; }
.player button { min-width: 5rem; padding: .35rem .9rem; font: inherit; color: #fff; background: #0b5c8a; border: 0;
  border-radius: 4px; cursor: pointer; }
.player button:hover { background: #12324a; }
.player output { min-width: 5rem; text-align: right; font-variant-numeric: tabular-nums; }
.player select { font: inherit; padding: .15rem .3rem; }
"""


def render_page(result: Result, title: str, animation: Animation | None = None, extra: Sequence[Series] = ()) -> str:
    """The report of a run as the text of an HTML file.

    Args:
        result: A run, from `simulate` or `Result.from_csv`.
        title: Heading of the page.
        animation: The mechanism in motion, see `bough.geometry.animate`; it heads the page.
        extra: Curves besides the variables of the result; they come before these.

    Raises:
        SimulationError: Arrays of the animation or of extra curves do not fit together.
    """
    from plotly.offline import get_plotlyjs

    drawn = charts(result)
    every = [*(_of_series(result, series) for series in extra), *((result, chart) for chart in drawn)]
    links = [] if animation is None else [f'<a href="#animation">{html.escape(animation.title)}</a>']
    links += [f'<a href="#chart{i}">{html.escape(chart.title)}</a>' for i, (_, chart) in enumerate(every)]
    links.append('<a href="#numbers">Numbers</a>')
    sections = [] if animation is None else [animation_section(animation)]
    curves = sum(len(chart.names) for _, chart in every)
    most = int(np.clip(MOST_POINTS // max(curves, 1), FEWEST, MOST))
    sections += [_section(source, chart, i, most) for i, (source, chart) in enumerate(every)]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n"
        f"<script>{get_plotlyjs()}</script>\n</head>\n<body>\n"
        f"<header><h1>{html.escape(title)}</h1><p>{html.escape(_subtitle(result))}</p></header>\n"
        f"<nav>{''.join(links)}</nav>\n<main>\n{''.join(sections)}{_numbers(result, drawn)}</main>\n</body>\n</html>\n"
    )


def _of_series(result: Result, series: Series) -> tuple[Result, Chart]:
    """Extra curves as a result of their own and the chart that shows it."""
    t = result.t if series.t is None else series.t
    curves = {name: np.asarray(y, dtype=np.float64) for name, y in series.curves.items()}
    for name, y in curves.items():
        if y.shape != t.shape:
            raise SimulationError(f"{series.title}, {name}: expected {t.size} values, found shape {y.shape}")
    return Result(t, curves), Chart(series.title, series.unit, tuple(curves))


def write_page(
    result: Result,
    path: str | os.PathLike[str],
    title: str,
    animation: Animation | None = None,
    extra: Sequence[Series] = (),
) -> None:
    """Write the report; nothing half-written is left. Arguments as in `render_page`.

    Raises:
        SimulationError: The result is empty, arrays do not fit together, or the file cannot be written.
    """
    if not len(result) or not result.names:
        raise SimulationError("the result has no rows or no variables: there is nothing to report")
    text = render_page(result, title, animation, extra)
    target = Path(path)
    partial = target.with_name(target.name + ".part")
    try:
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8")
            return
        partial.write_text(text, encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        if partial.is_file():
            partial.unlink()
        raise SimulationError(f"cannot write {target}: {error.strerror}") from None


def _subtitle(result: Result) -> str:
    rows = f"{len(result)} rows, {len(result.names)} variables"
    return f"{rows}, t = {result.t[0]:.6g} s to {result.t[-1]:.6g} s"


def _section(result: Result, chart: Chart, number: int, most: int) -> str:
    figure = _figure(result, chart, most)
    body = figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=f"plot{number}",
        config={"displaylogo": False, "responsive": True},
    )
    return f'<section id="chart{number}"><h2>{html.escape(chart.title)}</h2>\n{body}</section>\n'


def _figure(result: Result, chart: Chart, most: int) -> Any:
    from plotly import graph_objects

    figure = graph_objects.Figure()
    for i, name in enumerate(chart.names):
        # What is thinned needs its times too: half as many points take the same space.
        fewer = result.t.size if result.t.size <= max(most, 2 * FEWEST) else max(most // 2, FEWEST)
        t, y = thin(result.t, result[name], fewer)
        figure.add_trace(
            graph_objects.Scatter(
                **_times(t),
                # Seven digits are more than a screen shows, and half the size of the page.
                y=_single(y),
                name=name,
                mode="lines",
                line={"width": 1.6, "color": COLOURS[i % len(COLOURS)], "simplify": False},
                visible=True if i < MOST_CURVES else "legendonly",
                hovertemplate="%{y:.6g}",
            )
        )
    figure.update_layout(
        height=380,
        margin={"l": 70, "r": 20, "t": 10, "b": 50},
        template="plotly_white",
        hovermode="x unified",
        showlegend=True,
        legend={"font": {"size": 12}, "y": 0.92},  # below the buttons
        xaxis={"title": {"text": "time, s"}},
        yaxis={"title": {"text": chart.unit}, "exponentformat": "power"},
    )
    return figure


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


def _numbers(result: Result, drawn: list[Chart]) -> str:
    rows = []
    for chart in drawn:
        for name in chart.names:
            y = result[name]
            finite = y[np.isfinite(y)]
            low, high = (float(finite.min()), float(finite.max())) if finite.size else (np.nan, np.nan)
            cells = "".join(f"<td>{value:.6g}</td>" for value in (y[0], low, high, y[-1]))
            rows.append(f"<tr><td>{html.escape(name)}</td>{cells}<td>{html.escape(chart.unit)}</td></tr>")
    head = "<tr><th>variable</th><th>first</th><th>lowest</th><th>highest</th><th>last</th><th>unit</th></tr>"
    return f'<section id="numbers"><h2>Numbers</h2>\n<table>{head}\n{"".join(rows)}</table></section>\n'
