"""Forces between nodes: against the same laws in numpy, by node Jacobians, on random trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from random_forces import Reference, random_forces
from random_models import random_model, random_state

import bough
from bough.mechanism import kernel

SEEDS = range(8)


def forced(
    seed: int, monkeypatch: pytest.MonkeyPatch, **more: Any
) -> tuple[bough.Mechanism, bough.Mechanism, Reference]:
    """A random tree with a dozen forces, the same without, and the reference. Contacts may begin inside here."""
    monkeypatch.setattr("bough.mechanism.drawn._free_length", lambda force, frames: force.length)
    model = random_model(seed) | more
    forces = random_forces(model, seed, 12)
    bare = bough.Mechanism(model)
    return bough.Mechanism(model | {"forces": forces}), bare, Reference(bare, forces)


@pytest.mark.parametrize("fidelity", ["full", "ruthless"])
@pytest.mark.parametrize("seed", SEEDS)
def test_forces_act_as_their_laws_say(seed: int, fidelity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Generalized forces, values and potential; node Jacobians are the reference's only mechanics."""
    system, bare, reference = forced(seed, monkeypatch, fidelity=fidelity)
    for trial in range(3):
        q, u, _ = random_state(system, 10 * seed + trial)
        rest = np.zeros(system.nu)
        tau, values, potential = reference.at(q, u, {})
        found = bare.inverse_dynamics(q, u, rest) - system.inverse_dynamics(q, u, rest)
        assert found == pytest.approx(tau, rel=1e-9, abs=1e-9 * (1 + abs(tau).max()))
        more = system.energy_parts(q, u) - bare.energy_parts(q, u)
        assert more[3] == pytest.approx(potential, rel=1e-9)
        assert more[:3] == pytest.approx(np.zeros(3), abs=1e-9 * (1 + abs(potential)))
        told = np.zeros(system._kernel_model.element_values)
        system._data.evaluate({"q": q, "u": u}, {"element": told})
        assert told == pytest.approx(np.concatenate(list(values.values())), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics_inverts_inverse_dynamics_and_reactions_follow(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Articulated, composite and batch agree; what held hinges take includes the forces once."""
    system, bare, reference = forced(seed, monkeypatch)
    q, u, _ = random_state(system, 10 * seed + 7)
    rng = np.random.default_rng(seed)
    tau = rng.normal(size=system.nu)
    udot = system.forward_dynamics(q, u, tau)
    scale = 1 + abs(udot).max()
    assert system.inverse_dynamics(q, u, udot) == pytest.approx(tau, abs=1e-8 * scale)
    assert system.forward_dynamics(q, u, tau, method="composite") == pytest.approx(udot, abs=1e-8 * scale)
    both = system.forward_dynamics(np.array([q, q]), np.array([u, u]), np.array([tau, tau]))
    assert both == pytest.approx(np.array([udot, udot]), abs=1e-9 * scale)
    found = system.hybrid_dynamics(q, u, tau, held=system.u_names, motion=udot)
    assert found.tau == pytest.approx(tau, abs=1e-8 * scale)
    free = system.hybrid_dynamics(q, u, tau, held=[])
    assert free.tau == pytest.approx(tau)
    assert found.reactions == pytest.approx(free.reactions, abs=1e-8 * (scale + abs(free.reactions).max()))


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_are_exact(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The complex step against central differences of the accelerations and of the values told."""
    system, _, _ = forced(seed, monkeypatch)
    q, u, _ = random_state(system, 10 * seed + 3)
    rng = np.random.default_rng([seed, 1])
    data = kernel.KernelData(system._kernel_model, kernel.LANES_TANGENT)
    loads = rng.normal(size=6 * system._kernel_model.loads)
    at = {"q": q, "u": u, "tau": np.zeros(system.nu), "loads": loads}
    along = {name: rng.normal(size=x.size) for name, x in at.items()}
    exact = data.directional(at, along, np.zeros(0, dtype=np.intc), len(system.model.bodies))
    h = 1e-6

    def values(sign: float) -> dict[str, Any]:
        moved = {name: x + sign * h * along[name] for name, x in at.items()}
        out = {
            "udot": np.zeros(system.nu),
            "force": np.zeros(system.nu),
            "reaction": np.zeros(6 * len(system.model.bodies)),
            "element": np.zeros(system._kernel_model.element_values),
        }
        system._data.evaluate(moved, out)
        return out

    up, down = values(1.0), values(-1.0)
    for name, value in up.items():
        numeric = (value - down[name]) / (2 * h)
        assert exact[name] == pytest.approx(numeric, rel=2e-5, abs=2e-5 * (1 + abs(numeric).max()))


def test_thousand_springs_cost_linear_time() -> None:
    """Instructions are not counted here; the kernel's memory for forces and its tables grow with their number alone."""

    def model(n: int) -> dict[str, Any]:
        springs = [
            {"type": "spring", "between": ["ball.origin", "ground.origin"], "stiffness": 1.0, "length": 0.1 * i}
            for i in range(n)
        ]
        hinge = {"name": "h", "type": "free", "initial": {"s": [1, 0, 0]}}
        return {
            "bough": 1,
            "name": "many",
            "forces": springs,
            "bodies": [
                {
                    "name": "ball",
                    "parent": "ground",
                    "hinge": hinge,
                    "rigid": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]},
                }
            ],
        }

    few, many = bough.Mechanism(model(10)), bough.Mechanism(model(1000))
    q, u = many.initial_state()
    pull = sum(0.1 * i - 1.0 for i in range(1000))
    assert many.forward_dynamics(q, u, np.zeros(6))[0] == pytest.approx(pull, rel=1e-12)
    assert many.kernel_memory - few.kernel_memory < 1000 * 1000
