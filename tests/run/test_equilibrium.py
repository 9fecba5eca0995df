"""Static equilibrium: closed forms of statics, and the identity that nothing accelerates."""

from __future__ import annotations

import copy
import importlib
from typing import Any

import numpy as np
import pytest
from random_models import random_loads, random_model, random_state
from scipy.optimize import brentq

import bough
from bough.mechanism import kernel

G = 9.81
E, RHO, LENGTH, SIDE = 70e9, 2700.0, 1.0, 0.02
AREA, INERTIA = SIDE**2, SIDE**4 / 12
SAG = -RHO * AREA * G * LENGTH**4 / (8 * E * INERTIA)
"""Of the tip of a horizontal cantilever, w L^4 / 8 E I, m: 1.4 mm."""
ROTATIONS = ("revolute", "universal", "spherical", "fixed")
FIDELITIES = pytest.mark.parametrize("fidelity", ["full", "ruthless"])


def cantilever(modes: dict[str, Any], **more: Any) -> dict[str, Any]:
    section = {"shape": "rectangle", "width": SIDE, "height": SIDE}
    material = {"E": E, "nu": 0.3, "rho": RHO}
    beam = {"length": LENGTH, "elements": 20, "section": section, "material": material, "modes": modes}
    body = {"name": "beam", "parent": "ground", "hinge": {"type": "fixed"}, "beam": beam}
    return {"bough": 1, "name": "cantilever", "bodies": [body], "outputs": ["beam.tip"], **more}


def pendulum(phi: float, **hinge: Any) -> dict[str, Any]:
    """Mass centre 0.5 m from the pivot; it hangs down at phi = pi / 2, under gravity along -z."""
    joint = {"name": "pivot", "type": "revolute", "axis": [0, 1, 0], "initial": {"phi": phi}, **hinge}
    rigid = {"mass": 2.0, "com": [0.5, 0, 0], "inertia": [0, 0.1, 0.1, 0, 0, 0]}
    body = {"name": "bob", "parent": "ground", "hinge": joint, "rigid": rigid}
    return {"bough": 1, "name": "pendulum", "gravity": [0, 0, -G], "bodies": [body]}


def tip(model: dict[str, Any], **arguments: Any) -> float:
    """Displacement of the tip along z, m."""
    system = bough.Mechanism(model)
    q, u = bough.equilibrium(system, **arguments)
    assert not u.any()
    return float(system.pose(q, "beam.tip")[0][2])


@FIDELITIES
@pytest.mark.parametrize(
    "modes", [{"boundary": "cantilever", "bending_y": 10}, {"boundary": "craig-bampton", "bending_y": 3}]
)
def test_a_cantilever_sags_by_its_weight_as_the_handbook_says(fidelity: str, modes: dict[str, Any]) -> None:
    sag = tip(cantilever(modes, gravity=[0, 0, -G], fidelity=fidelity))
    # What the modes left out would add is below 1e-5, and so is the square of the slope.
    assert sag == pytest.approx(SAG, rel=2e-5)


@FIDELITIES
def test_modes_that_turn_the_root_bring_in_the_moment_of_a_fixed_hinge_with_their_number(fidelity: str) -> None:
    pins = {"boundary": "pinned", "axis": [0, 1, 0]}
    sags = [tip(cantilever(pins | {"bending_y": n}, gravity=[0, 0, -G], fidelity=fidelity)) for n in (8, 16)]
    few, many = (sag / SAG - 1.0 for sag in sags)
    # They have no moment at the root, and it comes in with the first power.
    assert abs(few) < 0.2
    assert many / few == pytest.approx(0.5, abs=0.05)


@FIDELITIES
def test_a_force_at_the_tip_bends_a_cantilever_as_the_handbook_says(fidelity: str) -> None:
    model = cantilever({"boundary": "craig-bampton", "count": 0}, inputs=["beam.tip.force"], fidelity=fidelity)
    # F L^3 / 3 E I: static modes have it exactly; the square of the slope, 3e-6, is left.
    sag = tip(model, loads={"beam.tip.force": [0, 0, -1.0]})
    assert sag == pytest.approx(-(LENGTH**3) / (3 * E * INERTIA), rel=1e-5)


@pytest.mark.parametrize("phi", [0.0, 0.6, -1.5, 1.4, 3.0, -3.1, 4.7])
def test_a_pendulum_ends_up_hanging_wherever_it_starts(phi: float) -> None:
    q, u = bough.equilibrium(pendulum(phi), hinges="free")
    # The sine of a half turn of round-off.
    assert np.sin(q[0]) == pytest.approx(1.0, abs=1e-15)
    assert u.tolist() == [0.0]


def test_a_spring_and_a_torque_balance_the_weight() -> None:
    k, tau, rest = 5.0, 1.5, 0.2
    q, _ = bough.equilibrium(pendulum(0.0, stiffness=k, rest=rest), hinges="free", tau=[tau])
    # k (phi - rest) = tau + m g l cos(phi); Newton's last step leaves round-off.
    exact = brentq(lambda phi: k * (phi - rest) - tau - 2.0 * G * 0.5 * np.cos(phi), 0.0, np.pi / 2, xtol=1e-14)
    assert q[0] == pytest.approx(exact, abs=1e-12)


def test_hinges_stay_where_they_start_and_keep_their_speed_unless_they_are_free() -> None:
    model = pendulum(0.3)
    model["bodies"][0]["hinge"]["initial"]["w"] = 2.0
    q, u = bough.equilibrium(model)
    assert (q.tolist(), u.tolist()) == ([0.3], [2.0])
    model["bodies"][0]["hinge"] |= {"drive": "locked", "initial": {"phi": 0.3}}
    q, _ = bough.equilibrium(model, hinges="free")
    assert q.tolist() == [0.3]


