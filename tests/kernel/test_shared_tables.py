"""Equal bodies hold the tables of their modes once, equal nodes theirs; and move as if each had its own."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from kernel.cases import Dict, chain, error
from kernel.make_blocks import models
from random_models import random_state

from bough import Mechanism

BODIES = 12


def beams(fidelity: str) -> Dict:
    """A chain of equal beams with geometric stiffening."""
    section = {"shape": "rectangle", "width": 0.02, "height": 0.03}
    material = {"E": 7e10, "nu": 0.3, "rho": 2700.0}
    beam = {"length": 1.0, "elements": 6, "section": section, "material": material, "modes": {"bending_y": 2}}
    bodies: list[Dict] = []
    for k in range(BODIES):
        place = {"parent": "ground"} if k == 0 else {"parent": f"b{k - 1}", "at": "tip"}
        hinge = {"type": "revolute", "axis": [0, 1, 0]}
        bodies.append({"name": f"b{k}", **place, "hinge": hinge, "beam": beam})
    return {"bough": 1, "name": "beams", "fidelity": fidelity, "geometric_stiffening": True, "bodies": bodies}


def owners(system: Mechanism) -> tuple[list[int], list[int], list[int]]:
    """For each body the first with the same modes and with the same two-port, for each node the first that is equal."""
    data = system.block.data
    ints = np.frombuffer(data, "<i4", int(np.frombuffer(data, "<i8", 1, 32)[0]), 64)
    nb, n_nodes = int(ints[0]), int(ints[3])
    bodies, nodes = ints[11 : 11 + 15 * nb], ints[11 + 15 * nb : 11 + 15 * nb + 2 * n_nodes]
    return bodies[12::15].tolist(), bodies[13::15].tolist(), nodes[1::2].tolist()


def told_apart(model: Dict) -> Dict:
    """The same to thirteen digits, no two bodies equal."""
    bodies = []
    for k, entry in enumerate(model["bodies"]):
        body = copy.deepcopy(entry)
        factor = 1.0 + 1e-13 * (k + 1)
        if "beam" in body:
            body["beam"]["length"] *= factor
        for node in body.get("nodal", {}).get("nodes", []):
            node["position"] = [factor * x for x in node["position"]]
        bodies.append(body)
    return {**model, "bodies": bodies}


@pytest.mark.parametrize("fidelity", ["full", "ruthless"])
@pytest.mark.parametrize("kind", ["clamped", "unclamped", "stiffened"])
def test_equal_bodies_share_their_tables_and_move_alike(kind: str, fidelity: str) -> None:
    model = beams(fidelity) if kind == "stiffened" else chain(BODIES, 3, fidelity, clamped=kind == "clamped")
    shared, apart = Mechanism(model), Mechanism(told_apart(model))
    axes = 1 if kind == "stiffened" else 3  # a body's numbers depend on the axis of its hinge
    assert len(set(owners(shared)[0])) == axes
    assert len(set(owners(apart)[0])) == BODIES
    if fidelity == "ruthless" and kind != "stiffened":  # two-ports: one kind for each axis, and the last has no port
        assert len(set(owners(shared)[1])) == axes + 1
        assert len(set(owners(apart)[1])) == BODIES
    assert len(shared.block.data) < len(apart.block.data)
    q, u, tau = random_state(shared, 1, deflection=0.01)
    # 1e-13 of a length, times the condition of a chain of twelve
    assert error(shared.forward_dynamics(q, u, tau), apart.forward_dynamics(q, u, tau)) < 1e-8
    batch = [np.tile(x, (5, 1)) for x in (q, u, tau)]
    assert error(shared.forward_dynamics(*batch)[4], apart.forward_dynamics(q, u, tau)) < 1e-8
    for node in (shared.node_names[3], shared.node_names[-1]):
        for here, there in zip(shared.pose(q, node), apart.pose(q, node), strict=True):
            assert error(here, there) < 1e-10


def test_the_blocks_that_are_damaged_on_purpose_have_shared_tables() -> None:
    for name in ("equal", "equal_ruthless"):
        bodies, ports, nodes = owners(Mechanism(models()[name]))
        assert len(set(bodies)) < len(bodies) and len(set(nodes)) < len(nodes)
        assert name == "equal" or len(set(ports)) < len(ports)
