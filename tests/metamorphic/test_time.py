"""When a run begins, how its rows lie and how closely it is computed do not change what happens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from metamorphic.cases import EVERY, SEEDS, apart, panel, rectangle
from metamorphic.examples import NAMES, excited
from random_models import random_model, random_state

import bough

STOP = 2.0
"""Of the random trees, s: neighbouring motions part by less than a hundred times in it."""


def states(system: bough.Mechanism) -> list[str]:
    return [*system.q_names, *system.u_names]


def moved_by(inputs: dict[str, Any], delay: float) -> dict[str, Any]:
    """The same inputs, later."""
    out: dict[str, Any] = {}
    for name, value in inputs.items():
        if callable(value):
            out[name] = lambda t, f=value: f(t - delay)
        elif isinstance(value, tuple):
            out[name] = (np.asarray(value[0]) + delay, value[1])
        else:
            out[name] = value
    return out


def tree(seed: int) -> tuple[bough.Mechanism, tuple[Any, Any], dict[str, Any]]:
    """A random tree that moves, with a constant, a table and a function among its inputs."""
    system = bough.Mechanism(random_model(seed, n_bodies=4))
    q, u, _ = random_state(system, seed, deflection=0.1)
    names = [v.name for v in system.variables if v.causality == "input"]
    rng = np.random.default_rng([seed, 21])
    inputs: dict[str, Any] = {}
    for k, name in enumerate(names):
        a, w = float(rng.normal()), float(rng.uniform(1.0, 6.0))
        t = np.sort(rng.uniform(0.0, STOP, 6))
        inputs[name] = [a, (t, a * rng.normal(size=6)), lambda t, a=a, w=w: a * np.sin(w * t)][k % 3]
    return system, (q, u), inputs


# ---- later


@pytest.mark.parametrize("delay", [20.0, 1e6])
@pytest.mark.parametrize("method", ["dopri5", "rosenbrock2", "rk4"])
def test_run_that_starts_later_is_the_same_run(method: str, delay: float) -> None:
    """Start, stop and input all later. The clock at 1e6 s has steps of 1e-10 s: rows of 0.05 s lie 2e-9 of them off,
    and so do the corners of the table."""
    system, initial, inputs = tree(3)
    options: dict[str, Any] = {"method": method, "initial": initial, "rtol": 1e-8 if method == "dopri5" else 1e-5}
    if method == "rk4":
        options["solver_step"] = 0.005
    first = bough.simulate(system, STOP, inputs, 0.05, **options)
    later = bough.simulate(system, delay + STOP, moved_by(inputs, delay), 0.05, start=delay, **options)
    assert later.t - delay == pytest.approx(first.t, abs=2e-10 * max(1.0, delay / 1e6))
    # Adaptive steps may fall differently: their errors are then those of two runs, not of one.
    within = 1e-6 if method != "rosenbrock2" else 1e-3
    assert max(apart(first, later, states(system)).values()) < within


@pytest.mark.parametrize("wait", [20.0, 400.0])
@pytest.mark.parametrize("method", ["dopri5", "rosenbrock2"])
def test_input_that_comes_later_does_the_same_later(method: str, wait: float) -> None:
    """A satellite at rest waits, then the same pulse comes: the same motion from there on."""
    system = bough.Mechanism(panel("free"))
    pulse = rectangle(0.5, 1.25, 0.3)
    rtol = 1e-8 if method == "dopri5" else 1e-5
    first = bough.simulate(system, 5.0, {"axis.tau[3]": pulse.table}, 0.25, rtol=rtol, method=method)
    late = pulse.delayed(wait)
    later = bough.simulate(system, wait + 5.0, {"axis.tau[3]": late.table}, 0.25, rtol=rtol, method=method)
    rows = slice(len(later) - len(first), None)
    tail = {name: later[name][rows] for name in states(system)}
    assert max(apart(first, tail, states(system)).values()) < (1e-6 if method == "dopri5" else 1e-3)
    assert all(np.array_equal(later[name][: rows.start], np.full(rows.start, later[name][0])) for name in tail), (
        "at rest"
    )


# ---- other rows, other tolerance, other method


@pytest.mark.parametrize("seed", range(2 * SEEDS))
def test_rows_do_not_change_the_motion(seed: int) -> None:
    """Rows every 0.5 s, 0.1 s and 7 ms of one run; steps bound by rows differ, each within its tolerance of 1e-9."""
    system, initial, inputs = tree(seed)
    runs = {
        row: bough.simulate(system, STOP, inputs, row, rtol=1e-9, initial=initial, max_step=0.5)
        for row in (0.5, 0.1, 0.02)
    }
    for row in (0.1, 0.02):
        every = round(0.5 / row)
        coarse = {name: runs[row][name][::every] for name in states(system)}
        assert max(apart(runs[0.5], coarse, states(system)).values()) < 1e-6


@pytest.mark.parametrize("seed", range(2 * SEEDS))
def test_error_of_a_random_tree_falls_with_its_tolerance(seed: int) -> None:
    """Against a run at 1e-11: 1e-5 leaves at most 1e-2, 1e-7 at most 1e-4 and 1e-9 at most 1e-6 of the motion."""
    system, initial, inputs = tree(seed)
    exact = bough.simulate(system, STOP, inputs, 0.1, rtol=1e-11, initial=initial)
    errors = []
    for rtol in (1e-5, 1e-7, 1e-9):
        run = bough.simulate(system, STOP, inputs, 0.1, rtol=rtol, initial=initial)
        errors.append(max(apart(exact, run, states(system)).values()))
        assert errors[-1] < 1e3 * rtol
    assert errors[2] < 0.1 * errors[0]


@pytest.mark.parametrize("seed", range(2 * SEEDS))
def test_methods_agree_on_a_random_tree(seed: int) -> None:
    """rk4 at 1 ms: (1 ms x 10 rad/s)^4 per radian; rosenbrock2: error of the order of its tolerance per step."""
    system, initial, inputs = tree(seed)
    exact = bough.simulate(system, STOP, inputs, 0.1, rtol=1e-10, initial=initial)
    for method, options, within in (
        ("rk4", {"solver_step": 1e-3}, 1e-6),
        ("rosenbrock2", {"rtol": 1e-5}, 1e-2),
        ("rosenbrock2", {"solver_step": 1e-3}, 1e-2),
    ):
        run = bough.simulate(system, STOP, inputs, 0.1, method=method, initial=initial, **options)
        assert max(apart(exact, run, states(system)).values()) < within, (method, options)


@pytest.mark.parametrize("name", NAMES)
def test_example_is_the_same_with_other_rows_tolerance_and_method(name: str) -> None:
    """Each example in motion, its inputs moved by tables, functions and numbers in turn."""
    system, inputs, span = excited(name)
    rows = span / 20
    exact = bough.simulate(system, span, inputs, rows, rtol=1e-10)
    close = bough.simulate(system, span, inputs, rows / 4, rtol=1e-8)
    gap = apart(exact, {key: close[key][::4] for key in states(system)}, states(system))
    assert max(gap.values()) < 1e-5
    stiff = bough.simulate(system, span, inputs, rows, rtol=1e-5, method="rosenbrock2")
    # Order two: the error of undamped vibrations adds up over the periods that fit into the span.
    assert max(apart(exact, stiff, states(system)).values()) < 2e-2
    if EVERY:
        fine = bough.simulate(system, span, inputs, rows, method="rk4", solver_step=rows / 2000)
        assert max(apart(exact, fine, states(system)).values()) < 1e-5
