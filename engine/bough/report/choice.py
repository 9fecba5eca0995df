"""What a report draws of its charts: curves that say something, once each. The table of numbers has all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bough.report.charts import COORDINATES, Chart
from bough.run.result import Result

STILL = 1e-12
"""Variation, of the largest value in the chart, that is round-off of a constant."""
NAMED = 6
"""Variables that a caption names."""


def drawn_charts(result: Result, charts: Sequence[Chart]) -> list[Chart]:
    """The charts without curves that are constant over the run, or equal to one of another name that is drawn.

    Coordinates of hinges are always drawn. An input that is connected to an output has its values: a motor's speed is
    the hinge's. What leads is drawn of every controller, even if two do the same. If nothing moves everything is drawn.
    """
    # What a mechanism's own variables are called goes before what a motor or a controller calls them.
    ordered = sorted(charts, key=lambda chart: chart.foreign)
    first: dict[tuple[str, bytes], str] = {}
    for chart in ordered:
        for name in chart.names:
            first.setdefault((chart.unit, result[name].tobytes()), name)
    out = []
    for chart in charts:
        still = _still(result, chart)
        echoes = {}
        # Two controllers may do just the same, and each is looked at by itself.
        if chart.foreign and not chart.paired and not chart.leads:
            same = {name: first[chart.unit, result[name].tobytes()] for name in chart.names if name not in still}
            echoes = {name: other for name, other in same.items() if other != name}
        names = tuple(name for name in chart.names if name not in still and name not in echoes)
        if names:
            again = _listed("Not drawn again: ", [f"{name} is {other}" for name, other in echoes.items()])
            told = (chart.caption, again, _listed("Constant, see Numbers: ", still))
            out.append(replace(chart, names=names, caption=" ".join(text for text in told if text)))
    return out or list(charts)


def _still(result: Result, chart: Chart) -> list[str]:
    """Names of the curves that need not be drawn: constants, of a reference and what follows it only if both are."""
    if chart.title.startswith(COORDINATES):
        return []
    finite = {name: bool(np.all(np.isfinite(result[name]))) for name in chart.names}
    largest = max((float(np.max(abs(result[name]), initial=0.0)) for name in chart.names if finite[name]), default=0.0)
    still = [name for name in chart.names if finite[name] and np.ptp(result[name]) <= STILL * largest]
    if not chart.paired:
        return still
    pairs = zip(chart.names[::2], chart.names[1::2], strict=True)
    return [name for pair in pairs if set(pair) <= set(still) for name in pair]


def _listed(lead: str, texts: list[str]) -> str:
    if not texts:
        return ""
    more = f" and {len(texts) - NAMED} more" if len(texts) > NAMED else ""
    return f"{lead}{', '.join(texts[:NAMED])}{more}."
