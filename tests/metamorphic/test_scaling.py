"""Small loads move a linear system as large ones do, and the unit of a number decides nothing."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from metamorphic.cases import EVERY, SEEDS, Dict, Pulse, apart, kind_of, linear_response, panel, rectangle
from metamorphic.examples import NAMES, at_rest
from metamorphic.units import Units, scaled
from random_models import random_model, random_state

import bough

LOADS = [1e3, 1.0, 1e-3, 1e-4, 1e-6, 1e-9]
"""Amplitudes of a torque, N.m."""
SAME = 1e-5
"""Of the motion per load: what torques from 1e3 to 1e-9 N.m may differ by at the standard tolerance, 1e-6. Where the
error is measured against each coordinate's own size, all of them make the same steps and differ by rounding only."""
ADAPTIVE = ("dopri5", "rosenbrock2")


def shaft(damping: float = 0.0) -> Dict:
    """Two rotors on one axis with a spring between them: linear at any angle, one rigid motion and 1.5 rad/s."""
    hub = {"mass": 3.0, "inertia": [3.0, 3.0, 5.0, 0, 0, 0]}
    disk = {"mass": 1.0, "inertia": [1.0, 1.0, 2.0, 0, 0, 0]}
    axis = {"type": "revolute", "axis": [0, 0, 1]}
    spring = axis | {"name": "spring", "stiffness": 3.0, "damping": damping}
    bodies = [
        {"name": "hub", "parent": "ground", "hinge": axis | {"name": "axis"}, "rigid": hub},
        {"name": "disk", "parent": "hub", "hinge": spring, "rigid": disk},
    ]
    return {"bough": 1, "name": "shaft", "bodies": bodies}


def per_load(run: bough.Result, names: list[str], load: float) -> dict[str, Any]:
    return {name: (run[name] - run[name][0]) / load for name in names}


def moving(system: bough.Mechanism) -> list[str]:
    """Positions and speeds; of quaternions the vector part, which is what small rotations are linear in."""
    return [name for name in [*system.q_names, *system.u_names] if not name.endswith(".Q[4]")]


def first_order(run: Mapping[str, Any], names: list[str]) -> list[str]:
    """Variables whose kind takes part: what stays a thousand times below the others is of second order or zero."""
    size = {name: float(np.abs(run[name]).max()) for name in names}
    rates = {name: kind_of(name) in ("speed", "eta_dot") for name in names}
    largest = {rate: max(size[name] for name in names if rates[name] == rate) for rate in (False, True)}
    kinds = {kind_of(name) for name in names if size[name] > 1e-3 * largest[rates[name]]}
    return [name for name in names if kind_of(name) in kinds]


INPUTS: Mapping[str, Any] = {
    "constant": lambda load: load,
    "table": lambda load: rectangle(3.3, 4.7, load).table,
    "function": lambda load: lambda t: load * np.sin(2.0 * t) ** 2,
}


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("how", sorted(INPUTS))
def test_motion_of_a_linear_system_is_proportional_to_its_load(how: str, method: str) -> None:
    system = bough.Mechanism(shaft(damping=0.05))
    names = moving(system)
    loads = LOADS if method == "dopri5" or EVERY else LOADS[1::2]  # a method of order two takes thousands of steps
    runs = [bough.simulate(system, 6.0, {"axis.tau": INPUTS[how](a)}, 0.05, method=method) for a in loads]
    first = per_load(runs[0], names, loads[0])
    for load, run in zip(loads, runs, strict=True):
        assert max(apart(first, per_load(run, names, load), names).values()) < SAME, load


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("load", LOADS)
def test_motion_of_a_linear_system_is_that_of_its_exponential(load: float, method: str) -> None:
    """With a tolerance of 1e-9 per step, some 300 steps; 1e-6 for the method of order two, some 10,000."""
    system = bough.Mechanism(shaft())
    pulse = rectangle(3.3, 4.7, load)
    rtol, within = (1e-9, SAME) if method == "dopri5" else (1e-6, 1e-3)
    run = bough.simulate(system, 20.0, {"axis.tau": pulse.table}, 0.1, method=method, rtol=rtol)
    x = linear_response(system, "axis.tau", pulse, 20.0)
    found = np.array([run[name][-1] for name in [*system.q_names, *system.u_names]])
    assert np.abs(found - x).max() < within * np.abs(x).max()


