"""The resource holds the variable table and the model block, as its layout says."""

from __future__ import annotations

import pytest
from fmu.described import ARM, CASES, description, files_of, read_resource, system_of

from bough.mechanism.fields import Kind
from bough.mechanism.variable_table import Role

TYPES = {"Real": 0, "Integer": 1, "Boolean": 2, "Enumeration": 3}


@pytest.mark.parametrize("case", CASES)
def test_resource_reads_back_and_agrees_with_the_description(case: str) -> None:
    system, files = system_of(case), files_of(case, "2.0")
    read = read_resource(files["resources/model.bough"])
    assert read.block == system.block.data
    assert read.model == system.model.name
    assert read.bodies == tuple((b.name, b.hinge.name) for b in system.model.bodies)
    assert list(read.sensors) == [system.block.nodes[name] for name in system.model.outputs]
    root = description(case, "2.0")
    assert read.token == root.get("guid")
    for record, v in zip(read.variables, root.find("ModelVariables"), strict=True):
        (value,) = v
        assert record.name == v.get("name") and record.type == TYPES[value.tag] and record.count == 1
        role = "tunable" if v.get("variability") == "tunable" else v.get("causality").replace("parameter", "fixed")
        assert record.role == Role[role.upper()]
        text = {"true": "1", "false": "0"}.get(value.get("start", "0"), value.get("start", "0"))
        assert record.start == (float(text),)


def test_arrays_cover_the_places_of_their_elements() -> None:
    scalar = read_resource(files_of(ARM, "3.0")["resources/model.bough"]).variables
    arrays = read_resource(files_of(ARM, "3.0", arrays=True)["resources/model.bough"]).variables
    spread = [(v.kind, v.index + i, v.role, v.start[i]) for v in arrays for i in range(v.count)]
    assert spread == [(v.kind, v.index, v.role, v.start[0]) for v in scalar]


def test_indices_point_into_the_arrays_of_the_kernel() -> None:
    system = system_of("one_free")
    found = {v.name: v for v in read_resource(files_of("one_free", "2.0")["resources/model.bough"]).variables}
    for kind, names in ((Kind.Q, system.q_names), (Kind.U, system.u_names)):
        assert [(found[name].kind, found[name].index) for name in names] == [(kind, i) for i in range(len(names))]
    assert (found["h.f[2]"].kind, found["h.f[2]"].index) == (Kind.TAU, 1)
    assert (found["h.reaction_force[1]"].kind, found["h.reaction_force[1]"].index) == (Kind.REACTION, 3)
    assert (found["b.inertia[6]"].kind, found["b.inertia[6]"].index) == (Kind.RIGID, 9)
    assert (found["h.locked"].kind, found["h.locked"].index, found["h.locked"].start) == (Kind.LOCKED, 0, (0.0,))


def test_node_loads_and_sensors_have_the_order_of_the_kernel() -> None:
    system = system_of(ARM)
    found = {v.name: v for v in read_resource(files_of(ARM, "2.0")["resources/model.bough"]).variables}
    n = system.model.outputs.index("hand.tool")
    load = system.block.loads.index("upper.tip")
    assert (found["upper.tip.force[1]"].kind, found["upper.tip.force[1]"].index) == (Kind.LOAD, 6 * load + 3)
    assert (found["hand.tool.Q[1]"].kind, found["hand.tool.Q[1]"].index) == (Kind.POSE, 7 * n + 3)
    assert (found["hand.tool.v[1]"].kind, found["hand.tool.v[1]"].index) == (Kind.VELOCITY, 6 * n + 3)
    assert (found["hand.tool.a[1]"].kind, found["hand.tool.a[1]"].index) == (Kind.ACCELERATION, 6 * n + 3)
