"""Inertia of a reduced FE model, with every term that a mass matrix can tell.

Solids, M = Ms (x) 1_3: every sum of the modal integrals is x' Ms y with x, y among the columns X = [1, x, y, z, the
modes' translations]. Their Gram matrix G = X' Ms X = A'A has no more rows than X has columns. Turned by a
reflection H that makes the column of ones constant, H A has as rows points of equal mass m / n: the column of ones over
sqrt(m / n) is 1, the others are positions and translations. So at most 4 + 3 nm points carry the same inertia, exactly.

Nodes with rotary inertia J besides (M = Ms (x) 1_3 and a block J on the rotations of each node): their part is summed
over the nodes, exactly.

Any other M: what does not depend on the deflection is exact, from R'MR, R'M phi and phi'M phi. So are, for beams and
shells, the centrifugal forces N0 = phi'M s, s the field omega x (omega x l0): its translations are known, its rotations
are those that strain least. What is of higher order in the deflection is summed with the mean of the three
translational blocks of M for Ms: the error falls with the size of the elements. With generalized degrees of freedom,
whose masses have no place, N0 and what is of higher order are those of points fitted to the momenta (`fitted`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from bough.flex.fe.fe_model import Array, FeModel, Sparse
from bough.flex.fe.fitted import fitted_points
from bough.flex.fe.problem import refuse
from bough.flex.fe.rigid import dof_positions, rigid_motions
from bough.flex.integrals import ModalIntegrals, modal_integrals, packed_inertia
from bough.flex.points import TRANSLATION, Points

SAME = 1e-9
"""Largest difference between blocks of M that count as equal, of its largest entry."""
CHUNK = 2000
"""Nodes with rotary inertia that are summed at a time."""


def inertia(model: FeModel, shapes: Array, origin: Array) -> tuple[ModalIntegrals, Points, bool]:
    """The modal integrals about a point, the points that stand for Ms, and whether these carry all of the inertia.

    Args:
        model: Checked.
        shapes: Modes in the model's degrees of freedom, (ndof, nm).
        origin: Position of the attach interface, m, (3,).
    """
    nodal = _node_shapes(model, shapes)
    scalar, exact = _scalar_mass(model)
    points = virtual_points(scalar, model.positions, nodal[:, TRANSLATION])
    tables = modal_integrals(points, origin)
    if exact:
        rotary = _rotary(model)
        whole = rotary is None
        return (tables if rotary is None else _with_rotary(tables, model, nodal, rotary, origin)), points, whole
    R = rigid_motions(model, origin)
    total, coupling = R.T @ (model.M @ R), R.T @ (model.M @ shapes)
    mass = shapes.T @ (model.M @ shapes)
    moment = np.array([total[2, 4] - total[1, 5], total[0, 5] - total[2, 3], total[1, 3] - total[0, 4]]) / 2.0
    packed = packed_inertia(float(np.diag(total)[3:].mean()), moment, 0.5 * (total[:3, :3] + total[:3, :3].T))
    if (model.dof_node < 0).any():
        points = fitted_points(packed, coupling, origin)
        tables = modal_integrals(points, origin)
    else:
        tables = replace(tables, N0=_centrifugal_fields(model, origin).T @ (model.M @ shapes))
    return replace(tables, inertia=packed, F0=coupling, Mff=0.5 * (mass + mass.T)), points, False


def _centrifugal_fields(model: FeModel, origin: Array) -> Array:
    """The field omega x (omega x l0) per product of omega, xx yy zz xy xz yz, in all degrees of freedom, (ndof, 6)."""
    l0, unit = dof_positions(model) - origin, np.eye(3)
    moves = (model.dof_component >= 0) & (model.dof_component < 3)
    c = model.dof_component[moves]
    out = np.zeros((model.ndof, 6))
    for k, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
        # omega (omega . l) - l (omega . omega)
        field = np.outer(l0[moves, j], unit[i])
        field = field - l0[moves] if i == j else field + np.outer(l0[moves, i], unit[j])
        out[moves, k] = field[np.arange(c.size), c]
    if not moves.all():
        rest = np.flatnonzero(~moves)
        inner = sparse.csc_array(model.K[rest][:, rest])
        # Rotations that nothing resists while the translations are held stay at rest.
        slack = SAME * inner.diagonal().max(initial=0.0) or 1.0
        right = model.K[rest] @ out
        out[rest] = -splu(sparse.csc_array(inner + slack * sparse.eye_array(rest.size))).solve(right)
    return out


def _node_shapes(model: FeModel, shapes: Array) -> Array:
    """Rotation and translation of every node, (n, 6, nm)."""
    nodal = np.zeros((model.n, 6, shapes.shape[1]))
    real = model.dof_node >= 0
    row = np.where(model.dof_component < 3, model.dof_component + 3, model.dof_component - 3)
    nodal[model.dof_node[real], row[real]] = shapes[real]
    return nodal


def _scalar_mass(model: FeModel) -> tuple[Sparse, bool]:
    """Ms, (n, n), the mean of the translational blocks, and whether M is Ms (x) 1_3 and blocks J of nodes."""
    blocks = []
    at = [np.flatnonzero(model.dof_component == c) for c in range(3)]
    for dofs in at:
        place = sparse.csr_array(
            (np.ones(dofs.size), (model.dof_node[dofs], np.arange(dofs.size))), (model.n, dofs.size)
        )
        blocks.append(place @ model.M[dofs][:, dofs] @ place.T)
    scalar = sparse.csr_array((blocks[0] + blocks[1] + blocks[2]) / 3.0)
    slack = SAME * float(abs(model.M).max())
    turning = np.flatnonzero(model.dof_component > 2)
    rest = [
        model.M[at[0]][:, np.concatenate([at[1], at[2], turning])],
        model.M[at[1]][:, np.concatenate([at[2], turning])],
    ]
    rest += [model.M[at[2]][:, turning], model.M[np.flatnonzero(model.dof_node < 0)]]
    # Rotations: only blocks of one node.
    corner = model.M[turning][:, turning].tocoo()
    rest.append(corner.data[model.dof_node[turning[corner.row]] != model.dof_node[turning[corner.col]]])
    worst = max([_largest(block - scalar) for block in blocks] + [_largest(part) for part in rest])
    return scalar, worst <= slack


def _largest(matrix: Sparse) -> float:
    return float(abs(matrix).max()) if matrix.size else 0.0


def _rotary(model: FeModel) -> Array | None:
    """Rotary inertia of every node, (n, 3, 3); None if no node has any."""
    turning = np.flatnonzero(model.dof_component > 2)
    corner = model.M[turning][:, turning].tocoo()
    if not _largest(corner) > 0.0:
        return None
    J = np.zeros((model.n, 3, 3))
    rows, columns = turning[corner.row], turning[corner.col]
    same = model.dof_node[rows] == model.dof_node[columns]
    rows, columns = rows[same], columns[same]
    J[model.dof_node[rows], model.dof_component[rows] - 3, model.dof_component[columns] - 3] = corner.data[same]
    return J


def _with_rotary(tables: ModalIntegrals, model: FeModel, nodal: Array, J: Array, origin: Array) -> ModalIntegrals:
    """The tables with the nodes' rotary inertia added; all of them are sums over points."""
    nodes = np.flatnonzero(np.abs(J).max(axis=(1, 2)) > 0.0)
    shapes = nodal.copy()
    shapes[:, TRANSLATION] = 0.0
    for first in range(0, nodes.size, CHUNK):
        some = nodes[first : first + CHUNK]
        part = modal_integrals(Points(model.positions[some], np.zeros(some.size), J[some], shapes[some]), origin)
        names = ("inertia", "F0", "Mff", "N0", "N1", "F1", "Z")
        sums = {name: getattr(tables, name) + getattr(part, name) for name in names}
        tables = ModalIntegrals(**sums, rotary=tables.rotary or part.rotary)
    return tables


