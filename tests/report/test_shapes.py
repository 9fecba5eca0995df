"""Pictures of modes show the body as it is, whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from numpy.typing import NDArray
from typer.testing import CliRunner

import bough
from bough.cli.app import app
from bough.demo import MODEL
from bough.report import Section, Sketch
from bough.report.mode_pictures import FLATTEST, _arms, mode_figure
from bough.report.sketches import draw_bodies, draw_vibrations


def _strip(section: Section | None) -> Sketch:
    """A bar along x that bends along y, so that its tip moves farthest."""
    x = np.linspace(0.0, 1.0, 6)
    shapes = np.zeros((6, 6, 1))
    shapes[:, 4, 0], shapes[:, 2, 0] = x**2, 2 * x
    return Sketch("strip", np.column_stack([x, 0 * x, 0 * x]), shapes, ["bend"], section=section)


def _sides(corners: NDArray[np.float64]) -> tuple[float, float]:
    return float(np.ptp(corners[:, 1])), float(np.ptp(corners[:, 2]))


def test_bar_is_drawn_with_the_proportions_of_its_section() -> None:
    along = np.array([1.0, 0.0, 0.0])
    width, height = _sides(_arms(along, 0.05, Section(0.01, 0.04)))
    assert (width, height) == pytest.approx((0.025, 0.1)), "the longer side is as wide as can be seen"
    width, height = _sides(_arms(along, 0.05, Section(0.0001, 0.04)))
    assert width == pytest.approx(FLATTEST * height), "still two edges"
    turned = _sides(_arms(along, 0.05, Section(0.01, 0.04, up=(0.0, 1.0, 0.0))))
    assert turned == pytest.approx((0.1, 0.025)), "z of the section lies along y of the body"
    assert _sides(_arms(along, 0.05, None)) == pytest.approx((0.1, 0.1)), "not known: a square"


@pytest.mark.parametrize("section", [None, Section(0.003, 0.04)], ids=["square", "strip"])
def test_lines_at_rest_and_moved_are_inside_the_frame(section: Section | None) -> None:
    (axes,) = mode_figure([_strip(section)]).axes
    lines = [c for c in axes.collections if isinstance(c, LineCollection)]
    assert len(lines) == 2, "at rest, and moved"
    for collection in lines:
        points = np.concatenate([np.asarray(path.vertices) for path in collection.get_paths()])
        for values, (low, high) in zip(points.T, (axes.get_xlim(), axes.get_ylim()), strict=True):
            assert low < values.min() and values.max() < high


def test_python_draws_what_the_commands_draw(tmp_path: Path) -> None:
    told, drawn = tmp_path / "told.png", tmp_path / "drawn.png"
    done = CliRunner().invoke(app, ["modes", str(MODEL), "--at", "elbow.phi=1", "-o", str(told)])
    found = draw_vibrations(MODEL, drawn, {"elbow.phi": 1.0})
    assert done.exit_code == 0, done.output
    assert drawn.read_bytes() == told.read_bytes()
    assert (found.frequencies == bough.modes(MODEL, {"elbow.phi": 1.0}).frequencies).all()
    done = CliRunner().invoke(app, ["flex", str(MODEL), "-o", str(told)])
    draw_bodies(MODEL, drawn)
    assert done.exit_code == 0, done.output
    assert drawn.read_bytes() == told.read_bytes()
