"""The motor against closed forms: each tolerance is rounding, for steps are exact while inputs are constant."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from partners.built import AtWork, at_work, instance
from scipy.integrate import solve_ivp

PLAIN = {
    "Ka": 2.0,
    "u_max": 100.0,
    "R": 0.5,
    "L": 0.002,
    "Kt": 0.06,
    "Kb": 0.05,
    "N": 10.0,
    "eta": 0.8,
    "i_max": 1000.0,
}


def test_current_is_one_less_the_exponential_from_the_shortest_to_the_longest_step() -> None:
    """A time constant of a second and an aim of 1 A: i = 1 - exp(-h)."""
    for h in (1e-12, 1e-3, 0.0625, 0.0626, 0.5, 1.0, 7.3, 39.9, 41.0, 1e9):
        motor = at_work("motor", **{**PLAIN, "R": 1.0, "L": 1.0, "Ka": 1.0})
        motor.set(u=[1.0])
        motor.step(h)
        assert motor["i"] == pytest.approx([-math.expm1(-h)], rel=5e-15, abs=0.0)


@pytest.mark.parametrize("h", [1e-4, 3.7e-3, 0.1])
def test_current_of_a_voltage_step_is_the_exponential_of_R_and_L(fmi: str, h: float, tmp_path: Path) -> None:
    with instance(tmp_path, "motor", fmi, **PLAIN) as motor:
        motor.initialize({"u": 3.0, "w": 4.0})
        aim = (2.0 * 3.0 - 0.05 * 10.0 * 4.0) / 0.5
        for _ in range(20):
            assert motor.step(h) == 0
            i, tau, v, power, armature = motor.get(["i", "tau", "v", "power", "armature"])
            expected = aim * -math.expm1(-motor.time * 0.5 / 0.002)
            assert i == pytest.approx(expected, rel=1e-13)
            assert tau == pytest.approx(10.0 * 0.8 * 0.06 * i, rel=1e-15)
            assert v == 6.0 and power == pytest.approx(4.0 * tau, rel=1e-15) and armature == 2e-5 * 100.0


def test_without_inductance_the_current_is_there_at_once(fmi: str, tmp_path: Path) -> None:
    with instance(tmp_path, "motor", fmi, **{**PLAIN, "L": 0.0}) as motor:
        motor.initialize({"u": 3.0, "w": 4.0})
        assert motor.get(["i"])[0] == pytest.approx(8.0, rel=1e-15)
        motor.set({"u": 1.0})
        assert motor.get(["i", "v"]) == pytest.approx([0.0, 2.0], abs=1e-15)


def test_steady_speed_under_load_is_that_of_the_motor_characteristic(fmi: str, tmp_path: Path) -> None:
    """N eta Kt i = load and Ka u = R i + Kb N w; the load's inertia is stepped by the master."""
    load, J, h = 1.5, 0.02, 2e-3
    with instance(tmp_path, "motor", fmi, **{**PLAIN, "L": 1e-4}) as motor:
        motor.initialize({"u": 5.0})
        w = 0.0
        for _ in range(3000):
            motor.set({"w": w})
            assert motor.step(h) == 0
            w += h * (motor.get(["tau"])[0] - load) / J
        i = load / (10.0 * 0.8 * 0.06)
        assert w == pytest.approx((2.0 * 5.0 - 0.5 * i) / (0.05 * 10.0), rel=1e-9)


def test_power_balances_copper_field_and_shaft() -> None:
    """v i = R i^2 + d(L i^2/2)/dt + Kb N w i, and the shaft has eta Kt/Kb of the last; integrated over a step."""
    motor = at_work("motor", **PLAIN)
    motor.set(u=[3.0], w=[4.0])
    h, n, total = 2e-6, 2000, np.zeros(3)
    rows = []
    for _ in range(n + 1):
        i, v = motor["i"][0], motor["v"][0]
        rows.append((v * i, 0.5 * i * i, 0.05 * 10.0 * 4.0 * i, motor["power"][0]))
        motor.step(motor.time + h)
    total = np.trapezoid(np.array(rows), dx=h, axis=0)
    field = 0.5 * 0.002 * (rows[-1][1] / 0.5 - rows[0][1] / 0.5)
    assert total[0] == pytest.approx(total[1] + field + total[2], rel=1e-6)  # trapezoidal rule: (h R/L)^2/12
    assert total[3] == pytest.approx(total[2] * 0.8 * 0.06 / 0.05, rel=1e-12)


