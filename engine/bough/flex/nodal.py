"""Bodies given by nodes and mode shapes, as FE tools write them: the nodes themselves carry the inertia."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bough.flex.body import Array, FlexBody
from bough.flex.points import Points

if TYPE_CHECKING:
    from bough.model import Nodal


def nodal_body(nodal: Nodal) -> FlexBody:
    """The flexible body of explicit nodal data; shapes are taken as given, not normalized.

    A damping ratio z of mode r means the coefficient 2 z sqrt(K_rr M_rr), with M_rr the modal mass of the
    shape as given; the frequency of a mode is that of the shape on its own, sqrt(K_rr / M_rr).
    """
    names = tuple(node.name for node in nodal.nodes)
    positions = np.array([node.position for node in nodal.nodes], dtype=np.float64).reshape(-1, 3)
    masses = np.array([node.mass for node in nodal.nodes], dtype=np.float64)
    inertias = np.array([inertia_matrix(node.inertia) for node in nodal.nodes]).reshape(-1, 3, 3)
    # [mode][node][6] in the file, (node, 6, mode) here.
    nm = len(nodal.modes)
    shapes = np.array(nodal.modes, dtype=np.float64).reshape(nm, len(names), 6).transpose(1, 2, 0)

    stiffness = np.array(nodal.stiffness, dtype=np.float64).reshape(nm, nm)
    k = np.diag(stiffness)
    centres, moved = _centres(positions, np.array([node.com for node in nodal.nodes], dtype=np.float64), shapes)
    points = Points(centres, masses, inertias, moved)
    m = np.diag(points.modal_mass)
    damping = np.zeros((nm, nm))
    if nodal.damping_matrix is not None:
        damping = np.array(nodal.damping_matrix, dtype=np.float64).reshape(nm, nm)
    elif nodal.damping is not None:
        damping = np.diag(2.0 * np.array(nodal.damping, dtype=np.float64) * np.sqrt(k * m))
    frequencies = np.full(nm, np.nan)
    np.sqrt(np.divide(k, m, out=frequencies, where=m > 0.0), out=frequencies)

    return FlexBody.from_points(
        points,
        node_names=names,
        node_positions=positions,
        node_shapes=shapes,
        attach=names.index(nodal.attach),
        stiffness=stiffness,
        damping=damping,
        frequencies=frequencies,
    )


def _centres(positions: Array, com: Array, shapes: Array) -> tuple[Array, Array]:
    """Mass centres beside the nodes, and their shapes: an arm turns with its node."""
    if not com.any():
        return positions, shapes
    moved = shapes.copy()
    moved[:, 3:] += np.cross(shapes[:, :3], com[:, :, np.newaxis], axis=1)
    return positions + com, moved


def inertia_matrix(inertia: tuple[float, ...]) -> Array:
    """The symmetric matrix of Ixx Iyy Izz Ixy Ixz Iyz, which are matrix entries, kg.m^2."""
    xx, yy, zz, xy, xz, yz = inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=np.float64)
