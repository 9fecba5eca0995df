"""Random trees of rigid and nodal bodies in the model file's format, and random states for them.

Everything is drawn from numpy's generator, so a seed is a model.  Sizes are of order one (kg, m), and a nodal
body is redrawn until its own mass matrix (six rigid DOFs and its modes) is well conditioned: any hinge may
then carry it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rng = np.random.Generator

HINGE_TYPES = ("revolute", "free", "universal", "prismatic", "spherical", "planar", "cylindrical", "fixed")
KINDS = ("clamped", "rigid", "unclamped")  # clamped, unclamped: nodal, attach node with zero, non-zero shapes
N_LIN = {"prismatic": 1, "cylindrical": 1, "planar": 2, "free": 3}
N_ROT = {"revolute": 1, "screw": 1, "cylindrical": 1, "universal": 2, "planar": 1, "spherical": 3, "free": 3}
MAX_CONDITION = 2e3  # of a body's own mass matrix, undeformed


class Named(Protocol):
    """Anything that names its coordinates and speeds."""

    @property
    def q_names(self) -> Sequence[str]:
        """Names of the coordinates."""

    @property
    def u_names(self) -> Sequence[str]:
        """Names of the speeds."""


def _floats(a: Any) -> Any:
    """Plain nested lists of Python floats: what a file would give."""
    return np.asarray(a, dtype=float).tolist()


def _unit(rng: Rng, n: int) -> Array:
    v = rng.normal(size=n)
    out: Array = v / np.linalg.norm(v)
    return out


def _skew(v: Array) -> Array:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def _inertia(rng: Rng, scale: float) -> Array:
    """Inertia of six random points: obeys the triangle inequality by construction."""
    r = rng.normal(size=(6, 3)) * np.sqrt(scale / 6)
    r -= r.mean(axis=0)
    out: Array = np.trace(r.T @ r) * np.eye(3) - r.T @ r
    return out


def _six(m: Array) -> list[float]:
    out: list[float] = _floats([m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]])
    return out


def _positive(rng: Rng, n: int, scale: float) -> Array:
    """A full symmetric positive definite matrix with eigenvalues between scale and about 3 scale."""
    a = rng.normal(size=(n, n))
    out: Array = scale * (np.eye(n) + a @ a.T / max(n, 1))
    return out


def _rigid(rng: Rng) -> dict[str, Any]:
    body: dict[str, Any] = {
        "mass": float(rng.uniform(0.5, 3.0)),
        "com": _floats(rng.uniform(-0.3, 0.3, 3)),
        "inertia": _six(_inertia(rng, 0.5) + 0.02 * np.eye(3)),
        "nodes": {},
    }
    for i in range(int(rng.integers(1, 4))):
        node: dict[str, Any] = {"position": _floats(rng.uniform(-0.6, 0.6, 3))}
        if rng.random() < 0.7:
            node["quaternion"] = _floats(_unit(rng, 4))
        body["nodes"][f"p{i + 1}"] = node
    if rng.random() < 0.5:
        count = int(rng.integers(1, 3))
        body["wheels"] = [{"axis": _floats(_unit(rng, 3)), "momentum": float(rng.uniform(-1, 1))} for _ in range(count)]
    return body


def _body_condition(pos: Array, mass: Array, inertia: Array, shapes: Array) -> float:
    """Condition number of a nodal body's mass matrix with the attach node (first) held as reference."""
    nm = shapes.shape[2]
    m = np.zeros((6 + nm, 6 + nm))
    lam_a, gam_a = shapes[0, :3], shapes[0, 3:]
    for j in range(len(pos)):
        arm = _skew(pos[j] - pos[0])
        lam, gam = shapes[j, :3] - lam_a, shapes[j, 3:] - gam_a + arm @ lam_a
        jv = np.hstack([-arm, np.eye(3), gam])
        jw = np.hstack([np.eye(3), np.zeros((3, 3)), lam])
        m += mass[j] * jv.T @ jv + jw.T @ inertia[j] @ jw
    return float(np.linalg.cond(m))


