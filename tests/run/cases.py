"""What the simulation tests share: models that swing and float, and the states of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
from kernel.cases import Array, Dict
from numpy.typing import ArrayLike

from bough import Mechanism
from bough.run.result import Result


def states(system: Mechanism, run: Result) -> tuple[Array, Array]:
    """Positions (n, nq) and speeds (n, nu) of a run."""
    return (
        np.column_stack([run[name] for name in system.q_names]),
        np.column_stack([run[name] for name in system.u_names]),
    )


def blade(modes: int = 2, stiffness: float = 30.0, rotary: bool = False, clamped: bool = True, **more: Any) -> Dict:
    """A soft blade of 0.8 m along x: five nodes, bending out of and in the plane, and twist with stretch."""
    x = np.linspace(0.0, 0.8, 5)
    s = x / 0.8
    zero = 0.0 * s
    basis = [
        np.column_stack([zero, -1.5 * s, zero, zero, zero, s**2]),
        np.column_stack([zero, zero, 1.2 * s, zero, s**2, 0.3 * s]),
        np.column_stack([s, zero, zero, 0.4 * s, zero, s**3]),
    ]
    shapes = [shape + (0.0 if clamped else 0.25 * np.cos(shape + r + 1)) for r, shape in enumerate(basis[:modes])]
    nodes = []
    for j in range(5):
        node: Dict = {"name": f"n{j}", "position": [float(x[j]), 0.0, 0.1 * (j % 2)], "mass": 0.2}
        nodes.append(node | ({"inertia": [2e-3, 3e-3, 4e-3, 2e-4, 0, 1e-4]} if rotary else {}))
    stiff = [stiffness * (r + 1) for r in range(modes)]
    return {"attach": "n0", "nodes": nodes, "modes": [a.tolist() for a in shapes], "stiffness": stiff} | more


def swinging_chain(**options: Any) -> Dict:
    """Three blades hung on each other by hinges of three kinds, let go sideways, and a rigid branch."""
    initial = {"eta": [0.4] + [-0.2] * (options.get("modes", 2) - 1)}
    hinges: list[Dict] = [
        {"name": "h0", "type": "revolute", "axis": [0, 1, 0], "initial": {"phi": 0.3, "w": 1.0}},
        {"name": "h1", "type": "universal", "axes": [[0, 1, 0], [0, 0, 1]], "initial": {"phi": [0.5, -0.4]}},
        {"name": "h2", "type": "spherical", "initial": {"w": [0.5, -1.0, 2.0]}},
    ]
    bodies = []
    for k, hinge in enumerate(hinges):
        at = {"parent": f"b{k - 1}", "at": "n4"} if k else {"parent": "ground"}
        bodies.append({"name": f"b{k}", "hinge": hinge, "nodal": blade(**options) | {"initial": initial}} | at)
    hand = {"mass": 0.5, "com": [0.1, 0.02, 0], "inertia": [2e-3, 4e-3, 3e-3, 0, 0, 0]}
    spring = {
        "name": "h3",
        "type": "cylindrical",
        "axis": [0, 1, 1],
        "stiffness": 8.0,
        "initial": {"s": 0.1, "v": -0.3},
    }
    bodies.append({"name": "hand", "parent": "b1", "at": "n2", "hinge": spring, "rigid": hand})
    return {"bough": 1, "name": "swing", "gravity": [0, 0, -9.81], "bodies": bodies}


def craft(damping: float = 0.0, **options: Any) -> Dict:
    """A free-floating hub with a wheel, two flexible panels, and a pendulum."""
    hub = {"mass": 4.0, "com": [0.02, 0, 0.01], "inertia": [0.3, 0.4, 0.5, 0.01, 0, 0.02]}
    hub |= {
        "nodes": {"right": {"position": [0.3, 0, 0]}, "left": {"position": [-0.3, 0, 0], "quaternion": [0, 0, 1, 0]}}
    }
    hub |= {"wheels": [{"axis": [0, 1, 1], "momentum": 1.5}]}
    start = {"s": [1.0, -2.0, 0.5], "v": [0.1, 0.2, -0.3], "w": [0.5, -0.8, 1.0], "Q": [0.5, 0.5, -0.5, 0.5]}
    part = blade(**options) | {"initial": {"eta": [0.3, -0.2]}} | ({"damping": [0.05] * 2} if damping else {})
    bodies: list[Dict] = [
        {"name": "hub", "parent": "ground", "hinge": {"name": "base", "type": "free", "initial": start}, "rigid": hub},
        {"name": "right", "parent": "hub", "at": "right", "hinge": {"type": "fixed"}, "nodal": part},
        {
            "name": "left",
            "parent": "hub",
            "at": "left",
            "hinge": {"name": "drive", "type": "revolute", "axis": [1, 0, 0], "damping": damping, "stiffness": 2.0},
            "nodal": part,
        },
        {
            "name": "ball",
            "parent": "left",
            "at": "n4",
            "hinge": {"name": "tether", "type": "spherical", "damping": damping, "initial": {"w": [1.0, 0.5, -2.0]}},
            "rigid": {"mass": 0.3, "com": [0.2, 0, 0], "inertia": [1e-3, 2e-3, 2e-3, 0, 0, 0]},
        },
    ]
    return {"bough": 1, "name": "craft", "bodies": bodies}


def relative_drift(values: ArrayLike, size: float) -> float:
    """Largest departure from the first value, over `size`."""
    v = np.asarray(values, dtype=float)
    return float(np.abs(v - v[0]).max() / size)
