"""The elements that a frame is computed with, and where along them things sit."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bough.flex.beam import element
from bough.flex.beam.frame import EA, EIY, EIZ, GJ, KGAY, KGAZ, RHO_A, RHO_IY, RHO_IZ, Frame
from bough.flex.beam.general import GeneralMesh, general_mesh
from bough.flex.points import Array
from bough.model.axis import divided

SNAP = 1e-9
"""Places nearer to each other than this share of the length are one."""


@dataclass(frozen=True, eq=False)
class Places:
    """Points that move with a frame: rigidly fixed, by an arm or none, to its axis.

    Attributes:
        s: Path coordinate of the section that carries the point, m, (m,).
        x: Position of the point, m, (m, 3).
    """

    s: Array
    x: Array

    def __getitem__(self, chosen: slice | list[int]) -> Places:
        """Some of them."""
        return Places(self.s[chosen], self.x[chosen])


@dataclass(frozen=True, eq=False)
class Mesh:
    """Elements from root to tip, each with a section that varies linearly along it.

    Attributes:
        frame: What is meshed.
        s: Where the elements begin, m, (ne,).
        length: Their lengths, m, (ne,).
        origin: Where they begin, m, (ne, 3).
        axes: Axes of their sections, as columns, (ne, 3, 3).
        begin: Sections at their beginnings, (ne, 9), columns as in a frame's table.
        end: Sections at their ends, (ne, 9).
        general: The sections where they are general ones: `begin` and `end` are empty then.
    """

    frame: Frame
    s: Array
    length: Array
    origin: Array
    axes: Array
    begin: Array
    end: Array
    general: GeneralMesh | None = None

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.s.size

    @property
    def shears(self) -> tuple[bool, bool]:
        """Whether it shears along y, along z."""
        if self.general is not None:
            return self.general.shears, self.general.shears
        finite = np.all(np.isfinite(self.frame.table), axis=0)
        return bool(finite[KGAY]), bool(finite[KGAZ])

    @cached_property
    def ends(self) -> Places:
        """Ends of the elements, from the tip inwards."""
        s = (self.s + self.length)[::-1]
        return Places(s, self.frame.position(s))

    @cached_property
    def nodes(self) -> Places:
        """The named nodes."""
        return Places(self.frame.node_s, self.frame.position(self.frame.node_s))

    @cached_property
    def points(self) -> Places:
        """Points that carry inertia: the Gauss points, element by element, then the lumped masses."""
        xi, _ = element.gauss()
        s = (self.s[:, np.newaxis] + self.length[:, np.newaxis] * xi).ravel()
        along = (self.length[:, np.newaxis] * xi)[..., np.newaxis] * self.axes[:, np.newaxis, :, 0]
        x = (self.origin[:, np.newaxis] + along).reshape(-1, 3) + self.arms.reshape(-1, 3)
        nodes = self.nodes[[mass.node for mass in self.frame.masses]]
        arms = np.array([mass.com for mass in self.frame.masses]).reshape(-1, 3)
        return Places(np.concatenate([s, nodes.s]), np.concatenate([x, nodes.x + arms]))

    @cached_property
    def arms(self) -> Array:
        """Mass centres of the sections at the Gauss points from the axis, m, (ne, ng, 3)."""
        xi, _ = element.gauss()
        if self.general is None:
            return np.zeros((self.size, xi.size, 3))
        arms: Array = np.einsum("eij,egj->egi", self.axes[:, :, 1:], self.general.center)
        return arms

    def element_of(self, s: Array) -> NDArray[np.intp]:
        """Which element places (m,) are in; the one before, where two meet."""
        found: NDArray[np.intp] = np.searchsorted(self.s, s - SNAP * self.frame.length, side="right") - 1
        return np.maximum(found, 0)

    @cached_property
    def inertia(self) -> tuple[Array, Array]:
        """Masses, kg, (np,), and rotary inertias, kg.m^2, (np, 3, 3), of the points.

        Their sums are exact: a uniform beam has mass rho A L, its centre at L / 2, and the inertia
        rho A L^3 / 3 + rho I L about its root.
        """
        xi, weights = element.gauss()
        if self.general is not None:
            return self._general_inertia(self.general, weights)
        begin, end = (table[:, np.newaxis, [RHO_A, RHO_IY, RHO_IZ]] for table in (self.begin, self.end))
        table = begin + (end - begin) * xi[:, np.newaxis]
        table = table * (self.length[:, np.newaxis] * weights)[..., np.newaxis]
        principal = np.stack([table[..., 1] + table[..., 2], table[..., 1], table[..., 2]], axis=-1)
        rotary = np.einsum("eik,egk,ejk->egij", self.axes, principal, self.axes).reshape(-1, 3, 3)
        lumps = self.frame.masses
        masses = np.concatenate([table[..., 0].ravel(), [mass.mass for mass in lumps]])
        return masses, np.concatenate([rotary, np.array([mass.inertia for mass in lumps]).reshape(-1, 3, 3)])

    def _general_inertia(self, general: GeneralMesh, weights: Array) -> tuple[Array, Array]:
        share = self.length[:, np.newaxis] * weights
        rotary = np.einsum(
            "eik,egkl,ejl->egij", self.axes, general.inertia * share[..., np.newaxis, np.newaxis], self.axes
        )
        lumps = self.frame.masses
        masses = np.concatenate([(general.rho_A * share).ravel(), [mass.mass for mass in lumps]])
        return masses, np.concatenate(
            [rotary.reshape(-1, 3, 3), np.array([m.inertia for m in lumps]).reshape(-1, 3, 3)]
        )

    def unit_energy(self, rigidity: int) -> Array:
        """Strains of unit energy by a rigidity (a column of the table), (ne, 2, 2)."""
        return element.unit_energy(self.begin[:, rigidity], self.end[:, rigidity], self.length)


RIGIDITIES = {"stretch": EA, "twist": GJ, "bend_y": EIY, "bend_z": EIZ, "shear_y": KGAY, "shear_z": KGAZ}
"""The rigidity that resists each kind of strain."""


def meshed(frame: Frame, limit: int, interface: Collection[int] = ()) -> Mesh:
    """The elements of a frame: those between its named nodes, cut at the stations, or fewer.

    Beyond the limit, the axis is cut at corners, stations, masses and interface nodes first, then evenly; named
    nodes are read off the interpolation.

    Args:
        frame: The beam.
        limit: Most elements, unless there are more places where it has to be cut.
        interface: Nodes (indices) at which motions are prescribed.
    """
    stations = np.array([station.at for station in frame.stations])
    s = _merged(frame.length, frame.node_s, stations)
    if s.size - 1 > limit:
        chosen = frame.node_s[sorted({*interface, *(mass.node for mass in frame.masses)})]
        s = divided(_merged(frame.length, frame.corner_s, chosen, stations), limit)
    begin, end = s[:-1], s[1:]
    middle = 0.5 * (begin + end)
    segment = np.searchsorted(frame.corner_s, 0.5 * (begin + end)) - 1
    return Mesh(
        frame=frame,
        s=begin,
        length=end - begin,
        origin=frame.position(begin),
        axes=frame.axes[segment],
        begin=np.zeros((begin.size, 0)) if frame.general else _sections(frame, begin, middle),
        end=np.zeros((begin.size, 0)) if frame.general else _sections(frame, end, middle),
        general=general_mesh(frame, begin, end) if frame.general else None,
    )


def _merged(length: float, *places: Array) -> Array:
    """All places from 0 to the length, ascending; of those that are as good as one, that of the earlier list."""
    kept: Array = np.zeros(0)
    for new in places:
        apart = np.abs(new[:, np.newaxis] - kept[np.newaxis]).min(axis=1, initial=np.inf) > SNAP * length
        inside = (new >= 0.0) & (new <= length)
        kept = np.concatenate([kept, new[apart & inside]])
    # Two stations at one place make a step.
    s = np.sort(kept)
    merged: Array = s[np.concatenate([[True], np.diff(s) > SNAP * length])]
    return merged


def _sections(frame: Frame, s: Array, inside: Array) -> Array:
    """Sections at places, (m, 9), each seen from the side of a place inside its element."""
    at, table = np.array([station.at for station in frame.stations]), frame.table
    after = np.searchsorted(at, inside)
    left, right = np.maximum(after - 1, 0), np.minimum(after, at.size - 1)
    width = at[right] - at[left]
    share = np.divide(s - at[left], width, out=np.zeros_like(s), where=width > 0.0)[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        rise = np.where(np.isfinite(table[right]), table[right] - table[left], 0.0)
    sections: Array = table[left] + share * rise
    return sections
