"""The motion of a frame by the strains of its elements, as a whole or in families that do not see each other.

Coordinates are z = [root, c]: `root` are motions of the root, which carry everything along rigidly; `c` are strains,
sized so that the elastic energy is c'c / 2. A strain moves its element from there on, and carries everything
outboard along rigidly:

    strain     motion within the element, in the section's axes            rigidity
    stretch    translation x = once                                        EA
    twist      rotation x = once                                           GJ
    bend_y     rotation y = -once, translation z = twice                   EIy
    bend_z     rotation z = +once, translation y = twice                   EIz
    shear_y    translation y = once                                        kGAy
    shear_z    translation z = once                                        kGAz

with the strain integrated once or twice along the element (see `element`).

A straight beam whose sections and masses are symmetric about its own axes falls into four families. Solving each
by itself keeps shapes clean when frequencies coincide (Iy = Iz). `bending_y` is bending *about* y: the beam deflects
along z.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.flex.beam import element
from bough.flex.beam.frame import RX, RY, RZ, TX, TY, TZ, Frame
from bough.flex.beam.frame_mesh import RIGIDITIES, Mesh, Places, meshed
from bough.flex.points import ROTATION, TRANSLATION, Array

MESH_LIMIT = 400
"""Most elements that are computed with; the matrices of a family are dense.

The error of the first five modes is then below 2e-9, and the number of inertia points stays within reason.
"""
COUPLED_LIMIT = 100
"""The same where there are no families: the matrix is that of all strains. Errors are below 5e-7."""

TURNS = {"twist": (RX, 1.0), "bend_y": (RY, -1.0), "bend_z": (RZ, 1.0)}
"""Row of a shape, in the section's axes, that a strain turns, and its sign."""
SHIFTS = {"stretch": TX, "bend_y": TZ, "bend_z": TY, "shear_y": TY, "shear_z": TZ}
"""Row of a shape, in the section's axes, that a strain shifts."""


@dataclass(frozen=True, eq=False)
class Line:
    """A family of a beam's motions, or all of them.

    Attributes:
        name: Of the family.
        mesh: The elements.
        rows: Rows of a six-row shape that the family moves, translations first; root coordinate i moves the
            root in rows[i].
        kinds: Kinds of strain; their coordinates follow one kind after the other, two per element.
        weighted: Motion of the inertia points, in the rows, times a root of their inertia, one below the other,
            (np rows, nz): the kinetic energy is |weighted z_dot|^2 / 2.
    """

    name: str
    mesh: Mesh
    rows: tuple[int, ...]
    kinds: tuple[str, ...]
    weighted: Array

    @property
    def n_root(self) -> int:
        """Number of root coordinates, which come first in z."""
        return len(self.rows)

    @property
    def n_strain(self) -> int:
        """Number of strain coordinates."""
        return 2 * len(self.kinds) * self.mesh.size

    def motion(self, places: Places) -> Array:
        """Motion of places in the rows per unit of z, (m, rows, nz)."""
        return motion(self.mesh, self.rows, self.kinds, places)

    def shapes(self, places: Places, z: Array) -> Array:
        """Six-row shapes of places, (m, 6, n), of coordinate vectors (nz, n): the same as by `motion`, without it."""
        mesh, strains = self.mesh, {kind: self.strains(kind, z) for kind in self.kinds}
        root = np.zeros((6, z.shape[1]))
        root[list(self.rows)] = z[: self.n_root]
        # Where every element begins: what the root and the elements before make of it.
        turn, shift = _within(mesh, strains, np.arange(mesh.size), mesh.length)
        turns = root[ROTATION] + _sums(turn)
        swept = np.cross(turns, (mesh.length[:, np.newaxis] * mesh.axes[:, :, 0])[..., np.newaxis], axis=1)
        shifts = root[TRANSLATION] + _sums(swept + shift)
        e = mesh.element_of(places.s)
        along = np.clip(places.s - mesh.s[e], 0.0, mesh.length[e])
        turn, shift = _within(mesh, strains, e, along)
        arm = places.x - mesh.origin[e]
        rest = arm - along[:, np.newaxis] * mesh.axes[e, :, 0]
        shift += shifts[e] + np.cross(turns[e], arm[..., np.newaxis], axis=1)
        shift += np.cross(turn, rest[..., np.newaxis], axis=1)
        return np.concatenate([turns[e] + turn, shift], axis=1)

    def strains(self, kind: str, z: Array) -> Array:
        """The strains a0, a1 of the elements, (ne, 2, n), of coordinate vectors (nz, n)."""
        size, general = 2 * self.mesh.size, self.mesh.general
        if general is not None:
            c = z[self.n_root :].reshape(len(self.kinds), self.mesh.size, 2, -1)
            k = self.kinds.index(kind)
            U = general.unit.reshape(self.mesh.size, len(self.kinds), 2, len(self.kinds), 2)[:, k]
            strains: Array = np.einsum("eikj,kejn->ein", U, c)
            return strains
        begin = self.n_root + size * self.kinds.index(kind)
        return self.mesh.unit_energy(RIGIDITIES[kind]) @ z[begin : begin + size].reshape(self.mesh.size, 2, -1)


