"""Couplings in motion, locks, flexible links and contradictions in mechanisms with loops."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from run.test_loops import drift, four_bar, link, states
from small_models import LINKAGE

import bough
from bough.errors import SimulationError

Dict = dict[str, Any]


def geared(ratio: float) -> dict[str, object]:
    """Two wheels on fixed axes, 0.2 and 3 kg.m2, the first turning `ratio` times as fast."""
    wheel = {"mass": 1.0, "inertia": [1.0, 1.0, 0.2, 0, 0, 0]}
    drum = {"mass": 5.0, "inertia": [2.0, 2.0, 3.0, 0, 0, 0]}
    return {
        "bough": 1,
        "name": "geared",
        "bodies": [
            {"name": name, "parent": "ground", "hinge": {"name": f"{name}_h", "type": "revolute", "axis": [0, 0, 1]}}
            | {"rigid": body}
            for name, body in (("motor", wheel), ("drum", drum))
        ],
        "couplings": [{"name": "gear", "of": {"motor_h.phi": 1, "drum_h.phi": -ratio}, "offset": 0.0}],
    }


def test_a_gear_makes_one_wheel_of_two() -> None:
    """Inertia seen at the motor: 0.2 + 3/n^2; the gear's multiplier is the torque that the drum's share takes."""
    n, torque = 5.0, 1.4
    system = bough.Mechanism(geared(n))
    whole = 0.2 + 3.0 / n**2
    udot = system.forward_dynamics([0, 0], [0, 0], [torque, 0])
    assert np.allclose(udot, [torque / whole, torque / whole / n], rtol=1e-13)
    assert np.isclose(
        system.reactions([0, 0], [0, 0], [torque, 0])["gear"][0], -torque * 3.0 / n**2 / whole, rtol=1e-12
    )
    run = bough.simulate(system, 2.0, {"motor_h.tau": torque}, step=0.1)
    assert np.allclose(run["motor_h.phi"], 0.5 * torque / whole * run.t**2, rtol=1e-9)
    assert np.abs(run["motor_h.phi"] - n * run["drum_h.phi"]).max() < 1e-9


def test_locking_a_hinge_of_a_loop_stops_all_of_it_and_keeps_it_closed() -> None:
    """One freedom: when the crank stands, everything does, at once."""
    system = bough.Mechanism(four_bar())
    run = bough.Run(four_bar())
    run.step(0.4)
    assert abs(run["rocker_h.w"]) > 0.1
    run.set("crank_h.locked", True)
    run.step(1e-3)
    assert max(abs(run[f"{name}_h.w"]) for name in ("crank", "coupler", "rocker")) < 1e-9
    q = [run[name] for name in system.q_names]
    assert max(max(vars(e).values()) for e in system.closure_error(q, np.zeros(3)).values()) < 1e-9


def test_a_four_bar_with_a_coupler_that_bends_keeps_its_energy_and_stays_closed() -> None:
    model = four_bar()
    model["bodies"][1] = {
        "name": "coupler",
        "parent": "crank",
        "at": "tip",
        "hinge": {"name": "coupler_h", "type": "revolute", "axis": [0, 0, 1]},
        "beam": {
            "length": 2.0,
            "elements": 8,
            "section": {"shape": "rectangle", "width": 0.01, "height": 0.03},
            "material": {"E": 70e9, "nu": 0.33, "rho": 2700},
            "modes": {"boundary": "cantilever", "bending_y": 0, "bending_z": 2, "torsion": 0, "axial": 0},
        },
    }
    system = bough.Mechanism(model)
    run = bough.simulate(system, 1.0, step=0.02, rtol=1e-10)
    q, u = states(system, run)
    assert drift(system, q, u) < 1e-9
    energy = np.array([sum(system.energy(a, b)) for a, b in zip(q, u, strict=True)])
    assert np.ptp(energy) < 1e-6 * np.ptp([system.energy(a, b)[1] for a, b in zip(q, u, strict=True)])
    assert np.abs(run["coupler.eta[1]"]).max() > 1e-6  # it does bend


def test_what_contradicts_is_refused_by_name_not_answered() -> None:
    """A crank that is driven while a second loop holds it fast: no accelerations can do both."""
    model = four_bar()
    model["bodies"][0] = link("crank", "ground", "origin", 1.0, initial={"phi": 1.0}, drive="motion")
    place = [float(np.cos(1.0)), float(np.sin(1.0)), 0.0]
    model["loops"].append(
        {
            "name": "clamp",
            "type": "spherical",
            "between": ["crank.tip", "ground.origin"],
            "frames": [{}, {"position": place}],
        }
    )
    system = bough.Mechanism(model)
    q, u = system.initial_state()
    assert np.isfinite(system.forward_dynamics(q, u, np.zeros(3))).all()
    with pytest.raises(SimulationError, match="'clamp' cannot be kept closed: 1 m/s2"):
        system.forward_dynamics(q, u, np.zeros(3), motion=[1.0, 0, 0])


def stiff_linkage() -> Dict:
    """The linkage with a steel coupler that also stretches: its fastest mode makes explicit steps short."""
    model = copy.deepcopy(LINKAGE)
    model["bodies"][1]["beam"] |= {
        "material": {"E": 2.1e11, "nu": 0.3, "rho": 7800},
        "modes": {"bending_y": 1, "bending_z": 2, "axial": 1},
        "damping": 0.02,
    }
    return model


@pytest.mark.parametrize("method", ["radau5", "auto"])
def test_implicit_stages_take_loops(method: str) -> None:
    """Multipliers of every stage: the motion of tight explicit steps, closed in every row, with a fifth of the work."""
    system = bough.Mechanism(stiff_linkage())
    runs = [
        bough.simulate(system, stop=0.5, step=0.013, inputs={"motor.tau": 1.0}, method=m, rtol=rtol)
        for m, rtol in (("dopri5", 1e-9), ("dopri5", 1e-4), (method, 1e-4))
    ]
    exact, explicit, implicit = runs
    hinges = [n for n in system.q_names if ".phi" in n]
    assert max(np.abs(implicit[n] - exact[n]).max() for n in hinges) < 1e-6
    assert implicit.statistics["evaluations"] < 0.25 * explicit.statistics["evaluations"]
    assert drift(system, *states(system, implicit)) < 1e-9
    assert np.ptp(exact["drive.phi"]) > 0.5


def test_radau5_with_loops_converges_as_its_tolerance() -> None:
    system = bough.Mechanism(four_bar())
    ends = [
        bough.simulate(system, stop=1.0, step=0.5, method="radau5", rtol=rtol)["crank_h.phi"][-1]
        for rtol in (1e-4, 1e-6, 1e-8, 1e-11)
    ]
    errors = np.abs(np.array(ends[:3]) - ends[3])
    assert errors[0] < 1e-4 and errors[1] < 1e-6 and errors[2] < 1e-8 and errors[0] > 30 * errors[1] > 900 * errors[2]
