"""Published problems with loops: Andrews' squeezing mechanism, Bricard's linkage, examples of the Modelica library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run.test_loops import drift, states
from scipy.spatial.transform import Rotation

import bough

Dict = dict[str, Any]
Z = [0, 0, 1]


def part(
    name: str, at: str, mass: float, com: list[float], inertia: list[float], hinge: Dict, **nodes: list[float]
) -> Dict:
    """A rigid body; inertia about its mass centre, of a plane body the moment about z alone."""
    parent, _, node = at.partition(".")
    six = [inertia[0], inertia[0], inertia[0], 0, 0, 0] if len(inertia) == 1 else inertia
    places = {key: {"position": p} for key, p in nodes.items()}
    return {
        "name": name,
        "parent": parent,
        "at": node or "origin",
        "hinge": {"name": f"{name}_h", **hinge},
        "rigid": {"mass": mass, "com": com, "inertia": six, "nodes": places},
    }


def turn(axis: list[float] | None = None, **more: Any) -> Dict:
    return {"type": "revolute", "axis": axis or Z, **more}


# ---- Andrews' squeezing mechanism


def squeezer() -> Dict:
    """Seven bodies in the plane (E. Hairer and G. Wanner, Solving Ordinary Differential Equations II, VII.7)."""
    a, b = {"position": [-0.06934, -0.00227, 0]}, {"position": [-0.03635, 0.03273, 0]}
    beta, gamma, phi = -0.0617138900142764, 0.455279819163070, 0.222668390165886
    delta, omega, epsilon = 0.487364979543843, -0.222668390165886, 1.23054744454982

    def at(angle: float, frame: Dict | None = None) -> Dict:
        return turn(initial={"phi": angle}, **({"frame": frame} if frame else {}))

    return {
        "bough": 1,
        "name": "squeezer",
        "bodies": [
            part("k1", "ground", 0.04325, [0.00092, 0, 0], [2.194e-6], at(beta), tip=[0.007, 0, 0]),
            part("k2", "k1.tip", 0.00365, [-0.0115, 0, 0], [4.410e-7], at(0.0), f=[-0.028, 0, 0]),
            part(
                "k3",
                "ground",
                0.02373,
                [0.01874, 0.01043, 0],
                [5.255e-6],
                at(gamma, b),
                f=[0, -0.035, 0],
                d=[0.02, -0.018, 0],
            ),
            part("k5", "ground", 0.07050, [0.02308, 0.00916, 0], [1.169e-5], at(delta, a), tip=[0.04, 0, 0]),
            part("k4", "k5.tip", 0.00706, [0, -(0.02 - 0.01421), 0], [5.667e-7], at(phi), f=[0, -0.02, 0]),
            part("k7", "ground", 0.05498, [0.01228, 0.00449, 0], [1.912e-5], at(epsilon, a), tip=[0, -0.04, 0]),
            part("k6", "k7.tip", 0.00706, [0.02 - 0.01421, 0, 0], [5.667e-7], at(omega), f=[0.02, 0, 0]),
        ],
        "loops": [{"name": f"f{k}", "type": "revolute", "axis": Z, "between": ["k2.f", f"k{k}.f"]} for k in (3, 4, 6)],
        "forces": [
            {
                "name": "spring",
                "type": "spring",
                "between": ["ground.origin", "k3.d"],
                "frames": [{"position": [0.014, 0.072, 0]}, {}],
                "stiffness": 4530.0,
                "length": 0.07785,
            }
        ],
    }


@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_squeezer_ends_where_the_test_set_says(method: str) -> None:
    """Reference of the IVP test set at 0.03 s; fifteen of the equations are redundant in space."""
    system = bough.Mechanism(squeezer())
    assert all(abs(m.closed - m.drawn) < 1e-8 for m in system.moved)
    assert system.freedom(system.initial_state()[0]).freedoms == 1
    run = bough.simulate(system, stop=0.03, step=0.001, rtol=1e-9, method=method, inputs={"k1_h.tau": 0.033})
    expected = {
        "k1": 15.8107711,
        "k2": -15.7563711,
        "k3": 0.0408222401,
        "k4": -0.534730116,
        "k5": 0.524409966,
        "k6": 0.534730116,
        "k7": 1.04808074,
    }
    for name, value in expected.items():
        assert run[f"{name}_h.phi"][-1] == pytest.approx(value, abs=1e-6 if name in ("k1", "k2") else 1e-7), name
    assert drift(system, *states(system, run)) < 1e-9


# ---- Bricard's linkage


def bricard() -> Dict:
    """Six links of 1 m at right angles, one of them the ground, rods of 1 kg (after IFToMM's library of benchmarks)."""
    corner = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float)
    bodies = []
    for i in range(5):
        edge, before = corner[i + 1] - corner[i], corner[i] - corner[i - 1]
        axis = np.cross(before, edge)
        inertia = (np.eye(3) - np.outer(edge, edge)) / 12
        six = [inertia[0, 0], inertia[1, 1], inertia[2, 2], 0, 0, 0]
        bodies.append(
            part(
                f"rod{i}",
                f"rod{i - 1}.tip" if i else "ground",
                1.0,
                (edge / 2).tolist(),
                six,
                turn(axis.tolist()),
                tip=edge.tolist(),
            )
        )
    last = np.cross(corner[5] - corner[4], corner[0] - corner[5])
    loop = {
        "name": "close",
        "type": "revolute",
        "axis": last.tolist(),
        "between": ["rod4.tip", "ground.origin"],
        "frames": [{}, {"position": corner[5].tolist()}],
    }
    return {"bough": 1, "name": "bricard", "gravity": [0, -9.81, 0], "bodies": bodies, "loops": [loop]}


