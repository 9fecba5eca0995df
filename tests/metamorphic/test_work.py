"""What an input does is what the mechanism has afterwards: work is energy, impulse is momentum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from metamorphic.cases import SEEDS, Array, panel, rectangle
from metamorphic.examples import NAMES, at_rest
from random_models import random_model, random_state
from scipy.integrate import cumulative_simpson

import bough


def states(system: bough.Mechanism, run: bough.Result) -> tuple[Array, Array]:
    q, u = (np.column_stack([run[name] for name in names]) for names in (system.q_names, system.u_names))
    return q, u


def total(system: bough.Mechanism, run: bough.Result) -> Array:
    kinetic, potential = system.energy(*states(system, run))
    return np.asarray(kinetic + potential)


@pytest.mark.parametrize("seed", range(2 * SEEDS))
def test_work_of_a_pulse_is_the_energy_it_leaves(seed: int) -> None:
    """Random trees without damping, a torque or force at every hinge for a while: energy is constant before and after.
    Between it grows by the work, force times speed, summed up over 2,000 rows by Simpson's rule (1e-9 of it)."""
    system = bough.Mechanism(random_model(seed, n_bodies=3, dissipation=False))
    q, u, _ = random_state(system, seed, deflection=0.1)
    rng = np.random.default_rng([seed, 61])
    begin, end, row = 0.2, 0.6, 5e-4
    pairs = {f"{h}.{f}{i}": f"{h}.{s}{i}" for h, f, s, i in _forces(system)}
    inputs = {force: rectangle(begin, end, float(rng.normal())).table for force in pairs}
    run = bough.simulate(system, 1.0, inputs, row, rtol=1e-10, initial=(q, u))
    energy = total(system, run)
    size = float(np.ptp(energy)) + 1e-3 * float(system.energy(q, u)[0])
    i, j = round(begin / row), round(end / row)
    power = sum(
        (np.max(np.abs(inputs[f][1])) * np.sign(inputs[f][1].sum()) * run[s] for f, s in pairs.items()), 0.0 * run.t
    )
    work = cumulative_simpson(power[i : j + 1], x=run.t[i : j + 1], initial=0.0)
    assert np.abs(energy[: i + 1] - energy[0]).max() < 1e-7 * size
    assert np.abs(energy[i : j + 1] - energy[i] - work).max() < 1e-6 * size
    assert np.abs(energy[j:] - energy[j]).max() < 1e-7 * size
    assert abs(work[-1]) > 1e-6 * size, "the pulse has done something"


def _forces(system: bough.Mechanism) -> list[tuple[str, str, str, str]]:
    """Hinge, names of force and speed, index in brackets, of every force that is an input."""
    known = {v.name for v in system.variables if v.causality == "input"}
    out = []
    for name in system.u_names:
        hinge, _, last = name.rpartition(".")
        speed, bracket, index = last.partition("[")
        force = {"w": "tau", "v": "f"}.get(speed)
        if force and f"{hinge}.{force}{bracket}{index}" in known:
            out.append((hinge, force, speed, bracket + index))
    return out


@pytest.mark.parametrize("method", ["dopri5", "rosenbrock2"])
def test_impulse_of_all_loads_is_the_momentum_of_a_free_satellite(method: str) -> None:
    """Forces and torques at two nodes and at the hinge, as jumps at different times: linear momentum is their integral
    whatever bends and turns. Each step keeps it to its tolerance."""
    model = panel("free") | {"inputs": ["panel.tip.force", "hub.origin.force"]}
    system = bough.Mechanism(model)
    pulses = {
        "panel.tip.force[2]": rectangle(0.3, 0.8, 0.4),
        "panel.tip.force[3]": rectangle(2.11, 2.12, -3.0),
        "hub.origin.force[1]": rectangle(1.0, 3.0, 0.5),
        "hub.origin.force[2]": rectangle(1.7, 1.75, 8.0),
    }
    inputs: dict[str, Any] = {name: pulse.table for name, pulse in pulses.items()}
    rtol, within = (1e-9, 1e-6) if method == "dopri5" else (1e-6, 1e-3)
    run = bough.simulate(system, 4.0, inputs, 0.5, rtol=rtol, method=method)
    q, u = states(system, run)
    found = system.momentum(q[-1], u[-1])[0]
    assert found == pytest.approx([1.0, 0.2 + 0.4, -0.03], abs=within)


@pytest.mark.parametrize("name", NAMES)
def test_example_at_rest_gains_the_work_of_a_pulse(name: str) -> None:
    """One input each, motions of about 1e-3; energy and losses against the work, over 1,000 rows of the pulse.

    Losses of dampers are not summed up: with them the energy is at most the work, and at least nothing."""
    system, loads, period = at_rest(name)
    key = next((k for k in loads if k.rpartition(".")[2].partition("[")[0] in ("tau", "f")), None)
    if key is None:  # spin_up: its hub follows a motion; the torque that this takes does the work
        key = next(iter(loads))
    hinge, _, last = key.rpartition(".")
    kind, bracket, index = last.partition("[")
    driven = f"{hinge}.rotor" if f"{hinge}.rotor.w" in system.u_names else hinge  # a gear: the torque is the motor's
    speed = f"{driven}.{'v' if kind == 'f' else 'w'}{bracket}{index}"
    load = 1e5 * loads[key]
    pulse = rectangle(0.5 * period, period, load)
    run = bough.simulate(system, 2.0 * period, {key: pulse.table}, period / 1000, rtol=1e-8)
    force = run[key] if not key.endswith(".a") else run[key[:-2] + ".tau"]
    i, j = 500, 1000
    inside = force[i : j + 1].copy()
    inside[0], inside[-1] = (
        2 * inside[1] - inside[2],
        2 * inside[-2] - inside[-3],
    )  # the rows at the jumps belong to both
    work = float(cumulative_simpson(inside * run[speed][i : j + 1], x=run.t[i : j + 1])[-1])
    energy = total(system, run)
    gained = energy - energy[0]
    # Loops are closed to 1e-10 m, and a stiff boom may be bent by that much: 1e-15 J of the 6e-8 J of the pulse.
    assert abs(gained[:i]).max() <= (1e-7 * work if system.model.loops else 0.0)
    assert work > 0.0
    assert 0.0 <= gained[j] <= work * (1.0 + 1e-5)
    undamped = name in ("pendulum",)
    assert gained[j] == pytest.approx(work, rel=1e-5) if undamped else gained[j] > 0.05 * work
    if not key.endswith(".a"):  # a hub that is kept at its speed goes on working
        assert np.diff(gained[j:]).max() < 1e-6 * work, "nothing comes from nowhere afterwards"
