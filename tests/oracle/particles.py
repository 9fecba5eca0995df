"""Equations of motion by virtual power over particles and small rigid bodies.

Positions and attitudes come as functions of q (frames.py).  Everything else is differentiation:

    v_j = dr_j/dq qdot(q, u)        [w_j]x = (dR_j/dq qdot) R_j'          velocities, linear in u
    a_j, alpha_j                     the same, differentiated along (qdot, udot)
    J_j = dv_j/du, W_j = dw_j/du     partial velocities

    sum_j J_j' m_j (a_j - g) + W_j' (I_j alpha_j + w_j x (I_j w_j + h_j)) + armature udot
        = tau - springs - dampers - K eta - D eta_dot + node loads                                 (1)

with I_j = R_j I R_j' fixed in the rotating frame it rides on.  There is no recursion, no modal integral, no
spatial algebra: the one thing shared with the code under test is the definition of the frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from .frames import Array, BodyData, Model, Tree

Loads = Mapping[str, ArrayLike]  # {'body.node.force': (3,) N, 'body.node.torque': (3,) N m}, inertial frame


@dataclass(frozen=True)
class Motion:
    """Motion of one node in the inertial frame: v, m/s; w, rad/s; a, m/s^2; alpha, rad/s^2."""

    v: Array
    w: Array
    a: Array
    alpha: Array


@dataclass(frozen=True)
class Wrench:
    """Force, N, and torque, N m, at a stated point in stated axes."""

    force: Array
    torque: Array


def rotation_vector(quat: ArrayLike) -> Array:
    """Rotation vector, rad, of length at most pi, of a quaternion [x, y, z, w] of any length but zero."""
    q = np.asarray(quat, dtype=float)
    q = q / np.linalg.norm(q)
    if q[3] < 0:
        q = -q
    half = np.linalg.norm(q[:3])
    out: Array = q[:3] * (2.0 * np.arctan2(half, q[3]) / half if half > 1e-12 else 2.0)
    return out


class Oracle:
    """Independent dynamics of a model given as the plain dict of the model file (rigid and nodal bodies).

    `q_names` and `u_names`, per body: hinge translations, hinge rotations, modal coordinates.
    """

    def __init__(self, model: Model) -> None:
        """Write every frame symbolically, differentiate twice along the motion, and compile."""
        tree = Tree(model)
        self.tree = tree
        self.q_names: list[str] = tree.q_names
        self.u_names: list[str] = tree.u_names
        self.nq, self.nu = len(self.q_names), len(self.u_names)
        self.gravity: Array = np.asarray(model.get("gravity", [0, 0, 0]), dtype=float)
        self.mass: Array = np.array([f.mass for f in tree.frames])
        self._inertia = np.array([f.inertia for f in tree.frames])
        self._wheels = np.array([f.momentum for f in tree.frames])
        self._owner: NDArray[np.int_] = np.array([f.body for f in tree.frames])
        self.armature: Array = np.zeros(self.nu)
        for b in tree.bodies:
            self.armature[b.u_lin.start : b.u_rot.stop] = b.armature
        self._compile(tree)

    def _compile(self, tree: Tree) -> None:
        q, u, udot = tree.q, tree.u, ca.SX.sym("udot", self.nu)
        p = ca.vertcat(*[f.p for f in tree.frames])
        rot = ca.horzcat(*[f.R for f in tree.frames])  # 3 x 3n
        n = len(tree.frames)
        rate = ca.reshape(ca.jtimes(ca.vec(rot), q, tree.qdot), 3, 3 * n)
        spins = []
        for j in range(n):
            w = rate[:, 3 * j : 3 * j + 3] @ rot[:, 3 * j : 3 * j + 3].T  # [w]x
            spins += [w[2, 1], w[0, 2], w[1, 0]]
        velocity = ca.vertcat(ca.jtimes(p, q, tree.qdot), *spins)
        x, xdot = ca.vertcat(q, u), ca.vertcat(tree.qdot, udot)
        acceleration = ca.jtimes(velocity, x, xdot)
        self._f_place: Any = ca.Function("place", [q], [p, rot])
        self._f_qdot: Any = ca.Function("qdot", [q, u], [tree.qdot])
        self._f_velocity: Any = ca.Function("velocity", [q, u], [velocity])
        self._f_acceleration: Any = ca.Function("acceleration", [q, u, udot], [acceleration])

    # --- kinematics -------------------------------------------------------------------------

    def qdot(self, q: ArrayLike, u: ArrayLike) -> Array:
        """Rates of q for speeds u."""
        out: Array = np.asarray(self._f_qdot(q, u)).reshape(self.nq)
        return out

    def _place(self, q: ArrayLike) -> tuple[Array, Array]:
        """Origins (n, 3) and rotation matrices (n, 3, 3) of every frame."""
        p, rot = self._f_place(q)
        n = len(self.mass)
        return np.asarray(p).reshape(n, 3), np.asarray(rot).T.reshape(n, 3, 3).transpose(0, 2, 1)

    def _split(self, flat: Any) -> tuple[Array, Array]:
        """Linear and angular halves, (n, 3) or (n, 3, columns), of a stacked casadi result."""
        a = np.asarray(flat, dtype=float)
        n = len(self.mass)
        a = a.reshape((2, n, 3) if a.shape[1] == 1 else (2, n, 3, a.shape[1]))
        return a[0], a[1]

    def _velocity(self, q: ArrayLike, u: ArrayLike) -> tuple[Array, Array]:
        return self._split(self._f_velocity(q, u))

    def _acceleration(self, q: ArrayLike, u: ArrayLike, udot: ArrayLike) -> tuple[Array, Array]:
        return self._split(self._f_acceleration(q, u, udot))

    def _partials(self, q: ArrayLike) -> tuple[Array, Array]:
        """Partial velocities J, W (n, 3, nu): velocity is linear in u, so unit speeds give them exactly."""
        n = len(self.mass)
        if self.nu == 0:
            return np.zeros((n, 3, 0)), np.zeros((n, 3, 0))
        columns = np.repeat(np.asarray(q, dtype=float).reshape(self.nq, 1), self.nu, axis=1)
        flat = np.asarray(self._f_velocity(columns, np.eye(self.nu))).reshape(2, n, 3, self.nu)
        return flat[0], flat[1]

    def _node(self, node: str) -> int:
        body, _, name = node.partition(".")
        for b in self.tree.bodies:
            if b.name == body:
                return b.nodes[name]
        raise KeyError(node)

    def pose(self, q: ArrayLike, node: str) -> tuple[Array, Array]:
        """Position, m, and quaternion [x, y, z, w] (w >= 0) of 'body.node' in the inertial frame."""
        p, rot = self._place(q)
        j = self._node(node)
        quat: Array = Rotation.from_matrix(rot[j]).as_quat()
        return p[j], quat if quat[3] >= 0 else -quat

    def node_motion(self, q: ArrayLike, u: ArrayLike, udot: ArrayLike, node: str) -> Motion:
        """Velocity and acceleration of 'body.node', inertial frame (gravity is not in the acceleration)."""
        j = self._node(node)
        v, w = self._velocity(q, u)
        a, alpha = self._acceleration(q, u, udot)
        return Motion(v[j], w[j], a[j], alpha[j])

    # --- dynamics ---------------------------------------------------------------------------

    def _world_inertia(self, rot: Array) -> Array:
        out: Array = rot @ self._inertia @ rot.transpose(0, 2, 1)
        return out

    def mass_matrix(self, q: ArrayLike) -> Array:
        """M(q), armature included, in the order of `u_names`."""
        _, rot = self._place(q)
        jv, jw = self._partials(q)
        m: Array = np.einsum("n,nir,nis->rs", self.mass, jv, jv)
        m += np.einsum("nir,nij,njs->rs", jw, self._world_inertia(rot), jw)
        m += np.diag(self.armature)
        return m

    def _inertial_loads(self, q: ArrayLike, u: ArrayLike, udot: ArrayLike) -> tuple[Array, Array]:
        """m (a - g) and I alpha + w x (I w + h) of every frame, inertial axes."""
        _, rot = self._place(q)
        _, w = self._velocity(q, u)
        a, alpha = self._acceleration(q, u, udot)
        inertia = self._world_inertia(rot)
        spin = np.einsum("nij,nj->ni", inertia, w) + np.einsum("nij,nj->ni", rot, self._wheels)
        force = self.mass[:, None] * (a - self.gravity)
        torque = np.einsum("nij,nj->ni", inertia, alpha) + np.cross(w, spin)
        return force, torque

    def _node_loads(self, loads: Loads | None) -> tuple[Array, Array]:
        force, torque = np.zeros((len(self.mass), 3)), np.zeros((len(self.mass), 3))
        for key, value in (loads or {}).items():
            node, _, what = key.rpartition(".")
            target = {"force": force, "torque": torque}[what]
            target[self._node(node)] += np.asarray(value, dtype=float)
        return force, torque

    def own_forces(self, q: ArrayLike, u: ArrayLike) -> Array:
        """Generalized forces of hinge springs and dampers and of modal stiffness and damping."""
        q, u = np.asarray(q, dtype=float), np.asarray(u, dtype=float)
        out = np.zeros(self.nu)
        for b in self.tree.bodies:
            hinge = slice(b.u_lin.start, b.u_rot.stop)
            out[hinge] = -b.stiffness * self._stretch(b, q) - b.damping * u[hinge]
            out[b.u_eta] = -b.modal_stiffness @ q[b.q_eta] - b.modal_damping @ u[b.u_eta]
        return out

    @staticmethod
    def _stretch(b: BodyData, q: Array) -> Array:
        """Hinge displacement from rest, per DOF; the rotation vector for a quaternion hinge."""
        turn = rotation_vector(q[b.q_rot]) if b.quaternion else q[b.q_rot]
        out: Array = np.concatenate([q[b.q_lin], turn]) - b.rest
        return out

    def inverse_dynamics(self, q: ArrayLike, u: ArrayLike, udot: ArrayLike, node_loads: Loads | None = None) -> Array:
        """Applied generalized forces tau that go with udot, from (1)."""
        jv, jw = self._partials(q)
        force, torque = self._inertial_loads(q, u, udot)
        load_force, load_torque = self._node_loads(node_loads)
        needed = np.einsum("nir,ni->r", jv, force - load_force) + np.einsum("nir,ni->r", jw, torque - load_torque)
        out: Array = needed + self.armature * np.asarray(udot, dtype=float) - self.own_forces(q, u)
        return out

    def forward_dynamics(
        self,
        q: ArrayLike,
        u: ArrayLike,
        tau: ArrayLike,
        node_loads: Loads | None = None,
        prescribed: Mapping[str, float] | None = None,
    ) -> Array:
        """Accelerations udot.

        Args:
            q: coordinates.
            u: speeds.
            tau: applied generalized forces, ordered like u (entries of prescribed DOFs are ignored).
            node_loads: {'body.node.force' or '.torque': (3,)}, inertial frame.
            prescribed: u name -> given acceleration, for driven and locked (0.0) DOFs.
        """
        given = prescribed or {}
        held = np.array([name in given for name in self.u_names], dtype=bool)
        udot = np.array([given.get(name, 0.0) for name in self.u_names], dtype=float)
        rest = np.asarray(tau, dtype=float) - self.inverse_dynamics(q, u, udot, node_loads)
        if not held.all():
            m = self.mass_matrix(q)
            udot[~held] = np.linalg.solve(m[np.ix_(~held, ~held)], rest[~held])
        return udot

    # --- what the motion must balance -------------------------------------------------------

    def energy(self, q: ArrayLike, u: ArrayLike) -> tuple[float, float]:
        """Kinetic (armature in, wheels' own spin out) and potential energy (gravity, springs, modes), J."""
        q, u = np.asarray(q, dtype=float), np.asarray(u, dtype=float)
        p, rot = self._place(q)
        v, w = self._velocity(q, u)
        kinetic = 0.5 * np.sum(self.mass * np.sum(v**2, axis=1)) + 0.5 * np.sum(self.armature * u**2)
        kinetic += 0.5 * np.einsum("ni,nij,nj->", w, self._world_inertia(rot), w)
        potential = -np.sum(self.mass * (p @ self.gravity))
        for b in self.tree.bodies:
            potential += 0.5 * np.sum(b.stiffness * self._stretch(b, q) ** 2)
            potential += 0.5 * q[b.q_eta] @ b.modal_stiffness @ q[b.q_eta]
        return float(kinetic), float(potential)

    def momentum(self, q: ArrayLike, u: ArrayLike) -> tuple[Array, Array]:
        """Linear, N s, and angular momentum about the inertial origin (wheels in), N m s; no armature."""
        p, rot = self._place(q)
        v, w = self._velocity(q, u)
        linear = self.mass[:, None] * v
        spin = np.einsum("nij,nj->ni", self._world_inertia(rot), w) + np.einsum("nij,nj->ni", rot, self._wheels)
        return linear.sum(axis=0), (np.cross(p, linear) + spin).sum(axis=0)

    def _subtree(self, k: int) -> NDArray[np.bool_]:
        """Mask of the frames of body k and all bodies outboard of it."""
        inside = {k}
        for j, b in enumerate(self.tree.bodies):
            if b.parent in inside:
                inside.add(j)
        return np.isin(self._owner, list(inside))

    def reactions(
        self, q: ArrayLike, u: ArrayLike, udot: ArrayLike, node_loads: Loads | None = None
    ) -> dict[str, Wrench]:
        """What the parent exerts on the child through each hinge: constraint, drive, spring, damper, rotor.

        At the outboard frame's origin, in the outboard frame's axes.  Newton-Euler over the outboard subtree:
        rate of momentum less gravity and node loads.
        """
        p, rot = self._place(q)
        force, torque = self._inertial_loads(q, u, udot)
        load_force, load_torque = self._node_loads(node_loads)
        force, torque = force - load_force, torque - load_torque
        out = {}
        for k, b in enumerate(self.tree.bodies):
            inside, o = self._subtree(k), b.outboard
            moment = torque[inside] + np.cross(p[inside] - p[o], force[inside])
            to_outboard = rot[o].T
            out[b.hinge] = Wrench(to_outboard @ force[inside].sum(axis=0), to_outboard @ moment.sum(axis=0))
        return out

    def order(self, names: Sequence[str]) -> NDArray[np.int_]:
        """Indices such that x[order(names)] lists this oracle's q (or u) vector x in the order of `names`."""
        own = self.q_names if len(names) == self.nq and set(names) == set(self.q_names) else self.u_names
        return np.array([own.index(name) for name in names], dtype=int)
