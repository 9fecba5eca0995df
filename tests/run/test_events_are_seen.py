"""No event of friction, limits and gears is missed, whatever the step, the size of the mechanism and the time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import bough

Dict = dict[str, Any]


def slide(mass: float = 1.0, gravity: float = 0.0, **hinge: Any) -> Dict:
    """A block on a rail along x."""
    return {
        "bough": 1,
        "name": "slide",
        "gravity": [gravity, 0, 0],
        "bodies": [
            {
                "name": "block",
                "parent": "ground",
                "hinge": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0], **hinge},
                "rigid": {"mass": mass},
            }
        ],
    }


@pytest.mark.parametrize("over", [0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("method", ["dopri5", "radau5", "auto"])
def test_a_ceiling_is_met_however_long_the_step(method: str, over: float) -> None:
    """Thrown up, a block flies a parabola that any step is exact for; it would turn a little beyond the stop."""
    g, v, e, stop = 9.81, 3.0, 0.5, 2.0
    height = v**2 / (2 * g) - over
    model = slide(gravity=-g, initial={"v": v}, limits={"upper": height, "restitution": e})
    hit = math.sqrt(2 * g * over)  # speed at the stop
    left = stop - (v - hit) / g
    expected = height - e * hit * left - 0.5 * g * left**2
    run = bough.simulate(model, stop=stop, step=stop, method=method)
    assert run["rail.s"][-1] == pytest.approx(expected, abs=1e-9)


def test_play_is_crossed_and_met_in_one_step() -> None:
    """In the play of a gear rotor and slide fly parabolas; a flank that is met for a part of a long step counts."""
    gear = {"ratio": -50, "inertia": 1e-4, "stiffness": 1e3, "damping": 1.0, "backlash": 1e-2}
    model = slide(mass=2.0, gravity=1.0, limits={"lower": -0.5, "upper": 0.05, "stiffness": 1e3}, gear=gear)
    fine = bough.simulate(model, stop=2.0, step=0.01, rtol=1e-10)
    for rtol in (1e-5, 1e-6, 1e-7):
        run = bough.simulate(model, stop=2.0, step=0.01, rtol=rtol)
        assert abs(run["rail.s"] - fine["rail.s"]).max() < 10 * rtol


def test_a_force_that_passes_static_friction_within_a_step_lets_slip() -> None:
    """A mass on a spring pulls a block that friction holds but for the last per mille of each swing.

    Steps of a fiftieth of the period would look at the force beside its peaks.
    """
    k, size, omega = 100.0, 0.1, 10.0
    model = slide(friction={"coulomb": 0.999 * k * size})
    swing = {"name": "swing", "type": "prismatic", "axis": [1, 0, 0], "stiffness": k, "initial": {"v": -size * omega}}
    model["bodies"].append({"name": "mass", "parent": "block", "hinge": swing, "rigid": {"mass": 1.0}})
    fine = bough.simulate(model, stop=0.3, step=0.01, rtol=1e-11, max_step=1e-3)
    first = bough.simulate(model, stop=0.3, step=0.3, method="rk4", solver_step=0.0125)
    assert abs(fine["rail.s"][-1]) > 1e-8
    assert first["rail.s"][-1] == pytest.approx(fine["rail.s"][-1], rel=0.05)


@pytest.mark.parametrize("method", ["rk4", "rosenbrock2"])
def test_fixed_steps_cross_the_peak_of_friction_in_parts(method: str) -> None:
    """At 1 m/s^2 a Stribeck speed of 1 cm/s is a matter of 10 ms; steps of 100 ms saw it by chance (5e-4 m off)."""
    model = slide(friction={"coulomb": 1.0, "static": 3.0, "stribeck": 0.01}, initial={"v": 1.0})
    fine = bough.simulate(model, stop=2.0, step=0.1, rtol=1e-11)
    run = bough.simulate(model, stop=2.0, step=0.1, method=method, solver_step=0.1)
    assert run["rail.s"][-1] == pytest.approx(fine["rail.s"][-1], abs=2e-6)
    assert run.statistics["steps"] < 40
    assert run.t == pytest.approx(np.arange(21) * 0.1, abs=1e-15)


def scaled(length: float, mass: float, time: float) -> tuple[np.ndarray, float]:
    """Stick-slip against a stop in other units, and the number of steps; positions over `length`."""
    force = mass * length / time**2
    model = slide(
        mass=mass,
        friction={"coulomb": 0.3 * force, "static": 0.5 * force, "stribeck": 0.01 * length / time},
        stiffness=force / length,
        initial={"s": 1.3 * length, "v": -0.2 * length / time},
        limits={"lower": -0.8 * length, "restitution": 0.6},
    )
    run = bough.simulate(model, stop=12 * time, step=0.1 * time)
    assert run["rail.sticking"][-1] == 1.0
    return run["rail.s"] / length, run.statistics["steps"]


def test_mechanisms_of_any_size_stick_slip_and_rebound_alike() -> None:
    """1e-12 m/s is fast for what moves by nanometres: nothing is at rest or touches by an absolute measure."""
    motion, steps = scaled(1.0, 1.0, 1.0)
    for units in ((1e-6, 1e-15, 1e-6), (1e-9, 1e-20, 1e3), (1e-6, 1e-9, 1e6), (1e6, 1e9, 1.0)):
        other, count = scaled(*units)
        assert abs(other - motion).max() < 1e-9, units
        assert count == steps


@pytest.mark.parametrize("start", [0.0, 1e7])
def test_a_ball_bounces_at_any_time_of_day(start: float) -> None:
    """At 1e7 s time itself is known to 2e-9 s only: a stop counts as met where time cannot say it nearer."""
    g, e = 9.81, 0.8
    model = slide(gravity=-g, initial={"s": 1.0}, limits={"lower": 0.0, "restitution": e})
    run = bough.simulate(model, start=start, stop=start + 6.0, step=0.01)
    assert run["rail.s"].min() > -1e-7
    assert run["rail.contact"][-1] == -1.0
    height = e**2  # of the first rebound, at its top
    top = math.sqrt(2 / g) + e * math.sqrt(2 / g)
    near = abs(run.t - start - top) < 0.06
    assert run["rail.s"][near].max() == pytest.approx(height, abs=2e-4)


def ball(velocity: list[float], gravity: float, *forces: Dict) -> Dict:
    """A ball of 1 kg that flies freely from near the origin."""
    hinge = {"name": "flight", "type": "free", "initial": {"s": [0.0, 0.0, 1e-3], "v": velocity}}
    body = {
        "name": "ball",
        "parent": "ground",
        "hinge": hinge,
        "rigid": {"mass": 1.0, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]},
    }
    return {"bough": 1, "name": "ball", "gravity": [0, 0, -gravity], "bodies": [body], "forces": list(forces)}


def on_ceiling(height: float) -> Dict:
    frames = [{}, {"position": [0, 0, height + 0.01]}]
    ends = ["ball.origin", "ground.origin"]
    return {
        "type": "contact",
        "between": ends,
        "normal": [0, 0, -1],
        "radius": 0.01,
        "stiffness": 1e4,
        "frames": frames,
    }


def on_rope(height: float) -> Dict:
    ends = ["ball.origin", "ground.origin"]
    return {"type": "spring", "between": ends, "stiffness": 1e4, "length": height, "only": "tension"}


@pytest.mark.parametrize("over", [0.1, 1e-3])
@pytest.mark.parametrize("law", [on_ceiling, on_rope])
@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_a_contact_or_a_rope_is_met_however_long_the_step(method: str, law: Any, over: float) -> None:
    """Beyond the height x'' = -g - (k/m) x: the ball comes back with the speed it came with."""
    g, v, k, stop = 9.81, 3.0, 1e4, 0.42
    height = 1e-3 + v**2 / (2 * g) - over
    hit, w = math.sqrt(2 * g * over), math.sqrt(k)
    inside = 2 * math.atan(w * hit / g) / w  # from x' = hit to x' = -hit about the middle x = -g/w^2
    left = stop - (v - hit) / g - inside
    run = bough.simulate(ball([0, 0, v], g, law(height)), stop=stop, step=stop, method=method)
    assert run["flight.s[3]"][-1] == pytest.approx(height - hit * left - 0.5 * g * left**2, abs=5e-4)


def test_spheres_that_fly_past_each_other_touch() -> None:
    """The distance of two points in uniform motion has a kink for a long step; its square has not."""
    frames = [{}, {"position": [1.0, 0.01, 1e-3]}]
    ends = ["ball.origin", "ground.origin"]
    law = {"type": "contact", "between": ends, "radius": [0.01, 0.01], "stiffness": 1e5, "frames": frames}
    model = ball([1.0, 0, 0], 0.0, law)
    run, fine = bough.simulate(model, stop=2.0, step=2.0), bough.simulate(model, stop=2.0, rtol=1e-10, max_step=1e-3)
    assert fine["flight.v[2]"][-1] < -0.8  # thrown off
    for i in (1, 2, 3):
        assert run[f"flight.v[{i}]"][-1] == pytest.approx(fine[f"flight.v[{i}]"][-1], abs=1e-3)
