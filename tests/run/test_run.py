"""A model stepped from Python: the FMU's results, states that resume, and inputs that see the state of the stage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from kernel.cases import chain

import bough
from bough.errors import ArgumentError, SimulationError

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


def test_steps_end_where_they_are_asked_to_with_the_solution() -> None:
    run = bough.Run(CART, {"rail.stiffness": 8.0, "rail.s": 0.1}, rtol=1e-9)
    for _ in range(10):
        run.step(0.1)
    assert run.time == pytest.approx(1.0, abs=1e-15)
    assert run["rail.s"] == pytest.approx(0.1 * math.cos(2.0), abs=1e-9)
    assert run["rail.a"] == pytest.approx(-4.0 * run["rail.s"], rel=1e-15)
    assert run.values("rail.s", "rail.v").tolist() == [run["rail.s"], run["rail.v"]]


def test_a_saved_run_resumes_bit_for_bit_in_another() -> None:
    system = bough.Mechanism(chain(3, 2, "full"))
    name = next(v.name for v in system.variables if v.causality == "input")
    run, other = bough.Run(system), bough.Run(system)
    run.set(name, 0.4)
    run.step(0.05)
    state = run.save()
    run.step(0.05)
    other.restore(state)
    assert other.time == 0.05
    other.step(0.05)
    assert [run[n] for n in run.names] == [other[n] for n in other.names]


def test_a_force_of_time_and_state_converges_with_the_tolerance() -> None:
    """m v' = -c v + cos t, in one long step; x(1) in closed form."""
    c, m = 3.0, 2.0
    a = c / m
    x = (math.sin(1.0) * a + 1 - math.cos(1.0)) / m / (1 + a * a) - (a / m / (1 + a * a)) * (1 - math.exp(-a)) / a
    force = {"rail.f": lambda t, state: math.cos(t) - c * state["rail.v"]}

    def errors(rtol: float) -> tuple[float, float]:
        run = bough.Run(CART, inputs=force, rtol=rtol)
        run.step(1.0)
        assert run["rail.a"] == pytest.approx((math.cos(1.0) - c * run["rail.v"]) / m, rel=1e-14)
        whole = bough.simulate(CART, 1.0, force, rtol=rtol)
        np.testing.assert_allclose(whole["rail.f"], np.cos(whole.t) - c * whole["rail.v"], atol=1e-14)
        return abs(run["rail.s"] - x), abs(whole["rail.s"][-1] - x)

    assert max(errors(1e-9)) < 1e-8
    assert errors(1e-4)[0] > errors(1e-9)[0]


def test_what_cannot_be_set_or_stepped_is_an_error_with_the_reason_and_changes_nothing() -> None:
    run = bough.Run(CART)
    run.set("rail.f", 1.0)
    for call, text in (
        (lambda: run.set("rail.f", math.nan), "expected a finite number"),
        (lambda: run.set({"rail.f": 2.0, "rail.damping": -1.0}), "'rail.damping' is refused"),
        (lambda: run.set("rail.s", 1.0), "it is a state"),
        (lambda: run.set("rail.a", 1.0), "computed by the model"),
        (lambda: run.set("rail.g", 1.0), "did you mean"),
        (lambda: run["rail.q"], "did you mean"),
        (lambda: run.step(-0.1), "positive step"),
        (lambda: run.step(math.nan), "positive step"),
        (lambda: run.restore(b"\0" * 300), "not a state of model 'cart'"),
        (lambda: bough.Run(CART, {"rail.mass": 1.0}), "there is no variable 'rail.mass'"),
    ):
        with pytest.raises(SimulationError, match=text):
            call()
    with pytest.raises(ArgumentError, match="did you mean 'rk4'"):
        bough.Run(CART, method="rk5")
    assert (run["rail.f"], run["rail.damping"], run.time) == (1.0, 0.0, 0.0)


def test_what_an_input_function_raises_comes_out_and_the_run_can_go_back() -> None:
    def force(t: float) -> float:
        if t > 0.5:
            raise ValueError("no more")
        return 1.0

    run = bough.Run(CART, inputs={"rail.f": force})
    run.step(0.25)
    state = run.save()
    with pytest.raises(SimulationError, match="input function failed at t = .*no more"):
        run.step(1.0)
    with pytest.raises(SimulationError, match="after a failed step"):
        run.step(0.1)
    run.restore(state)
    run.step(0.1)
    assert run["rail.s"] == pytest.approx(0.25 * 0.35**2, rel=1e-9)
