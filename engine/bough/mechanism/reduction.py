"""Smaller linear models that keep rigid-body modes exactly, with a bound on what the rest loses.

In modal form (modal_form.py) the coordinates of rigid-body modes act on nothing. They are split off, with their speeds
where no damping acts on these, as the part R; the rest S is stable if every other motion is damped. `A_RS` couples S
into R, and a change of variables `x_R = z + X x_S` with `A_R X - X A_S + A_RS = 0` removes it. R is kept as it is.

Balanced truncation of S: the error is at most twice the sum of the Hankel singular values left out (Glover 1984, Enns
1984). Modal truncation of S with static correction: each mode left out is replaced by its value at zero frequency, and
the error of a pole p with residue R is `R jw / (p (jw - p))`. Both bounds are on the largest singular
value of the error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig, solve_continuous_lyapunov, solve_sylvester

from bough.errors import ArgumentError, SimulationError
from bough.mechanism.linearize import StateSpace
from bough.mechanism.modal_form import ModalForm, energy_scale

Array: TypeAlias = NDArray[np.float64]
Method: TypeAlias = Literal["balanced", "modal"]

UNDAMPED = 1e-12
"""Real part of a pole over its size that is none."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """A reduced model and what is known of its error.

    Attributes:
        model: The reduced state space; states are named `rigid 1`, ... and `reduced 1`, ...
        bound: The largest singular value of the difference of frequency responses is nowhere larger, up to `up_to`; SI
            units of outputs per inputs.
        up_to: rad/s; infinite for balanced truncation.
        rigid: States of rigid-body modes, which are exact.
        values: What decided: Hankel singular values of the stable part, or sizes of its poles, rad/s.
    """

    model: StateSpace
    bound: float
    up_to: float
    rigid: int
    values: Array


def reduce(model: StateSpace, states: int, method: Method = "balanced", *, up_to: float = np.inf) -> Reduced:
    """Reduce a minimal linear model to a number of states beside those of its rigid-body modes.

    Args:
        model: From `linearize(..., minimal=True)`, with the inputs and outputs that matter.
        states: States to keep of the part that is not rigid; a pair of poles is not split by `modal`.
        method: "balanced", or "modal" with static correction, exact at zero frequency.
        up_to: Highest frequency that the bound of `modal` is for, rad/s.

    Raises:
        ArgumentError: The model has no modal form, or the number does not fit.
        SimulationError: A motion that is not rigid is undamped or unstable.
    """
    if method not in ("balanced", "modal"):
        raise ArgumentError(f"method: expected 'balanced' or 'modal', found {method!r}")
    form = ModalForm(model)
    if not form.second:
        raise ArgumentError("only minimal models of mechanisms at rest can be reduced: linearize(..., minimal=True)")
    rigid, stable = _split(form)
    A_s, B_s, C_s, _ = stable
    n = A_s.shape[0]
    if not 0 <= states <= n:
        raise ArgumentError(f"states: expected 0 to {n} beside {rigid[0].shape[0]} of rigid-body modes, found {states}")
    _check_damped(A_s, "balanced" if method == "balanced" else f"modal up to {up_to:g} rad/s", up_to)
    if method == "balanced":
        (A, B, C, D), bound, values = _balanced(A_s, B_s, C_s, states)
        up_to = np.inf
    else:
        (A, B, C, D), bound, values = _modal(A_s, B_s, C_s, states, up_to)
    A_r, B_r, C_r, D_r = rigid
    r, k = A_r.shape[0], A.shape[0]
    whole = np.zeros((r + k, r + k))
    whole[:r, :r], whole[r:, r:] = A_r, A
    names = (*(f"rigid {i + 1}" for i in range(r)), *(f"reduced {i + 1}" for i in range(k)))
    small = replace(model, A=whole, B=np.vstack([B_r, B]), C=np.hstack([C_r, C]), D=D_r + D, states=names, mass=None)
    return Reduced(small, bound, up_to, r, values)


_Four: TypeAlias = tuple[Array, Array, Array, Array]


def _split(form: ModalForm) -> tuple[_Four, _Four]:
    """The rigid part R and the rest S, uncoupled, S in the scale of energies."""
    A, B, C, D = form.first_order()
    n, r = form.stiffness.size, form.rigid
    scale = energy_scale(form)
    A, B, C = A * scale / scale[:, None], B / scale[:, None], C * scale
    acting = (form.damping != 0) | (form.damping.T != 0) | (form.rest != 0)
    coupled = np.any(acting, axis=1)
    R = [*range(r), *(n + i for i in range(r) if not coupled[i])]
    if form.rest[:, :r].any():
        raise SimulationError("forces that hold the position act on rigid-body modes: choose a position in equilibrium")
    S = [i for i in range(2 * n) if i not in set(R)]
    A_r, A_s, A_rs = A[np.ix_(R, R)], A[np.ix_(S, S)], A[np.ix_(R, S)]
    X = np.zeros_like(A_rs)
    if A_rs.any():
        _check_damped(A_s, "splitting off rigid-body modes that dampers act on", np.inf)
        X = np.asarray(solve_sylvester(A_r, -A_s, -A_rs), dtype=np.float64)
    return (A_r, B[R] - X @ B[S], C[:, R], D), (A_s, B[S], C[:, S] + C[:, R] @ X, np.zeros_like(D))


def _check_damped(A: Array, what: str, up_to: float) -> None:
    poles = np.linalg.eigvals(A) if A.size else np.zeros(0)
    if np.isfinite(up_to) and not np.any(poles.real > UNDAMPED * abs(poles)):
        return
    bad = poles[poles.real >= -UNDAMPED * abs(poles)]
    if bad.size:
        raise SimulationError(
            f"{what} needs damped motions, but the one at {float(abs(bad[0])):.5g} rad/s is not: give modes and "
            "springs damping, or take method 'modal' with a band up_to"
        )


def _root(gramian: Array) -> Array:
    values, vectors = np.linalg.eigh(0.5 * (gramian + gramian.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _balanced(A: Array, B: Array, C: Array, k: int) -> tuple[_Four, float, Array]:
    """Square-root balanced truncation to k states."""
    D = np.zeros((C.shape[0], B.shape[1]))
    if not A.size:
        return (A, B, C, D), 0.0, np.zeros(0)
    reach, see = _root(solve_continuous_lyapunov(A, -B @ B.T)), _root(solve_continuous_lyapunov(A.T, -C.T @ C))
    U, values, Vt = np.linalg.svd(see.T @ reach)
    k = min(k, int(np.sum(values > 1e-14 * values[0])))
    scale = 1.0 / np.sqrt(values[:k])
    left, right = scale[:, None] * (see @ U[:, :k]).T, (reach @ Vt[:k].T) * scale
    return (left @ A @ right, left @ B, C @ right, D), float(2.0 * values[k:].sum()), values


def _modal(A: Array, B: Array, C: Array, k: int, up_to: float) -> tuple[_Four, float, Array]:
    """The k slowest poles, and the others at zero frequency."""
    values, vectors = eig(A) if A.size else (np.zeros(0, complex), np.zeros((0, 0), complex))
    order = np.lexsort((values.imag, abs(values).round(9)))
    values, vectors = values[order], vectors[:, order]
    if 0 < k < values.size and values[k - 1].imag != 0 and np.isclose(values[k], values[k - 1].conj(), rtol=1e-9):
        k += 1
    b = np.asarray(np.linalg.solve(vectors, B + 0j), dtype=np.complex128)
    c = C @ vectors
    bound, D = 0.0, np.zeros((C.shape[0], B.shape[1]), dtype=complex)
    for i in range(k, values.size):
        p, residue = values[i], np.outer(c[:, i], b[i])
        D -= residue / p
        bound += float(np.linalg.norm(c[:, i]) * np.linalg.norm(b[i])) * _worst(p, up_to) / abs(p)
    small = _real_blocks(values[:k], b[:k], c[:, :k])
    return (*small, D.real), bound, abs(values)


def _worst(p: complex, up_to: float) -> float:
    """Largest |w / (jw - p)| for |w| up to a frequency: it peaks at |p|^2 / |Im p|, with |p| / |Re p|."""
    peak = abs(p) ** 2 / abs(p.imag) if p.imag else np.inf
    if up_to >= peak:
        return float(abs(p) / abs(p.real)) if p.real else np.inf
    if not np.isfinite(up_to):
        return 1.0
    return float(up_to / min(abs(1j * up_to - p), abs(1j * up_to + p)))


def _real_blocks(
    values: NDArray[np.complex128], b: NDArray[np.complex128], c: NDArray[np.complex128]
) -> tuple[Array, Array, Array]:
    """A diagonal complex realization in real blocks: z = sqrt(2) (Re, Im) of a pair."""
    n = values.size
    change = np.zeros((n, n), dtype=complex)
    i = 0
    while i < n:
        if values[i].imag != 0 and i + 1 < n:
            change[i : i + 2, i : i + 2] = np.array([[1, -1j], [1, 1j]]) / np.sqrt(2)
            # The second of a pair takes the conjugate of the first: eig gives vectors of any phase.
            b[i + 1], c[:, i + 1], values[i + 1] = b[i].conj(), c[:, i].conj(), values[i].conj()
            i += 2
        else:
            change[i, i] = 1.0
            i += 1
    back = change.conj().T
    return (back @ np.diag(values) @ change).real, (back @ b).real, (c @ change).real
