"""Linear models against small simulated motions: loops, couplings, gears, wheels, forces, friction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from house.tools import ROOT
from scipy.linalg import expm
from small_models import model

import bough
from bough import Mechanism
from bough.mechanism import kernel
from bough.mechanism.operating_point import HeldModel, holding_forces, linear_model
from bough.run.settling import settled

SLIDER = ROOT / "examples" / "slider_crank" / "model.yaml"
GRAVITY = [0, 0, -9.81]


def link(name: str, parent: str, hinge: dict[str, Any], **rigid: Any) -> dict[str, Any]:
    """A rod of a metre and a kilogram."""
    at = {} if parent in ("ground", "bus") else {"at": "tip"}
    rod = {
        "mass": 1.0,
        "com": [0.5, 0, 0],
        "inertia": [0.02, 0.1, 0.1, 0, 0, 0],
        "nodes": {"tip": {"position": [1, 0, 0]}},
    }
    return {"name": name, "parent": parent, **at, "hinge": hinge, "rigid": rod | rigid}


def turn(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "revolute", "axis": [0, 1, 0], "damping": 0.2} | more


def geared(**gear: Any) -> dict[str, Any]:
    """Two rods in a row; a geared motor carries both."""
    shoulder = turn("shoulder", stiffness=50.0, gear={"inertia": 1e-4, **gear})
    return model(
        "geared", link("a", "ground", shoulder), link("b", "a", turn("elbow", stiffness=40.0)), gravity=GRAVITY
    )


def four_bar() -> dict[str, Any]:
    """A parallelogram behind an elastic gear: its closure is a pin in the plane."""
    gear = {"ratio": 50, "inertia": 1e-4, "stiffness": 1e3, "damping": 5}
    bodies = [
        link("a", "ground", turn("left", stiffness=50.0, gear=gear, initial={"phi": -1.0})),
        link("b", "a", turn("top", initial={"phi": 1.0})),
        link("c", "ground", turn("right", frame={"position": [1, 0, 0]}, initial={"phi": -1.0})),
    ]
    pin = {"name": "pin", "type": "slot", "axis": [0, 1, 0], "between": ["b.tip", "c.tip"]}
    return model("four_bar", *bodies, gravity=GRAVITY, loops=[pin], outputs=["b.tip"])


def wheeled() -> dict[str, Any]:
    hinge = {"name": "mount", "type": "universal", "axes": [[0, 1, 0], [0, 0, 1]], "damping": 0.3, "stiffness": 40.0}
    wheel = {"name": "rw", "axis": [0.3, 0.2, 1], "inertia": 0.05, "w": 100.0}
    return model("wheeled", link("a", "ground", hinge, wheels=[wheel]), gravity=GRAVITY, outputs=["a.tip"])


def sprung() -> dict[str, Any]:
    """A bushing and a spring hold a free body; a cylinder pushes it."""
    ends = {"between": ["ground.origin", "a.tip"], "frames": [{"position": [1, 0, 0]}, {}]}
    mount = {
        "name": "m",
        "type": "bushing",
        "stiffness": [200, 300, 250, 5e3, 6e3, 7e3],
        "damping": [2, 2, 2, 20, 20, 20],
    }
    spring = {"name": "s", "type": "spring", "stiffness": 800, "damping": 4, "length": 0.5}
    above = {"between": ["ground.origin", "a.origin"], "frames": [{"position": [0.1, 0.2, 1]}, {}]}
    forces = [mount | ends, spring | above, {"name": "cylinder", "type": "actuator"} | above]
    return model("sprung", link("a", "ground", {"name": "base", "type": "free"}), gravity=GRAVITY, forces=forces)


def inputs_of(system: Mechanism, held: HeldModel) -> dict[str, float]:
    found = [v for v in system.variables if v.kind == "tau" and v.causality == "input"]
    return {v.name: float(held.holding[v.index]) for v in found}


CASES: dict[str, Any] = {
    "elastic gear": geared(ratio=50, stiffness=1e3, damping=5),
    "backlash": geared(ratio=-50, stiffness=1e3, damping=5, backlash=0.01),
    "rigid gear": geared(ratio=50),
    "loop behind a gear": four_bar(),
    "loop that bends": SLIDER,
    "wheel": wheeled(),
    "bushing, spring, cylinder": sprung(),
}


@pytest.mark.parametrize("case", CASES)
def test_linear_response_is_that_of_small_simulated_steps(case: str) -> None:
    """All outputs a tenth of a second after each input steps by a thousandth, central differences about rest.

    What is left is of second order in the step, and closures are projected to 1e-10 or so: 1e-3 of the largest answer
    of that input and kind of output.
    """
    system = Mechanism(CASES[case])
    q, _ = bough.equilibrium(system)
    held = linear_model(system, q)
    assert held.note == ""
    hold, found, T = inputs_of(system, held), held.model, 0.1
    start, size = (q, np.zeros(system.nu)), 1e-3
    assert abs(system.forward_dynamics(q, start[1], held.holding)).max() < 1e-7, "it rests"
    n = len(found.states)
    for j, name in enumerate(found.inputs):
        whole = expm(T * np.block([[found.A, found.B[:, j : j + 1]], [np.zeros((1, n + 1))]]))
        expected = found.C @ whole[:n, n] + found.D[:, j]
        ends = []
        for sign in (1, -1):
            moved = hold | {name: hold.get(name, 0.0) + sign * size}
            run = bough.simulate(system.model, stop=T, step=T, inputs=moved, initial=start, rtol=1e-10)
            ends.append(np.array([run[output][-1] for output in found.outputs]))
        answer = (ends[0] - ends[1]) / (2 * size)
        kinds = np.array([output.partition("[")[0].rpartition(".")[2] for output in found.outputs])
        for kind in set(kinds):
            mine = kinds == kind
            assert abs(answer - expected)[mine].max() <= 1e-3 * abs(expected[mine]).max() + 1e-8, (name, kind)


@pytest.mark.parametrize("case", [name for name in CASES if name != "wheel"])
def test_modes_are_the_poles_of_the_linear_model(case: str) -> None:
    """Damped ones too; poles that belong to rigid-body motion, below 1e-2 rad/s, left out."""
    system = Mechanism(CASES[case])
    q, _ = bough.equilibrium(system)
    poles = [p for p in linear_model(system, q).model.poles() if abs(p) > 1e-2 and p.imag >= 0.0]
    modes = [m for m in bough.modes(system, settle=True).modes if 2 * np.pi * m.frequency > 1e-2]
    found = sorted((2 * np.pi * m.frequency, -2 * np.pi * m.frequency * m.damping) for m in modes)
    assert np.array(found) == pytest.approx(np.array(sorted((abs(p), p.real) for p in poles)), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_operators_of_the_tree_multiply_to_its_mass_matrix(case: str) -> None:
    """(43) and (54), loops open, rotors and wheels among the bodies; momentum and mass besides."""
    system = Mechanism(CASES[case])
    q, _ = system.initial_state()
    u = np.random.default_rng(3).normal(size=system.nu)
    o, M = system.articulated(q).operators(), system.mass_matrix(q)
    factor = np.eye(system.nu) + o.H @ o.Phi @ o.K
    for product in (o.H @ o.Phi @ o.Mm @ o.Phi.T @ o.H.T + o.armature, factor @ o.D @ factor.T):
        assert abs(product - M).max() < 1e-12 * abs(M).max()
    linear, angular = system.momentum(q, u)
    assert system.momentum_matrix(q) @ u == pytest.approx(np.concatenate([angular, linear]), abs=1e-12)
    given = sum(b.rigid.mass for b in system.model.bodies if b.rigid is not None)
    beams = 0.006 * 0.03 * 0.4 * 7800 if case == "loop that bends" else 0.0
    assert system.mass_properties(q).mass == pytest.approx(given + beams, rel=1e-12)


def test_arrays_that_c_would_misread_are_refused() -> None:
    """A column's neighbours in memory are not its entries: modes with loops were wrong by that."""
    system = Mechanism(CASES["rigid gear"])
    q, u = system.initial_state()
    tangent = kernel.KernelData(system._kernel_model, kernel.LANES_TANGENT)
    at = {"q": q, "u": u, "tau": u}
    column = np.eye(system.nu)[:, 1]
    with pytest.raises(ValueError, match="not contiguous"):
        tangent.directional(at, {"u": column}, np.zeros(0, dtype=np.intc), 0, ("udot",))