def _nodal(rng: Rng, clamped: bool, point_masses: bool) -> dict[str, Any]:
    while True:
        nm = int(rng.integers(0, 5)) if clamped else int(rng.integers(1, 5))
        n = int(rng.integers(max(4, nm + 2), 9))
        pos = rng.uniform(-0.7, 0.7, (n, 3))
        mass = rng.uniform(0.2, 1.0, n)
        inertia = np.array([_inertia(rng, 0.03) for _ in range(n)])
        if point_masses:
            inertia[:] = 0.0
        if n > 5:  # one node without inertia: a mere port
            mass[-1], inertia[-1] = 0.0, 0.0
        shapes = rng.uniform(-0.6, 0.6, (n, 6, nm))
        if clamped:
            shapes[0] = 0.0
        if _body_condition(pos, mass, inertia, shapes) < MAX_CONDITION:
            break
    order = rng.permutation(n)  # the attach node is not always the first in the file
    nodes = []
    for j in order:
        node: dict[str, Any] = {"name": f"n{j}", "position": _floats(pos[j])}
        if mass[j]:
            node["mass"] = float(mass[j])
        if inertia[j].any():
            node["inertia"] = _six(inertia[j])
        nodes.append(node)
    body = {"attach": "n0", "nodes": nodes, "modes": _floats(shapes[order].transpose(2, 0, 1))}
    return body | _modal_properties(rng, nm)


def _modal_properties(rng: Rng, nm: int) -> dict[str, Any]:
    """Stiffness diagonal or full; damping by ratio, by diagonal or full matrix, or none."""
    full, scale = rng.random() < 0.5, float(rng.uniform(10.0, 60.0))
    out: dict[str, Any] = {
        "stiffness": _floats(_positive(rng, nm, scale) if full else rng.uniform(scale, 3 * scale, nm))
    }
    how = int(rng.integers(0, 4))
    if how == 0:
        out["damping"] = _floats(rng.uniform(0.005, 0.1, nm))
    elif how == 1:
        out["damping_matrix"] = _floats(rng.uniform(0.05, 1.0, nm))
    elif how == 2:
        out["damping_matrix"] = _floats(_positive(rng, nm, 0.2))
    return out


def _axes(rng: Rng, kind: str) -> dict[str, Any]:
    if kind in ("revolute", "prismatic", "cylindrical"):
        return {"axis": _floats(_unit(rng, 3))}
    if kind == "screw":
        return {"axis": _floats(_unit(rng, 3)), "pitch": float(rng.uniform(0.5, 3.0) * rng.choice([-1.0, 1.0]))}
    if kind not in ("universal", "planar"):
        return {}
    first, second = _unit(rng, 3), _unit(rng, 3)
    while np.linalg.norm(np.cross(first, second)) < 0.5:  # universal: any angle but a small one
        second = _unit(rng, 3)
    if kind == "planar":
        second = second - first * (first @ second)
        second /= np.linalg.norm(second)
    return {"axes": _floats([first, second])}


def _hinge(rng: Rng, kind: str) -> dict[str, Any]:
    hinge: dict[str, Any] = {"type": kind} | _axes(rng, kind)
    where = rng.random()
    if where < 0.85:
        hinge["frame"] = {"position": _floats(rng.uniform(-0.4, 0.4, 3))}
        if where < 0.7:
            hinge["frame"]["quaternion"] = _floats(_unit(rng, 4))
    n_lin, n_rot = N_LIN.get(kind, 0), N_ROT.get(kind, 0)
    dofs = n_lin + n_rot
    if dofs == 0:
        return hinge
    if rng.random() < 0.7:
        hinge["damping"] = _floats(rng.uniform(0.05, 0.5, dofs)) if rng.random() < 0.5 else 0.2
    if rng.random() < 0.6:
        stiffness, rest = rng.uniform(1.0, 20.0, dofs), rng.uniform(-0.3, 0.3, dofs)
        if kind in (
            "spherical",
            "free",
        ):  # torque -k x rotation vector has a potential if k is the same all round
            stiffness[n_lin:], rest[n_lin:] = stiffness[-1], 0.0
        hinge |= {"stiffness": _floats(stiffness), "rest": _floats(rest)}
    if rng.random() < 0.4:
        hinge["armature"] = _floats(rng.uniform(0.01, 0.2, dofs))
    return hinge


def _node_names(body: Mapping[str, Any]) -> list[str]:
    if "rigid" in body:
        return ["origin", *body["rigid"]["nodes"]]
    return [node["name"] for node in body["nodal"]["nodes"]]


def _draw_kinds(rng: Rng, seed: int, n: int, pool: Sequence[str]) -> list[str]:
    """One of `pool` per body; consecutive seeds go round the pool at the base."""
    return [pool[seed % len(pool)], *(str(rng.choice(pool)) for _ in range(n - 1))]


