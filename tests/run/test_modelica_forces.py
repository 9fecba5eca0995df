"""Examples of Modelica.Mechanics.MultiBody with springs, wheels and point gravity, against the published results.

`modelica_forces.json` holds results as published with release 4.1.0 of the Modelica Standard Library. The models here
are written from their descriptions. A signal is compared to 1e-4 of its range,
    while the published run itself is that good.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from small_models import body, hinge, model

import bough

DATA = json.loads((Path(__file__).parent / "modelica_forces.json").read_text())["examples"]
G = [0, -9.80665, 0]
BALL = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
BOB = BALL | {"com": [0, -0.2, 0]}
GROUND = "ground.origin"


def spring(first: str, second: str, c: float, length: float, d: float = 0.0, at: list[float] | None = None) -> Any:
    """A line spring and damper; `at` moves its first end."""
    frames = {} if at is None else {"frames": [{"position": at}, {}]}
    laws = {"stiffness": c, "damping": d, "length": length} if c else {"damping": d, "length": length}
    return {"type": "spring", "between": [first, second], **laws, **frames}


def agree(
    name: str, made: dict[str, Any], signals: Mapping[str, str], rows: int = 20000, rtol: float = 1e-9, **options: Any
) -> None:
    """A run passes through the published results of the signals named; ours by theirs."""
    ref = DATA[name]
    good = ref["reference_error"]["above_1e-4_from"] or math.inf
    times = np.array(ref["t"])
    run = bough.simulate(made, stop=float(times[-1]), step=float(times[-1]) / rows, rtol=rtol, **options)
    use = times < good
    assert use.sum() > 5
    for theirs, ours in signals.items():
        found = np.interp(times[use], run.t, run[ours])
        curve = np.abs(np.diff(run[ours][run.t < good], 2)).max() / 8
        size = ref["range"][theirs]
        published = np.array(ref["signals"][theirs])[use]
        assert curve < 1e-5 * size  # rows are dense enough to interpolate
        assert np.abs(found - published).max() < 1e-4 * size, (theirs, np.abs(found - published).max() / size)


def free(name: str, at: list[float], **initial: Any) -> Any:
    return hinge("free", name, initial={"s": at, **initial})


def vectors(prefix: str, ours: str, planar: bool = True) -> dict[str, str]:
    """Position, velocity and angular velocity of a free body; in plane motion those that are not zero."""
    axes = (1, 2) if planar else (1, 2, 3)
    out = {f"{prefix}.frame_a.r_0[{i}]": f"{ours}.s[{i}]" for i in axes}
    out |= {f"{prefix}.v_0[{i}]": f"{ours}.v[{i}]" for i in axes}
    return out | {f"{prefix}.w_a[{i}]": f"{ours}.w[{i}]" for i in ((3,) if planar else (1, 3))}


def test_pendulum_with_spring_damper() -> None:
    at = {"position": [0.3, 0, 0]}
    made = model(
        "pendulum",
        body("arm", "ground", hinge("revolute", "revolute", [0, 0, 1], frame=at), rigid={"mass": 0.0}),
        body("bob", "arm", hinge("prismatic", "prismatic", [1, 0, 0], initial={"s": 0.5}),
             rigid={"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}),
        gravity=G, forces=[spring(GROUND, "bob.origin", 20, 0.2, 1, [0.3, 0, 0])],
    )  # fmt: skip
    agree("PendulumWithSpringDamper", made, {n: n for n in DATA["PendulumWithSpringDamper"]["signals"]})


def test_spring_damper_system() -> None:
    slide = hinge("prismatic", "p2", [0, -1, 0], frame={"position": [0.9, 0, 0]}, initial={"s": 0.1})
    made = model(
        "system",
        body("body1", "ground", free("h", [0.3, -0.2, 0], w=[0, 0, math.radians(2)]), rigid=BOB),
        body("body2", "ground", slide, rigid={"mass": 1.0}), gravity=G,
        forces=[spring(GROUND, "body1.origin", 30, 0.1, 2, [0.3, 0, 0]), spring(GROUND, "body2.origin", 30, 0.1, 0,
            [0.9, 0, 0])],
    )  # fmt: skip
    agree("SpringDamperSystem", made, vectors("body1", "h") | {"p2.s": "p2.s", "p2.v": "p2.v"})


def test_spring_mass_system() -> None:
    one = hinge(
        "prismatic", "p1", [0, -1, 0], frame={"position": [0.3, 0, 0]}, initial={"s": 0.1}, stiffness=30.0, rest=0.1
    )
    two = hinge("prismatic", "p2", [0, -1, 0], frame={"position": [0.6, 0, 0]}, initial={"s": 0.1})
    made = model(
        "masses", body("m1", "ground", one, rigid={"mass": 1.0}), body("m2", "ground", two, rigid={"mass": 1.0}),
        gravity=G, forces=[spring(GROUND, "m2.origin", 30, 0.1, 0, [0.6, 0, 0])],
    )  # fmt: skip
    agree("SpringMassSystem", made, {n: n for n in DATA["SpringMassSystem"]["signals"]})


def test_three_springs() -> None:
    """The massless junction becomes a body of 1e-5 kg, released where the three forces balance."""
    anchors = [(20.0, np.array([0.3, 0, 0])), (20.0, np.array([0, 0, 0.3])), (40.0, np.array([0.5, -0.3, 0]))]

    def energy(x: Any) -> float:
        return sum(0.5 * c * (np.linalg.norm(x - a) - 0.1) ** 2 for c, a in anchors)

    rest = minimize(energy, [0.1, -0.2, 0.2], method="BFGS", options={"gtol": 1e-10}).x
    light = {"mass": 1e-5, "inertia": [1e-9, 1e-9, 1e-9, 0, 0, 0]}
    made = model(
        "springs",
        body("body1", "ground", free("h", [0.5, -0.3, 0]),
             rigid={"mass": 0.8, "inertia": [0.1, 0.1, 0.1, 0, 0, 0], "com": [0, -0.2, 0]}),
        body("junction", "ground", free("j", rest.tolist()), rigid=light), gravity=G,
        forces=[
            spring(GROUND, "junction.origin", 20, 0.1, 0, [0.3, 0, 0]),
            spring(GROUND, "junction.origin", 20, 0.1, 0, [0, 0, 0.3]), spring("junction.origin", "body1.origin", 40,
                0.1),
        ],
    )  # fmt: skip
    agree("ThreeSprings", made, vectors("body1", "h", planar=False), rtol=1e-8)


def test_line_force_with_two_masses() -> None:
    """The telescope as two bodies of point masses, closed on the box by a loop; the damper as a force along it."""
    length, angle = math.hypot(0.7, 1.2), math.atan2(1.2, 0.7)
    box = {
        "mass": 6.60275, "com": [0.35, 0, 0], "inertia": [0.001348061, 0.2702863, 0.2702863, 0, 0, 0],
        "nodes": {"end": {"position": [0.7, 0, 0]}},
    }  # fmt: skip
    foot = hinge("revolute", "foot", [0, 0, 1], frame={"position": [0, -0.9, 0]}, initial={"phi": angle})
    made = model(
        "line",
        body("box", "ground", hinge("revolute", "revolute1", [0, 0, 1], frame={"position": [0, 0.3, 0]},
            initial={"phi": 0}), rigid=box),
        body("lower", "ground", foot, rigid={"mass": 1.0, "com": [0.2, 0, 0]}),
        body("upper", "lower", hinge("prismatic", "tube", [1, 0, 0], initial={"s": length}), rigid={"mass": 1.0,
            "com": [-0.2, 0, 0]}),
        gravity=G, loops=[{"name": "eye", "type": "spherical", "between": ["upper.origin", "box.end"]}],
        forces=[spring(GROUND, "box.end", 0, 1.0, 3, [0, -0.9, 0])],
    )  # fmt: skip
    agree("LineForceWithTwoMasses", made, {f"revolute{i}.{k}": f"revolute1.{k}" for i in (1, 2) for k in ("phi", "w")})


def test_heat_losses() -> None:
    """Bodies 1 and 2; the third has a damper in series with a spring, which holds a state of its own."""
    made = model(
        "heat", *(body(f"body{i}", "ground", free(f"h{i}", [0.3 * i, -0.2, 0], w=[0, 0, 0.034906585]),
            rigid=BOB) for i in (1, 2)),
        gravity=G, forces=[
            spring(GROUND, "body1.origin", 30, 0.1, 0, [0.3, 0, 0]), spring(GROUND, "body1.origin", 0, 0.1, 2, [0.3,
                0, 0]),
            spring(GROUND, "body2.origin", 30, 0.1, 2, [0.6, 0, 0]),
        ],
    )  # fmt: skip
    agree("HeatLosses", made, vectors("body1", "h1") | vectors("body2", "h2"))


ORBITS = [
    ([0, 0.6, 0], [1, 0, 0]),
    ([0.6, 0.6, 0], [0.6, 0, 0]),
    ([0, 0.8, 0], [0.6, 0, 0]),
    ([0.3, 0.8, 0], [0.6, 0, 0]),
]


@pytest.mark.parametrize(("name", "count"), [("PointGravity", 2), ("PointGravityWithPointMasses", 4)])
def test_point_gravity(name: str, count: int) -> None:
    """Bodies of equal moments about all axes feel no gradient, as point masses do."""
    bodies = [
        body(f"b{i + 1}", "ground", free(f"h{i + 1}", r, v=v), rigid=BALL) for i, (r, v) in enumerate(ORBITS[:count])
    ]
    forces = [spring("b3.origin", "b4.origin", 10, 0.0)] if count > 2 else []
    made = model("point", *bodies, gravity={"mu": 1.0, "center": [0, 0, 0]}, forces=forces)
    frame = "" if count > 2 else "frame_a."
    signals = {f"body{i}.{frame}r_0[{k}]": f"h{i}.s[{k}]" for i in range(1, count + 1) for k in (1, 2)}
    signals |= {f"body{i}.v_0[{k}]": f"h{i}.v[{k}]" for i in range(1, count + 1) for k in (1, 2)}
    agree(name, made, signals)


def test_user_defined_gravity_field() -> None:
    """A weight that falls with height, as a force that is a function of the state."""
    gn, a, f = 9.7803253359, 6378137.0, 1 / 298.257223563
    m = (7292115e-11) ** 2 * a * a * 6356752.3142 / 3986004.418e8

    def weight(t: float, state: Any) -> float:
        height = 20 + 10 * math.sin(state["rev.phi"])
        return -1000 * gn * (1 - height / a * (2 * (1 + f + m) + 3 * height / a))

    block = {
        "mass": 1000.0,
        "com": [10, 0, 0],
        "inertia": [1e-3, 1e-3, 1e-3, 0, 0, 0],
        "nodes": {"c": {"position": [10, 0, 0]}},
    }
    on = hinge("revolute", "rev", [0, 0, 1], frame={"position": [0, 20, 0]}, damping=0.1)
    made = model("field", body("block", "ground", on, rigid=block), inputs=["block.c.force"])
    agree(
        "UserDefinedGravityField",
        made,
        {"rev.phi": "rev.phi", "rev.w": "rev.w"},
        inputs={"block.c.force[2]": weight},
        rows=1500,
    )


def test_actuated_drive() -> None:
    """The body on a hinge, and the rotor as a wheel on a body that stands still."""
    drum = {"mass": 0.0, "inertia": [2.0, 1.0, 1.0, 0, 0, 0]}
    stand = {
        "mass": 1.0,
        "inertia": [3.0, 3.0, 3.0, 0, 0, 0],
        "wheels": [{"name": "rotor", "axis": [1, 0, 0], "inertia": 2.0}],
    }
    made = model(
        "drive", body("drum", "ground", hinge("revolute", "revolute", [1, 0, 0]), rigid=drum),
        body("stand", "ground", hinge("fixed", "base"), rigid=stand),
    )  # fmt: skip
    names = {
        "revolute.phi": "revolute.phi",
        "revolute.w": "revolute.w",
        "rotor1D.phi": "stand.rotor.phi",
        "rotor1D.w": "stand.rotor.w",
    }

    def torque(t: float) -> float:
        return math.sin(2 * math.pi * t)

    agree("ActuatedDrive", made, names, inputs={"revolute.tau": torque, "stand.rotor.tau": torque}, rows=1500)


def test_gyroscopic_effects() -> None:
    """Once with the cylinder on a hinge, once with the cylinder fixed and its spin as a wheel."""
    turn = {"position": [0.25, 0, 0], "quaternion": Rotation.from_euler("y", 45, degrees=True).as_quat().tolist()}
    arm = {"mass": 3.779729, "com": [0.125, 0, 0], "inertia": [0.001181165, 0.02027667, 0.02027667, 0, 0, 0]}
    cylinder: dict[str, Any] = {"mass": 12.09513, "inertia": [0.01511891, 0.04787656, 0.04787656, 0, 0, 0]}
    wheel = {"name": "rotor", "axis": [1, 0, 0], "inertia": 0.01511891, "w": 10.0}
    made = model(
        "gyro", body("arm1", "ground", hinge("spherical", "s1"), rigid=arm),
        body("cylinder", "arm1", hinge("revolute", "revolute", [1, 0, 0], frame=turn, initial={"w": 10.0}),
            rigid=cylinder),
        body("arm2", "ground", hinge("spherical", "s2"), rigid=arm),
        body("carrier", "arm2", hinge("fixed", "f2", frame=turn), rigid=cylinder | {"wheels": [wheel]}),
        gravity=G, outputs=["cylinder.origin.local", "arm2.origin.local"],
    )  # fmt: skip
    signals = {f"bodyCylinder2.body.w_a[{i}]": f"cylinder.origin.local_w[{i}]" for i in (2, 3)}
    signals |= {f"bodyCylinder3.body.w_a[{i}]": f"arm2.origin.local_w[{i}]" for i in (1, 2, 3)}
    signals |= {
        "revolute.phi": "revolute.phi",
        "revolute.w": "revolute.w",
        "rotor1D.phi": "carrier.rotor.phi",
        "rotor1D.w": "carrier.rotor.w",
    }
    agree("GyroscopicEffects", made, signals)
