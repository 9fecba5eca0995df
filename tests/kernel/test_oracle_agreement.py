"""The kernel against a derivation that shares nothing with it: particles, virtual power, differentiation.

Tolerance 1e-9: the promise to the user. Both sides lose about cond(M) * 1e-16, and cond(M) of the drawn trees is up
to 1e5; every other reason for a difference is an error in one of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from kernel.cases import Array, Case, case, error, force_scale, random_trees
from oracle.particles import Oracle
from random_models import random_model, random_state

from bough import Mechanism

TOLERANCE = 1e-9


@random_trees(30, last=100_000)
def test_forward_dynamics_equals_the_oracle(seed: int) -> None:
    c = case(seed)
    assert c.system.q_names == c.oracle.q_names and c.system.u_names == c.oracle.u_names
    assert error(c.system.forward_dynamics(c.q, c.u, c.tau), c.oracle.forward_dynamics(c.q, c.u, c.tau)) < TOLERANCE


@random_trees()
def test_forward_dynamics_with_node_loads_equals_the_oracle(seed: int) -> None:
    c = case(seed)
    expected = c.oracle.forward_dynamics(c.q, c.u, c.tau, c.loads)
    assert error(c.system.forward_dynamics(c.q, c.u, c.tau, loads=c.loads), expected) < TOLERANCE
    assert error(c.system.forward_dynamics(c.q, c.u, c.tau), expected) > 1e-6 or c.system.nu == 0  # loads do act


@random_trees()
def test_inverse_dynamics_with_node_loads_equals_the_oracle(seed: int) -> None:
    c = case(seed)
    udot = c.tau
    expected = c.oracle.inverse_dynamics(c.q, c.u, udot, c.loads)
    scale = force_scale(c.system, c.q, udot, expected)
    assert error(c.system.inverse_dynamics(c.q, c.u, udot, loads=c.loads), expected, scale) < TOLERANCE


@random_trees()
def test_mass_matrix_equals_the_oracle(seed: int) -> None:
    c = case(seed)
    if c.system.nu:
        assert error(c.system.mass_matrix(c.q), c.oracle.mass_matrix(c.q)) < TOLERANCE


@random_trees()
def test_node_poses_and_motions_equal_the_oracle(seed: int) -> None:
    c = case(seed)
    udot = c.tau
    names = c.model["outputs"]
    pose, velocity, acceleration = c.system.node_motion(c.q, c.u, udot, names)
    assert acceleration is not None
    for i, name in enumerate(names):
        position, quaternion = c.oracle.pose(c.q, name)
        at, turned = c.system.pose(c.q, name)
        assert error(at, position) < TOLERANCE and error(pose[i, :3], position) < TOLERANCE
        sign = np.sign(quaternion @ pose[i, 3:])  # Q and -Q are one attitude
        assert error(sign * pose[i, 3:], quaternion) < TOLERANCE and error(sign * turned, quaternion) < TOLERANCE
        expected = c.oracle.node_motion(c.q, c.u, udot, name)
        assert error(velocity[i], np.concatenate([expected.w, expected.v])) < TOLERANCE
        assert error(acceleration[i], np.concatenate([expected.alpha, expected.a])) < TOLERANCE


@random_trees()
def test_energy_and_momentum_equal_the_oracle(seed: int) -> None:
    c = case(seed)
    parts, (kinetic, potential) = c.system.energy_parts(c.q, c.u), c.oracle.energy(c.q, c.u)
    size = max(1.0, float(np.abs(parts).sum()))  # gravity may cancel springs: judge by the parts
    assert error(parts[0], kinetic, size) < TOLERANCE and error(parts[1:].sum(), potential, size) < TOLERANCE
    for got, expected in zip(c.system.momentum(c.q, c.u), c.oracle.momentum(c.q, c.u), strict=True):
        assert error(got, expected) < TOLERANCE


def rotary(seed: int, deflection: float) -> Case:
    return case(seed, deflection, kinds=("clamped", "unclamped", "rigid"), point_masses=False)


@random_trees(4)
def test_rotary_inertia_of_nodes_is_exact_at_zero_deflection_and_any_rate(seed: int) -> None:
    c = rotary(seed, 0.0)
    expected = c.oracle.forward_dynamics(c.q, c.u, c.tau, c.loads)
    assert error(c.system.forward_dynamics(c.q, c.u, c.tau, loads=c.loads), expected) < TOLERANCE
    kinetic, potential = c.system.energy(c.q, c.u)
    assert error([kinetic, potential], c.oracle.energy(c.q, c.u), max(1.0, kinetic)) < TOLERANCE


DEFLECTIONS = np.array([0.02, 0.01, 0.005, 0.0025])
"""Small enough that the next order of the difference is some percent of the first that is there."""


def fitted_orders(difference: Callable[[Mechanism, Oracle, Array, Array, Array], float]) -> list[float]:
    """Orders in deflection of a difference between kernel and oracle, for trees whose nodes have rotary inertia."""
    orders = []
    for seed in range(12):
        model = random_model(seed, 3, kinds=("clamped", "unclamped"), point_masses=False)
        system, oracle = Mechanism(model), Oracle(model)
        errors = [difference(system, oracle, *random_state(system, seed, float(d))) for d in DEFLECTIONS]
        if max(errors) > 1e-7:  # few modes may leave nothing to fit above round-off
            orders.append(float(np.polyfit(np.log(DEFLECTIONS), np.log(errors), 1)[0]))
    assert len(orders) >= 8
    return orders


def test_mass_matrix_with_rotary_inertia_errs_at_second_order_in_deflection() -> None:
    """The first-order terms of the modal inertia are all there: 1.9 leaves room for the third order, not the first."""
    orders = fitted_orders(lambda s, o, q, u, tau: error(s.mass_matrix(q), o.mass_matrix(q)))
    assert min(orders) >= 1.9, orders


def test_accelerations_at_rest_with_rotary_inertia_err_at_second_order_in_deflection() -> None:
    def at_rest(s: Mechanism, o: Oracle, q: Array, u: Array, tau: Array) -> float:
        return error(s.forward_dynamics(q, 0 * u, tau), o.forward_dynamics(q, 0 * u, tau))

    orders = fitted_orders(at_rest)
    assert min(orders) >= 1.9, orders


def test_accelerations_at_speed_with_rotary_inertia_err_at_first_order_in_deflection() -> None:
    """Speeds meet dM/deta, which an M kept to first order has to order zero: the difference falls like deflection.

    0.9: the fit of a difference a + b deflection with a = 0 and curvature of some percent.
    """

    def at_speed(s: Mechanism, o: Oracle, q: Array, u: Array, tau: Array) -> float:
        return error(s.forward_dynamics(q, u, tau), o.forward_dynamics(q, u, tau))

    orders = fitted_orders(at_speed)
    assert min(orders) >= 0.9, orders
