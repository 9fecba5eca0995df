"""Inertia as a sum of squares: weighted points that follow the second-order motion of a body.

A point of mass m at `l = l0 + gam xi + 1/2 xi' H xi` has the momentum of m (v + omega x l + (gam + H xi) xidot). So
with rows that carry the root of their mass,

    c = sqrt(m)    L = sqrt(m) l    g_r = sqrt(m) (gam_r + sum_s H_rs xi_s)    row = c v + omega x L + sum_r g_r xidot_r

the kinetic energy is 1/2 sum |row|^2: the inertia is a Gram matrix and cannot lose its sign, at any deflection. The
forces follow from the same motion: the acceleration that a row has without accelerations, projected on its own
columns.

Only inner products of the scalar fields (c; L, g and H by components) enter, so every orthogonal change of the rows
keeps all of them. A body needs as many rows as these fields are independent: nine for a beam with two bending shapes
in either plane and one of torsion, whatever the number of its elements. The rows are turned so that c is in the first
alone: total mass, first moment and linear momentum are read off that row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.flex.points import ROTATION, TRANSLATION, Array, Points, freeze, require_shapes

LOST = 1e-8
"""A direction of the fields, each of length one, that is left out: inner products lose the square of it."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Weighted points, (k) of them; see the head of this file. Positions from the attach node.

    Attributes:
        c: Roots of their masses, kg^1/2, (k,).
        L0: Weighted positions at zero deflection, (k, 3).
        G: Weighted shapes, (k, 3, nm).
        H: Weighted second-order motion, (k, 3, nm, nm), symmetric in the modes.
    """

    c: Array
    L0: Array
    G: Array
    H: Array

    def __post_init__(self) -> None:
        """Freeze private copies of the arrays, and check that their sizes belong together."""
        freeze(self)
        k, nm = self.c.size, self.G.shape[-1]
        require_shapes(self, {"c": (k,), "L0": (k, 3), "G": (k, 3, nm), "H": (k, 3, nm, nm)})

    @property
    def nm(self) -> int:
        """Number of modes."""
        return int(self.G.shape[-1])

    def joined(self, other: Rows) -> Rows:
        """Both."""
        return Rows(*(np.concatenate([getattr(self, n), getattr(other, n)]) for n in ("c", "L0", "G", "H")))

    def transformed(self, axes: Array, basis: Array) -> Rows:
        """The same in axes with `x_old = axes @ x_new`, and modes `eta = basis @ xi`."""
        return Rows(
            self.c,
            self.L0 @ axes,
            np.einsum("ia,kir,rt->kat", axes, self.G, basis, optimize=True),
            np.einsum("ia,kirs,rt,su->katu", axes, self.H, basis, basis, optimize=True),
        )

    def reduced(self) -> Rows:
        """As few rows as have the same inner products, c in the first of them alone."""
        nm, pairs = self.nm, np.triu_indices(self.nm)
        first = np.column_stack([self.c, self.L0, self.G.reshape(self.c.size, 3 * nm)])
        fields = np.column_stack([first, self.H[:, :, pairs[0], pairs[1]].reshape(self.c.size, -1)])
        size = np.linalg.norm(fields, axis=0)
        there = size > 0.0
        if not there.any():
            return self
        U, s, _ = np.linalg.svd(fields[:, there] / size[there], full_matrices=False)
        fields = U[:, s > LOST].T @ fields
        leading = fields[:, : first.shape[1]]
        turn, _ = np.linalg.qr(leading, mode="complete")
        fields = turn.T @ fields
        fields[0] *= 1.0 if fields[0, 0] >= 0.0 else -1.0
        fields[1:, 0] = 0.0
        k = len(fields)
        H = np.zeros((k, 3, nm, nm))
        H[:, :, pairs[0], pairs[1]] = fields[:, first.shape[1] :].reshape(k, 3, -1)
        H[:, :, pairs[1], pairs[0]] = H[:, :, pairs[0], pairs[1]]
        return Rows(fields[:, 0], fields[:, 1:4], fields[:, 4 : first.shape[1]].reshape(k, 3, nm), H)


def point_rows(masses: Array, l0: Array, gam: Array, bends: Array) -> Rows:
    """Rows of point masses.

    Args:
        masses: kg, (np,).
        l0: Positions from the attach node, m, (np, 3).
        gam: Shapes, (np, 3, nm).
        bends: H of the points, (np, 3, nm, nm).
    """
    root = np.sqrt(masses)
    wide = root[:, None, None]
    return Rows(root, root[:, None] * l0, wide * gam, wide[..., None] * bends).reduced()


def offset_rows(points: Points) -> Rows | None:
    """Rotary inertias as points beside the point, +-d: they turn with it, `d + (lam xi) x d`, to first order.

    What they add to a sum of squares is one again. Where all rotations of a point are about one axis, a principal one,
    M^ff and M^rf are those of the exact rotation; J errs at second order in the angle.

    Returns:
        None where an inertia is that of no body: one of its moments is larger than the sum of the others.
    """
    lam, nm = points.shapes[:, ROTATION], points.shapes.shape[-1]
    trace = np.trace(points.inertias, axis1=1, axis2=2)
    second = 0.5 * trace[:, None, None] * np.eye(3) - points.inertias
    values, vectors = np.linalg.eigh(second)
    if np.any(values < -1e-9 * np.maximum(trace, 0.0)[:, None]):
        return None
    arms = (np.sqrt(np.maximum(values, 0.0))[:, None] * vectors).transpose(0, 2, 1)
    point, _ = np.nonzero(values > 1e-12 * trace[:, None])
    arms = arms[values > 1e-12 * trace[:, None]]
    G = np.cross(lam[point], arms[:, :, None], axis=1)
    return Rows(np.zeros(len(arms)), arms, G, np.zeros((len(arms), 3, nm, nm)))


def translations(points: Points) -> Array:
    """Shapes of the points without their rotations, (np, 3, nm)."""
    return points.shapes[:, TRANSLATION]
