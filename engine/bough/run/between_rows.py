"""States between the rows of a result, at the points of a quadrature over each interval.

A row holds positions and speeds. In an interval of length h the speed is the parabola through both its ends with
the mean that the way tells, m = (q1 - q0)/h:

    u(x) = u0 (1 - x)(1 - 3x) + u1 x (3x - 2) + 6 m x (1 - x),     x = (t - t0)/h

so that the work of a constant force is exact, and that of anything smooth of fourth order in h. The mean of a turn
is the logarithm of the quaternion between two rows, less what the order of turns adds to it (Magnus, second term):

    exp(Omega) = Q0^-1 Q1,     h m = Omega - h^2/12 (w0 x w1) + O(h^5)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bough.mechanism.mechanism import Mechanism

Array: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.intp]

_ROOT = float(np.sqrt(0.15))
POINTS = (0.5 - _ROOT, 0.5, 0.5 + _ROOT)
"""Gauss' points: exact for polynomials of fifth order."""
WEIGHTS = (5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0)


FINEST = 10
"""Halvings of an interval in which a power jumps: a stop is met, a rope becomes taut."""
ENOUGH = 1e-9
"""Change of an integral by a halving that is left alone, of all that the element has taken."""

Power: TypeAlias = Callable[[Array, Array], dict[str, Array]]


class Between:
    """States of a mechanism between the rows of a result."""

    def __init__(self, system: Mechanism, t: Array, q: Array, u: Array) -> None:
        """Take the rows: times (rows,), positions (rows, nq), speeds (rows, nu)."""
        self.system, self.q, self.u = system, q, u
        self.h: Array = np.diff(t)
        self.turning, self.plain = _turning(system), _plain(system)
        self.way = self._ways()  # h m
        h = self.h[:, None]
        self.mean: Array = np.divide(self.way, h, out=0.5 * (u[:-1] + u[1:]), where=h > 0.0)

    def states(self, rows: Rows, x: Array) -> tuple[Array, Array]:
        """Positions and speeds at x, 0 to 1, of the intervals after some rows."""
        x = x[:, None]
        h, u0, u1 = self.h[rows, None], self.u[rows], self.u[rows + 1]
        speed = u0 * ((1 - x) * (1 - 3 * x)) + u1 * (x * (3 * x - 2)) + self.mean[rows] * (6 * x * (1 - x))
        moved = h * (u0 * (x * (1 - x) ** 2) + u1 * (x * x * (x - 1))) + self.way[rows] * (x * x * (3 - 2 * x))
        return self._moved(self.q[rows], moved), speed

    def integrals(self, power: Power) -> dict[str, Array]:
        """Energy, J, (intervals,), of every power; an interval in which one of them jumps is halved there."""
        rows = np.arange(len(self.h), dtype=np.intp)
        low, high = np.zeros(len(rows)), np.ones(len(rows))
        whole = self._gauss(power, rows, low, high)
        names = list(whole)
        out = {name: np.zeros(len(self.h)) for name in names}
        enough = {name: ENOUGH * float(abs(y).sum()) for name, y in whole.items()}
        for level in range(FINEST + 1):
            middle = 0.5 * (low + high)
            left, right = self._gauss(power, rows, low, middle), self._gauss(power, rows, middle, high)
            rough = np.zeros(len(rows), dtype=bool)
            for name in names:
                rough |= abs(left[name] + right[name] - whole[name]) > enough[name]
            rough &= level < FINEST
            for name in names:
                np.add.at(out[name], rows[~rough], (left[name] + right[name])[~rough])
            if not rough.any():
                break
            whole = {name: np.concatenate([left[name][rough], right[name][rough]]) for name in names}
            rows = np.concatenate([rows[rough], rows[rough]])
            low, high = np.concatenate([low[rough], middle[rough]]), np.concatenate([middle[rough], high[rough]])
        return out

    def _gauss(self, power: Power, rows: Rows, low: Array, high: Array) -> dict[str, Array]:
        """Energy in parts of intervals, from `low` to `high`."""
        out: dict[str, Array] = {}
        length = self.h[rows] * (high - low)
        for x, weight in zip(POINTS, WEIGHTS, strict=True):
            for name, y in power(*self.states(rows, low + x * (high - low))).items():
                out[name] = out.get(name, 0.0) + weight * length * y
        return out

    def _ways(self) -> Array:
        """Integral of every speed over every interval."""
        q, u = self.q, self.u
        out = np.zeros((len(q) - 1, self.system.nu))
        of_q, of_u = self.plain
        out[:, of_u] = np.diff(q[:, of_q], axis=0)
        for of_q, of_u in self.turning:
            turn = (Rotation.from_quat(q[:-1, of_q]).inv() * Rotation.from_quat(q[1:, of_q])).as_rotvec()
            out[:, of_u] = turn - self.h[:, None] ** 2 / 12.0 * np.cross(u[:-1, of_u], u[1:, of_u])
        return out

    def _moved(self, q: Array, way: Array) -> Array:
        """Positions after small ways."""
        out: Array = q.copy()
        of_q, of_u = self.plain
        out[:, of_q] += way[:, of_u]
        for of_q, of_u in self.turning:
            out[:, of_q] = (Rotation.from_quat(q[:, of_q]) * Rotation.from_rotvec(way[:, of_u])).as_quat()
        return out


def _turning(system: Mechanism) -> list[tuple[list[int], list[int]]]:
    """Of every hinge with a quaternion: its four entries of q, its three of u."""
    out = []
    for owner in dict.fromkeys(c.owner for c in system.q_table if c.kind == "quaternion"):
        q = [c.index for c in system.q_table if c.owner == owner and c.kind == "quaternion"]
        u = [c.index for c in system.u_table if c.owner == owner and c.kind == "rotation"]
        out.append((q, u))
    return out


def _plain(system: Mechanism) -> tuple[list[int], list[int]]:
    """Entries of q, and of u, where a speed is the rate of a position."""
    turning = {i for _, u in _turning(system) for i in u}
    q = [c.index for c in system.q_table if c.kind != "quaternion"]
    return q, [c.index for c in system.u_table if c.index not in turning]
