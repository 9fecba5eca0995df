"""Every loop of the integrators has an end, and what cannot go on says so."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.errors import ArgumentError, SimulationError
from bough.mechanism import kernel, kernel_calls, kernel_sim
from bough.run.studies import Plan, run_set

CART = {
    "bough": 1,
    "name": "cart",
    "bodies": [
        {
            "name": "box",
            "parent": "ground",
            "hinge": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0]},
            "rigid": {"mass": 2.0},
        }
    ],
}


@pytest.mark.parametrize("method", ["dopri5", "rosenbrock2"])
@pytest.mark.parametrize("start", [0.0, 1.0])
def test_a_start_where_every_step_fails_ends_the_run(method: str, start: float) -> None:
    """The force has no value after the start: no step succeeds, however short."""
    system = bough.Mechanism(CART)
    sim = kernel_sim.KernelSim(system._data, 0, method, 1e-6, 0.0, 0.0, 0.0)
    calls = 0

    def force(t: float, *arrays: np.ndarray) -> None:
        nonlocal calls
        calls += 1
        arrays[2][0] = 0.0 if t == start else np.nan

    sim.set_input(force)
    sim.start(start, *system.initial_state())
    with pytest.raises(kernel.KernelError, match="finite|too small"):
        sim.advance(start + 1.0)
    assert calls < 2000


@pytest.mark.parametrize("step", [1e-22, 1e-300])
@pytest.mark.parametrize("method", ["rk4", "rosenbrock2"])
def test_a_step_that_vanishes_in_rounding_is_refused(step: float, method: str) -> None:
    with pytest.raises(ArgumentError, match="solver_step: expected"):
        bough.simulate(CART, 1.0, method=method, solver_step=step)
    with pytest.raises(SimulationError, match="zero or a number of seconds from 1e-12 on"):
        bough.Run(CART, method=method, solver_step=step)


def test_a_communication_step_without_an_end_in_sight_is_given_up() -> None:
    """A spring of 1e4 rad/s for 1e9 s: some 1e13 steps. The first ten thousand show it."""
    model = {**CART, "bodies": [{**CART["bodies"][0]}]}
    model["bodies"][0]["hinge"] = {**CART["bodies"][0]["hinge"], "stiffness": 2e8, "initial": {"s": 1e-3}}
    run = bough.Run(model)
    with pytest.raises(SimulationError, match="too small"):
        run.step(1e9)
    assert run.time < 100.0


def test_a_step_at_a_steady_pace_that_is_too_slow_ends_after_a_part_of_the_allowed_attempts() -> None:
    """A pace that needs some twenty times the allowed attempts: given up after a twentieth of them, not after all."""
    settings = {"rail.stiffness": 2e8, "rail.s": 1e-3}
    counted = run_set(CART, settings, Plan(0.1, 0.1)).statistics
    pace = (counted["steps"] + counted["rejected"]) / 0.1
    run = bough.Run(CART, settings)
    with pytest.raises(SimulationError, match="too small"):
        run.step(1e3)
    assert 20_000 < pace * run.time < 200_000


def test_counts_do_not_overflow_32_bits() -> None:
    assert all(kind is kernel_calls.c.c_int64 for _, kind in kernel_calls._Counts._fields_)
