"""Random trees with everything that a model file knows: forces, friction, limits, gears, wheels, loops, couplings.

A seed is a model; about a third of the features are in each.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from oracle.particles import Oracle
from random_forces import random_forces
from random_loops import random_loops, with_start
from random_models import N_LIN, N_ROT, random_model, random_state
from scipy.spatial.transform import Rotation

Rng = np.random.Generator
FEATURES = (
    "ruthless",
    "tunable",
    "forces",
    "drives",
    "gears",
    "wheels",
    "motion",
    "field",
    "local",
    "loops",
    "couplings",
)


def rich_model(seed: int, features: frozenset[str] | None = None) -> tuple[dict[str, Any], frozenset[str]]:
    """A model as the plain dict of a model file, and what is in it; features as given, or drawn."""
    rng = np.random.default_rng([seed, 1234])
    drawn = frozenset(name for name in FEATURES if rng.random() < 0.35)
    wanted = drawn if features is None else features
    model = random_model(seed, n_bodies=int(rng.integers(2, 5)), point_masses=bool(rng.random() < 0.5))
    model["name"] = f"rich_{seed}"
    if "ruthless" in wanted:
        model["fidelity"] = "ruthless"
    if "field" in wanted:
        model["gravity"] = {"mu": 40.0, "center": [0.0, 6.0, 0.0]}
    if "forces" in wanted:
        model["forces"] = _forces(model, seed, int(rng.integers(1, 7)))
    for body in model["bodies"]:
        _dress(rng, body, wanted)
    if "local" in wanted:
        _sense(model)
    if "loops" in wanted:
        model = _closed(model, seed, int(rng.integers(1, 3)))
    elif "couplings" in wanted:
        _couple(model)
    return model, wanted


def dofs(hinge: dict[str, Any]) -> int:
    """Degrees of freedom of a hinge."""
    return N_LIN.get(hinge["type"], 0) + N_ROT.get(hinge["type"], 0)


def _forces(model: dict[str, Any], seed: int, count: int) -> list[dict[str, Any]]:
    """Contacts are apart at the start, and touch in many other positions."""
    out = random_forces(model, seed, count)
    for force in out:
        if force["type"] != "contact":
            continue
        flat = "normal" in force
        normal = np.array(force.get("normal", [0.0, 0.0, 1.0]))
        away = -5.0 * Rotation.from_quat(force["frames"][1]["quaternion"]).apply(normal / np.linalg.norm(normal))
        force["frames"][0]["position"], force["frames"][1]["position"] = [0.0, 0.0, 0.0], away.tolist()
        force["radius"] = 2.0 if flat else [1.0, 1.2]
    return out


def _dress(rng: Rng, body: dict[str, Any], wanted: frozenset[str]) -> None:
    """What a hinge and a body may have of their own."""
    hinge, count = body["hinge"], dofs(body["hinge"])
    ball = hinge["type"] in ("spherical", "free")
    if "tunable" in wanted and "rigid" in body:
        body["rigid"]["tunable"] = True
        body["rigid"].pop("wheels", None)
    if "drives" in wanted and count and not ball and rng.random() < 0.6:
        hinge["friction"] = {"coulomb": float(rng.uniform(0.1, 1)), "static": float(rng.uniform(1, 2)), "stribeck": 0.1}
    if "drives" in wanted and count == 1 and rng.random() < 0.5:
        kinds = ({"stiffness": 1e3, "damping": 1.0}, {"restitution": 0.5}, {"latch": True})
        hinge["limits"] = {"lower": -4.0, "upper": 4.0, **kinds[int(rng.integers(3))]}
    if "gears" in wanted and "loops" not in wanted and count == 1 and rng.random() < 0.7:
        hinge["gear"] = _gear(rng)
        hinge.pop("armature", None)
    if "wheels" in wanted and rng.random() < 0.6:
        _wheel(rng, body)
    plain = not {"friction", "limits", "gear"} & set(hinge)
    if "motion" in wanted and plain and count and "loops" not in wanted and rng.random() < 0.4:
        hinge["drive"] = "motion"


def _gear(rng: Rng) -> dict[str, Any]:
    out: dict[str, Any] = {"ratio": float(rng.uniform(2, 20)), "inertia": 1e-2}
    if rng.random() < 0.7:
        out |= {"stiffness": 100.0, "damping": 0.1, "backlash": float(rng.choice([0.0, 1e-2]))}
    if rng.random() < 0.3:
        out["friction"] = {"coulomb": 0.1}
    return out


def _wheel(rng: Rng, body: dict[str, Any]) -> None:
    wheel: dict[str, Any] = {"name": "rw1", "axis": rng.normal(size=3).tolist(), "inertia": 0.01}
    if "nodal" in body:
        body["nodal"]["wheels"] = [wheel | {"mass": 0.1, "at": body["nodal"]["nodes"][0]["name"]}]
    elif not body["rigid"].get("tunable"):
        if rng.random() < 0.5:
            wheel |= {"static": 1e-3, "dynamic": 1e-4}
        body["rigid"]["wheels"] = [wheel]


def _flexible(model: dict[str, Any]) -> list[dict[str, Any]]:
    return [b for b in model["bodies"] if "nodal" in b and b["nodal"]["modes"]]


def _sense(model: dict[str, Any]) -> None:
    """Instruments and thrusters in node axes, deflections, forces on modes."""
    node = model["outputs"][0]
    model["inputs"] += [f"{node}.local_force", f"{node}.local_torque"]
    model["inputs"] += [f"{b['name']}.modal_force" for b in _flexible(model)]
    model["outputs"] += [f"{name}.local" for name in model["outputs"][:2]]
    model["outputs"] += [f"{b['name']}.{b['nodal']['nodes'][1]['name']}.deflection" for b in _flexible(model)]


def _closed(model: dict[str, Any], seed: int, count: int) -> dict[str, Any]:
    """The model with loops that are closed where it starts."""
    tree = {key: copy.deepcopy(model[key]) for key in ("bough", "name", "bodies")}
    tree |= {"gravity": [0, 0, 0], "inputs": [], "outputs": [o for o in model["outputs"] if o.count(".") == 1]}
    for body in tree["bodies"]:
        for key in ("friction", "limits"):
            body["hinge"].pop(key, None)
        for kind in ("rigid", "nodal"):
            body.get(kind, {}).pop("wheels", None)
    oracle = Oracle(tree)
    q, _, _ = random_state((oracle.q_names, oracle.u_names), seed, deflection=0.1)
    return with_start(model, oracle, q) | {"loops": random_loops(tree, oracle, q, seed, count)}


def _couple(model: dict[str, Any]) -> None:
    """A gear between two hinges, if there are two that it can join."""
    one = [b for b in model["bodies"] if dofs(b["hinge"]) == 1 and b["hinge"].get("drive") != "motion"]
    names = [
        f"{b['hinge'].get('name', b['name'] + '_hinge')}.{'phi' if b['hinge']['type'] == 'revolute' else 's'}"
        for b in one[:2]
    ]
    if len(names) == 2:
        model["couplings"] = [{"name": "cpl", "of": {names[0]: 1.0, names[1]: -2.5}}]