def test_shaft_that_is_not_wound_up_is_told() -> None:
    """No input acts at the hinge: without a settled start the model would hold about a force that nobody gives."""
    system = Mechanism(geared(ratio=50, stiffness=1e3))
    told = linear_model(system).note
    assert "shaft of the gear at hinge 'shoulder'" in told and "19.62 N.m" in told and "--settle" in told


def test_rotor_winds_its_shaft_up_to_the_load_and_beyond_its_play() -> None:
    """Weight of two rods on the shaft, 2 kg at a metre's mean: 19.62 N.m over 1000 N.m/rad, and half the play."""
    for backlash in (0.0, 0.01):
        system = Mechanism(geared(ratio=-50, stiffness=1e3, backlash=backlash))
        q, _ = bough.equilibrium(system)
        at = system.q_names.index("shoulder.rotor.phi")
        assert q[at] == pytest.approx(-50 * -(19.62e-3 + backlash / 2), rel=1e-9)
        assert settled(system, {}, {})["shoulder.rotor.phi"] == pytest.approx(q[at], rel=1e-12)


def test_sticking_hinge_is_told() -> None:
    rough = turn("shoulder", stiffness=50.0, friction={"coulomb": 0.5})
    held = linear_model(Mechanism(model("rough", link("a", "ground", rough))))
    assert "hinge 'shoulder' sticks" in held.note and not held.model.B.any()


def test_position_of_a_loop_is_held_by_the_motors_that_are_there() -> None:
    """Of a parallelogram's hinges each one alone can hold it: 20 cos(1) N.m at a crank, weights and coupler."""
    plain = four_bar()
    plain["bodies"][0]["hinge"] = turn("left", initial={"phi": -1.0})
    system = Mechanism(plain)
    q, u = system.initial_state()
    for motor in range(3):
        hold = holding_forces(system, q, [motor])
        assert np.flatnonzero(hold).tolist() == [motor]
        assert abs(hold[motor]) == pytest.approx(2 * 9.81 * np.cos(1.0), rel=1e-9)
        assert abs(system.forward_dynamics(q, 0.0 * u, hold)).max() < 1e-9
