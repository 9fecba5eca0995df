"""The oracle against closed forms and balances that do not share its derivation."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from random_models import HINGE_TYPES, random_loads, random_model, random_state
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from oracle.frames import Array
from oracle.particles import Oracle, rotation_vector

SEEDS = range(24)  # every hinge type at the base with every kind of body
G = 9.81


def close(a: Any, b: Any, tol: float = 1e-12) -> None:
    """Equal to `tol` of the larger of one and the expected size."""
    b = np.asarray(b, dtype=float)
    scale = max(1.0, float(np.max(np.abs(b), initial=0.0)))
    np.testing.assert_allclose(np.asarray(a, dtype=float), b, rtol=0, atol=tol * scale)


def bob(name: str, parent: str, mass: float, length: float, **extra: Any) -> dict[str, Any]:
    """A point mass on a massless rod along +x, turning about z."""
    hinge = {"name": name + "_pin", "type": "revolute", "axis": [0, 0, 2]} | extra
    at = {} if parent == "ground" else {"at": "tip"}
    rigid = {"mass": mass, "com": [length, 0, 0], "nodes": {"tip": {"position": [length, 0, 0]}}}
    return {"name": name, "parent": parent, "hinge": hinge, "rigid": rigid} | at


@functools.cache
def built(seed: int, options: tuple[tuple[str, Any], ...]) -> tuple[dict[str, Any], Oracle]:
    """A random model and its oracle: building costs more than asking."""
    model = random_model(seed, **dict(options))
    return model, Oracle(model)


def case(seed: int, **options: Any) -> tuple[dict[str, Any], Oracle, Array, Array, Array]:
    """A random model with its oracle and a random state."""
    model, oracle = built(seed, tuple(options.items()))
    return model, oracle, *random_state(oracle, seed)


def along(oracle: Oracle, f: Any, q: Array, u: Array, udot: Array, h: float = 3e-4) -> Array:
    """Rate of f(q, u) along the motion by fourth-order differences: truncation and round-off below 1e-9."""
    qdot = oracle.qdot(q, u)

    def at(step: float) -> Array:
        return np.asarray(f(q + step * qdot, u + step * udot), dtype=float)

    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


# --- closed forms -----------------------------------------------------------------------


def test_pendulum_has_its_closed_form() -> None:
    """m l^2 phidd = tau - m g l cos(phi) - c w - k (phi - phi0), plus the rotor's inertia."""
    m, length, c, k, rest, rotor = 1.7, 0.6, 0.3, 2.0, 0.4, 0.05
    pin = {"damping": c, "stiffness": k, "rest": rest, "armature": rotor}
    oracle = Oracle({"gravity": [0, -G, 0], "bodies": [bob("a", "ground", m, length, **pin)]})
    assert oracle.q_names == ["a_pin.phi"] and oracle.u_names == ["a_pin.w"]
    phi, w, tau = 0.7, -1.3, 0.9
    expected = (tau - m * G * length * np.cos(phi) - c * w - k * (phi - rest)) / (m * length**2 + rotor)
    close(oracle.forward_dynamics([phi], [w], [tau]), [expected])
    kinetic, potential = oracle.energy([phi], [w])
    close(kinetic, 0.5 * (m * length**2 + rotor) * w**2)
    close(potential, m * G * length * np.sin(phi) + 0.5 * k * (phi - rest) ** 2)


def test_double_pendulum_has_its_textbook_equations() -> None:
    """Point masses, absolute angles t1, t2 from the downward vertical, as every textbook writes it."""
    m1, m2, l1, l2 = 1.2, 0.7, 0.9, 0.5
    oracle = Oracle(
        {"gravity": [G, 0, 0], "bodies": [bob("a", "ground", m1, l1), bob("b", "a", m2, l2)]}
    )  # down is +x, so angles are from the vertical
    t1, t2, w1, w2 = 0.8, -0.5, 1.1, -2.3
    d = t1 - t2
    mass = np.array([[(m1 + m2) * l1, m2 * l2 * np.cos(d)], [l1 * np.cos(d), l2]])
    right = -np.array(
        [m2 * l2 * w2**2 * np.sin(d) + (m1 + m2) * G * np.sin(t1), -l1 * w1**2 * np.sin(d) + G * np.sin(t2)]
    )
    dd1, dd2 = np.linalg.solve(mass, right)
    close(oracle.forward_dynamics([t1, t2 - t1], [w1, w2 - w1], [0, 0]), [dd1, dd2 - dd1])


