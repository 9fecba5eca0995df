"""Gains of the controller with a model inside, from the model linearized about the end of its move.

Feedback: the linear-quadratic regulator that spends least of

    integral of  u' M u + eta' K eta + b^2 e' M_hh e + tau' M_hh^-1 tau / b^2  over time,

energies all of them: motion, deflection, error of the hinges, and torque; b is the bandwidth. Correction: the Kalman
filter for white torques on all degrees of freedom and white errors of the measured angles and speeds. Both are for
samples with torques held in between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from bough.mechanism.mechanism import Mechanism
from bough.partners.misfit import Misfit, PartnerError

Array: TypeAlias = NDArray[np.float64]

NOISE_ANGLE = 1e-4
"""Error of a measured angle, rad: about a count of a 16-bit encoder."""
NOISE_SPEED = 1e-2
"""Error of a measured speed, rad/s."""
STEP_ANGLE = 0.7
"""Phase of the fastest mode over one step of the internal simulation, rad; RK4 is stable to 2.8."""
SUBSTEPS_MOST = 1000


@dataclass(frozen=True, eq=False)
class Gains:
    """What the controller computes with.

    Attributes:
        hinges: Places of the hinges in u.
        modes: Places of the modes in u.
        substeps: Steps of the internal simulation in a sample.
        flexibility: (m, m): inverse of the modal stiffness.
        feedback: (H, 2n): torque for a deviation of (q, u).
        correction: (2n, 2H): change of (q, u) for measured less predicted angles and speeds.
        poles: Of the closed loop, 1/s: first those of the feedback, then those of the correction.
    """

    hinges: tuple[int, ...]
    modes: tuple[int, ...]
    substeps: int
    flexibility: Array
    feedback: Array
    correction: Array
    poles: tuple[Array, Array]


def design(system: Mechanism, names: Sequence[str], end: Sequence[float], bandwidth: float, sample: float) -> Gains:
    """Make the gains.

    Args:
        system: The model.
        names: Its hinges' speeds.
        end: Angles about which to linearize, rad.
        bandwidth: How fast errors of the hinges are to vanish, rad/s.
        sample: Sample time, s.

    Raises:
        PartnerError: There are no such gains: modes without stiffness, or too fast for the sample time.
    """
    system.refuse_loops("the model-controller")
    n, hinges = system.nu, [system.u_names.index(name) for name in names]
    modes = [i for i in range(n) if i not in hinges]
    q, rest = system.initial_state()[0], np.zeros(n)
    q[hinges], q[modes] = end, 0.0
    space = system.linearize(q, rest, system.inverse_dynamics(q, rest, rest))
    A, M = space.A, system.mass_matrix(q)
    torques = {v.index: v.name for v in system.variables if v.kind == "tau"}
    B = space.B[:, [space.inputs.index(torques[i]) for i in hinges]]
    K = -(M @ A[n:, :n])
    stiffness = 0.5 * (K + K.T)[np.ix_(modes, modes)]
    if modes and np.linalg.eigvalsh(stiffness)[0] <= 0.0:
        raise _refusal("a mode of the model has no stiffness", "modes that resist", "leave it out of the model")
    fastest = float(np.abs(np.linalg.eigvals(A)).max())
    substeps = max(1, math.ceil(sample * fastest / STEP_ANGLE))
    if substeps > SUBSTEPS_MOST:
        found = f"the fastest mode, {fastest / 2 / math.pi:.3g} Hz, would take {substeps} internal steps a sample"
        cure = "leave the stiffest modes out of the model, or choose a shorter sample"
        raise _refusal(found, f"{SUBSTEPS_MOST} at most", cure)
    Ad, Bd = _held(A, B, sample)
    try:
        feedback = _feedback(Ad, Bd, M, stiffness, (hinges, modes), bandwidth, sample)
        correction = _correction(Ad, M, hinges, sample)
    except (np.linalg.LinAlgError, ValueError) as error:
        found = f"there are no gains for this model and sample time: {error}"
        raise _refusal(found, "a model that its hinges can control", "change the model or the sample") from None
    C = _measured(hinges, n)
    loops = (Ad - Bd @ feedback, (np.eye(2 * n) - correction @ C) @ Ad)
    poles = tuple(np.log(np.linalg.eigvals(loop).astype(complex)) / sample for loop in loops)
    flexibility = np.linalg.inv(stiffness) if modes else np.zeros((0, 0))
    return Gains(tuple(hinges), tuple(modes), substeps, flexibility, feedback, correction, (poles[0], poles[1]))


def _refusal(found: str, expected: str, cure: str) -> PartnerError:
    return PartnerError("model-controller", Misfit("model", found, expected, cure))


def _held(A: Array, B: Array, h: float) -> tuple[Array, Array]:
    """Transition over a sample with the input held."""
    n, m = B.shape
    both = np.zeros((n + m, n + m))
    both[:n, :n], both[:n, n:] = A, B
    E = scipy.linalg.expm(both * h)
    return E[:n, :n], E[:n, n:]


def _feedback(
    Ad: Array, Bd: Array, M: Array, stiffness: Array, places: tuple[list[int], list[int]], b: float, h: float
) -> Array:
    hinges, modes = places
    n, M_hh = M.shape[0], M[np.ix_(hinges, hinges)]
    Q = np.zeros((2 * n, 2 * n))
    Q[np.ix_(modes, modes)] = stiffness
    Q[np.ix_(hinges, hinges)] = b * b * M_hh
    Q[n:, n:] = M
    R = np.linalg.inv(M_hh) / (b * b)
    X = scipy.linalg.solve_discrete_are(Ad, Bd, h * Q, h * R)
    gain: Array = np.linalg.solve(h * R + Bd.T @ X @ Bd, Bd.T @ X @ Ad)
    return gain


def _correction(Ad: Array, M: Array, hinges: list[int], h: float) -> Array:
    n, count = M.shape[0], len(hinges)
    C, inverse = _measured(hinges, n), np.linalg.inv(M)
    W = np.zeros((2 * n, 2 * n))
    W[n:, n:] = h * inverse @ np.diag(np.diag(M)) @ inverse.T
    V = np.diag([NOISE_ANGLE**2] * count + [NOISE_SPEED**2] * count)
    P = scipy.linalg.solve_discrete_are(Ad.T, C.T, W, V)
    gain: Array = P @ C.T @ np.linalg.inv(C @ P @ C.T + V)
    return gain


def _measured(hinges: list[int], n: int) -> Array:
    """Angles, then speeds of the hinges, out of (q, u)."""
    C = np.zeros((2 * len(hinges), 2 * n))
    for i, j in enumerate(hinges):
        C[i, j] = C[len(hinges) + i, n + j] = 1.0
    return C
