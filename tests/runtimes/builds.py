"""Models and FMUs of these tests."""

from __future__ import annotations

import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from house.tools import ROOT

import bough

MADE = {"fe_bracket"}
"""Examples whose script makes the files that their model names: tests/flex/fe/test_chain.py looks after them."""
EXAMPLES = sorted({path.parent.name for path in (ROOT / "examples").glob("*/model.yaml")} - MADE)
RIG: dict[str, Any] = {
    "bough": 1,
    "name": "rig",
    "gravity": [0, 0, -9.81],
    "bodies": [
        {
            "name": "base",
            "parent": "ground",
            "hinge": {"name": "ball", "type": "spherical", "damping": 0.2, "initial": {"Q": [0.1, 0.2, 0.3, 0.9274]}},
            "rigid": {"mass": 1.0, "com": [0.1, 0, -0.3], "inertia": [0.2, 0.3, 0.4, 0, 0, 0]},
        },
        {
            "name": "boom",
            "parent": "base",
            "hinge": {"name": "yaw", "type": "revolute", "axis": [0, 0, 1], "initial": {"w": 0.7}, "stiffness": 1.0},
            "beam": {
                "length": 1.0,
                "elements": 6,
                "section": {"shape": "circle", "radius": 0.01},
                "material": {"E": 7e9, "nu": 0.33, "rho": 2700},
                "modes": {"boundary": "cantilever", "count": 3},
                "damping": 0.02,
            },
        },
        {
            "name": "hand",
            "parent": "boom",
            "at": "tip",
            "hinge": {"name": "wrist", "type": "revolute", "axis": [0, 1, 0], "drive": "motion"},
            "rigid": {"mass": 0.5, "com": [0.1, 0, 0], "inertia": [0.01, 0.02, 0.02, 0, 0, 0], "tunable": True},
        },
        {
            "name": "tool",
            "parent": "hand",
            "hinge": {"name": "slide", "type": "prismatic", "axis": [1, 0, 0], "drive": "locked", "stiffness": 50.0},
            "rigid": {"mass": 0.2, "inertia": [0.001, 0.001, 0.001, 0, 0, 0]},
        },
    ],
    "inputs": ["boom.tip.force", "tool.origin.torque"],
    "outputs": ["boom.tip", "tool.origin"],
}
"""Every kind of variable: a quaternion, modes, a driven and a locked hinge, loads, sensors, a tunable body."""


def model_file(name: str) -> Path:
    """The model of an example by its folder."""
    return ROOT / "examples" / name / "model.yaml"


@cache
def system_of(name: str) -> bough.System:
    """An example by its folder, or the rig."""
    return bough.System(RIG if name == "rig" else model_file(name))


def unpacked(path: Path) -> Path:
    """The folder that an FMU is unpacked to, beside it; once, for a loaded library must not be written over."""
    folder = path.with_suffix("")
    if not folder.is_dir():
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
    return folder