def integrated(u: float, w: float, i0: float, t: float, p: dict[str, float]) -> float:
    """Current by a general integrator; the limiter as a steep feedback instead of a case distinction."""

    def rate(_: float, i: np.ndarray) -> np.ndarray:
        v = np.clip(p["Ka"] * u, -p["u_max"], p["u_max"])
        over = np.maximum(i - p["i_max"], 0.0) + np.minimum(i + p["i_max"], 0.0)
        v = np.clip(v - 1e6 * over, -p["u_max"], p["u_max"])
        out: np.ndarray = (v - p["R"] * i - p["Kb"] * p["N"] * w) / p["L"]
        return out

    with np.errstate(divide="ignore"):  # where the current stands still Radau divides by the step's change
        return float(solve_ivp(rate, (0.0, t), [i0], method="Radau", rtol=1e-9, atol=1e-9).y[0, -1])


def with_current(i0: float, u: float, w: float) -> AtWork:
    """A motor with the current i0, A, which its amplifier has brought about before its limits were set."""
    motor = at_work("motor", **PLAIN)
    motor.set(u=[i0 * PLAIN["R"] / PLAIN["Ka"]])
    motor.step(1.0)  # 250 time constants
    assert motor["i"] == pytest.approx([i0], rel=1e-15)
    motor.set(u_max=[24.0], i_max=[10.0], u=[u], w=[w])
    return motor


@pytest.mark.parametrize(
    "u, w, i0",
    [(30.0, 0.0, 0.0), (-30.0, 2.0, 0.0), (0.0, 60.0, 0.0), (0.0, -60.0, 3.0), (5.0, 0.0, 18.0), (5.0, 0.0, -18.0),
     (30.0, -60.0, -18.0), (1.0, 1.0, 2.0), (2.0, -60.0, 25.0)],
)  # fmt: skip
def test_limits_of_voltage_and_current_equal_an_integration_of_the_limiter(u: float, w: float, i0: float) -> None:
    p = {**PLAIN, "u_max": 24.0, "i_max": 10.0}
    for t in (1e-4, 1e-3, 3e-3, 0.05):
        motor = with_current(i0, u, w)
        motor.step(motor.time + t)
        # the steep feedback lets the current past the limit by 1e-6 of the voltage
        assert motor["i"] == pytest.approx([integrated(u, w, i0, t, p)], abs=1e-4)
        assert abs(motor["v"][0]) <= 24.0 + 1e-12


def test_one_long_step_equals_many_short_ones_through_the_limits() -> None:
    for u, w, i0 in ((30.0, 0.0, 0.0), (0.0, -60.0, 0.0), (5.0, 0.0, 18.0), (30.0, -60.0, -18.0)):
        ends = []
        for n in (1, 7, 1000):
            motor = with_current(i0, u, w)
            for k in range(n):
                motor.step(1.0 + 0.004 * (k + 1) / n)
            ends.append(motor["i"][0])
        assert ends == pytest.approx([ends[0]] * 3, rel=1e-12)


def test_motor_with_inductance_does_not_feed_inputs_through_and_stays_so(fmi: str, tmp_path: Path) -> None:
    with instance(tmp_path, "motor", fmi) as motor:
        motor.initialize({"u": 5.0})
        assert motor.step(1e-3) == 0
        before = motor.get(["tau", "i"])
        motor.set({"u": -5.0, "w": 3.0})
        assert (motor.get(["tau", "i"]) == before).all()
        motor.must("Reset")
        assert motor.try_set({"L": 0.0}) == 2 and "'L'" in motor.last
