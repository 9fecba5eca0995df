"""Random loops of every type, closed at a given position of a random tree."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from oracle.particles import Oracle
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]
TYPES = (
    "revolute",
    "spherical",
    "rod",
    "fixed",
    "prismatic",
    "universal",
    "slot",
    "planar",
    "plane",
    "cylindrical",
    "rolling",
)


def _unit(rng: np.random.Generator) -> Array:
    v = rng.normal(size=3)
    out: Array = v / np.linalg.norm(v)
    return out


def _freedom(rng: np.random.Generator, kind: str, loop: dict[str, Any]) -> tuple[Array, Rotation]:
    """Where the second frame may be, seen from the first: a random place that the type allows; writes the axes."""
    a, b = _unit(rng), _unit(rng)
    phi, s = rng.uniform(-2, 2, 3), rng.uniform(-1, 1, 3)
    none = Rotation.identity()
    if kind in ("revolute", "prismatic", "cylindrical", "slot", "rolling"):
        loop["axis"] = a.tolist()
    if kind in ("planar", "plane"):
        b = np.cross(a, b) / np.linalg.norm(np.cross(a, b))
        loop["axes"] = [a.tolist(), b.tolist()]
    if kind == "universal":
        loop["axes"] = [a.tolist(), b.tolist()]
    turn = Rotation.from_rotvec(a * phi[0])
    anything = Rotation.random(random_state=int(rng.integers(2**31)))
    return {
        "fixed": (np.zeros(3), none),
        "revolute": (np.zeros(3), turn),
        "prismatic": (a * s[0], none),
        "cylindrical": (a * s[0], turn),
        "universal": (np.zeros(3), turn * Rotation.from_rotvec(b * phi[1])),
        "planar": (a * s[0] + b * s[1], Rotation.from_rotvec(np.cross(a, b) * phi[0])),
        "spherical": (np.zeros(3), anything),
        "rod": (s, anything),
        "slot": (a * s[0], anything),
        "plane": (a * s[0] + b * s[1], anything),
        "rolling": (s, anything),
    }[kind]


def with_start(model: dict[str, Any], oracle: Oracle, q: Array) -> dict[str, Any]:
    """The model with positions q as the file's start values."""
    out = copy.deepcopy(model)
    for body, data in zip(out["bodies"], oracle.tree.bodies, strict=True):
        initial = {}
        if data.q_lin.stop > data.q_lin.start:
            initial["s"] = q[data.q_lin].tolist()
        if data.q_rot.stop > data.q_rot.start:
            initial["Q" if data.quaternion else "phi"] = q[data.q_rot].tolist()
        if initial:
            body["hinge"]["initial"] = initial
        if data.q_eta.stop > data.q_eta.start:
            body["nodal"]["initial"] = {"eta": q[data.q_eta].tolist()}
    return out


def random_loops(model: dict[str, Any], oracle: Oracle, q: Array, seed: int, count: int) -> list[dict[str, Any]]:
    """`count` loops between random nodes, ground among them, that are closed at positions q."""
    rng = np.random.default_rng([seed, 14])
    nodes = [*model["outputs"], "ground.origin"]
    loops: list[dict[str, Any]] = []
    while len(loops) < count:
        first, second = (str(x) for x in rng.choice(nodes, 2, replace=False))
        if first.split(".")[0] == second.split(".")[0]:
            continue
        kind = TYPES[(seed + 4 * len(loops)) % len(TYPES)]
        loop: dict[str, Any] = {"name": f"close{len(loops)}", "type": kind, "between": [first, second]}
        s, turn = _freedom(rng, kind, loop)
        (r1, R1), (r2, R2) = _pose(oracle, q, first), _pose(oracle, q, second)
        p1, Q1 = rng.uniform(-0.3, 0.3, 3), Rotation.random(random_state=int(rng.integers(2**31)))
        A = R1 * Q1
        a = r1 + R1.apply(p1)
        B, b = A * turn, a + A.apply(s)
        if kind == "rod":
            loop["length"] = float(np.linalg.norm(s))
        if kind == "rolling":
            loop["radius"] = 0.4
            n, axis = B.as_matrix()[:, 2], A.apply(loop["axis"])
            b = a - n * 0.4 * np.sqrt(1.0 - (n @ axis) ** 2) + np.cross(n, s)
        frames = [(p1, Q1), (R2.inv().apply(b - r2), R2.inv() * B)]
        loop["frames"] = [{"position": p.tolist(), "quaternion": Q.as_quat().tolist()} for p, Q in frames]
        loops.append(loop)
    return loops


def _pose(oracle: Oracle, q: Array, node: str) -> tuple[Array, Rotation]:
    if node == "ground.origin":
        return np.zeros(3), Rotation.identity()
    r, quaternion = oracle.pose(q, node)
    return r, Rotation.from_quat(quaternion)
