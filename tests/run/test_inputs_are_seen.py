"""Steps end where inputs jump or bend: nothing that a table says is stepped over, by any method, at any tolerance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bough

INERTIA = 5.0
"""Of the satellite about its axis, kg.m2."""
SATELLITE = {
    "bough": 1,
    "name": "satellite",
    "bodies": [
        {
            "name": "bus",
            "parent": "ground",
            "hinge": {"name": "axis", "type": "revolute", "axis": [0, 0, 1]},
            "rigid": {"mass": 10.0, "inertia": [5.0, 5.0, INERTIA, 0, 0, 0]},
        }
    ],
}
METHODS = ["dopri5", "rk4", "rosenbrock2", "radau5", "auto"]
CLOSED = 1e-9
"""Every method is exact for a torque that is constant between its knots, but for the rounding of many steps."""


def angle_after(first: float, last: float, stop: float, torque: float) -> float:
    """Of a body at rest after a pulse of torque."""
    rate = torque * (last - first) / INERTIA
    return rate * (0.5 * (last - first) + stop - last)


def pulse(first: float, last: float, stop: float, torque: float) -> tuple[np.ndarray, np.ndarray]:
    return np.array([0.0, first, first, last, last, stop]), torque * np.array([0.0, 0, 1, 1, 0, 0])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "first, last, stop", [(20.0, 24.0, 100.0), (7.3, 8.3, 10.0), (0.0, 0.01, 10.0), (9.99, 10, 10)]
)
def test_a_pulse_of_a_table_is_felt(method: str, first: float, last: float, stop: float) -> None:
    table = pulse(first, last, stop, 2.0)
    result = bough.simulate(SATELLITE, stop, inputs={"axis.tau": table}, method=method)
    assert result["axis.phi"][-1] == pytest.approx(angle_after(first, last, stop, 2.0), rel=CLOSED)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [1, 8, 40])
def test_a_jump_is_felt_however_many_other_inputs_there_are(method: str, count: int) -> None:
    """To see a jump, all inputs are compared: that takes room for them, whatever the number of coordinates."""
    nodes = {f"p{i}": {"position": [0.1 * i, 0, 0]} for i in range(count)}
    bus = SATELLITE["bodies"][0] | {"rigid": SATELLITE["bodies"][0]["rigid"] | {"nodes": nodes}}  # type: ignore[index]
    model = SATELLITE | {"bodies": [bus], "inputs": [f"bus.{node}.force" for node in nodes]}
    result = bough.simulate(model, 1.0, inputs={"axis.tau": ([0, 0.5, 0.5, 1], [1, 1, 0, 0])}, step=0.1, method=method)
    assert result["axis.phi"][-1] == pytest.approx(angle_after(0.0, 0.5, 1.0, 1.0), rel=CLOSED)


@pytest.mark.parametrize("rtol", [1e-3, 1e-9])
@pytest.mark.parametrize("rows", [10, 10_000])
def test_neither_tolerance_nor_rows_decide_whether_a_pulse_is_felt(rtol: float, rows: int) -> None:
    table = pulse(20.0, 24.0, 100.0, 1e-3)
    result = bough.simulate(SATELLITE, 100.0, inputs={"axis.tau": table}, step=100.0 / rows, rtol=rtol)
    assert result["axis.phi"][-1] == pytest.approx(angle_after(20.0, 24.0, 100.0, 1e-3), rel=CLOSED)


@pytest.mark.parametrize("method", METHODS)
def test_a_single_value_of_a_series_is_felt(method: str) -> None:
    """One of a thousand output times: a triangle two rows wide."""
    series = np.zeros(1001)
    series[400] = 3.0
    result = bough.simulate(SATELLITE, 10.0, inputs={"axis.tau": series}, method=method)
    assert result["axis.w"][-1] == pytest.approx(3.0 * 0.01 / INERTIA, rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("first, length", [(20.0, 4.0), (20.03, 0.1), (51.77, 0.5)])
def test_a_pulse_of_a_function_is_felt(method: str, first: float, length: float) -> None:
    """Down to the distance of two rows, 0.1 s; the jumps are found between rows."""
    result = bough.simulate(
        SATELLITE,
        100.0,
        inputs={"axis.tau": lambda t: 2.0 if first <= t < first + length else 0.0},
        step=0.1,
        method=method,
    )
    assert result["axis.phi"][-1] == pytest.approx(angle_after(first, first + length, 100.0, 2.0), rel=1e-6)


@pytest.mark.parametrize("method", ["dopri5", "radau5", "auto"])
def test_a_jump_between_two_rows_that_agree_does_not_end_a_run(method: str) -> None:
    """From rest, no step over the jump is short against the motion it makes; 14 of 100 such runs were given up."""
    for first in (20.1, 29.1884226221013, 44.06517668162548, 21.068348530041227):
        bough.simulate(
            SATELLITE,
            60.0,
            inputs={"axis.tau": lambda t, first=first: 1.0 if first <= t < first + 0.25 else 0.0},
            step=0.5,
            method=method,
        )


@pytest.mark.parametrize("of_state", [False, True])
@pytest.mark.parametrize("begins", [0.0, 3.0])
def test_a_function_that_gives_another_value_at_each_call_ends_the_run(begins: float, of_state: bool) -> None:
    """Noise looks like rounding to the error control: the run had ended well, with a speed that nothing stands for."""
    draws = np.random.default_rng(1)

    def noise(t: float) -> float:
        return float(draws.normal()) if t >= begins else 1.0

    law = (lambda t, state: noise(t)) if of_state else noise
    with pytest.raises(bough.SimulationError, match=r"inputs\['axis.tau'\].*asked twice.*\(times, values\)") as caught:
        bough.simulate(SATELLITE, 10.0, inputs={"axis.tau": law}, step=1.0)
    rows = 0 if caught.value.result is None else len(caught.value.result.t)
    assert rows == begins


def test_max_step_finds_what_a_function_does_between_rows() -> None:
    narrow = bough.simulate(
        SATELLITE,
        10.0,
        inputs={"axis.tau": lambda t: np.exp(-(((t - 5.25) / 0.02) ** 2))},
        step=1.0,
        max_step=0.02,
    )
    assert narrow["axis.w"][-1] == pytest.approx(0.02 * np.sqrt(np.pi) / INERTIA, rel=1e-6)


def test_max_step_bounds_the_steps_of_every_method() -> None:
    for method, options in (("dopri5", {}), ("rk4", {"solver_step": 1.0}), ("rosenbrock2", {})):
        run = bough.simulate(SATELLITE, 10.0, step=10.0, method=method, max_step=0.01, **options)
        assert run.statistics["steps"] >= 1000


def test_a_table_that_rests_costs_no_steps() -> None:
    times = np.linspace(0.0, 100.0, 100_001)
    values = np.where((times >= 20.0) & (times < 20.01), 1.0, 0.0)
    run = bough.simulate(SATELLITE, 100.0, inputs={"axis.tau": (times, values)}, step=1.0)
    assert run.statistics["steps"] < 100
    assert run["axis.w"][-1] == pytest.approx(np.trapezoid(values, times) / INERTIA, rel=1e-9)


def test_rows_show_an_input_as_it_is_after_its_jump() -> None:
    table = pulse(2.0, 4.0, 10.0, 1.0)
    run = bough.simulate(SATELLITE, 10.0, inputs={"axis.tau": table}, step=1.0)
    assert run["axis.tau"].tolist() == [0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0]


def test_the_command_feels_the_pulse_of_a_file(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from bough.cli.app import app

    model, file, out = tmp_path / "model.yaml", tmp_path / "torque.csv", tmp_path / "run.csv"
    model.write_text(str(SATELLITE))
    file.write_text("time,axis.tau\n0,0\n20,0\n20,0.001\n24,0.001\n24,0\n")
    done = CliRunner().invoke(app, ["run", str(model), "--stop", "100", "--input", str(file), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert bough.Result.from_csv(out)["axis.phi"][-1] == pytest.approx(angle_after(20, 24, 100, 1e-3), rel=CLOSED)
