"""From rigidities and centres, or full matrices, to a general section: stiffness and inertia about the axis.

A point (y, z) of the section moves along x by u + z ry - y rz, along y by v - z rx, along z by w + y rx. With D the
rigidities, the stretch at the tension centre and the shears at the shear centre follow from the strains on the axis
by A, and the stiffness about the axis is A' D A.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bough.model.beam_data import GeneralSection
from bough.model.file_beam import SectionMatrices, SectionRigidities
from bough.text.problems import Path, Report

BEAMDYN = [2, 0, 1, 5, 3, 4]
"""Where x, y and z of the beam, forces then moments, are in BeamDyn's order: its z is along the blade."""
SAME = 1e-6
"""How far two entries of a matrix that must be equal may be apart, over its largest of their kind."""


def rigidities(file: SectionRigidities, path: Path, report: Report) -> GeneralSection:
    """The section of rigidities, each at its own centre."""
    given = file.model_fields_set
    shears = [key for key in ("GAy", "GAz") if key in given]
    if len(shears) == 1:
        missing = "GAz" if shears == ["GAy"] else "GAy"
        report.add((*path, missing), "GAy and GAz, or neither", f"{shears[0]} alone", f"add `{missing}: ...`")
    if "shear_center" in given and not shears and any(file.shear_center):
        cure = "add `GAy` and `GAz`, or remove `shear_center`"
        report.add((*path, "shear_center"), "shear rigidities, whose centre it is", "none", cure)
    (yt, zt), (ys, zs) = file.tension_center, file.shear_center
    A = np.eye(6)
    A[0, 4], A[0, 5] = zt, -yt
    A[1, 3], A[2, 3] = -zs, ys
    K = A.T @ np.diag([file.EA, file.GAy, file.GAz, file.GJ, file.EIy, file.EIz]) @ A
    if not shears:
        K = K[np.ix_([0, 3, 4, 5], [0, 3, 4, 5])]
    jx = file.Jx if "Jx" in given else file.Jy + file.Jz
    moments = (jx, file.Jy, file.Jz)
    if max(moments) > (sum(moments) - max(moments)) * (1.0 + SAME):
        found = f"Jx {jx:g}, Jy {file.Jy:g}, Jz {file.Jz:g} kg.m"
        report.add((*path, "Jx"), "no moment above the sum of the other two", found, "leave out Jx: it is Jy + Jz")
    return GeneralSection(
        stiffness=tuple(tuple(float(x) for x in row) for row in K),
        mass=file.mass,
        center=(file.mass_center[0], file.mass_center[1]),
        inertia=(jx, file.Jy, file.Jz, 0.0, 0.0, 0.0),
        twist=file.twist,
    )


def matrices(file: SectionMatrices, path: Path, report: Report) -> GeneralSection:
    """The section of full matrices."""
    K, M = np.array(file.stiffness), np.array(file.mass)
    if file.order == "beamdyn":
        K, M = K[np.ix_(BEAMDYN, BEAMDYN)], M[np.ix_(BEAMDYN, BEAMDYN)]
    _check_symmetric(K, (*path, "stiffness"), report)
    _check_symmetric(M, (*path, "mass"), report)
    K, M = 0.5 * (K + K.T), 0.5 * (M + M.T)
    if not report.problems and not _positive(K):
        expected = "a positive definite matrix: every strain takes energy"
        cure = "check order and units; a shear that is rigid is a large number, not zero"
        report.add((*path, "stiffness"), expected, f"eigenvalues from {np.linalg.eigvalsh(K)[0]:.3g} on", cure)
    mass = float(M[0, 0])
    if not mass > 0.0:
        report.add(
            (*path, "mass"), "a mass per length above 0, kg/m", f"{mass:g}", "check the order of rows and columns"
        )
        mass = 1.0
    c = np.array([0.0, -M[5, 0] / mass, M[4, 0] / mass])
    cross = np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
    J = M[3:, 3:] + mass * cross @ cross
    shape = np.block([[mass * np.eye(3), mass * cross.T], [mass * cross, M[3:, 3:]]])
    if np.abs(shape - M).max() > SAME * np.abs(M).max():
        expected = "the mass of a section: m on the first three places, m times the centre's offset beside it"
        cure = "check `order`: vabs has x along the beam, beamdyn has z"
        report.add((*path, "mass"), expected, "a matrix of another form", cure)
    elif np.linalg.eigvalsh(J)[0] < -SAME * max(np.abs(M[3:, 3:]).max(), 1e-300):
        expected = "rotary inertia about the axis of at least the mass times the square of its centre's offset"
        report.add(
            (*path, "mass"), expected, "less", "give the rotary inertia about the axis, not about the mass centre"
        )
    return GeneralSection(
        stiffness=tuple(tuple(float(x) for x in row) for row in K),
        mass=mass,
        center=(float(c[1]), float(c[2])),
        inertia=(float(J[0, 0]), float(J[1, 1]), float(J[2, 2]), float(J[0, 1]), float(J[0, 2]), float(J[1, 2])),
        twist=file.twist,
    )


def _positive(K: NDArray[np.float64]) -> bool:
    scale = np.sqrt(np.abs(np.diag(K)))
    if not np.all(scale > 0.0):
        return False
    return bool(np.linalg.eigvalsh(K / np.outer(scale, scale))[0] > 1e-12)


def _check_symmetric(matrix: NDArray[np.float64], path: Path, report: Report) -> None:
    worst = np.unravel_index(np.argmax(np.abs(matrix - matrix.T)), matrix.shape)
    i, j = int(min(worst)), int(max(worst))
    size = max(abs(matrix[i, j]), abs(matrix[j, i]))
    if abs(matrix[i, j] - matrix[j, i]) > SAME * size:
        found = f"{matrix[i, j]:g} and {matrix[j, i]:g} on either side of the diagonal"
        report.add(path, "a symmetric matrix", found, "check the entries, and the order of rows and columns")