@pytest.mark.parametrize("hinge", ["spherical", "free"])
def test_spinning_body_obeys_eulers_equations(hinge: str) -> None:
    """I wd + w x (I w + h) = torque in body axes, with an embedded wheel."""
    body: dict[str, Any] = {"name": "a", "parent": "ground", "hinge": {"name": "h", "type": hinge}}
    body["rigid"] = {"mass": 2.0, "com": [0, 0, 0], "inertia": [0.3, 0.5, 0.4, 0.02, -0.03, 0.05]}
    body["rigid"]["wheels"] = [{"axis": [0, 3, 4], "momentum": 0.5}]
    oracle = Oracle({"bodies": [body]})
    inertia = np.array([[0.3, 0.02, -0.03], [0.02, 0.5, 0.05], [-0.03, 0.05, 0.4]])
    q, u, tau = random_state(oracle, 3)
    w, h = u[-3:], np.array([0, 0.3, 0.4])
    expected = np.linalg.solve(inertia, tau[-3:] - np.cross(w, inertia @ w + h))
    if hinge == "free":
        expected = np.concatenate([tau[:3] / 2.0, expected])
    close(oracle.forward_dynamics(q, u, tau), expected)


def flexible_arm(m: float, moment: float, k: float, ratio: float) -> Oracle:
    """A mass at x = 1 whose one mode moves it in y and turns it about z by 1.5, behind a revolute hinge."""
    nodes = [
        {"name": "root", "position": [0, 0, 0]},
        {"name": "tip", "position": [1, 0, 0], "mass": m, "inertia": [moment, moment, moment, 0, 0, 0]},
    ]
    nodal = {"attach": "root", "nodes": nodes, "modes": [[[0] * 6, [0, 0, 1.5, 0, 1, 0]]]}
    nodal |= {"stiffness": [k], "damping": [ratio]}
    hinge = {"name": "h", "type": "revolute", "axis": [0, 0, 1]}
    return Oracle({"bodies": [{"name": "arm", "parent": "ground", "hinge": hinge, "nodal": nodal}]})


def test_flexible_arm_has_its_closed_form() -> None:
    """Lagrange for T = m/2 ((w eta)^2 + (w + etad)^2) + J/2 (w + 1.5 etad)^2."""
    m, moment, k, ratio = 1.4, 0.2, 30.0, 0.05
    oracle = flexible_arm(m, moment, k, ratio)
    eta, w, rate, tau, force = 0.4, 2.0, -1.5, 0.8, 0.6
    c = 2 * ratio * np.sqrt(k * (m + 1.5**2 * moment))
    mass = np.array([[m * (1 + eta**2) + moment, m + 1.5 * moment], [m + 1.5 * moment, m + 1.5**2 * moment]])
    right = np.array([tau - 2 * m * w * eta * rate, force + m * w**2 * eta - k * eta - c * rate])
    close(oracle.mass_matrix([0.3, eta]), mass)
    close(oracle.forward_dynamics([0.3, eta], [w, rate], [tau, force]), np.linalg.solve(mass, right))
    assert oracle.q_names == ["h.phi", "arm.eta[1]"] and oracle.u_names == ["h.w", "arm.eta_dot[1]"]
    turned = Rotation.from_rotvec([0, 0, 0.3])
    position, quaternion = oracle.pose([0.3, eta], "arm.tip")
    close(position, turned.apply([1, eta, 0]))
    close(quaternion, Rotation.from_rotvec([0, 0, 0.3 + 1.5 * eta]).as_quat())