def virtual_points(scalar: Sparse, positions: Array, translations: Array) -> Points:
    """Points of equal mass with the inertia of Ms (x) 1_3; see the head of this file.

    Args:
        scalar: Ms, kg, (n, n).
        positions: m, (n, 3).
        translations: Of the modes, (n, 3, nm).
    """
    n, _, nm = translations.shape
    X = np.column_stack([np.ones(n), positions, translations.reshape(n, 3 * nm)])
    gram = X.T @ (scalar @ X)
    size = np.sqrt(np.maximum(np.diag(gram), 0.0))
    size[size == 0.0] = 1.0
    values, vectors = np.linalg.eigh(0.5 * (gram + gram.T) / np.outer(size, size))
    if values[0] < -1e-8 * values[-1]:
        found = f"a negative one: {values[0] / values[-1]:.3g} of the largest"
        refuse("file", "a mass matrix that gives no motion a negative energy", found, "use consistent or lumped mass")
    keep = values > 1e-15 * values[-1]
    A = np.sqrt(values[keep])[:, None] * vectors[:, keep].T * size
    # Reflect the column of ones, of length sqrt(m), onto a constant one.
    ones, goal = A[:, 0], np.full(len(A), np.linalg.norm(A[:, 0]) / np.sqrt(len(A)))
    mirror = ones - goal
    if mirror @ mirror > 0.0:
        A = A - 2.0 * np.outer(mirror, mirror @ A) / (mirror @ mirror)
    root = np.sqrt(gram[0, 0] / len(A))
    shapes = np.zeros((len(A), 6, nm))
    shapes[:, TRANSLATION] = A[:, 4:].reshape(len(A), 3, nm) / root
    return Points(A[:, 1:4] / root, np.full(len(A), root**2), np.zeros((len(A), 3, 3)), shapes)
