"""Vibrations of a whole mechanism about a position, at rest.

With x a small motion in the directions of the speeds, `xdd = A_x x + A_v xd` with the forces that hold the position.
Springs, dampers, elasticity, gravity and the momentum of embedded wheels are all in it. Driven and locked hinges are
held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text
from scipy.linalg import eig

from bough.errors import SimulationError
from bough.mechanism.equilibrium import equilibrium, force_left
from bough.mechanism.mechanism import Mechanism
from bough.report import Sketch
from bough.report.mode_pictures import spanning_edges

Array: TypeAlias = NDArray[np.float64]

STILL = 2 * np.pi * 1e-4
"""Slower than this, rad/s, is a motion that nothing holds back: round-off splits double zeros."""
SINGULAR = 1e-13
"""Smallest eigenvalue of a mass matrix with ones on its diagonal that is more than round-off."""
MOST = 2000
"""Degrees of freedom beyond which a dense eigenproblem takes too long."""
BALANCED = 1e-9
"""Force, N.m, N or J per unit of a mode, that is round-off."""
NUMBERS = ("frequency, Hz", "damping, %")
DRAWN = 12
"""Vibrations that the picture shows."""


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
    """

    modes: tuple[Vibration, ...]
    unsprung: int
    free: int
    imbalance: tuple[str, float]


def position(system: Mechanism, settings: Sequence[str], settle: bool = False) -> Array:
    """The start position with some coordinates set otherwise: `shoulder.phi=0.5`, several joined by commas.

    Args:
        system: The model.
        settings: Coordinates and their values.
        settle: Whether flexible bodies are bent by their load, the hinges held.

    Raises:
        typer.BadParameter: There is no such coordinate, it is no number, or a quaternion has no length.
        SimulationError: Flexible bodies find no equilibrium.
    """
    q = _position(system, settings)
    return equilibrium(system, q=q)[0] if settle else q


def _position(system: Mechanism, settings: Sequence[str]) -> Array:
    q, _ = system.initial_state()
    touched: set[int] = set()
    for setting in (part.strip() for given in settings for part in given.split(",") if part.strip()):
        name, _, text = (part.strip() for part in setting.partition("="))
        try:
            c = system.q_table[system.q_names.index(name)]
            q[c.index] = value = float(text)
        except ValueError:
            known = ", ".join(system.q_names[:12]) + (", ..." if system.nq > 12 else "")
            expected = f"expected NAME=NUMBER with one of {known}, found {setting!r}"
            raise typer.BadParameter(expected, param_hint="--at") from None
        if not np.isfinite(value):
            raise typer.BadParameter(f"expected a finite number, found {setting!r}", param_hint="--at")
        touched |= {c.index + 1 - c.number} if c.kind == "quaternion" else set()
    for at in touched:
        stem = system.q_names[at].removesuffix("[1]")
        size = float(np.linalg.norm(q[at : at + 4]))
        if abs(size - 1.0) > 1e-3:
            found = f"a quaternion {stem} of length {size:.6g}"
            raise typer.BadParameter(f"expected length 1, found {found}: set all four of {stem}", param_hint="--at")
        q[at : at + 4] /= size
    return q


def vibrations(system: Mechanism, q: Array | None = None) -> Vibrations:
    """Eigenvalues at a position; None for the start position.

    Raises:
        SimulationError: Too many degrees of freedom, or an inertia is singular.
    """
    free = _free(system)
    if free.size > MOST:
        raise SimulationError(f"{free.size} degrees of freedom; `bough modes` takes at most {MOST}")
    if not free.size:
        return Vibrations((), 0, 0, ("", 0.0))
    if q is None:
        q, _ = system.initial_state()
    shared = _shared_motion(system, q)
    if shared:
        raise SimulationError(f"the mass matrix is singular: {', '.join(shared)} move the same mass the same way")
    still = np.zeros(system.nu)
    hold = system.inverse_dynamics(q, still, still)
    A = system.linearize(q, still, hold).A
    along = np.column_stack([system.position_rates(q, unit) for unit in np.eye(system.nu)[free]])
    A_x = (A[system.nq :, : system.nq] @ along)[free]
    A_v = A[system.nq :, system.nq :][np.ix_(free, free)]
    n = free.size
    values, vectors = eig(np.block([[np.zeros((n, n)), np.eye(n)], [A_x, A_v]]))
    M = system.mass_matrix(q)[np.ix_(free, free)]
    names = [system.u_names[i] for i in free]
    modes = [
        _vibration(value, vectors[:n, i], M, names, np.eye(system.nu)[free])
        for i, value in enumerate(values)
        if abs(value) > STILL and value.imag >= 0.0
    ]
    unsprung = int(np.sum(abs(np.linalg.eigvals(A_x)) < STILL**2))
    # A free motion has two zeros, place and speed; one that is only damped or turned by a wheel has one.
    zeros = int(np.sum(abs(values) <= STILL))
    worst = free[int(np.argmax(abs(hold[free])))]
    return Vibrations(
        tuple(sorted(modes, key=lambda mode: mode.frequency)),
        unsprung,
        min(max(zeros - unsprung, 0), unsprung),
        (system.u_names[worst], float(hold[worst])),
    )


