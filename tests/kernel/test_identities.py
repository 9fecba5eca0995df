"""Identities between the algorithms, on random trees at large deflection and speeds of order one.

Tolerance 1e-11 relative, and what to is said at each: a chain of some hundred roundings (1e-14), times the loss that a
condition number of up to some hundreds per body makes on the way through the recursions.
"""

from __future__ import annotations

import numpy as np
import pytest
from kernel.cases import case, error, force_scale, modal_q, random_trees, ruthless
from random_models import random_model, random_state

from bough import Mechanism

TOLERANCE = 1e-11


def each_fidelity(seed: int) -> list[tuple[Mechanism, np.ndarray, np.ndarray, np.ndarray, dict]]:
    c = case(seed, point_masses=seed % 2 == 0)
    return [(s, c.q, c.u, c.tau, c.loads) for s in (c.system, Mechanism(ruthless(c.model)))]


@random_trees()
def test_articulated_body_inverts_inverse_dynamics(seed: int) -> None:
    """Relative to the largest force in the balance."""
    for system, q, u, tau, loads in each_fidelity(seed):
        for given in (None, loads):
            udot = system.forward_dynamics(q, u, tau, loads=given)
            back = system.inverse_dynamics(q, u, udot, loads=given)
            assert error(back, tau, force_scale(system, q, udot, tau)) < TOLERANCE


@random_trees()
def test_articulated_and_composite_forward_dynamics_agree(seed: int) -> None:
    """Relative to the largest acceleration."""
    for system, q, u, tau, loads in each_fidelity(seed):
        for given in (None, loads):
            articulated = system.forward_dynamics(q, u, tau, loads=given)
            composite = system.forward_dynamics(q, u, tau, method="composite", loads=given)
            assert error(articulated, composite) < TOLERANCE


@random_trees()
def test_innovations_factors_multiply_to_the_mass_matrix(seed: int) -> None:
    """Relative to the largest entry of M."""
    for system, q, *_ in each_fidelity(seed):
        if system.nu == 0:
            continue
        L, D = system.mass_factors(q)
        assert error(L @ D @ L.T, system.mass_matrix(q)) < TOLERANCE
        block = blocks(system)
        same = block[:, None] == block[None, :]
        # identity blocks on L's diagonal; modes go through the kernel's basis and back, T T^-1, hence not exactly
        assert error(L[same], np.eye(system.nu)[same]) < 1e-13
        assert not np.any(D[~same]), "D is block diagonal, exactly"
        assert np.all(L[block[:, None] > block[None, :]] == 0.0), "L is upper triangular by blocks"
        assert error(D, D.T) < TOLERANCE
        assert np.all(np.linalg.eigvalsh(D) > 0)


def blocks(system: Mechanism) -> np.ndarray:
    """Number of the block of D that each speed belongs to: a body's hinge, or its modes."""
    owner = [name.rpartition(".")[0] + (" modes" if ".eta_dot[" in name else "") for name in system.u_names]
    order = list(dict.fromkeys(owner))
    return np.array([order.index(o) for o in owner], dtype=int)


@random_trees()
def test_mass_matrix_is_symmetric_positive_and_gives_the_kinetic_energy(seed: int) -> None:
    """Relative to the largest entry, and to the kinetic energy."""
    for system, q, u, *_ in each_fidelity(seed):
        if system.nu == 0:
            continue
        M = system.mass_matrix(q)
        assert error(M, M.T) < TOLERANCE and np.all(np.linalg.eigvalsh(M) > 0)
        kinetic, _ = system.energy(q, u)
        assert error(0.5 * u @ M @ u, kinetic, kinetic) < TOLERANCE


@random_trees()
def test_mass_solve_inverts_the_mass_matrix(seed: int) -> None:
    """Relative to the largest entry of x, which one solve of a system of condition up to 1e4 returns to 1e-12."""
    for system, q, u, *_ in each_fidelity(seed):
        assert error(system.mass_solve(q, system.mass_matrix(q) @ u), u) < TOLERANCE


@random_trees(4)
def test_batch_equals_single(seed: int) -> None:
    """Four states share the vector lanes; the compiler contracts products and sums (FMA) differently there than in the
    code for one state, so that results differ by rounding and what the condition of M makes of it."""
    for system, *_ in each_fidelity(seed):
        states = [random_state(system, 100 + i) for i in range(7)]  # 7: one full set of lanes and one not full
        q, u, tau = (np.stack(x) for x in zip(*states, strict=True))
        batch = system.forward_dynamics(q, u, tau)
        for row, state in zip(batch, states, strict=True):
            assert error(row, system.forward_dynamics(*state)) < TOLERANCE
        assert system.inverse_dynamics(q, u, batch).shape == batch.shape


