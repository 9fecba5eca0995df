"""The `beam:` entry of the model file, as written."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from bough.model.beam import Boundary
from bough.model.values import TAG, FileModel, NonNegative, NonNegatives, Numbers, Positive, Vec2, Whole

MAX_ELEMENTS = 10_000


class ModalInitialFile(FileModel):
    """Start values of modal coordinates."""

    eta: Numbers = Field([], description="a list of numbers, one modal coordinate per mode")
    eta_dot: Numbers = Field([], description="a list of numbers, one modal rate per mode, 1/s")


class _SectionFile(FileModel):
    shear_area_y: Positive = Field(0.0, description="a number above 0: area for shear along y, m^2")
    shear_area_z: Positive = Field(0.0, description="a number above 0: area for shear along z, m^2")


class SectionNumbers(_SectionFile):
    """A section by its area and second moments."""

    area: Positive = Field(description="a number above 0: area of the section, m^2")
    Iy: Positive = Field(description="a number above 0: integral of z^2 over the section, m^4")
    Iz: Positive = Field(description="a number above 0: integral of y^2 over the section, m^4")
    J: Positive = Field(description="a number above 0: torsion constant, m^4")


class Rectangle(_SectionFile):
    """A solid rectangle."""

    shape: Literal["rectangle"] = Field(description="rectangle, box, circle or tube")
    width: Positive = Field(description="a number above 0: size along y, m")
    height: Positive = Field(description="a number above 0: size along z, m")


class Box(_SectionFile):
    """A hollow rectangle with one wall thickness."""

    shape: Literal["box"] = Field(description="rectangle, box, circle or tube")
    width: Positive = Field(description="a number above 0: outer size along y, m")
    height: Positive = Field(description="a number above 0: outer size along z, m")
    thickness: Positive = Field(description="a number above 0: wall thickness, m")


class Circle(_SectionFile):
    """A solid circle, by radius or diameter."""

    shape: Literal["circle"] = Field(description="rectangle, box, circle or tube")
    radius: Positive = Field(0.0, description="a number above 0: radius, m")
    diameter: Positive = Field(0.0, description="a number above 0: diameter, m")


class Tube(_SectionFile):
    """A ring: outer radius or diameter, and wall thickness or inner radius or diameter."""

    shape: Literal["tube"] = Field(description="rectangle, box, circle or tube")
    radius: Positive = Field(0.0, description="a number above 0: outer radius, m")
    diameter: Positive = Field(0.0, description="a number above 0: outer diameter, m")
    outer_radius: Positive = Field(0.0, description="a number above 0: outer radius, m")
    outer_diameter: Positive = Field(0.0, description="a number above 0: outer diameter, m")
    thickness: Positive = Field(0.0, description="a number above 0: wall thickness, m")
    inner_radius: NonNegative = Field(0.0, description="a number, 0 or more: inner radius, m")
    inner_diameter: NonNegative = Field(0.0, description="a number, 0 or more: inner diameter, m")


SHAPES = ("rectangle", "box", "circle", "tube")


def _section_kind(value: Any) -> str:
    """Which section a mapping describes; one whose shape is unknown is refused as a rectangle's `shape`."""
    if not isinstance(value, dict) or "shape" not in value:
        return TAG + "numbers"
    shape = value["shape"]
    return TAG + (shape if isinstance(shape, str) and shape in SHAPES else "rectangle")


SectionFile: TypeAlias = Annotated[
    Annotated[SectionNumbers, Tag(TAG + "numbers")]
    | Annotated[Rectangle, Tag(TAG + "rectangle")]
    | Annotated[Box, Tag(TAG + "box")]
    | Annotated[Circle, Tag(TAG + "circle")]
    | Annotated[Tube, Tag(TAG + "tube")],
    Discriminator(_section_kind),
]


class MaterialFile(FileModel):
    """Elastic constants: E with either nu or G, and the density."""

    E: Positive = Field(description="a number above 0: Young's modulus, Pa")
    nu: Annotated[float, Field(gt=-1.0, le=0.5, allow_inf_nan=False)] = Field(
        0.0, description="a number above -1 and up to 0.5: Poisson's ratio"
    )
    G: Positive = Field(0.0, description="a number above 0: shear modulus, Pa")
    rho: Positive = Field(description="a number above 0: density, kg/m^3")


_Count: TypeAlias = Annotated[Whole, Field(ge=0, le=6 * MAX_ELEMENTS)]


class BeamModesFile(FileModel):
    """Either `count`, or numbers per family."""

    boundary: Boundary = Field(
        "cantilever", description="one of cantilever, free, pinned, craig-bampton: how the modes are computed"
    )
    count: _Count = Field(0, description="a whole number, 0 or more: modes to keep, lowest first")
    bending_y: _Count = Field(0, description="a whole number, 0 or more: modes that bend about y, moving along z")
    bending_z: _Count = Field(0, description="a whole number, 0 or more: modes that bend about z, moving along y")
    torsion: _Count = Field(0, description="a whole number, 0 or more: modes that twist")
    axial: _Count = Field(0, description="a whole number, 0 or more: modes that stretch")


class Rayleigh(FileModel):
    """Damping proportional to mass and stiffness."""

    rayleigh: Vec2 = Field(description="2 numbers, 0 or more: alpha in 1/s, beta in s")


def _damping_kind(value: Any) -> str:
    if isinstance(value, list):
        return TAG + "list"
    return TAG + ("rayleigh" if isinstance(value, dict) else "number")


DampingFile: TypeAlias = Annotated[
    Annotated[NonNegative, Tag(TAG + "number")]
    | Annotated[NonNegatives, Tag(TAG + "list")]
    | Annotated[Rayleigh, Tag(TAG + "rayleigh")],
    Discriminator(_damping_kind),
]


class BeamFile(FileModel):
    """A straight uniform beam along +x."""

    length: Positive = Field(description="a number above 0: length of the beam, m")
    elements: Annotated[Whole, Field(ge=1, le=MAX_ELEMENTS)] = Field(
        description=f"a whole number from 1 to {MAX_ELEMENTS}: finite elements along the beam"
    )
    section: SectionFile = Field(
        description="a mapping: {area, Iy, Iz, J}, or {shape: rectangle | box | circle | tube, ...}"
    )
    material: MaterialFile = Field(description="a mapping: {E, nu, rho} or {E, G, rho}")
    modes: BeamModesFile = Field(
        description="a mapping: {boundary, count}, or {boundary, bending_y, bending_z, torsion, axial}"
    )
    damping: DampingFile = Field(
        0.0, description="a ratio, 0 or more, or a list of one per mode, or {rayleigh: [alpha, beta]}"
    )
    initial: ModalInitialFile = Field(
        default_factory=ModalInitialFile, description="a mapping: {eta: [...], eta_dot: [...]}"
    )
