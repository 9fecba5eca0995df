"""Arithmetic on what numbers depend on, instead of on the numbers.

A mark stands for a number: None if it is zero whatever the state is, else the set of knowns that it depends on, as the
bits of an int (0: a constant). A product is zero if one factor is, and depends on what its factors depend on; a sum
depends on what its terms depend on. So the formulas of mechanics, run on marks, give for every result a set of knowns
that it cannot go beyond. Terms that cancel are not seen: the set may be too large, it is never too small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

Mark: TypeAlias = int | None
Vector: TypeAlias = tuple[Mark, ...]
Matrix: TypeAlias = tuple[Vector, ...]
"""By rows."""

DUST = 1e-12
"""Entries of unit vectors, rotation matrices and scaled mode shapes that are rounding errors of a zero."""
ZERO: Vector = (None, None, None)
IDENTITY: Matrix = ((0, None, None), (None, 0, None), (None, None, 0))


FEW = 64
"""Fewer bits than this are found one by one, more of them all at once."""


def set_bits(bits: int) -> list[int]:
    """Which bits are set, ascending."""
    if bits.bit_count() < FEW:
        out = []
        while bits:
            low = bits & -bits
            out.append(low.bit_length() - 1)
            bits ^= low
        return out
    data = np.frombuffer(bits.to_bytes((bits.bit_length() + 7) // 8, "little"), dtype=np.uint8)
    found: list[int] = np.flatnonzero(np.unpackbits(data, bitorder="little")).tolist()
    return found


def plus(a: Mark, b: Mark) -> Mark:
    """A sum."""
    if a is None:
        return b
    return a if b is None else a | b


def times(a: Mark, b: Mark) -> Mark:
    """A product."""
    return None if a is None or b is None else a | b


def total(marks: Iterable[Mark]) -> Mark:
    """A sum of many."""
    out: Mark = None
    for x in marks:
        if x is not None:
            out = x if out is None else out | x
    return out


def add(*vectors: Vector) -> Vector:
    """A sum of vectors."""
    return tuple(total(row) for row in zip(*vectors, strict=True))


def scaled(v: Vector, factor: Mark) -> Vector:
    """A vector times a number."""
    return ZERO if factor is None else tuple(None if x is None else x | factor for x in v)


def dot(a: Vector, b: Vector) -> Mark:
    """An inner product."""
    return total(x | y for x, y in zip(a, b, strict=True) if x is not None and y is not None)


def cross(a: Vector, b: Vector) -> Vector:
    """A cross product."""
    return (
        plus(times(a[1], b[2]), times(a[2], b[1])),
        plus(times(a[2], b[0]), times(a[0], b[2])),
        plus(times(a[0], b[1]), times(a[1], b[0])),
    )


def apply(m: Matrix, v: Vector) -> Vector:
    """A matrix times a vector."""
    return tuple(dot(row, v) for row in m)


def transposed(m: Matrix) -> Matrix:
    """The transpose."""
    return tuple(zip(*m, strict=True))


def product(a: Matrix, b: Matrix) -> Matrix:
    """A matrix times a matrix."""
    if a is IDENTITY or b is IDENTITY:
        return b if a is IDENTITY else a
    columns = transposed(b)
    return tuple(tuple(dot(row, column) for column in columns) for row in a)


def constant(numbers: ArrayLike, least: float = 0.0) -> Vector:
    """Known numbers; those not above `least` are zero."""
    return tuple(0 if abs(x) > least else None for x in np.asarray(numbers, dtype=np.float64).tolist())


def constant_matrix(numbers: ArrayLike) -> Matrix:
    """A known matrix of entries of order one."""
    found = tuple(constant(row, DUST) for row in np.asarray(numbers, dtype=np.float64))
    return IDENTITY if found == IDENTITY else found


def turn(axis: ArrayLike, angle: int) -> Matrix:
    """A rotation about a constant axis by an angle with this mark; a full matrix unless the axis is x, y or z."""
    there = [i for i, x in enumerate(constant(axis, DUST)) if x is not None]
    if not there:
        return IDENTITY
    if len(there) > 1:
        return ((angle,) * 3,) * 3
    return tuple(tuple((0 if i == j else None) if there[0] in (i, j) else angle for j in range(3)) for i in range(3))


def quaternion_product(a: Sequence[Mark], b: Sequence[Mark]) -> Vector:
    """A product of quaternions x, y, z, w."""
    va, vb = tuple(a[:3]), tuple(b[:3])
    vector = add(scaled(va, b[3]), scaled(vb, a[3]), cross(va, vb))
    return (*vector, plus(times(a[3], b[3]), dot(va, vb)))
