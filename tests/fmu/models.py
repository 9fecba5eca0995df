"""Models of these tests, and their FMUs unpacked for this machine."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from fmu.fmi import Fmu

import bough
from bough.export.package import find_binary, fmu_files, native_platform
from bough.export.table import scalar_table

VERSIONS = ("2.0", "3.0")
_BEAM: dict[str, Any] = {
    "elements": 8,
    "section": {"area": 1e-4, "Iy": 2e-9, "Iz": 1e-9, "J": 2e-9},
    "material": {"E": 7e9, "nu": 0.33, "rho": 2700},
    "damping": 0.01,
}
ARM: dict[str, Any] = {
    "bough": 1,
    "name": "arm",
    "gravity": [0, 0, -9.81],
    "bodies": [
        {
            "name": "upper",
            "parent": "ground",
            "hinge": {
                "name": "shoulder",
                "type": "revolute",
                "axis": [0, 1, 0],
                "damping": 0.1,
                "armature": 0.01,
                "initial": {"phi": 0.3, "w": 0.2},
            },
            "beam": {**_BEAM, "length": 1.0, "modes": {"bending_y": 1, "bending_z": 1, "torsion": 1}},
        },
        {
            "name": "lower",
            "parent": "upper",
            "at": "tip",
            "hinge": {
                "name": "wrist",
                "type": "universal",
                "axes": [[0, 0, 1], [0, 1, 0]],
                "damping": 0.02,
                "stiffness": 0.5,
                "initial": {"phi": [0.2, -0.1]},
            },
            "beam": {**_BEAM, "length": 0.6, "modes": {"bending_y": 1, "bending_z": 1}},
        },
        {
            "name": "hand",
            "parent": "lower",
            "at": "tip",
            "hinge": {"name": "grip", "type": "prismatic", "axis": [1, 0, 0], "damping": 1.0, "stiffness": 40.0},
            "rigid": {
                "mass": 0.3,
                "com": [0.05, 0, 0.01],
                "inertia": [1e-3, 2e-3, 2e-3, 0, 0, 0],
                "nodes": {"tool": {"position": [0.1, 0, 0]}},
                "tunable": True,
            },
        },
    ],
    "inputs": ["lower.tip.force", "hand.tool.torque"],
    "outputs": ["upper.tip", "hand.tool"],
}
"""Two flexible links, every kind of input and output, modes slow enough for loose steps."""
FLYER: dict[str, Any] = {
    "bough": 1,
    "name": "flyer",
    "bodies": [
        {
            "name": "hub",
            "parent": "ground",
            "hinge": {
                "name": "flight",
                "type": "free",
                "initial": {
                    "s": [0.1, -0.2, 0.3],
                    "Q": [0.18257418583505536, 0.3651483716701107, 0.5477225575051661, 0.7302967433402214],
                    "v": [0.05, 0.02, -0.03],
                    "w": [0.2, -0.3, 0.4],
                },
            },
            "rigid": {
                "mass": 12.0,
                "com": [0.02, 0.01, 0],
                "inertia": [1.4, 1.2, 1.6, 0.01, 0, 0],
                "nodes": {"side": {"position": [0, 0.5, 0]}},
            },
        },
        {
            "name": "boom",
            "parent": "hub",
            "at": "side",
            "hinge": {"name": "root", "type": "revolute", "axis": [0, 0, 1], "initial": {"w": 0.7}},
            "beam": {**_BEAM, "length": 1.5, "modes": {"bending_y": 1, "bending_z": 1}},
        },
        {
            "name": "ball",
            "parent": "boom",
            "at": "tip",
            "hinge": {"name": "joint", "type": "spherical", "initial": {"w": [0.1, 0.5, -0.2]}},
            "rigid": {"mass": 0.5, "com": [0.1, 0, 0], "inertia": [0.01, 0.02, 0.02, 0, 0, 0]},
        },
    ],
    "outputs": ["hub.origin", "boom.tip"],
}
"""Nothing holds it and nothing acts on it: momentum is constant whatever its hinges do."""
MODELS = {"arm": ARM, "flyer": FLYER}


@cache
def system(name: str) -> bough.System:
    """A model, compiled."""
    return bough.System(MODELS[name])


def references(of: bough.System) -> dict[str, int]:
    """Value references by name."""
    return {v.name: i for i, v in enumerate(scalar_table(of))}


def unpack(of: bough.System, fmi: str, folder: Path, platform: str | None = None) -> Fmu:
    """Write a model's FMU into a folder as a master unpacks it."""
    platform = native_platform() if platform is None else platform
    files = fmu_files(of, fmi)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    library = folder / "binaries" / f"{of.model.name}{'.dll' if 'windows' in platform else '.so'}"
    library.parent.mkdir(exist_ok=True)
    library.write_bytes(find_binary(platform, fmi))
    found = re.search(r'(?:guid|instantiationToken)="([^"]+)"', files["modelDescription.xml"].decode())
    assert found is not None
    return Fmu(fmi, folder, library, found[1], references(of))
