"""Gains of the controller with a model inside, from the model linearized about a pose.

Feedback: the linear-quadratic regulator that spends least of

    integral of  u' M u + eta' K eta + b^2 e' M_hh e + tau' M_hh^-1 tau / b^2  over time,

energies all of them: motion, deflection, error of the hinges, and torque; b is the bandwidth. With integral action z,
the integral of e over time, is one more error: c^2 b^2 z' M_hh z, c its rate. Correction: the Kalman filter for white
torques on all degrees of freedom and white errors of the measured angles and speeds. Both are for samples with
torques held in between.

A floating base that nothing drives is eliminated: without gravity, and with zero momentum, the others' linear model
has no term of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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


@dataclass(frozen=True, eq=False)
class Plant:
    """What is controlled: places among the n degrees of freedom that the controller looks at.

    Attributes:
        system: The model.
        hinges: Places of the hinges' speeds in u, less the base's.
        modes: Places of the modes.
        base: Speeds of a floating base, the first in u: 6, or 0 without one.
    """

    system: Mechanism
    hinges: tuple[int, ...]
    modes: tuple[int, ...]
    base: int = 0

    @property
    def n(self) -> int:
        """Degrees of freedom that the controller looks at."""
        return self.system.nu - self.base

    @property
    def base_q(self) -> int:
        """Positions of the base, the first in q."""
        return self.system.nq - self.n


@dataclass(frozen=True, eq=False)
class Gains:
    """What the controller computes with.

    Attributes:
        pose: Angles of the hinges about which the model was linearized, rad.
        flexibility: (m, m): inverse of the modal stiffness.
        feedback: (H, 2n): torque for a deviation of (q, u).
        correction: (2n, 2H): change of (q, u) for measured less predicted angles and speeds.
        integral: (H, H): torque for the integral of the hinges' error.
        closed: (n, 2n): accelerations for a deviation of (q, u) in the closed loop, without its integral.
        weights: (n,): of differences of accelerations, hinges first.
        fastest: Greatest pole of the model, 1/s.
        poles: Of the closed loop, 1/s: first those of the feedback, then those of the correction.
    """

    pose: Array
    flexibility: Array
    feedback: Array
    correction: Array
    integral: Array
    closed: Array
    weights: Array
    fastest: float
    poles: tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Linear:
    """The model near a pose: `xdot = A x + B tau`, its mass matrix, modal stiffness, and both over a sample."""

    A: Array
    B: Array
    M: Array
    stiffness: Array
    Ad: Array
    Bd: Array


def plant_of(system: Mechanism, names: Sequence[str], base: int = 0) -> Plant:
    """Places of the hinges with these names of speeds, and of the modes."""
    hinges = tuple(system.u_names.index(name) - base for name in names)
    return Plant(system, hinges, tuple(i for i in range(system.nu - base) if i not in hinges), base)


def linear(plant: Plant, pose: Sequence[float] | Array, sample: float) -> Linear:
    """The linear model at rest in a pose, held there against gravity.

    Raises:
        PartnerError: A mode has no stiffness.
    """
    system, n, b = plant.system, plant.n, plant.base
    system.refuse_loops("the model-controller")
    q, rest = system.initial_state()[0], np.zeros(system.nu)
    if b:
        q[: plant.base_q] = [0.0] * (plant.base_q - 1) + [1.0]
    q[[plant.base_q + j for j in plant.hinges]], q[[plant.base_q + j for j in plant.modes]] = pose, 0.0
    space = system.linearize(q, rest, system.inverse_dynamics(q, rest, rest))
    kept = [*range(plant.base_q, system.nq), *range(system.nq + b, system.nq + system.nu)]
    A, M = space.A[np.ix_(kept, kept)], system.mass_matrix(q)
    if b:
        M = M[b:, b:] - M[b:, :b] @ np.linalg.solve(M[:b, :b], M[:b, b:])
    torques = {v.index: v.name for v in system.variables if v.kind == "tau"}
    B = space.B[np.ix_(kept, [space.inputs.index(torques[b + i]) for i in plant.hinges])]
    K = -(M @ A[n:, :n])
    modes = list(plant.modes)
    stiffness = 0.5 * (K + K.T)[np.ix_(modes, modes)]
    if modes and np.linalg.eigvalsh(stiffness)[0] <= 0.0:
        raise _refusal("a mode of the model has no stiffness", "modes that resist", "leave it out of the model")
    return Linear(A, B, M, stiffness, *_held(A, B, sample))


def design(
    plant: Plant, pose: Sequence[float] | Array, bandwidth: float, sample: float, integral: float = 0.0
) -> Gains:
    """Make the gains for a pose.

    Args:
        plant: The model.
        pose: Angles about which to linearize, rad (m for translations).
        bandwidth: How fast errors of the hinges are to vanish, rad/s.
        sample: Sample time, s.
        integral: How fast the integral of the hinges' error is to vanish, 1/s; 0: there is none.

    Raises:
        PartnerError: There are no such gains: modes without stiffness, or hinges that do not control the model.
    """
    at, n, H = linear(plant, pose, sample), plant.n, len(plant.hinges)
    try:
        feedback, of_integral = _feedback(at, plant, bandwidth, sample, integral)
        correction = _correction(at, plant, sample)
    except (np.linalg.LinAlgError, ValueError) as error:
        found = f"there are no gains for this model and sample time: {error}"
        raise _refusal(found, "a model that its hinges can control", "change the model or the sample") from None
    flexibility = np.zeros((0, 0))
    if plant.modes:
        flexibility = np.array(np.linalg.inv(at.stiffness), dtype=np.float64)
    places = [*plant.hinges, *plant.modes]
    weights = np.diag(at.M)[places]
    weights[H:] *= (bandwidth**2 / (bandwidth**2 + np.diag(at.stiffness) / weights[H:])) ** 2
    gains = Gains(
        np.array(pose, dtype=float),
        flexibility,
        feedback,
        correction,
        of_integral,
        (at.A - at.B @ feedback)[n:],
        weights,
        float(np.abs(np.linalg.eigvals(at.A)).max()),
        (np.zeros(0), np.zeros(0)),
    )
    poles = tuple(np.log(np.linalg.eigvals(loop).astype(complex)) / sample for loop in loops(at, plant, gains, sample))
    return replace(gains, poles=(poles[0], poles[1]))


def loops(at: Linear, plant: Plant, gains: Gains, sample: float) -> tuple[Array, Array]:
    """Transitions over a sample: of the model under feedback of its own state (and integral), of the estimate's error.

    The model inside is the mechanism's own, so that the closed loop has the eigenvalues of the two.
    """
    n, H, C = plant.n, len(plant.hinges), _measured(plant)
    fed = at.Ad - at.Bd @ gains.feedback
    if gains.integral.any():
        # the integral takes the error of a sample before it acts: z+ = z + h C x, tau = -K x - K_z z+
        z = sample * C[:H]
        top = np.hstack([fed - at.Bd @ gains.integral @ z, -at.Bd @ gains.integral])
        fed = np.vstack([top, np.hstack([z, np.eye(H)])])
    return fed, (np.eye(2 * n) - gains.correction @ C) @ at.Ad


def _refusal(found: str, expected: str, cure: str) -> PartnerError:
    return PartnerError("model-controller", Misfit("model", found, expected, cure))


def _held(A: Array, B: Array, h: float) -> tuple[Array, Array]:
    """Transition over a sample with the input held."""
    n, m = B.shape
    both = np.zeros((n + m, n + m))
    both[:n, :n], both[:n, n:] = A, B
    E = scipy.linalg.expm(both * h)
    return E[:n, :n], E[:n, n:]


def _feedback(at: Linear, plant: Plant, b: float, h: float, c: float) -> tuple[Array, Array]:
    """Gains on the state and on the integral of the hinges' error."""
    hinges, modes, n, H = list(plant.hinges), list(plant.modes), plant.n, len(plant.hinges)
    M_hh = at.M[np.ix_(hinges, hinges)]
    Q = np.zeros((2 * n, 2 * n))
    Q[np.ix_(modes, modes)] = at.stiffness
    Q[np.ix_(hinges, hinges)] = b * b * M_hh
    Q[n:, n:] = at.M
    R = np.linalg.inv(M_hh) / (b * b)
    Ad, Bd = at.Ad, at.Bd
    if c:
        z = h * _measured(plant)[:H]
        Ad = np.block([[Ad, np.zeros((2 * n, H))], [z, np.eye(H)]])
        Bd = np.vstack([Bd, np.zeros((H, H))])
        Q = scipy.linalg.block_diag(Q, (c * b) ** 2 * M_hh)
    X = scipy.linalg.solve_discrete_are(Ad, Bd, h * Q, h * R)
    gain: Array = np.linalg.solve(h * R + Bd.T @ X @ Bd, Bd.T @ X @ Ad)
    if not c:
        return gain, np.zeros((H, H))
    # the design has z before the sample's own error, the law after it
    return gain[:, : 2 * n] - gain[:, 2 * n :] @ z, gain[:, 2 * n :]


def _correction(at: Linear, plant: Plant, h: float) -> Array:
    n, count = plant.n, len(plant.hinges)
    C, inverse = _measured(plant), np.linalg.inv(at.M)
    W = np.zeros((2 * n, 2 * n))
    W[n:, n:] = h * inverse @ np.diag(np.diag(at.M)) @ inverse.T
    V = np.diag([NOISE_ANGLE**2] * count + [NOISE_SPEED**2] * count)
    P = scipy.linalg.solve_discrete_are(at.Ad.T, C.T, W, V)
    gain: Array = P @ C.T @ np.linalg.inv(C @ P @ C.T + V)
    return gain


def _measured(plant: Plant) -> Array:
    """Angles, then speeds of the hinges, out of (q, u)."""
    n, H = plant.n, len(plant.hinges)
    C = np.zeros((2 * H, 2 * n))
    for i, j in enumerate(plant.hinges):
        C[i, j] = C[H + i, n + j] = 1.0
    return C
