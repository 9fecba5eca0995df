"""Loops and couplings on the oracle: relations of frames, differentiated, and solved with M as one dense system.

The relations are not those of the kernel: positions in inertial axes, parallel axes by cross products, turns by the
antisymmetric part of a rotation matrix. More relations than are needed do no harm to a least-norm solution.

    [ M  J' ] [ udot    ]   [ tau - (bias of the tree) ]
    [ J  0  ] [ -lambda ] = [ -Jdot u                  ]                                             (1)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from .frames import Array, skew
from .particles import Oracle


def _vee(m: Any) -> Any:
    return 0.5 * ca.vertcat(m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1])


def _unit(v: ArrayLike) -> Array:
    v = np.asarray(v, dtype=float)
    return v / np.linalg.norm(v)


class Closed:
    """An oracle with the loops and couplings of a model whose `frames` say both attitudes."""

    def __init__(self, oracle: Oracle, model: Mapping[str, Any]) -> None:
        """Write out every relation, differentiate it along the motion, and compile."""
        self.oracle, tree = oracle, oracle.tree
        self.loops = list(model.get("loops", []))
        position, speed = [], []
        for loop in self.loops:
            first, second = (self._frame(loop, i) for i in (0, 1))
            g, rate = self._relations(loop, first, second)
            position += g
            speed += [ca.jtimes(x, tree.q, tree.qdot) for x in g] + rate
        for c in model.get("couplings", []):
            terms = [factor * tree.q[oracle.q_names.index(name)] for name, factor in c["of"].items()]
            g = sum(terms[1:], terms[0]) - c.get("offset", 0.0)
            position.append(g)
            speed.append(ca.jtimes(g, tree.q, tree.qdot))
        gdot = ca.vertcat(*speed)
        zero = ca.SX.zeros(oracle.nu)
        bias = ca.jtimes(gdot, ca.vertcat(tree.q, tree.u), ca.vertcat(tree.qdot, zero))
        self._f: Any = ca.Function("closed", [tree.q, tree.u], [ca.vertcat(*position), ca.jacobian(gdot, tree.u), bias])

    def _frame(self, loop: Mapping[str, Any], i: int) -> tuple[Any, Any]:
        body = loop["between"][i].split(".")[0]
        p, R = ca.SX.zeros(3), ca.SX.eye(3)
        if body != "ground":
            frame = self.oracle.tree.frames[self.oracle._node(loop["between"][i])]
            p, R = frame.p, frame.R
        own = loop.get("frames", [{}, {}])[i]
        turn = Rotation.from_quat(own.get("quaternion", [0, 0, 0, 1])).as_matrix()
        return p + R @ ca.DM(own.get("position", [0.0, 0.0, 0.0])), R @ ca.DM(turn)

    def _relations(self, loop: Mapping[str, Any], first: Any, second: Any) -> tuple[list[Any], list[Any]]:
        """Relations of positions, and (rolling) of speeds that are not holonomic."""
        (p1, R1), (p2, R2) = first, second
        d, kind = p2 - p1, loop["type"]
        axes = [_unit(a) for a in loop.get("axes", [loop["axis"]] if "axis" in loop else [])]
        normal = np.cross(*axes) if kind in ("planar", "plane") else axes[0] if axes else None
        parallel = [] if normal is None else [ca.cross(R1 @ ca.DM(normal), R2 @ ca.DM(normal))]
        on_axis = [] if normal is None else [ca.cross(R1 @ ca.DM(normal), d)]
        turned = [_vee(R1.T @ R2)]
        if kind == "rolling":
            return self._rolling(loop, axes[0], first, second)
        if kind == "rod":
            return [ca.sqrt(ca.dot(d, d)) - loop["length"]], []
        if kind == "universal":
            return [d, ca.dot(R1 @ ca.DM(axes[0]), R2 @ ca.DM(axes[1])) - float(axes[0] @ axes[1])], []
        in_plane = [] if normal is None else [ca.dot(R1 @ ca.DM(normal), d)]
        return {
            "fixed": [d, *turned],
            "spherical": [d],
            "revolute": [d, *parallel],
            "prismatic": [*on_axis, *turned],
            "cylindrical": [*on_axis, *parallel],
            "planar": [*in_plane, *parallel],
            "slot": on_axis,
            "plane": in_plane,
        }[kind], []

    def _rolling(self, loop: Mapping[str, Any], axis: Array, first: Any, second: Any) -> tuple[list[Any], list[Any]]:
        """The disc touches, and the matter at the lowest point of either side has the same speed."""
        (p1, R1), (p2, R2) = first, second
        tree = self.oracle.tree
        a, n = R1 @ ca.DM(axis), R2[:, 2]
        down = -(n - a * ca.dot(n, a))
        rho = loop["radius"] * down / ca.sqrt(ca.dot(down, down))
        contact = p1 + rho

        def speed_there(p: Any, R: Any) -> Any:
            spin = ca.reshape(ca.jtimes(ca.vec(R), tree.q, tree.qdot), 3, 3) @ R.T
            return ca.jtimes(p, tree.q, tree.qdot) + spin @ (contact - p)

        return [ca.dot(n, contact - p2)], [speed_there(p1, R1) - speed_there(p2, R2)]

    def relations(self, q: ArrayLike, u: ArrayLike) -> tuple[Array, Array, Array]:
        """Residuals, J and Jdot u."""
        g, J, bias = (np.asarray(x, dtype=float) for x in self._f(q, u))
        return g.ravel(), J, bias.ravel()

    def speeds(self, q: Array, u: Array) -> Array:
        """The speeds nearest to u that keep everything closed."""
        J = self.relations(q, u)[1]
        out: Array = u - np.linalg.pinv(J, rcond=1e-10) @ (J @ u)
        return out

    def forward_dynamics(self, q: Array, u: Array, tau: Array, held: Mapping[str, float] | None = None) -> Array:
        """Accelerations by (1)."""
        given = held or {}
        free = np.array([name not in given for name in self.oracle.u_names])
        udot = np.array([given.get(name, 0.0) for name in self.oracle.u_names])
        _, J, bias = self.relations(q, u)
        rest = (tau - self.oracle.inverse_dynamics(q, u, udot))[free]
        M, Jf = self.oracle.mass_matrix(q)[np.ix_(free, free)], J[:, free]
        W = np.linalg.solve(M, np.column_stack([Jf.T, rest]))
        lam = np.linalg.lstsq(Jf @ W[:, :-1], -(bias + J @ udot + Jf @ W[:, -1]), rcond=1e-12)[0]
        udot[free] = W[:, -1] + W[:, :-1] @ lam
        return udot

    def generalized(self, q: Array, wrenches: Mapping[int, Array]) -> Array:
        """Generalized force of wrenches (torque, force) of first sides on second ones, in the second frames."""
        jv, jw = self.oracle._partials(q)
        p, rot = self.oracle._place(q)
        out = np.zeros(self.oracle.nu)
        for i, wrench in wrenches.items():
            loop = self.loops[i]
            point, R = self._numbers(loop, 1, p, rot)
            torque, force = R @ wrench[:3], R @ wrench[3:]
            for end, sign in ((1, 1.0), (0, -1.0)):
                if loop["between"][end].startswith("ground."):
                    continue
                j = self.oracle._node(loop["between"][end])
                arm = skew(point - p[j])
                out += sign * (jv[j].T @ force + jw[j].T @ (torque + np.asarray(arm, dtype=float) @ force))
        return out

    def _numbers(self, loop: Mapping[str, Any], i: int, p: Array, rot: Array) -> tuple[Array, Array]:
        own = loop.get("frames", [{}, {}])[i]
        r, R = np.zeros(3), np.eye(3)
        if not loop["between"][i].startswith("ground."):
            j = self.oracle._node(loop["between"][i])
            r, R = p[j], rot[j]
        turn = Rotation.from_quat(own.get("quaternion", [0, 0, 0, 1])).as_matrix()
        return r + R @ np.asarray(own.get("position", [0.0, 0.0, 0.0])), R @ turn