def test_batch_of_one_and_of_none_and_broadcast() -> None:
    system = Mechanism(random_model(3))
    q, u, tau = random_state(system, 3)
    single = system.forward_dynamics(q, u, tau)
    assert error(system.forward_dynamics(q[None], u, tau)[0], single) < TOLERANCE
    many = system.forward_dynamics(np.tile(q, (5, 1)), u, tau)
    assert many.shape == (5, system.nu) and np.array_equal(many[0], many[4]) and error(many[0], single) < TOLERANCE
    none = system.forward_dynamics(np.empty((0, system.nq)), np.empty((0, system.nu)), np.empty((0, system.nu)))
    assert none.shape == (0, system.nu)
    with pytest.raises(ValueError, match="batch sizes differ"):
        system.forward_dynamics(np.tile(q, (5, 1)), np.tile(u, (4, 1)), tau)


@random_trees(4)
def test_energy_rate_is_the_power_of_applied_forces(seed: int) -> None:
    """dE/dt = tau.u - dissipation at any state: E is differentiated along the motion at fourth order, whose truncation
    and round-off stay below 1e-8 of the rates of its parts. Point masses: the kinetic energy is exact."""
    c = case(seed, dissipation=False)
    system = c.system
    udot, qdot = system.forward_dynamics(c.q, c.u, c.tau), system.position_rates(c.q, c.u)
    h = 3e-4

    def at(step: float) -> float:
        q, u = c.q + step * qdot, c.u + step * udot
        return sum(system.energy(normalized(system, q), u))

    rate = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    power = c.tau @ c.u
    size = max(1.0, float(np.abs(system.mass_matrix(c.q) @ udot) @ np.abs(c.u)), abs(power))
    assert error(rate, power, size) < 1e-7


def normalized(system: Mechanism, q: np.ndarray) -> np.ndarray:
    """Quaternions to unit length: the step along qdot leaves the sphere at second order."""
    out, i = q.copy(), 0
    for body in system.model.bodies:
        if body.hinge.kind.quaternion:
            quaternion = slice(i + body.hinge.kind.n_lin, i + body.hinge.kind.nq)
            out[quaternion] /= np.linalg.norm(out[quaternion])
        i += body.hinge.kind.nq + body.mode_count
    return out


@random_trees(4)
def test_ruthless_mass_matrix_does_not_depend_on_deflection(seed: int) -> None:
    c = case(seed)
    system = Mechanism(ruthless(c.model))
    straight = np.where(modal_q(system), 0.0, c.q)
    assert np.array_equal(system.mass_matrix(c.q), system.mass_matrix(straight))


@random_trees(4)
def test_both_fidelities_agree_at_zero_deflection_and_zero_modal_rate(seed: int) -> None:
    """Hinges turning at order one: what is dropped by `ruthless` vanishes with eta and its rate. Relative to udot."""
    c = case(seed, point_masses=False)
    other = Mechanism(ruthless(c.model))
    q = np.where(modal_q(other), 0.0, c.q)
    u = np.where(["eta" in name for name in other.u_names], 0.0, c.u)
    assert (
        error(other.forward_dynamics(q, u, c.tau, loads=c.loads), c.system.forward_dynamics(q, u, c.tau, loads=c.loads))
        < TOLERANCE
    )
    if other.nu:
        assert error(other.mass_matrix(q), c.system.mass_matrix(q)) < TOLERANCE


@random_trees(4)
def test_ruthless_deflection_acts_through_modal_stiffness_only(seed: int) -> None:
    """Everything of a ruthless body but -K eta is taken at zero deflection: move that force to tau, and eta is zero."""
    c = case(seed)
    system = Mechanism(ruthless(c.model))
    straight = np.where(modal_q(system), 0.0, c.q)
    tau = c.tau.copy()
    for b in c.oracle.tree.bodies:
        tau[b.u_eta] -= b.modal_stiffness @ c.q[b.q_eta]
    deflected = system.forward_dynamics(c.q, c.u, c.tau)
    assert error(system.forward_dynamics(straight, c.u, tau), deflected) < TOLERANCE
