"""A textbook finite element program for frames, by nodal displacements: nothing in common with the code under test.

Two-node elements with twelve displacements (x, y, z, then rotations): Hermite cubics for bending, linear stretch and
twist, consistent mass with rotary inertia (Przemieniecki 1968, chapters 5 and 11). No shear.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from bough.flex.beam.frame import Section


def _bending(h: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stiffness per EI, mass per rho A and per rho I in (w1, s1, w2, s2)."""
    stiffness = np.array(
        [
            [12.0, 6.0 * h, -12.0, 6.0 * h],
            [6.0 * h, 4.0 * h**2, -6.0 * h, 2.0 * h**2],
            [-12.0, -6.0 * h, 12.0, -6.0 * h],
            [6.0 * h, 2.0 * h**2, -6.0 * h, 4.0 * h**2],
        ]
    )
    mass = np.array(
        [
            [156.0, 22.0 * h, 54.0, -13.0 * h],
            [22.0 * h, 4.0 * h**2, 13.0 * h, -3.0 * h**2],
            [54.0, 13.0 * h, 156.0, -22.0 * h],
            [-13.0 * h, -3.0 * h**2, -22.0 * h, 4.0 * h**2],
        ]
    )
    rotary = np.array(
        [
            [36.0, 3.0 * h, -36.0, 3.0 * h],
            [3.0 * h, 4.0 * h**2, -3.0 * h, -(h**2)],
            [-36.0, -3.0 * h, 36.0, -3.0 * h],
            [3.0 * h, -(h**2), -3.0 * h, 4.0 * h**2],
        ]
    )
    return stiffness / h**3, mass * h / 420.0, rotary / (30.0 * h)


def element_matrices(section: Section, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and mass of an element along x, (12, 12)."""
    K, M = np.zeros((12, 12)), np.zeros((12, 12))
    difference, linear = np.array([[1.0, -1.0], [-1.0, 1.0]]) / h, np.array([[2.0, 1.0], [1.0, 2.0]]) * h / 6.0
    polar = section.rho_Iy + section.rho_Iz
    for dofs, rigidity, inertia in (([0, 6], section.EA, section.rho_A), ([3, 9], section.GJ, polar)):
        K[np.ix_(dofs, dofs)] += rigidity * difference
        M[np.ix_(dofs, dofs)] += inertia * linear
    k, m, r = _bending(h)
    # Deflection along y turns by +s about z, along z by -s about y.
    for dofs, sign, rigidity, rotary in (
        ([1, 5, 7, 11], 1.0, section.EIz, section.rho_Iz),
        ([2, 4, 8, 10], -1.0, section.EIy, section.rho_Iy),
    ):
        turn = np.diag([1.0, sign, 1.0, sign])
        K[np.ix_(dofs, dofs)] += turn @ (rigidity * k) @ turn
        M[np.ix_(dofs, dofs)] += turn @ (section.rho_A * m + rotary * r) @ turn
    return K, M


def assembled(nodes: np.ndarray, sections: list[Section], up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and mass of elements between successive nodes (n, 3), (6 n, 6 n)."""
    K, M = np.zeros((6 * len(nodes),) * 2), np.zeros((6 * len(nodes),) * 2)
    for e, section in enumerate(sections):
        along = nodes[e + 1] - nodes[e]
        h = float(np.linalg.norm(along))
        x = along / h
        y = np.cross(up, x)
        y /= np.linalg.norm(y)
        # Rows: the element's axes in those of the frame.
        turn = np.kron(np.eye(4), np.array([x, y, np.cross(x, y)]))
        k, m = element_matrices(section, h)
        dofs = slice(6 * e, 6 * e + 12)
        K[dofs, dofs] += turn.T @ k @ turn
        M[dofs, dofs] += turn.T @ m @ turn
    return K, M


def add_mass(M: np.ndarray, node: int, mass: float, com: np.ndarray, inertia: np.ndarray) -> None:
    """A rigid part on a node: kinetic energy of its centre's motion u + theta x com, and of its rotation."""
    x, y, z = com
    centre = np.hstack([np.eye(3), np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])])
    dofs = slice(6 * node, 6 * node + 6)
    M[dofs, dofs] += mass * centre.T @ centre
    M[6 * node + 3 : 6 * node + 6, 6 * node + 3 : 6 * node + 6] += inertia


def frequencies(K: np.ndarray, M: np.ndarray, root: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Elastic frequencies, rad/s, and shapes (n nodes, 6, modes), rotations first, mass-orthonormal.

    Args:
        K: Stiffness.
        M: Mass.
        root: Motions that the first node may have, (6, k), rotations first.
    """
    n = len(K)
    allowed = np.zeros((n, root.shape[1] + n - 6))
    allowed[:6, : root.shape[1]] = root[[3, 4, 5, 0, 1, 2]]
    allowed[6:, root.shape[1] :] = np.eye(n - 6)
    squares, vectors = eigh(allowed.T @ K @ allowed, allowed.T @ M @ allowed)
    elastic = squares > 1e-6 * squares[root.shape[1]]
    shapes = (allowed @ vectors[:, elastic]).reshape(n // 6, 6, -1)
    return np.sqrt(squares[elastic]), shapes[:, [3, 4, 5, 0, 1, 2]]
