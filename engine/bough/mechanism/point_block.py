"""Points that carry inertia at full fidelity, in the model block: `bough_points` of the kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.flex.rows import Rows
from bough.flex.turning import Turning
from bough.mechanism.bodies import Array, BodyData

GROUP = 4
"""The kernel takes so many points at a time."""
SPARSE = 1e-14
"""Entries of the rows that are round-off, of the largest of their kind."""


@dataclass(frozen=True, eq=False)
class PointBlock:
    """Numbers of rows, of records of H and of turning points; and the arrays in the kernel's order."""

    counts: tuple[int, int, int]
    arrays: tuple[Array, ...]


def point_block(d: BodyData) -> PointBlock:
    """The points of a body; none where tables have all of its inertia."""
    if d.rows is None and d.turning is None:
        return PointBlock((0, 0, 0), ())
    J = d.J_rest
    arrays = [J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]]
    rows = bends = turning = 0
    if d.rows is not None:
        rows, bends, tables = _rows(d.rows)
        arrays += tables
    if d.turning is not None:
        turning, tables = _turning(d.turning)
        arrays += tables
    return PointBlock((rows, bends, turning), tuple(arrays))


def _padded(table: Array) -> Array:
    """The points (first axis) last, and as many more without weight as fill a group."""
    more = -len(table) % GROUP
    padded: Array = np.moveaxis(np.concatenate([table, np.zeros((more, *table.shape[1:]))]), 0, -1)
    return padded


def _rows(rows: Rows) -> tuple[int, int, list[Array]]:
    G, H = _padded(rows.G), _padded(rows.H)
    moved, bent = (np.linalg.norm(table, axis=-1) for table in (G, H))
    moved, bent = moved > SPARSE * moved.max(initial=0.0), bent > SPARSE * bent.max(initial=0.0)
    r, s = np.tril_indices(rows.nm)
    records = [[a, b, i, *H[i, a, b]] for a, b in zip(r, s, strict=True) for i in range(3) if bent[i, a, b]]
    moves = (moved | bent.any(axis=2)).T @ np.array([1.0, 2.0, 4.0])
    tables = [rows.c[:1], _padded(rows.L0), moves, G.transpose(1, 0, 2), np.array(records)]
    return G.shape[-1], len(records), tables


def _turning(turning: Turning) -> tuple[int, list[Array]]:
    lam, J = _padded(turning.lam), _padded(turning.J)
    return lam.shape[-1], [lam.transpose(1, 0, 2), J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]]
