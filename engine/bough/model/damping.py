"""Damping of a flexible body's modes, as the model file gives it and as the rest of bough reads it."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import Discriminator, Field, Tag

from bough.text.kinds import MAX_MODES, TAG, DiagonalOrMatrix, FileModel, Frozen, NonNegative, NonNegatives, Vec2
from bough.text.problems import Path, Report, describe

Matrix: TypeAlias = tuple[tuple[float, ...], ...]
SYMMETRY_SLACK = 1e-9
"""Round-off in a matrix that should be symmetric and not negative, relative to its largest entry."""


class ModalDamping(Frozen):
    """Damping of the modes of a beam or an FE body: at most one of these is there.

    Attributes:
        ratio: Of critical damping, of every mode.
        ratios: One per mode.
        rayleigh: (alpha, beta) in 1/s and s: alpha M + beta K.
        matrix: In the modal coordinates, full and symmetric, 1/s.
    """

    ratio: float | None = None
    ratios: tuple[float, ...] | None = None
    rayleigh: tuple[float, float] | None = None
    matrix: Matrix | None = None


class DampingMapping(FileModel):
    """Damping proportional to mass and stiffness, or a full matrix."""

    rayleigh: Vec2 = Field([0.0, 0.0], description="2 numbers, 0 or more: alpha in 1/s, beta in s")
    matrix: DiagonalOrMatrix = Field(
        [], description="a list of one number per mode, or a symmetric matrix with a row per mode, 1/s"
    )


def _damping_kind(value: Any) -> str:
    if isinstance(value, list):
        return TAG + "list"
    return TAG + ("mapping" if isinstance(value, dict) else "number")


DampingFile: TypeAlias = Annotated[
    Annotated[NonNegative, Tag(TAG + "number")]
    | Annotated[NonNegatives, Tag(TAG + "list")]
    | Annotated[DampingMapping, Tag(TAG + "mapping")],
    Discriminator(_damping_kind),
]


def resolve_damping(
    damping: float | list[float] | DampingMapping, count: int | None, path: Path, report: Report
) -> ModalDamping:
    """The checked damping; what is wrong goes into the report.

    Args:
        damping: As the file has it.
        count: Number of modes; None if it is not known yet.
        path: Of the entry.
        report: Takes what is wrong.
    """
    if isinstance(damping, list):
        if count is not None and len(damping) != count:
            found = describe(damping)
            report.add(path, f"one ratio, or a list of {count}, one per mode", found, f"give {count} values")
        return ModalDamping(ratios=tuple(damping))
    if not isinstance(damping, DampingMapping):
        return ModalDamping(ratio=float(damping))
    given = damping.model_fields_set
    if len(given) != 1:
        expected = "exactly one of rayleigh, matrix: what damps the modes"
        found = "both rayleigh and matrix" if given else "none of them"
        report.add(path, expected, found, "write e.g. {rayleigh: [0.0, 1e-5]}")
        return ModalDamping()
    if "matrix" in given:
        return ModalDamping(matrix=symmetric_matrix(damping.matrix, count, (*path, "matrix"), report))
    alpha, beta = damping.rayleigh
    if min(alpha, beta) < 0.0:
        expected = "alpha and beta of 0 or more"
        report.add((*path, "rayleigh"), expected, describe(damping.rayleigh), "use positive values")
    return ModalDamping(rayleigh=(alpha, beta))


def symmetric_matrix(
    value: list[float] | list[list[float]], count: int | None, path: Path, report: Report, missing: bool = False
) -> Matrix:
    """The full symmetric matrix without negative eigenvalues that the file gives as such or by its diagonal.

    Args:
        value: As the file has it.
        count: Number of modes; None if it is not known yet.
        path: Of the entry.
        report: Takes what is wrong.
        missing: Whether the file has no such entry.
    """
    rows = [row for row in value if isinstance(row, list)]
    size = len(value) if count is None else count
    if len(value) != size or any(len(row) != size for row in rows):
        expected = f"a list of {size}, or a matrix of {size} x {size}: as many as there are modes"
        sizes = f" and rows of {', '.join(sorted({str(len(row)) for row in rows}))}" if rows else ""
        found = "no such key" if missing else f"{describe(value)}{sizes}"
        report.add(path, expected, found, "give one entry per mode")
        return ()
    if size > MAX_MODES:  # refused where the modes are counted; eigenvalues of so many would take minutes
        return ()
    full = np.array(rows, dtype=np.float64) if rows else np.diag(np.array(value, dtype=np.float64))
    slack = SYMMETRY_SLACK * float(np.abs(full).max(initial=0.0))
    skew = np.abs(full - full.T)
    if skew.max(initial=0.0) > slack:
        i, j = np.unravel_index(int(skew.argmax()), full.shape)
        found = f"{full[i, j]:g} in row {i + 1}, column {j + 1}, but {full[j, i]:g} across the diagonal"
        report.add(path, "a symmetric matrix", found, "use the symmetric part, (A + A') / 2")
    elif (lowest := float(np.linalg.eigvalsh(full).min(initial=0.0))) < -slack:
        expected = "a matrix without negative eigenvalues"
        report.add(path, expected, f"an eigenvalue of {lowest:g}", "check signs and units")
    return tuple(tuple(row) for row in (0.5 * (full + full.T)).tolist()) if size else ()
