"""Names, units and start values follow the table of FMU variables that users rely on."""

from __future__ import annotations

import pytest
from fmu.described import ARM, CASES, TYPES, one_hinge, system_of
from house.tools import ROOT

import bough
from bough.mechanism import kernel_calls
from bough.mechanism.fields import FIELDS, Kind
from bough.mechanism.variable_table import FmuVariable, scalar_table

REACTIONS = {f"h.reaction_{key}[{i}]": unit for key, unit in (("force", "N"), ("torque", "N.m")) for i in (1, 2, 3)}
EXPECTED: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "fixed": ({}, {}),
    "revolute": ({"h.tau": "N.m"}, {"h.phi": "rad", "h.w": "rad/s", "h.a": "rad/s2"}),
    "prismatic": ({"h.f": "N"}, {"h.s": "m", "h.v": "m/s", "h.a": "m/s2"}),
    "cylindrical": (
        {"h.f": "N", "h.tau": "N.m"},
        {"h.s": "m", "h.phi": "rad", "h.v": "m/s", "h.w": "rad/s", "h.a_lin": "m/s2", "h.a_rot": "rad/s2"},
    ),
    "universal": (
        {"h.tau[1]": "N.m", "h.tau[2]": "N.m"},
        {f"h.{x}[{i}]": u for x, u in (("phi", "rad"), ("w", "rad/s"), ("a_rot", "rad/s2")) for i in (1, 2)},
    ),
    "planar": (
        {"h.f[1]": "N", "h.f[2]": "N", "h.tau": "N.m"},
        {f"h.{x}[{i}]": u for x, u in (("s", "m"), ("v", "m/s"), ("a_lin", "m/s2")) for i in (1, 2)}
        | {"h.phi": "rad", "h.w": "rad/s", "h.a_rot": "rad/s2"},
    ),
    "spherical": (
        {f"h.tau[{i}]": "N.m" for i in (1, 2, 3)},
        {f"h.Q[{i}]": "1" for i in (1, 2, 3, 4)}
        | {f"h.{x}[{i}]": u for x, u in (("w", "rad/s"), ("a_rot", "rad/s2")) for i in (1, 2, 3)},
    ),
    "free": (
        {f"h.{x}[{i}]": u for x, u in (("f", "N"), ("tau", "N.m")) for i in (1, 2, 3)},
        {f"h.Q[{i}]": "1" for i in (1, 2, 3, 4)}
        | {
            f"h.{x}[{i}]": u
            for x, u in (("s", "m"), ("v", "m/s"), ("w", "rad/s"), ("a_lin", "m/s2"), ("a_rot", "rad/s2"))
            for i in (1, 2, 3)
        },
    ),
}


def table(kind: str, **hinge: object) -> dict[str, FmuVariable]:
    return {v.name: v for v in scalar_table(bough.Mechanism(one_hinge(kind, **hinge)))}


@pytest.mark.parametrize("kind", TYPES)
def test_inputs_and_outputs_of_every_hinge_have_their_modelica_names_and_units(kind: str) -> None:
    found = table(kind)
    inputs, outputs = EXPECTED[kind]
    assert {v.name: v.unit for v in found.values() if v.causality == "input"} == inputs
    assert {v.name: v.unit for v in found.values() if v.causality == "output"} == outputs | REACTIONS


@pytest.mark.parametrize("kind", [k for k in TYPES if k != "fixed"])
def test_a_driven_hinge_takes_accelerations_and_gives_forces(kind: str) -> None:
    found = table(kind, drive="motion")
    inputs, outputs = EXPECTED[kind]
    accelerations = {name: unit for name, unit in outputs.items() if ".a" in name}
    assert {v.name: v.unit for v in found.values() if v.causality == "input"} == accelerations
    rest = {name: unit for name, unit in outputs.items() if name not in accelerations}
    assert {v.name: v.unit for v in found.values() if v.causality == "output"} == rest | inputs | REACTIONS
    assert all(found[name].kind == Kind.MOTION for name in accelerations)
    assert all(found[name].kind == Kind.FORCE for name in inputs)
    assert "h.locked" not in found


