"""Rotary inertia of points that turn by `exp([lam xi])`, exactly, at any deflection.

A point with inertia J about itself has the angular velocity `omega + Jl(lam xi) lam xidot`, with the left Jacobian of
the rotation; its kinetic energy is a square whatever the deflection. The kernel sums over the points that need it; the
others have a rotary inertia that turns into itself, which the constant tables hold.

The sections of a beam are many, and their rotations are smooth: a few of them, with other weights, stand for all. The
weights are not negative, and constants and first-order terms of the inertia (M^ff, M^wf and J at zero deflection, and
their derivatives) come out as those of all sections, to round-off: non-negative least squares has a solution with no
more points than there are independent conditions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from bough.flex.points import ROTATION, Array, Points, freeze, require_shapes

SAME = 1e-13
"""What counts as zero beside the largest of its kind."""
FEW = 12
"""Points that are not worth thinning."""
CONDITIONS = 20_000_000
"""Most entries of the conditions of first order in M^ff: modes cubed times points."""


@dataclass(frozen=True, eq=False)
class Turning:
    """Points with rotary inertia.

    Attributes:
        lam: Modal rotations, rad, (k, 3, nm).
        J: Rotary inertia about the point at zero deflection, kg.m^2, (k, 3, 3).
    """

    lam: Array
    J: Array

    def __post_init__(self) -> None:
        """Freeze private copies of the arrays, and check that their sizes belong together."""
        freeze(self)
        k = len(self.J)
        require_shapes(self, {"lam": (k, 3, self.lam.shape[-1]), "J": (k, 3, 3)})

    def transformed(self, axes: Array, basis: Array) -> Turning:
        """The same in axes with `x_old = axes @ x_new`, and modes `eta = basis @ xi`."""
        return Turning(axes.T @ self.lam @ basis, axes.T @ self.J @ axes)

    def thinned(self) -> Turning:
        """Fewer points with other weights; see the head of this file."""
        if len(self.J) <= FEW:
            return self
        conditions = _conditions(self.lam, self.J)
        size = np.linalg.norm(conditions, axis=1)
        conditions = conditions[size > SAME * size.max()] / size[size > SAME * size.max()][:, None]
        _, s, V = np.linalg.svd(conditions, full_matrices=False)
        small = s[:, None] * V
        small = small[s > SAME * s[0]]
        try:
            weights, left = nnls(small, small.sum(axis=1))
        except RuntimeError:  # it did not come to an end: keep them all
            return self
        if left > 1e-11 * s[0]:
            return self
        chosen = weights > 0.0
        return Turning(self.lam[chosen], weights[chosen, None, None] * self.J[chosen])


def turning_points(points: Points) -> tuple[Turning, Array]:
    """The points whose rotary inertia changes the body's with deflection, and which of all points they are, (np,)."""
    lam, J = points.shapes[:, ROTATION], points.inertias
    size = np.abs(lam).max(axis=(1, 2), initial=0.0)
    weight = np.abs(J).max(axis=(1, 2), initial=0.0)
    turned = np.cross(lam.transpose(0, 2, 1)[:, :, :, None], J[:, None], axis=2)  # lam~ J
    changes = np.abs(turned + turned.swapaxes(-1, -2)).max(axis=(1, 2, 3), initial=0.0) > SAME * size * weight
    least = np.linalg.svd(lam, compute_uv=False)[:, 1:2].max(axis=1, initial=0.0)
    chosen = (size > 0.0) & (weight > 0.0) & (changes | (least > SAME * size))
    return Turning(lam[chosen], J[chosen]), chosen


def _conditions(lam: Array, J: Array) -> Array:
    """What the points add to constants and first-order terms of the inertia, (conditions, points)."""
    k, _, nm = lam.shape
    Jlam = J @ lam
    rows, columns = np.triu_indices(nm)
    crossed = np.cross(lam[:, :, :, None], Jlam[:, :, None, :], axis=1)
    both = np.cross(lam[:, :, :, None], lam[:, :, None, :], axis=1)
    F1 = crossed - 0.5 * np.einsum("pij,pjsr->pisr", J, both)
    turned = np.cross(lam.transpose(0, 2, 1)[:, :, :, None], J[:, None], axis=2)
    parts = [J, Jlam, (lam.transpose(0, 2, 1) @ Jlam)[:, rows, columns], F1, turned + turned.swapaxes(-1, -2)]
    if nm**3 * k <= CONDITIONS:
        half = np.einsum("pirq,pis->pqrs", both, Jlam, optimize=True)
        parts.append((half + half.swapaxes(2, 3))[:, :, rows, columns])
    # Each kind has its unit: none outweighs another.
    scaled = [part.reshape(k, -1).T / (np.abs(part).max() or 1.0) for part in parts]
    return np.concatenate(scaled)
