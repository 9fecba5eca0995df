"""What a node of the mechanism feels and does: its Jacobian, its rate, mobility and effective mass; momentum.

Six-vectors have the angular part first, in the inertial frame. Positions q are (B, nq) here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ArgumentError, SimulationError
from bough.mechanism import kernel, kernel_calls
from bough.mechanism.independent import independent

if TYPE_CHECKING:
    from bough.mechanism.mechanism import Mechanism

Array: TypeAlias = NDArray[np.float64]

CHUNK = 4_000_000
"""Numbers that one call of the kernel may leave in memory."""
IMMOBILE = 1e-12
"""Mobility over the largest one, scaled to a unit diagonal, that is round-off."""


def t(a: Array) -> Array:
    """Transpose of the last two axes."""
    return np.swapaxes(a, -1, -2)


def node_jacobian(system: Mechanism, q: Array, node: str) -> Array:
    """(B, 6, nu): column i is the velocity that a unit of speed i gives the node."""
    data, index = system._nodes([node])
    return np.asarray(jacobians(data, q, index, system.nu)[:, 0])


def jacobians(data: kernel.KernelData, q: Array, nodes: kernel_calls.Nodes, nu: int) -> Array:
    """(B, nodes, 6, nu), in calls that leave at most CHUNK numbers."""
    out = np.empty((q.shape[0], nodes.size, 6, nu))
    unit = np.eye(nu)
    step = max(1, CHUNK // (6 * nodes.size + q.shape[1] + nu))
    for b in range(q.shape[0]):
        for first in range(0, nu, step):
            speeds = np.ascontiguousarray(unit[first : first + step])
            rows = speeds.shape[0]
            velocity = np.empty((rows, nodes.size, 6))
            at = {"q": np.ascontiguousarray(np.broadcast_to(q[b], (rows, q.shape[1]))), "u": speeds}
            data.evaluate(at, {"velocity": velocity}, nodes, rows)
            out[b, :, :, first : first + rows] = velocity.transpose(1, 2, 0)
    return out


def node_jacobian_rate(system: Mechanism, q: Array, u: Array, node: str) -> Array:
    """(B, 6, nu): dJ/dt while the mechanism moves with speeds u, by the complex step.

    The velocity of the node is J(q) e_i for a unit speed; its derivative along qdot = N(q) u is column i.
    """
    data, index = system._nodes([node])
    tangent = kernel.KernelData(data.model, kernel.LANES_TANGENT)
    out = np.empty((q.shape[0], 6, system.nu))
    for b in range(q.shape[0]):
        direction = {"q": system._data.position_rates(q[b : b + 1], u[b : b + 1])[0]}
        for i, unit in enumerate(np.eye(system.nu)):
            out[b, :, i] = tangent.directional({"q": q[b], "u": unit}, direction, index, 0, ("velocity",))["velocity"]
    return out


def mobility(system: Mechanism, q: Array, node: str) -> Array:
    """(B, 6, 6): J M^-1 J', the acceleration that a unit wrench at the node gives it; held DOFs do not move."""
    J = node_jacobian(system, q, node)
    held = system._held
    if system.closed:
        M = system._data.mass_matrix(q)
        free = np.flatnonzero(~held)
        motions = [independent(system, row, free=free).V for row in q]
        W = np.stack([j @ V @ np.linalg.solve(V.T @ m @ V, (j @ V).T) for j, V, m in zip(J, motions, M, strict=True)])
    elif held.any():
        free = np.flatnonzero(~held)
        M = system._data.mass_matrix(q)[:, free[:, None], free]
        J = J[:, :, free]
        W = J @ np.linalg.solve(M, t(J)) if free.size else np.zeros((q.shape[0], 6, 6))
    else:
        rows = np.ascontiguousarray(J.reshape(-1, system.nu))
        solved = system._data.mass_solve(np.repeat(q, 6, axis=0), rows).reshape(J.shape)
        W = J @ t(solved)
    return np.asarray(0.5 * (W + t(W)))


def effective_mass(system: Mechanism, q: Array, node: str, directions: ArrayLike | None) -> Array:
    """(B, m, m): (S' J M^-1 J' S)^-1; see `Mechanism.effective_mass`."""
    W = mobility(system, q, node)
    if directions is not None:
        S = np.asarray(directions, dtype=np.float64)
        if S.ndim != 2 or S.shape[1] != 6 or not S.shape[0]:
            raise ArgumentError(f"directions: expected rows of six numbers, angular part first, found shape {S.shape}")
        W = S @ W @ S.T
    # Scaled to a unit diagonal, in which rotations and translations are alike.
    scale = np.sqrt(np.maximum(np.einsum("bii->bi", W), 0.0))
    scale[scale == 0.0] = 1.0
    scaled = W / (scale[:, :, None] * scale[:, None, :])
    values = np.linalg.eigvalsh(scaled)
    if np.any(values[:, 0] <= IMMOBILE * values[:, -1]):
        raise _immobile(node, int(np.max(np.sum(values <= IMMOBILE * values[:, -1:], axis=1))))
    out = np.linalg.inv(scaled) / (scale[:, :, None] * scale[:, None, :])
    return np.asarray(0.5 * (out + t(out)))


def _immobile(node: str, count: int) -> SimulationError:
    what = "one direction" if count == 1 else f"{count} directions"
    return SimulationError(
        f"the effective mass at {node} is infinite in {what}: the hinges and modes let no force accelerate the node "
        "that way. Ask for mobility(q, node), its inverse, which always exists, or give directions=... in which the "
        "node can move"
    )


def momentum_matrix(system: Mechanism, q: Array) -> Array:
    """(B, 6, nu): column i is the momentum of a unit of speed i, without that of embedded wheels."""
    nu = system.nu
    speeds = np.vstack([np.zeros(nu), np.eye(nu)])
    out = np.empty((q.shape[0], 6, nu))
    for b in range(q.shape[0]):
        rows = np.ascontiguousarray(np.broadcast_to(q[b], (nu + 1, q.shape[1])))
        momenta = system._data.momentum(rows, speeds)
        out[b] = (momenta[1:] - momenta[0]).T
    return out
