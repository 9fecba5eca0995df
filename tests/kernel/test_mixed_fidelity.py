"""Bodies of a tree that choose their fidelity one by one.

A ruthless body keeps the inertia, the frames and the loads of its undeformed self, so that with its modes at rest the
oracle has its equations: undeformed, with the elastic forces of the deflection as forces on the modes. Full bodies
beside it deflect and vibrate. Tolerance 1e-9, as for trees of one fidelity.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from kernel.cases import Case, case, error, force_scale, mode_slices, random_trees
from oracle.frames import modal_matrices

from bough import Mechanism, ModelError
from bough.model import load

TOLERANCE = 1e-9
Dict = dict[str, Any]


def mixed(c: Case, model_fidelity: str = "full") -> tuple[Dict, list[str]]:
    """The model of a case with every second flexible body ruthless, and their names."""
    model = copy.deepcopy(c.model) | {"fidelity": model_fidelity}
    flexible = [b for b in model["bodies"] if b.get("nodal", {}).get("modes")]
    for i, body in enumerate(flexible):
        body["fidelity"] = "ruthless" if i % 2 == 0 else "full"
    return model, [b["name"] for b in flexible[::2]]


def equations(c: Case, low: list[str]) -> tuple[Case, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The case with modes of ruthless bodies at rest; the undeformed q and the forces that the oracle takes instead."""
    q, u, tau = c.q.copy(), c.u.copy(), c.tau.copy()
    modes = mode_slices(c.system)
    for body in c.model["bodies"]:
        if body["name"] not in low:
            continue
        at = [i for i, name in enumerate(c.system.q_names) if name.startswith(f"{body['name']}.eta[")]
        K, _ = modal_matrices(body["nodal"])
        u[modes[body["name"]]] = 0.0
        tau[modes[body["name"]]] -= K @ q[at]
        q[at] = 0.0
    return Case(c.model, c.system, c.oracle, c.q, u, c.tau, c.loads), q, tau


@random_trees(8)
@pytest.mark.parametrize("other", ["full", "ruthless"])
def test_a_tree_of_both_fidelities_equals_the_oracle(seed: int, other: str) -> None:
    c = case(seed, kinds=("clamped", "unclamped"), n_bodies=3)
    model, low = mixed(c, other)
    system = Mechanism(model)
    c, flat, forces = equations(c, low)
    expected = c.oracle.forward_dynamics(flat, c.u, forces, c.loads)
    assert error(system.forward_dynamics(c.q, c.u, c.tau, loads=c.loads), expected) < TOLERANCE
    batch = system.forward_dynamics(*(np.stack([x] * 5) for x in (c.q, c.u, c.tau)), loads=None)
    single = c.oracle.forward_dynamics(flat, c.u, forces)
    assert error(batch, np.stack([single] * 5)) < TOLERANCE
    if system.nu:
        assert error(system.mass_matrix(c.q), c.oracle.mass_matrix(flat)) < TOLERANCE
        assert error(system.forward_dynamics(c.q, c.u, c.tau, method="composite"), single) < TOLERANCE
    back = system.inverse_dynamics(c.q, c.u, expected, loads=c.loads)
    assert error(back, c.tau, force_scale(system, c.q, expected, c.tau)) < TOLERANCE


@random_trees(4)
def test_the_choice_of_a_body_outranks_that_of_the_model(seed: int) -> None:
    """Which of the two is the model's own does not matter where every body chooses; else the model's holds."""
    c = case(seed, kinds=("clamped", "unclamped"), n_bodies=3)
    one, other = (Mechanism(mixed(c, fidelity)[0]) for fidelity in ("full", "ruthless"))
    a, b = (s.forward_dynamics(c.q, c.u, c.tau) for s in (one, other))
    assert np.array_equal(a, b)
    low = Mechanism(c.model | {"fidelity": "ruthless"}).forward_dynamics(c.q, c.u, c.tau)
    assert error(a, low) > 1e-6 and error(a, c.system.forward_dynamics(c.q, c.u, c.tau)) > 1e-6


@random_trees(4)
def test_node_motions_do_not_depend_on_the_fidelity(seed: int) -> None:
    """Sensors see deformed frames at either fidelity."""
    c = case(seed, kinds=("clamped",), n_bodies=2)
    system = Mechanism(mixed(c)[0])
    for name in c.model["outputs"]:
        assert error(system.pose(c.q, name)[0], c.oracle.pose(c.q, name)[0]) < TOLERANCE


def test_pieces_of_a_cut_beam_take_the_choice_of_the_beam() -> None:
    section = {"shape": "rectangle", "width": 0.02, "height": 0.01}
    beam = {
        "length": 1.0,
        "elements": 3,
        "bodies": 3,
        "section": section,
        "material": {"E": 7e10, "nu": 0.3, "rho": 2700.0},
    }
    body = {"name": "b", "parent": "ground", "hinge": {"type": "revolute", "axis": [0, 0, 1]}, "beam": beam}
    model = load({"bough": 1, "name": "cut", "bodies": [body | {"fidelity": "ruthless"}]})
    assert len(model.bodies) == 3 and all(model.ruthless(piece) for piece in model.bodies)


def test_a_rigid_body_has_no_fidelity_to_choose() -> None:
    body = {"name": "r", "parent": "ground", "hinge": {"type": "revolute", "axis": [0, 0, 1]}, "rigid": {"mass": 1.0}}
    with pytest.raises(ModelError, match="no such key for a rigid body, which has no deflection"):
        load({"bough": 1, "name": "r", "bodies": [body | {"fidelity": "full"}]})
