"""Motions of an FE model that move no mass: which they are, and which loads they would answer.

M of a free body may be singular: rotations of grids with lumped mass, torsion of bars without torsional inertia, a
superelement that keeps as many modes as masses. With Z a basis of the motions without mass and the modes phi, which
are K-orthogonal to them, the body under loads f moves by

    y = phi eta + Z (Z'KZ)^-1 Z' f,     eta'' + omega^2 eta = phi' f,

so that the modes alone (static condensation, Guyan 1965) are exact where Z'f = 0. Loads on an interface are f = C'p:
the flexibility that the modes lack there is C Z (Z'KZ)^-1 (C Z)'. It has no inertia and cannot be a mode. Static shapes
of the interface contain it, and there they need mass themselves.

Whether a motion has mass is a question of digits: v'Mv counts if it is more than what rounding of the entries of M can
make of nothing, some times the precision of the file over |v|'|M||v|.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from bough.flex.fe.fe_model import Array, Sparse
from bough.flex.fe.interface import Coupled
from bough.flex.fe.problem import refuse
from bough.flex.fe.solve import DENSE, Floating, with_mass

RIGID = 1e-12
"""Smallest eigenvalue of the rigid inertia with ones on its diagonal that is more than round-off."""
SHARE = 1e-6
"""Flexibility of an interface without inertia, of all that it has there, that counts."""
TURNS = ("turning about x", "turning about y", "turning about z")
WORDS = (*TURNS, "moving along x", "moving along y", "moving along z")


def check_rigid_inertia(floating: Floating) -> None:
    """Refuse a body that can move rigidly without mass: a straight line of bars has no inertia about itself."""
    M = floating.mass
    size = np.sqrt(np.abs(np.diag(M)))
    values, vectors = np.linalg.eigh(0.5 * (M + M.T) / np.outer(*2 * [np.where(size > 0.0, size, 1.0)]))
    if values[0] > RIGID:
        return
    at = int(np.argmax(abs(vectors[:, 0])))
    refuse(
        "file",
        "a body with mass, and with inertia about every axis through its attach interface",
        f"none in {WORDS[at]}",
        "give grids rotary inertia (CONM2); bars in one line have no inertia about it",
    )


def refuse_massless_shapes(coupled: Coupled, shapes: Array) -> None:
    """Refuse static shapes that have no mass, with the interfaces that they move.

    Args:
        coupled: The model.
        shapes: Massless motions, (ny, k), attach interface at rest.
    """
    moved = abs(coupled.C @ shapes).reshape(len(coupled.interfaces), 6, -1)
    reach = max(float(np.ptp([i.position for i in coupled.interfaces], axis=0).max(initial=0.0)), 1e-9)
    moved[:, :3] *= reach
    moved = (moved / moved.max(axis=(0, 1), initial=1e-300)).max(axis=2)
    told = [
        f"{interface.name!r} {WORDS[c]}"
        for interface, row in zip(coupled.interfaces, moved, strict=True)
        for c in range(6)
        if row[c] > 0.1
    ]
    refuse(
        "interfaces",
        "interfaces whose unit motions move mass",
        f"motions without mass: {', '.join(told[:6])}{', ...' if len(told) > 6 else ''}",
        "give the grid mass and rotary inertia there (CONM2); keep fewer modes, if the superelement has as many as "
        "masses; or take `boundary: cantilever`, where only forces act on the interface",
    )


def slack(coupled: Coupled, floating: Floating) -> tuple[tuple[str, str], ...]:
    """Interfaces and directions in which loads meet flexibility without inertia, attach interface held.

    Returns:
        Name of the interface and what it does, such as `turning about x`.
    """
    rows = coupled.rows(coupled.attach)
    Z = _massless(coupled, rows, floating.tolerance)
    if not Z.shape[1]:
        return ()
    CZ = coupled.C @ Z
    inner = sparse.csc_array(Z.T @ coupled.K @ Z)
    without = np.einsum("ij,ji->i", CZ.toarray(), splu(inner).solve(np.ascontiguousarray(CZ.T.toarray())))
    C = coupled.C.toarray()
    held, _ = floating.held(C[rows])
    whole = np.einsum("ij,ji->i", C, np.column_stack([held.solve(f) for f in C]))
    other = [k for k in range(len(C)) if not rows.start <= k < rows.stop]
    return tuple(
        (coupled.interfaces[k // 6].name, WORDS[k % 6]) for k in other if without[k] > SHARE * max(whole[k], 1e-300)
    )


def _massless(coupled: Coupled, held: slice, tolerance: float) -> Sparse:
    """Z, (ny, nz): every motion without mass of a small model; of a large one those of single degrees of freedom."""
    M, ny = coupled.M, coupled.M.shape[0]
    if ny > DENSE:
        fixed = np.unique(coupled.C[held].tocoo().col)
        zero = np.setdiff1d(np.flatnonzero(abs(M).max(axis=0).toarray().ravel() == 0.0), fixed)
        return sparse.csc_array((np.ones(zero.size), (zero, np.arange(zero.size))), shape=(ny, zero.size))
    basis = linalg.null_space(coupled.C[held].toarray())
    stiff = 1.0 / np.sqrt(np.maximum(np.einsum("ir,ir->r", basis, coupled.K @ basis), 1e-300))
    basis = basis * stiff
    m, k = (basis.T @ (matrix @ basis) for matrix in (M, coupled.K))
    mu, turn = linalg.eigh(0.5 * (m + m.T), 0.5 * (k + k.T))
    vectors = basis @ turn
    return sparse.csc_array(vectors[:, ~with_mass(M, vectors, mu, tolerance)])
