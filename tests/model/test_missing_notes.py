"""Slips that used to pass without a word: millimetres, one element, XML, friction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.flex import flex_body
from bough.model import plausibility_notes
from bough.model.synonyms import MODEL_WORDS

STEEL = {"E": 210e9, "nu": 0.3, "rho": 7850}
PIN = {"name": "pin", "type": "revolute", "axis": [0, 0, 1]}


def _beam(**changes: Any) -> dict[str, Any]:
    beam: dict[str, Any] = {
        "length": 0.9, "elements": 8, "section": {"shape": "rectangle", "width": 0.05, "height": 0.03},
        "material": STEEL, "modes": {"boundary": "cantilever", "bending_y": 2}, **changes,
    }  # fmt: skip
    return {"bough": 1, "name": "m", "bodies": [{"name": "arm", "parent": "ground", "hinge": PIN, "beam": beam}]}


def _rigid(**rigid: Any) -> dict[str, Any]:
    return {"bough": 1, "name": "m", "bodies": [{"name": "hub", "parent": "ground", "hinge": PIN, "rigid": rigid}]}


def _notes(model: dict[str, Any]) -> list[str]:
    return [f"{note.key}: {note.cure}" for note in plausibility_notes(bough.load(model), model)]


def test_a_beam_in_millimetres_is_noted_by_its_mass() -> None:
    assert _notes(_beam()) == []
    (note,) = _notes(_beam(length=900, section={"shape": "rectangle", "width": 50, "height": 30}))
    assert note == "bodies[0].beam.length: give metres: 900 mm is 0.9, and the same for the section"


def test_a_rigid_body_in_millimetres_is_noted() -> None:
    assert _notes(_rigid(mass=3.0, com=[0.1, 0, 0], inertia=[0.01, 0.02, 0.02, 0, 0, 0])) == []
    far = {"tool": {"position": [1200, 0, 0]}}
    (note,) = _notes(_rigid(mass=3.0, inertia=[0.01, 0.02, 0.02, 0, 0, 0], nodes=far))
    assert note == "bodies[0].rigid.nodes.tool.position: give metres: 1200 mm is 1.2"
    (note,) = _notes(_rigid(mass=3.0, com=[0.1, 0, 0], inertia=[2e4, 4e4, 4e4, 0, 0, 0]))
    assert note == "bodies[0].rigid.inertia: give kg.m2: 1e6 kg.mm2 is 1"


@pytest.mark.parametrize(("elements", "wanted", "noted"), [(1, 2, True), (1, 1, False), (2, 2, False), (2, 3, True)])
def test_too_few_elements_are_noted_where_a_frequency_is_wrong(elements: int, wanted: int, noted: bool) -> None:
    model = _beam(elements=elements, modes={"boundary": "cantilever", "bending_y": wanted})
    notes = _notes(model)
    assert [note.startswith("bodies[0].beam.elements: give") for note in notes] == [True] * noted
    # beta L of a cantilever (Blevins, table 8-1): the note is there where the last frequency is more than 2 % off.
    beta = (1.87510407, 4.69409113, 7.85475744)[wanted - 1]
    exact = beta**2 / 0.9**2 * np.sqrt(210e9 * 0.05 * 0.03**3 / 12 / (7850 * 0.05 * 0.03))
    thin = flex_body(bough.load(model).bodies[0]).frequencies.max()
    assert (abs(thin / exact - 1) > 0.02) == noted


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<?xml version="1.0"?>\n<!-- made by <hand> -->\n<robot name="ur5"><link name="a"/></robot>\n', "(URDF)"),
        ("<mujoco model='x'/>", "a MuJoCo model"),
        ("<svg/>", "XML, beginning with <svg>"),
    ],
)
def test_xml_is_told_as_xml_and_not_as_bad_indentation(tmp_path: Path, text: str, found: str) -> None:
    (tmp_path / "arm.urdf").write_text(text, encoding="utf-8")
    with pytest.raises(bough.ModelError) as caught:
        bough.load(tmp_path / "arm.urdf")
    (problem,) = caught.value.problems
    assert problem.expected == "a file in YAML or JSON" and found in problem.found and "indent" not in str(problem)


def test_friction_is_not_taken_for_damping() -> None:
    assert "friction" not in MODEL_WORDS.synonyms["damping"].split()


def _wheel(axis: list[float], inertia: list[float], **more: Any) -> dict[str, Any]:
    spin = {"name": "spin", "type": "revolute", "axis": axis, **more}
    wheel = {"mass": 5.0, "inertia": inertia}
    return {"bough": 1, "name": "m", "bodies": [{"name": "wheel", "parent": "ground", "hinge": spin, "rigid": wheel}]}


DISC = [0.1, 0.1, 0.2, 0.0, 0.0, 0.0]
TILTED = [0.0, 0.6, 0.8]


def test_a_tilted_wheel_whose_inertia_is_not_turned_is_noted_with_the_turned_one() -> None:
    (note,) = _notes(_wheel(TILTED, DISC))
    assert note.startswith("bodies[0].rigid.inertia: turn the inertia with the axis: [0.1, 0.136, 0.164, 0, 0, 0.048]")
    assert _notes(_wheel(TILTED, [0.1, 0.136, 0.164, 0, 0, 0.048])) == []
    assert _notes(_wheel([0, 0, -1], DISC)) == [] == _notes(_wheel([1, 0, 0], DISC)), "about its axis, about a diameter"
    assert _notes(_wheel(TILTED, DISC, limits={"lower": -1, "upper": 1, "stiffness": 1e3})) == [], (
        "a part that turns a bit"
    )
    assert _notes(_wheel(TILTED, [0.1, 0.15, 0.2, 0, 0, 0])) == [] == _notes(_wheel(TILTED, [0.2, 0.2, 0.1, 0, 0, 0]))


def test_a_damper_that_binds_the_default_method_is_noted_by_check() -> None:
    """1e6 N.m.s/rad on 0.2 kg.m2 decays at 5e6 per second."""
    model = _wheel([0, 0, 1], DISC, damping=1e6)
    (note,) = bough.check(model)["notes"]
    assert "damping at spin stops a motion in 2e-07 s" in note["text"] and "rosenbrock2" in note["cure"]
    assert bough.check(_wheel([0, 0, 1], DISC, damping=1e3))["notes"] == []
