"""The chains that are timed: rigid ones for all programs, flexible ones as the speed probe has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
GRAVITY = (0.3, -9.0, 2.0)  # m/s^2


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid link: its hinge turns about z of a frame that sits, turned, on the tip of the link before.

    Attributes:
        position: Of the hinge frame in the parent's frame, m.
        quaternion: Its attitude, x y z w.
        mass: In kg.
        com: Mass centre, m.
        inertia: (3, 3) about the mass centre, kg.m^2.
    """

    position: Array
    quaternion: Array
    mass: float
    com: Array
    inertia: Array


def links(count: int) -> list[Link]:
    """Links with hinge axes in general directions and inertias in general position."""
    rng = np.random.default_rng(7)
    out = []
    for k in range(count):
        a = rng.normal(size=(3, 3)) * 0.05
        moments = a @ a.T
        inertia = np.trace(moments) * np.eye(3) - moments + 0.01 * np.eye(3)
        quaternion = np.array([0.7 * np.sin(k + 1.0), 0.6 * np.cos(2.0 * k), 0.5 * np.sin(3.0 * k + 1), 1.0])
        position = np.zeros(3) if k == 0 else np.array([0.5, 0.03, 0.02])
        com = np.array([0.25, 0.01, 0.01]) + 0.02 * rng.normal(size=3)
        out.append(Link(position, quaternion / np.linalg.norm(quaternion), 1.0 + rng.random(), com, inertia))
    return out


def rigid_model(chain: list[Link]) -> dict[str, Any]:
    """The chain as a bough model."""
    bodies: list[dict[str, Any]] = []
    for k, link in enumerate(chain):
        J = link.inertia
        frame = {"position": link.position.tolist(), "quaternion": link.quaternion.tolist()}
        bodies.append(
            {
                "name": f"b{k}",
                "parent": "ground" if k == 0 else f"b{k - 1}",
                "hinge": {"type": "revolute", "axis": [0, 0, 1], "frame": frame},
                "rigid": {
                    "mass": link.mass,
                    "com": link.com.tolist(),
                    "inertia": [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]],
                },
            }
        )
    return {"bough": 1, "name": "rigid_chain", "gravity": list(GRAVITY), "bodies": bodies}


def states(nq: int, nu: int, batch: int, angle: float = 1.0) -> tuple[Array, Array, Array]:
    """Random q, u and tau, (batch, n), u and tau up to 0.1 and q up to `angle`."""
    rng = np.random.default_rng(3)
    q = angle * rng.uniform(-1, 1, (batch, nq))
    u, tau = 0.1 * rng.uniform(-1, 1, (batch, nu)), 0.1 * rng.uniform(-1, 1, (batch, nu))
    return q, u, tau


def flexible_states(bodies: int, modes: int, batch: int) -> tuple[Array, Array, Array]:
    """Random states of a flexible chain: hinge and modes of each body in turn, higher modes deflected less."""
    q, u, tau = states(bodies * (modes + 1), bodies * (modes + 1), batch)
    scale = np.tile(np.r_[1.0, 0.01 / np.arange(1, modes + 1)], bodies)
    return q * scale, u, tau * np.tile(np.r_[1.0, np.zeros(modes)], bodies)


# ---- flexible bodies of the probe's kind: a slightly curved rod, clamped, bending, stretching and twisting


def flexible_model(
    bodies: int, modes: int, fidelity: str, *, points: int = 40, rotary: bool = True, equal: bool = True
) -> dict[str, Any]:
    """A chain of flexible bodies, equal or each a little longer; without modes they are rigid bodies of like mass."""
    tip = np.array([1.0, 0.03, 0.02 * np.sin(3.0)])
    kind = _nodal(modes, points, rotary) if modes else _rigid(tip)
    entries: list[dict[str, Any]] = []
    for k in range(bodies):
        q = np.array([0.7 * np.sin(k + 1.0), 0.6 * np.cos(2.0 * k), 0.5 * np.sin(3.0 * k + 1), 1.0])
        frame = {"position": [0, 0, 0], "quaternion": (q / np.linalg.norm(q)).tolist()}
        parent = {"parent": "ground"} if k == 0 else {"parent": f"b{k - 1}", "at": "tip"}
        hinge = {"type": "revolute", "axis": [0, 0, 1], "frame": frame}
        own = kind if equal else _longer(kind, 1.0 + 1e-4 * k)
        entries.append({"name": f"b{k}", **parent, "hinge": hinge, **own})
    return {"bough": 1, "name": "chain", "gravity": list(GRAVITY), "fidelity": fidelity, "bodies": entries}


def _rigid(tip: Array) -> dict[str, Any]:
    inertia = [0.003, 0.0843, 0.0843, 0, 0, 0]
    nodes = {"tip": {"position": tip.tolist()}}
    return {"rigid": {"mass": 1.0, "com": [0.5, 0.01, 0.01], "inertia": inertia, "nodes": nodes}}


def _nodal(modes: int, points: int, rotary: bool) -> dict[str, Any]:
    x = np.r_[0.0, (np.arange(points) + 0.5) / points, 1.0]
    positions = np.c_[x, 0.03 * x * x, 0.02 * np.sin(3.0 * x)]
    mass = np.r_[0.0, np.full(points, 1.0 / points), 0.0]
    inertia = np.array([2e-3, 1e-3, 1.5e-3]) * (1.0 if rotary else 0.0)
    shapes = np.stack([_rod_shape(x, r) for r in range(modes)], axis=-1)  # (n, 6, modes)
    weight = mass[:, None] * np.r_[inertia, np.ones(3)]
    for _ in range(2):  # twice: the second pass removes the rounding of the first
        M = np.einsum("ji,jir,jis->rs", weight, shapes, shapes)
        shapes = shapes @ np.linalg.inv(np.linalg.cholesky(M)).T
    nodes = [
        {"name": name, "position": p.tolist(), "mass": float(m), "inertia": [*(m * inertia).tolist(), 0, 0, 0]}
        for name, p, m in zip(["root", *(f"p{j}" for j in range(points)), "tip"], positions, mass, strict=True)
    ]
    stiffness = [(30.0 * (r + 1)) ** 2 for r in range(modes)]
    body = {"attach": "root", "nodes": nodes, "modes": shapes.transpose(2, 0, 1).tolist()}
    return {"nodal": {**body, "stiffness": stiffness, "damping": [0.005] * modes}}


def _longer(kind: dict[str, Any], factor: float) -> dict[str, Any]:
    """The nodal body with its nodes farther apart: no table of it is that of another."""
    body = kind["nodal"]
    nodes = [{**n, "position": [factor * x for x in n["position"]]} for n in body["nodes"]]
    return {"nodal": {**body, "nodes": nodes}}


def _rod_shape(x: Array, r: int) -> Array:
    """Shape r at x: bending in two planes, stretch and twist by turns, each with a trace of the others; (n, 6)."""
    order = r // 4
    p, dp = x ** (order + 2), (order + 2) * x ** (order + 1)
    out = np.zeros((x.size, 6))
    if r % 4 == 0:
        out[:, 4], out[:, 2] = p, dp
    elif r % 4 == 1:
        out[:, 5], out[:, 1] = p, -dp
    elif r % 4 == 2:
        out[:, 0], out[:, 4] = x ** (order + 1), 0.05 * p
    else:
        out[:, 3], out[:, 0] = 0.3 * x ** (order + 1), 0.1 * p
    out[:, 3] += 1e-2 * np.sin(r + x) * x
    out[:, 1] += 1e-2 * np.cos(r * x) * x
    return out
