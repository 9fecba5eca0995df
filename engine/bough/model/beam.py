"""A straight beam along +x of its body frame, as the rest of bough reads it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from bough.model.values import Frozen

Boundary: TypeAlias = Literal["cantilever", "free", "pinned", "craig-bampton"]
FAMILIES = ("bending_y", "bending_z", "torsion", "axial")
STATIC_MODES = 6
"""Constraint modes of a Craig-Bampton set: the six unit motions of the tip, the root held."""


class ModalInitial(Frozen):
    """Start values of a body's modal coordinates and their rates, one per mode."""

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


class Material(Frozen):
    """Young's modulus E and shear modulus G in Pa, density rho in kg/m^3."""

    E: float
    G: float
    rho: float


class BeamModes(Frozen):
    """Which modes of the beam to keep: the lowest `count` of all, or so many of each family.

    Attributes:
        boundary: Condition under which the modes are computed.
        count: Number of modes by frequency; None if the families are counted. A Craig-Bampton set has six
            static modes besides, with either way of counting.
        bending_y: Modes that bend the beam about y, moving it along z; None if `count` is given, as below.
        bending_z: Modes that bend the beam about z, moving it along y.
        torsion: Modes that twist it.
        axial: Modes that stretch it.
    """

    boundary: Boundary
    count: int | None = None
    bending_y: int | None = None
    bending_z: int | None = None
    torsion: int | None = None
    axial: int | None = None

    @property
    def families(self) -> dict[str, int]:
        """Modes per family; empty if the modes are counted by frequency."""
        if self.count is not None:
            return {}
        return {name: getattr(self, name) or 0 for name in FAMILIES}

    @property
    def total(self) -> int:
        """Number of modal coordinates, static modes included."""
        static = STATIC_MODES if self.boundary == "craig-bampton" else 0
        return static + (sum(self.families.values()) if self.count is None else self.count)


class BeamDamping(Frozen):
    """Damping of a beam, one of two kinds.

    Attributes:
        ratios: Of critical damping, one per mode; None if Rayleigh damping is given.
        rayleigh: (alpha, beta) in 1/s and s: alpha M + beta K; None if ratios are given.
    """

    ratios: tuple[float, ...] | None = None
    rayleigh: tuple[float, float] | None = None


class Beam(Frozen):
    """A uniform beam from 'root' at the body's origin to 'tip' at (length, 0, 0).

    Attributes:
        length: m.
        elements: Number of finite elements, all of one length.
        section: Cross-section.
        material: Elastic constants and density.
        modes: Modes to keep.
        damping: Modal damping.
        initial: Start values of the modal coordinates.
    """

    length: float
    elements: int
    section: Section
    material: Material
    modes: BeamModes
    damping: BeamDamping
    initial: ModalInitial

    @property
    def node_names(self) -> tuple[str, ...]:
        """'root', the nodes between elements 'n1' to 'n<elements - 1>', 'tip'."""
        return ("root", *(f"n{i}" for i in range(1, self.elements)), "tip")
