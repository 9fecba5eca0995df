"""Articulated-body forward dynamics of a rigid chain in NumPy: what the method costs without a compiled kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.chains import GRAVITY, Link

Array = NDArray[np.float64]


def _skew(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def _cross(a: Array, b: Array) -> Array:
    """Several times faster than np.cross for one pair of vectors."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _rotation(q: Array) -> Array:
    s = _skew(q[:3])
    out: Array = np.eye(3) + 2 * q[3] * s + 2 * s @ s
    return out


class NumpyChain:
    """Revolute chain about z; spatial vectors are angular first, each body in its own frame."""

    def __init__(self, chain: list[Link]) -> None:
        """Spatial inertias and hinge frames."""
        self.frame = [_rotation(link.quaternion) for link in chain]
        self.arm = [_skew(link.position) for link in chain]
        self.inertia = []
        for link in chain:
            c = _skew(link.com)
            M = np.zeros((6, 6))
            M[:3, :3] = link.inertia - link.mass * c @ c
            M[:3, 3:], M[3:, :3] = link.mass * c, -link.mass * c
            M[3:, 3:] = link.mass * np.eye(3)
            self.inertia.append(M)

    def forward_dynamics(self, q: Array, u: Array, tau: Array) -> Array:
        """Accelerations, rad/s^2."""
        n = len(q)
        X, c, P, z = [], [], [], []
        v = np.zeros(6)
        for k in range(n):  # outward: velocities, Coriolis accelerations, gyroscopic forces
            s, co = np.sin(q[k]), np.cos(q[k])
            R = self.frame[k] @ np.array([[co, -s, 0.0], [s, co, 0.0], [0.0, 0.0, 1.0]])
            x = np.zeros((6, 6))  # velocity from the parent's frame into the body's
            x[:3, :3] = x[3:, 3:] = R.T
            x[3:, :3] = -R.T @ self.arm[k]
            v = x @ v
            a = np.array([v[1], -v[0], 0.0, v[4], -v[3], 0.0]) * u[k]
            v[2] += u[k]
            h = self.inertia[k] @ v
            X.append(x)
            c.append(a)
            P.append(self.inertia[k].copy())
            w, f = v[:3], np.empty(6)
            f[:3], f[3:] = _cross(w, h[:3]) + _cross(v[3:], h[3:]), _cross(w, h[3:])
            z.append(f)
        D, e, G = np.empty(n), np.empty(n), np.empty((n, 6))
        for k in range(n - 1, -1, -1):  # inward: articulated inertias
            D[k], G[k], e[k] = P[k][2, 2], P[k][:, 2], tau[k] - z[k][2]
            if k:
                Pa = P[k] - np.outer(G[k], G[k]) / D[k]
                za = z[k] + Pa @ c[k] + G[k] * (e[k] / D[k])
                P[k - 1] += X[k].T @ Pa @ X[k]
                z[k - 1] = z[k - 1] + X[k].T @ za
        udot = np.empty(n)
        a = np.r_[np.zeros(3), -np.array(GRAVITY)]
        for k in range(n):  # outward: accelerations
            a = X[k] @ a + c[k]
            udot[k] = (e[k] - G[k] @ a) / D[k]
            a[2] += udot[k]
        return udot
