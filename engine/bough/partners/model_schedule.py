"""Gains along a move, and the check that the closed loop is stable all the way.

The inertia of an arm may change tenfold along a move: gains of its end may make its start unstable. So gains are made
at stations along the move and interpolated in between, where the closed loop of the sampled linear model is checked:
stations are added until it is stable everywhere, with at least half the damping of gains made for the very pose.
Where that does not help the move is refused. How far off the move the loop stays stable is measured, too: beyond, the
controller warns at run time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.partners.misfit import Misfit, PartnerError
from bough.partners.model_design import Gains, Linear, Plant, design, linear, loops

Array: TypeAlias = NDArray[np.float64]
Way: TypeAlias = Callable[[float], Array]
"""Angles of the hinges, rad (m for translations), for a part of the move from 0 to 1."""

APART = 0.4
"""Stations are at most so far apart, rad or m, in any hinge."""
STATIONS_MOST = 65
FRACTION = 0.5
"""Of the decay rate that gains made for a pose have, interpolated ones keep this at least."""
REACHES = (1.0, 0.5, 0.25, 0.1, 0.03)
"""Distances from the move, rad or m, at which stability is tried."""
STEP_ANGLE = 0.7
"""Phase of the fastest mode over one step of the internal simulation, rad; RK4 is stable to 2.8."""
SUBSTEPS_MOST = 1000


@dataclass(frozen=True, eq=False)
class Schedule:
    """Gains along a move.

    Attributes:
        plant: The model.
        stations: Gains of poses along the move, in order.
        substeps: Steps of the internal simulation in a sample.
        reach: How far from the move the loop is stable, rad or m.
    """

    plant: Plant
    stations: tuple[Gains, ...]
    substeps: int
    reach: float


def schedule(plant: Plant, way: Way, bandwidth: float, sample: float, integral: float = 0.0) -> Schedule:
    """Make the gains along a move.

    Args:
        plant: The model.
        way: The move.
        bandwidth: How fast errors of the hinges are to vanish, rad/s.
        sample: Sample time, s.
        integral: How fast the integral of the hinges' error is to vanish, 1/s; 0: there is none.

    Raises:
        PartnerError: The closed loop is unstable somewhere along the move, or there are no such gains.
    """

    def make(s: float) -> Gains:
        return design(plant, way(s), bandwidth, sample, integral)

    parts = _parts(way)
    stations = {s: make(s) for s in parts}
    left = list(zip(parts, parts[1:], strict=False))
    while left:
        a, b = left.pop()
        middle = 0.5 * (a + b)
        between = mix(stations[a], stations[b], way(middle))
        at, fresh = linear(plant, way(middle), sample), make(middle)
        if _decay(at, plant, between, sample) >= FRACTION * _decay(at, plant, fresh, sample):
            continue
        if len(stations) < STATIONS_MOST:
            stations[middle] = fresh
            left += [(a, middle), (middle, b)]
    _check_all(plant, way, stations, sample)
    ordered = tuple(stations[s] for s in sorted(stations))
    fastest = max(g.fastest for g in ordered)
    return Schedule(plant, ordered, _substeps(fastest, sample), _reach(plant, ordered, sample))


def mix(a: Gains, b: Gains, pose: Array) -> Gains:
    """Gains between two stations, as the controller interpolates them for a pose on the line between."""
    way = b.pose - a.pose
    length = float(way @ way)
    s = min(max(float((pose - a.pose) @ way) / length, 0.0), 1.0) if length else 0.0
    names = ("pose", "flexibility", "feedback", "correction", "integral", "closed", "weights")
    mixed = {name: getattr(a, name) + s * (getattr(b, name) - getattr(a, name)) for name in names}
    return Gains(**mixed, fastest=max(a.fastest, b.fastest), poles=a.poles)


def _parts(way: Way) -> list[float]:
    """Where stations stand at first."""
    poses = np.array([way(s) for s in np.linspace(0.0, 1.0, 65)])
    far = float(np.abs(np.diff(poses, axis=0)).sum(axis=0).max())
    if far == 0.0:
        return [0.0]
    count = min(STATIONS_MOST // 2, max(2, math.ceil(far / APART)))
    return [k / count for k in range(count + 1)]


def _decay(at: Linear, plant: Plant, gains: Gains, sample: float) -> float:
    """Decay rate of the slowest motion of the closed loop, 1/s; negative where it grows."""
    radius = max(float(np.abs(np.linalg.eigvals(loop)).max()) for loop in loops(at, plant, gains, sample))
    return -math.log(radius) / sample


def _check_all(plant: Plant, way: Way, stations: Mapping[float, Gains], sample: float) -> None:
    """Refuse a move if the loop is unstable at a station, or at a quarter, half or three quarters between two."""
    parts = sorted(stations)
    for a, b in zip(parts, parts[1:] or parts, strict=False):
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            s = a + share * (b - a)
            gains = mix(stations[a], stations[b], way(s))
            _check_stable(linear(plant, way(s), sample), plant, replace(gains, pose=way(s)), sample, s)


def _check_stable(at: Linear, plant: Plant, gains: Gains, sample: float, part: float) -> None:
    for what, loop in zip(("feedback", "estimate"), loops(at, plant, gains, sample), strict=True):
        eigenvalues = np.linalg.eigvals(loop)
        worst = eigenvalues[np.abs(eigenvalues).argmax()]
        if abs(worst) >= 1.0:
            pole = complex(np.log(complex(worst)) / sample)
            pose = ", ".join(f"{x:.4g}" for x in gains.pose)
            found = (
                f"the closed loop ({what}) is unstable {100 * part:.3g} % of the way, at the pose ({pose}): an "
                f"eigenvalue of the sampled system is {worst:.6g}, that is {pole:.4g} 1/s"
            )
            cure = "a shorter move, a lower bandwidth, or a shorter sample"
            raise PartnerError(
                "model-controller", Misfit("model", found, "a loop that is stable all along the move", cure)
            )


def _reach(plant: Plant, stations: Sequence[Gains], sample: float) -> float:
    """Greatest of REACHES at which the loop is stable with one hinge off the first, a middle and the last station."""
    some = {id(g): g for g in (stations[0], stations[len(stations) // 2], stations[-1])}
    for reach in REACHES:
        if all(
            _decay(linear(plant, g.pose + sign * reach * axis, sample), plant, g, sample) > 0.0
            for g in some.values()
            for axis in np.eye(g.pose.size)
            for sign in (-1.0, 1.0)
        ):
            return reach
    return 0.0


def _substeps(fastest: float, sample: float) -> int:
    substeps = max(1, math.ceil(sample * fastest / STEP_ANGLE))
    if substeps > SUBSTEPS_MOST:
        found = f"the fastest mode, {fastest / 2 / math.pi:.3g} Hz, would take {substeps} internal steps a sample"
        cure = "leave the stiffest modes out of the model, or choose a shorter sample"
        raise PartnerError("model-controller", Misfit("model", found, f"{SUBSTEPS_MOST} at most", cure))
    return substeps
