"""Directions, quaternions and inertias: made exact where they are nearly so, refused where they are not."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bough.text.problems import Path, Report, describe

QUATERNION_SLACK = 1e-3
"""A quaternion whose length is this near to 1 was rounded in writing, and is normalized."""
INERTIA_SLACK = 1e-9
"""Relative round-off that the check of an inertia forgives."""
SHORTEST_AXIS = 1e-9

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Inertia = tuple[float, float, float, float, float, float]


def vector(values: Sequence[float]) -> Vector3:
    """Three numbers as a tuple."""
    x, y, z = values
    return (float(x), float(y), float(z))


def unit(values: Sequence[float], path: Path, report: Report) -> Vector3:
    """The direction of length 1; a zero vector is a problem."""
    length = math.hypot(*values)
    if length < SHORTEST_AXIS:
        report.add(path, "a direction of non-zero length", describe(list(values)), "write e.g. [0, 0, 1]")
        return (0.0, 0.0, 1.0)
    x, y, z = (value / length for value in values)
    return (x, y, z)


def unit_quaternion(values: Sequence[float], path: Path, report: Report) -> Quaternion:
    """The quaternion (x, y, z, w) made exactly of unit length, if it nearly is."""
    length = math.hypot(*values)
    if abs(length - 1.0) > QUATERNION_SLACK:
        report.add(
            path,
            f"a quaternion [x, y, z, w] of length 1 (within {QUATERNION_SLACK:g})",
            f"length {length:.6g}, {describe(list(values))}",
            "divide it by its length; no rotation is [0, 0, 0, 1], scalar last",
        )
        return (0.0, 0.0, 0.0, 1.0)
    x, y, z, w = (value / length for value in values)
    return (x, y, z, w)


def one_axis(values: Sequence[float]) -> int | None:
    """The axis (0, 1, 2) of an inertia that has no other entry, as textbooks write a wheel: `[2, 0, 0, 0, 0, 0]`."""
    given = [i for i, value in enumerate(values) if value != 0.0]
    return given[0] if len(given) == 1 and given[0] < 3 and values[given[0]] > 0.0 else None


def inertia(values: Sequence[float], path: Path, report: Report, alone: bool = False) -> Inertia:
    """The six entries, if their matrix can be the inertia of a body.

    Principal moments A <= B <= C of any mass distribution have A >= 0 and A + B >= C.

    Args:
        values: Ixx Iyy Izz Ixy Ixz Iyz, kg.m^2.
        path: Where they stand.
        report: Gets what is wrong.
        alone: Whether an inertia about one axis only is let pass; the tree tells whether it may be.
    """
    xx, yy, zz, xy, xz, yz = (float(value) for value in values)
    principal = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    slack = INERTIA_SLACK * float(np.abs(principal).max())
    moments = ", ".join(f"{moment:.6g}" for moment in principal)
    if principal[0] < -slack:
        report.add(
            path,
            "principal moments of inertia that are not negative",
            f"principal moments {moments} kg.m^2",
            "check the signs: Ixy, Ixz, Iyz are entries of the inertia matrix",
        )
    elif principal[0] + principal[1] < principal[2] - slack and not (alone and one_axis(values) is not None):
        report.add(
            path,
            "principal moments that obey the triangle inequality, A + B >= C",
            f"principal moments {moments} kg.m^2",
            "check the order Ixx Iyy Izz Ixy Ixz Iyz, the units and the reference point",
        )
    return (xx, yy, zz, xy, xz, yz)
