"""Mode sets of a beam: which boundary conditions, which modes, how they are normalized, signed and ordered.

Boundary conditions at the root are told by the root motions that are released:

    cantilever        none
    pinned            rotation about the chosen axes
    free              all six
    craig-bampton     none; the modes are those with the interface nodes held too, together with the six
                      static shapes of every interface node (a unit motion of that node, the other
                      interfaces held)

Motions that strain nothing are never modes: the hinge of the body carries them. Modes are mass-orthonormal,
rotary inertia included, so the modal stiffness is diag(omega^2). The span of a Craig-Bampton set is kept, its
basis is made orthonormal like the others: the frequencies are then those of the root-clamped beam.

A shape has the sign that makes the tip's translation positive, along the first of x, y, z that has a fair share of
it; the tip's rotation where it does not shift; the motion of the outermost place that moves where the tip rests.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cholesky, eigh, null_space, qr, solve_triangular

from bough.errors import ModelError, Problem
from bough.flex.beam.line import COUPLED_LIMIT, MESH_LIMIT, Line
from bough.flex.points import ROTATION, TRANSLATION, Array

ALL_MOTIONS = np.eye(6)
"""Released root motions of a free beam."""
NO_MOTION = np.zeros((6, 0))
"""Released root motions of a cantilever."""

TIE = 1e-9
"""Frequencies within this ratio count as equal: above the eigensolver's noise, below any real difference."""

NOISE = 1e-14
"""Modes with 1 / omega^2 below this share of the largest are left out: round-off would show in them."""

REST = 1e-6
"""A place that moves less than this share of the largest motion rests."""
FAIR = 0.1
"""Share of the largest component from which on a component counts for the sign of a shape."""
SPARE = 6
"""Modes computed beyond those asked for, so that a group of equal frequencies is whole when it is sorted out."""


@dataclass(frozen=True)
class Selection:
    """Which modes to keep: a count or a count per family, a cut-off, or both.

    Attributes:
        count: That many, lowest frequencies first, over all families.
        per_family: That many of each family; families not named give none.
        max_frequency: None above this, Hz.
    """

    count: int | None = None
    per_family: Mapping[str, int] | None = None
    max_frequency: float | None = None

    @property
    def most(self) -> int | None:
        """Most modes of one family that can be kept; None if only the cut-off tells."""
        return self.count if self.per_family is None else max(self.per_family.values(), default=0)


@dataclass(frozen=True)
class LineModes:
    """Modes of one family, lowest first.

    Attributes:
        line: The family.
        omega: Frequencies, rad/s, (n,).
        z: Mass-orthonormal coordinates, (nz, n).
        available: Number of elastic modes the mesh has; n of them were computed.
    """

    line: Line
    omega: Array
    z: Array
    available: int

    def lowest(self, n: int) -> LineModes:
        """The first n of them."""
        return replace(self, omega=self.omega[:n], z=self.z[:, :n])


def beam_modes(
    beam_lines: Sequence[Line],
    selection: Selection,
    released: Array = NO_MOTION,
    interface: Collection[int] = (),
) -> list[LineModes]:
    """The chosen modes of every family, each family lowest first.

    Args:
        beam_lines: The families of the beam, or the one line of a coupled one.
        selection: Which modes to keep. Static shapes of interface nodes come on top.
        released: Motions left free at the root, (6, k), rotations first.
        interface: Craig-Bampton interface nodes (indices, not the root).
    """
    most, ceiling = selection.most, selection.max_frequency
    sets = [normal_modes(line, released, interface, most, ceiling) for line in beam_lines]
    counts = _counts(sets, selection)
    if ceiling is not None and not interface and most != 0 and sum(counts) == 0:
        raise _nothing_below(sets, ceiling)
    kept = [modes.lowest(n) for modes, n in zip(sets, counts, strict=True)]
    return [_with_static_shapes(modes, interface) for modes in kept] if interface else kept


