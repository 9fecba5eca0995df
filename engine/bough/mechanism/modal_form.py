"""Linear models in modal form: frequency responses, poles and zeros that hold at any frequency.

A mechanism at rest has the states (x, v) with `xdot = v`, `vdot = -M^-1 K x - M^-1 C v + B w`. In A the entries of
M^-1 K reach the square of the highest frequency, and a solution with `s - A` loses as many digits between the slowest
motion and that. With `K Phi = M Phi Lambda`, `Phi' M Phi = 1`, x = Phi y,

    (s^2 + s Phi' C Phi + Lambda + E) y = Phi' M B w,                                              (1)

each mode keeps its own size. E is what of K is not symmetric (zero at rest). Rigid-body modes are found before the
eigenproblem, as the coordinates whose rows and columns of K are zero: their eigenvalues are exactly zero. The other
modes then follow from K and from M with the rigid motion eliminated, `M_ee - M_ez M_zz^-1 M_ze`.

A model of another structure (reduced, or about a hinge with a quaternion that turns) is solved as it is, balanced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig, eigh, eigvals, matrix_balance

if TYPE_CHECKING:
    from bough.mechanism.linearize import StateSpace

Array: TypeAlias = NDArray[np.float64]
Complex: TypeAlias = NDArray[np.complex128]

ROUND_OFF = 1e-12
"""Entry of a product of matrices over the product of their absolute values that is round-off of the sweeps."""
BEYOND = 1e4
"""Zeros over the largest pole that are zeros at infinity."""


class ModalForm:
    """A state space, ready to be evaluated.

    Attributes:
        second: Whether it has the form (1).
        shapes: Phi, (n, n), rigid-body modes first.
        stiffness: Diagonal of Lambda, 1/s2, (n,).
        rest: E, (n, n).
        damping: Phi' C Phi, 1/s, (n, n).
        forces: Phi' M B, (n, nw).
        rigid: Number of rigid-body modes.
    """

    def __init__(self, model: StateSpace) -> None:
        """Find the modes."""
        self.model = model
        self.second = _second_order(model)
        if self.second:
            self._find_modes()

    def _find_modes(self) -> None:
        model, M = self.model, self.model.mass
        if M is None:
            raise ValueError("mass")
        n = M.shape[0]
        A_x, A_v = model.A[n:, :n], model.A[n:, n:]
        K = _product(M, -A_x)
        symmetric = 0.5 * (K + K.T)
        self.shapes, self.stiffness, self.rigid = _modes(symmetric, M)
        Phi = self.shapes
        self.rest = _congruence(Phi, _flushed(K - symmetric, abs(K) + abs(K.T)))
        self.damping = _congruence(Phi, _product(M, -A_v))
        self.forces = Phi.T @ (M @ model.B[n:])

    @property
    def diagonal(self) -> bool:
        """Whether each mode moves on its own."""
        off = self.damping - np.diag(np.diag(self.damping))
        return not off.any() and not self.rest.any()

    def first_order(self) -> tuple[Array, Array, Array, Array]:
        """A, B, C, D in the states (y, ydot); the model's own if it has no modal form."""
        model = self.model
        if not self.second:
            return model.A, model.B, model.C, model.D
        n = self.stiffness.size
        A = np.zeros((2 * n, 2 * n))
        A[:n, n:] = np.eye(n)
        A[n:, :n], A[n:, n:] = -np.diag(self.stiffness) - self.rest, -self.damping
        B = np.vstack([np.zeros_like(self.forces), self.forces])
        C = np.hstack([model.C[:, :n] @ self.shapes, model.C[:, n:] @ self.shapes])
        return A, B, C, model.D

    def response(self, omega: Array) -> Complex:
        """Frequency response at omega, rad/s, (n, ny, nw)."""
        model = self.model
        out = np.empty((omega.size, *model.D.shape), dtype=np.complex128)
        if not self.second:
            A, (scale, _) = matrix_balance(model.A, permute=False, separate=True)
            B, C = model.B / scale[:, None], model.C * scale
            for i, w in enumerate(omega):
                out[i] = C @ np.linalg.solve(1j * w * np.eye(A.shape[0]) - A, B) + model.D
            return out
        n = self.stiffness.size
        C_x, C_v = model.C[:, :n] @ self.shapes, model.C[:, n:] @ self.shapes
        diagonal, c = self.diagonal, np.diag(self.damping)[:, None]
        for i, w in enumerate(omega):
            s = 1j * w
            if diagonal:
                y = self.forces / (s * s + s * c + self.stiffness[:, None])
            else:
                y = np.linalg.solve(np.diag(s * s + self.stiffness) + s * self.damping + self.rest, self.forces + 0j)
            out[i] = (C_x + s * C_v) @ y + model.D
        return out

    def poles(self) -> Complex:
        """Eigenvalues, slowest first."""
        if not self.second:
            found = np.asarray(eigvals(self.model.A), dtype=np.complex128)
        elif self.diagonal:
            c, k = np.diag(self.damping), self.stiffness
            root = np.sqrt((0.25 * c * c - k).astype(np.complex128))
            large = -0.5 * c - np.where(c < 0, -1.0, 1.0) * root
            # The product of both is k: no difference of near numbers.
            small = np.where(abs(large) > 0, k / np.where(abs(large) > 0, large, 1.0), 0.0)
            swings = abs(root.imag) > 0
            found = np.concatenate([large, np.where(swings, large.conj(), small)])
        else:
            A, *_ = self.first_order()
            r, n = self.rigid, self.stiffness.size
            rest = [*range(r, n), *range(n, 2 * n)]
            found = np.concatenate([np.zeros(r), _scaled_eigenvalues(A[np.ix_(rest, rest)])])
            if self.rest[:, :r].any():
                found = _scaled_eigenvalues(A)
        return found[np.lexsort((found.imag, abs(found).round(12)))]

    def zeros(self) -> Complex:
        """Finite zeros of a model with one input and one output: where the pencil [A - s, B; C, D] is singular."""
        A, B, C, D = self.first_order()
        if B.shape[1] != 1 or C.shape[0] != 1:
            raise ValueError("one input and one output")
        n = A.shape[0]
        scale = energy_scale(self) if self.second else np.ones(n)
        A, B, C = A * scale / scale[:, None], B / scale[:, None], C * scale
        largest = max(1.0, float(abs(np.asarray(eigvals(A))).max(initial=0.0)))
        size_b, size_c = float(abs(B).max(initial=0.0)) or 1.0, float(abs(C).max(initial=0.0)) or 1.0
        left = np.block([[A, B / size_b * largest], [C / size_c, D / (size_b * size_c) * largest]])
        right = np.zeros((n + 1, n + 1))
        right[:n, :n] = np.eye(n)
        a, b = eig(left, right, right=False, homogeneous_eigvals=True)
        finite = abs(b) * BEYOND * largest > abs(a)
        found = np.asarray(a[finite] / b[finite], dtype=np.complex128)
        return found[np.lexsort((found.imag, abs(found).round(12)))]


