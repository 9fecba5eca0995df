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
The tip moves in the positive direction of the family's first coordinate (translation; twist for torsion).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cholesky, eigh, null_space, qr, solve_triangular

from bough.errors import ModelError, Problem
from bough.flex.body import Array
from bough.flex.line import MESH_LIMIT, Line

ALL_MOTIONS = frozenset(range(6))
"""Released root motions of a free beam; rows of a shape."""

TIE = 1e-9
"""Frequencies within this ratio count as equal: above the eigensolver's noise, below any real difference."""

NOISE = 1e-14
"""Modes with 1 / omega^2 below this share of the largest are left out: round-off would show in them."""


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
    released: Collection[int] = (),
    interface: Collection[int] = (),
) -> list[LineModes]:
    """The chosen modes of every family, each family lowest first.

    Args:
        beam_lines: The families of the beam, see `lines`.
        selection: Which modes to keep. Static shapes of interface nodes come on top.
        released: Motions left free at the root (rows of a shape).
        interface: Craig-Bampton interface nodes (indices, not the root).
    """
    most = selection.count
    if selection.per_family is not None:
        most = max(selection.per_family.values(), default=0)
    sets = [normal_modes(line, released, interface, most) for line in beam_lines]
    counts = _counts(sets, selection)
    kept = [modes.lowest(n) for modes, n in zip(sets, counts, strict=True)]
    return [_with_static_shapes(modes, interface) for modes in kept] if interface else kept


def normal_modes(
    line: Line,
    released: Collection[int] = (),
    interface: Collection[int] = (),
    most: int | None = None,
) -> LineModes:
    """The elastic modes of a family, lowest first; at most so many if `most` is given.

    Elastic energy c'c / 2 and kinetic energy |W z_dot|^2 / 2 turn K x = omega^2 M x into the eigenproblem of
    Z' W'W Z with eigenvalues omega^-2, whose largest, the lowest frequencies, keep their digits on any mesh.
    The columns of Z are orthonormal strains that leave the interface at rest, together with the motion of the
    released root that takes all momentum out of them.
    """
    free = [i for i, row in enumerate(line.rows) if row in released]
    rigid, strains = line.weighted[:, free], line.weighted[:, line.n_root :]
    z = np.zeros((line.n_root + line.n_strain, line.n_strain))
    z[line.n_root :] = np.eye(line.n_strain)
    z[free] = -np.linalg.pinv(rigid) @ strains
    if interface:
        z = z @ null_space(_interface_rows(line, interface))
    return _modes_within(line, z, most)


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
    return _modes_within(line, np.hstack([static, modes.z / modes.omega]))


def _interface_rows(line: Line, interface: Collection[int]) -> Array:
    """Motion of the interface nodes per unit of strain, (n_interface rows, n_strain)."""
    return line.nodes[sorted(interface), :, line.n_root :].reshape(-1, line.n_strain)


def _modes_within(line: Line, z: Array, most: int | None = None) -> LineModes:
    """The lowest modes in a span of columns (nz, n) whose strains are orthonormal."""
    motion = line.weighted @ z
    available = motion.shape[1]
    n = available if most is None else min(most, available)
    if n == 0:
        return LineModes(line, np.zeros(0), z[:, :0], available)
    mass = motion.T @ motion
    if not (np.all(np.isfinite(mass)) and np.any(mass)):
        raise _out_of_range()
    mu, y = eigh(mass, subset_by_index=(available - n, available - 1))
    clear = mu > NOISE * mu[-1]
    if not np.all(clear):
        available = int(np.count_nonzero(clear))
    y = y[:, clear][:, ::-1]
    # Strain energy is 1/2 for each y, so omega is one over the norm of its motion.
    omega = 1.0 / np.linalg.norm(motion @ y, axis=0)
    z, motion = z @ (y * omega), motion @ (y * omega)
    # Mass-orthonormal already but for round-off, which omega enlarges: Gram-Schmidt, lowest first.
    lower = cholesky(motion.T @ motion, lower=True)
    z = solve_triangular(lower, z.T, lower=True).T
    return LineModes(line, omega, _signed(line, z), available)


def _signed(line: Line, z: Array) -> Array:
    """Turn every shape so that the tip, or the node that moves most if the tip rests, moves positively."""
    first = line.nodes[:, 0] @ z
    largest = first[np.argmax(np.abs(first), axis=0), np.arange(z.shape[1])]
    judge = np.where(np.abs(first[-1]) > 1e-9 * np.abs(largest), first[-1], largest)
    return z * np.where(judge < 0.0, -1.0, 1.0)


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


def _too_many(wanted: int, kind: str, available: int) -> ModelError:
    return ModelError(
        Problem(
            file="beam",
            line=None,
            key="beam.modes",
            expected=f"at most {available} {kind}, all that a beam with these elements and held ends has",
            found=f"{wanted} {kind}",
            cure=f"ask for fewer modes, or raise beam.elements (more than {MESH_LIMIT} add no modes)",
        )
    )


def _out_of_range() -> ModelError:
    return ModelError(
        Problem(
            file="beam",
            line=None,
            key="beam",
            expected="a beam whose mass and rigidity can be held in floating-point numbers",
            found="a flexibility that overflows, or that vanishes",
            cure="give length, section and material in SI units: m, m^2, m^4, Pa, kg/m^3",
        )
    )
