"""What the tables of a SID_FEM file must agree in before a body is made of them."""

from __future__ import annotations

import numpy as np

from bough.flex.integrals import inertia_tensor, packed_inertia, skew
from bough.flex.points import Array
from bough.flex.sid.sid_text import Refusal, spelled
from bough.flex.sid.tables import ASYMMETRY, Sid, Taylor

CONTRADICTION = 0.02
"""Difference of two statements of the same integral, relative to its largest entry, that lumping may account for."""
NEGATIVE = 1e-6
"""Negative eigenvalue of a matrix with ones on its diagonal that digits may account for."""


def check(sid: Sid) -> None:
    """Refuse tables that no body has.

    Raises:
        ModelError: Of the first contradiction.
    """
    refuse = Refusal(sid.file)
    for name in ("me", "ke", "de"):
        if name in sid.blocks:
            _check_symmetric(refuse, name, sid.blocks[name])
    _check_inertia(refuse, sid)
    _check_mass(refuse, sid)
    _check_positive(refuse, "ke", sid.blocks["ke"], "a stiffness without negative eigenvalues")
    if "de" in sid.blocks:
        _check_positive(refuse, "de", sid.blocks["de"], "damping that takes energy out: no negative eigenvalues")
    for name in ("ke", "de"):
        if name in sid.blocks and np.any(sid.blocks[name].M1):
            expected = "a constant matrix, order 0"
            refuse(sid.blocks[name].line, spelled(name), expected, "terms of order 1", "export it linear")
    if "ksigma" in sid.blocks and (np.any(sid.blocks["ksigma"].M0) or np.any(sid.blocks["ksigma"].M1)):
        expected = "zero: a body that is free of stress when undeformed"
        refuse(sid.blocks["ksigma"].line, "ksigma", expected, "a stressed one", "export it without preload")
    _check_pairs(refuse, sid)


def _check_symmetric(refuse: Refusal, name: str, block: Taylor) -> None:
    difference = abs(block.M0 - block.M0.T).max(initial=0.0)
    if difference > ASYMMETRY * abs(block.M0).max(initial=0.0):
        found = f"mirrored entries that differ by {difference:.3g}"
        refuse(block.line, spelled(name), "a symmetric matrix", found, "export the file again")


def _check_inertia(refuse: Refusal, sid: Sid) -> None:
    J, mp = sid.blocks["j"], sid.blocks["mdcm"].M0[:, 0]
    tensor = inertia_tensor(np.concatenate([[0.0] * 4, J.M0[:, 0]]))
    centre = mp / sid.mass
    central = np.linalg.eigvalsh(tensor - sid.mass * (centre @ centre * np.eye(3) - np.outer(centre, centre)))
    slack = 1e-6 * max(abs(tensor).max(), np.finfo(float).tiny)
    if central[0] < -slack or central[0] + central[1] < central[2] - slack:
        shown = ", ".join(f"{x:.6g}" for x in central)
        expected = "principal inertias about the mass centre, none above the sum of the others"
        cure = "J is about the origin of the body reference frame, in its axes, in the units of mass and mdCM"
        refuse(J.line, "J", expected, f"{shown} kg.m2", cure)


def _scaled(matrix: Array) -> tuple[Array, Array]:
    """The matrix with ones on its diagonal as far as that is positive, and the scale."""
    size = np.sqrt(np.where(np.diag(matrix) > 0.0, np.diag(matrix), 1.0))
    return matrix / np.outer(size, size), size


def _check_mass(refuse: Refusal, sid: Sid) -> None:
    """Kinetic energy is positive: of the modes with the frame held, and of everything at once."""
    Me = sid.blocks["me"]
    if sid.nm and np.linalg.eigvalsh(_scaled(Me.M0)[0])[0] <= 1e-12:
        worst = int(np.argmin(np.diag(Me.M0)))
        expected = "a modal mass with positive eigenvalues only"
        found = f"one of {np.linalg.eigvalsh(Me.M0)[0]:.3g} (smallest on the diagonal: mode {worst + 1})"
        refuse(Me.line, "Me", expected, found, "leave out modes that repeat others or move no mass")
    mp, n = sid.blocks["mdcm"].M0[:, 0], sid.nm
    M = np.zeros((6 + n, 6 + n))
    M[:3, :3] = sid.mass * np.eye(3)
    M[3:6, 3:6] = inertia_tensor(packed_with(sid))
    M[3:6, :3], M[:3, 3:6] = skew(mp), skew(mp).T
    M[6:, :3], M[6:, 3:6], M[6:, 6:] = sid.blocks["ct"].M0, sid.blocks["cr"].M0, Me.M0
    M[:6, 6:] = M[6:, :6].T
    lowest = float(np.linalg.eigvalsh(_scaled(M)[0])[0])
    if lowest < -NEGATIVE:
        expected = "m, mdCM, J, Ct, Cr and Me of one body: a mass matrix without negative eigenvalues"
        cure = "Ct and Cr are too large for Me: export all of them from the same, consistent mass matrix"
        refuse(sid.blocks["ct"].line, "Ct", expected, f"one of {lowest:.3g} of the diagonal", cure)


def packed_with(sid: Sid) -> Array:
    """Mass, first moment and inertia about the origin of the body reference frame, (10,)."""
    xx, yy, zz, xy, xz, yz = sid.blocks["j"].M0[:, 0]
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return packed_inertia(sid.mass, sid.blocks["mdcm"].M0[:, 0], J)


def _check_positive(refuse: Refusal, name: str, block: Taylor, expected: str) -> None:
    lowest = float(np.linalg.eigvalsh(_scaled(block.M0)[0]).min(initial=0.0))
    if lowest < -NEGATIVE:
        refuse(block.line, spelled(name), expected, f"one of {lowest:.3g} of the diagonal", "check signs and units")


def _check_pairs(refuse: Refusal, sid: Sid) -> None:
    """Integrals that the file states twice."""
    cure = "export the file again, all tables from one model"
    blocks = sid.blocks
    E, Ct, J1 = blocks["mdcm"].M1[:, :, 0], blocks["ct"], blocks["j"].M1[:, :, 0]
    if blocks["mdcm"].order and _differ(E, Ct.M0.T):
        expected = "M1 of mdCM, both being the sum of m phi"
        refuse(Ct.line, "Ct", expected, f"entries that differ by {abs(E - Ct.M0.T).max():.3g}", cure)
    if blocks["j"].order and "oe" in blocks:
        N0 = -J1 * np.array([0.5, 0.5, 0.5, 1.0, 1.0, 1.0])[:, None]
        Oe = blocks["oe"].M0.T
        if all(_differ(N0, Oe[order]) for order in ([0, 1, 2, 3, 5, 4], [0, 1, 2, 3, 4, 5])):
            expected = "columns xx yy zz xy yz xz of -1/2 omega' (M1 of J) omega"
            wrong = f"entries that differ by {abs(N0 - Oe[[0, 1, 2, 3, 5, 4]]).max():.3g}"
            refuse(blocks["oe"].line, "Oe", expected, wrong, cure)
    for node in sid.nodes:
        moves = node.origin.M1[:, :, 0]
        if node.origin.order and _differ(moves, node.phi.M0):
            found = f"entries of node {node.number} that differ by {abs(moves - node.phi.M0).max():.3g}"
            refuse(node.phi.line, "phi", "M1 of origin: how each mode moves the node", found, cure)


def _differ(one: Array, other: Array) -> bool:
    largest = max(abs(one).max(initial=0.0), abs(other).max(initial=0.0))
    return bool(abs(one - other).max(initial=0.0) > CONTRADICTION * largest)
