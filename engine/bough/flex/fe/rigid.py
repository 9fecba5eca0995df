"""Rigid motions of an FE model, and what its mass matrix says of them."""

from __future__ import annotations

import numpy as np

from bough.flex.fe.fe_model import Array, FeModel, Integers

_EPS = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _EPS[_i, _j, _k], _EPS[_j, _i, _k] = 1.0, -1.0


def motions(positions: Array, components: Integers, origin: Array) -> Array:
    """Degrees of freedom per unit rotation about, and translation of, a point: (ndof, 6), rotations first.

    Args:
        positions: Of each degree of freedom's node, m, (ndof, 3).
        components: 0 to 5, or -1 for a generalized one, which does not take part, (ndof,).
        origin: The point, m, (3,).
    """
    out = np.zeros((components.size, 6))
    arm = positions - origin
    for c in range(3):
        along, about = components == c, components == c + 3
        # e_c . (w x l) = w . (l x e_c)
        out[along, :3] = np.einsum("ijk,nj,k->ni", _EPS, arm[along], np.eye(3)[c])
        out[along, 3 + c] = 1.0
        out[about, c] = 1.0
    return out


def rigid_motions(model: FeModel, origin: Array) -> Array:
    """Rigid motions R of the whole model about a point, (ndof, 6), rotations first."""
    return motions(dof_positions(model), model.dof_component, origin)


def dof_positions(model: FeModel) -> Array:
    """Position of the node of each degree of freedom, m, (ndof, 3); zeros for a generalized one."""
    where: Array = np.where((model.dof_node >= 0)[:, None], model.positions[model.dof_node], 0.0)
    return where
