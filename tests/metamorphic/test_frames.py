"""Physics knows no place and no direction: the whole mechanism, moved and turned with its loads, moves alike."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from metamorphic.cases import SEEDS, Array, Dict, apart
from numpy.typing import NDArray
from random_models import random_model, random_state
from scipy.spatial.transform import Rotation

import bough

WITHIN = 1e-7
"""Runs of 0.5 s at a tolerance of 1e-10 per step, some hundred steps; differences grow by less than ten in it."""


def turned(model: Dict, turn: Rotation, shift: Array) -> Dict:
    """The mechanism turned about the origin and then shifted: gravity and the hinges on the ground."""
    out = copy.deepcopy(model)
    if "gravity" in out:
        out["gravity"] = turn.apply(out["gravity"]).tolist()
    for body in out["bodies"]:
        if body["parent"] == "ground":
            frame = body["hinge"].setdefault("frame", {})
            own = Rotation.from_quat(frame.get("quaternion", [0, 0, 0, 1]))
            frame["quaternion"] = (turn * own).as_quat().tolist()
            frame["position"] = (turn.apply(frame.get("position", [0, 0, 0])) + shift).tolist()
    return out


def vectors(run: bough.Result, end: str) -> dict[str, NDArray[np.float64]]:
    """Vectors whose name ends so, (n, 3) each, by their stem."""
    stems = [name[:-3] for name in run.names if name.endswith(f".{end}[1]")]
    return {stem: np.column_stack([run[f"{stem}[{i}]"] for i in (1, 2, 3)]) for stem in stems}


@pytest.mark.parametrize("seed", range(4 * SEEDS))
def test_mechanism_turned_with_its_loads_moves_alike(seed: int) -> None:
    """Coordinates of hinges and modes stay, node positions turn and shift, node velocities and loads turn. Positions
    100 m away lose two digits of their place, not of their motion."""
    rng = np.random.default_rng([seed, 51])
    turn, shift = Rotation.from_quat(rng.normal(size=4)), rng.normal(size=3) * 30.0
    model = random_model(seed, n_bodies=4)
    systems = [bough.Mechanism(model), bough.Mechanism(turned(model, turn, shift))]
    q, u, _ = random_state(systems[0], seed, deflection=0.1)
    inputs: list[dict[str, float]] = [{}, {}]
    for load in model["inputs"]:
        value = rng.normal(size=3)
        for k, vector in enumerate((value, turn.apply(value))):
            inputs[k] |= {f"{load}[{i + 1}]": float(vector[i]) for i in range(3)}
    here, there = (
        bough.simulate(s, 0.5, loads, 0.05, rtol=1e-10, initial=(q, u))
        for s, loads in zip(systems, inputs, strict=True)
    )
    assert max(apart(here, there, [*systems[0].q_names, *systems[0].u_names]).values()) < WITHIN
    size = max(float(np.abs(r).max()) for r in vectors(here, "r").values())
    for stem, r in vectors(here, "r").items():
        assert np.abs(turn.apply(r) + shift - vectors(there, "r")[stem]).max() < WITHIN * size
    for a, b in zip(systems[0].energy(q, u), systems[1].energy(q, u), strict=True):
        gravity = np.asarray(model["gravity"]) @ (turn.inv().apply(shift))
        assert np.isfinite(a) and np.isfinite(b) and np.isfinite(gravity)
    kinetic = [s.energy(q, u)[0] for s in systems]
    assert kinetic[1] == pytest.approx(kinetic[0], rel=1e-12)


@pytest.mark.parametrize("seed", range(2 * SEEDS))
def test_free_mechanism_falls_as_its_mass_centre(seed: int) -> None:
    """A free tree under gravity against the same without: what is inside it moves alike, and only its place differs, by
    g t^2 / 2. The elevator of Einstein."""
    model = random_model(seed, n_bodies=3, hinge_types=("revolute", "universal", "spherical"))
    body = model["bodies"][0]
    body["parent"], body["hinge"] = "ground", {"name": "base", "type": "free"}
    body.pop("at", None)
    for other in model["bodies"][1:]:
        if other["parent"] == "ground":
            other["parent"] = body["name"]
    still = copy.deepcopy(model)
    still.pop("gravity")
    systems = [bough.Mechanism(model), bough.Mechanism(still)]
    q, u, _ = random_state(systems[0], seed, deflection=0.1)
    falls, floats = (bough.simulate(s, 0.5, {}, 0.05, rtol=1e-10, initial=(q, u)) for s in systems)
    inner = [n for n in [*systems[0].q_names, *systems[0].u_names] if not n.startswith(("base.s", "base.v"))]
    assert max(apart(floats, falls, inner).values()) < WITHIN
    for i, g in enumerate(model["gravity"], 1):
        drop = falls[f"base.s[{i}]"] - floats[f"base.s[{i}]"]
        assert drop == pytest.approx(0.5 * g * falls.t**2, abs=WITHIN)


@pytest.mark.parametrize("seed", range(2 * SEEDS))
def test_free_mechanism_looks_alike_from_a_train(seed: int) -> None:
    """The same speed added to all of it: nothing inside changes, and its place runs away evenly (Galileo)."""
    model = random_model(seed, n_bodies=3, hinge_types=("revolute", "universal", "spherical"))
    body = model["bodies"][0]
    body["parent"], body["hinge"] = "ground", {"name": "base", "type": "free"}
    body.pop("at", None)
    for other in model["bodies"][1:]:
        if other["parent"] == "ground":
            other["parent"] = body["name"]
    system = bough.Mechanism(model)
    q, u, _ = random_state(system, seed, deflection=0.1)
    train = np.array([3.0, -40.0, 7.0])
    moving = u.copy()
    for i in range(3):
        moving[system.u_names.index(f"base.v[{i + 1}]")] += train[i]
    first, second = (bough.simulate(system, 0.5, {}, 0.05, rtol=1e-10, initial=(q, v)) for v in (u, moving))
    inner = [n for n in [*system.q_names, *system.u_names] if not n.startswith(("base.s", "base.v"))]
    assert max(apart(first, second, inner).values()) < WITHIN
    for i in range(3):
        ran = second[f"base.s[{i + 1}]"] - first[f"base.s[{i + 1}]"]
        assert ran == pytest.approx(train[i] * first.t, abs=WITHIN * 40.0)