def _second_order(model: StateSpace) -> bool:
    if model.mass is None or not model.A.size:
        return False
    n = model.mass.shape[0]
    if model.A.shape[0] != 2 * n:
        return False
    kinematics = np.hstack([np.zeros((n, n)), np.eye(n)])
    return np.array_equal(model.A[:n], kinematics) and not model.B[:n].any()


def energy_scale(form: ModalForm) -> Array:
    """Factors that give deflections the size of speeds."""
    w = np.sqrt(abs(form.stiffness))
    return np.concatenate([1.0 / np.where(w > 0, w, 1.0), np.ones(w.size)])


def _scaled_eigenvalues(A: Array) -> Complex:
    balanced, _ = matrix_balance(A, permute=False)
    return np.asarray(eigvals(balanced), dtype=np.complex128)


def _flushed(a: Array, size: Array) -> Array:
    """Entries that are round-off of `size` set to zero."""
    return np.where(abs(a) <= ROUND_OFF * size, 0.0, a)


def _product(a: Array, b: Array) -> Array:
    return _flushed(a @ b, abs(a) @ abs(b))


def _congruence(shapes: Array, a: Array) -> Array:
    if not a.any():
        return np.zeros_like(a)
    return _flushed(shapes.T @ a @ shapes, abs(shapes.T) @ abs(a) @ abs(shapes))


def _modes(K: Array, M: Array) -> tuple[Array, Array, int]:
    """Phi and Lambda of K and M, rigid-body modes first, and their number."""
    n = K.shape[0]
    rigid = np.flatnonzero(~K.any(axis=1))
    bent = np.flatnonzero(K.any(axis=1))
    shapes, values = np.zeros((n, n)), np.zeros(n)
    r = rigid.size
    if r:
        L = np.linalg.cholesky(M[np.ix_(rigid, rigid)])
        shapes[rigid[:, None], np.arange(r)] = np.linalg.inv(L).T
    if bent.size:
        M_e: Array = M[np.ix_(bent, bent)]
        follow: Array = np.zeros((r, bent.size))
        if r:
            follow = -np.asarray(np.linalg.solve(M[np.ix_(rigid, rigid)], M[np.ix_(rigid, bent)]), dtype=np.float64)
            M_e = np.asarray(M_e + M[np.ix_(bent, rigid)] @ follow)
        values[r:], vectors = eigh(K[np.ix_(bent, bent)], 0.5 * (M_e + M_e.T))
        shapes[bent[:, None], np.arange(r, n)] = vectors
        shapes[rigid[:, None], np.arange(r, n)] = follow @ vectors
    return shapes, values, r


def pole_facts(poles: Complex) -> list[dict[str, float]]:
    """One row for each pole or pair: real and imaginary part, size (rad/s), frequency (Hz), damping ratio."""
    rows: list[dict[str, float]] = []
    for p in poles:
        if p.imag < 0:
            continue
        size = float(abs(p))
        row = {"real": float(p.real), "imag": float(p.imag), "omega": size, "hertz": size / (2.0 * np.pi)}
        rows.append(row | {"damping": float(-p.real / size) if size else 1.0})
    return rows


def frequencies(poles: Complex, low: float | None = None, high: float | None = None, count: int = 400) -> Array:
    """Frequencies for a picture, rad/s: evenly spaced in decades, closer by every resonance, so that no peak is missed.

    Args:
        poles: rad/s.
        low: First frequency; by default a tenth of the slowest pole that moves.
        high: Last frequency; by default ten times the fastest.
        count: Number of evenly spaced ones.
    """
    sizes = abs(poles)[abs(poles) > 1e-9 * abs(poles).max(initial=0.0)]
    first = low if low is not None else (0.1 * float(sizes.min()) if sizes.size else 0.01)
    last = high if high is not None else (10.0 * float(sizes.max()) if sizes.size else 100.0)
    out = [np.geomspace(first, last, count)]
    for p in poles:
        if p.imag > 0 and first < p.imag < last:
            width = max(abs(p.real), 1e-6 * p.imag)
            steps = width * np.geomspace(0.03, 30.0, 16)
            out.append(p.imag + np.concatenate([-steps[::-1], [0.0] if p.real else [], steps]))
    joined = np.unique(np.concatenate(out))
    return np.asarray(joined[(joined >= first) & (joined <= last)])
