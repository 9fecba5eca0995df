"""Geometric stiffness of an FE model as second-order motion of the reduced body.

Body loads p deflect the body; the stress they bring adds the stiffness Kg(p), linear in p: the modal force is
-phi' Kg(p) phi eta. In bough the points move by 1/2 eta' H eta besides (`integrals`), so the loads do the modal work
+p.H_rs eta_s: H_rs.p = -phi_r' Kg(p) phi_s for every p. Summed over the body, with Kg of the inertia forces -m a:

    E1[s][i, r] = sum m H_rs.e_i              = -Kg(m e_i)        = +Kg_acceleration[i]
    F1[s][i, r] = sum m H_rs.(e_i x l0)       = -Kg(m e_i x l0)   = +Kg_angular[i]
    N1[s].w2    = sum m H_rs.(w x (w x l0))   = -Kg(m w x (w x l0)) = +Kg_spin.w2
    node_bends[j][i]                          = -Kg(e_i at j)     = -Kg_force_j[i]

each Kg between the shapes with the attach interface at rest, where the loads are reacted. Where the modes turn it by
lam_d eta, the deflected body turns with it, which adds at second order, gam the shapes with it at rest,

    H_rs += 1/2 lam_r x (lam_s x l0) + lam_r x gam_s   and the same with r and s exchanged.
"""

from __future__ import annotations

import numpy as np

from bough.flex.fe.fe_model import Array, Geometric, Sparse
from bough.flex.fe.problem import refuse
from bough.flex.integrals import Stiffening
from bough.flex.integrals import stiffening as summed
from bough.flex.points import TRANSLATION, Points


def stiffening(geometric: Geometric, shapes: Array, names: tuple[str, ...], attach: int) -> Stiffening:
    """The tables of geometric stiffening, attach interface at rest.

    Args:
        geometric: Of the FE model.
        shapes: Modes in its degrees of freedom, less the attach interface's motion, (ndof, nm).
        names: Of the interfaces.
        attach: Index of the attach interface.
    """
    wanted = {"Kg_acceleration": geometric.acceleration, "Kg_angular": geometric.angular, "Kg_spin": geometric.spin}
    for key, matrices in wanted.items():
        if not matrices:
            cure = f"add `{key}`, or leave out geometric stiffness altogether"
            refuse("file", f"`{key}` with the other geometric stiffness", "none", cure)
    for name in geometric.forces:
        if name not in names:
            found = f"`Kg_force_{name}`"
            refuse("file", f"forces on the interfaces {', '.join(names)}", found, "name the interface as in the file")
    nm = shapes.shape[1]
    # [load, r, s] -> [s, load, r]
    E1, F1, N1 = (np.array([_modal(g, shapes) for g in group]).transpose(2, 0, 1) for group in wanted.values())
    bends = np.zeros((len(names), 3, nm, nm))
    for j, name in enumerate(names):
        if name in geometric.forces and j != attach:
            bends[j] = [-_modal(g, shapes) for g in geometric.forces[name]]
    return Stiffening(E1, F1, N1, bends)


def with_turning(extra: Stiffening, points: Points, positions: Array, node_shapes: Array, attach: int) -> Stiffening:
    """The tables for modes that turn the attach interface too.

    Args:
        extra: With the attach interface at rest.
        points: That stand for the body's mass, with the modes' own shapes.
        positions: Of the interfaces, m, (nn, 3).
        node_shapes: Of the interfaces, (nn, 6, nm).
        attach: Index of the attach interface.
    """
    origin, (lam, gam) = positions[attach], np.split(node_shapes[attach], 2)
    at_points = _turned(points.positions - origin, points.shapes[:, TRANSLATION], lam, gam)
    at_nodes = _turned(positions - origin, node_shapes[:, TRANSLATION], lam, gam)
    more = summed(points, origin, at_points, at_nodes)
    return Stiffening(extra.E1 + more.E1, extra.F1 + more.F1, extra.N1 + more.N1, extra.node_bends + more.node_bends)


def _turned(l0: Array, translations: Array, lam: Array, gam: Array) -> Array:
    """What the turning adds to H at places, (n, 3, nm, nm)."""
    swept = np.cross(lam.T[None], l0[:, None])
    at_rest = translations.transpose(0, 2, 1) - gam.T - swept
    half = np.cross(lam.T[None, :, None], (0.5 * swept + at_rest)[:, None, :]).transpose(0, 3, 1, 2)
    both: Array = half + half.swapaxes(2, 3)
    return both


def _modal(g: Sparse, shapes: Array) -> Array:
    product = shapes.T @ (g @ shapes)
    symmetric: Array = 0.5 * (product + product.T)
    return symmetric