def test_parameters_carry_the_models_values() -> None:
    found = table("universal", damping=[0.1, 0.2], stiffness=[3, 4], rest=[0.5, 0.6], armature=0.7, drive="locked")
    start = {name: v.start for name, v in found.items() if v.causality == "parameter"}
    assert start == {
        "gravity[1]": (0.0,), "gravity[2]": (0.0,), "gravity[3]": (-9.81,),
        "h.damping[1]": (0.1,), "h.damping[2]": (0.2,), "h.stiffness[1]": (3.0,), "h.stiffness[2]": (4.0,),
        "h.rest[1]": (0.5,), "h.rest[2]": (0.6,), "h.armature[1]": (0.7,), "h.armature[2]": (0.7,), "h.locked": (1.0,),
        "b.mass": (2.0,), "b.com[1]": (0.1,), "b.com[2]": (0.2,), "b.com[3]": (0.3,),
        "b.inertia[1]": (0.3,), "b.inertia[2]": (0.4,), "b.inertia[3]": (0.5,),
        "b.inertia[4]": (0.01,), "b.inertia[5]": (0.02,), "b.inertia[6]": (0.03,),
        "solver.method": (1.0,), "solver.step": (0.0,), "solver.tolerance": (1e-6,), "solver.max_step": (0.0,),
    }  # fmt: skip
    fixed = {name for name, v in found.items() if v.variability == "fixed"}
    assert fixed == {"solver.method", "solver.step", "solver.tolerance", "solver.max_step"}
    assert found["h.locked"].type == "Boolean" and found["solver.method"].type == "Enumeration"


def test_units_of_parameters_tell_translations_from_rotations() -> None:
    found = table("cylindrical")
    units = {
        key: (found[f"h.{key}[1]"].unit, found[f"h.{key}[2]"].unit) for key in ("damping", "stiffness", "armature")
    }
    assert units == {"damping": ("N.s/m", "N.m.s/rad"), "stiffness": ("N/m", "N.m/rad"), "armature": ("kg", "kg.m2")}
    assert "h.damping" in table("revolute") and "h.damping[1]" not in table("revolute")


def test_a_ball_joint_has_no_slack_position_to_tune() -> None:
    assert not [name for name in table("spherical") if ".rest" in name]
    assert [name for name in table("free") if ".rest" in name] == ["h.rest[1]", "h.rest[2]", "h.rest[3]"]


def test_flexible_bodies_loads_and_sensors_have_their_variables() -> None:
    found = {v.name: v for v in scalar_table(system_of(ARM))}
    assert found["upper.eta[1]"].unit == "1" and found["upper.eta_dot[1]"].unit == "1/s"
    assert found["upper.damping_scale"].start == (1.0,)
    assert [found[f"upper.tip.force[{i}]"].causality for i in (1, 2, 3)] == ["input"] * 3
    assert {found[f"hand.tool.{x}"].unit for x in ("r[3]", "Q[4]", "v[3]", "w[3]", "a[3]")} == {
        "m", "1", "m/s", "rad/s", "m/s2",
    }  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_names_are_unique_and_groups_are_in_their_order(case: str) -> None:
    system = system_of(case)
    found = scalar_table(system)
    assert len({v.name for v in found}) == len(found)
    order = {"independent": 0, "input": 1, "output": 1, "local": 2, "parameter": 3}
    ranks = [order[v.causality] for v in found]
    assert ranks == sorted(ranks) and ranks.count(2) == system.nq + system.nu
    places = [(v.kind, v.index) for v in found if v.causality == "input" or v.state]
    assert len(set(places)) == len(places)


def test_kinds_in_python_are_those_of_the_kernels_list() -> None:
    import sys

    sys.path.insert(0, str(ROOT / "build"))
    try:
        from make_fields import LIST, MODULE, module
    finally:
        sys.path.pop(0)
    assert MODULE.read_text(encoding="utf-8") == module(LIST.read_text(encoding="utf-8")), "run `make kernel`"
    assert len(FIELDS) == len({int(kind) for kind in FIELDS}) > 20
    assert {field.member for field in FIELDS.values() if field.group == "VALUE"} == set(kernel_calls.VALUES)
    assert {field.member for field in FIELDS.values() if field.group in ("STATE", "INPUT")} == set(kernel_calls.POINT)
