"""Gains along a move: an arm whose inertia changes stays stable, and what cannot be made stable is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from partners.built import AtWork
from partners.excavator import END, HINGES, MODEL, START, STEP, drive
from partners.test_model_controller import PENDULUM

import bough
from bough.errors import BuildError
from bough.partners import describe_partner, model_controller, model_schedule
from bough.partners.model_design import Gains, Plant, design, linear, loops, plant_of
from bough.partners.model_schedule import Schedule, Way, schedule
from bough.partners.quantity import variable_table

LATER = {"t_start": 1.0, "t_move": 4.0, "tau_max": 1e9}


def end_only(plant: Plant, way: Way, bandwidth: float, sample: float, integral: float = 0.0) -> Schedule:
    """Gains of the end of the move for all of it."""
    gains = design(plant, way(1.0), bandwidth, sample, integral)
    return Schedule(plant, (gains,), 20, 10.0)


def test_excavator_that_stands_still_before_its_move_is_left_alone() -> None:
    """Nothing asks for a swing; half a second before the move the torque there is rounding."""
    tau, phi, said = drive(0.5, **LATER)
    assert np.abs(tau[:, 0]).max() < 1e-3
    assert np.abs(phi - START).max() < 1e-4 and not said


def test_gains_of_the_end_alone_destroy_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the schedule is for: the same arm, held by gains that fit the end of its move."""
    monkeypatch.setattr(model_controller, "schedule", end_only)
    tau, _, _ = drive(0.9, **LATER)
    assert abs(tau[0, 0]) < 1e-6 and np.abs(tau[:, 0]).max() > 1e4


def test_excavator_makes_its_move() -> None:
    tau, phi, said = drive(5.5, t_start=0.0, t_move=4.0, tau_max=1e9)
    assert np.abs(phi[-1] - END).max() < 2e-3 and not said
    assert np.abs(tau).max() < 2.0 * np.abs(tau[0]).max()  # of the order of the weight


def excavator_plant() -> Plant:
    return plant_of(bough.Mechanism(MODEL), [f"{name}.w" for name in HINGES])


def straight(part: float) -> np.ndarray:
    return np.array(START) + part * (np.array(END) - START)


def test_loop_is_stable_at_poses_between_the_stations() -> None:
    """At poses that the schedule has not looked at."""
    plant = excavator_plant()
    table = schedule(plant, straight, 4.0, STEP)
    poses = [g.pose for g in table.stations]
    for part in np.random.default_rng(1).uniform(size=12):
        pose = straight(part)
        k = next(i for i in range(len(poses) - 1) if (poses[i + 1] - pose) @ (np.array(END) - START) >= 0.0)
        at = linear(plant, pose, STEP)
        mixed = model_schedule.mix(table.stations[k], table.stations[k + 1], pose)
        assert all(np.abs(np.linalg.eigvals(loop)).max() < 1.0 for loop in loops(at, plant, mixed, STEP))


