"""An excavator-like arm: swing, boom, stick and bucket, with heavy links. Its inertia changes much along a move."""

from __future__ import annotations

from typing import Any

import numpy as np
from partners.built import AtWork

import bough
from bough.partners import describe_partner
from bough.run.settling import at_rest

START, END = (0.0, 0.9, -1.8, -0.6), (1.2, 0.3, -0.7, 0.2)
HINGES = ("swing", "raise", "crowd", "curl")
STEP = 1e-3


def _link(name: str, parent: str, at: str, hinge: str, length: float, phi: float) -> dict[str, Any]:
    return {
        "name": name, "parent": parent, "at": at,
        "hinge": {"name": hinge, "type": "revolute", "axis": [0, -1, 0], "damping": 50.0, "initial": {"phi": phi}},
        "beam": {"length": length, "elements": 8, "section": {"area": 0.02, "Iy": 4e-4, "Iz": 2.5e-4, "J": 5e-4},
                 "material": {"E": 210e9, "nu": 0.3, "rho": 7850}, "damping": 0.01,
                 "modes": {"boundary": "cantilever", "bending_y": 2, "bending_z": 2, "torsion": 0, "axial": 0}},
    }  # fmt: skip


MODEL: dict[str, Any] = {
    "bough": 1, "name": "excavator", "gravity": [0, 0, -9.81],
    "bodies": [
        {"name": "cabin", "parent": "ground",
         "hinge": {"name": "swing", "type": "revolute", "axis": [0, 0, 1], "damping": 100.0},
         "rigid": {"mass": 9000.0, "com": [-0.8, 0, 0.5], "inertia": [12000, 20000, 22000, 0, 0, 0],
                   "nodes": {"foot": {"position": [0.4, 0, 0.8]}}}},
        _link("boom", "cabin", "foot", "raise", 5.7, START[1]),
        _link("stick", "boom", "tip", "crowd", 2.9, START[2]),
        {"name": "bucket", "parent": "stick", "at": "tip",
         "hinge": {"name": "curl", "type": "revolute", "axis": [0, -1, 0], "damping": 20.0,
                   "initial": {"phi": START[3]}},
         "rigid": {"mass": 1100.0, "com": [0.6, 0, 0], "inertia": [150, 220, 200, 0, 0, 0],
                   "nodes": {"teeth": {"position": [1.3, 0, 0]}}}},
    ],
}  # fmt: skip


def drive(stop: float, **values: Any) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Torques (N.m) and angles (rad) of the arm under its controller at each sample, and its messages."""
    partner = describe_partner("model-controller", values={"phi_start": START, "phi_end": END, **values}, model=MODEL)
    brain, plant = (
        AtWork(partner),
        bough.Run(MODEL, dict(at_rest(MODEL, {}).values), method="rk4", solver_step=STEP / 2),
    )
    torques, angles = [], []
    for k in range(round(stop / STEP)):
        if k:
            brain.step(k * STEP)
        angles.append([plant[f"{name}.phi"] for name in HINGES])
        brain.set(phi=angles[-1], w=[plant[f"{name}.w"] for name in HINGES])
        torques.append(brain["tau"])
        if not np.isfinite(torques[-1]).all():
            break
        plant.set({f"{name}.tau": tau for name, tau in zip(HINGES, torques[-1], strict=True)})
        plant.step((k + 1) * STEP - plant.time)
    return np.array(torques), np.array(angles), brain.it.warned
