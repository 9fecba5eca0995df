"""Chains of 200 and 1000 bodies: errors that a short chain hides must not grow along a long one.

The articulated inertia cannot become asymmetric here: every sweep keeps its lower triangle only (21 numbers), so that
the growth of an antisymmetric part, the known trap of long chains, has nothing to grow in. What remains is shown below:
forces are found again to 1e-6 of the largest force met, whatever the number of modes.
"""

from __future__ import annotations

import numpy as np
import pytest
from kernel.cases import Array, chain, error
from random_models import random_state

from bough import Mechanism
from bough.mechanism.kernel import KernelError

TOLERANCE = 1e-6
"""Promised to the user; without the trap some 1e-12 is left, for accelerations of the two builds as for forces."""

LONG = [(200, modes) for modes in range(11)] + [(1000, modes) for modes in (0, 1, 5, 10)]


def use_isa(system: Mechanism, isa: int) -> None:
    try:
        system._data.isa = isa
    except KernelError:
        pytest.skip("this CPU has no AVX2 and FMA")


def met(system: Mechanism, q: Array, u: Array, udot: Array, tau: Array) -> float:
    """The largest force met: applied, or needed by the motion alone (tau of udot, less tau of no acceleration)."""
    inertial = system.inverse_dynamics(q, 0 * u, udot) - system.inverse_dynamics(q, 0 * u, 0 * udot)
    bias = system.inverse_dynamics(q, u, 0 * udot)
    return float(max(1.0, np.abs(tau).max(), np.abs(inertial).max(), np.abs(bias).max()))


@pytest.mark.parametrize("fidelity", ["full", "ruthless"])
@pytest.mark.parametrize("bodies, modes", LONG)
def test_inverse_dynamics_finds_the_forces_of_a_long_chain(bodies: int, modes: int, fidelity: str) -> None:
    system = Mechanism(chain(bodies, modes, fidelity))
    q, u, tau = random_state(system, modes, deflection=0.2, speed=0.3)
    builds = []
    for isa in (0, 1):
        use_isa(system, isa)
        udot = system.forward_dynamics(q, u, tau)
        assert error(system.inverse_dynamics(q, u, udot), tau, met(system, q, u, udot, tau)) < TOLERANCE
        batch = system.forward_dynamics(np.stack([q, q]), u, tau)
        assert error(system.inverse_dynamics(q, u, batch[1]), tau, met(system, q, u, udot, tau)) < TOLERANCE
        builds.append(udot)
    assert error(builds[1], builds[0]) < TOLERANCE


def test_kernel_memory_of_a_long_flexible_chain_stays_under_50_megabytes() -> None:
    """1000 bodies with 10 modes each, full fidelity, in the dearest form: unclamped, nodes with rotary inertia."""
    system = Mechanism(chain(1000, 10, "full", clamped=False))
    assert system.nu == 11000
    assert system.kernel_memory < 50e6
