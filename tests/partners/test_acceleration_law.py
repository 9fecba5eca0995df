"""The law of the patent: accelerations that the engine computes are compared with the desired ones."""

from __future__ import annotations

import numpy as np
import pytest
from partners.built import at_work
from partners.loop import MOVE, SLEW, law, slew
from partners.test_schedule import pendulum

LAW = {"law": "acceleration"}


def test_claimed_law_leaves_at_most_five_millimetres_after_the_move() -> None:
    t, away, _, _ = slew(law(at_work("model-controller", **SLEW, **LAW), "tau"))
    assert away[t >= MOVE].max() < 5e-3 and away[-1] < 3e-4


def test_payload_that_differs_leaves_no_lasting_offset() -> None:
    """On the arm, and where the weight works against the hinge."""
    _, away, _, _ = slew(law(at_work("model-controller", **SLEW, **LAW), "tau"), payload=1.1, stop=5.0)
    assert away[-1] < 3e-4
    phi, _ = pendulum(1.1, 8.0, **LAW)
    assert abs(phi[-1] - 0.3) < 1e-4  # and falling, by e each second
    without, _ = pendulum(1.1, 8.0, integral=0.0, **LAW)
    assert abs(without[-1] - 0.3) > 5e-3


def test_both_laws_agree_near_the_desired_motion() -> None:
    """The way back that the desired accelerations ask for is that of the state feedback, to first order."""
    hold = {**SLEW, "phi_end": SLEW["phi_start"]}
    near = np.array(SLEW["phi_start"]) + [1e-5, -2e-5]
    changes = []
    for options in ({}, {**LAW, "integral": 0.0}):
        there, off = (at_work("model-controller", **hold, **options) for _ in range(2))
        there.set(phi=SLEW["phi_start"], w=[0.0, 0.0])
        off.set(phi=near, w=[1e-5, 0.0])
        changes.append(np.array(off["tau"]) - there["tau"])
    assert np.abs(changes[0]).max() > 1e-4
    assert changes[1] == pytest.approx(changes[0], rel=1e-3, abs=1e-7)


def test_desired_motion_of_a_mode_comes_in() -> None:
    """A deflection that is asked for moves the torque, by the gain of the loop."""
    calm, asked = (at_work("model-controller", integral=0.0, **SLEW, **LAW) for _ in range(2))
    for each in (calm, asked):
        each.set(phi=SLEW["phi_start"], w=[0.0, 0.0])
    asked.set(eta_cmd=[1e-3, 0, 0, 0, 0, 0])
    assert np.abs(np.array(asked["tau"]) - calm["tau"]).max() > 1e-4
    asked.set(eta_cmd=[0.0] * 6, eta_ddot_cmd=[1.0, 0, 0, 0, 0, 0])
    assert np.abs(np.array(asked["tau"]) - calm["tau"]).max() > 1e-6
