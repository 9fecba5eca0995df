"""The flexible body that bough and Exudyn share: a slender beam as point masses with bending shapes.

Exudyn's reduced FFRF body takes translations of mesh nodes, no rotary inertia of nodes. So the beam is four point
masses in each cross section, which bough takes at full fidelity as well: both programs integrate the same equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

LENGTH, WIDTH, HEIGHT = 1.0, 0.015, 0.010  # m
YOUNG, DENSITY = 70e9, 2700.0  # Pa, kg/m^3
SECTIONS, DEGREE = 12, 8


@dataclass(frozen=True, eq=False)
class Beam:
    """Mesh, mass-orthonormal cantilever shapes, and diagonal stiffness.

    Attributes:
        positions: (n, 3) m; the first node is the root, the last one the tip, both without mass.
        masses: (n,) kg.
        shapes: (n, 6, modes): rotation, then translation.
        stiffness: (modes,) squares of the frequencies, 1/s^2.
        damping: Factor on the stiffness, s.
    """

    positions: NDArray[np.float64]
    masses: NDArray[np.float64]
    shapes: NDArray[np.float64]
    stiffness: NDArray[np.float64]
    damping: float


def beam(per_plane: int, stiffening: float = 1.0) -> Beam:
    """Cantilever with `per_plane` bending modes in each plane, by Ritz with x^2 ... x^8.

    Args:
        per_plane: Modes in each plane.
        stiffening: Factor on the bending stiffness.
    """
    x = (np.arange(SECTIONS) + 0.5) * LENGTH / SECTIONS
    corners = 0.5 * np.array([[WIDTH, HEIGHT], [WIDTH, -HEIGHT], [-WIDTH, HEIGHT], [-WIDTH, -HEIGHT]])
    mesh = [[0.0, 0.0, 0.0], *([s, *c] for s in x for c in corners), [LENGTH, 0.0, 0.0]]
    positions = np.array(mesh)
    masses = np.full(len(positions), DENSITY * WIDTH * HEIGHT * LENGTH / (4 * SECTIONS))
    masses[[0, -1]] = 0.0
    shapes, stiffness = [], []
    for axis, inertia in ((1, HEIGHT * WIDTH**3 / 12), (2, WIDTH * HEIGHT**3 / 12)):
        basis = np.stack([_shape(positions, axis, p) for p in range(2, DEGREE + 1)], axis=-1)
        k, r = _ritz(basis, masses, stiffening * YOUNG * inertia)
        shapes.append((basis @ r)[..., :per_plane])
        stiffness.append(k[:per_plane])
    k_all = np.concatenate(stiffness)
    order = np.argsort(k_all)
    damping = 2 * 0.01 / np.sqrt(k_all.min())  # 1 % in the lowest mode
    return Beam(positions, masses, np.concatenate(shapes, axis=-1)[..., order], k_all[order], float(damping))


def _shape(positions: NDArray[np.float64], axis: int, p: int) -> NDArray[np.float64]:
    """Deflection x^p along an axis, with plane sections: (n, 6)."""
    x = positions[:, 0] / LENGTH
    w, slope = x**p, p * x ** (p - 1) / LENGTH
    out = np.zeros((len(x), 6))
    out[:, 3 + axis] = w
    out[:, 3] = -slope * positions[:, axis]
    out[:, 2 if axis == 1 else 1] = slope if axis == 1 else -slope
    return out


def _ritz(
    basis: NDArray[np.float64], masses: NDArray[np.float64], EI: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    p = np.arange(2, DEGREE + 1)
    c = p * (p - 1) / LENGTH**2
    K = EI * LENGTH * np.outer(c, c) / (p[:, None] + p[None, :] - 3)
    M = np.einsum("j,jir,jis->rs", masses, basis[:, 3:], basis[:, 3:])
    L = np.linalg.inv(np.linalg.cholesky(M))
    k, v = np.linalg.eigh(L @ K @ L.T)
    return k, L.T @ v


def attitudes(count: int) -> list[Rotation]:
    """Start attitude of each body against the ground: a chain bent in space."""
    return [Rotation.from_euler("zyx", [0.5 * k, 0.3 - 0.4 * (k % 2), 0.2 * k]) for k in range(count)]


def bough_body(b: Beam) -> dict[str, Any]:
    """The `nodal:` entry of a model."""
    nodes = [
        {"name": name, "position": x.tolist(), "mass": float(m)}
        for name, x, m in zip(_names(len(b.masses)), b.positions, b.masses, strict=True)
    ]
    return {
        "attach": "root",
        "nodes": nodes,
        "modes": b.shapes.transpose(2, 0, 1).tolist(),
        "stiffness": b.stiffness.tolist(),
        "damping_matrix": (b.damping * b.stiffness).tolist(),
    }


def _names(count: int) -> list[str]:
    return ["root", *(f"p{j}" for j in range(1, count - 1)), "tip"]