@pytest.mark.parametrize("amplitude", [1e-3, 1e-6, 1e-9])
def test_small_load_on_a_flexible_satellite_gives_the_linear_response(amplitude: float) -> None:
    """Angles of 1e-4 rad and less: what is not linear is of the order of their square."""
    system = bough.Mechanism(panel("revolute"))
    pulse = rectangle(1.0, 3.0, amplitude)
    run = bough.simulate(system, 10.0, {"axis.tau": pulse.table}, 0.1, rtol=1e-8)
    x = linear_response(system, "axis.tau", pulse, 10.0)
    for i, name in enumerate([*system.q_names, *system.u_names]):
        assert run[name][-1] == pytest.approx(x[i], abs=SAME * np.abs(run[name]).max()), name


def test_given_absolute_tolerance_is_kept() -> None:
    """`atol` is what a user accepts as error, per position: motions below it are free to be wrong, not above."""
    system = bough.Mechanism(shaft())
    pulse = rectangle(3.3, 4.7, 1.0)
    x = linear_response(system, "axis.tau", pulse, 20.0)
    errors = []
    for atol in (1e-5, 1e-7, 1e-9):
        run = bough.simulate(system, 20.0, {"axis.tau": pulse.table}, 0.1, rtol=1e-12, atol=atol)
        found = np.array([run[name][-1] for name in [*system.q_names, *system.u_names]])
        errors.append(np.abs(found - x).max())
        assert errors[-1] < 1e3 * atol, "some hundred steps, a hundred times as much for speeds"
    assert errors[0] > errors[1] > errors[2], "a closer tolerance gives a closer result"


# ---- size


def cantilever(length: float, thickness: float, young: float, rho: float) -> Dict:
    """A strip on the ground, ten times as wide as thick, with a force across its tip."""
    section = {"shape": "rectangle", "width": 10.0 * thickness, "height": thickness}
    beam = {
        "length": length,
        "elements": 8,
        "section": section,
        "material": {"E": young, "nu": 0.3, "rho": rho},
        "modes": {"bending_y": 3},
        "damping": 0.01,
    }
    bodies = [{"name": "strip", "parent": "ground", "hinge": {"type": "fixed"}, "beam": beam}]
    return {"bough": 1, "name": "strip", "bodies": bodies, "inputs": ["strip.tip.force"], "outputs": ["strip.tip"]}


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize(
    ("length", "thickness"),
    [(100e-6, 1e-6), (1e-3, 10e-6), (1.0, 1e-2), (100.0, 1.0)],
    ids=["100um", "1mm", "1m", "100m"],
)
def test_cantilever_of_any_size_swings_as_its_modes_say(length: float, thickness: float, method: str) -> None:
    """Silicon of 100 um or a boom of 100 m: a force that bends it by a thousandth of its length, for half a period.

    The deflection is linear in the modes, and with clamped modes of one direction nothing else is in the equations but
    terms of third order in the deflection: 1e-6. Tolerance 1e-9 per step over some 40 periods of the third mode.
    """
    young, rho = 160e9, 2330.0
    system = bough.Mechanism(cantilever(length, thickness, young, rho))
    stiffness = 3.0 * young * (10.0 * thickness**4 / 12.0) / length**3
    omega = 1.875104**2 * np.sqrt(young * thickness**2 / (12.0 * rho)) / length**2
    period = 2.0 * np.pi / omega
    pulse = rectangle(1.1 * period, 1.6 * period, 1e-3 * length * stiffness)
    rtol, within = (1e-9, SAME) if method == "dopri5" else (1e-6, 2e-3)
    name = "strip.tip.force[3]"
    run = bough.simulate(system, 3 * period, {name: pulse.table}, period / 50, method=method, rtol=rtol)
    x = linear_response(system, name, pulse, 3 * period)
    for i, mode in enumerate(system.q_names):
        assert run[mode][-1] == pytest.approx(x[i], abs=within * np.abs(run[system.q_names[0]]).max()), mode
    assert np.abs(run["strip.tip.r[3]"]).max() > 5e-4 * length


