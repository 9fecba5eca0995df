"""What a beam is made of: an axis of straight segments, sections along it, masses on its nodes.

The path coordinate s runs along the axis from the root. A section's x axis is the direction of its segment, its
z axis the part of `up` that is perpendicular to it, and y = z x x.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property

import numpy as np

from bough.flex.points import Array
from bough.model.axis import corner_places, divided

RX, RY, RZ, TX, TY, TZ = range(6)
"""Rows of a shape: rotations first."""

ALONG = 1e-12
"""Directions, offsets (over the length) and products of inertia (over the largest entry) below this are zero."""


@dataclass(frozen=True)
class Section:
    """Rigidities and inertias of a beam at one place: SI units, in the section's axes.

    Attributes:
        EA: Stretching rigidity, N.
        GJ: Twisting rigidity, N.m^2.
        EIy: Bending rigidity about y, N.m^2.
        EIz: Bending rigidity about z, N.m^2.
        rho_A: Mass per length, kg/m.
        rho_Iy: Rotary inertia per length about y, kg.m.
        rho_Iz: Rotary inertia per length about z, kg.m.
        kGAy: Shear rigidity for deflection along y, N; infinite for Euler-Bernoulli.
        kGAz: Shear rigidity for deflection along z, N; infinite for Euler-Bernoulli.
    """

    EA: float
    GJ: float
    EIy: float
    EIz: float
    rho_A: float
    rho_Iy: float
    rho_Iz: float
    kGAy: float = math.inf
    kGAz: float = math.inf


@dataclass(frozen=True, eq=False)
class General:
    """A section whose strains do not see each other in its own axes only, or not at all: SI units.

    Its own axes are the section's, turned by `twist` about x. Strains and forces are in the order of
    `STRAINS`: stretch and both shears, twist and both bendings, forces and moments on the axis.

    Attributes:
        stiffness: Positive definite, own axes, (6, 6), N, N.m and N.m^2; (4, 4), without shears, for Euler-Bernoulli.
        rho_A: Mass per length, kg/m.
        center: Mass centre from the axis, own axes y and z, m, (2,).
        inertia: Rotary inertia per length about the mass centre, own axes, kg.m, (3, 3).
        twist: Angle from the section's axes to the own ones, about x, rad.
    """

    stiffness: Array
    rho_A: float
    center: Array
    inertia: Array
    twist: float = 0.0


STRAINS = ("stretch", "shear_y", "shear_z", "twist", "bend_y", "bend_z")
"""Strains by the order of a 6 x 6 stiffness; bending about y is positive where the section turns backwards."""

EA, GJ, EIY, EIZ, RHO_A, RHO_IY, RHO_IZ, KGAY, KGAZ = range(9)
"""Columns of a table of sections."""


@dataclass(frozen=True)
class Station:
    """A section at a place s of the axis, m."""

    at: float
    section: Section | General


@dataclass(frozen=True, eq=False)
class LumpedMass:
    """A rigid part fixed on a node, in the axes of the frame.

    Attributes:
        node: Index of the node.
        mass: kg.
        com: Mass centre from the node, m, (3,).
        inertia: About the mass centre, kg.m^2, (3, 3).
    """

    node: int
    mass: float
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))


@dataclass(frozen=True, eq=False)
class Frame:
    """A beam in numbers, in the user's body axes.

    Attributes:
        corners: Points of the axis, from root to tip, m, (nc, 3).
        elements: Number of elements, which the named nodes bound; spread over the segments by length.
        stations: Sections by place; linear between two of them, constant before the first and after the last. Two at
            one place make a step.
        masses: On the nodes.
        up: Direction that the section's z axis leans to, not along any segment, (3,).
    """

    corners: Array
    elements: int
    stations: tuple[Station, ...]
    masses: tuple[LumpedMass, ...] = ()
    up: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))

    @cached_property
    def corner_s(self) -> Array:
        """Path coordinates of the corners, m, (nc,)."""
        return corner_places(self.corners)

    @property
    def length(self) -> float:
        """Of the axis, m."""
        return float(self.corner_s[-1])

    @property
    def section(self) -> Section | General:
        """The section at the root."""
        return self.stations[0].section

    @cached_property
    def general(self) -> tuple[General, ...]:
        """The sections of all stations if they are general ones; none otherwise: a frame has one kind."""
        return tuple(s.section for s in self.stations if isinstance(s.section, General))

    @cached_property
    def axes(self) -> Array:
        """Axes of the sections on each segment, as columns, (nc - 1, 3, 3)."""
        x = np.diff(self.corners, axis=0)
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
        z = self.up - (x @ self.up)[:, np.newaxis] * x
        z = z / np.linalg.norm(z, axis=1, keepdims=True)
        return np.stack([x, np.cross(z, x), z], axis=-1)

    @cached_property
    def node_s(self) -> Array:
        """Path coordinates of the named nodes, m, (elements + 1,)."""
        return divided(self.corner_s, self.elements)

    def position(self, s: Array) -> Array:
        """Points of the axis, m, (m, 3), at path coordinates (m,)."""
        return np.stack([np.interp(s, self.corner_s, self.corners[:, i]) for i in range(3)], axis=-1)

    @cached_property
    def table(self) -> Array:
        """Sections of the stations, one row each, (number of stations, 9)."""
        plain = [s.section for s in self.stations if isinstance(s.section, Section)]
        return np.array([astuple(section) for section in plain], dtype=np.float64)

    @property
    def is_straight(self) -> bool:
        """Whether all segments have one direction."""
        return bool(np.all(np.abs(self.axes - self.axes[0]) <= ALONG))

    @property
    def is_decoupled(self) -> bool:
        """Whether stretch, twist and both bendings do not see each other.

        The axis is straight, and every mass has its centre on it and its principal axes along the section's.
        """
        if not self.is_straight or self.general:
            return False
        axes = self.axes[0]
        for mass in self.masses:
            offset, inertia = axes.T @ mass.com, axes.T @ mass.inertia @ axes
            products = np.abs(inertia - np.diag(np.diag(inertia)))
            if mass.mass > 0.0 and np.any(np.abs(offset[1:]) > ALONG * self.length):
                return False
            if np.any(products > ALONG * np.abs(inertia).max()):
                return False
        return True

    def in_own_axes(self) -> Frame:
        """A straight frame along +x from the origin, in the axes of its sections."""
        axes = self.axes[0]
        corners = np.zeros_like(self.corners)
        corners[:, 0] = self.corner_s
        masses = tuple(
            replace(mass, com=axes.T @ mass.com, inertia=axes.T @ mass.inertia @ axes) for mass in self.masses
        )
        return Frame(corners, self.elements, self.stations, masses)


def straight(length: float, elements: int, section: Section, masses: tuple[LumpedMass, ...] = ()) -> Frame:
    """A uniform beam along +x."""
    corners = np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0]])
    return Frame(corners, elements, (Station(0.0, section),), masses)