def _shared_motion(system: Mechanism, q: Array) -> list[str]:
    """Speeds that move the same mass the same way; empty if the mass matrix is regular."""
    free = _free(system)
    M = system.mass_matrix(q)[np.ix_(free, free)]
    scale = np.sqrt(np.maximum(np.diag(M), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
    if values[0] > SINGULAR:
        return []
    part = abs(vectors[:, 0])
    return [system.u_names[free[i]] for i in np.flatnonzero(part > 0.1 * part.max())]


def _free(system: Mechanism) -> NDArray[np.intp]:
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


def sketch(system: Mechanism, q: Array, found: Vibrations) -> Sketch:
    """The mechanism at a position and its first vibrations, to be drawn: the motion of all nodes of all bodies."""
    modes, names = found.modes[:DRAWN], system.node_names
    poses, _, _ = system.node_motion(q, np.zeros(system.nu), None, names)
    motions = [system.node_motion(q, mode.shape, None, names)[1] for mode in modes]
    edges, begin = [], 0
    for body in system.model.whole_bodies:
        end = begin + len(body.node_names)
        edges.append(begin + spanning_edges(poses[begin:end, :3]))
        begin = end
    captions = []
    for i, mode in enumerate(modes, 1):
        hertz, _, kind = _cells(mode)
        captions.append(f"{i}\n{hertz} Hz" if mode.kind == "vibration" else f"{i}\n{kind}")
    return Sketch(system.model.name, poses[:, :3], np.stack(motions, axis=-1), captions, np.concatenate(edges))


def imbalance_note(system: Mechanism, found: Vibrations, about: str, settled: bool) -> str | None:
    """What a user should know of a position that is no equilibrium: which force is missing, and the cure."""
    name, force = found.imbalance
    index = system.u_names.index(name)
    modal = system.u_table[index].modal
    if abs(force) <= BALANCED or (modal and settled):
        return None
    held = force_left(system, index, force)
    cure = "--settle bends the bodies by their load first" if modal else "--at chooses another position"
    return f"note: {about} is no equilibrium: holding it takes {held}. The motions are those about it, held so; {cure}"


def as_json(found: Vibrations) -> dict[str, Any]:
    """The vibrations, ready for JSON."""
    modes = [
        {"kind": m.kind, "frequency": m.frequency, "damping": m.damping, "moves": dict(m.moves)} for m in found.modes
    ]
    name, force = found.imbalance
    return {"modes": modes, "unsprung": found.unsprung, "free": found.free, "imbalance": {"at": name, "force": force}}


def print_vibrations(name: str, found: Vibrations, out: Console, about: str = "the start position") -> None:
    """The vibrations as a table."""
    head = f"{name}: small motions about {about}, at rest{_unsprung(found)}"
    out.print(head, markup=False)
    rows = [(str(i), *_cells(mode), _moves(mode)) for i, mode in enumerate(found.modes, 1)]
    names = max((len(word) for row in rows for word in row[4].split()), default=0)
    room = out.width - names - len(f"{len(rows)}") - sum(map(len, NUMBERS)) - 3 * (len(NUMBERS) + 3) - 1
    kinds = max((len(row[3]) for row in rows), default=0)
    if room < len("vibration"):
        _print_lines(rows, out)
        return
    table = Table(header_style="bold")
    for title in ("#", *NUMBERS):
        table.add_column(title, justify="right", no_wrap=True)
    # Names may not be broken: where there is no room for both, the kind of motion is wrapped.
    table.add_column("kind", width=min(kinds, room) if rows else None)
    table.add_column("what moves (share of kinetic energy)", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    out.print(table)


def _unsprung(found: Vibrations) -> str:
    """How many motions nothing brings back, and which of them the table does not list."""
    count, free = found.unsprung, found.free
    if not count:
        return ""
    text = f"; {count} motion{'s' if count > 1 else ''} without stiffness"
    if not free:
        return text
    who = f"{free} of them" if free < count else "they" if count > 1 else "it"
    move, be = ("moves", "is") if free == 1 else ("move", "are")
    return f"{text}: {who} {move} freely, at 0 Hz, and {be} not listed"


def _print_lines(rows: Sequence[tuple[str, str, str, str, str]], out: Console) -> None:
    """What the table says, where names are too long for one."""
    for number, hertz, damping, kind, moves in rows:
        told = [f"{hertz} Hz" if hertz else "", f"damping {damping} %" if damping else "", kind]
        out.print(f"{number}: {', '.join(filter(None, told))}\n   {moves}", markup=False, soft_wrap=True)


def _moves(mode: Vibration) -> str:
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in mode.moves)


def _cells(mode: Vibration) -> tuple[str, str, str]:
    """Frequency, damping and kind; for a motion that does not swing the time of a change by a factor of e instead."""
    damping = f"{100 * mode.damping:.3g}" if abs(mode.damping) > 1e-8 else "0"
    if mode.kind == "vibration":
        return f"{mode.frequency:.5g}", damping, mode.kind
    seconds = 1 / (2 * np.pi * mode.frequency * abs(mode.damping))
    if mode.kind == "decay":
        return "", "", f"decays in {seconds:.3g} s"
    return f"{mode.frequency:.5g}", damping, f"grows in {seconds:.3g} s"
