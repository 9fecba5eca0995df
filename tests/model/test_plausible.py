"""Numbers that are allowed but look like a slip get a note; sensible models get none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from house.tools import ROOT

from bough.model import Note, load, plausibility_notes
from bough.text.source import read

GOOD = Path(__file__).parent / "good"
MAST = """\
bough: 1
name: mast
gravity: [0, 0, -9.81]
bodies:
  - name: mast
    parent: ground
    hinge: {name: base, type: revolute, axis: [0, 1, 0], stiffness: 2e5, rest: 0.1, initial: {phi: 1.2}}
    beam:
      length: 3.0
      elements: 10
      section: {shape: box, width: 0.06, height: 0.06, thickness: 0.003}
      material: {E: 70e9, nu: 0.33, rho: 2700}
      modes: {count: 2}
      damping: 0.01
  - name: lamp
    parent: mast
    at: tip
    hinge: {type: fixed}
    rigid: {mass: 2.0}
"""
BEAM = "bodies[0].beam"


def notes_of(text: str, tmp_path: Path) -> tuple[Note, ...]:
    file = tmp_path / "mast.yaml"
    file.write_text(text, encoding="utf-8")
    return plausibility_notes(load(file), file)


# (what is replaced, by what, key path, part of what was found, part of what was meant)
SLIPS = [
    ("-9.81", "-9810", "gravity", "9810 m/s2", "9.81"),
    ("phi: 1.2", "phi: 90", "bodies[0].hinge.initial.phi", "90 rad", "90 deg is 1.5708"),
    ("rest: 0.1", "rest: -45", "bodies[0].hinge.rest", "-45 rad", "-45 deg is -0.7854"),
    ("width: 0.06, height: 0.06, thickness: 0.003", "width: 60, height: 60, thickness: 3", f"{BEAM}.section",
     "47 m across on a beam of 3 m", "60 mm is 0.06"),
    ("length: 3.0", "length: 3000", f"{BEAM}.length", "3000 m", "3000 mm is 3"),
    ("length: 3.0", "length: 0.003", f"{BEAM}.section", "on a beam of 0.003 m", "both in metres"),
    ("E: 70e9", "E: 70", f"{BEAM}.material.E", "70 Pa", "70 GPa is 70e9"),
    ("E: 70e9", "E: 70000", f"{BEAM}.material.E", "70000 Pa", "70000 MPa is 70000e6"),
    ("E: 70e9", "E: 70e15", f"{BEAM}.material.E", "7e+16 Pa", "give Pa"),
    ("nu: 0.33", "G: 26", f"{BEAM}.material.G", "26 Pa", "26 GPa is 26e9"),
    ("rho: 2700", "rho: 2.7", f"{BEAM}.material.rho", "2.7 kg/m3", "2.7 g/cm3 is 2700"),
    ("rho: 2700", "rho: 7.85", f"{BEAM}.material.rho", "7.85 kg/m3", "7.85 g/cm3 is 7850"),
    ("rho: 2700", "rho: 2.7e-9", f"{BEAM}.material.rho", "2.7e-09 kg/m3", "7850"),
    ("rho: 2700", "rho: 2.7e6", f"{BEAM}.material.rho", "2.7e+06 kg/m3", "7850"),
    ("damping: 0.01", "damping: 1.0", f"{BEAM}.damping", "ratio of 1", "1 % is 0.01"),
    ("damping: 0.01", "damping: [0.01, 2]", f"{BEAM}.damping", "ratio of 2", "2 % is 0.02"),
    ("mass: 2.0", "mass: 0", "bodies[1].rigid.mass", "'lamp' without mass", "remove the body"),
    ("{shape: box, width: 0.06, height: 0.06, thickness: 0.003}", "{area: 1e-3, Iy: 1e-19, Iz: 1e-19, J: 1e-19}",
     BEAM, "3.2e-06 Hz", "check length and section"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "key", "found", "meant"), SLIPS)
def test_a_slip_of_units_gets_one_note_with_its_line_and_what_was_meant(
    old: str, new: str, key: str, found: str, meant: str, tmp_path: Path
) -> None:
    assert MAST.count(old) == 1
    (note,) = notes_of(MAST.replace(old, new), tmp_path)
    assert note.key == key
    assert found in note.found
    assert meant in note.cure
    last = key.rpartition(".")[2]
    assert note.line == MAST.replace(old, new).split(f"{last}:")[0].count("\n") + 1
    assert str(note) == f"{note.file}:{note.line}: {key}: {note.found}; {note.why}; {note.cure}"


def test_the_lightest_foam_gets_no_note(tmp_path: Path) -> None:
    assert not notes_of(MAST.replace("E: 70e9", "E: 5e6").replace("rho: 2700", "rho: 20"), tmp_path)


def test_masses_a_million_times_apart_get_a_note() -> None:
    still = {"hinge": {"type": "fixed"}}
    bodies = [{"name": n, "parent": "ground", **still, "rigid": {"mass": m}} for n, m in (("a", 2e6), ("b", 0.5))]
    (note,) = plausibility_notes(load({"bough": 1, "name": "m", "bodies": bodies}))
    assert (note.file, note.line, note.key) == ("", None, "bodies[0].rigid.mass")


@pytest.mark.parametrize(
    "body",
    [
        {"parent": "ground", "rigid": {"mass": 1e8}},
        {"parent": "ground", "rigid": {"mass": 0, "tunable": True}},
        {"parent": "ground", "rigid": {"mass": 0, "wheels": [{"axis": [0, 0, 1], "momentum": 1}]}},
        {"parent": "ground", "rigid": {"mass": 0, "nodes": {"eye": {"position": [0, 0, 1]}}}, "watched": "frame.eye"},
    ],
)
def test_a_ship_alone_and_bodies_that_are_only_a_frame_get_none(body: dict[str, Any]) -> None:
    outputs = [body.pop("watched")] if "watched" in body else []
    frame = {"name": "frame", "hinge": {"type": "fixed"}, **body}
    assert not plausibility_notes(load({"bough": 1, "name": "m", "bodies": [frame], "outputs": outputs}))


def test_a_mapping_has_notes_without_a_line(tmp_path: Path) -> None:
    file = tmp_path / "mast.yaml"
    file.write_text(MAST.replace("-9.81", "-981"), encoding="utf-8")
    data = read(file).data
    (note,) = plausibility_notes(load(data), data)
    assert (note.file, note.line, note.key) == ("<dict>", None, "gravity")


DOCUMENTS = [
    block
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for block in re.findall(r"^```yaml\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)
    if block.startswith("bough: 1")
]
FILES = [
    *GOOD.iterdir(),
    # The FE files of the bracket are made by its script.
    *(path for path in (ROOT / "examples").glob("*/model.yaml") if path.parent.name != "fe_bracket"),
    ROOT / "engine" / "bough" / "demo" / "two_link_arm.yaml",
]


@pytest.mark.parametrize("path", sorted(FILES), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_model_of_ours_gets_a_note(path: Path) -> None:
    assert not plausibility_notes(load(path), path)


@pytest.mark.parametrize("text", DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_no_model_of_the_documents_gets_a_note(text: str, tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(text, encoding="utf-8")
    assert not plausibility_notes(load(file), file)
