"""Operators against each other, against dense matrices and against closed forms.

Random trees at large deflection. Tolerance 1e-11 relative to the largest entry: a chain of some hundred roundings,
times the condition of up to some hundreds per body.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from house.tools import ROOT
from kernel.cases import case, error, random_trees, ruthless
from small_models import ARM, FLYER, body, hinge, model, rigid

import bough
from bough import Mechanism

TOLERANCE = 1e-11


def nodes(system: Mechanism) -> list[str]:
    return system.node_names[:: max(1, len(system.node_names) // 4)]


@random_trees()
def test_node_jacobian_times_speeds_is_the_node_velocity(seed: int) -> None:
    c = case(seed, point_masses=True)
    for node in nodes(c.system):
        _, velocity, _ = c.system.node_motion(c.q, c.u, None, [node])
        assert error(c.system.node_jacobian(c.q, node) @ c.u, velocity[0]) < TOLERANCE


@random_trees()
def test_node_acceleration_is_jacobian_and_its_rate(seed: int) -> None:
    c = case(seed, point_masses=True)
    udot = np.random.default_rng(seed).normal(size=c.system.nu)
    for node in nodes(c.system):
        _, _, acceleration = c.system.node_motion(c.q, c.u, udot, [node])
        J, rate = c.system.node_jacobian(c.q, node), c.system.node_jacobian_rate(c.q, c.u, node)
        assert error(J @ udot + rate @ c.u, acceleration[0]) < TOLERANCE


@random_trees()
def test_effective_mass_is_the_inverse_of_the_dense_mobility(seed: int) -> None:
    c = case(seed, point_masses=False)
    M = c.system.mass_matrix(c.q) if c.system.nu else np.zeros((0, 0))
    for node in nodes(c.system):
        J = c.system.node_jacobian(c.q, node)
        W = J @ np.linalg.solve(M, J.T) if c.system.nu else np.zeros((6, 6))
        assert error(c.system.mobility(c.q, node), W, max(1e-300, float(abs(W).max()))) < TOLERANCE
        if c.system.nu and np.linalg.cond(W) < 1e4:
            assert error(c.system.effective_mass(c.q, node) @ W, np.eye(6)) < TOLERANCE * np.linalg.cond(W)


@random_trees()
@pytest.mark.parametrize("fidelity", ["full", "ruthless"])
def test_operators_of_the_paper_multiply_to_mass_matrix_and_inverse(fidelity: str, seed: int) -> None:
    """(43), (48), (54), (55) and (56)."""
    c = case(seed, point_masses=seed % 2 == 0)
    system = c.system if fidelity == "full" else Mechanism(ruthless(c.model))
    if not system.nu:
        return
    M = system.mass_matrix(c.q)
    o = system.articulated(c.q).operators()
    one = np.eye(system.nu)
    assert error(o.H @ o.Phi @ o.Mm @ o.Phi.T @ o.H.T + o.armature, M) < TOLERANCE
    tilde = o.Phi - np.eye(o.Phi.shape[0])
    assert error(o.R + tilde @ o.R + o.R @ tilde.T, o.Phi @ o.Mm @ o.Phi.T) < TOLERANCE
    factor, inverse = one + o.H @ o.Phi @ o.K, one - o.H @ o.Psi @ o.K
    assert error(factor @ o.D @ factor.T, M) < TOLERANCE
    assert error(inverse @ factor, one, float(abs(inverse).max() * abs(factor).max())) < TOLERANCE
    assert error(inverse.T @ np.linalg.solve(o.D, inverse), np.linalg.inv(M)) < 10 * TOLERANCE


@random_trees()
def test_modes_and_hinge_apart_leave_the_same_inertia(seed: int) -> None:
    """(63) against (51): P_R+ is the rigid part of P+, and D's determinant is that of D_f times D_R."""
    c = case(seed, point_masses=True)
    for b in c.system.articulated(c.q).bodies:
        nm = b.D_f.shape[-1]
        assert error(b.P_R_plus, b.P_plus[nm:, nm:], float(abs(b.P).max())) < TOLERANCE
        whole, parts = np.linalg.slogdet(b.D)[1], np.linalg.slogdet(b.D_f)[1] + np.linalg.slogdet(b.D_R)[1]
        assert abs(whole - parts) < 1e-9


