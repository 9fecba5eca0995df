"""The kernel against a derivation that shares nothing with it: particles, virtual power, differentiation.

Tolerance 1e-9: the promise to the user. Both sides lose about cond(M) * 1e-16, and cond(M) of the drawn trees is up
to 1e5; every other reason for a difference is an error in one of them.
"""

from __future__ import annotations

import numpy as np
from kernel.cases import Case, case, error, force_scale, random_trees

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


@random_trees(4)
def test_rotary_inertia_of_nodes_is_exact_at_large_deflection(seed: int) -> None:
    """Nodes turn by up to three radians and more."""
    c = rotary(seed, 1.0 + 2.0 * (seed % 2))
    expected = c.oracle.forward_dynamics(c.q, c.u, c.tau, c.loads)
    assert error(c.system.forward_dynamics(c.q, c.u, c.tau, loads=c.loads), expected) < TOLERANCE
    if c.system.nu:
        assert error(c.system.mass_matrix(c.q), c.oracle.mass_matrix(c.q)) < TOLERANCE
    kinetic, potential = c.system.energy(c.q, c.u)
    assert error([kinetic, potential], c.oracle.energy(c.q, c.u), max(1.0, kinetic)) < TOLERANCE
