"""A small flexible arm in a file, and a table of its torque."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np


def arm(mass: float = 0.5) -> dict[str, Any]:
    return {
        "bough": 1,
        "name": "arm",
        "gravity": [0, 0, -9.81],
        "bodies": [
            {
                "name": "link",
                "parent": "ground",
                "hinge": {"name": "shoulder", "type": "revolute", "axis": [0, 0, 1], "damping": 0.1},
                "beam": {
                    "length": 1.0,
                    "elements": 6,
                    "section": {"shape": "rectangle", "width": 0.006, "height": 0.03},
                    "material": {"E": 70e9, "nu": 0.33, "rho": 2700},
                    "modes": {"boundary": "cantilever", "bending_z": 2},
                    "damping": 0.01,
                },
            },
            {
                "name": "load",
                "parent": "link",
                "at": "tip",
                "hinge": {"type": "fixed"},
                "rigid": {"mass": mass, "inertia": [1e-4, 1e-4, 1e-4, 0, 0, 0], "tunable": True},
            },
        ],
        "outputs": ["load.origin"],
    }


def write_arm(folder: Path, mass: float = 0.5) -> Path:
    path = folder / "arm.json"
    path.write_text(json.dumps(arm(mass), indent=1), encoding="utf-8")
    return path


def write_torque(folder: Path) -> Path:
    path = folder / "torque.csv"
    t = np.linspace(0.0, 1.0, 21)
    rows = [f"{a!r},{b!r}" for a, b in zip(t.tolist(), np.sin(6 * t).tolist(), strict=True)]
    path.write_text("time,shoulder.tau\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path
