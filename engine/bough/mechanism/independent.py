"""Independent coordinates of a mechanism with loops and couplings: motions u = V v that keep them closed.

The speeds that stay closed are the null space of J. A basis of it, orthonormal in the metric of M, has a row for each
speed; rows are chosen one after the other, the one with the largest part that those before it do not give. Speeds whose
motion is given come first, then those whose positions the model file writes, then the others. Their own values are v,
and V gives all speeds from them. V depends on the position: about a motion u0 a deviation x of the independent
coordinates changes the speeds by `V v + W x`, with `J W = -d(J u0)/dx` and no change of the independent speeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError
from bough.mechanism import kernel, kernel_loops

if TYPE_CHECKING:
    from bough.mechanism.mechanism import Mechanism

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

RANK = 1e-8
"""Singular value of the scaled J over the largest one that is round-off or redundant."""
PART = 1e-6
"""Part of a row of the basis that counts as new."""


@dataclass(frozen=True, eq=False)
class Independent:
    """Independent coordinates at a position.

    Attributes:
        index: Their places in u, (f,).
        V: Speeds per independent speed, (nu, f).
        W: Change of the speeds per independent coordinate, (nu, f); zero at rest.
    """

    index: Indices
    V: Array
    W: Array

    def forces(self, hold: Array) -> Array:
        """Generalized forces at the independent coordinates alone that hold what `hold` (nu,) does, (nu,)."""
        out = np.zeros(self.V.shape[0])
        out[self.index] = self.V.T @ hold
        return out


def independent(system: Mechanism, q: Array, u: Array | None = None, free: Indices | None = None) -> Independent:
    """Independent coordinates at a closed position.

    Args:
        system: The mechanism.
        q: Positions, (nq,), closed.
        u: Speeds of the operating point, (nu,); at rest by default.
        free: Speeds that can move; by default all but those of locked hinges.

    Raises:
        SimulationError: The position is open, or a driven hinge is not free to move as it is driven.
    """
    speeds = np.zeros(system.nu) if u is None else u
    locked = {b.hinge.name for b in system.model.bodies if b.hinge.drive == "locked"}
    if free is None:
        free = np.array([c.index for c in system.u_table if c.modal or c.owner not in locked], dtype=np.intp)
    system.refuse_open(q, speeds)
    J = kernel_loops.residuals(system._data, q, speeds).J
    scale = 1.0 / np.sqrt(np.maximum(np.diag(system.mass_matrix(q))[free], np.finfo(float).tiny))
    basis = _null_space(J[:, free] * scale)
    chosen = _chosen(system, basis, free)
    index = free[chosen]
    V = np.zeros((system.nu, index.size))
    V[free] = scale[:, None] * np.linalg.solve(basis[chosen].T, basis.T).T / scale[chosen]
    V[abs(V) < 1e-13 * abs(V).max(initial=0.0)] = 0.0
    V[index] = np.eye(index.size)
    return Independent(index, V, _change(system, q, speeds, J, V, np.setdiff1d(free, index)))


def _null_space(J: Array) -> Array:
    """Orthonormal columns, (n, f)."""
    n = J.shape[1]
    if not n:
        return np.zeros((0, 0))
    size = np.linalg.norm(J, axis=1)
    rows = J[size > 1e-12 * size.max(initial=0.0)]
    if not rows.size:
        return np.eye(n)
    rows = rows / np.linalg.norm(rows, axis=1)[:, None]
    _, values, right = np.linalg.svd(rows)
    rank = int((values > RANK * values[0]).sum())
    return np.asarray(right[rank:].T)


def _chosen(system: Mechanism, basis: Array, free: Indices) -> Indices:
    """Rows of the basis, as many as it has columns, that give all others."""
    driven = {b.hinge.name for b in system.model.bodies if b.hinge.drive == "motion"}
    written = system.written_speeds()
    table = [system.u_table[i] for i in free]
    groups = [
        [i for i, c in enumerate(table) if not c.modal and c.owner in driven],
        [i for i, c in enumerate(table) if written[c.index] and c.owner not in driven],
        list(range(len(table))),
    ]
    rest, out = basis.copy(), list[int]()
    for number, group in enumerate(groups):
        left = [i for i in group if i not in out]
        while left and len(out) < basis.shape[1]:
            sizes = np.linalg.norm(rest[left], axis=1)
            best = left[int(np.argmax(sizes))]
            if sizes.max() < PART * max(1.0, float(np.linalg.norm(basis[best]))):
                break
            direction = rest[best] / np.linalg.norm(rest[best])
            rest = rest - np.outer(rest @ direction, direction)
            out.append(best)
            left.remove(best)
        if number == 0 and left:
            names = ", ".join(system.u_names[free[i]] for i in left)
            raise SimulationError(f"loops do not leave {names} free to follow a given motion")
    return np.array(sorted(out), dtype=np.intp)


def _change(system: Mechanism, q: Array, u: Array, J: Array, V: Array, dependent: Indices) -> Array:
    W = np.zeros_like(V)
    if not u.any() or not dependent.size:
        return W
    data = kernel.KernelData(system._kernel_model, kernel.LANES_TANGENT)
    for j, motion in enumerate(V.T):
        change = kernel_loops.rate_directional(data, q, u, system.position_rates(q, motion))
        W[dependent, j] = -np.linalg.lstsq(J[:, dependent], change, rcond=1e-9)[0]
    return W