def test_bricard_moves_though_it_is_overconstrained_and_keeps_its_energy() -> None:
    system = bough.Mechanism(bricard())
    left = system.freedom(system.initial_state()[0])
    assert left.freedoms == 1 and left.redundant == 1
    run = bough.simulate(system, stop=10.0, step=0.1, rtol=1e-10)
    q, u = states(system, run)
    energy = np.array([sum(system.energy(a, b)) for a, b in zip(q, u, strict=True)])
    assert np.ptp(energy) < 1e-8 * 5 * 9.81
    assert np.ptp(run["rod0_h.phi"]) > 0.5 and drift(system, q, u) < 1e-9


# ---- the Modelica library's examples

MODELICA = json.loads((Path(__file__).parent / "modelica_loops.json").read_text())
G = 9.80665


def follows(
    case: str, system: bough.Mechanism, columns: dict[str, str], inputs: Any = None, within: float = 2e-4
) -> None:
    """The run at the published instants, to `within` of each signal's range."""
    published = MODELICA[case]
    instants = np.array(published["t"])
    step = next(h for h in (2e-3, 1e-3, 8e-4) if np.abs(instants / h - np.round(instants / h)).max() < 1e-6)
    run = bough.simulate(system, stop=float(instants[-1]), step=step, rtol=1e-9, inputs=inputs)
    at = np.round(instants / step).astype(int)
    assert np.abs(run.t[at] - instants).max() < 1e-9
    for signal, name in columns.items():
        off = np.abs(run[name][at] - np.array(published["signals"][signal])).max()
        assert off < within * published["range"][signal], (signal, off)
    q, u = states(system, run)
    assert drift(system, q[at], u[at]) < 1e-9


def test_fourbar1() -> None:
    """A crank drives a slider by a rod between universal and spherical joints."""
    rod = {"type": "universal", "axes": [[0, 1, 0], Z]}
    bodies = [
        part(
            "b1",
            "ground",
            7.709164,
            [0, 0.25, 0.05],
            [0.1682364, 0.008787088, 0.1618585, 0, 0, -0.03188987],
            turn([1, 0, 0], initial={"phi": 0.0, "w": 5.235987756}),
            tip=[0, 0.5, 0.1],
        ),
        part(
            "b2",
            "ground",
            3.023783,
            [0, 0.1, 0],
            [0.01055174, 0.0009449322, 0.01055174, 0, 0, 0],
            {"type": "prismatic", "axis": [1, 0, 0], "frame": {"position": [1.2, 0, 0]}, "initial": {"s": -0.2}},
            tip=[0, 0.2, 0],
        ),
        part(
            "rod",
            "b2.tip",
            15.85685,
            [-0.5, 0.15, 0.05],
            [0.1368705, 1.337299, 1.442831, 0.3957456, 0.1319152, -0.03957456],
            rod,
            tip=[-1, 0.3, 0.1],
        ),
    ]
    loop = {"name": "ball", "type": "spherical", "between": ["rod.tip", "b1.tip"]}
    model = {"bough": 1, "name": "fourbar1", "gravity": [0, -G, 0], "bodies": bodies, "loops": [loop]}
    follows("Fourbar1", bough.Mechanism(model), {"j1.phi": "b1_h.phi", "j1.w": "b1_h.w"})


