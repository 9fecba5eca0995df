"""Statics and eigenmodes of a body that floats: one factorization serves every way of holding it.

K has the six rigid motions R as its null space. Six degrees of freedom that hold the body without forcing it are picked
(QR of R' with pivoting); K without them is factorized once, K^- solves with it. Held by constraints C y = q, with
forces f, the body obeys K y + C' p = f, whose solution is

    y = K^- (f - C' p) + R a,    R'(f - C' p) = 0,    C y = q:

    [ C K^- C'   -C R ] [p]   [ C K^- f - q ]
    [ (C R)'       0  ] [a] = [ R' f        ]       six more rows than constraints, dense.

Free, and in balance (R'f = 0), y = P K^- f, with P taking off the rigid motions in the sense of the mass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import csgraph
from scipy.sparse import linalg as sparse_linalg

from bough.flex.fe.check import dof_name
from bough.flex.fe.fe_model import Array, FeModel, Integers, Sparse
from bough.flex.fe.interface import Coupled
from bough.flex.fe.problem import refuse, some

LOOKED_AT = 2000
"""Entries of a matrix that tell its precision."""
PIVOT = 1e-13
"""Pivot of K over its diagonal below which a motion counts as one without stiffness: what round-off leaves of zero."""
TIMES = 100.0
"""Rounding of a mass, in units of the precision of the entries that make it."""
DENSE = 500
"""Up to so many degrees of freedom an eigenproblem is solved densely, and whole."""


@dataclass(frozen=True, eq=False)
class Space:
    """The motions y of a body under some support.

    Attributes:
        solve: Deflection under forces f, (ny,) to (ny,).
        C: Its constraints C y = 0, (nc, ny).
        K: Stiffness.
        M: Mass.
        tolerance: Part of the mass of single degrees of freedom below which that of a motion is rounding.
    """

    solve: Callable[[Array], Array]
    C: Array
    K: Sparse
    M: Sparse
    tolerance: float

    @property
    def size(self) -> int:
        """Number of independent motions."""
        return int(self.K.shape[0] - len(self.C))


class Floating:
    """The factorized stiffness of a coupled model."""

    def __init__(self, model: FeModel, coupled: Coupled) -> None:
        """Factorize; ModelError if something besides the whole can move without stiffness."""
        self.coupled = coupled
        self.K, self.M, self.R = coupled.K, coupled.M, coupled.R
        _check_parts(model, coupled)
        size = float(np.abs(self.R[:, :3]).max())
        order = linalg.qr((self.R / np.array([size] * 3 + [1.0] * 3)).T, mode="r", pivoting=True)[1]
        self.free: Integers = np.setdiff1d(np.arange(self.K.shape[0]), order[:6])
        inner = sparse.csc_array(self.K[self.free][:, self.free])
        try:
            self.factor = sparse_linalg.splu(
                inner, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
            )
        except RuntimeError:
            _refuse_mechanism(model, None)
        pivots = self.factor.U.diagonal()
        ratio = pivots / inner.diagonal()[np.argsort(self.factor.perm_c)]
        if not ratio.min() > PIVOT:
            worst = int(np.argsort(self.factor.perm_c)[np.argmin(ratio)])
            _refuse_mechanism(model, int(coupled.labels[self.free[worst]]))
        self.mass = self.R.T @ (self.M @ self.R)
        self.tolerance = TIMES * precision(model.M)

    def flexibility(self, f: Array) -> Array:
        """K^- f, (ny,) or (ny, n)."""
        y = np.zeros(f.shape)
        y[self.free] = self.factor.solve(np.ascontiguousarray(f[self.free]))
        return y

    def held(self, C: Array) -> tuple[Space, Array]:
        """The body with C y = 0, and its deflections for a unit of each constraint, (ny, nc)."""
        nc = len(C)
        A, CR = self.flexibility(C.T), C @ self.R
        # Compliances are tiny in SI, or none where nothing strains: p is scaled so that both blocks are of one size.
        scale = 1.0 / (float(np.abs(C @ A).max()) or 1.0)
        system = np.zeros((nc + 6, nc + 6))
        system[:nc, :nc] = scale * (C @ A)
        system[:nc, nc:] = -CR
        system[nc:, :nc] = CR.T
        lu = linalg.lu_factor(system)

        def solve(f: Array, q: Array | float = 0.0) -> Array:
            y = self.flexibility(f)
            right = np.concatenate([C @ y - q, self.R.T @ f / scale])
            p, a = np.split(linalg.lu_solve(lu, right), [nc])
            out: Array = y - scale * (A @ p) + self.R @ a
            return out

        static = solve(np.zeros((self.K.shape[0], nc)), np.eye(nc))
        return Space(solve, C, self.K, self.M, self.tolerance), static

    def unsupported(self) -> Space:
        """The free body without its rigid motions."""
        MR = self.M @ self.R
        inverse = np.linalg.inv(self.mass)

        def solve(f: Array) -> Array:
            y = self.flexibility(f - MR @ (inverse @ (self.R.T @ f)))
            out: Array = y - self.R @ (inverse @ (MR.T @ y))
            return out

        return Space(solve, MR.T, self.K, self.M, self.tolerance)


def _check_parts(model: FeModel, coupled: Coupled) -> None:
    """Everything hangs together, node by node: the directions of a node need not."""
    # Mass too: it ties the modal coordinates of a superelement to its boundary.
    joint = sparse.coo_array((abs(coupled.K) > 0.0) + (abs(coupled.M) > 0.0))
    links = sparse.coo_array((np.ones(joint.nnz), (coupled.places[joint.row], coupled.places[joint.col])))
    count, part = csgraph.connected_components(links, directed=False)
    if count == 1:
        return
    nodes = model.dof_node[coupled.labels]
    some_of = [int(nodes[np.flatnonzero(part[coupled.places] == k)[0]]) for k in range(min(count, 5))]
    names = [str(model.node_ids[node]) if node >= 0 else "a generalized one" for node in some_of]
    found = f"{count} parts that nothing connects, e.g. at nodes {some(names, 5)}"
    cure = "merge the nodes where parts meet, tie them in the FE model, or export one part"
    refuse("file", "a body in one piece", found, cure)


def _refuse_mechanism(model: FeModel, dof: int | None) -> None:
    where = "" if dof is None else f", at {dof_name(model, dof)} or what it carries"
    found = f"a motion without stiffness besides the body's rigid motions{where}"
    cure = "look for hinges, loose parts, nodes on one bar or membrane only, and rotations that no element resists"
    refuse("file", "a stiffness matrix that resists all but rigid motions", found, cure)


def lowest(space: Space, count: int) -> tuple[Array, Array]:
    """The lowest modes: squared frequencies (k,), rising, and shapes (ny, k), mass-orthonormal.

    k is less than count if fewer have a finite frequency.
    """
    count = min(count, space.size)
    if count == 0:
        return np.zeros(0), np.zeros((space.K.shape[0], 0))
    # Beyond the wanted modes a few more make sure that none of a close group is missed.
    spare = count + max(4, count // 4)
    if space.K.shape[0] <= DENSE or spare > space.size // 2:
        shapes = _dense(space, count)
    else:
        shapes = _shift_invert(space, spare)
    k, m = (shapes.T @ (matrix @ shapes) for matrix in (space.K, space.M))
    squares, turn = linalg.eigh(k, m)
    return squares[:count], (shapes @ turn)[:, :count]


def _dense(space: Space, count: int) -> Array:
    """A basis of the lowest modes, from mu = 1/omega^2: M may have zeros, K restricted may not."""
    basis = linalg.null_space(space.C) if len(space.C) else np.eye(space.K.shape[0])
    k, m = (basis.T @ (matrix @ basis) for matrix in (space.K, space.M))
    mu, vectors = linalg.eigh(0.5 * (m + m.T), 0.5 * (k + k.T))
    shapes: Array = basis @ vectors
    shapes = shapes[:, with_mass(space.M, shapes, mu, space.tolerance)]
    return shapes[:, -min(count + 4, shapes.shape[1]) :]


def _shift_invert(space: Space, count: int) -> Array:
    n = space.K.shape[0]
    operator = sparse_linalg.LinearOperator((n, n), matvec=lambda f: space.solve(f.ravel()), dtype=np.float64)
    # A start that is the same every time, in the space of the solutions.
    start = space.solve(space.M @ np.random.default_rng(0).standard_normal(n))
    _, shapes = sparse_linalg.eigsh(space.K, count, space.M, sigma=0.0, OPinv=operator, v0=start)
    shapes = np.asarray(shapes, dtype=np.float64)
    mu = np.einsum("ik,ik->k", shapes, space.M @ shapes) / np.einsum("ik,ik->k", shapes, space.K @ shapes)
    shapes = shapes / np.sqrt(np.einsum("ik,ik->k", shapes, space.K @ shapes))
    return np.asarray(shapes[:, with_mass(space.M, shapes, mu, space.tolerance)])


def precision(matrix: Sparse) -> float:
    """Relative rounding of the entries of a matrix: of the fewest digits that all of them can be written with."""
    data = matrix.data[matrix.data != 0.0]
    data = data[:: max(1, data.size // LOOKED_AT)]
    if np.array_equal(data, data.astype(np.float32).astype(np.float64)):
        return 1e-7
    for digits in (7, 10, 13):
        if all(float(f"{x:.{digits - 1}e}") == x for x in data.tolist()):
            return float(10.0 ** (1 - digits))
    return 1e-15


def with_mass(M: Sparse, vectors: Array, mu: Array, tolerance: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which motions have mass; see the head of this file.

    Args:
        M: Mass.
        vectors: Motions, (ny, k).
        mu: v'Mv of each, at equal strain energy, (k,).
        tolerance: Some times the precision of the entries of M.
    """
    size = np.abs(vectors)
    terms = np.einsum("ik,ik->k", size, abs(M) @ size)
    return np.asarray((mu > tolerance * terms) & (mu > 1e-14 * mu.max(initial=0.0)))
