"""Random forces between nodes of a random tree, and what they exert by laws written once more in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import bough

Array = NDArray[np.float64]


def random_forces(model: dict[str, Any], seed: int, count: int) -> list[dict[str, Any]]:
    """Forces of all types between nodes of different bodies, some on the ground."""
    rng = np.random.default_rng([seed, 99])
    nodes = {b["name"]: node_names(b) for b in model["bodies"]} | {"ground": ["origin"]}
    bodies = list(nodes)
    forces = []
    for i in range(count):
        first, second = rng.choice(len(bodies), size=2, replace=False)
        ends = [f"{bodies[j]}.{rng.choice(nodes[bodies[j]])}" for j in (first, second)]
        frames = [
            {
                "position": rng.normal(size=3).tolist(),
                "quaternion": Rotation.random(random_state=rng).as_quat().tolist(),
            }
            for _ in ends
        ]
        force = {"name": f"f{i}", "between": ends, "frames": frames, **_law(rng, i % 6)}
        forces.append(force)
    return forces


def node_names(body: dict[str, Any]) -> list[str]:
    """Nodes of a body of a random tree."""
    if "nodal" in body:
        return [n["name"] for n in body["nodal"]["nodes"]]
    return ["origin", *body["rigid"].get("nodes", {})]


def _law(rng: np.random.Generator, kind: int) -> dict[str, Any]:
    k, d = float(rng.uniform(50, 100)), float(rng.uniform(1, 5))
    if kind == 0:
        return {"type": "spring", "stiffness": k, "damping": d, "length": float(rng.uniform(0, 2))}
    if kind == 1:
        table = [[-1.0, -80.0], [-0.1, -10.0], [0.4, 3.0], [1.0, 60.0]]
        rates = [[-1.0, -9.0], [0.0, 0.0], [2.0, 5.0]]
        return {"type": "spring", "stiffness": table, "damping": rates, "length": float(rng.uniform(0.5, 3))}
    if kind == 2:
        only = str(rng.choice(["tension", "compression"]))
        return {"type": "spring", "stiffness": k, "damping": 10 * d, "length": float(rng.uniform(0.5, 3)), "only": only}
    if kind == 3:
        K, D = (rng.normal(size=(6, 6)) for _ in range(2))
        return {"type": "bushing", "stiffness": (10 * K @ K.T).tolist(), "damping": (D @ D.T).tolist()}
    if kind == 4:
        return {"type": "actuator"}
    flat = bool(rng.random() < 0.5)
    radius: Any = float(rng.uniform(1, 3)) if flat else rng.uniform(1, 2, size=2).tolist()
    law = str(rng.choice(["linear", "hunt-crossley"]))
    extra: dict[str, Any] = {"normal": rng.normal(size=3).tolist()} if flat else {}
    return {
        "type": "contact", "radius": radius, "stiffness": k, "damping": d, "law": law, "exponent": 1.5,
        "friction": 0.4, "slip": 0.5, **extra,
    }  # fmt: skip


class Reference:
    """Generalized forces, values and potential by node poses, Jacobians and the laws in numpy."""

    def __init__(self, system: bough.Mechanism, forces: list[dict[str, Any]]) -> None:
        """Forces as the file writes them."""
        self.system, self.forces = system, forces

    def end(self, q: Array, u: Array, node: str, frame: dict[str, Any]) -> tuple[Array, Array, Array, Array, Array]:
        """Position, axes, angular and linear velocity and Jacobian (6, nu) of a frame."""
        r, R, J = np.zeros(3), np.eye(3), np.zeros((6, self.system.nu))
        if node != "ground.origin":
            r, Q = self.system.pose(q, node)
            R, J = Rotation.from_quat(Q).as_matrix(), self.system.node_jacobian(q, node).copy()
        arm = R @ np.array(frame["position"])
        J[3:] -= np.cross(arm, J[:3], axisb=0).T if J.any() else 0.0
        w, v = (J @ u)[:3], (J @ u)[3:]
        return r + arm, R @ Rotation.from_quat(frame["quaternion"]).as_matrix(), w, v, J

    def at(self, q: Array, u: Array, given: dict[str, float]) -> tuple[Array, dict[str, Array], float]:
        """Generalized forces, (s, v, f) by name, potential."""
        tau, values, potential = np.zeros(self.system.nu), {}, 0.0
        for force in self.forces:
            A, B = (self.end(q, u, n, f) for n, f in zip(force["between"], force["frames"], strict=True))
            act = {"bushing": _bushing, "contact": _contact}.get(force["type"], _line)
            on_A, on_B, told, V = act(force, A, B, given.get(force["name"], 0.0))
            tau += A[4].T @ on_A + B[4].T @ on_B
            values[force["name"]], potential = told, potential + V
        return tau, values, potential


End = tuple[Array, Array, Array, Array, Array]
Acted = tuple[Array, Array, Array, float]


def _table(table: list[list[float]], x: float) -> float:
    points = np.array(table)
    i = int(np.clip(np.searchsorted(points[:, 0], x) - 1, 0, len(points) - 2))
    (x0, f0), (x1, f1) = points[i], points[i + 1]
    return float(f0 + (f1 - f0) / (x1 - x0) * (x - x0))


def _integral(table: list[list[float]], x: float) -> float:
    knots = sorted({0.0, x, *(p[0] for p in table if min(0.0, x) < p[0] < max(0.0, x))})
    value = sum(0.5 * (b - a) * (_table(table, a) + _table(table, b)) for a, b in zip(knots, knots[1:], strict=False))
    return value if x > 0 else -value


def _line(force: dict[str, Any], A: End, B: End, given: float) -> Acted:
    d = B[0] - A[0]
    s = float(np.linalg.norm(d))
    e = d / s
    v, V, f = float(e @ (B[3] - A[3])), 0.0, given
    if force["type"] == "spring":
        k, c, x = force["stiffness"], force["damping"], s - force["length"]
        pull = _table(k, x) if isinstance(k, list) else k * x
        drag = _table(c, v) if isinstance(c, list) else c * v
        V = _integral(k, x) if isinstance(k, list) else 0.5 * k * x * x
        f = -pull - drag
        only = force.get("only")
        if only:
            sign = -1.0 if only == "tension" else 1.0
            slack = sign * x >= 0
            f, V = (0.0, 0.0) if slack else (sign * max(sign * f, 0.0), V)
    return np.r_[np.zeros(3), -f * e], np.r_[np.zeros(3), f * e], np.array([s, v, f]), V


def _bushing(force: dict[str, Any], A: End, B: End, given: float) -> Acted:
    K, D = np.array(force["stiffness"]), np.array(force["damping"])
    R = A[1]
    turn = Rotation.from_matrix(R.T @ B[1])
    theta, d = turn.as_rotvec(), R.T @ (B[0] - A[0])
    t = float(np.linalg.norm(theta))
    X = np.cross(theta, np.eye(3)).T  # theta x
    # left Jacobian by its series
    Jl, term = np.eye(3), np.eye(3)
    for n in range(2, 40):
        term = term @ X / n
        Jl = Jl + term
    assert t < np.pi
    w = R.T @ (B[2] - A[2])
    ddot = R.T @ (B[3] - A[3] - np.cross(A[2], B[0] - A[0]))
    elastic = -K @ np.r_[theta, d]
    damped = -D @ np.r_[w, ddot]
    torque, push = np.linalg.solve(Jl.T, elastic[:3]) + damped[:3], elastic[3:] + damped[3:]
    on_B = np.r_[R @ torque, R @ push]
    on_A = -np.r_[on_B[:3] + np.cross(B[0] - A[0], on_B[3:]), on_B[3:]]
    V = -0.5 * float(np.r_[theta, d] @ elastic)
    return on_A, on_B, np.r_[d, ddot, push, theta, w, torque], V


def _contact(force: dict[str, Any], A: End, B: End, given: float) -> Acted:
    radius = force["radius"]
    d = A[0] - B[0]
    if isinstance(radius, list):
        n = d / np.linalg.norm(d)
        gap, ra = float(np.linalg.norm(d)) - sum(radius), radius[0]
        v = float(n @ (A[3] - B[3]))
    else:
        n = B[1] @ np.array(force["normal"]) / np.linalg.norm(force["normal"])
        gap, ra = float(n @ d) - radius, radius
        v = float(n @ (A[3] - B[3] - np.cross(B[2], d)))
    if gap >= 0:
        return np.zeros(6), np.zeros(6), np.array([gap, v, 0.0]), 0.0
    k, c, p = force["stiffness"], force["damping"], force["exponent"]
    f = k * (-gap) ** p - c * v * ((-gap) ** p if force["law"] == "hunt-crossley" else 1.0)
    f = max(f, 0.0)
    point = A[0] - ra * n
    slip = A[3] + np.cross(A[2], point - A[0]) - B[3] - np.cross(B[2], point - B[0])
    slip -= n * (n @ slip)
    push = f * n - force["friction"] * f * slip / np.sqrt(slip @ slip + force["slip"] ** 2)
    on_A, on_B = np.r_[np.cross(point - A[0], push), push], -np.r_[np.cross(point - B[0], push), push]
    return on_A, on_B, np.array([gap, v, f]), k / (p + 1) * (-gap) ** (p + 1)
