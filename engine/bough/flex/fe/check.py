"""Refuses FE models that are no free bodies: what is wrong, where, and the cure.

A body that floats feels no strain when it moves rigidly, K R = 0, and has one mass in every direction,
R'MR = [[J, m c~], [-m c~, m 1]]. What breaks these is a model held or sprung to the ground, nodes that are not those
of the matrices, or units that differ between both.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from bough.flex.fe.fe_model import Array, FeModel, Geometric, Sparse
from bough.flex.fe.problem import refuse, some
from bough.flex.fe.rigid import rigid_motions

SYMMETRY = 1e-6
"""Largest difference across the diagonal, of the largest entry of its row: single precision."""
STRAINLESS = 1e-3
"""Largest force of a rigid motion, of the sum of its terms' magnitudes: six-digit positions give 1e-4."""
ONE_MASS = 1e-4
"""Difference between the masses in x, y and z, relative."""
LIGHTEST, HEAVIEST = 1e-3, 3e4
"""Mean densities, kg/m^3, beyond which units are taken to be wrong: a solar sail, and osmium."""
MASS_SLACK = 0.01
"""Difference from the key `mass` that is refused, relative."""
_WORDS = ("moving along x", "moving along y", "moving along z", "turning about x", "turning about y", "turning about z")


def checked(model: FeModel, mass: float | None) -> FeModel:
    """The model without degrees of freedom that have neither stiffness nor mass; ModelError if it is no free body.

    Args:
        model: In SI.
        mass: What it should weigh, kg, or None.
    """
    _check_table(model)
    for name, what in (("K", "stiffness"), ("M", "mass"), ("D", "damping")):
        if getattr(model, name) is not None:
            _check_matrix(model, name, what)
    model = _without_idle(model)
    centre = model.positions.mean(axis=0)
    R = rigid_motions(model, centre)
    size = float(np.linalg.norm(np.ptp(model.positions, axis=0)))
    scaled = R * np.array([1.0 / size if size > 0.0 else 1.0] * 3 + [1.0] * 3)
    if model.ndof < 7 or np.linalg.svd(scaled, compute_uv=False)[-1] < 1e-6:
        found = f"{model.n} nodes, whose degrees of freedom cannot turn in all three ways"
        refuse("file", "at least three nodes that are not in line, or nodes with rotations", found, "use a 3-D model")
    check_mass(model, R, mass)
    _check_strain(model, scaled)
    return model


