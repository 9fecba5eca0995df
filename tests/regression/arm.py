"""A small flexible arm in a file, and a table of its torque."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from small_models import loaded_link


def write_arm(folder: Path, mass: float = 0.5) -> Path:
    path = folder / "arm.json"
    path.write_text(json.dumps(loaded_link(mass), indent=1), encoding="utf-8")
    return path


def write_torque(folder: Path) -> Path:
    path = folder / "torque.csv"
    t = np.linspace(0.0, 1.0, 21)
    rows = [f"{a!r},{b!r}" for a, b in zip(t.tolist(), np.sin(6 * t).tolist(), strict=True)]
    path.write_text("time,shoulder.tau\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path
