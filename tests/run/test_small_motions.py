"""The error of each coordinate is measured against its own motion: small motions have as many digits as large ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough

LOADS = 10.0 ** np.arange(3, -10, -3)
"""N.m: from 1e3 down to 1e-9."""


def boom(scale: float = 1.0, phi: float = 0.0) -> dict[str, Any]:
    """A satellite with a boom that bends in two modes; `scale` multiplies lengths, and masses with their cube.

    It starts at the angle phi.
    """
    length, mass = scale, scale**3
    nodes = [
        {"name": "root", "position": [0, 0, 0], "mass": mass},
        {"name": "middle", "position": [0.5 * length, 0, 0], "mass": mass},
        {"name": "tip", "position": [length, 0, 0], "mass": mass},
    ]
    modes = [
        [[0] * 6, [0, 0, 0.6 / scale, 0, 0.3, 0], [0, 0, 1.3 / scale, 0, 1.0, 0]],
        [[0] * 6, [0, 0, -1.0 / scale, 0, -0.9, 0], [0, 0, 4.0 / scale, 0, 1.0, 0]],
    ]
    return {
        "bough": 1,
        "name": "boom",
        "bodies": [
            {
                "name": "hub",
                "parent": "ground",
                "hinge": {"name": "axis", "type": "revolute", "axis": [0, 0, 1], "initial": {"phi": phi}},
                "rigid": {"mass": mass, "inertia": [5 * mass * scale**2] * 3 + [0, 0, 0]},
            },
            {
                "name": "arm",
                "parent": "hub",
                "hinge": {"type": "fixed"},
                "nodal": {
                    "attach": "root",
                    "nodes": nodes,
                    "modes": modes,
                    "stiffness": [50.0 * mass, 3000.0 * mass],
                    "damping": [0.002, 0.002],
                },
            },
        ],
    }


def moved(model: dict[str, Any], torque: float, **options: Any) -> dict[str, np.ndarray]:
    """Motion from the start position over the torque."""
    table = (np.array([0.0, 1.0, 1.0, 2.0, 2.0]), torque * np.array([0.0, 0, 1, 1, 0]))
    run = bough.simulate(model, 6.0, inputs={"axis.tau": table}, step=0.01, **options)
    names = ("axis.phi", "axis.w", "arm.eta[1]", "arm.eta[2]", "arm.eta_dot[1]", "arm.eta_dot[2]")
    return {name: (run[name] - run[name][0]) / torque for name in names}


@pytest.mark.parametrize("method, rtol", [("dopri5", 1e-6), ("rosenbrock2", 1e-5), ("radau5", 1e-6)])
def test_motion_is_in_proportion_to_a_small_load(method: str, rtol: float) -> None:
    """A load of 1e-3 N.m is small: terms of second order are below 1e-6 of the motion."""
    exact, reference = moved(boom(), 1e-3, rtol=1e-11), moved(boom(), 1e-3, method=method, rtol=rtol)
    for load in LOADS[2:]:
        run = moved(boom(), load, method=method, rtol=rtol)
        for name in exact:
            size = np.abs(exact[name]).max()
            assert np.abs(run[name] - reference[name]).max() < 1e-5 * size, (load, name)
            # Hundreds of steps add up, and a mode may err by a tenth of the largest one's tolerance.
            assert np.abs(run[name] - exact[name]).max() < 1e3 * rtol * size, (load, name)


def test_an_offset_does_not_hide_a_small_motion() -> None:
    """As far as rounding allows: a motion of 1e-7 rad about 0.7 rad has nine digits."""
    at_zero, elsewhere = moved(boom(), 1e-6), moved(boom(phi=0.7), 1e-6)
    for name, expected in at_zero.items():
        assert np.abs(elsewhere[name] - expected).max() < 1e-5 * np.abs(expected).max(), name


def test_a_load_from_1e3_to_1e_minus_9_gives_the_same_motion_of_a_rigid_body() -> None:
    model = boom()
    model["bodies"] = model["bodies"][:1]
    for load in LOADS:
        run = bough.simulate(model, 10.0, inputs={"axis.tau": ([0.0, 4.0, 4.0], load * np.array([1.0, 1, 0]))})
        assert run["axis.phi"][-1] / load == pytest.approx((8.0 + 4.0 * 6.0) / 5.0, rel=1e-5)
        assert run["axis.w"][-1] / load == pytest.approx(0.8, rel=1e-5)


@pytest.mark.parametrize("scale", [1e-6, 1e3])
def test_the_unit_of_length_does_not_matter(scale: float) -> None:
    """The same mechanism in another unit, its torque with the fifth power: the same angles, other lengths."""
    reference = moved(boom(), 1e-3)
    run = moved(boom(scale), 1e-3 * scale**5)
    unit = {name: scale if "eta" in name else 1.0 for name in reference}
    for name, expected in reference.items():
        found = run[name] * scale**5 / unit[name]
        assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max(), name


def test_a_loaded_arm_at_rest_stays_at_rest_without_an_effort() -> None:
    """Rounding is all that moves it: the noise of the rates is measured and not resolved."""
    model = boom()
    model["gravity"] = [0, -9.81, 0]
    model["bodies"][0]["hinge"] |= {"stiffness": 1e4, "damping": 1.0, "initial": {"phi": 0.0}, "rest": 0.0}
    system = bough.Mechanism(model)
    q, u = system.initial_state()
    for _ in range(20):  # Newton's steps with the stiffness of the start, down to rounding
        A = system.linearize(q, u, np.zeros(system.nu)).A
        q -= np.linalg.solve(A[system.nq :, : system.nq], system.forward_dynamics(q, u, np.zeros(system.nu)))
    run = bough.simulate(system, 10.0, initial=(q, u))
    assert run.statistics["steps"] < 5000
    assert np.abs(run["axis.phi"] - q[0]).max() < 1e-9


def test_an_absolute_tolerance_near_the_motion_is_reported() -> None:
    with pytest.warns(bough.ToleranceWarning, match=r"axis\.\w+ moves by .* absolute tolerance"):
        moved(boom(), 1e-7, atol=1e-8)


def test_an_absolute_tolerance_far_below_the_motion_is_not_reported() -> None:
    moved(boom(), 1.0, atol=1e-12)
