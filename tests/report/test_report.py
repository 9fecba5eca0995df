"""Reports draw what a result holds, and need no network."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.report import charts, render_page, write_page
from bough.report.charts import HINGE, NODE
from bough.report.palette import COLOURS, line_style
from bough.report.thin import thin
from bough.text.units import pretty

MODELS = sorted((Path(__file__).resolve().parents[1] / "model" / "good").iterdir())


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_every_chart_has_one_quantity_of_the_variable_table_and_its_unit(path: Path) -> None:
    table = {v.name: v.unit for v in bough.Mechanism(path).variables}
    t = np.zeros(2)
    drawn = charts(bough.Result(t, dict.fromkeys(table, t), table))
    assert sorted(name for chart in drawn for name in chart.names) == sorted(table)
    for chart in drawn:
        assert chart.title in {*HINGE.values(), *NODE.values()}
        assert {table[name] for name in chart.names} in ({chart.unit}, {"1"} if not chart.unit else set()), chart.title
    assert not any(chart.unit for chart in charts(bough.Result(t, dict.fromkeys(table, t)))), "nothing is guessed"


def test_foreign_columns_are_drawn_too_and_share_an_axis_by_name_only() -> None:
    t = np.linspace(0.0, 1.0, 3)
    names = ["temperature", "motor.current[1]", "motor.current[2]", "motor.heat", "pump.current"]
    drawn = charts(bough.Result(t, dict.fromkeys(names, t)))
    assert [(chart.title, chart.names) for chart in drawn] == [
        ("temperature", ("temperature",)),
        ("motor: current", ("motor.current[1]", "motor.current[2]")),
        ("motor: heat", ("motor.heat",)),
        ("pump: current", ("pump.current",)),
    ]


def test_no_two_charts_have_one_title() -> None:
    t = np.linspace(0.0, 1.0, 3)
    units = {"a.phi": "rad", "b.phi": "deg", "c.x": "W", "d.x": "", "d.eta[1]": "1", "e.eta[1]": ""}
    titles = [chart.title for chart in charts(bough.Result(t, dict.fromkeys(units, t), units))]
    assert len(titles) == len(set(titles)) == 6


def test_every_curve_of_a_crowded_chart_looks_different() -> None:
    styles = [line_style(i) for i in range(24)]
    assert len(set(styles)) == 24
    assert [colour for colour, _ in styles[:8]] == list(COLOURS)


def test_units_and_zeros_are_written_for_people() -> None:
    written = {unit: pretty(unit) for unit in ("m/s2", "N.m", "kg.m2", "rad/s2", "1/s", "1", "", "V.s2/rad", "Ohm")}
    assert list(written.values()) == ["m/s²", "N·m", "kg·m²", "rad/s²", "1/s", "", "", "V·s²/rad", "Ω"]
    t = np.array([0.0, 1.0])
    page = render_page(bough.Result(t, {"h.tau": np.array([-0.0, 2.0]), "h.phi": t}, {"h.tau": "N.m"}), "x")
    assert "<td>h.tau</td><td>0</td><td>0</td><td>2</td><td>2</td><td>N·m</td>" in page


def test_page_loads_nothing_from_elsewhere() -> None:
    t = np.linspace(0.0, 1.0, 5)
    page = render_page(bough.Result(t, {"h.phi": t, "h.a": t}), "a <run>")
    assert "a &lt;run&gt;" in page
    assert not re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=", page)
    assert page.count('class="plotly-graph-div"') == 2


def test_page_takes_rows_that_are_not_finite(tmp_path: Path) -> None:
    y = np.array([0.0, np.nan, np.inf])
    write_page(bough.Result(np.arange(3.0), {"h.phi": y, "h.w": np.full(3, np.nan)}), tmp_path / "x.html", "x")
    assert (tmp_path / "x.html").stat().st_size > 1_000_000, "plotly.js is in it"


def test_thinned_series_keeps_ends_and_peaks() -> None:
    t = np.linspace(0.0, 1.0, 100_003)
    y = np.sin(40 * t)
    y[77_777], y[5], y[6] = 9.0, -7.0, np.nan
    few, drawn = thin(t, y, 1000)
    assert few.size <= 1010
    assert (few[0], few[-1], drawn.max(), drawn.min()) == (t[0], t[-1], 9.0, -7.0)
    assert np.all(np.diff(few) > 0)
    assert set(few) <= set(t)


def test_short_series_is_left_alone() -> None:
    t = np.linspace(0.0, 1.0, 100)
    few, drawn = thin(t, t**2)
    assert few is t
    assert np.array_equal(drawn, t**2)