def test_move_that_stays_unstable_is_refused_with_pose_and_eigenvalue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two stations only, both with gains of the end."""
    at_end = design(excavator_plant(), END, 4.0, STEP)

    def always(plant: Plant, pose: np.ndarray, *_: float) -> Gains:
        return replace(at_end, pose=np.array(pose))

    monkeypatch.setattr(model_schedule, "design", always)
    monkeypatch.setattr(model_schedule, "FRACTION", 1e9)
    monkeypatch.setattr(model_schedule, "STATIONS_MOST", 3)
    with pytest.raises(BuildError, match="unstable") as caught:
        describe_partner("model-controller", values={"phi_start": START, "phi_end": END}, model=MODEL)
    text = str(caught.value)
    assert re.search(r"at the pose \(\S+, \S+, \S+, \S+\)", text) and "an eigenvalue of the sampled system is" in text
    assert "stable all along the move" in text and "lower bandwidth" in text


# ---- integral action and saturation


def pendulum(heavier: float, stop: float = 6.0, **values: object) -> tuple[np.ndarray, AtWork]:
    """Angles of a pendulum, held at 0.3 rad, that weighs more than its controller thinks."""
    partner = describe_partner("model-controller", values={"phi_start": 0.3, "phi_end": 0.3, **values}, model=PENDULUM)
    body = PENDULUM["bodies"][0]  # type: ignore[index]
    real = {**PENDULUM, "bodies": [{**body, "rigid": {**body["rigid"], "mass": heavier}}]}
    plant, brain, out = bough.Run(real, {"pivot.phi": 0.3}, method="rk4", solver_step=1e-3), AtWork(partner), []
    for k in range(round(stop / STEP)):
        if k:
            brain.step(k * STEP)
        brain.set(phi=[plant["pivot.phi"]], w=[plant["pivot.w"]])
        out.append(plant["pivot.phi"])
        plant.set("pivot.tau", brain["tau"][0])
        plant.step((k + 1) * STEP - plant.time)
    return np.array(out), brain


def test_integral_action_leaves_no_lasting_offset() -> None:
    without, _ = pendulum(1.1)
    with_it, _ = pendulum(1.1, integral=2.0)
    assert abs(without[-1] - 0.3) > 5e-3
    assert abs(with_it[-1] - 0.3) < 1e-5


def test_integral_does_not_wind_up_at_the_limit() -> None:
    """The weight takes 4.7 N.m at 0.3 rad and 2.6 N.m at 1 rad: at 3.5 N.m the pendulum falls."""
    phi, brain = pendulum(1.0, stop=2.0, integral=2.0, tau_max=3.5)
    assert brain["limited"] == [1.0] and abs(brain["tau"][0]) == 3.5
    said = brain.it.warned
    assert len(said) >= 1 and "at its limit of 3.5" in said[0] and "tau_max" in said[0]
    assert sum("at its limit" in text for text in said) == 1
    z = brain.it.save()
    assert np.isfinite(phi).all() and len(z) > 0


def test_pose_off_the_move_is_warned_of_once() -> None:
    """A move that is changed after the build leaves the poses that gains were made for."""
    partner = describe_partner("model-controller", model=PENDULUM)
    brain = AtWork(partner)
    for k in range(5):
        if k:
            brain.step(k * STEP)
        brain.set(phi=[2.5], w=[0.0])
    brain.step(5 * STEP)
    said = [text for text in brain.it.warned if "from the move that the gains were made for" in text]
    assert len(said) == 1 and "phi_start, phi_end" in said[0]


# ---- translations and floating bases

GANTRY = {
    "bough": 1, "name": "gantry", "gravity": [0, 0, -9.81],
    "bodies": [
        {"name": "cart", "parent": "ground", "hinge": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0]},
         "rigid": {"mass": 4.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
        {"name": "mast", "parent": "cart", "hinge": {"name": "tilt", "type": "revolute", "axis": [0, -1, 0]},
         "beam": {"length": 1.5, "elements": 6, "section": {"area": 2e-4, "Iy": 2e-9, "Iz": 2e-9, "J": 4e-9},
                  "material": {"E": 70e9, "nu": 0.33, "rho": 2700}, "damping": 0.01,
                  "modes": {"boundary": "cantilever", "bending_y": 2, "bending_z": 0, "torsion": 0, "axial": 0}}},
    ],
}  # fmt: skip
FLOATER = {
    "bough": 1, "name": "floater",
    "bodies": [
        {"name": "bus", "parent": "ground", "hinge": {"name": "base", "type": "free"},
         "rigid": {"mass": 60.0, "inertia": [6, 8, 9, 0, 0, 0], "nodes": {"root": {"position": [0.5, 0.2, 0]}}}},
        {"name": "upper", "parent": "bus", "at": "root",
         "hinge": {"name": "shoulder", "type": "revolute", "axis": [0, 0, 1]},
         "beam": {"length": 1.5, "elements": 6, "section": {"area": 3e-4, "Iy": 4e-9, "Iz": 4e-9, "J": 8e-9},
                  "material": {"E": 70e9, "nu": 0.33, "rho": 2700}, "damping": 0.01,
                  "modes": {"boundary": "cantilever", "bending_y": 0, "bending_z": 2, "torsion": 0, "axial": 0}}},
        {"name": "hand", "parent": "upper", "at": "tip",
         "hinge": {"name": "wrist", "type": "revolute", "axis": [0, 1, 0]},
         "rigid": {"mass": 3.0, "com": [0.3, 0, 0], "inertia": [0.05, 0.1, 0.1, 0, 0, 0]}},
    ],
}  # fmt: skip


def closed_loop(model: dict, hinges: dict[str, tuple[str, str, str]], stop: float, **values: object) -> tuple:
    """Positions and predictions of a model under its own controller; hinges: position, speed and force by name."""
    brain = AtWork(describe_partner("model-controller", values=values, model=model))
    plant, seen, predicted = bough.Run(model, method="rk4", solver_step=STEP / 4), [], []
    for k in range(round(stop / STEP)):
        if k:
            brain.step(k * STEP)
        phi = [plant[f"{h}.{q}"] for h, (q, _, _) in hinges.items()]
        brain.set(phi=phi, w=[plant[f"{h}.{v}"] for h, (_, v, _) in hinges.items()])
        seen.append(phi)
        predicted.append(brain["phi_pred"])
        plant.set({f"{h}.{f}": x for (h, (_, _, f)), x in zip(hinges.items(), brain["tau"], strict=True)})
        plant.step((k + 1) * STEP - plant.time)
    return np.array(seen), np.array(predicted), plant, brain


@pytest.mark.parametrize("law", ["state", "acceleration"])
def test_hinge_that_slides_is_moved_in_metres(law: str) -> None:
    partner = describe_partner("model-controller", values={"phi_end": [0.8, 1.2], "law": law}, model=GANTRY)
    units = {v.name: v.unit for v in variable_table(partner)}
    assert (units["phi[1]"], units["w[1]"], units["tau[1]"], units["ku[1]"]) == ("m", "m/s", "N", "V/N")
    assert (units["phi[2]"], units["w[2]"], units["tau[2]"], units["ku[2]"]) == ("rad", "rad/s", "N.m", "V/(N.m)")
    hinges = {"rail": ("s", "v", "f"), "tilt": ("phi", "w", "tau")}
    seen, predicted, _, brain = closed_loop(GANTRY, hinges, 4.0, phi_end=[0.8, 1.2], t_move=1.5, law=law)
    assert np.abs(seen[-1] - [0.8, 1.2]).max() < 2e-3
    assert np.abs(predicted - seen)[100:].max() < 1e-5 and not brain.it.warned


@pytest.mark.parametrize("law", ["state", "acceleration"])
def test_arm_on_a_floating_base_goes_where_it_is_asked(law: str) -> None:
    """The base is not measured: the prediction is right because momentum gives its speed."""
    hinges = {"shoulder": ("phi", "w", "tau"), "wrist": ("phi", "w", "tau")}
    values = {"phi_end": [1.0, -0.8], "t_move": 1.5, "law": law}
    seen, predicted, plant, brain = closed_loop(FLOATER, hinges, 4.0, **values)
    assert np.abs(seen[-1] - [1.0, -0.8]).max() < 1e-3 and not brain.it.warned
    assert np.abs(predicted - seen)[1:].max() < 1e-7  # RK4 with other steps; a base held fixed would be off by 1e-5
    assert abs(plant["base.Q[3]"]) > 0.02  # the base has turned


def test_floating_base_that_something_pushes_is_refused() -> None:
    with pytest.raises(BuildError, match="gravity, or a spring or damper of hinge 'base'"):
        describe_partner("model-controller", model={**FLOATER, "gravity": [0, 0, -9.81]})
