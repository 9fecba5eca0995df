"""Symbolic frames of a tree of rigid and nodal bodies, straight from the model file's definitions.

A frame is (p, R): origin in the inertial frame, m, and rotation matrix, frame to inertial.  Every frame is
written as an explicit function of the coordinates q; nothing here knows about velocity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Model = Mapping[str, Any]

# (translations, rotations, quaternion?) of each hinge type; names of the coordinates follow from these.
HINGE_SHAPE: dict[str, tuple[int, int, bool]] = {
    "fixed": (0, 0, False),
    "revolute": (0, 1, False),
    "prismatic": (1, 0, False),
    "cylindrical": (1, 1, False),
    "universal": (0, 2, False),
    "planar": (2, 1, False),
    "spherical": (0, 3, True),
    "free": (3, 3, True),
    "screw": (0, 1, False),
}
EXP_TERMS = 20  # series in theta^2; the first term left out is 6e-18 at theta = 6 rad


def indexed(stem: str, count: int) -> list[str]:
    """Names of `count` like quantities: plain when there is one, [1], [2], ... when there are several."""
    return [stem] if count == 1 else [f"{stem}[{i + 1}]" for i in range(count)]


def pick(x: Any, where: slice) -> Any:
    """Entries of a symbolic column; casadi's own slices of a one-entry column ignore an empty range."""
    return ca.vertcat(ca.SX(0, 1), *[x[i] for i in range(where.start, where.stop)])


def skew(v: Any) -> Any:
    """Cross-product matrix of a symbolic 3-vector."""
    return ca.vertcat(
        ca.horzcat(0, -v[2], v[1]),
        ca.horzcat(v[2], 0, -v[0]),
        ca.horzcat(-v[1], v[0], 0),
    )


def exp_map(x: Any) -> Any:
    """Rotation matrix exp([x]x) of a rotation vector, rad, as a power series: smooth through x = 0.

    R = 1 + A X + B X^2,  A = sum (-x.x)^k / (2k+1)!,  B = sum (-x.x)^k / (2k+2)!
    """
    x2 = ca.dot(x, x)
    a, b = ca.SX(1.0), ca.SX(1.0)
    for k in range(EXP_TERMS, 0, -1):
        a = 1 - a * x2 / ((2 * k) * (2 * k + 1))
        b = 1 - b * x2 / ((2 * k + 1) * (2 * k + 2))
    xx = skew(x)
    return ca.SX.eye(3) + a * xx + (b / 2) * (xx @ xx)


def axis_rotation(axis: Array, angle: Any) -> Any:
    """Rotation matrix about a constant unit axis by a symbolic angle, rad (Rodrigues)."""
    n = ca.SX(axis)
    return ca.cos(angle) * ca.SX.eye(3) + ca.sin(angle) * skew(n) + (1 - ca.cos(angle)) * (n @ n.T)


def quaternion_rotation(quat: Any) -> Any:
    """Rotation matrix of the quaternion [x, y, z, w]; its length drops out."""
    v, w = quat[:3], quat[3]
    n2 = ca.dot(quat, quat)
    return ((w * w - ca.dot(v, v)) * ca.SX.eye(3) + 2 * (v @ v.T) + 2 * w * skew(v)) / n2


def unit(v: ArrayLike) -> Array:
    """Unit vector along v."""
    a = np.asarray(v, dtype=float)
    out: Array = a / np.linalg.norm(a)
    return out


def inertia_matrix(six: Sequence[float] | None) -> Array:
    """Inertia matrix, kg m^2, from the file's Ixx Iyy Izz Ixy Ixz Iyz (matrix entries)."""
    if six is None:
        return np.zeros((3, 3))
    xx, yy, zz, xy, xz, yz = (float(v) for v in six)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def per_dof(value: Any, count: int) -> Array:
    """A hinge property for each degree of freedom: a scalar in the file is spread."""
    return np.array(np.broadcast_to(np.asarray(0.0 if value is None else value, dtype=float), (count,)))


def square(value: Any, n: int) -> Array:
    """Full n x n matrix from a diagonal or a full matrix."""
    a = np.asarray(value, dtype=float)
    out: Array = np.diag(a) if a.ndim == 1 and n else a.reshape(n, n)
    return out


@dataclass
class Frame:
    """A tracked frame and the inertia that rides on it: about the frame's origin, in its own axes."""

    p: Any
    R: Any
    body: int
    mass: float = 0.0
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    momentum: Array = field(default_factory=lambda: np.zeros(3))  # embedded wheels, N m s, in the frame's axes


@dataclass
class BodyData:
    """What the oracle keeps of one body: its place in the tree, its slices of q and u, its properties."""

    name: str
    hinge: str
    kind: str
    parent: int
    q_lin: slice
    q_rot: slice
    u_lin: slice
    u_rot: slice
    quaternion: bool
    q_eta: slice
    u_eta: slice
    damping: Array
    stiffness: Array
    rest: Array
    armature: Array
    modal_stiffness: Array
    modal_damping: Array
    axes: list[Array]
    outboard: int = -1  # index of the outboard frame
    nodes: dict[str, int] = field(default_factory=dict)  # frame index of every named node


