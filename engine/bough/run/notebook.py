"""A result in a notebook: a plot of where the mechanism is, and a table of every variable."""

from __future__ import annotations

import html
import io
from typing import TYPE_CHECKING

import numpy as np

from bough.text.units import pretty

if TYPE_CHECKING:
    from bough.run.result import Result

MOST_ROWS = 40
"""Variables that the table shows."""
MOST_CURVES = 8
"""Curves of one unit that the plot shows."""
MOST_PANELS = 3
PREFERRED = ("rad", "m", "")
"""Units of coordinates come first."""


def result_html(result: Result) -> str:
    """The result as a piece of HTML."""
    head = f"<b>{html.escape(result.model_name or 'Result')}</b>: {len(result)} rows of {len(result.names)} variables"
    if not len(result) or not result.names:
        return f"<div>{head}</div>"
    span = f", t = {result.t[0]:.6g} s to {result.t[-1]:.6g} s"
    return f"<div>{head}{span}</div>\n{_plot(result)}\n{_table(result)}"


def _table(result: Result) -> str:
    rows = []
    for name in result.names[:MOST_ROWS]:
        y = result[name]
        finite = y[np.isfinite(y)]
        low, high = (finite.min(), finite.max()) if finite.size else (np.nan, np.nan)
        cells = "".join(f"<td>{value + 0.0:.6g}</td>" for value in (y[0], low, high, y[-1]))
        unit = html.escape(pretty(result.units.get(name, "")))
        rows.append(f"<tr><td style='text-align:left'>{html.escape(name)}</td>{cells}<td>{unit}</td></tr>")
    more = len(result.names) - MOST_ROWS
    if more > 0:
        rows.append(f"<tr><td colspan='6' style='text-align:left'>and {more} more: result.names</td></tr>")
    titles = ("variable", "first", "lowest", "highest", "last", "unit")
    return f"<table><tr>{''.join(f'<th>{title}</th>' for title in titles)}</tr>\n{''.join(rows)}</table>"


def _plot(result: Result) -> str:
    """Curves over time, a panel for each unit: those of coordinates first, without what stands still."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    by_unit: dict[str, list[str]] = {}
    for name in result.names:
        y = result[name]
        if np.isfinite(y).all() and np.ptp(y) > 0.0:
            by_unit.setdefault(result.units.get(name, ""), []).append(name)
    units = sorted(by_unit, key=lambda unit: PREFERRED.index(unit) if unit in PREFERRED else len(PREFERRED))
    if not units:
        return ""
    shown = units[:MOST_PANELS]
    figure = Figure(figsize=(7.5, 1.9 * len(shown) + 0.3), layout="constrained")
    FigureCanvasSVG(figure)
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    every = max(1, len(result) // 1000)
    for axes, unit in zip(panels, shown, strict=True):
        for name in by_unit[unit][:MOST_CURVES]:
            axes.plot(result.t[::every], result[name][::every], linewidth=1.2, label=name)
        axes.set_ylabel(pretty(unit))
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=7, frameon=False)
    panels[-1].set_xlabel("time, s")
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
