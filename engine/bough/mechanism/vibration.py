"""Vibrations of a whole mechanism about a position at rest, or about steady rotation.

With x a small motion in the directions of the free speeds, the forces that the motion takes are

    M xdd + C xd + K x,     C = d inverse_dynamics / du,     K = d inverse_dynamics / dq,                 (1)

at the speeds u of the hinges that spin, with exact derivatives. Springs, dampers, elasticity, gravity, the momentum of
embedded wheels and, in rotation, Coriolis and centrifugal forces are all in it. Driven and locked hinges are held, and
hinges that spin keep their speed. Frequencies in rotation are those that an observer sees who turns along.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eig

from bough.errors import ArgumentError, SimulationError, choices
from bough.flex import flex_body
from bough.mechanism import kernel
from bough.mechanism.equilibrium import equilibrium, spinning
from bough.mechanism.independent import independent
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.steady_limits import SteadyLimits
from bough.model import Model

Array: TypeAlias = NDArray[np.float64]

STILL = 2 * np.pi * 1e-4
"""Slower than this, rad/s, is a motion that nothing holds back: round-off splits double zeros."""
SINGULAR = 1e-13
"""Smallest eigenvalue of a mass matrix with ones on its diagonal that is more than round-off."""
MOST = 2000
"""Degrees of freedom beyond which a dense eigenproblem takes too long."""


@dataclass(frozen=True)
class Vibration:
    """One eigenvalue of the linearised mechanism, or a pair of them.

    Attributes:
        kind: 'vibration', 'decay' (does not swing) or 'unstable' (grows).
        frequency: |lambda| / 2 pi, Hz; undamped natural frequency of a vibration.
        damping: -Re(lambda) / |lambda|: ratio of critical damping; negative if it grows.
        moves: Speeds that carry most of the kinetic energy, with their share.
        shape: Small motion in the directions of all speeds, at the moment when it is largest, (nu,).
    """

    kind: str
    frequency: float
    damping: float
    moves: tuple[tuple[str, float], ...]
    shape: Array = field(compare=False, repr=False)


@dataclass(frozen=True)
class Vibrations:
    """All of them, slowest first.

    Attributes:
        modes: Everything that springs, elasticity, gravity, damping or wheels act upon.
        unsprung: Number of independent motions without stiffness: rigid motions.
        free: Those of them that nothing else acts upon either, no damping and no wheel: they are not among the modes.
        imbalance: Name and size of the largest force that holding the position takes, N.m or N.
        mode_names: What the modes of flexible bodies are called, by their speeds: `torsion 1` for `boom.eta_dot[5]`.
    """

    modes: tuple[Vibration, ...]
    unsprung: int
    free: int
    imbalance: tuple[str, float]
    mode_names: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def frequencies(self) -> Array:
        """Of all motions that swing, Hz, ascending."""
        return np.array([mode.frequency for mode in self.modes if mode.kind != "decay"])


def modes(
    model: Model | Mechanism | str | os.PathLike[str] | Mapping[str, Any],
    at: Mapping[str, float] | None = None,
    spin: Mapping[str, float] | None = None,
    *,
    settle: bool = False,
    loads: Mapping[str, ArrayLike] | None = None,
) -> Vibrations:
    """Natural frequencies, damping and shapes of a whole mechanism about a position at rest, or while hinges spin.

    Args:
        model: A model, or what `bough.load` takes, or a Mechanism.
        at: Coordinates of the position by name, such as `{"shoulder.phi": 0.5}`; the others as the model starts.
        spin: Speeds of hinges that turn steadily, `{"hub": 52.4}`, rad/s; the motions are those about steady rotation.
        settle: Whether flexible bodies are bent by their load there first, the hinges held; always where hinges spin.
        loads: Node loads that act all the time, by name, inertial frame.

    Raises:
        ArgumentError: There is no such coordinate or hinge, it is no finite number, or a quaternion has not length one.
        SimulationError: Too many degrees of freedom, a singular inertia, no equilibrium or no steady motion.

    Warns:
        TheoryWarning: A flexible body is bent or spins beyond the limits of its modes there.

    Example:
        >>> import bough
        >>> scale = {"bough": 1, "name": "scale", "bodies": [{"name": "pan", "parent": "ground",
        ...     "hinge": {"name": "spring", "type": "prismatic", "axis": [0, 0, 1], "stiffness": 800.0},
        ...     "rigid": {"mass": 2.0}}]}
        >>> found = bough.modes(scale)
        >>> round(found.modes[0].frequency, 6)  # sqrt(800 / 2) rad/s in Hz
        3.183099
    """
    system = model if isinstance(model, Mechanism) else Mechanism(model)
    q = position_at(system, at or {})
    if settle or spin:
        q, _ = equilibrium(system, q=q, loads=loads, spin=spin)
    turning = spinning(system, spin or {})
    SteadyLimits(system).warn(q, turning)
    return vibrations(system, q, turning, loads)


def position_at(system: Mechanism, at: Mapping[str, float]) -> Array:
    """The start position with some coordinates set otherwise.

    Raises:
        ArgumentError: There is no such coordinate, it is no finite number, or a quaternion has not length one.
    """
    q, _ = system.initial_state()
    touched: set[int] = set()
    for name, value in at.items():
        if name not in system.q_names:
            raise ArgumentError(f"at: there is no coordinate {name!r}{choices(name, system.q_names)}")
        c = system.q_table[system.q_names.index(name)]
        q[c.index] = value
        if not np.isfinite(q[c.index]):
            raise ArgumentError(f"at: {name}: expected a finite number, found {value!r}")
        touched |= {c.index + 1 - c.number} if c.kind == "quaternion" else set()
    for first in touched:
        stem = system.q_names[first].removesuffix("[1]")
        size = float(np.linalg.norm(q[first : first + 4]))
        if abs(size - 1.0) > 1e-3:
            found = f"a quaternion {stem} of length {size:.6g}"
            raise ArgumentError(f"at: expected length 1, found {found}: set all four of {stem}")
        q[first : first + 4] /= size
    return system.assemble(q, keep=list(at)).q if system.closed and at else q


def vibrations(
    system: Mechanism,
    q: Array | None = None,
    u: Array | None = None,
    loads: Mapping[str, ArrayLike] | None = None,
    held: NDArray[np.intp] | None = None,
) -> Vibrations:
    """Eigenvalues about a position.

    Args:
        system: The mechanism.
        q: The position; None for the start position.
        u: Speeds of hinges that spin, zero elsewhere, (nu,); None for none.
        loads: Node loads by name, inertial frame.
        held: Speeds (indices) that are held besides those that the model holds and those that spin.

    Raises:
        SimulationError: Too many degrees of freedom, or an inertia is singular.
    """
    if q is None:
        q, _ = system.initial_state()
    speeds = np.zeros(system.nu) if u is None else u
    free = np.setdiff1d(_free(system, speeds), () if held is None else held)
    if free.size > MOST:
        raise SimulationError(f"{free.size} degrees of freedom; `bough modes` takes at most {MOST}")
    if not free.size:
        return Vibrations((), 0, 0, ("", 0.0))
    shared = _shared_motion(system, q, free)
    if shared:
        raise SimulationError(f"the mass matrix is singular: {', '.join(shared)} move the same mass the same way")
    places = np.eye(system.nu)[free]
    if system.closed:
        free, places, M, C, K, hold = closed_motions(system, q, speeds, free, loads)
    else:
        M, C, K, hold = small_motions(system, q, speeds, free, loads)
    A_x, A_v = -np.linalg.solve(M, K), -np.linalg.solve(M, C)
    n = free.size
    if not n:
        return Vibrations((), 0, 0, ("", 0.0))
    values, vectors = eig(np.block([[np.zeros((n, n)), np.eye(n)], [A_x, A_v]]))
    names = [system.u_names[i] for i in free]
    found = [
        _vibration(value, vectors[:n, i], M, names, places)
        for i, value in enumerate(values)
        if abs(value) > STILL and value.imag >= 0.0
    ]
    unsprung = int(np.sum(abs(np.linalg.eigvals(A_x)) < STILL**2))
    # A free motion has two zeros, place and speed; one that is only damped or turned by a wheel has one.
    zeros = int(np.sum(abs(values) <= STILL))
    worst = free[int(np.argmax(abs(hold[free])))]
    return Vibrations(
        tuple(sorted(found, key=lambda mode: mode.frequency)),
        unsprung,
        min(max(zeros - unsprung, 0), unsprung),
        (system.u_names[worst], float(hold[worst])),
        _mode_names(system),
    )


def small_motions(
    system: Mechanism,
    q: Array,
    u: Array,
    free: NDArray[np.intp],
    loads: Mapping[str, ArrayLike] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """M, C and K of (1), (n, n) each, and the forces that the steady motion takes, (nu,)."""
    still = np.zeros(system.nu)
    hold = system.inverse_dynamics(q, u, still, loads=loads)
    tangent = kernel.KernelData(system._kernel_model, kernel.LANES_TANGENT)
    at = {"q": q, "u": u, "udot": still}
    given = system._loads(loads)
    if given is not None:
        at["loads"] = given.reshape(-1)
    K, C = np.empty((free.size, free.size)), np.empty((free.size, free.size))
    with system._errors():
        for j, unit in enumerate(np.eye(system.nu)[free]):
            K[:, j] = tangent.inverse_directional(at, {"q": system.position_rates(q, unit)})[free]
            C[:, j] = tangent.inverse_directional(at, {"u": unit})[free]
    return system.mass_matrix(q)[np.ix_(free, free)], C, K, hold


def closed_motions(
    system: Mechanism, q: Array, u: Array, free: NDArray[np.intp], loads: Mapping[str, ArrayLike] | None = None
) -> tuple[NDArray[np.intp], Array, Array, Array, Array, Array]:
    """The same with loops: independent speeds, (n,), all speeds per independent one, (n, nu), and M, C, K of them.

    What is not in equilibrium is held by constant forces at the independent coordinates; loops carry the rest, and
    what their forces do to K is in the derivatives of the accelerations.
    """
    if u.any():
        system.refuse_loops("steady rotation")
    found = independent(system, q, free=free)
    still = np.zeros(system.nu)
    hold = found.forces(system.inverse_dynamics(q, still, still, loads=loads))
    tangent = kernel.KernelData(system._kernel_model, kernel.LANES_TANGENT)
    tangent.set(kernel.HELD, np.isin(np.arange(system.nu), free, invert=True).astype(np.float64))
    at = {"q": q, "u": still, "tau": hold}
    given = system._loads(loads)
    if given is not None:
        at["loads"] = given.reshape(-1)
    M = found.V.T @ system.mass_matrix(q) @ found.V
    K, C = np.empty(M.shape), np.empty(M.shape)
    nodes = np.zeros(0, dtype=np.intc)
    with system._errors():
        for j, motion in enumerate(np.ascontiguousarray(found.V.T)):
            for out, direction in ((K, {"q": system.position_rates(q, motion)}), (C, {"u": motion})):
                out[:, j] = -M @ tangent.directional(at, direction, nodes, 0, ("udot",))["udot"][found.index]
    return found.index, found.V.T, M, C, K, hold


def _mode_names(system: Mechanism) -> dict[str, str]:
    """What modes are called where they have more than a number, by the names of their speeds."""
    own = {b.name: flex_body(b).mode_names for b in system.model.bodies if b.mode_count}
    before = {b.name: 0 if b.cut is None else b.cut.modes_before for b in system.model.bodies}
    named = {c.name: own[c.body][c.number - before[c.body] - 1] for c in system.u_table if c.modal and own[c.body]}
    return {name: word for name, word in named.items() if not word.startswith("mode ")}


def _shared_motion(system: Mechanism, q: Array, free: NDArray[np.intp]) -> list[str]:
    """Speeds that move the same mass the same way; empty if the mass matrix is regular."""
    M = system.mass_matrix(q)[np.ix_(free, free)]
    scale = np.sqrt(np.maximum(np.diag(M), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
    if values[0] > SINGULAR:
        return []
    part = abs(vectors[:, 0])
    return [system.u_names[free[i]] for i in np.flatnonzero(part > 0.1 * part.max())]


def _free(system: Mechanism, speeds: Array) -> NDArray[np.intp]:
    """Indices of the speeds that are neither held nor spinning."""
    return np.flatnonzero(~system._held & (speeds == 0.0))


def _vibration(value: complex, shape: NDArray[np.complex128], M: Array, names: list[str], places: Array) -> Vibration:
    size = abs(value)
    ratio = float(-value.real / size)
    kind = "unstable" if ratio < -1e-6 else "vibration" if abs(value.imag) > 1e-6 * size else "decay"
    share = abs((shape.conj() * (M @ shape)).real)
    share = share / share.sum()
    most = np.argsort(-share, kind="stable")[:3]
    moves = tuple((names[i], float(share[i])) for i in most if share[i] >= 0.1)
    # Turned in time until its largest part is at its largest.
    turned = shape * np.exp(-1j * np.angle(shape[most[0]]))
    return Vibration(kind, float(size / (2 * np.pi)), ratio, moves, turned.real @ places)
