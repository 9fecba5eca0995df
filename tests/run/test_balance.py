"""Energy gained equals work done less losses, element by element, from the rows of a result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from small_models import ARM, body, hinge, model

import bough
from bough.errors import SimulationError

BAR = {"mass": 3.0, "com": [0.4, 0.0, 0.0], "inertia": [0.01, 0.2, 0.2, 0, 0, 0]}
DOWN = {"gravity": [0, -9.81, 0]}


def bar(**keys: Any) -> dict[str, Any]:
    """A bar that hangs on a revolute hinge."""
    return model("bar", body("arm", "ground", hinge("revolute", "j", [0, 0, 1], **keys), rigid=BAR), **DOWN)


def sine(size: float) -> Any:
    return {"j.tau": lambda t: size * np.sin(6.0 * t)}


GEAR = {"ratio": 100, "inertia": 1e-4, "friction": {"coulomb": 0.01}}
# Rows of 5 ms leave 1e-8 where all is smooth, some 1e-6 where friction turns or a flank is met between rows, and
# 1e-3 where a hard stop with a damper begins with a jump of force.
CASES: dict[str, tuple[dict[str, Any], Any, set[str], float]] = {
    "damper": (bar(damping=0.3), {"j.tau": 2.0}, {"damping of j"}, 1e-8),
    "spring": (bar(stiffness=30.0, rest=0.2), sine(3.0), set(), 1e-8),
    "friction": (bar(friction={"coulomb": 2, "static": 3, "stribeck": 0.05}), sine(10.0), {"friction of j"}, 1e-5),
    "stop that gives": (bar(limits={"lower": -0.5, "stiffness": 1e4, "damping": 30}), {}, {"stop of j"}, 2e-3),
    "rigid stop": (bar(limits={"lower": -0.5, "restitution": 0.5}), {}, {"impacts"}, 1e-8),
    "latch": (bar(limits={"lower": -0.5, "latch": True}), {}, {"impacts"}, 1e-8),
    "rigid gear": (bar(gear=GEAR), sine(0.3), {"friction of j.rotor"}, 1e-6),
    "elastic gear with backlash": (
        bar(gear=GEAR | {"stiffness": 1e4, "damping": 30, "backlash": 1e-2}, damping=0.1),
        sine(0.3),
        {"damping of j", "friction of j.rotor", "shaft of j"},
        1e-4,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_energy_gained_is_work_less_losses_of_every_drive(name: str) -> None:
    made, inputs, lost, within = CASES[name]
    run = bough.simulate(made, stop=1.5, inputs=inputs, step=0.005, rtol=1e-10)
    found = bough.energy_balance(run, made)
    assert set(found.loss) == lost and set(found.work) == set(inputs)
    assert found.error < within
    assert all(y[-1] > 1e-3 * found.exchanged and np.diff(y).min() > -1e-9 for y in found.loss.values())
    assert not found.missing


LINE = {"type": "spring", "between": ["upper.tip", "ground.origin"]}
FORCES: dict[str, dict[str, Any]] = {
    "strut": LINE | {"stiffness": 300, "damping": 5, "length": 0.9},
    "rope": LINE | {"stiffness": 300, "damping": 5, "only": "tension"},
    "table": LINE | {"stiffness": [[-0.1, -20], [0, 0], [0.1, 60]], "damping": [[-1, -2], [0, 0], [1, 9]]},
    "mount": {
        "type": "bushing",
        "between": ["lower.tip", "ground.origin"],
        "stiffness": [1, 2, 3, 20, 30, 10],
        "damping": [0.1, 0.1, 0.2, 1, 2, 1],
    },
    "foot": {
        "type": "contact",
        "between": ["hand.tool", "ground.origin"],
        "normal": [0, 0, 1],
        "radius": 0.1,
        "frames": [{}, {"position": [0, 0, -1.5]}],
        "stiffness": 2000.0,
        "damping": 20.0,
        "law": "hunt-crossley",
        "friction": 0.5,
        "slip": 0.1,
    },
}


@pytest.mark.parametrize("name", FORCES)
def test_energy_gained_is_work_less_losses_of_every_force(name: str) -> None:
    """The flexible arm with one force each and a cylinder; its own dampers and modes take their share."""
    cylinder = {"name": "cylinder", "type": "actuator", "between": ["hand.tool", "ground.origin"]}
    made = ARM | {"forces": [{"name": name, **FORCES[name]}, cylinder]}
    stop = 1.0 if name == "foot" else 0.5  # it comes down at 0.7 s
    run = bough.simulate(made, stop=stop, step=1e-3, inputs={"cylinder.f": lambda t: 15.0 * np.cos(9.0 * t)}, rtol=1e-7)
    found = bough.energy_balance(run, made)
    assert name in found.loss and "cylinder.f" in found.work
    assert found.loss[name][-1] > 1e-5 * found.exchanged
    assert found.error < 2e-5  # modes up to some 100 Hz, rows of 1 ms
    if name == "foot":
        assert found.loss["friction of foot"][-1] > 1e-5 * found.exchanged


def satellite() -> dict[str, Any]:
    """A free body with a wheel, a panel that bends, a thruster, and loads in both axes."""
    bus = {
        "mass": 50.0,
        "inertia": [8, 10, 12, 0.5, 0, 0],
        "nodes": {"nozzle": {"position": [0.5, 0.3, 0]}},
        "wheels": [{"name": "rw", "axis": [0, 0.6, 0.8], "inertia": 0.1, "w": 50.0}],
    }
    panel = {
        "length": 3.0,
        "elements": 8,
        "section": {"area": 1e-4, "Iy": 2e-9, "Iz": 1e-9, "J": 2e-9},
        "material": {"E": 70e9, "nu": 0.33, "rho": 2700},
        "modes": {"boundary": "cantilever", "count": 3},
        "damping": 0.02,
    }
    spin = {"w": [0.2, -0.3, 0.1], "v": [0.1, 0, 0]}
    return model(
        "satellite",
        body("bus", "ground", {"name": "flight", "type": "free", "initial": spin}, rigid=bus),
        body("panel", "bus", hinge("revolute", "drive", [0, 0, 1], drive="motion"), beam=panel),
        inputs=["bus.nozzle.local_force", "bus.nozzle.torque", "panel.tip.force", "panel.modal_force"],
    )


def test_energy_gained_is_the_work_of_wheels_thrusters_loads_and_driven_hinges() -> None:
    inputs: dict[str, Any] = {
        "bus.rw.tau": lambda t: 0.5 * np.sin(2.0 * t),
        "bus.nozzle.local_force[2]": 3.0,
        "bus.nozzle.torque[3]": lambda t: np.cos(t),
        "panel.tip.force[1]": 1.0,
        "panel.modal_force[1]": 2.0,
        "drive.a": lambda t: 0.3 * np.cos(3.0 * t),
        "flight.tau[1]": 0.4,
        "flight.f[2]": -1.0,
    }
    run = bough.simulate(satellite(), stop=4.0, inputs=inputs, step=0.01, rtol=1e-10)
    found = bough.energy_balance(run, satellite())
    assert set(found.work) == {name for name in inputs if name != "drive.a"} | {"drive.tau"}
    assert found.between == "smooth"
    assert all(abs(y).max() > 1e-4 * found.exchanged for y in found.work.values())
    assert found.error < 1e-6
    for name in found.work:  # each of them counts
        other = dict(found.work) | {name: 0.0 * run.t}
        assert abs(bough.EnergyBalance(run.t, found.parts, other, found.loss).residual).max() > 100 * found.error


TUMBLING = model(
    "tumbling",
    body("box", "ground", {"name": "h", "type": "free", "damping": 0.3, "initial": {"w": [3.0, -2.0, 4.0]}}, rigid=BAR),
)


@pytest.mark.parametrize(("made", "torque"), [(bar(damping=0.3), "j.tau"), (TUMBLING, "h.tau[1]")])
def test_the_residual_falls_with_the_fourth_power_of_the_distance_of_rows(made: dict[str, Any], torque: str) -> None:
    errors = []
    for step in (0.04, 0.02, 0.01):
        run = bough.simulate(made, stop=1.6, inputs={torque: 0.1}, step=step, rtol=1e-12)
        errors.append(bough.energy_balance(run, made).error)
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > 3.5)


def test_mass_that_the_model_does_not_have_is_seen_in_the_residual() -> None:
    made = bar(damping=0.3)
    heavier = bar(damping=0.3)
    heavier["bodies"][0]["rigid"] = BAR | {"mass": 3.3}
    run = bough.simulate(heavier, stop=1.0, inputs={"j.tau": 40.0}, step=0.005, rtol=1e-9)
    assert bough.energy_balance(run, heavier).error < 1e-7
    assert bough.energy_balance(run, made).error > 1e-2


def test_inputs_that_are_held_are_found_to_be_held() -> None:
    made = bar()
    run = bough.Run(made)
    rows: list[list[float]] = []
    names = ["j.phi", "j.w", "j.tau"]
    for i in range(200):
        run.set("j.tau", 20.0 + 10.0 * float(np.sin(0.05 * i)))
        rows.append([run[name] for name in names])
        run.step(0.01)
    columns = np.array(rows)
    held = bough.Result(0.01 * np.arange(200), {name: columns[:, i] for i, name in enumerate(names)})
    found = bough.energy_balance(held, made)
    assert found.between == "held after"
    assert found.error < 1e-6


def test_what_is_missing_is_said_or_refused() -> None:
    made = bar()
    run = bough.simulate(made, stop=0.1, step=0.01)
    few = bough.Result(run.t, {name: run[name] for name in ("j.phi", "j.w")})
    assert bough.energy_balance(few, made).missing == ("j.tau",)
    with pytest.raises(SimulationError, match=r"does not hold 'j\.w'"):
        bough.energy_balance(bough.Result(run.t, {"j.phi": run["j.phi"]}), made)
    with pytest.raises(SimulationError, match="at least two rows"):
        bough.energy_balance(bough.Result(run.t[:1], {n: run[n][:1] for n in few.names}), made)