@FIDELITIES
@pytest.mark.parametrize("seed", range(12))
def test_the_modes_of_random_trees_are_at_rest_under_any_load(seed: int, fidelity: str) -> None:
    model = random_model(seed) | {"fidelity": fidelity}
    system, loads = bough.Mechanism(model), random_loads(model, seed)
    start, _ = system.initial_state()
    q, u = bough.equilibrium(system, loads=loads)
    left = system.inverse_dynamics(q, 0 * u, 0 * u, loads=loads)
    modal = np.array([".eta_dot[" in name for name in system.u_names])
    # Forces are of order 10.
    assert abs(left[modal]).max(initial=0.0) < 1e-9
    hinges = np.array([".eta[" not in name for name in system.q_names])
    assert q[hinges] == pytest.approx(start[hinges], abs=1e-15)


def test_exact_derivatives_make_a_few_steps_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    # Digits double with each step. With a stiffness off by a third each step would bring half a digit, of twelve.
    monkeypatch.setattr(importlib.import_module("bough.mechanism.equilibrium"), "STEPS", 10)
    q, _ = bough.equilibrium(pendulum(1.0, stiffness=5.0), hinges="free")
    assert 5.0 * q[0] == pytest.approx(2.0 * G * 0.5 * np.cos(q[0]), abs=1e-12)
    model = random_model(3, kinds=("unclamped",))
    bough.equilibrium(model)


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_on_turning_hinges_find_where_nothing_accelerates(seed: int) -> None:
    system = bough.Mechanism(random_model(seed, hinge_types=ROTATIONS))
    q, u = bough.equilibrium(system, hinges="free")
    free = ~system._held
    assert abs(system.inverse_dynamics(q, u, 0 * u)[free]).max(initial=0.0) < 1e-7
    # It is a low one: further down than the start.
    assert system.energy(q, u)[1] <= system.energy(system.initial_state()[0], 0 * u)[1]


def test_a_run_that_starts_settled_does_not_ring() -> None:
    model = cantilever({"count": 6}, gravity=[0, 0, -G])
    system = bough.Mechanism(model)
    still = bough.equilibrium(system)
    ringing = bough.simulate(system, stop=0.2, step=1e-3)["beam.tip.r[3]"]
    calm = bough.simulate(system, stop=0.2, step=1e-3, rtol=1e-9, initial=still)["beam.tip.r[3]"]
    assert np.ptp(ringing) == pytest.approx(2 * abs(SAG), rel=0.1), "a load that comes at once doubles the deflection"
    # The solver goes to the limit of its stability and makes noise of a few hundred tolerances there, 1e-11 each.
    assert np.ptp(calm) < 2e-9


def test_where_there_is_no_equilibrium_the_hinge_that_falls_is_named() -> None:
    model = copy.deepcopy(pendulum(0.0))
    model["bodies"][0]["hinge"] = {"name": "rail", "type": "prismatic", "axis": [0, 0, 1]}
    with pytest.raises(
        bough.SimulationError, match=r"takes 19\.62 N at hinge 'rail' \(rail\.v\); give the hinge a spr"
    ):
        bough.equilibrium(model, hinges="free")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hinges": "loose"}, "hinges is 'loose'; expected 'held' or 'free'"),
        ({"q": [0.0, 0.0]}, r"q: expected an array of shape \(1,\), found \(2,\)"),
        ({"tau": 1.0}, r"tau: expected an array of shape \(1,\)"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(bough.BoughError, match=message):
        bough.equilibrium(pendulum(0.0), **arguments)


def test_an_equilibrium_needs_no_positive_mass_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forces and their derivatives decide: an inertia that is indefinite, or not there, changes the way only."""
    system = bough.Mechanism(cantilever({"boundary": "craig-bampton", "bending_y": 3}, gravity=[0, 0, -G]))
    expected, _ = bough.equilibrium(system)
    right = system.mass_matrix
    sign = np.diag((-1.0) ** np.arange(system.nu))

    def no_sweep(*_: Any, **__: Any) -> Any:
        raise AssertionError("forward dynamics")

    monkeypatch.setattr(system, "forward_dynamics", no_sweep)
    for wrong in (lambda q: -right(q), lambda q: sign @ right(q), lambda q: 0.0 * right(q)):
        monkeypatch.setattr(system, "mass_matrix", wrong)
        found, _ = bough.equilibrium(system)
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_derivatives_of_the_inverse_dynamics_are_those_of_differences(seed: int) -> None:
    """Along q by central differences, whose error is some 1e-9 of the forces; along udot it is the mass matrix."""
    model = random_model(seed, 3)
    system = bough.Mechanism(model)
    q, u, udot = random_state(system, seed)
    data = kernel.KernelData(system._kernel_model, kernel.LANES_TANGENT)
    at = {"q": q, "u": u, "udot": udot}
    rng = np.random.default_rng(seed)
    rates = system.position_rates(q, rng.uniform(-1.0, 1.0, system.nu))
    found = data.inverse_directional(at, {"q": rates})
    h = 1e-6
    ahead, behind = (system.inverse_dynamics(q + s * h * rates, u, udot) for s in (1.0, -1.0))
    size = max(1.0, float(abs(ahead).max()))
    assert found == pytest.approx((ahead - behind) / (2 * h), abs=1e-7 * size)
    along = rng.uniform(-1.0, 1.0, system.nu)
    assert data.inverse_directional(at, {"udot": along}) == pytest.approx(
        system.mass_matrix(q) @ along, abs=1e-9 * size
    )