def _check_table(model: FeModel) -> None:
    if not np.isfinite(model.positions).all():
        refuse("file", "finite positions", f"others in {model.source}", "export the nodes again")
    real = model.dof_node >= 0
    codes = 8 * model.dof_node[real] + model.dof_component[real]
    values, counts = np.unique(codes, return_counts=True)
    if (counts > 1).any():
        node = model.node_ids[values[counts > 1][0] // 8]
        refuse("file", "every direction of a node once", f"one twice at node {node}", "correct the list of DOFs")


def dof_name(model: FeModel, k: int) -> str:
    """A degree of freedom for a message."""
    if model.dof_node[k] < 0:
        return f"generalized degree of freedom {k + 1}"
    return f"node {model.node_ids[model.dof_node[k]]} {_WORDS[model.dof_component[k]]}"


def _check_matrix(model: FeModel, name: str, what: str) -> None:
    """Finite, symmetric to single precision, and nowhere negative on the diagonal."""
    A = getattr(model, name)
    if not np.isfinite(A.data).all():
        refuse("file", f"a finite {what} matrix", f"others in {model.source}", "run the FE program again")
    skew = abs(A - A.T)
    worst = float(skew.max()) if skew.nnz else 0.0
    largest = float(abs(A).max()) if A.nnz else 0.0
    if worst > SYMMETRY * largest:
        where = skew.tocoo()
        k = int(np.argmax(where.data))
        i, j = int(where.row[k]), int(where.col[k])
        found = f"{A[i, j]:g} at {dof_name(model, i)} and {dof_name(model, j)}, but {A[j, i]:g} across the diagonal"
        cure = "export without friction, follower loads and unsymmetric storage"
        refuse("file", f"a symmetric {what} matrix", found, cure)
    diagonal = A.diagonal()
    if diagonal.size and diagonal.min() < -1e-9 * largest:
        k = int(np.argmin(diagonal))
        found = f"{diagonal[k]:g} on the diagonal at {dof_name(model, k)}"
        refuse("file", f"a {what} matrix without negative diagonal", found, "check the export and its sign")


def _without_idle(model: FeModel) -> FeModel:
    """Drop what neither resists nor weighs, such as rotations that solid elements leave alone."""
    largest = [float(abs(A).max()) if A.nnz else 0.0 for A in (model.K, model.M)]
    keep = np.zeros(model.ndof, dtype=bool)
    for A, most in zip((model.K, model.M), largest, strict=True):
        keep |= abs(A).max(axis=0).toarray().ravel() > 1e-18 * most
    K = 0.5 * (model.K + model.K.T)
    M = 0.5 * (model.M + model.M.T)
    if keep.all():
        return replace(model, K=K, M=M)
    at = np.flatnonzero(keep)
    geometric = model.geometric
    if geometric is not None:

        def cut(group: tuple[Sparse, ...]) -> tuple[Sparse, ...]:
            return tuple(sparse.csr_array(g)[at][:, at] for g in group)

        geometric = Geometric(
            cut(geometric.acceleration),
            cut(geometric.angular),
            cut(geometric.spin),
            {name: cut(group) for name, group in geometric.forces.items()},
        )
    return replace(
        model,
        dof_node=model.dof_node[at],
        dof_component=model.dof_component[at],
        K=K[at][:, at],
        M=M[at][:, at],
        D=None if model.D is None else model.D[at][:, at],
        geometric=geometric,
    )


def check_mass(model: FeModel, R: Array, expected: float | None) -> None:
    """One positive mass in every direction, and the one that is expected, or else a plausible one.

    Args:
        model: In SI.
        R: Rigid motions about any point, (ndof, 6).
        expected: kg, or None.
    """
    total = R.T @ (model.M @ R)
    masses = np.diag(total)[3:]
    m = float(masses.mean())
    if m <= 0.0:
        refuse("file", "a body with mass", f"{m:g} kg in {model.source}", "give the material its density, export again")
    if np.abs(total[3:, 3:] - m * np.eye(3)).max() > ONE_MASS * m:
        found = f"{masses[0]:.6g}, {masses[1]:.6g} and {masses[2]:.6g} kg along x, y and z"
        cure = "export without boundary conditions: held degrees of freedom are missing from the mass matrix"
        refuse("file", "one mass in every direction", found, cure)
    if expected is not None:
        if abs(m - expected) > MASS_SLACK * expected:
            units = "{length: 0.001, mass: 1000} for mm and tonnes"
            cure = f"correct `mass`, or give `units`, such as {units}: the ratio is {m / expected:.4g}"
            refuse("mass", f"{expected:g} kg, as the key says, within 1 %", f"{m:.6g} kg in {model.source}", cure)
        return
    _check_density(model, m)


def _check_density(model: FeModel, m: float) -> None:
    """Mass over the box around the nodes; flat and thin boxes are made thicker, for the lower limit less."""
    extent = np.sort(np.ptp(model.positions, axis=0))
    # Generalized degrees of freedom stand for what is between the nodes, or beyond them.
    if (model.dof_node < 0).any() or extent[-1] == 0.0:
        return
    thin, thick = (float(np.prod(np.maximum(extent, share * extent[-1]))) for share in (1e-3, 1.0 / 3.0))
    if LIGHTEST * thin <= m <= HEAVIEST * thick:
        return
    density = f"{m / thin:.3g} kg/m^3 or less" if m < LIGHTEST * thin else f"{m / thick:.3g} kg/m^3 or more"
    box = f"{extent[2]:.4g} x {extent[1]:.4g} x {extent[0]:.4g} m"
    found = f"{m:.4g} kg in a box of {box}, a mean density of {density}"
    cure = "give `units`, such as {length: 0.001, mass: 1000} for mm and tonnes; or `mass`, if this is right"
    refuse("units", f"a mean density between {LIGHTEST:g} and {HEAVIEST:g} kg/m^3", found, cure)


def _check_strain(model: FeModel, R: Array) -> None:
    """K R = 0, row by row, against the magnitudes that cancel in it."""
    size = abs(model.K) @ abs(R)
    size = np.maximum(size, 1e-6 * size.max(axis=0))
    residual = np.abs(model.K @ R) / np.where(size > 0.0, size, 1.0)
    worst = residual.max(axis=0)
    if worst.max() <= STRAINLESS:
        return
    moves = bool(worst[3:].max() > STRAINLESS)
    column = int(np.argmax(worst[3:])) + 3 if moves else int(np.argmax(worst[:3]))
    rows = np.flatnonzero(residual[:, column] > STRAINLESS)
    nodes = some(np.unique(model.node_ids[model.dof_node[rows[model.dof_node[rows] >= 0]]]), 5)
    if moves:
        found = (
            f"forces at node {nodes} when the body moves along {'xyz'[column - 3]}: it is held, or sprung to the ground"
        )
        cure = "export without boundary conditions, grounded springs and contact; see that the file is whole"
    else:
        found = f"forces at node {nodes} when the body turns about {'xyz'[column]}, none when it moves along"
        cure = (
            "take nodes and matrices from one model: positions that are not theirs, another unit of length in `mesh`, "
            "local axes at nodes, or springs between nodes that are apart do this"
        )
    refuse("file", "stiffness that a rigid motion of the body does not strain", found, cure)
