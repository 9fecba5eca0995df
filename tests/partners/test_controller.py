"""The controller against exact discrete-time solutions, and its samples against any communication step."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fmu.fmi import Instance
from partners.built import at_work, instance

Array = np.ndarray


def double_integrator(controller: Instance, h: float, stop: float, x: Array) -> Array:
    """Angle and speed of a mass of one, its torque held over communication steps: exact between them."""
    rows = [x]
    for k in range(round(stop / h)):
        controller.set({"phi": x[0], "w": x[1]})
        u = controller.get(["u"])[0]
        assert controller.step((k + 1) * h - controller.time) == 0
        x = np.array([x[0] + h * x[1] + 0.5 * h * h * u, x[1] + h * u])
        rows.append(x)
    return np.array(rows)


def test_pd_on_a_double_integrator_is_the_power_of_a_matrix(fmi: str, tmp_path: Path) -> None:
    """x+ = (A - B K) x with A = [1 h; 0 1], B = [h^2/2; h]: equal to rounding over 500 samples."""
    h, kp, kd = 0.01, 9.0, 5.0
    with instance(tmp_path, "controller", fmi, output="torque", kp=kp, kd=kd, sample=h, u_max=1e6) as c:
        c.initialize({"phi": 1.0, "w": 0.3})
        got = double_integrator(c, h, 5.0, np.array([1.0, 0.3]))
    closed = np.array([[1.0, h], [0.0, 1.0]]) - np.outer([0.5 * h * h, h], [kp, kd])
    expected = np.array([np.linalg.matrix_power(closed, k) @ [1.0, 0.3] for k in range(501)])
    assert np.abs(got - expected).max() < 1e-13


@pytest.mark.parametrize("parts", [1, 2, 7, 10])
def test_samples_are_multiples_of_the_sample_time_whatever_the_communication_step(parts: int, tmp_path: Path) -> None:
    """Inputs at the sample instants are the same, what is between them does not matter, and nothing drifts."""
    sample, n = 0.1, 40
    with instance(tmp_path, "controller", kp=3.0, ki=2.0, kd=0.5, sample=sample, u_max=50.0) as c:
        c.initialize({"phi": 0.2})
        seen, time = [], 0.0
        for k in range(n * parts):
            at_sample = k % parts == 0
            c.set({"phi": math.sin(0.3 * (k // parts)) if at_sample else 99.0, "w": 0.1 if at_sample else -5.0})
            if at_sample:
                seen.append(c.get(["u"])[0])
            assert c.get(["u"])[0] == seen[-1]  # held
            assert c.step(sample / parts, time) == 0
            time += sample / parts  # a sum, as many masters do it
    integral, expected = 0.0, []
    for k in range(n):
        e = -math.sin(0.3 * k)
        integral += 2.0 * sample * e
        expected.append(3.0 * e + 0.5 * -0.1 + integral)
    assert seen == pytest.approx(expected, abs=1e-12)


def test_communication_steps_longer_than_the_sample_time_hold_several_samples(tmp_path: Path) -> None:
    with instance(tmp_path, "controller", kp=0.0, ki=1.0, kd=0.0, sample=0.01) as c:
        c.initialize({"phi": -1.0})
        assert c.step(0.035) == 0  # samples at 0, 0.01, 0.02, 0.03
        assert c.get(["u"])[0] == pytest.approx(0.04, rel=1e-14)
        assert c.step(0.005) == 0  # at 0.04 a sample is due: it waits for inputs of its instant
        assert c.get(["u"])[0] == pytest.approx(0.04, rel=1e-14)
        c.set({"phi": -1.0})
        assert c.get(["u"])[0] == pytest.approx(0.05, rel=1e-14)
        c.set({"phi": 1.0})
        assert c.get(["u"])[0] == pytest.approx(0.03, rel=1e-14)


def test_many_steps_do_not_shift_the_samples() -> None:
    """A sum of 200000 steps of 0.1 ms is off by more than rounding; samples of 1 ms still fall on every tenth step."""
    c = at_work("controller", kp=0.0, ki=1.0, kd=0.0, sample=1e-3, u_max=1e6)
    c.set(phi=[-1.0])  # every sample adds to the integral
    t, count = 0.0, 0
    for k in range(200_000):
        before = c["u"]
        t += 1e-4
        c.step(t)
        changed = c["u"] != before
        count += changed
        assert changed == (k % 10 == 0 and k > 0)  # the sample at 0 was on show already
    assert count == 19_999 and t != 20.0


def test_integral_does_not_wind_up_at_the_limit(tmp_path: Path) -> None:
    """Held away from its goal for a second at the limit, the integral is what it was when the limit was met."""
    with instance(tmp_path, "controller", kp=1.0, ki=10.0, kd=0.0, sample=0.01, u_max=2.0) as c:
        c.initialize({"phi": -1.0})
        for _ in range(100):
            assert c.step(0.01) == 0
            assert -2.0 <= c.get(["u"])[0] <= 2.0
        # u = e + I reached 2 with I below 1; now the error changes its sign, and u leaves the limit at once
        c.set({"phi": 0.5})
        u = c.get(["u"])[0]
        assert -0.5 + 0.8 <= u <= -0.5 + 1.0


def test_encoder_rounds_to_counts(tmp_path: Path) -> None:
    counts = 360
    with instance(tmp_path, "controller", kp=1.0, kd=0.0, encoder=counts, sample=0.01, u_max=100.0) as c:
        c.initialize()
        degree = math.pi / 180.0
        for phi, whole in ((0.4, 0), (0.6, 1), (-0.4, 0), (-0.6, -1), (89.7, 90), (-1234.2, -1234)):
            c.set({"phi": phi * degree})
            assert c.get(["u", "e"]) == pytest.approx([-whole * degree] * 2, abs=1e-13)


def test_without_a_tachometer_the_speed_is_the_difference_of_counts(tmp_path: Path) -> None:
    with instance(tmp_path, "controller", kp=0.0, kd=1.0, tacho=0, encoder=1000, sample=0.01, u_max=1e6) as c:
        c.initialize({"w": 77.0})
        assert c.get(["u"])[0] == 0.0
        count = 2 * math.pi / 1000
        for k, turned in enumerate((0.0, 2.4, 2.6, -1.0)):
            c.set({"phi": turned * count})
            last = (0, 0, 2, 3)[k]
            assert c.get(["u"])[0] == pytest.approx(-(round(turned) - last) * count / 0.01, abs=1e-12)
            assert c.step(0.01) == 0


def test_built_in_move_begins_and_ends_at_rest_and_is_its_own_derivative() -> None:
    c = at_work("controller", phi_start=0.3, phi_end=-1.2, t_start=0.5, t_move=2.0, sample=1e-3)
    rows = []
    for k in range(3001):
        if k:
            c.step(k * 1e-3)
        c.set(phi=[0.0])
        rows.append([c[name][0] for name in ("phi_ref", "w_ref", "a_ref")])
    phi, w, a = np.array(rows).T
    assert (phi[:501] == 0.3).all() and phi[2500:] == pytest.approx(-1.2, abs=1e-15)
    assert np.abs(np.gradient(phi, 1e-3)[1:-1] - w[1:-1]).max() < 1e-5  # h^2/6 of the third derivative
    assert np.abs(np.gradient(w, 1e-3)[1:-1] - a[1:-1]).max() < 2e-2  # h/2 of the jump of jerk at both ends


def test_commands_feed_forward_and_the_built_in_move_add_up(tmp_path: Path) -> None:
    gains = {"kp": 2.0, "kd": 3.0, "kv": 5.0, "ka": 7.0, "u_max": 1e6, "phi_end": 1.0, "t_move": 2.0}
    with instance(tmp_path, "controller", **gains) as c:
        c.initialize()
        assert c.step(0.8) == 0
        inputs = {"phi_cmd": 0.1, "w_cmd": 0.2, "a_cmd": 0.3, "u_ff": 0.7, "phi": 0.05, "w": 0.06}
        c.set(inputs)
        x = 0.4
        r = np.array([x**3 * (10 - 15 * x + 6 * x * x), 15 * x * x * (1 - x) ** 2, 15 * x * (1 - x) * (1 - 2 * x)])
        r += [0.1, 0.2, 0.3]
        u, phi, w, a = c.get(["u", "phi_ref", "w_ref", "a_ref"])
        assert [phi, w, a] == pytest.approx(r, rel=1e-13)
        assert u == pytest.approx(2.0 * (r[0] - 0.05) + 3.0 * (r[1] - 0.06) + 5.0 * r[1] + 7.0 * r[2] + 0.7, rel=1e-13)
