"""The two-link arm in closed loop with a controller, samples and steps of a millisecond."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from partners.built import AtWork
from ruamel.yaml import YAML

import bough
from bough.demo import MODEL

STEP, MOVE, STOP = 1e-3, 1.5, 3.5
START, END = np.array([-0.6, 1.9]), np.array([1.2, 0.4])
SLEW = {"phi_start": START.tolist(), "phi_end": END.tolist(), "t_move": MOVE}
Array = np.ndarray
Law = Callable[[float, Array, Array], Array]


def arm(payload: float = 1.0) -> bough.Mechanism:
    """The arm with its payload's mass and inertia times a factor."""
    model: dict[str, Any] = YAML(typ="safe").load(MODEL.read_text(encoding="utf-8"))
    rigid = model["bodies"][-1]["rigid"]
    rigid["mass"] *= payload
    rigid["inertia"] = [payload * x for x in rigid["inertia"]]
    return bough.Mechanism(model)


def law(run: AtWork, output: str) -> Law:
    """A partner at work as a function of time, angles and speeds."""

    def torque(t: float, phi: Array, w: Array) -> Array:
        if t > run.time:
            run.step(t)
        run.set(phi=phi, w=w)
        return np.array(run[output])

    return torque


def slew(control: Law, payload: float = 1.0, stop: float = STOP) -> tuple[Array, Array, Array, Array]:
    """Times, distance of the tip from where it is to be (m), angles and speeds."""
    system = arm(payload)
    hinges = [system.u_names.index(name) for name in ("shoulder.w", "elbow.w")]
    plant = bough.Run(system, {"shoulder.armature": 0.02, "elbow.armature": 0.01}, method="rk4", solver_step=5e-4)
    goal = system.initial_state()[0]
    goal[hinges] = END
    there, rows, seen = system.pose(goal, "payload.origin")[0], [], []
    count = round(stop / STEP)
    for k in range(count):
        q = plant.values(*system.q_names)
        phi, w = q[hinges], plant.values("shoulder.w", "elbow.w")
        rows.append(q)
        seen.append(np.concatenate([phi, w]))
        torque = control(k * STEP, phi, w)
        plant.set({"shoulder.tau": torque[0], "elbow.tau": torque[1]})
        plant.step((k + 1) * STEP - plant.time)
    away = np.linalg.norm(system.pose(np.array(rows), "payload.origin")[0] - there, axis=1)
    both = np.array(seen)
    return np.arange(count) * STEP, away, both[:, :2], both[:, 2:]