def normal_modes(
    line: Line,
    released: Array = NO_MOTION,
    interface: Collection[int] = (),
    most: int | None = None,
    max_frequency: float | None = None,
) -> LineModes:
    """The elastic modes of a family, lowest first.

    Elastic energy c'c / 2 and kinetic energy |W z_dot|^2 / 2 turn K x = omega^2 M x into the eigenproblem of
    Z' W'W Z with eigenvalues omega^-2, whose largest, the lowest frequencies, keep their digits on any mesh.
    The columns of Z are orthonormal strains that leave the interface at rest, together with the motion of the
    released root that takes all momentum out of them.

    Args:
        line: The family.
        released: Motions left free at the root, (6, k), rotations first.
        interface: Nodes that are held (indices).
        most: No need for more than this.
        max_frequency: No need for more than the first above this, Hz.
    """
    if not np.all(np.isfinite(line.weighted)):
        raise _out_of_range()
    free = released[list(line.rows)]
    root, motion = line.weighted[:, : line.n_root], line.weighted[:, line.n_root :]
    z = np.zeros((line.n_root + line.n_strain, line.n_strain))
    z[line.n_root :] = np.eye(line.n_strain)
    if np.any(free):
        z[: line.n_root] = -free @ (np.linalg.pinv(root @ free) @ motion)
        motion = motion + root @ z[: line.n_root]
    if interface:
        held = null_space(_interface_rows(line, interface))
        z, motion = z @ held, motion @ held
    return _modes_within(line, z, motion, most, max_frequency)


def merge_order(sets: Sequence[LineModes]) -> list[tuple[int, int]]:
    """(family, index in it) of every mode, by frequency; equal frequencies in the order of the families."""
    modes = [(omega, f, i) for f, s in enumerate(sets) for i, omega in enumerate(s.omega)]
    order: list[tuple[int, int]] = []
    tied: list[tuple[int, int]] = []
    lowest = 0.0
    for omega, f, i in sorted(modes):
        if tied and omega > lowest * (1.0 + TIE):
            order += sorted(tied)
            tied = []
        if not tied:
            lowest = omega
        tied.append((f, i))
    return order + sorted(tied)


def _with_static_shapes(modes: LineModes, interface: Collection[int]) -> LineModes:
    """Add the static shapes of the interface nodes, then make all of them modes of the root-clamped beam.

    The strains of least energy that give the interface some motion are combinations of its rows; they and the
    modes with the interface held do no work on each other.
    """
    line = modes.line
    rows = _interface_rows(line, interface)
    static = np.zeros((line.n_root + line.n_strain, len(rows)))
    static[line.n_root :], _ = qr(rows.T, mode="economic")
    z = np.hstack([static, modes.z / modes.omega])
    return _modes_within(line, z, line.weighted @ z)


def _interface_rows(line: Line, interface: Collection[int]) -> Array:
    """Motion of the interface nodes per unit of strain, (n_interface rows, n_strain)."""
    moved = line.motion(line.mesh.nodes[sorted(interface)])
    return moved[:, :, line.n_root :].reshape(-1, line.n_strain)


def _modes_within(
    line: Line, z: Array, motion: Array, most: int | None = None, max_frequency: float | None = None
) -> LineModes:
    """The lowest modes in a span of columns (nz, n) whose strains are orthonormal, and their weighted motion."""
    available = motion.shape[1]
    if available == 0 or most == 0:
        return LineModes(line, np.zeros(0), z[:, :0], available)
    mass = motion.T @ motion
    if not (np.all(np.isfinite(mass)) and np.any(mass)):
        raise _out_of_range()
    n = available if most is None else min(most + SPARE, available)
    mu, y = _largest(mass, n, max_frequency)
    clear = mu > NOISE * mu[-1]
    if not np.all(clear):
        available = int(np.count_nonzero(clear))
    y = y[:, clear][:, ::-1]
    # Strain energy is 1/2 for each y, so omega is one over the norm of its motion.
    omega = 1.0 / np.linalg.norm(motion @ y, axis=0)
    y = _sorted_out(line, z @ (y * omega), omega, y)
    z, motion = z @ (y * omega), motion @ (y * omega)
    # Mass-orthonormal already but for round-off, which omega enlarges: Gram-Schmidt, lowest first.
    lower = cholesky(motion.T @ motion, lower=True)
    z = solve_triangular(lower, z.T, lower=True).T
    return LineModes(line, omega, _signed(line, z), available)


def _largest(mass: Array, n: int, max_frequency: float | None) -> tuple[Array, Array]:
    """The n largest eigenvalues, ascending, and eigenvectors; of those below a cut-off, and one at least."""
    if max_frequency is not None:
        floor = (2.0 * np.pi * max_frequency) ** -2 * (1.0 - 10.0 * TIE)
        below = eigh(mass, eigvals_only=True, subset_by_value=(floor, np.inf)).size
        n = min(n, max(below, 1))
    first = mass.shape[0] - n
    mu, y = eigh(mass, subset_by_index=(first, mass.shape[0] - 1))
    return mu, y