def test_arm_at_rest_is_smooth_at_zero_deflection() -> None:
    """The exponential map and its derivatives are finite at eta = 0."""
    for seed in range(3):
        _, oracle, q, u, tau = case(seed, kinds=("clamped", "unclamped"), point_masses=False)
        q[[".eta" in name for name in oracle.q_names]] = 0.0
        assert np.isfinite(oracle.forward_dynamics(q, u, tau)).all()


def test_mode_that_moves_every_node_alike_does_nothing() -> None:
    """The body hangs by its attach node: a translation common to all nodes cancels."""
    model = random_model(2, n_bodies=1, kinds=("unclamped",))
    nodal = model["bodies"][0]["nodal"]
    nodal["modes"] = [[[0, 0, 0, 0.3, -0.7, 0.2]] * len(nodal["nodes"])]
    nodal |= {"stiffness": [1.0], "damping": [0.0]}
    nodal.pop("damping_matrix", None)
    oracle = Oracle(model)
    q, _, _ = random_state(oracle, 1)
    close(oracle.mass_matrix(q)[:, -1], np.zeros(oracle.nu))


def test_attach_node_is_the_outboard_frame() -> None:
    """At any deflection the attach node of an unclamped body sits where the hinge puts it."""
    model = random_model(0, n_bodies=1, kinds=("unclamped",), hinge_types=("free",))
    model["bodies"][0]["hinge"].pop("frame", None)
    oracle = Oracle(model)
    q, _, _ = random_state(oracle, 4)
    position, quaternion = oracle.pose(q, "b1.n0")
    close(position, q[:3])
    close(quaternion, q[3:7] * np.sign(q[6]))


FRAME = {"position": [0.1, -0.2, 0.3], "quaternion": [0.5, 0.5, 0.5, 0.5]}  # x -> y -> z -> x
HINGE_CASES: list[tuple[dict[str, Any], list[float], list[float], Rotation]] = [
    ({"type": "prismatic", "axis": [0, 0, 5]}, [0.4], [0, 0, 0.4], Rotation.identity()),
    ({"type": "cylindrical", "axis": [0, 1, 0]}, [0.4, 0.7], [0, 0.4, 0], Rotation.from_euler("y", 0.7)),
    (
        {"type": "universal", "axes": [[0, 0, 1], [1, 0, 0]]},
        [0.4, 0.7],
        [0, 0, 0],
        Rotation.from_euler("ZX", [0.4, 0.7]),
    ),
    (
        {"type": "planar", "axes": [[0, 0, 1], [1, 0, 0]]},
        [0.4, 0.7, -0.9],
        [0.7, 0, 0.4],
        Rotation.from_euler("y", -0.9),
    ),
    (
        {"type": "free"},
        [1, 2, 3, *Rotation.from_euler("x", 0.8).as_quat()],
        [1, 2, 3],
        Rotation.from_euler("x", 0.8),
    ),
]