def random_model(
    seed: int,
    n_bodies: int = 4,
    kinds: Sequence[str] = KINDS,
    hinge_types: Sequence[str] = HINGE_TYPES,
    point_masses: bool = True,
    gravity: bool = True,
    dissipation: bool = True,
) -> dict[str, Any]:
    """A random model as the plain dict of a model file.

    Args:
        seed: same seed and arguments, same model; seeds 0, 1, 2... go round both lists at the base.
        n_bodies: number of bodies; each hangs on a random node of the ground or of an earlier body.
        kinds: which of 'rigid', 'clamped', 'unclamped' to draw from.
        hinge_types: which hinge types to draw from.
        point_masses: nodal nodes carry mass only; with False, rotary inertia too.
        gravity: False leaves gravity out.
        dissipation: False leaves out hinge and modal damping: energy is then kept.
    """
    rng = np.random.default_rng([seed, n_bodies])
    chosen = _draw_kinds(rng, seed, n_bodies, kinds)
    hinges = _draw_kinds(rng, seed, n_bodies, hinge_types)
    model: dict[str, Any] = {"bough": 1, "name": f"random_{seed}", "bodies": [], "inputs": [], "outputs": []}
    if gravity:
        model["gravity"] = _floats(rng.normal(size=3) * 6.0)
    for k in range(n_bodies):
        body: dict[str, Any] = {"name": f"b{k + 1}", "parent": "ground"}
        parent = int(rng.integers(-1, k)) if k and rng.random() < 0.4 else k - 1
        if parent >= 0:
            host = model["bodies"][parent]
            body |= {"parent": host["name"], "at": str(rng.choice(_node_names(host)))}
        body["hinge"] = _hinge(rng, hinges[k])
        if rng.random() < 0.8:
            body["hinge"]["name"] = f"h{k + 1}"
        if chosen[k] == "rigid":
            body["rigid"] = _rigid(rng)
        else:
            body["nodal"] = _nodal(rng, chosen[k] == "clamped", point_masses)
        node = f"{body['name']}.{rng.choice(_node_names(body))}"
        model["inputs"] += [f"{node}.force", f"{node}.torque"]
        model["outputs"] += [f"{body['name']}.{name}" for name in _node_names(body)]
        model["bodies"].append(body)
    if not dissipation:
        _undamp(model)
    return model


def _undamp(model: dict[str, Any]) -> None:
    """Take out everything that loses energy."""
    for body in model["bodies"]:
        for part, key in (("hinge", "damping"), ("nodal", "damping"), ("nodal", "damping_matrix")):
            body.get(part, {}).pop(key, None)


def random_state(
    source: Named | tuple[Sequence[str], Sequence[str]],
    seed: int,
    deflection: float = 0.3,
    speed: float = 1.0,
) -> tuple[Array, Array, Array]:
    """Random q, u, tau for anything with `q_names` and `u_names`, or for the pair of lists.

    Values go with names, not with places: two codes that order their states differently get the same motion.
    Angles are drawn from +-pi, translations from +-0.5 m, modal coordinates from +-`deflection`, quaternions
    evenly from the unit sphere, speeds from a normal law of deviation `speed`, tau from one of deviation 2.
    """
    q_names, u_names = source if isinstance(source, tuple) else (source.q_names, source.u_names)
    rng = np.random.default_rng([seed, 77])
    value: dict[str, float] = {}
    for name in sorted(q_names):
        what = name.split(".")[-1]
        if what.startswith("Q"):
            value[name] = float(rng.normal())
        else:
            width = deflection if what.startswith("eta") else np.pi if what.startswith("phi") else 0.5
            value[name] = float(rng.uniform(-width, width))
    for stem in {name[:-3] for name in q_names if name.split(".")[-1].startswith("Q")}:
        length = float(np.sqrt(sum(value[f"{stem}[{i}]"] ** 2 for i in range(1, 5))))
        for i in range(1, 5):
            value[f"{stem}[{i}]"] /= length
    rates = {name: (speed * rng.normal(), 2.0 * rng.normal()) for name in sorted(u_names)}
    q = np.array([value[name] for name in q_names], dtype=float)
    u = np.array([rates[name][0] for name in u_names], dtype=float)
    tau = np.array([rates[name][1] for name in u_names], dtype=float)
    return q, u, tau


def random_loads(model: Mapping[str, Any], seed: int) -> dict[str, Array]:
    """A random value, N or N m, for every node load the model lists as input: {'b1.n2.force': (3,), ...}."""
    rng = np.random.default_rng([seed, 78])
    return {key: rng.normal(size=3) for key in sorted(model["inputs"])}