def test_planar_fourbar() -> None:
    bodies = [
        part(
            "b1",
            "ground",
            7.7,
            [0.2, 0, 0],
            [0.003208333, 0.1042708, 0.1042708, 0, 0, 0],
            turn(damping=0.1),
            tip=[0.4, 0, 0],
        ),
        part(
            "b2",
            "b1.tip",
            21.26232,
            [0.05, 0.55, 0],
            [2.148417, 0.02654159, 2.166099, -0.1945052, 0, 0],
            turn(),
            tip=[0.1, 1.1, 0],
        ),
        part(
            "b4",
            "ground",
            12.65971,
            [0.325, 0.05, 0],
            [0.01576366, 0.4484257, 0.4589145, -0.06817706, 0, 0],
            turn(frame={"position": [-0.15, 1, 0]}),
            tip=[0.65, 0.1, 0],
        ),
    ]
    loop = {"name": "pin", "type": "revolute", "axis": Z, "between": ["b2.tip", "b4.tip"]}
    model = {"bough": 1, "name": "planar", "gravity": [0, -G, 0], "bodies": bodies, "loops": [loop]}
    follows("PlanarFourbar", bough.Mechanism(model), {"revolute1.phi": "b1_h.phi", "revolute1.w": "b1_h.w"})


def crank() -> Dict:
    """Two cylinders and two cheeks welded together; the flywheel is an armature."""
    parts = [  # mass, centre, moments about it
        (1.511891, [0.05, 0, 0], [0.0004724661, 0.001496143, 0.001496143]),
        (0.77, [0.1, 0.05, 0], [0.0008020833, 0.0001860833, 0.0006673333]),
        (0.5442809, [0.15, 0.1, 0], [6.12316e-05, 0.0004841832, 0.0004841832]),
        (0.77, [0.2, 0.05, 0], [0.0008020833, 0.0001860833, 0.0006673333]),
    ]
    mass = sum(m for m, _, _ in parts)
    com = sum(m * np.array(c) for m, c, _ in parts) / mass
    inertia = np.zeros((3, 3))
    for m, c, moments in parts:
        r = np.array(c) - com
        inertia += np.diag(moments) + m * (r @ r * np.eye(3) - np.outer(r, r))
    six = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    start = turn([1, 0, 0], armature=1.0, initial={"phi": 0.0, "w": 10.0})
    return part("crank", "ground", mass, com.tolist(), six, start, pin=[0.15, 0.1, 0])


def test_engine1a() -> None:
    slide = {"type": "prismatic", "axis": [0, -1, 0], "frame": {"position": [0.15, 0.45, 0]}, "initial": {"s": 0.05}}
    bodies = [
        crank(),
        part(
            "piston",
            "ground",
            6.047566,
            [0, -0.05, 0],
            [0.008819367, 0.007559457, 0.008819367, 0, 0, 0],
            slide,
            wrist=[0, -0.1, 0],
        ),
        part(
            "rod",
            "piston.wrist",
            1.848,
            [0, -0.1, 0],
            [0.0067144, 0.000616, 0.0062216, 0, 0, 0],
            turn([1, 0, 0]),
            big=[0, -0.2, 0],
        ),
    ]
    loop = {"name": "pin", "type": "revolute", "axis": [1, 0, 0], "between": ["rod.big", "crank.pin"]}
    model = {"bough": 1, "name": "engine", "gravity": [0, -G, 0], "bodies": bodies, "loops": [loop]}
    follows("Engine1a", bough.Mechanism(model), {"inertia.phi": "crank_h.phi", "inertia.w": "crank_h.w"})


