"""Positions and speeds that close loops and couplings, from those that the file writes.

Gauss-Newton steps of least norm on the free coordinates, each shortened until it brings the residual down, and at most
half a radian or half a metre. Modes rest first; where that does not close, they may move. From a position where
Gauss-Newton stops (a linkage drawn flat), or whose closing is beyond the limits of a hinge, it tries again from places
near by. What the file writes moves only if none of this closes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.mechanism.kernel_calls import Array

CLOSED = 1e-11
"""m, rad: a residual below is rounding; the kernel's projection takes the rest off."""
TRIES = 12
STEPS = 60

Mask = NDArray[np.bool_]
Equations = Callable[[Array], tuple[Array, Array]]
"""Residuals g (rows,) and J (rows, nu) at positions q."""
Move = Callable[[Array, Array], Array]
"""Positions q moved by a displacement in the coordinates of the speeds."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """Where an attempt ended: positions, and the largest residual left."""

    q: Array
    left: float


def _solve(q: Array, free: Mask, equations: Equations, move: Move) -> Attempt:
    """Gauss-Newton with step control on the free coordinates."""
    g, J = equations(q)
    left = float(np.abs(g).max(initial=0.0))
    for _ in range(STEPS):
        if left < CLOSED:
            break
        step = np.zeros(J.shape[1])
        step[free] = -np.linalg.lstsq(J[:, free], g, rcond=1e-9)[0] if free.any() else 0.0
        longest = float(np.abs(step).max(initial=0.0))
        if not 0.0 < longest < 1e30:
            break
        step *= min(1.0, 0.5 / longest)
        for _ in range(30):
            trial = move(q, step)
            g_new, J_new = equations(trial)
            if np.linalg.norm(g_new) < np.linalg.norm(g) * (1.0 - 1e-4):
                break
            step *= 0.5
        else:
            break
        q, g, J = trial, g_new, J_new
        left = float(np.abs(g).max())
    return Attempt(q, left)


def close_positions(
    q: Array, wishes: list[list[Mask]], equations: Equations, move: Move, allowed: Callable[[Array], bool]
) -> Attempt:
    """The first attempt that closes where it is allowed.

    Wishes come in order: each is a list of choices of free coordinates, tried from q and from places near by.
    If there is none: the first attempt that closes elsewhere, else the one that leaves least.
    """
    best = Attempt(q, float(np.abs(equations(q)[0]).max(initial=0.0)))
    for choices in wishes:
        for start in _starts(q, choices[-1], move):
            for free in choices:
                attempt = _solve(start(free), free, equations, move)
                if attempt.left < CLOSED and allowed(attempt.q):
                    return attempt
                if attempt.left < best.left and best.left >= CLOSED:
                    best = attempt
    return best


def _starts(q: Array, widest: Mask, move: Move) -> Iterator[Callable[[Mask], Array]]:
    """The drawn position, then others around it, the same ones every time."""
    random = np.random.default_rng(14)
    yield lambda free: q
    for i in range(TRIES):
        shift = random.normal(size=widest.size) * 0.1 * (1 + i)
        yield lambda free, shift=shift: move(q, np.where(free, shift, 0.0))  # type: ignore[misc]


def close_speeds(u: Array, J: Array, choices: list[Mask]) -> tuple[Array, float]:
    """Speeds with J u = 0 nearest to those given, over choices of free ones; what is left, m/s or rad/s."""
    left = float(np.abs(J @ u).max(initial=0.0))
    for free in choices:
        if left < CLOSED:
            return u, left
        change = np.zeros_like(u)
        change[free] = -np.linalg.lstsq(J[:, free], J @ u, rcond=1e-9)[0] if free.any() else 0.0
        after = float(np.abs(J @ (u + change)).max(initial=0.0))
        if after < CLOSED * max(1.0, float(np.abs(u + change).max(initial=0.0))):
            return u + change, after
    return u, left
