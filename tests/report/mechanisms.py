"""A mechanism of every kind of body, for pictures of it."""

from __future__ import annotations

from typing import Any

import numpy as np

import bough

SLIDER: dict[str, Any] = {
    "bough": 1,
    "name": "slider",
    "gravity": [0, 0, -9.81],
    "bodies": [
        {
            "name": "cart",
            "parent": "ground",
            "hinge": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0]},
            "rigid": {
                "mass": 12.0,
                "com": [0.1, 0, 0],
                "inertia": [5.0, 10.0, 13.0, 0, 0, 0],
                "nodes": {"top": {"position": [0, 0, 0.5]}},
            },
        },
        {
            "name": "boom",
            "parent": "cart",
            "at": "top",
            "hinge": {"name": "luff", "type": "revolute", "axis": [0, 1, 0], "initial": {"phi": -0.4}},
            "beam": {
                "length": 2.0,
                "elements": 8,
                "section": {"shape": "rectangle", "width": 0.02, "height": 0.02},
                "material": {"E": 70e9, "nu": 0.33, "rho": 2700},
                "modes": {"boundary": "cantilever", "bending_y": 2},
                "damping": 0.01,
            },
        },
        {
            "name": "flag",
            "parent": "boom",
            "at": "tip",
            "hinge": {"type": "fixed"},
            "nodal": {
                "attach": "a",
                "nodes": [
                    {"name": "a", "position": [0, 0, 0], "mass": 0.1},
                    {"name": "b", "position": [0, 0.5, 0], "mass": 0.2},
                ],
                "modes": [[[0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1]]],
                "stiffness": [50.0],
            },
        },
        {
            "name": "drone",
            "parent": "ground",
            "hinge": {"name": "flight", "type": "free", "initial": {"s": [0, 0, 1], "v": [0.3, 0, 5.0]}},
            "rigid": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
        },
    ],
    "outputs": ["boom.tip"],
}


def slider_run() -> tuple[bough.System, bough.Result]:
    """The mechanism and a second of its motion."""
    system = bough.System(SLIDER)
    result = bough.simulate(system, 1.0, {"rail.f": lambda t: 30.0 * np.sin(6.0 * t)}, 0.002)
    return system, result