def families(frame: Frame, interface: Collection[int] = ()) -> tuple[Line, ...]:
    """The four families of a beam in its own axes, in the order that breaks ties between equal frequencies."""
    mesh = meshed(frame, MESH_LIMIT, interface)
    shears_y, shears_z = mesh.shears
    return (
        _line("bending_y", mesh, (TZ, RY), ("bend_y", "shear_z") if shears_z else ("bend_y",)),
        _line("bending_z", mesh, (TY, RZ), ("bend_z", "shear_y") if shears_y else ("bend_z",)),
        _line("torsion", mesh, (RX,), ("twist",)),
        _line("axial", mesh, (TX,), ("stretch",)),
    )


def coupled(frame: Frame, interface: Collection[int] = ()) -> Line:
    """All motions of a frame at once."""
    mesh = meshed(frame, COUPLED_LIMIT, interface)
    if mesh.general is not None:
        return _line("mode", mesh, (TX, TY, TZ, RX, RY, RZ), mesh.general.kinds)
    shears = zip(("shear_y", "shear_z"), mesh.shears, strict=True)
    kinds = ("bend_y", "bend_z", "twist", "stretch", *(kind for kind, there in shears if there))
    return _line("mode", mesh, (TX, TY, TZ, RX, RY, RZ), kinds)


def _line(name: str, mesh: Mesh, rows: tuple[int, ...], kinds: tuple[str, ...]) -> Line:
    moved = motion(mesh, rows, kinds, mesh.points)
    masses, inertias = mesh.inertia
    root = np.zeros((masses.size, 6, 6))
    root[:, :3, :3] = _root(inertias)
    root[:, 3:, 3:] = np.sqrt(masses)[:, np.newaxis, np.newaxis] * np.eye(3)
    chosen = root[:, list(rows)][:, :, list(rows)]
    return Line(name, mesh, rows, kinds, (chosen @ moved).reshape(-1, moved.shape[2]))


def _root(inertias: Array) -> Array:
    """Symmetric matrices whose squares these are, (n, 3, 3); exactly diagonal where they are."""
    diagonal = np.einsum("pii->pi", inertias)
    if np.array_equal(inertias, diagonal[:, :, np.newaxis] * np.eye(3)):
        root: Array = np.sqrt(diagonal)[:, :, np.newaxis] * np.eye(3)
        return root
    if not np.all(np.isfinite(inertias)):
        return np.full_like(inertias, np.nan)
    values, vectors = np.linalg.eigh(inertias)
    scaled = vectors * np.sqrt(np.maximum(values, 0.0))[:, np.newaxis]
    root = scaled @ vectors.transpose(0, 2, 1)
    return root


