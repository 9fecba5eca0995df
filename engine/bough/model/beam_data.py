"""A beam, as the rest of bough reads it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from bough.model.damping import ModalDamping
from bough.text.kinds import Frozen

Boundary: TypeAlias = Literal["cantilever", "free", "pinned", "craig-bampton"]
FAMILIES = ("bending_y", "bending_z", "torsion", "axial")
STATIC_MODES = 6
"""Constraint modes of a Craig-Bampton set: the six unit motions of each interface node, the root held."""

Vector3: TypeAlias = tuple[float, float, float]


class ModalInitial(Frozen):
    """Start values of a body's modal coordinates and their rates, one per mode; empty for zeros."""

    eta: tuple[float, ...]
    eta_dot: tuple[float, ...]


class Section(Frozen):
    """A cross-section, y and z its principal axes through the centroid.

    Attributes:
        area: m^2.
        Iy: Integral of z^2, m^4: bending about y, which moves the beam along z.
        Iz: Integral of y^2, m^4: bending about z, which moves the beam along y.
        J: Torsion constant, m^4.
        shear_area_y: For shear along y, m^2; None for a beam that does not shear (Euler-Bernoulli).
        shear_area_z: For shear along z, m^2; None likewise.
    """

    area: float
    Iy: float
    Iz: float
    J: float
    shear_area_y: float | None = None
    shear_area_z: float | None = None


class GeneralSection(Frozen):
    """A section by what resists and what moves, in its own axes: the section's, turned by `twist` about x.

    Attributes:
        stiffness: Rows of the matrix from strains (stretch, shear along y and z, twist, curvature about y and z) to
            forces and moments on the axis, N, N.m, N.m^2; four rows, without shear, for Euler-Bernoulli.
        mass: Per length, kg/m.
        center: Mass centre from the axis, y and z, m.
        inertia: Jxx Jyy Jzz Jxy Jxz Jyz per length about the mass centre, kg.m; entries of the matrix.
        twist: About x, rad.
    """

    stiffness: tuple[tuple[float, ...], ...]
    mass: float
    center: tuple[float, float] = (0.0, 0.0)
    inertia: tuple[float, float, float, float, float, float]
    twist: float = 0.0


class Station(Frozen):
    """A section at a place along the axis, m from the root."""

    at: float
    section: Section | GeneralSection


class Material(Frozen):
    """Young's modulus E and shear modulus G in Pa, density rho in kg/m^3."""

    E: float
    G: float
    rho: float


class BeamMass(Frozen):
    """A rigid part on a node of the beam.

    Attributes:
        node: Name of the node.
        mass: kg.
        com: Mass centre from the node, m, body axes.
        inertia: Ixx Iyy Izz Ixy Ixz Iyz about the mass centre, kg.m^2; entries of the matrix, body axes.
    """

    node: str
    mass: float
    com: Vector3
    inertia: tuple[float, float, float, float, float, float]


class BeamModes(Frozen):
    """Which modes of the beam to keep: the lowest `count` of all, or so many of each family, below a cut-off.

    Attributes:
        boundary: Condition under which the modes are computed.
        count: Number of modes by frequency; None if the families are counted, or the cut-off alone tells. A
            Craig-Bampton set has six static modes per interface besides, with any way of counting.
        bending_y: Modes that bend the beam about y, moving it along z; None if `count` is given, as below.
        bending_z: Modes that bend the beam about z, moving it along y.
        torsion: Modes that twist it.
        axial: Modes that stretch it.
        max_frequency: None above this, Hz; None for no limit.
        axes: Unit vectors in body axes about which pinned modes turn the root; empty for those of the body's hinge.
        interfaces: Nodes that a Craig-Bampton set has static modes of.
    """

    boundary: Boundary
    count: int | None = None
    bending_y: int | None = None
    bending_z: int | None = None
    torsion: int | None = None
    axial: int | None = None
    max_frequency: float | None = None
    axes: tuple[Vector3, ...] = ()
    interfaces: tuple[str, ...] = ()

    @property
    def families(self) -> dict[str, int]:
        """Modes per family; empty if the modes are not counted so."""
        numbers = {name: getattr(self, name) for name in FAMILIES}
        if self.count is not None or all(number is None for number in numbers.values()):
            return {}
        return {name: number or 0 for name, number in numbers.items()}

    @property
    def total(self) -> int | None:
        """Number of modal coordinates, static modes included; None if it takes the frequencies to tell."""
        if self.max_frequency is not None:
            return None
        static = STATIC_MODES * len(self.interfaces)
        return static + (sum(self.families.values()) if self.count is None else self.count)


class Beam(Frozen):
    """A beam along straight segments, from its node 'root' to its node 'tip'.

    Attributes:
        points: Of its axis, root first, m, body axes.
        length: Of its axis, m.
        up: Direction that the section's z axis leans to, unit length, body axes. The section's x axis is the
            direction of its segment, its z axis the part of `up` perpendicular to it.
        elements: Number of finite elements, spread over the segments by length.
        stations: Sections along the axis, linear between two of them, constant outside.
        material: Elastic constants and density; None where the sections bring their rigidities and masses.
        masses: Rigid parts on its nodes.
        modes: Modes to keep.
        damping: Modal damping.
        initial: Start values of the modal coordinates.
        bodies: Into how many bodies the beam is cut.
        names: Of its nodes, root first, where they are not those of `beam_node_names`: of a piece of a cut beam.
    """

    points: tuple[Vector3, ...]
    length: float
    up: Vector3 = (0.0, 0.0, 1.0)
    elements: int
    stations: tuple[Station, ...]
    material: Material | None = None
    masses: tuple[BeamMass, ...] = ()
    modes: BeamModes
    damping: ModalDamping
    initial: ModalInitial
    bodies: int = 1
    names: tuple[str, ...] = ()

    @property
    def section(self) -> Section | None:
        """The section at the root; None if it is a general one, which has no dimensions."""
        section = self.stations[0].section
        return section if isinstance(section, Section) else None

    @property
    def sections(self) -> tuple[Section, ...]:
        """Sections of the stations that have dimensions: all or none of them."""
        return tuple(s.section for s in self.stations if isinstance(s.section, Section))

    @property
    def node_names(self) -> tuple[str, ...]:
        """'root', the nodes between elements 'n1' to 'n<elements - 1>', 'tip'; a piece has those between its ends."""
        return self.names or beam_node_names(self.elements)


def beam_node_names(elements: int) -> tuple[str, ...]:
    """'root', 'n1' ..., 'tip', from one end to the other."""
    return ("root", *(f"n{i}" for i in range(1, elements)), "tip")


class Cut(Frozen):
    """Which piece of a cut beam a body is.

    Attributes:
        of: Name of the beam in the model file, which nodes, modes and messages bear.
        number: Of the piece, from 0 at the root.
        modes_before: Modes of the pieces inboard of it.
        whole: The beam in one piece, with the lowest modes of its root held, to be shown and to tell its damping.
    """

    of: str
    number: int
    modes_before: int
    whole: Beam