@random_trees()
def test_momentum_matrix_gives_the_momentum(seed: int) -> None:
    c = case(seed, point_masses=True)
    A = c.system.momentum_matrix(c.q)
    linear, angular = c.system.momentum(c.q, c.u)
    still_linear, still_angular = c.system.momentum(c.q, 0 * c.u)
    expected = np.concatenate([angular - still_angular, linear - still_linear])
    assert error(A @ c.u, expected) < TOLERANCE


def test_whole_of_a_free_mechanism_moves_by_its_mass_properties() -> None:
    """Rigid motion of the base alone: h = J_c w about the centre, p = m v_c."""
    system = Mechanism(FLYER)
    q, _ = system.initial_state()
    whole = system.mass_properties(q)
    A = system.momentum_matrix(q)
    u = np.zeros(system.nu)
    u[3:6] = [0.3, -0.2, 0.5]  # angular velocity of the hub, its own axes
    _, velocity, _ = system.node_motion(q, u, None, ["hub.origin"])
    position, _ = system.pose(q, "hub.origin")
    w, v = velocity[0, :3], velocity[0, 3:]
    v_c = v + np.cross(w, whole.center - position)
    assert error((A @ u)[3:], whole.mass * v_c) < TOLERANCE
    h = whole.inertia @ w + whole.mass * np.cross(whole.center, v_c)
    assert error((A @ u)[:3], h) < TOLERANCE


def test_mass_properties_of_two_bodies_by_hand() -> None:
    """3 kg at x = 1 and 1 kg at x = 5: centre 2, inertia 3 * 1 * (5 - 1)^2 / 4 across, and their own."""
    two = model(
        "two",
        body("a", "ground", hinge("prismatic", "s", [0, 0, 1]), rigid=rigid(3.0, (0.1, 0.2, 0.3), (1, 0, 0))),
        body("b", "a", hinge("prismatic", "t", [1, 0, 0], initial={"s": 5.0}), rigid=rigid(1.0, (0.4, 0.5, 0.6))),
    )
    system = Mechanism(two)
    whole = system.mass_properties(system.initial_state()[0])
    assert whole.mass == 4.0 and np.allclose(whole.center, [2, 0, 0], rtol=0, atol=1e-15)
    assert np.allclose(whole.inertia, np.diag([0.5, 12.7, 12.9]), rtol=0, atol=1e-14)


def test_effective_mass_of_a_free_body_at_its_centre_is_its_own() -> None:
    flyer = model("one", body("b", "ground", hinge("free", "h"), rigid=rigid(2.0, (0.1, 0.2, 0.3))))
    system = Mechanism(flyer)
    effective = system.effective_mass(system.initial_state()[0], "b.origin")
    assert np.allclose(effective, np.diag([0.1, 0.2, 0.3, 2, 2, 2]), rtol=0, atol=1e-15)


def pendulum(**more: object) -> Mechanism:
    bob = rigid(2.0, (0, 0, 0), (3, 0, 0), nodes={"tip": {"position": [4, 0, 0]}})
    return Mechanism(model("p", body("bob", "ground", hinge("revolute", "pivot", [0, 1, 0], **more), rigid=bob)))


def test_effective_mass_of_a_pendulum_across_its_rod_is_inertia_over_length_squared() -> None:
    system = pendulum()
    mass = system.effective_mass([0.0], "bob.tip", directions=[[0, 0, 0, 0, 0, 1]])
    assert mass.shape == (1, 1) and abs(mass[0, 0] - 2 * 9 / 16) < 1e-15


def test_direction_without_mobility_is_told_with_its_cure() -> None:
    with pytest.raises(bough.SimulationError, match=r"infinite in 5 directions.*mobility"):
        pendulum().effective_mass([0.3], "bob.tip")
    with pytest.raises(bough.SimulationError, match="infinite in one direction"):
        pendulum().effective_mass([0.0], "bob.tip", directions=[[0, 0, 0, 1, 0, 0]])


def test_locked_hinge_does_not_give_way() -> None:
    """Mobility of a locked pendulum is zero; a free one has 1/J about its axis."""
    assert abs(pendulum().mobility([0.3], "bob.tip")[1, 1] - 1 / 18) < 1e-15
    assert not pendulum(drive="locked").mobility([0.3], "bob.tip").any()