def motion(mesh: Mesh, rows: tuple[int, ...], kinds: tuple[str, ...], places: Places) -> Array:
    """Motion of places in some rows per unit of z = [root, c], (m, rows, nz).

    Args:
        mesh: The elements.
        rows: Rows of a shape, (rotation, translation) in the frame's axes; also the root coordinates.
        kinds: Kinds of strain to move by.
        places: Where.
    """
    along = np.clip(places.s[:, np.newaxis] - mesh.s, 0.0, mesh.length)
    xi = along / mesh.length
    # From the last section of each element that a place has passed to the place itself.
    arm = places.x[:, np.newaxis] - mesh.origin - along[..., np.newaxis] * mesh.axes[:, :, 0]
    blocks = [_carried(rows, places.x - mesh.origin[0])]
    for kind in kinds:
        unit = (
            mesh.unit_energy(RIGIDITIES[kind])
            if mesh.general is None
            else np.broadcast_to(np.eye(2), (mesh.size, 2, 2))
        )
        turn = _by_energy(element.once(xi, mesh.length), unit)
        bends = kind in TURNS and kind in SHIFTS
        shift = _by_energy(element.twice(xi, mesh.length), unit) if bends else turn
        block = np.zeros((places.s.size, len(rows), mesh.size, 2))
        for i, row in enumerate(rows):
            if kind in TURNS:
                column, sign = TURNS[kind]
                axis = sign * mesh.axes[:, :, column]
                factor = axis[:, row][np.newaxis] if row < TX else _cross(axis, arm, row - TX)
                block[:, i] += factor[..., np.newaxis] * turn
            if kind in SHIFTS and row >= TX:
                block[:, i] += mesh.axes[:, row - TX, SHIFTS[kind] - TX, np.newaxis] * shift
        blocks.append(block.reshape(places.s.size, len(rows), -1))
    if mesh.general is not None:
        blocks[1:] = [_coupled_strains(mesh.general.unit, blocks[1:])]
    return np.concatenate(blocks, axis=-1)


def _coupled_strains(unit: Array, blocks: list[Array]) -> Array:
    """Motion by strains, a block (m, rows, 2 ne) for each kind, as motion by strains of unit energy, kind by kind."""
    kinds, (m, rows, size) = len(blocks), blocks[0].shape
    raw = np.stack(blocks, axis=2).reshape(m, rows, kinds, size // 2, 2)
    U = unit.reshape(size // 2, kinds, 2, kinds, 2)
    moved: Array = np.einsum("mrkei,ekilj->mrlej", raw, U, optimize=True)
    return moved.reshape(m, rows, -1)


def _within(mesh: Mesh, strains: Mapping[str, Array], e: NDArray[np.intp], along: Array) -> tuple[Array, Array]:
    """Rotation and translation of sections against the beginnings of their elements, both (m, 3, n).

    Args:
        mesh: The elements.
        strains: a0, a1 of all elements by kind, (ne, 2, n).
        e: Elements of the sections, (m,).
        along: How far into them, m, (m,).
    """
    n = next(iter(strains.values())).shape[2]
    turn, shift = np.zeros((e.size, 3, n)), np.zeros((e.size, 3, n))
    xi = along / mesh.length[e]
    once, twice = element.once(xi, mesh.length[e]), element.twice(xi, mesh.length[e])
    for kind, strain in strains.items():
        moved = (once[:, np.newaxis] @ strain[e])[:, 0]
        if kind in TURNS:
            column, sign = TURNS[kind]
            turn += sign * mesh.axes[e, :, column, np.newaxis] * moved[:, np.newaxis]
        if kind in SHIFTS:
            moved = (twice[:, np.newaxis] @ strain[e])[:, 0] if kind in TURNS else moved
            shift += mesh.axes[e, :, SHIFTS[kind] - TX, np.newaxis] * moved[:, np.newaxis]
    return turn, shift


def _sums(steps: Array) -> Array:
    """Sums of what comes before each of the steps (ne, ...)."""
    sums: Array = np.zeros_like(steps)
    np.cumsum(steps[:-1], axis=0, out=sums[1:])
    return sums


def _by_energy(integrals: Array, unit: Array) -> Array:
    """Motion (m, ne, 2) per unit of a0, a1, times the upper triangles (ne, 2, 2) of a = U c."""
    moved: Array = integrals * np.einsum("ecc->ec", unit)
    moved[..., 1] += integrals[..., 0] * unit[:, 0, 1]
    return moved


def _carried(rows: tuple[int, ...], arm: Array) -> Array:
    """Rigid motion of places, arms (m, 3) from the root, per unit motion of the root, (m, rows, rows)."""
    carried = np.zeros((len(arm), 6, 6))
    carried[:] = np.eye(6)
    for row in range(3):
        for j, turn in enumerate(np.eye(3)):
            carried[:, TX + row, j] = _cross(turn, arm, row)
    return carried[:, list(rows)][:, :, list(rows)]


def _cross(a: Array, b: Array, i: int) -> Array:
    """Component i of a x b, vectors along the last axis."""
    j, k = (i + 1) % 3, (i + 2) % 3
    return a[..., j] * b[..., k] - a[..., k] * b[..., j]
