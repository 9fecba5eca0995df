"""Reports in one call: the ending says what is written, and a model gives modal amplitudes a meaning."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from report.mechanisms import slider_run

import bough
from bough.errors import ArgumentError, OutputError
from bough.report import Curve, Panel, draw_panels
from bough.report.figures import DPI, SCENE
from bough.report.retrace import deflection_notes, deflection_series
from bough.report.scenes import animate

MAGIC = {".html": b"<!DOCTYPE html>", ".pdf": b"%PDF-", ".png": b"\x89PNG", ".svg": b"<?xml"}
LINK = {
    "bough": 1,
    "name": "link",
    "bodies": [
        {
            "name": "link",
            "parent": "ground",
            "hinge": {"name": "shoulder", "type": "revolute", "axis": [0, 0, 1]},
            "beam": {
                "length": 1.0,
                "elements": 8,
                "section": {"shape": "rectangle", "width": 0.02, "height": 0.01},
                "material": {"E": 70e9, "nu": 0.33, "rho": 2700},
                "modes": {"boundary": "cantilever", "bending_y": 1, "bending_z": 1, "torsion": 1},
            },
        }
    ],
}


def _short() -> tuple[bough.Mechanism, bough.Result]:
    system, run = slider_run()
    few = range(0, len(run), 20)
    columns = {name: run[name][few] for name in run.names}
    return system, bough.Result(run.t[few], columns, run.units, run.model_name)


@pytest.mark.parametrize("ending", MAGIC)
def test_the_ending_says_what_is_written_and_the_same_run_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    system, run = _short()
    paths = [tmp_path / f"{i}{ending}" for i in range(2)]
    for path in paths:
        bough.write_report(run, path, system, title="slider")
    data = [path.read_bytes() for path in paths]
    assert data[0].startswith(MAGIC[ending])
    if ending in (".pdf", ".png"):
        assert data[0] == data[1]


def test_a_report_of_a_file_without_units_takes_those_of_its_model(tmp_path: Path) -> None:
    system, run = _short()
    bough.Result(run.t, {name: run[name] for name in run.names}).to_csv(tmp_path / "bare.csv")
    assert not bough.write_report(tmp_path / "bare.csv", tmp_path / "a.html").units
    found = bough.write_report(tmp_path / "bare.csv", tmp_path / "b.html", system).units
    assert found == {name: unit for name, unit in run.units.items() if unit}


def test_charts_of_a_page_share_their_width(tmp_path: Path) -> None:
    system, run = _short()
    bough.write_report(run, tmp_path / "run.html", system)
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    margins = [json.loads(found) for found in re.findall(r'"margin":(\{[^}]*"autoexpand"[^}]*\})', page)]
    assert len(margins) > 3 and all(margin == margins[0] for margin in margins)
    assert margins[0]["autoexpand"] is False


def test_deflection_of_a_mode_is_how_far_it_moves_its_node() -> None:
    system = bough.Mechanism(LINK)
    q, _ = system.initial_state()
    for c in system.q_table:
        if not c.modal:
            continue
        bent = q.copy()
        bent[c.index] = 1e-5
        moved = max(
            float(np.linalg.norm(system.pose(bent, node)[0] - system.pose(q, node)[0])) for node in system.node_names
        )
        values = {name: np.array([0.0, bent[i]]) for i, name in enumerate(system.q_names)}
        curves = [y for s in deflection_series(system, bough.Result(np.arange(2.0), values)) for y in s.curves.values()]
        # mm; torsion moves no node of a straight beam. Second order in the bending angle, some 1e-4 rad.
        assert max((abs(y[1]) for y in curves), default=0.0) == pytest.approx(1e3 * moved, rel=1e-4, abs=1e-12)
    assert "link.eta[1] = 1 is" in deflection_notes(system)["Modal amplitudes"]


def test_wrong_use_of_reports_is_refused(tmp_path: Path) -> None:
    _, run = _short()
    with pytest.raises(ArgumentError, match="model: the animation needs the model"):
        bough.write_report(run, tmp_path / "x.html", trails=["a.b"])
    with pytest.raises(OutputError, match=r"ends in \.html, \.pdf, \.png or \.svg, found a name that ends in \.doc"):
        bough.write_report(run, tmp_path / "x.doc")


def test_mechanism_stands_above_the_panels_and_leaves_them_as_they_are(tmp_path: Path) -> None:
    from PIL import Image

    system, run = _short()
    panels = [Panel("Way", "m", [Curve("", run[run.names[0]])])]
    motion = animate(system, run, stop=float(run.t[3]))
    assert motion.times[-1] == run.t[3]
    draw_panels(run.t, panels, tmp_path / "bare.png")
    draw_panels(run.t, panels, tmp_path / "seen.png", motion)
    bare, seen = (np.asarray(Image.open(tmp_path / f"{name}.png").convert("L")) for name in ("bare", "seen"))
    top = round(SCENE * DPI)
    assert seen.shape == (bare.shape[0] + top, bare.shape[1])
    assert (seen[:top] < 128).sum() > 1000  # ink of the mechanism
    np.testing.assert_allclose((seen[top:] < 250).sum(), (bare < 250).sum(), rtol=0.1)
