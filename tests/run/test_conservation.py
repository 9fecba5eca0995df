"""What must not change does not: energy of undamped trees, momentum of floating ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel.cases import Array
from run.cases import craft, relative_drift, states, swinging_chain

from bough import Mechanism, simulate

TIGHT: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-13, "step": 0.05}
"""Tight enough that the drift of ten seconds, some thousand steps with an error of rtol each, stays below 1e-9."""


def momenta(system: Mechanism, q: Array, u: Array) -> tuple[Array, Array]:
    linear, angular = zip(*(system.momentum(a, b) for a, b in zip(q, u, strict=True)), strict=True)
    return np.array(linear), np.array(angular)


@pytest.mark.parametrize(
    "options",
    [
        {"modes": 2},
        {"modes": 3, "clamped": False, "stiffness": 15.0},
        {"modes": 2, "rotary": True, "stiffness": 100.0},
        {"modes": 2, "rotary": True, "clamped": False, "stiffness": 100.0},
    ],
    ids=["clamped", "unclamped", "rotary", "rotary-unclamped"],
)
def test_swinging_flexible_chain_keeps_its_energy_at_large_deflection(options: dict[str, Any]) -> None:
    """To 1e-9 of the largest kinetic energy over 10 s. With rotary inertia of nodes as well: there the inertia is
    cut off at first order, but the equations follow from that energy all the same. Those blades are stiffer: the motion
    is chaotic, and at deflections beyond the length of a blade such an inertia may lose its last positive pivot."""
    system = Mechanism(swinging_chain(**options))
    run = simulate(system, 10.0, **TIGHT)
    q, u = states(system, run)
    kinetic, potential = system.energy(q, u)
    deflection = np.abs(q[:, [name.endswith("eta[1]") for name in system.q_names]]).max()
    assert deflection > 0.3, "large: a third of the blade's length"
    assert kinetic.max() > 5.0 * kinetic.min(), "it swings"
    assert relative_drift(kinetic + potential, kinetic.max()) < 1e-9


@pytest.mark.parametrize("damping", [0.0, 0.1])
@pytest.mark.parametrize("clamped", [True, False])
def test_floating_system_keeps_its_momenta(clamped: bool, damping: float) -> None:
    """Linear and angular momentum to 1e-9 of their size, internal damping or not; energy too without. Ten seconds of
    constant linear momentum carry the mass centre metres away from the origin that angular momentum is about."""
    system = Mechanism(craft(damping, clamped=clamped))
    run = simulate(system, 10.0, **TIGHT)
    q, u = states(system, run)
    linear, angular = momenta(system, q, u)
    assert relative_drift(linear, float(np.linalg.norm(linear[0]))) < 1e-9
    assert relative_drift(angular, float(np.linalg.norm(angular[0]))) < 1e-9
    kinetic, potential = system.energy(q, u)
    energy = kinetic + potential
    if damping == 0.0:
        assert relative_drift(energy, kinetic.max()) < 1e-9
    else:
        assert np.all(np.diff(energy) < 1e-11 * energy[0]) and energy[-1] < 0.95 * energy[0]


def test_damping_takes_energy_monotonically() -> None:
    """Hinge and modal damping, gravity at work: every output less than the one before, up to the tolerance."""
    model = swinging_chain()
    for body in model["bodies"]:
        body["hinge"]["damping"] = 0.02
        if "nodal" in body:
            body["nodal"]["damping"] = [0.02, 0.05]
    system = Mechanism(model)
    run = simulate(system, 5.0, **TIGHT)
    kinetic, potential = system.energy(*states(system, run))
    energy = kinetic + potential
    assert np.all(np.diff(energy) < 1e-9 * kinetic.max())
    assert energy[-1] < energy[0] - 0.1 * kinetic.max()


def test_quaternions_stay_unit() -> None:
    """1e-12: they are scaled back after every step, so that nothing accumulates."""
    system = Mechanism(craft())
    for method, options in (
        ("dopri5", {"rtol": 1e-3}),
        ("rk4", {"solver_step": 0.004}),
        ("rosenbrock2", {"solver_step": 0.004}),
        ("rosenbrock2", {"rtol": 1e-3}),
    ):
        run = simulate(system, 5.0, step=0.013, method=method, **options)  # outputs between the steps as well
        for hinge in ("base", "tether"):
            length = np.sqrt(sum(run[f"{hinge}.Q[{i}]"] ** 2 for i in range(1, 5)))
            assert np.abs(length - 1.0).max() < 1e-12
