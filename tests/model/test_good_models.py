"""What a good file becomes: defaults filled in, unit directions, one value per degree of freedom."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from model.writer import numbers
from pydantic import ValidationError
from ruamel.yaml import YAML

from bough.model import HINGES, Model, load, schema

GOOD = Path(__file__).parent / "good"


@pytest.mark.parametrize("path", sorted(GOOD.iterdir()), ids=lambda path: path.name)
def test_every_good_file_loads_and_cannot_be_changed(path: Path) -> None:
    model = load(path)
    assert isinstance(model, Model)
    with pytest.raises(ValidationError):
        model.name = "other"  # type: ignore[misc]
    for body in model.bodies:
        kind = HINGES[body.hinge.type]
        assert len(body.hinge.axes) == kind.n_axes
        assert len(body.hinge.initial_q) == kind.nq
        assert len(body.hinge.initial_u) == len(body.hinge.damping) == len(body.hinge.armature) == kind.nu
        for axis in body.hinge.axes:
            assert math.hypot(*axis) == pytest.approx(1.0, abs=1e-15)


def test_the_arm_of_the_user_guide_has_its_numbers() -> None:
    model = load(str(GOOD / "two_link_arm.yaml"))
    upper, hand, panel = model.bodies
    assert model.gravity == (0.0, 0.0, -9.81)
    assert upper.beam is not None and hand.rigid is not None and panel.nodal is not None
    # Numbers without a dot, such as 1e-4, are numbers.
    assert (upper.beam.section.area, upper.beam.section.Iy, upper.beam.section.J) == (1e-4, 1e-9, 2e-9)
    assert upper.beam.material.E == 70e9
    assert upper.beam.material.G == pytest.approx(70e9 / 2.66, rel=1e-15)
    assert upper.beam.modes.total == upper.mode_count == 4
    assert upper.beam.damping.ratio == 0.01
    assert upper.node_names == ("root", *(f"n{i}" for i in range(1, 20)), "tip")
    assert hand.node_names == ("origin", "tool")
    assert panel.hinge.name == "panel_hinge"
    assert panel.nodal.stiffness == ((50.0,),)
    assert panel.nodal.damping == (0.01,) and panel.nodal.damping_matrix is None
    assert panel.nodal.initial.eta == (0.0,)
    assert model.inputs == ("upper.tip.force",)
    assert model.outputs == ("upper.tip", "hand.tool")


def test_hinge_coordinates_are_ordered_translations_first() -> None:
    bodies = {body.name: body.hinge for file in ("craft", "joints") for body in load(GOOD / f"{file}.yaml").bodies}
    assert bodies["craft"].initial_q == pytest.approx((0, 0, 1, 0, 0, 0.6, 0.8), abs=1e-15)
    assert bodies["craft"].initial_u == (1, 0, 0, 0, 0, 0.5)
    assert bodies["craft"].rest == (0.1, 0.2, 0.3, 0, 0, 0)
    assert bodies["slider"].axes == ((1.0, 0.0, 0.0),)
    assert bodies["slider"].initial_q == (0.1,) and bodies["slider"].initial_u == (0.2,)
    assert bodies["screw"].initial_q == (0.1, 0.2)
    assert bodies["screw"].damping == (1, 2)
    assert bodies["puck"].initial_q == (0.1, 0.2, 0.3)
    assert bodies["puck"].drive == "locked"
    assert bodies["ball"].initial_q == (0, 0, 0, 1)
    assert bodies["ball"].damping == (1, 2, 3) and bodies["ball"].stiffness == (5, 5, 5)
    assert bodies["flag"].initial_q == ()
    assert bodies["door"].axes == ((0.0, 0.0, 1.0),)


def test_rounded_quaternions_are_made_unit_quaternions() -> None:
    rigid = load(GOOD / "craft.yaml").bodies[0].rigid
    assert rigid is not None
    assert math.hypot(*rigid.nodes["port"].quaternion) == pytest.approx(1.0, abs=1e-15)
    assert rigid.tunable
    assert rigid.wheels[0].axis == pytest.approx((math.sqrt(0.5), math.sqrt(0.5), 0.0), abs=1e-15)


def test_planar_axes_are_made_exactly_orthonormal() -> None:
    hinge = {"type": "planar", "axes": [[2, 0, 0], [1e-7, 3, 0]], "armature": 1}
    body = {"name": "a", "parent": "ground", "hinge": hinge, "rigid": {"mass": 1}}
    a, b = load({"bough": 1, "name": "m", "bodies": [body]}).bodies[0].hinge.axes
    assert float(np.dot(a, b)) == pytest.approx(0.0, abs=1e-16)
    assert math.hypot(*b) == pytest.approx(1.0, abs=1e-15)


def test_anchors_and_merges_stand_for_what_they_refer_to(tmp_path: Path) -> None:
    boom = load(GOOD / "mast.yaml").bodies[1].beam
    mast = load(GOOD / "mast.yaml").bodies[0].beam
    assert boom is not None and mast is not None
    assert boom.material == mast.material
    file = tmp_path / "merge.yaml"
    file.write_text(
        "bough: 1\nname: m\nbodies:\n"
        "  - &link\n    name: a\n    parent: ground\n    hinge: {type: fixed}\n    rigid: {mass: 1.5}\n"
        "  - <<: *link\n    name: b\n    parent: a\n",
        encoding="utf-8",
    )
    bodies = load(file).bodies
    assert [body.name for body in bodies] == ["a", "b"]
    assert bodies[1].rigid == bodies[0].rigid


def test_mode_totals_count_the_static_modes_of_craig_bampton() -> None:
    mast, boom = (body.beam for body in load(GOOD / "mast.yaml").bodies)
    assert mast is not None and boom is not None
    assert (mast.modes.count, mast.modes.total) == (2, 8)
    assert boom.modes.count is None
    assert boom.modes.families == {"bending_y": 2, "bending_z": 1, "torsion": 1, "axial": 0}
    assert boom.modes.total == 4
    assert boom.initial.eta == (0.001, 0, 0, 0) and boom.initial.eta_dot == (0, 0, 0, 0)
    assert mast.damping.ratios is None and mast.damping.rayleigh == (0.1, 1e-5)


def test_a_full_damping_matrix_is_made_from_its_diagonal() -> None:
    nodal = load(GOOD / "panels.yaml").bodies[1].nodal
    assert nodal is not None
    assert nodal.damping is None and nodal.damping_matrix == ((0.1, 0.0), (0.0, 0.2))
    assert nodal.stiffness == ((20, 1), (1, 300))
    dummy = load(GOOD / "panels.yaml").bodies[3].nodal
    assert dummy is not None and dummy.modes == () and dummy.stiffness == ()


def test_a_dict_with_numpy_arrays_gives_the_same_model_as_lists() -> None:
    def model(convert: Any, number: Any) -> Model:
        rigid = {"mass": number(2), "com": convert([0.1, 0, 0]), "inertia": convert([1, 1, 1, 0, 0, 0])}
        hinge = {"type": "free", "damping": convert([1.0] * 6)}
        body = {"name": "a", "parent": "ground", "hinge": hinge, "rigid": rigid}
        modes = convert([[[0.0] * 6, [0, 0, 0, 0, 0, 1.0]]])
        nodes = [{"name": "p", "position": convert([0, 0, 0])}]
        nodes += [{"name": "q", "position": convert([1, 0, 0]), "mass": number(1)}]
        nodal = {"attach": "p", "nodes": nodes, "modes": modes, "stiffness": convert([[4.0]])}
        panel = {"name": "b", "parent": "a", "hinge": {"type": "fixed"}, "nodal": nodal}
        return load({"bough": number(1), "name": "m", "gravity": convert([0, 0, -9]), "bodies": (body, panel)})

    assert model(np.array, np.float64) == model(list, float) == model(tuple, np.int32)


def test_json_and_yaml_of_one_model_are_the_same_model(tmp_path: Path) -> None:
    text = (GOOD / "pendulum.json").read_text(encoding="utf-8")
    assert load(json.loads(text)) == load(GOOD / "pendulum.json")
    renamed = tmp_path / "pendulum.yaml"
    renamed.write_text("# a comment makes it YAML\n" + text.replace("\t", "  "), encoding="utf-8")
    assert load(renamed) == load(GOOD / "pendulum.json")


def test_the_schema_knows_every_key_and_refuses_others() -> None:
    top = json.loads(json.dumps(schema()))
    assert top["required"] == ["bough", "name", "bodies"]
    assert top["additionalProperties"] is False
    hinge = top["$defs"]["HingeFile"]
    assert set(hinge["properties"]["type"]["enum"]) == set(HINGES)
    assert "axis" in hinge["properties"] and hinge["required"] == ["type"]
    for definition in top["$defs"].values():
        if "properties" in definition:
            assert definition["additionalProperties"] is False
            assert all("description" in entry for entry in definition["properties"].values())


@pytest.mark.parametrize("path", sorted(GOOD.iterdir()), ids=lambda path: path.name)
def test_the_schema_accepts_what_the_loader_accepts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    data = json.loads(text) if path.suffix == ".json" else numbers(YAML(typ="safe", pure=True).load(text))
    jsonschema.validate(data, schema())


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.pop("bough"),
        lambda data: data.update(bodies=[]),
        lambda data: data["bodies"][0]["hinge"].update(type="hook"),
        lambda data: data["bodies"][0]["rigid"].update(mass=-1),
        lambda data: data["bodies"][0]["rigid"].update(com=[0, 0]),
        lambda data: data["bodies"][0].update(colour="red"),
        lambda data: data.update(loops=[{}]),
    ],
)
def test_the_schema_refuses_what_is_wrong_in_form(spoil: Callable[[Any], Any]) -> None:
    data = json.loads((GOOD / "pendulum.json").read_text(encoding="utf-8"))
    spoil(data)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, schema())
