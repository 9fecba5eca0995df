"""One body, told in different ways: without modes, with its modes mixed, with its frame at another place."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from kernel.cases import Array, Dict, case, error, modal, modal_q, mode_slices, random_trees, ruthless
from oracle.frames import inertia_matrix, modal_matrices, mode_array
from random_models import random_loads, random_model, random_state

from bough import Mechanism

TOLERANCE = 1e-11
"""Of the largest number compared: round-off (1e-14) times the condition of the body's and the tree's mass matrices."""


def as_rigid(nodal: Dict) -> Dict:
    """The rigid body of a nodal body's nodes, about its attach node."""
    origin = np.array(next(n["position"] for n in nodal["nodes"] if n["name"] == nodal["attach"]))
    r = np.array([n["position"] for n in nodal["nodes"]]) - origin
    m = np.array([n.get("mass", 0.0) for n in nodal["nodes"]])
    com = m @ r / m.sum()
    J = sum(inertia_matrix(n.get("inertia")) for n in nodal["nodes"])
    for mass, x in zip(m, r - com, strict=True):
        J = J + mass * (x @ x * np.eye(3) - np.outer(x, x))
    nodes = {n["name"]: {"position": x.tolist()} for n, x in zip(nodal["nodes"], r, strict=True)}
    six = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    return {"mass": float(m.sum()), "com": com.tolist(), "inertia": [float(x) for x in six], "nodes": nodes}


@pytest.mark.parametrize("fidelity", ["full", "ruthless"])
@pytest.mark.parametrize("seed", range(8))
def test_body_with_no_modes_equals_the_rigid_body(seed: int, fidelity: str) -> None:
    flexible = random_model(seed, 4, kinds=("clamped",), point_masses=False) | {"fidelity": fidelity}
    for body in flexible["bodies"]:
        body["nodal"] |= {"modes": [], "stiffness": []}
        body["nodal"].pop("damping", None), body["nodal"].pop("damping_matrix", None)
    rigid = copy.deepcopy(flexible)
    for body in rigid["bodies"]:
        body["rigid"] = as_rigid(body.pop("nodal"))
    a, b = Mechanism(flexible), Mechanism(rigid)
    assert a.u_names == b.u_names
    q, u, tau = random_state(a, seed)
    loads = random_loads(flexible, seed)
    assert error(a.forward_dynamics(q, u, tau, loads=loads), b.forward_dynamics(q, u, tau, loads=loads)) < TOLERANCE
    assert error(a.mass_matrix(q), b.mass_matrix(q)) < TOLERANCE
    x, y = a.hybrid_dynamics(q, u, tau, loads=loads), b.hybrid_dynamics(q, u, tau, loads=loads)
    assert error(x.reactions, y.reactions) < TOLERANCE


def with_matrices(nodal: Dict) -> Dict:
    """Stiffness and damping as full matrices, which do not care how modes are scaled or mixed."""
    stiffness, damping = modal_matrices(nodal)
    out = {k: v for k, v in nodal.items() if k not in ("damping", "damping_matrix")}
    return out | {"stiffness": stiffness.tolist(), "damping_matrix": damping.tolist()}


def map_nodal(model: Dict, change: Any) -> Dict:
    """The model with `change(body name, nodal)` in place of each nodal body that has modes."""
    out = copy.deepcopy(model)
    for body in out["bodies"]:
        if body.get("nodal", {}).get("modes"):
            body["nodal"] = change(body["name"], with_matrices(body["nodal"]))
    return out


