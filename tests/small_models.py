"""The small models that tests of several rooms share, and the pieces to write others with. SI units throughout."""

from __future__ import annotations

import copy
import math
from typing import Any

Dict = dict[str, Any]

DOWN = [0, 0, -9.81]
ALUMINIUM = {"E": 70e9, "nu": 0.33, "rho": 2700}
SOFT = {"E": 7e9, "nu": 0.33, "rho": 2700}
"""A tenth of aluminium's stiffness: modes slow enough for loose steps."""


def model(name: str, *bodies: Dict, **more: Any) -> Dict:
    """A model of some bodies."""
    # Pieces are copied: a test may change its model.
    return copy.deepcopy({"bough": 1, "name": name, "bodies": list(bodies), **more})


def body(name: str, parent: str, hinge: Dict, **more: Any) -> Dict:
    """A body on a hinge; `parent` is a body or `body.node`."""
    carrier, _, node = parent.partition(".")
    return {"name": name, "parent": carrier, **({"at": node} if node else {}), "hinge": hinge, **more}


def hinge(type: str, name: str, axis: list[Any] | None = None, **more: Any) -> Dict:
    """A hinge with one axis, a list of axes or none."""
    axes = {} if axis is None else {"axes" if isinstance(axis[0], list) else "axis": axis}
    return {"name": name, "type": type, **axes, **more}


def rigid(mass: float, inertia: tuple[float, float, float], com: tuple[float, ...] = (), **more: Any) -> Dict:
    """Mass properties with the principal axes along x, y, z."""
    return {"mass": mass, "inertia": [*inertia, 0, 0, 0], **({"com": list(com)} if com else {}), **more}


def beam(length: float, modes: Dict, section: Dict, material: Dict = SOFT, elements: int = 8, **more: Any) -> Dict:
    """A uniform straight beam along x."""
    return {
        "length": length,
        "elements": elements,
        "section": section,
        "material": material,
        "modes": modes,
        "damping": 0.01,
        **more,
    }


_STRIP = {"area": 1e-4, "Iy": 2e-9, "Iz": 1e-9, "J": 2e-9}

ARM = model(
    "arm",
    body(
        "upper",
        "ground",
        hinge("revolute", "shoulder", [0, 1, 0], damping=0.1, armature=0.01, initial={"phi": 0.3, "w": 0.2}),
        beam=beam(1.0, {"bending_y": 1, "bending_z": 1, "torsion": 1}, _STRIP),
    ),
    body(
        "lower",
        "upper.tip",
        hinge("universal", "wrist", [[0, 0, 1], [0, 1, 0]], damping=0.02, stiffness=0.5, initial={"phi": [0.2, -0.1]}),
        beam=beam(0.6, {"bending_y": 1, "bending_z": 1}, _STRIP),
    ),
    body(
        "hand",
        "lower.tip",
        hinge("prismatic", "grip", [1, 0, 0], damping=1.0, stiffness=40.0),
        rigid=rigid(0.3, (1e-3, 2e-3, 2e-3), (0.05, 0, 0.01), nodes={"tool": {"position": [0.1, 0, 0]}}, tunable=True),
    ),
    gravity=DOWN,
    inputs=["lower.tip.force", "hand.tool.torque"],
    outputs=["upper.tip", "hand.tool"],
)
"""Two flexible links, every kind of input and output, modes slow enough for loose steps."""

FLYER = model(
    "flyer",
    body(
        "hub",
        "ground",
        hinge(
            "free",
            "flight",
            initial={
                "s": [0.1, -0.2, 0.3],
                "Q": [0.18257418583505536, 0.3651483716701107, 0.5477225575051661, 0.7302967433402214],
                "v": [0.05, 0.02, -0.03],
                "w": [0.2, -0.3, 0.4],
            },
        ),
        rigid={
            "mass": 12.0,
            "com": [0.02, 0.01, 0],
            "inertia": [1.4, 1.2, 1.6, 0.01, 0, 0],
            "nodes": {"side": {"position": [0, 0.5, 0]}},
        },
    ),
    body(
        "boom",
        "hub.side",
        hinge("revolute", "root", [0, 0, 1], initial={"w": 0.7}),
        beam=beam(1.5, {"bending_y": 1, "bending_z": 1}, _STRIP),
    ),
    body(
        "ball",
        "boom.tip",
        hinge("spherical", "joint", initial={"w": [0.1, 0.5, -0.2]}),
        rigid=rigid(0.5, (0.01, 0.02, 0.02), (0.1, 0, 0)),
    ),
    outputs=["hub.origin", "boom.tip"],
)
"""Nothing holds it and nothing acts on it: momentum is constant whatever its hinges do."""

