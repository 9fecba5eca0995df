"""Beams that bend far, by Reissner's equations along the axis: shooting from the root, no elements, no modes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation


def reissner_tip(
    length: float, curvature: Any, rigidities: Any, shears: Any, force: Any, axes: Any = None, moment: Any = (0, 0, 0)
) -> tuple[Any, Any]:
    """Tip position and attitude matrix of a clamped beam under a dead force and moment at its tip.

    n' = 0, m' = -r' x n, r' = R (e1 + n / GA), R' = R (kappa_0 + m / EI)~, all of n and m in the section's axes.

    Args:
        length: m.
        curvature: kappa_0 of the undeformed axis in the section's axes, 1/m, (3,).
        rigidities: GJ, EIy, EIz, N.m^2.
        shears: EA, GAy, GAz, N; may be infinite.
        force: At the tip, N, axes of the ground.
        axes: Section axes at the root as columns.
        moment: At the tip, N.m, axes of the ground.
    """
    start = np.eye(3) if axes is None else np.asarray(axes, dtype=float)
    n, k0, EI, GA = (np.asarray(x, dtype=float) for x in (force, curvature, rigidities, shears))

    def rates(_: float, y: Any) -> Any:
        r_dot, m = np.zeros(3), y[3:6]
        R = Rotation.from_quat(y[6:] / np.linalg.norm(y[6:]))
        r_dot = R.apply(np.array([1.0, 0.0, 0.0]) + R.inv().apply(n) / GA)
        kappa = k0 + R.inv().apply(m) / EI
        v, w = y[6:9], y[9]
        return np.concatenate([r_dot, -np.cross(r_dot, n), 0.5 * (w * kappa + np.cross(v, kappa)), [-0.5 * v @ kappa]])

    def shot(m: Any) -> Any:
        y0 = np.concatenate([np.zeros(3), m, Rotation.from_matrix(start).as_quat()])
        return solve_ivp(rates, (0.0, length), y0, rtol=1e-9, atol=1e-9, method="DOP853").y[:, -1]

    m0, end = np.zeros(3), np.asarray(moment, dtype=float)
    goal_force = n
    for share in (0.2, 0.6, 1.0):
        n, goal = share * goal_force, share * end
        m0 = fsolve(lambda m, goal=goal: shot(m)[3:6] - goal, m0, xtol=1e-9)
    y = shot(m0)
    return y[:3], Rotation.from_quat(y[6:] / np.linalg.norm(y[6:])).as_matrix()
