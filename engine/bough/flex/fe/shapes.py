"""Shape functions of finite elements and rules to integrate with, by the reference places of the nodes.

The functions of an element span monomials: N = V^-1 m(xi), with V the monomials at the nodes. Nodes are in the order of
Abaqus: corners, then middles of edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from scipy.special import roots_jacobi

from bough.flex.fe.fe_model import Array

TETRA_EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))
WEDGE_EDGES = ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5))
BRICK_EDGES = (
    *((0, 1), (1, 2), (2, 3), (3, 0)),
    *((4, 5), (5, 6), (6, 7), (7, 4)),
    *((0, 4), (1, 5), (2, 6), (3, 7)),
)
_TRIANGLE = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))
_SQUARE = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))


@dataclass(frozen=True, eq=False)
class Reference:
    """An element in its own coordinates.

    Attributes:
        places: Of the nodes, (n, d).
        powers: Exponents of the monomials, (n, d).
    """

    places: Array
    powers: Array

    def values(self, at: Array) -> Array:
        """Shape functions at points (p, d): (p, n)."""
        return self._solved(np.prod(at[:, None] ** self.powers, axis=2))

    def slopes(self, at: Array) -> Array:
        """Their derivatives, (p, n, d)."""
        out = []
        for k in range(at.shape[1]):
            lower = self.powers.copy()
            lower[:, k] = np.maximum(lower[:, k] - 1.0, 0.0)
            out.append(self._solved(self.powers[:, k] * np.prod(at[:, None] ** lower, axis=2)))
        return np.stack(out, axis=2)

    def _solved(self, monomials: Array) -> Array:
        V = np.prod(self.places[:, None] ** self.powers, axis=2)
        solved: Array = np.linalg.solve(V.T, monomials.T).T
        return solved


def _with_middles(corners: tuple[tuple[float, ...], ...], edges: tuple[tuple[int, int], ...]) -> Array:
    x = np.array(corners)
    return np.vstack([x, *(0.5 * (x[i] + x[j])[None] for i, j in edges)])


def _simplex(d: int, degree: int) -> Array:
    return np.array([p for p in product(range(degree + 1), repeat=d) if sum(p) <= degree], dtype=np.float64)


def _serendipity(d: int, degree: int) -> Array:
    """Exponents up to the degree, those above one counted."""
    wanted = [p for p in product(range(degree + 1), repeat=d) if sum(e for e in p if e > 1) <= degree]
    return np.array(wanted, dtype=np.float64)


def _wedge(quadratic: bool) -> Array:
    flat = _simplex(2, 2 if quadratic else 1)
    out = [(*p, t) for p in flat for t in (0.0, 1.0)]
    return np.array(out + ([(*p, 2.0) for p in _simplex(2, 1)] if quadratic else []))


@lru_cache
def reference(kind: str, n: int) -> Reference:
    """The element of a kind (line, triangle, square, tetra, wedge, brick) with n nodes."""
    if kind == "line":
        return Reference(np.array([[-1.0], [1.0]] if n == 2 else [[-1.0], [0.0], [1.0]]), _simplex(1, n - 1))
    if kind == "triangle":
        return Reference(_with_middles(_TRIANGLE, TETRA_EDGES[: n - 3]), _simplex(2, 1 if n == 3 else 2))
    if kind == "square":
        edges = BRICK_EDGES[: n - 4]
        return Reference(_with_middles(_SQUARE, edges), _serendipity(2, 1 if n == 4 else 2))
    if kind == "tetra":
        corners = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
        return Reference(_with_middles(corners, TETRA_EDGES[: n - 4]), _simplex(3, 1 if n == 4 else 2))
    below_and_above = (-1.0, 1.0)
    if kind == "wedge":
        corners6 = tuple((*p, t) for t in below_and_above for p in _TRIANGLE)
        return Reference(_with_middles(corners6, WEDGE_EDGES[: n - 6]), _wedge(n == 15))
    corners8 = tuple((*p, t) for t in below_and_above for p in _SQUARE)
    return Reference(_with_middles(corners8, BRICK_EDGES[: n - 8]), _serendipity(3, 1 if n == 8 else 2))


@lru_cache
def rule(kind: str, points: int) -> tuple[Array, Array]:
    """Places (p, d) and weights (p,) of a product of Gauss rules with so many points each way."""
    gauss, weight = np.polynomial.legendre.leggauss(points)
    if kind in ("line", "square", "brick"):
        d = {"line": 1, "square": 2, "brick": 3}[kind]
        places = np.array(list(product(gauss, repeat=d)))
        return places, np.array([np.prod(w) for w in product(weight, repeat=d)])
    # Collapsed: x = a, y = b (1 - a), z = c (1 - b) (1 - a); Gauss-Jacobi takes the factors (1 - a)^2 and (1 - b).
    # A wedge has one point less each way in its triangle, as programs do it.
    flat = points - 1 if kind == "wedge" else points
    shares = [_jacobi(flat, k) for k in ((1, 0) if kind in ("triangle", "wedge") else (2, 1, 0))]
    out, weights = [], []
    for combination in product(*(range(flat) for _ in shares)):
        left, place, w = 1.0, [], 1.0
        for (x, wx), i in zip(shares, combination, strict=True):
            place.append(float(x[i]) * left)
            left *= 1.0 - float(x[i])
            w *= float(wx[i])
        out.append(place)
        weights.append(w)
    if kind == "wedge":
        return (
            np.array([[*p, t] for p in out for t in gauss]),
            np.array([w * v for w in weights for v in weight]),
        )
    return np.array(out), np.array(weights)


def _jacobi(points: int, power: int) -> tuple[Array, Array]:
    """A rule on 0 to 1 for integrands with the factor (1 - x)^power."""
    x, w = roots_jacobi(points, power, 0)
    return 0.5 * (x + 1.0), w / 2.0 ** (power + 1)