@pytest.mark.parametrize(("hinge", "q", "slide", "turn"), HINGE_CASES, ids=[c[0]["type"] for c in HINGE_CASES])
def test_hinge_frames_follow_the_contract(
    hinge: dict[str, Any], q: list[float], slide: list[float], turn: Rotation
) -> None:
    """Node frame, then `frame`, then translations fixed inboard, then rotations, then a node's quaternion."""
    node = {"position": [0.3, 0.1, 0.2], "quaternion": Rotation.from_euler("z", 0.5).as_quat().tolist()}
    rigid = {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0], "nodes": {"tool": node}}
    oracle = Oracle({"bodies": [{"name": "a", "parent": "ground", "hinge": hinge | {"frame": FRAME}, "rigid": rigid}]})
    cycle = Rotation.from_matrix([[0, 0, 1], [1, 0, 0], [0, 1, 0]])  # x -> y, y -> z, z -> x
    outboard = cycle * turn
    position, quaternion = oracle.pose(q, "a.tool")
    close(position, np.array([0.1, -0.2, 0.3]) + cycle.apply(slide) + outboard.apply([0.3, 0.1, 0.2]))
    expected = (outboard * Rotation.from_euler("z", 0.5)).as_quat(canonical=True)
    close(abs(quaternion @ expected), 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_nodes_and_what_hangs_on_them_follow_the_deformation(seed: int) -> None:
    """Nodes differ by l0 + Gam eta and exp([Lam eta]x) from the attach node; a child starts from its node."""
    model = random_model(seed, n_bodies=2, kinds=("unclamped",))
    model["bodies"][1] |= {"parent": "b1", "at": "n2", "hinge": {"type": "fixed", "frame": FRAME}}
    nodal = model["bodies"][0]["nodal"]
    oracle = Oracle(model)
    q, _, _ = random_state(oracle, seed)
    eta = q[[name.startswith("b1.eta") for name in oracle.q_names]]
    local = {}
    for j, node in enumerate(nodal["nodes"]):
        move = eta @ np.array(nodal["modes"])[:, j]
        local[node["name"]] = np.array(node["position"]) + move[3:], Rotation.from_rotvec(move[:3])
    p0, r0 = oracle.pose(q, "b1.n0")
    body = Rotation.from_quat(r0) * local["n0"][1].inv()
    p2 = p0 + body.apply(local["n2"][0] - local["n0"][0])
    r2 = body * local["n2"][1]
    close(oracle.pose(q, "b1.n2")[0], p2)
    p, r = oracle.pose(q, "b2.n0")
    close(p, p2 + r2.apply(FRAME["position"]))
    close(Rotation.from_quat(r).as_matrix(), (r2 * Rotation.from_quat(FRAME["quaternion"])).as_matrix())


def test_rotation_vector_is_scipys() -> None:
    """Both signs of the quaternion give the short way round."""
    rng = np.random.default_rng(0)
    for quat in [*rng.normal(size=(20, 4)), np.array([1e-9, 0, 0, -1.0]), np.array([0, 0, 0, 1.0])]:
        close(rotation_vector(quat), Rotation.from_quat(quat).as_rotvec())


# --- balances on random trees -----------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_gives_the_kinetic_energy(seed: int) -> None:
    """T = u' M u / 2, with M symmetric and positive."""
    _, oracle, q, u, _ = case(seed, point_masses=False)
    m = oracle.mass_matrix(q)
    close(m, m.T)
    assert np.linalg.eigvalsh(m).min(initial=1.0) > 0
    close(0.5 * u @ m @ u, oracle.energy(q, u)[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_rate_is_the_power_put_in(seed: int) -> None:
    """dE/dt = tau.u + node loads' power - dampers' losses."""
    model, oracle, q, u, tau = case(seed, point_masses=False)
    loads = random_loads(model, seed)
    udot = oracle.forward_dynamics(q, u, tau, loads)
    power = tau @ u
    for b in oracle.tree.bodies:
        hinge = u[b.u_lin.start : b.u_rot.stop]
        power -= hinge @ (b.damping * hinge) + u[b.u_eta] @ b.modal_damping @ u[b.u_eta]
    for key, value in loads.items():
        node, _, what = key.rpartition(".")
        motion = oracle.node_motion(q, u, udot, node)
        power += value @ (motion.v if what == "force" else motion.w)
    close(along(oracle, lambda q, u: sum(oracle.energy(q, u)), q, u, udot), power, 1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_rates_are_the_external_loads(seed: int) -> None:
    """dP/dt and dH/dt are gravity, node loads and what the ground exerts through its hinges."""
    model, oracle, q, u, tau = case(seed, point_masses=False)
    loads = random_loads(model, seed)
    udot = oracle.forward_dynamics(q, u, tau, loads)
    p, rot = oracle._place(q)
    force = oracle.mass.sum() * oracle.gravity
    torque = np.cross((oracle.mass[:, None] * p).sum(axis=0), oracle.gravity)
    for key, value in loads.items():
        node, _, what = key.rpartition(".")
        if what == "torque":
            torque = torque + value
        else:
            force, torque = force + value, torque + np.cross(oracle.pose(q, node)[0], value)
    reactions = oracle.reactions(q, u, udot, loads)
    for b in oracle.tree.bodies:
        if b.parent < 0:
            push = rot[b.outboard] @ reactions[b.hinge].force
            force, torque = force + push, torque + rot[b.outboard] @ reactions[b.hinge].torque
            torque = torque + np.cross(p[b.outboard], push)
    rate = along(oracle, lambda q, u: np.concatenate(oracle.momentum(q, u)), q, u, udot)
    close(rate, np.concatenate([force, torque]), 1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_reaction_along_a_hinge_axis_is_what_acts_there(seed: int) -> None:
    """On a hinge's partial velocities the reaction is tau, spring, damper and rotor; nothing else."""
    model, oracle, q, u, tau = case(seed, point_masses=False)
    loads = random_loads(model, seed)
    udot = oracle.forward_dynamics(q, u, tau, loads)
    acting = tau + oracle.own_forces(q, u) - oracle.armature * udot
    jv, jw = oracle._partials(q)
    _, rot = oracle._place(q)
    for b in oracle.tree.bodies:
        o, wrench = b.outboard, oracle.reactions(q, u, udot, loads)[b.hinge]
        own = slice(b.u_lin.start, b.u_rot.stop)
        seen = jv[o][:, own].T @ rot[o] @ wrench.force + jw[o][:, own].T @ rot[o] @ wrench.torque
        close(seen, acting[own], 1e-11)


@pytest.mark.parametrize("seed", range(12))
def test_lagranges_equations_hold(seed: int) -> None:
    """d/dt dT/du - dT/dq + dV/dq = tau - dampers, from M(q) and V(q) alone, where u is the rate of q."""
    plain = [kind for kind in HINGE_TYPES if kind not in ("spherical", "free")]
    model = random_model(seed, hinge_types=plain, n_bodies=3, dissipation=False, point_masses=False)
    for body in model["bodies"]:  # a constant-momentum wheel is not in T as a function of (q, qdot)
        body.get("rigid", {}).pop("wheels", None)
    oracle = Oracle(model)
    q, u, tau = random_state(oracle, seed)
    udot = oracle.forward_dynamics(q, u, tau)
    rate = along(oracle, lambda q, u: oracle.mass_matrix(q) @ u, q, u, udot)
    gradient = np.zeros(oracle.nq)
    h = 1e-3
    for i, e in enumerate(np.eye(oracle.nq)):
        lagrangian = [np.subtract(*oracle.energy(q + s * h * e, u)) for s in (-2, -1, 1, 2)]
        gradient[i] = (lagrangian[0] - 8 * lagrangian[1] + 8 * lagrangian[2] - lagrangian[3]) / (12 * h)
    close(rate - gradient, tau, 1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_node_motion_is_the_rate_of_the_pose(seed: int) -> None:
    """v, w and a from differences of pose and velocity along the motion."""
    model, oracle, q, u, tau = case(seed, point_masses=False)
    udot = oracle.forward_dynamics(q, u, tau)
    node = model["outputs"][-1]
    motion = oracle.node_motion(q, u, udot, node)
    close(motion.v, along(oracle, lambda q, u: oracle.pose(q, node)[0], q, u, udot), 1e-8)
    close(motion.a, along(oracle, lambda q, u: oracle.node_motion(q, u, udot, node).v, q, u, udot), 1e-8)
    close(motion.alpha, along(oracle, lambda q, u: oracle.node_motion(q, u, udot, node).w, q, u, udot), 1e-8)
    now = Rotation.from_quat(oracle.pose(q, node)[1])

    def turn(q: Array, u: Array) -> Array:
        out: Array = (Rotation.from_quat(oracle.pose(q, node)[1]) * now.inv()).as_rotvec()
        return out

    close(motion.w, along(oracle, turn, q, u, udot), 1e-8)


def test_hanging_chain_carries_its_weight() -> None:
    """At rest, straight down: each hinge holds up what hangs below it, with no torque."""
    masses = [1.0, 0.5, 2.0, 0.7]
    names = ["a", "b", "c", "d"]
    parents = ["ground", "a", "b", "c"]
    bodies = [bob(n, p, m, 0.4) for n, p, m in zip(names, parents, masses, strict=True)]
    bodies[0]["hinge"]["frame"] = {"quaternion": [0, np.sqrt(0.5), 0, np.sqrt(0.5)]}  # x of the rods points down
    oracle = Oracle({"gravity": [0, 0, -G], "bodies": bodies})
    q = u = np.zeros(4)
    udot = oracle.forward_dynamics(q, u, np.zeros(4))
    close(udot, np.zeros(4))
    for k, (name, wrench) in enumerate(oracle.reactions(q, u, udot).items()):
        assert name == f"{names[k]}_pin"
        close(wrench.force, [-G * sum(masses[k:]), 0, 0])
        close(wrench.torque, [0, 0, 0])


def test_undamped_tree_keeps_its_energy_over_half_a_second() -> None:
    """Integrated tightly, free of drives and dampers: drift is the integrator's."""
    model = random_model(1, n_bodies=3, dissipation=False)
    oracle = Oracle(model)
    q, u, tau = random_state(oracle, 1)

    def flow(_: float, x: Array) -> Array:
        q, u = x[: oracle.nq], x[oracle.nq :]
        return np.concatenate([oracle.qdot(q, u), oracle.forward_dynamics(q, u, 0 * tau)])

    end = solve_ivp(flow, (0.0, 0.5), np.concatenate([q, u]), method="DOP853", rtol=1e-9, atol=1e-10).y[:, -1]
    close(sum(oracle.energy(end[: oracle.nq], end[oracle.nq :])), sum(oracle.energy(q, u)), 1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_prescribed_and_inverse_dynamics_agree_with_forward(seed: int) -> None:
    """Hold some DOFs at given accelerations: the tau found there gives the same motion when applied."""
    _, oracle, q, u, tau = case(seed)
    given = dict.fromkeys(oracle.u_names[::2], 0.3)
    udot = oracle.forward_dynamics(q, u, tau, prescribed=given)
    needed = oracle.inverse_dynamics(q, u, udot)
    close(needed[1::2], tau[1::2], 1e-10)
    close(oracle.forward_dynamics(q, u, needed), udot, 1e-10)


def test_immobile_model_still_has_poses_and_reactions() -> None:
    """Nothing moves: no coordinates, and the hinge carries the weight."""
    rigid = {"mass": 2.0, "com": [0.3, 0, 0]}
    body = {"name": "a", "parent": "ground", "hinge": {"name": "h", "type": "fixed"}, "rigid": rigid}
    oracle = Oracle({"gravity": [0, 0, -G], "bodies": [body]})
    none = np.zeros(0)
    assert oracle.forward_dynamics(none, none, none).shape == (0,) and oracle.mass_matrix(none).shape == (
        0,
        0,
    )
    wrench = oracle.reactions(none, none, none)["h"]
    close(wrench.force, [0, 0, 2 * G])
    close(wrench.torque, [0, -0.3 * 2 * G, 0])


def test_state_goes_with_names_not_places() -> None:
    """Two orders of the same names get the same values."""
    _, oracle, q, u, tau = case(5)
    names = list(reversed(oracle.q_names)), list(reversed(oracle.u_names))
    other = random_state(names, 5)
    close(q[oracle.order(names[0])], other[0], 0.0)
    close(u[oracle.order(names[1])], other[1], 0.0)
    close(tau[oracle.order(names[1])], other[2], 0.0)
    assert {random_model(s)["bodies"][0]["hinge"]["type"] for s in range(8)} == set(HINGE_TYPES)