def test_wrench_at_a_node_accelerates_it_by_the_mobility() -> None:
    """Forward dynamics with and without a load: another way through the kernel."""
    system = Mechanism(ARM)
    q, u = system.initial_state()
    force = np.array([0.3, -0.2, 0.5])
    bare = system.forward_dynamics(q, u, np.zeros(system.nu))
    loaded = system.forward_dynamics(q, u, np.zeros(system.nu), loads={"lower.tip.force": force})
    gained = system.node_jacobian(q, "lower.tip") @ (loaded - bare)
    assert error(gained, system.mobility(q, "lower.tip")[:, 3:] @ force) < TOLERANCE


def test_stopping_impulse_at_a_hinge_is_its_effective_mass_times_its_speed() -> None:
    """A latch that closes on the pendulum's tip takes m_eff v, and brings J w to nothing."""
    system, w = pendulum(), 0.7
    mass = float(system.effective_mass([0.0], "bob.tip", directions=[[0, 0, 0, 0, 0, 1]])[0, 0])
    v = float((system.node_jacobian([0.0], "bob.tip") @ [w])[5])
    impulse = -mass * v
    left = w + float(system.mass_solve([0.0], system.node_jacobian([0.0], "bob.tip")[5] * impulse)[0])
    assert abs(left) < 1e-15


def test_latch_that_closes_takes_the_effective_mass_out_of_the_speeds() -> None:
    """The arm meets its latch within the first picosecond: speeds jump by M^-1 J' times -m_eff v, the elbow's too.

    In the nanosecond after it accelerations of some 10 rad/s^2 leave 1e-8 rad/s.
    """
    rod = {
        "mass": 2.0,
        "com": [0.4, 0, 0],
        "inertia": [0.11, 0.1, 0.2, 0, 0, 0],
        "nodes": {"tip": {"position": [1, 0, 0]}},
    }
    start = {"initial": {"phi": 0.3 - 1e-12, "w": 1.3}}
    latch = {"name": "a", "type": "revolute", "axis": [0, 0, 1], "limits": {"upper": 0.3, "latch": True}, **start}
    elbow = {"name": "b", "type": "revolute", "axis": [0, 0, 1], "initial": {"phi": 0.8, "w": -0.4}}
    bodies = [
        {"name": "one", "parent": "ground", "hinge": latch, "rigid": rod},
        {"name": "two", "parent": "one", "at": "tip", "hinge": elbow, "rigid": rod},
    ]
    system = Mechanism({"bough": 1, "name": "arm", "bodies": bodies})
    q, u = system.initial_state()
    across = [0, 0, 0, -np.sin(q[0]), np.cos(q[0]), 0]
    J = across @ system.node_jacobian(q, "one.tip")
    mass = float(system.effective_mass(q, "one.tip", directions=[across])[0, 0])
    after = u - system.mass_solve(q, J * mass * float(J @ u))
    run = bough.simulate(system, stop=1e-9, step=1e-9)
    found = np.array([run["a.w"][-1], run["b.w"][-1]])
    assert run["a.contact"][-1] == 1.0 and abs(after[0]) < 1e-12
    assert np.allclose(found, after, rtol=0, atol=3e-8) and abs(after[1] - u[1]) > 0.5


def test_batch_gives_the_numbers_of_single_calls() -> None:
    system = Mechanism(ARM)
    q0, u = system.initial_state()
    q = np.stack([q0, q0 + 0.1, q0 - 0.2])
    whole, single = system.articulated(q), [system.articulated(row) for row in q]
    for name in ("P", "D", "G", "K", "tau_bar", "psi", "R", "P_R_plus"):
        stacked = np.stack([getattr(one["lower"], name) for one in single])
        assert np.allclose(getattr(whole["lower"], name), stacked, rtol=1e-13, atol=1e-15)
    for call in ("node_jacobian", "mobility"):
        many = getattr(system, call)(q, "hand.tool")
        assert np.array_equal(many, np.stack([getattr(system, call)(row, "hand.tool") for row in q]))
    rates = system.node_jacobian_rate(q, u, "hand.tool")
    assert np.array_equal(rates[1], system.node_jacobian_rate(q[1], u, "hand.tool"))
    assert system.momentum_matrix(q).shape == (3, 6, system.nu)
    assert system.mass_properties(q).center.shape == (3, 3)


def test_walk_through_the_paper_runs_and_holds() -> None:
    """Every program of docs/operators.md, one after the other; the asserts in them are the test."""
    text = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    left: dict[str, object] = {}
    for program in programs:
        exec(program, left)
    assert len(programs) >= 6