class Tree:
    """Every frame of a model as a function of q, and the map from speeds u to rates of q."""

    def __init__(self, model: Model) -> None:
        """Lay out the coordinates, then place the frames from the ground outward."""
        self.q_names: list[str] = []
        self.u_names: list[str] = []
        self.bodies: list[BodyData] = []
        self.frames: list[Frame] = []
        specs = list(model["bodies"])
        index = {"ground": -1}
        for k, spec in enumerate(specs):
            self.bodies.append(self._lay_out(spec, index[spec["parent"]]))
            index[spec["name"]] = k
        self.q = ca.SX.sym("q", len(self.q_names))
        self.u = ca.SX.sym("u", len(self.u_names))
        for k, spec in enumerate(specs):
            self._place(k, spec)
        self.qdot = self._rates()

    def _lay_out(self, spec: Model, parent: int) -> BodyData:
        """Names and slices of one body: hinge translations, hinge rotations, modal coordinates."""
        h = spec["hinge"]
        name = h.get("name", spec["name"] + "_hinge")
        n_lin, n_rot, quaternion = HINGE_SHAPE[h["type"]]
        nodal = spec.get("nodal")
        if nodal is None and "rigid" not in spec:
            raise ValueError(f"the oracle knows rigid and nodal bodies only, not {spec['name']}")
        nm = len(nodal.get("modes", [])) if nodal else 0
        q_rot = [f"{name}.Q[{i + 1}]" for i in range(4)] if quaternion else indexed(f"{name}.phi", n_rot)
        q0, u0 = len(self.q_names), len(self.u_names)
        q_eta, u_eta = q0 + n_lin + (4 if quaternion else n_rot), u0 + n_lin + n_rot
        self.q_names += indexed(f"{name}.s", n_lin) if n_lin else []
        self.q_names += q_rot if n_rot else []
        self.q_names += [f"{spec['name']}.eta[{i + 1}]" for i in range(nm)]
        self.u_names += indexed(f"{name}.v", n_lin) if n_lin else []
        self.u_names += indexed(f"{name}.w", n_rot) if n_rot else []
        self.u_names += [f"{spec['name']}.eta_dot[{i + 1}]" for i in range(nm)]
        stiffness, damping = modal_matrices(nodal) if nodal else (np.zeros((0, 0)), np.zeros((0, 0)))
        axes = h["axes"] if "axes" in h else [h["axis"]] if "axis" in h else []
        return BodyData(
            name=spec["name"],
            hinge=name,
            kind=h["type"],
            parent=parent,
            q_lin=slice(q0, q0 + n_lin),
            q_rot=slice(q0 + n_lin, q_eta),
            u_lin=slice(u0, u0 + n_lin),
            u_rot=slice(u0 + n_lin, u_eta),
            quaternion=quaternion,
            q_eta=slice(q_eta, q_eta + nm),
            u_eta=slice(u_eta, u_eta + nm),
            damping=per_dof(h.get("damping"), n_lin + n_rot),
            stiffness=per_dof(h.get("stiffness"), n_lin + n_rot),
            rest=per_dof(h.get("rest"), n_lin + n_rot),
            armature=per_dof(h.get("armature"), n_lin + n_rot),
            modal_stiffness=stiffness,
            modal_damping=damping,
            axes=[unit(a) for a in axes],
        )

    def _add(self, frame: Frame) -> int:
        self.frames.append(frame)
        return len(self.frames) - 1

    def _outboard(self, b: BodyData, spec: Model) -> tuple[Any, Any]:
        """Parent's node frame -> inboard frame (`frame`) -> translations, fixed inboard -> rotations."""
        p, rot = ca.SX.zeros(3), ca.SX.eye(3)
        if b.parent >= 0:
            node = self.frames[self.bodies[b.parent].nodes[spec.get("at", "origin")]]
            p, rot = node.p, node.R
        elif spec.get("at", "origin") != "origin":
            raise ValueError("the ground has the node 'origin' only")
        place = spec["hinge"].get("frame", {})
        p = p + rot @ ca.SX(np.asarray(place.get("position", [0, 0, 0]), dtype=float))
        rot = rot @ quaternion_rotation(ca.SX(np.asarray(place.get("quaternion", [0, 0, 0, 1]), dtype=float)))
        slides = list(np.eye(3)) if b.kind == "free" else b.axes
        s, phi = pick(self.q, b.q_lin), pick(self.q, b.q_rot)
        for i in range(b.q_lin.stop - b.q_lin.start):
            p = p + (rot @ ca.SX(slides[i])) * s[i]
        if b.quaternion:
            return p, rot @ quaternion_rotation(phi)
        turns = [np.cross(b.axes[0], b.axes[1])] if b.kind == "planar" else b.axes
        if b.kind == "screw":  # a whole turn carries it by its pitch
            p = p + (rot @ ca.SX(b.axes[0])) * (float(spec["hinge"]["pitch"]) / (2 * np.pi)) * phi[0]
        for i in range(b.q_rot.stop - b.q_rot.start):
            rot = rot @ axis_rotation(unit(turns[i]), phi[i])
        return p, rot

    def _place(self, k: int, spec: Model) -> None:
        b = self.bodies[k]
        p, rot = self._outboard(b, spec)
        b.outboard = self._add(Frame(p, rot, k))
        if "rigid" in spec:
            self._place_rigid(k, spec["rigid"], p, rot)
        else:
            self._place_nodal(k, spec["nodal"], p, rot)

    def _place_rigid(self, k: int, rigid: Model, p: Any, rot: Any) -> None:
        """The body frame is the outboard frame; mass and inertia sit at the mass centre."""
        b = self.bodies[k]
        h = sum((float(w["momentum"]) * unit(w["axis"]) for w in rigid.get("wheels", [])), np.zeros(3))
        com = ca.SX(np.asarray(rigid.get("com", [0, 0, 0]), dtype=float))
        inertia = inertia_matrix(rigid.get("inertia"))
        self._add(Frame(p + rot @ com, rot, k, float(rigid["mass"]), inertia, h))
        b.nodes["origin"] = b.outboard
        for name, node in rigid.get("nodes", {}).items():
            offset = ca.SX(np.asarray(node.get("position", [0, 0, 0]), dtype=float))
            turn = quaternion_rotation(ca.SX(np.asarray(node.get("quaternion", [0, 0, 0, 1]), dtype=float)))
            b.nodes[name] = self._add(Frame(p + rot @ offset, rot @ turn, k))

    def _place_nodal(self, k: int, nodal: Model, p: Any, rot: Any) -> None:
        """The attach node's deformed frame is the outboard frame; the body frame, then the nodes, follow."""
        b = self.bodies[k]
        eta = pick(self.q, b.q_eta)
        shapes = mode_array(nodal)
        local = []  # (position l0 + Gam eta, attitude exp([Lam eta]x)) of each node in the body frame
        for j, node in enumerate(nodal["nodes"]):
            lam, gam = ca.SX(shapes[j, :3]), ca.SX(shapes[j, 3:])
            local.append((ca.SX(np.asarray(node["position"], dtype=float)) + gam @ eta, exp_map(lam @ eta)))
        attach = [node["name"] for node in nodal["nodes"]].index(nodal["attach"])
        body_rot = rot @ local[attach][1].T
        body_p = p - body_rot @ local[attach][0]
        for (pos, turn), node in zip(local, nodal["nodes"], strict=True):
            inertia = inertia_matrix(node.get("inertia"))
            frame = Frame(body_p + body_rot @ pos, body_rot @ turn, k, float(node.get("mass", 0.0)), inertia)
            b.nodes[node["name"]] = self._add(frame)

    def _rates(self) -> Any:
        """The rates of q: equal to u, but Qdot = 1/2 Q (x) [w, 0] where w is taken in the outboard frame."""
        parts = []
        for b in self.bodies:
            parts.append(pick(self.u, b.u_lin))
            w = pick(self.u, b.u_rot)
            if b.quaternion:
                quat = pick(self.q, b.q_rot)
                v, c = quat[:3], quat[3]
                parts.append(0.5 * ca.vertcat(c * w + ca.cross(v, w), -ca.dot(v, w)))
            else:
                parts.append(w)
            parts.append(pick(self.u, b.u_eta))
        return ca.vertcat(*parts)


