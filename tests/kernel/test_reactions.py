"""What each hinge carries: against the oracle's Newton-Euler balance, a chain's weight, and gravity as loads."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from kernel.cases import Dict, case, error, modal, modal_q, mode_slices, random_trees, ruthless
from random_models import random_model, random_state

from bough import Mechanism

G = 9.81


@random_trees(4)
def test_reactions_equal_the_oracle(seed: int) -> None:
    """1e-9 of the largest: the oracle's tolerance. Free hinges, some held, modes held too; with node loads."""
    c = case(seed)
    rng = np.random.default_rng(seed)
    hinges = [name for name in c.system.u_names if "eta" not in name]
    for held in ([], hinges[::2], hinges[1::2] + list(mode_slices(c.system))):
        motion = rng.normal(size=c.system.nu)
        out = c.system.hybrid_dynamics(c.q, c.u, c.tau, motion=motion, held=held, loads=c.loads)
        wrenches = c.oracle.reactions(c.q, c.u, out.udot, c.loads)
        expected = [np.concatenate([w.torque, w.force]) for w in wrenches.values()]
        assert error(out.reactions, np.stack(expected)) < 1e-9


@random_trees(4)
def test_ruthless_reactions_equal_full_ones_at_zero_deflection(seed: int) -> None:
    """1e-11 of the largest: the two are the same mechanics there, by different paths."""
    c = case(seed, point_masses=False)
    low = Mechanism(ruthless(c.model))
    q, u = np.where(modal_q(low), 0.0, c.q), np.where(modal(low), 0.0, c.u)
    out, expected = (s.hybrid_dynamics(q, u, c.tau, loads=c.loads) for s in (low, c.system))
    assert error(out.reactions, expected.reactions) < 1e-11


def hanging(modes: int, fidelity: str) -> tuple[Mechanism, list[float]]:
    """Straight bodies with point masses on their axis and lateral modes, hung up by their ends: rest is equilibrium."""
    x = np.linspace(0.0, 0.5, 6)
    shapes = [[[0, -2 * s, 2 * s, 0, s ** (r + 2), s * s] for s in x.tolist()] for r in range(modes)]
    kinds: list[Any] = [("revolute", "axis", [0, 1, 0]), ("universal", "axes", [[0, 0, 1], [0, 1, 0]])]
    masses = [1.5, 0.7, 2.5, 0.9]
    bodies: list[Dict] = []
    for k, mass in enumerate(masses):
        kind, key, axes = kinds[k % 2]
        nodes = [{"name": f"n{j}", "position": [float(s), 0, 0], "mass": mass / 6} for j, s in enumerate(x)]
        hinge: Dict = {"type": kind, key: axes}
        if k == 0:
            hinge["frame"] = {"quaternion": [0, np.sqrt(0.5), 0, np.sqrt(0.5)]}  # x points down
        nodal = {"attach": "n0", "nodes": nodes, "modes": shapes, "stiffness": [30.0] * modes}
        at = {"parent": f"b{k - 1}", "at": "n5"} if k else {"parent": "ground"}
        bodies.append({"name": f"b{k}", "hinge": hinge, "nodal": nodal} | at)
    model = {"bough": 1, "name": "hanging", "gravity": [0, 0, -G], "fidelity": fidelity, "bodies": bodies}
    return Mechanism(model), masses


@pytest.mark.parametrize("fidelity", ["full", "ruthless"])
@pytest.mark.parametrize("modes", [0, 1, 2])
def test_hanging_chain_is_at_rest_and_each_hinge_carries_the_weight_below(modes: int, fidelity: str) -> None:
    """1e-12 of the total weight: a sum of some ten products."""
    system, masses = hanging(modes, fidelity)
    zero = np.zeros(system.nu)
    out = system.hybrid_dynamics(zero, zero, zero)
    weight = G * np.array([sum(masses[k:]) for k in range(len(masses))])
    assert error(out.udot, zero, 1.0) < 1e-11
    expected = np.zeros((len(masses), 6))
    expected[:, 3] = -weight
    assert error(out.reactions, expected) < 1e-12


@pytest.mark.parametrize("fidelity", ["full", "ruthless"])
@pytest.mark.parametrize("seed", range(8))
def test_gravity_as_base_acceleration_equals_gravity_as_node_forces(seed: int, fidelity: str) -> None:
    """Point masses only: their weights are forces at their nodes. 1e-11 of the largest: round-off and condition."""
    heavy = random_model(seed, 4) | {"fidelity": fidelity}
    g = np.array(heavy["gravity"])
    light = copy.deepcopy(heavy) | {"gravity": [0.0, 0.0, 0.0], "inputs": []}
    loads: Dict = {}
    for body in light["bodies"]:
        name = body["name"]
        if "rigid" in body:
            body["rigid"]["nodes"]["centre"] = {"position": body["rigid"]["com"]}
            loads[f"{name}.centre.force"] = body["rigid"]["mass"] * g
        else:
            loads |= {f"{name}.{n['name']}.force": n["mass"] * g for n in body["nodal"]["nodes"] if "mass" in n}
    light["inputs"] = list(loads)
    a, b = Mechanism(heavy), Mechanism(light)
    q, u, tau = random_state(a, seed)
    expected, out = a.hybrid_dynamics(q, u, tau), b.hybrid_dynamics(q, u, tau, loads=loads)
    assert error(out.udot, expected.udot) < 1e-11
    assert error(out.reactions, expected.reactions) < 1e-11
    found = b.inverse_dynamics(q, u, tau, loads=loads)
    assert error(found, a.inverse_dynamics(q, u, tau)) < 1e-11
