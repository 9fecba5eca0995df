"""Vibrations of a whole mechanism about its start position, at rest.

With x a small motion in the directions of the speeds, `M xdd + C xd + K x = 0`. M is the mass matrix; C and K are central
differences of inverse dynamics, so that springs, dampers, elasticity, gravity and the momentum of embedded wheels are
all in them. Driven and locked hinges are held.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.linalg import cho_factor, cho_solve, eig

from bough.errors import SimulationError
from bough.system import System

Array: TypeAlias = NDArray[np.float64]

STEP = 1e-4
"""Half the distance of the differences, rad, m or units of a mode. Cut-off 1e-9 and round-off 1e-12 of the forces."""
STILL = 2 * np.pi * 1e-4
"""Slower than this, rad/s, is a motion that nothing holds back: below it round-off of the differences begins."""
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
    """

    kind: str
    frequency: float
    damping: float
    moves: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Vibrations:
    """All of them, slowest first.

    Attributes:
        modes: Everything that springs, elasticity, gravity, damping or wheels act upon.
        unsprung: Number of independent motions without stiffness: rigid motions.
        imbalance: Name and size of the largest force that holding the start position takes, N.m or N.
    """

    modes: tuple[Vibration, ...]
    unsprung: int
    imbalance: tuple[str, float]


def vibrations(system: System) -> Vibrations:
    """Eigenvalues at the start position.

    Raises:
        SimulationError: Too many degrees of freedom, or an inertia is singular.
    """
    free = _free(system)
    if free.size > MOST:
        raise SimulationError(f"{free.size} degrees of freedom; `bough modes` takes at most {MOST}")
    q, _ = system.initial_state()
    still = np.zeros(system.nu)
    hold = system.inverse_dynamics(q, still, still)
    if not free.size:
        return Vibrations((), 0, ("", 0.0))
    M = system.mass_matrix(q)[np.ix_(free, free)]
    K, C = _stiffness(system, q, free), _damping(system, q, free)
    try:
        factor = cho_factor(M)
    except np.linalg.LinAlgError:
        raise SimulationError("the mass matrix is singular at the start position") from None
    n = free.size
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-cho_solve(factor, K), -cho_solve(factor, C)]])
    values, vectors = eig(A)
    names = [system.u_names[i] for i in free]
    modes = [
        _vibration(value, vectors[:n, i], M, names)
        for i, value in enumerate(values)
        if abs(value) > STILL and value.imag >= 0.0
    ]
    unsprung = int(np.sum(abs(np.linalg.eigvals(cho_solve(factor, K))) < STILL**2))
    worst = free[int(np.argmax(abs(hold[free])))]
    return Vibrations(
        tuple(sorted(modes, key=lambda mode: mode.frequency)),
        unsprung,
        (system.u_names[worst], float(hold[worst])),
    )


def _free(system: System) -> NDArray[np.intp]:
    """Indices of the speeds that are not held."""
    free: list[int] = []
    j = 0
    for body in system.model.bodies:
        nu = body.hinge.kind.nu
        if body.hinge.drive == "torque":
            free += range(j, j + nu)
        free += range(j + nu, j + nu + body.mode_count)
        j += nu + body.mode_count
    return np.array(free, dtype=np.intp)


def _stiffness(system: System, q: Array, free: NDArray[np.intp]) -> Array:
    """Change of the holding forces with a small motion along each free speed, (n, n)."""
    unit, zero = np.eye(system.nu), np.zeros((free.size, system.nu))
    # A quaternion leaves the unit sphere by STEP^2 only, and both sides by the same.
    along = STEP * np.array([system.position_rates(q, unit[i]) for i in free])
    ahead = system.inverse_dynamics(q + along, zero, zero)
    behind = system.inverse_dynamics(q - along, zero, zero)
    K: Array = (ahead - behind)[:, free].T / (2 * STEP)
    return K


def _damping(system: System, q: Array, free: NDArray[np.intp]) -> Array:
    """Change of the forces with each free speed at rest: dampers and wheels, (n, n)."""
    speeds = STEP * np.eye(system.nu)[free]
    still = np.zeros(speeds.shape)
    ahead = system.inverse_dynamics(q, speeds, still)
    behind = system.inverse_dynamics(q, -speeds, still)
    C: Array = (ahead - behind)[:, free].T / (2 * STEP)
    return C


def _vibration(value: complex, shape: NDArray[np.complex128], M: Array, names: list[str]) -> Vibration:
    size = abs(value)
    ratio = float(-value.real / size)
    kind = "unstable" if ratio < -1e-6 else "vibration" if abs(value.imag) > 1e-6 * size else "decay"
    share = abs((shape.conj() * (M @ shape)).real)
    share = share / share.sum()
    most = np.argsort(-share, kind="stable")[:3]
    moves = tuple((names[i], float(share[i])) for i in most if share[i] >= 0.1)
    return Vibration(kind, float(size / (2 * np.pi)), ratio, moves)


def as_json(found: Vibrations) -> dict[str, Any]:
    """The vibrations, ready for JSON."""
    modes = [
        {"kind": m.kind, "frequency": m.frequency, "damping": m.damping, "moves": dict(m.moves)} for m in found.modes
    ]
    name, force = found.imbalance
    return {"modes": modes, "unsprung": found.unsprung, "imbalance": {"at": name, "force": force}}


def print_vibrations(name: str, found: Vibrations, out: Console) -> None:
    """The vibrations as a table."""
    unsprung = f"; {found.unsprung} motion{'s' if found.unsprung > 1 else ''} without stiffness"
    head = f"{name}: small motions about the start position, at rest{unsprung if found.unsprung else ''}"
    out.print(head, markup=False)
    table = Table(header_style="bold")
    for title in ("#", "frequency, Hz", "damping, %"):
        table.add_column(title, justify="right")
    table.add_column("kind")
    table.add_column("what moves (share of kinetic energy)", overflow="fold")
    for i, mode in enumerate(found.modes, 1):
        moves = ", ".join(f"{name} {100 * share:.0f} %" for name, share in mode.moves)
        damping = f"{100 * mode.damping:.3g}" if abs(mode.damping) > 1e-8 else "0"
        table.add_row(str(i), f"{mode.frequency:.5g}", damping, mode.kind, moves)
    out.print(table)