LINKAGE = model(
    "linkage",
    body(
        "crank",
        "ground",
        hinge("revolute", "drive", [0, 0, 1], damping=0.05, initial={"phi": 1.0, "w": 2.0}),
        rigid=rigid(1.0, (0.01, 0.09, 0.09), (0.5, 0, 0.02), nodes={"tip": {"position": [1, 0, 0]}}, tunable=True),
    ),
    body(
        "coupler",
        "crank.tip",
        hinge("revolute", "elbow", [0, 0, 1]),
        beam=beam(2.0, {"bending_y": 1, "bending_z": 2}, {"area": 1e-3, "Iy": 2e-7, "Iz": 1e-7, "J": 2e-7}),
    ),
    body(
        "rocker",
        "ground",
        hinge("revolute", "pivot", [0, 0, 1], frame={"position": [2, 0, 0]}),
        rigid=rigid(1.5, (0.01, 0.3, 0.3), (0.75, 0, 0), nodes={"tip": {"position": [1.5, 0, 0]}}),
    ),
    body(
        "rotor",
        "ground",
        hinge("revolute", "motor", [0, 0, 1], frame={"position": [0, 0, -0.3]}),
        rigid=rigid(0.2, (1e-3, 1e-3, 2e-3)),
    ),
    gravity=[0, -9.81, 0],
    loops=[{"name": "pin", "type": "slot", "axis": [0, 0, 1], "between": ["coupler.tip", "rocker.tip"]}],
    couplings=[{"name": "gear", "of": {"motor.phi": 1, "drive.phi": -3}, "offset": 0.5}],
    inputs=["coupler.tip.force"],
    outputs=["coupler.tip", "rocker.tip"],
)
"""A crank turns a flexible coupler and a rocker, by a gear; no equation of the loop is redundant."""

SLIDER = model(
    "slider",
    body(
        "cart",
        "ground",
        hinge("prismatic", "rail", [1, 0, 0]),
        rigid=rigid(12.0, (5.0, 10.0, 13.0), (0.1, 0, 0), nodes={"top": {"position": [0, 0, 0.5]}}),
    ),
    body(
        "boom",
        "cart.top",
        hinge("revolute", "luff", [0, 1, 0], initial={"phi": -0.4}),
        beam=beam(
            2.0,
            {"boundary": "cantilever", "bending_y": 2},
            {"shape": "rectangle", "width": 0.02, "height": 0.02},
            ALUMINIUM,
        ),
    ),
    body(
        "flag",
        "boom.tip",
        {"type": "fixed"},
        nodal={
            "attach": "a",
            "nodes": [
                {"name": "a", "position": [0, 0, 0], "mass": 0.1},
                {"name": "b", "position": [0, 0.5, 0], "mass": 0.2},
            ],
            "modes": [[[0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1]]],
            "stiffness": [50.0],
        },
    ),
    body(
        "drone",
        "ground",
        hinge("free", "flight", initial={"s": [0, 0, 1], "v": [0.3, 0, 5.0]}),
        rigid=rigid(1.0, (0.1, 0.1, 0.1)),
    ),
    gravity=DOWN,
    outputs=["boom.tip"],
)
"""Every kind of body that a picture shows."""

RIG = model(
    "rig",
    body(
        "base",
        "ground",
        hinge("spherical", "ball", damping=0.2, initial={"Q": [0.1, 0.2, 0.3, 0.9274]}),
        rigid=rigid(1.0, (0.2, 0.3, 0.4), (0.1, 0, -0.3)),
    ),
    body(
        "boom",
        "base",
        hinge("revolute", "yaw", [0, 0, 1], initial={"w": 0.7}, stiffness=1.0),
        beam=beam(
            1.0,
            {"boundary": "cantilever", "count": 3},
            {"shape": "circle", "radius": 0.01},
            elements=6,
            damping=0.02,
        ),
    ),
    body(
        "hand",
        "boom.tip",
        hinge("revolute", "wrist", [0, 1, 0], drive="motion"),
        rigid=rigid(0.5, (0.01, 0.02, 0.02), (0.1, 0, 0), tunable=True),
    ),
    body(
        "tool",
        "hand",
        hinge("prismatic", "slide", [1, 0, 0], drive="locked", stiffness=50.0),
        rigid=rigid(0.2, (0.001, 0.001, 0.001)),
    ),
    gravity=DOWN,
    inputs=["boom.tip.force", "tool.origin.torque"],
    outputs=["boom.tip", "tool.origin"],
)
"""Every kind of variable: a quaternion, modes, a driven and a locked hinge, loads, sensors, a tunable body."""

LINK = model(
    "link",
    body(
        "rod",
        "ground",
        hinge("revolute", "pivot", [0, -1, 0], damping=0.05, initial={"phi": -math.pi / 2}),
        beam=beam(
            1.0,
            {"bending_z": 1},
            {"area": 1e-4, "Iy": 2e-9, "Iz": 2e-9, "J": 4e-9},
            SOFT | {"nu": 0.3},
            damping=0.02,
        ),
    ),
    gravity=DOWN,
    outputs=["rod.tip"],
)
"""One flexible link in the vertical plane: phi = -pi/2 hangs, 0 is level."""

SHOULDER = model(
    "arm",
    body(
        "upper",
        "ground",
        hinge("revolute", "shoulder", [0, 0, 1]),
        beam=beam(1.0, {"bending_z": 2}, {"area": 1e-4, "Iy": 1e-9, "Iz": 1e-9, "J": 2e-9}, ALUMINIUM),
    ),
    outputs=["upper.tip"],
)
"""One flexible link in the horizontal plane, for a motor and its controller."""


def loaded_link(mass: float = 0.5) -> Dict:
    """A flexible link with a tunable load at its tip."""
    section = {"shape": "rectangle", "width": 0.006, "height": 0.03}
    modes = {"boundary": "cantilever", "bending_z": 2}
    return model(
        "arm",
        body(
            "link",
            "ground",
            hinge("revolute", "shoulder", [0, 0, 1], damping=0.1),
            beam=beam(1.0, modes, section, ALUMINIUM, elements=6),
        ),
        body("load", "link.tip", {"type": "fixed"}, rigid=rigid(mass, (1e-4, 1e-4, 1e-4), tunable=True)),
        gravity=DOWN,
        outputs=["load.origin"],
    )