def _sorted_out(line: Line, z: Array, omega: Array, y: Array) -> Array:
    """The columns y, turned within each group of equal frequencies to shapes that do not depend on round-off.

    The first shape of a group takes all of the motion at the outermost place that moves, the next all that is left.
    """
    y = y.copy()
    first = 0
    while first < omega.size:
        last = first + 1
        while last < omega.size and omega[last] <= omega[first] * (1.0 + TIE):
            last += 1
        if last - first > 1:
            places = line.mesh.ends
            shapes = line.shapes(places, z[:, first:last])
            # Translations tell shapes apart, rotations only where there are none.
            turns = 1e-3 * line.mesh.frame.length * shapes[:, ROTATION]
            moves = np.concatenate([shapes[:, TRANSLATION], turns], axis=1)
            y[:, first:last] = y[:, first:last] @ _apart(moves.reshape(-1, last - first))
        first = last
    return y


def _apart(motion: Array) -> Array:
    """Rotation of columns (rows, n) that leaves one of them in the first row that moves, and so on, (n, n)."""
    n = motion.shape[1]
    turn = np.eye(n)
    for i in range(n - 1):
        rest = motion @ turn[:, i:]
        size = np.linalg.norm(rest, axis=1)
        row = int(np.argmax(size > 0.5 * size.max()))
        basis, _ = qr(rest[row][:, np.newaxis])
        turn[:, i:] = turn[:, i:] @ basis
    return turn


def _signed(line: Line, z: Array) -> Array:
    """Turn every shape so that the tip, or the outermost place that moves if the tip rests, moves positively."""
    shapes = line.shapes(line.mesh.ends, z)
    signs = np.ones(z.shape[1])
    for r, shape in enumerate(shapes.transpose(2, 0, 1)):
        judge = _judge(shape)
        signs[r] = -1.0 if judge < 0.0 else 1.0
    return z * signs


def _judge(shape: Array) -> float:
    """The component of a shape (m, 6), outermost place first, that tells its sign."""
    for place in (shape[:1], shape):
        for rows in (TRANSLATION, ROTATION):
            components = place[:, rows].ravel()
            largest = np.abs(components).max()
            if largest > REST * np.abs(shape[:, rows]).max():
                return float(components[np.argmax(np.abs(components) >= FAIR * largest)])
    return 0.0


def _counts(sets: Sequence[LineModes], selection: Selection) -> list[int]:
    """How many modes of each family the selection keeps; ModelError if the mesh does not have that many."""
    ceiling = np.inf if selection.max_frequency is None else 2.0 * np.pi * selection.max_frequency
    below = [int(np.count_nonzero(modes.omega <= ceiling)) for modes in sets]
    if selection.per_family is not None:
        wanted = [selection.per_family.get(modes.line.name, 0) for modes in sets]
        for modes, n in zip(sets, wanted, strict=True):
            if n > modes.available:
                raise _too_many(n, f"{modes.line.name} modes", modes.available)
        return [min(pair) for pair in zip(wanted, below, strict=True)]
    if selection.count is None:
        return below
    total = sum(modes.available for modes in sets)
    if selection.count > total:
        raise _too_many(selection.count, "modes", total)
    order = merge_order([modes.lowest(n) for modes, n in zip(sets, below, strict=True)])
    families = [f for f, _ in order[: selection.count]]
    return [families.count(f) for f in range(len(sets))]


def _refusal(key: str, expected: str, found: str, cure: str) -> ModelError:
    return ModelError(Problem(file="beam", line=None, key=key, expected=expected, found=found, cure=cure))


def _too_many(wanted: int, kind: str, available: int) -> ModelError:
    return _refusal(
        "beam.modes",
        f"at most {available} {kind}, all that a beam with these elements and held ends has",
        f"{wanted} {kind}",
        "ask for fewer modes, or raise beam.elements (more than "
        f"{MESH_LIMIT} add no modes; {COUPLED_LIMIT} where motions couple)",
    )


def _nothing_below(sets: Sequence[LineModes], max_frequency: float) -> ModelError:
    lowest = min(float(modes.omega[0]) for modes in sets if modes.omega.size) / (2.0 * np.pi)
    return _refusal(
        "beam.modes.max_frequency",
        f"a cut-off above the lowest frequency, {lowest:.6g} Hz",
        f"{max_frequency:g} Hz, below which there is no mode",
        "raise it (it is in Hz, not rad/s), or write `count: 0` for a beam that does not bend",
    )


def _out_of_range() -> ModelError:
    return _refusal(
        "beam",
        "a beam whose mass and rigidity can be held in floating-point numbers",
        "a flexibility that overflows, or that vanishes",
        "give lengths, sections and material in SI units: m, m^2, m^4, Pa, kg/m^3",
    )