@pytest.mark.parametrize("kind", ["Prismatic", "Revolute", "Spherical", "Universal"])
def test_constraints_on_a_free_body(kind: str) -> None:
    """A free body held by a closure alone; a spring pulls it. In the library it moves as a body on the equal joint."""
    fixed = Rotation.from_euler("XYZ", [10, 55, 68], degrees=True)
    pulled = [0.5, 0.15, 0.2] if kind == "Universal" else [0.4, 0, 0]
    hinge = {"type": "free", "frame": {"position": [0.2, -0.3, 0.2], "quaternion": fixed.as_quat().tolist()}}
    body = part("body", "ground", 1.0, [0.2, 0, 0], [1.0, 1.0, 1.0, 0, 0, 0], hinge, eye=pulled)
    ground = {"position": [0.2, -0.3, 0.2], "quaternion": fixed.as_quat().tolist()}
    between = {"name": "held", "between": ["ground.origin", "body.origin"], "frames": [ground, {}]}
    loop: Dict = {
        "Prismatic": {
            "type": "prismatic",
            "axis": [0, 1, 0],
            "between": ["carriage.origin", "body.origin"],
            "frames": [{}, {}],
        },
        "Revolute": {"type": "revolute", "axis": [0, 1, 0]},
        "Spherical": {"type": "spherical"},
        "Universal": {"type": "universal", "axes": [Z, [1, 0, 0]]},
    }[kind]
    # two translations: a light carriage takes the first one
    rail = {"type": "prismatic", "axis": [1, 0, 0], "frame": ground}
    carriage = [part("carriage", "ground", 1e-6, [0, 0, 0], [1e-6], rail)] if kind == "Prismatic" else []
    spring = {
        "name": "pull",
        "type": "spring",
        "between": ["ground.origin", "body.eye"],
        "frames": [{"position": [0.8, 0, 0.3]}, {}],
        "stiffness": 20.0,
        "length": 0.0,
    }
    model: Dict = {"bough": 1, "name": "held", "gravity": [0, -G, 0], "bodies": [body, *carriage], "forces": [spring]}
    model |= {"loops": [between | loop], "outputs": ["body.origin"]}
    signals = MODELICA[f"{kind}Constraint"]["signals"]
    if kind == "Prismatic":
        columns = {s: f"body.origin.r[{s[-2]}]" for s in signals}
    else:
        columns = {s: f"body_h.w[{s[-2]}]" for s in signals}
    follows(f"{kind}Constraint", bough.Mechanism(model), columns)


def test_rolling_wheel() -> None:
    """A thin wheel rolls and leans; nonholonomic. Start rates (0, 5, 1) of the angles z, y, x."""
    hinge = {"type": "free", "initial": {"s": [0.2, 0.2, 0.3], "w": [1.0, 5.0, 0.0]}}
    body = part("wheel", "ground", 2.0, [0, 0, 0], [0.12, 0.06, 0.12, 0, 0, 0], hinge)
    loop = {
        "name": "roll",
        "type": "rolling",
        "axis": [0, 1, 0],
        "radius": 0.3,
        "between": ["wheel.origin", "ground.origin"],
    }
    model: Dict = {"bough": 1, "name": "wheel", "gravity": [0, 0, -G], "bodies": [body], "loops": [loop]}
    follows("RollingWheel", bough.Mechanism(model), {"wheel1.x": "wheel_h.s[1]", "wheel1.y": "wheel_h.s[2]"})


def test_gear_constraint() -> None:
    bodies = [
        part("fast", "ground", 1.0, [0, 0, 0], [0.03023783, 1.0, 1.0, 0, 0, 0], turn([1, 0, 0])),
        part("slow", "ground", 1.0, [0, 0, 0], [0.4838053, 1.0, 1.0, 0, 0, 0], turn([1, 0, 0])),
    ]
    gear = {"name": "gear", "of": {"fast_h.phi": 1, "slow_h.phi": -10}}
    system = bough.Mechanism({"bough": 1, "name": "gear", "bodies": bodies, "couplings": [gear]})
    side = "gearConstraint.actuatedRevolute_b"
    columns = {f"{side}.phi": "slow_h.phi", f"{side}.w": "slow_h.w"}
    follows("GearConstraint", system, columns, inputs={"fast_h.tau": lambda t: 2 * np.sin(2 * np.pi * t)})
