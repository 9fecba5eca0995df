"""Geometric stiffening in the sweeps: second-order motion of points, with any vectors H_rs, not those of a beam."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from kernel.cases import HINGES, Array, Dict, error, link, panel
from random_models import random_state

import bough.mechanism.bodies
from bough import Mechanism, ModelError, load, simulate
from bough.flex import FlexBody, flex_body
from bough.flex.integrals import stiffening
from bough.model import Body

TIGHT = {"rtol": 1e-11, "atol": 1e-13, "step": 0.05}


def bends(body: FlexBody) -> Array:
    """Some H for the points of a panel, symmetric in the modes; zero at the attach node if the modes are."""
    rng = np.random.default_rng(body.nm)
    H = rng.uniform(-0.1, 0.1, (body.nn, 3, body.nm, body.nm))
    H = H + H.transpose(0, 1, 3, 2)
    if not np.any(body.node_shapes[body.attach]):
        H *= np.linspace(0.0, 1.0, body.nn)[:, None, None, None] ** 2
    return H


@pytest.fixture
def stiffened(monkeypatch: pytest.MonkeyPatch) -> Callable[[Dict], Mechanism]:
    """Systems whose nodal bodies have second-order motion."""

    def bent(body: Body, _: bool) -> FlexBody:
        flex = flex_body(body)
        assert flex.points is not None
        H = bends(flex)
        return replace(flex, stiffening=stiffening(flex.points, flex.node_positions[flex.attach], H, H))

    monkeypatch.setattr(bough.mechanism.bodies, "flex_body", bent)
    return lambda model: Mechanism(load(model).model_copy(update={"geometric_stiffening": True}))


def mechanism(fidelity: str = "full", clamped: bool = True, rotary: bool = False) -> Dict:
    """A hinged panel that carries two more by hinges of other kinds."""
    part = panel(3, clamped=clamped, rotary=rotary)
    part.pop("damping")
    bodies = [
        link("a", "ground", HINGES["universal"], part),
        link("b", "a", HINGES["revolute"], part),
        link("c", "a", HINGES["cylindrical"], panel(2, clamped=clamped, rotary=rotary) | {"damping": [0, 0]}),
    ]
    model = {"bough": 1, "name": "bent", "gravity": [1.0, 2.0, -9.0], "fidelity": fidelity, "bodies": bodies}
    return model | {"inputs": ["a.n5.force", "b.n7.torque", "b.n7.force"], "outputs": ["b.n7", "a.n5"]}


@pytest.mark.parametrize("fidelity", ["full", "ruthless"])
@pytest.mark.parametrize("clamped", [True, False])
def test_the_algorithms_agree(stiffened: Callable[[Dict], Mechanism], fidelity: str, clamped: bool) -> None:
    if fidelity == "ruthless" and not clamped:
        with pytest.raises(ModelError, match="fidelity: full"):
            stiffened(mechanism(fidelity, clamped))
        return
    system = stiffened(mechanism(fidelity, clamped))
    loads = {"a.n5.force": np.array([1.0, -2.0, 3.0]), "b.n7.torque": np.array([0.3, 0.2, 0.1])}
    for seed in range(4):
        q, u, tau = random_state(system, seed, 0.3, 1.0)
        udot = system.forward_dynamics(q, u, tau, loads=loads)
        assert error(system.forward_dynamics(q, u, tau, method="composite", loads=loads), udot) < 1e-11
        assert error(system.inverse_dynamics(q, u, udot, loads=loads), tau, 10.0) < 1e-11
        L, D = system.mass_factors(q)
        assert error(L @ D @ L.T, system.mass_matrix(q)) < 1e-11


@pytest.mark.parametrize(("clamped", "rotary"), [(True, False), (False, False), (True, True), (False, True)])
def test_energy_is_kept(stiffened: Callable[[Dict], Mechanism], clamped: bool, rotary: bool) -> None:
    """Inertia, frames on bent nodes and their accelerations belong together, also at large deflection."""
    system = stiffened(mechanism(clamped=clamped, rotary=rotary))
    rng = np.random.default_rng(1)
    q0, u0 = system.initial_state()
    run = simulate(system, 3.0, initial=(q0, rng.uniform(-1.0, 1.0, u0.size)), **TIGHT)
    q = np.column_stack([run[n] for n in system.q_names])
    u = np.column_stack([run[n] for n in system.u_names])
    kinetic, potential = system.energy(q, u)
    assert np.abs(q[:, [".eta[" in n for n in system.q_names]]).max() > 0.3
    assert np.ptp(kinetic + potential) < 1e-9 * kinetic.max()


def test_node_rates_are_derivatives_of_poses(stiffened: Callable[[Dict], Mechanism]) -> None:
    """Velocity and acceleration of a sensor on a bent node against differences of its position along the motion."""
    system = stiffened(mechanism(clamped=False))
    q, u, _ = random_state(system, 3, 0.3, 1.0)
    h = 1e-4
    run = simulate(system, 4 * h, initial=(q, u), step=h, rtol=1e-12, atol=1e-14)
    r = np.column_stack([run[f"b.n7.r[{i}]"] for i in (1, 2, 3)])
    v = np.column_stack([run[f"b.n7.v[{i}]"] for i in (1, 2, 3)])
    a = np.column_stack([run[f"b.n7.a[{i}]"] for i in (1, 2, 3)])
    assert error(v[2], (r[0] - 8 * r[1] + 8 * r[3] - r[4]) / (12 * h)) < 1e-8
    assert error(a[2], (v[0] - 8 * v[1] + 8 * v[3] - v[4]) / (12 * h)) < 1e-7


def test_one_floating_body_against_its_energy(stiffened: Callable[[Dict], Mechanism]) -> None:
    """Boltzmann-Hamel equations of the kinetic energy, written down from the points and differentiated by CasADi."""
    model = {"bough": 1, "name": "one", "bodies": [link("a", "ground", HINGES["free"], panel(3, rotary=False))]}
    system = stiffened(model)
    flex = flex_body(load(model).bodies[0])
    assert flex.points is not None
    points, H = flex.points, bends(flex)
    nm = flex.nm
    xi, dxi, w, v = ca.SX.sym("xi", nm), ca.SX.sym("dxi", nm), ca.SX.sym("w", 3), ca.SX.sym("v", 3)
    T = ca.SX(0)
    for m, l0, gam, bend in zip(points.masses, points.positions, points.shapes[:, 3:], H, strict=True):
        shift = ca.vertcat(*[0.5 * xi.T @ ca.DM(bend[i]) @ xi for i in range(3)])
        rate = ca.vertcat(*[xi.T @ ca.DM(bend[i]) @ dxi for i in range(3)])
        speed = v + ca.cross(w, ca.DM(l0) + ca.DM(gam) @ xi + shift) + ca.DM(gam) @ dxi + rate
        T += 0.5 * m * ca.dot(speed, speed)
    speeds, rates = ca.vertcat(w, v, dxi), ca.SX.sym("rates", 6 + nm)
    p = ca.gradient(T, speeds)
    pdot = ca.jacobian(p, speeds) @ rates + ca.jacobian(p, xi) @ dxi
    pw, pv = p[:3], p[3:6]
    torque = pdot[:3] + ca.cross(w, pw) + ca.cross(v, pv)
    force = pdot[3:6] + ca.cross(w, pv)
    modal = pdot[6:] - ca.gradient(T, xi) + ca.DM(flex.stiffness) @ xi + ca.DM(flex.damping) @ dxi
    oracle = ca.Function("forces", [xi, dxi, w, v, rates], [torque, force, modal])

    rng = np.random.default_rng(7)
    q, u = system.initial_state()  # inboard and outboard axes agree at the start attitude
    q[-nm:] = rng.uniform(-0.3, 0.3, nm)
    u[:] = rng.uniform(-1.0, 1.0, u.size)
    udot = rng.uniform(-2.0, 2.0, u.size)
    tau = system.inverse_dynamics(q, u, udot)
    # the hinge's v is resolved in the ground's axes: d(v)/dt in turning axes is less by w x v
    turning = udot.copy()
    turning[:3] -= np.cross(u[3:6], u[:3])
    expected = oracle(q[-nm:], u[-nm:], u[3:6], u[:3], np.concatenate([turning[3:6], turning[:3], turning[6:]]))
    assert error(tau[3:6], np.array(expected[0]).ravel()) < 1e-12
    assert error(tau[:3], np.array(expected[1]).ravel()) < 1e-12
    assert error(tau[6:], np.array(expected[2]).ravel()) < 1e-12