def mode_array(nodal: Model) -> Array:
    """Shapes as (node, 6, mode): rows rotation, then translation."""
    n, modes = len(nodal["nodes"]), nodal.get("modes", [])
    a = np.asarray(modes, dtype=float).reshape(len(modes), n, 6)
    out: Array = np.transpose(a, (1, 2, 0))
    return out


def modal_matrices(nodal: Model) -> tuple[Array, Array]:
    """Modal stiffness and damping; a ratio z means 2 z sqrt(K_rr M_rr) with M_rr the shape's own mass."""
    shapes = mode_array(nodal)
    nm = shapes.shape[2]
    stiffness = square(nodal.get("stiffness", np.zeros(nm)), nm)
    if "damping_matrix" in nodal:
        return stiffness, square(nodal["damping_matrix"], nm)
    mass = np.zeros(nm)
    for node, shape in zip(nodal["nodes"], shapes, strict=True):
        lam, gam = shape[:3], shape[3:]
        mass += float(node.get("mass", 0.0)) * np.sum(gam**2, axis=0)
        mass += np.einsum("ir,ij,jr->r", lam, inertia_matrix(node.get("inertia")), lam)
    ratio = per_dof(nodal.get("damping"), nm)
    return stiffness, np.diag(2.0 * ratio * np.sqrt(np.diag(stiffness) * mass))