@random_trees(4)
def test_modes_mixed_by_an_invertible_matrix_give_the_same_physics(seed: int) -> None:
    """eta = A eta_new, so shapes become shapes A, K becomes A'KA, forces A'tau; A has a condition of at most 20."""
    for build in (copy.deepcopy, ruthless):
        c = case(seed, point_masses=False)
        rng = np.random.default_rng(seed)
        mix: dict[str, Array] = {}

        def change(name: str, nodal: Dict, rng: Any = rng, mix: Any = mix) -> Dict:
            nm = len(nodal["modes"])
            left, right = (np.linalg.qr(rng.normal(size=(nm, nm)))[0] for _ in range(2))
            A = mix[name] = left @ np.diag(rng.uniform(0.2, 4.0, nm)) @ right
            shapes = np.einsum("rni,rs->sni", np.array(nodal["modes"]), A)
            K, D = (A.T @ np.array(nodal[key]) @ A for key in ("stiffness", "damping_matrix"))
            K, D = 0.5 * (K + K.T), 0.5 * (D + D.T)
            return nodal | {"modes": shapes.tolist(), "stiffness": K.tolist(), "damping_matrix": D.tolist()}

        plain, mixed = Mechanism(build(c.model)), Mechanism(map_nodal(build(c.model), change))
        to_plain, to_plain_q = np.eye(plain.nu), np.eye(plain.nq)
        for name, at in mode_slices(plain).items():
            to_plain[at, at] = mix[name]
            first = plain.q_names.index(f"{name}.eta[1]")
            to_plain_q[first : first + len(mix[name]), first : first + len(mix[name])] = mix[name]
        q, u = np.linalg.solve(to_plain_q, c.q), np.linalg.solve(to_plain, c.u)
        tau = to_plain.T @ c.tau
        expected = plain.forward_dynamics(c.q, c.u, c.tau, loads=c.loads)
        assert error(to_plain @ mixed.forward_dynamics(q, u, tau, loads=c.loads), expected) < TOLERANCE
        if plain.nu:
            M = to_plain.T @ plain.mass_matrix(c.q) @ to_plain
            assert error(mixed.mass_matrix(q), M) < TOLERANCE
        energy = plain.energy_parts(c.q, c.u)
        assert error(mixed.energy_parts(q, u), energy, max(1.0, np.abs(energy).sum())) < TOLERANCE


def clamped_by_hand(_: str, nodal: Dict) -> Dict:
    """Shapes less the rigid motion of the attach node, (6)-(8): Lam - Lam_d, Gam - Gam_d - Lam_d x (l - l_d)."""
    names = [n["name"] for n in nodal["nodes"]]
    d = names.index(nodal["attach"])
    shapes = mode_array(nodal)
    r = np.array([n["position"] for n in nodal["nodes"]])
    out = shapes - shapes[d]
    out[:, 3:] -= np.cross(shapes[d, :3].T[None], (r - r[d])[:, None, :]).transpose(0, 2, 1)
    return nodal | {"modes": out.transpose(2, 0, 1).tolist()}


@random_trees(4)
def test_unclamped_modes_by_attach_node_motion_and_by_transformation_agree(seed: int) -> None:
    """Full keeps Pi_d, ruthless transforms the body data; the same transformation by hand makes a clamped model.

    At zero deflection and modal rate, where the three are the same mechanics; hinges turn at order one.
    """
    model = random_model(seed, 3, kinds=("unclamped",), point_masses=False)
    by_hand = map_nodal(model, clamped_by_hand)
    plain = map_nodal(model, lambda _, nodal: nodal)
    full, low, hand = Mechanism(plain), Mechanism(ruthless(plain)), Mechanism(by_hand)
    q, u, tau = random_state(full, seed)
    loads = random_loads(model, seed)
    q, u = np.where(modal_q(full), 0.0, q), np.where(modal(full), 0.0, u)
    expected = hand.forward_dynamics(q, u, tau, loads=loads)
    assert error(full.forward_dynamics(q, u, tau, loads=loads), expected) < TOLERANCE
    assert error(low.forward_dynamics(q, u, tau, loads=loads), expected) < TOLERANCE
    M = hand.mass_matrix(q)
    assert error(full.mass_matrix(q), M) < TOLERANCE and error(low.mass_matrix(q), M) < TOLERANCE


@random_trees(4)
def test_ruthless_unclamped_body_equals_the_one_clamped_by_hand_at_any_state(seed: int) -> None:
    """Ruthless has no deformation-dependent part that could tell the two apart: also nodes move the same way."""
    model = random_model(seed, 3, kinds=("unclamped",))
    low = Mechanism(ruthless(map_nodal(model, lambda _, nodal: nodal)))
    hand = Mechanism(ruthless(map_nodal(model, clamped_by_hand)))
    q, u, tau = random_state(low, seed)
    loads = random_loads(model, seed)
    assert (
        error(low.forward_dynamics(q, u, tau, loads=loads), hand.forward_dynamics(q, u, tau, loads=loads)) < TOLERANCE
    )
    for a, b in zip(
        low.node_motion(q, u, tau, model["outputs"]), hand.node_motion(q, u, tau, model["outputs"]), strict=True
    ):
        assert a is not None and b is not None and error(a, b) < TOLERANCE