SYSTEMS = {
    "mm": Units(length=1e3),
    "um": Units(length=1e6),
    "km, t, h": Units(1e-3, 1e-3, 1.0 / 3600.0),
    "mm, t, s": Units(1e3, 1e-3, 1.0),
    "ug, us": Units(1.0, 1e9, 1e6),
    "all by 1e-6": Units(1e-6, 1e-6, 1e-6),
}


@functools.cache
def in_units(seed: int, unit: str) -> tuple[bough.Mechanism, bough.Result]:
    """A run of 0.4 s of a random tree, with the torques and loads of the seed, described in some units."""
    units = SYSTEMS.get(unit, Units())
    model = random_model(seed, n_bodies=3)
    system = bough.Mechanism(scaled(model, units))
    q, u, tau = random_state(system, seed, deflection=0.1)
    q *= [units.of(name) for name in system.q_names]
    u *= [units.of(name) for name in system.u_names]
    inputs = [v.name for v in system.variables if v.causality == "input"]
    rng = np.random.default_rng([seed, 5])
    values = {name: float(rng.normal()) * units.of(name) for name in inputs}
    span = 0.4 * units.time
    run = bough.simulate(system, span, values, span / 10, rtol=1e-9, initial=(q, u))
    return system, run


@pytest.mark.parametrize("unit", sorted(SYSTEMS))
@pytest.mark.parametrize("seed", range(4 * SEEDS))
def test_random_tree_moves_alike_in_any_units(seed: int, unit: str) -> None:
    """Some hundred steps with an error of 1e-9 each; neighbouring motions part by less than ten times in 0.4 s."""
    units = SYSTEMS[unit]
    system, reference = in_units(seed, "SI")
    _, run = in_units(seed, unit)
    names = [*system.q_names, *system.u_names]
    names += [v.name for v in system.variables if v.name.rpartition(".")[2].startswith("r[")]
    back = {name: run[name] / units.of(name) for name in names}
    assert max(apart(reference, back, names).values()) < 1e-6


# ---- every example


# Loops are closed to 1e-12 m, and legs and angles begin at about 1: smaller motions than that are a matter of rounding.
# So it is with the crane's hook, which hangs metres above its origin.
ROUNDED = ("stewart_platform", "four_bar", "excavator", "crane")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ROUNDED])
def test_example_at_rest_answers_small_loads_in_proportion(name: str) -> None:
    """Without gravity, springs and start values, a pulse on each input in turn; loads a thousand times smaller give
    motions a thousand times smaller. What is not linear is of the order of the larger
    motion, 1e-8."""
    system, inputs, period = at_rest(name)
    names = moving(system)
    # Explicit steps on stiff stretch modes are held by stability: they carry a jitter of 75 times the tolerance. The
    # twist of the flyer's panels is a hundredth of their bending, and a mode is resolved to a tenth of the largest.
    rtol = {"spin_up": 1e-8, "free_flyer": 1e-7}.get(name, 1e-6)
    for number, (key, load) in enumerate(inputs.items()):
        if number >= 2 * SEEDS:
            break
        pulse = Pulse(period * np.array([0.0, 0.3, 0.3, 0.9, 0.9]), load * np.array([0.0, 0.0, 1.0, 0.5, 0.0]))
        runs = {
            a: per_load(
                bough.simulate(system, 2 * period, {key: pulse.scaled(a).table}, period / 20, rtol=rtol), names, a
            )
            for a in (1.0, 1e-3, 1e-6)
        }
        for smaller in (1e-3, 1e-6):
            gaps = apart(runs[1.0], runs[smaller], first_order(runs[1.0], names))
            assert max(gaps.values()) < SAME, (key, smaller)
