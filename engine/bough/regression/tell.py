"""What a comparison found, in words, in JSON and as a picture."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

from bough.regression.compare import Comparison, Deviation
from bough.regression.reference import Reference
from bough.report.figures import Curve, Panel, draw_panel, new_figure, save_figure

SHOWN = 10
"""Variables that a table lists."""
DRAWN = 4
"""Variables that a picture shows."""


def headline(comparison: Comparison) -> str:
    """One line: whether it moved, how many variables, which most."""
    count, moved = len(comparison.deviations), len(comparison.moved)
    if comparison.gone:
        return f"{len(comparison.gone)} variables of the reference are gone: {', '.join(comparison.gone[:5])}"
    worst = comparison.deviations[0]
    most = f"most {worst.name}, by {_percent(worst)} of its amplitude at t = {worst.time:.6g} s"
    if moved:
        return f"{moved} of {count} variables moved beyond their tolerance; {most}"
    if worst.size == 0.0:
        return f"{count} variables, {len(comparison.reference)} rows: the same to the last digit"
    return f"{count} variables, {len(comparison.reference)} rows, all within their tolerance; {most}"


def table(deviations: Sequence[Deviation], most: int = SHOWN) -> str:
    """The worst variables, one per line, in columns."""
    rows = [("variable", "off by", "of amplitude", "allowed", "at t, s", "was", "is", "unit", "")]
    for d in deviations[:most]:
        mark = "MOVED" if d.moved else ""
        allowed = f"{100 * d.allowed / d.amplitude:.3g} %" if d.amplitude > 0.0 else f"{d.allowed:.3g}"
        numbers = (f"{d.size:.4g}", _percent(d), allowed, f"{d.time:.6g}", f"{d.reference:.6g}", f"{d.value:.6g}")
        rows.append((d.name, *numbers, d.unit, mark))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(wide) if i in (0, 7, 8) else cell.rjust(wide)
            for i, (cell, wide) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    more = sum(d.moved for d in deviations[most:])
    if more:
        lines.append(f"... and {more} more that moved")
    return "\n".join(lines)


def account(reference: Reference, comparison: Comparison, picture: str = "") -> str:
    """Everything a person needs to judge: headline, table of what moved, what else has changed, and what to do."""
    lines = [f"{reference.path}: {headline(comparison)}"]
    if comparison.ok:
        return lines[0]
    lines.append(table(comparison.moved or comparison.deviations))
    changed = reference.changed_files()
    if changed:
        lines.append(f"changed since the reference was recorded: {', '.join(changed)}")
    if picture:
        lines.append(f"picture: {picture}")
    lines.append(f"if it is meant: bough verify {reference.source_path} --update")
    return "\n".join(lines)


def as_json(reference: Reference, comparison: Comparison, picture: str = "") -> dict[str, Any]:
    """The same for a program; numbers that are not finite are null."""
    return {
        "ok": comparison.ok,
        "reference": str(reference.path),
        "source": str(reference.source_path),
        "rows": len(comparison.reference),
        "moved": len(comparison.moved),
        "gone": list(comparison.gone),
        "new": list(comparison.new),
        "changed_files": list(reference.changed_files()),
        "picture": picture or None,
        "deviations": [
            {
                "name": d.name,
                "unit": d.unit,
                "time": d.time,
                "reference": d.reference,
                "value": _number(d.value),
                "absolute": _number(d.size),
                "relative": _number(d.relative),
                "allowed": d.allowed,
                "moved": d.moved,
            }
            for d in comparison.deviations
        ],
    }


def draw_comparison(comparison: Comparison, path: str | os.PathLike[str], most: int = DRAWN) -> None:
    """Worst variables first: reference and run over each other, and their difference with what is allowed.

    Raises:
        SimulationError: The file cannot be written.
    """
    shown = (comparison.moved or comparison.deviations)[:most]
    figure = new_figure(12.0, 0.5 + 2.5 * len(shown))
    axes = figure.subplots(len(shown), 2, sharex=True, squeeze=False, width_ratios=[3, 2])
    t = comparison.reference.t
    for i, d in enumerate(shown):
        was, now = comparison.reference[d.name], comparison.result[d.name]
        below = "time, s" if i + 1 == len(shown) else ""
        curves = [Curve("reference", was, "#9aa4ae"), Curve("now", now, "#d1622b", "--")]
        draw_panel(axes[i, 0], t, Panel(d.name, d.unit, curves), below)
        axes[i, 0].lines[0].set_linewidth(3.0)
        title = f"off by {_percent(d)} of its amplitude"
        draw_panel(axes[i, 1], t, Panel(title, d.unit, [Curve("", now - was, "#a83249")]), below)
        axes[i, 1].axhspan(-d.allowed, d.allowed, color="#dcebe4", zorder=0)
        axes[i, 1].axvline(d.time, color="#7a7f85", linewidth=1.0, linestyle=":")
        axes[i, 0].ticklabel_format(axis="y", useOffset=False)
    save_figure(figure, path)


def _percent(d: Deviation) -> str:
    return f"{100 * d.relative:.3g} %"


def _number(x: float) -> float | None:
    return x if math.isfinite(x) else None
