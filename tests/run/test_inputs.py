"""Inputs as number, series, (times, values) and function drive what their names say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel.cases import Dict

from bough import Mechanism, simulate
from bough.errors import ArgumentError

MASS = 2.0


def cart(**hinge: Any) -> Dict:
    rail = {"name": "rail", "type": "prismatic", "axis": [1, 0, 0]} | hinge
    body = {"name": "box", "parent": "ground", "hinge": rail, "rigid": {"mass": MASS, "nodes": {"hook": {}}}}
    return {
        "bough": 1,
        "name": "cart",
        "bodies": [body],
        "inputs": ["box.hook.force"],
        "outputs": ["box.hook"],
    }


METHODS: list[tuple[str, dict[str, Any], float]] = [
    ("dopri5", {}, 1e-13),  # exact for motions that are polynomials up to degree 4, but for the rounding
    ("rk4", {}, 1e-13),  # exact up to degree 4 too
    ("rosenbrock2", {"solver_step": 0.01}, 1e-4),  # h^2 of the jerk
]


@pytest.mark.parametrize("method, options, tolerance", METHODS)
@pytest.mark.parametrize("how", ["number", "function", "series", "pair", "int series"])
def test_every_kind_of_input_gives_the_closed_form(how: str, method: str, options: Any, tolerance: float) -> None:
    """Force 4 N, or rising as 4 t N: s = t^2, or t^3/3, of a cart of 2 kg."""
    times = np.linspace(0.0, 1.0, 11)
    value: Any = {
        "number": 4,
        "function": lambda t: 4.0 * t,
        "series": 4.0 * times,
        "pair": ([0.0, 1.0], [0.0, 4.0]),
        "int series": [4] * 11,
    }[how]
    run = simulate(cart(), 1.0, inputs={"rail.f": value}, step=0.1, method=method, **options)
    expected = times**2 if how in ("number", "int series") else times**3 / 3.0
    assert np.abs(run["rail.s"] - expected).max() < tolerance
    force = 4.0 * np.ones(11) if how in ("number", "int series") else 4.0 * times
    assert np.abs(run["rail.f"] - force).max() < 1e-14 and np.abs(run["rail.a"] - force / MASS).max() < 1e-14


def test_node_force_input_and_sensor() -> None:
    run = simulate(cart(), 1.0, inputs={"box.hook.force[1]": 4.0, "box.hook.force[2]": 7.0}, step=0.1)
    t = run.t
    assert np.abs(run["box.hook.r[1]"] - t**2).max() < 1e-13 and np.abs(run["box.hook.v[1]"] - 2 * t).max() < 1e-13
    assert np.abs(run["box.hook.a[1]"] - 2.0).max() < 1e-13
    assert np.abs(run["rail.reaction_force[2]"] + 7.0).max() < 1e-13


def test_driven_hinge_follows_its_acceleration_and_tells_the_force() -> None:
    """a = 6 t: v = 3 t^2, s = t^3, and a cart of 2 kg takes 12 t N."""
    run = simulate(cart(drive="motion"), 1.0, inputs={"rail.a": lambda t: 6.0 * t}, step=0.1)
    assert np.abs(run["rail.s"] - run.t**3).max() < 1e-13 and np.abs(run["rail.v"] - 3 * run.t**2).max() < 1e-13
    assert np.abs(run["rail.f"] - 12.0 * run.t).max() < 1e-13


def test_locked_hinge_stays() -> None:
    run = simulate(cart(drive="locked", initial={"s": 0.7}), 1.0, inputs={"box.hook.force[1]": 5.0}, step=0.1)
    assert np.all(run["rail.s"] == 0.7) and np.all(run["rail.v"] == 0.0)
    assert np.abs(run["rail.reaction_force[1]"] + 5.0).max() < 1e-14


def test_series_is_constant_outside_its_times() -> None:
    run = simulate(cart(), 2.0, inputs={"rail.f": ([0.5, 1.0], [4.0, 8.0])}, step=0.25)
    assert run["rail.f"].tolist() == [4.0, 4.0, 4.0, 6.0, 8.0, 8.0, 8.0, 8.0, 8.0]


@pytest.mark.parametrize(
    "inputs, message",
    [
        ({"rail.g": 1.0}, "there is no input 'rail.g'; inputs are: rail.f, box.hook.force"),
        ({"rail.f": np.nan}, "finite"),
        ({"rail.f": [1.0, 2.0]}, "one per time"),
        ({"rail.f": ([0.0, 1.0], [1.0])}, "one per time"),
        ({"rail.f": ([1.0, 0.0], [1.0, 2.0])}, "do not go back"),
        ({"rail.f": ([0.0, 1.0], [1.0, np.inf])}, "finite"),
    ],
)
def test_wrong_input_is_refused_before_the_run(inputs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulate(cart(), 1.0, inputs=inputs, step=0.1)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"method": "euler"}, "dopri5"),
        ({"rtol": 0.0}, "rtol"),
        ({"rtol": np.nan}, "rtol"),
        ({"atol": -1.0}, "atol"),
        ({"solver_step": 0.0}, "solver_step"),
        ({"step": -0.1}, "step"),
        ({"start": 2.0}, "stop >= start"),
        ({"initial": ([0.0, 1.0], [0.0])}, "initial"),
    ],
)
def test_wrong_option_is_refused_before_the_run(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulate(cart(), 1.0, **options)


def test_output_times_begin_at_start_end_at_stop_and_progress_is_told() -> None:
    told: list[float] = []
    run = simulate(cart(), 1.0, start=0.25, step=0.1, progress=told.append)
    assert run.t[0] == 0.25 and run.t[-1] == 1.0 and np.allclose(np.diff(run.t)[:-1], 0.1) and told[-1] == 1.0
    assert len(simulate(cart(), 1.0)) == 1001
    assert len(simulate(cart(), 0.0)) == 1
    assert simulate(cart(), 0.3, step=0.1).t.tolist() == [0.0, 0.1, 0.2, 0.3]


@pytest.mark.parametrize("method, options", [("dopri5", {}), ("rk4", {}), ("rosenbrock2", {}), ("radau5", {})])
def test_input_function_is_never_asked_beyond_the_run(method: str, options: Any) -> None:
    """dopri5 steps beyond output times and interpolates, but not beyond the last: it may not be defined there."""
    asked: list[float] = []

    def force(t: float) -> float:
        asked.append(t)
        return 1.0

    simulate(cart(), 1.0, start=0.5, inputs={"rail.f": force}, step=0.1, method=method, **options)
    assert min(asked) == 0.5 and max(asked) == 1.0


def test_a_run_leaves_the_system_as_it_was() -> None:
    system = Mechanism(cart())
    first = simulate(system, 1.0, inputs={"rail.f": 4.0}, step=0.1)
    second = simulate(system, 1.0, inputs={"rail.f": 4.0}, step=0.1)
    assert np.array_equal(first["rail.s"], second["rail.s"])
    assert system.forward_dynamics([0.0], [0.0], [0.0]).tolist() == [0.0]


@pytest.mark.parametrize("step, stop", [(1e-300, 1.0), (1e-9, 1.0), (5e-324, 1e-300), (1e-3, 1e15)])
def test_step_that_divides_the_run_too_finely_is_an_argument_error(step: float, stop: float) -> None:
    with pytest.raises(ArgumentError, match="step: .* too finely; take a longer one"):
        simulate(cart(), stop=stop, step=step)


def test_step_that_rounding_loses_is_an_argument_error() -> None:
    """At 1e9 s times differ by 1.2e-7 s at least: rows a nanosecond apart would be at one time."""
    with pytest.raises(ArgumentError, match="too finely"):
        simulate(cart(), start=1e9, stop=1e9 + 1e-3, step=1e-9)


@pytest.mark.parametrize("step", [1.0 + 1e-6, 1.5, 1e10, 1e300])
def test_step_longer_than_the_run_keeps_the_first_row(step: float) -> None:
    run = simulate(cart(initial={"s": 0.5}), stop=1.0, inputs={"rail.f": 4.0}, step=step)
    np.testing.assert_array_equal(run.t, [0.0, 1.0])
    assert run["rail.s"][0] == 0.5


def test_run_of_no_length_has_one_row_whatever_the_step() -> None:
    for step in (None, 1e-9, 1.0):
        assert list(simulate(cart(), start=2e9, stop=2e9, step=step).t) == [2e9]
