"""The `beam:` entry of the model file, as written."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Discriminator, Field, Tag

from bough.model.beam_data import Boundary
from bough.model.damping import DampingFile
from bough.model.file_space import WheelFile
from bough.text.kinds import (
    TAG,
    FileModel,
    NonNegative,
    Number,
    Numbers,
    Positive,
    StopAtFirst,
    Vec2,
    Vec3,
    Vec6,
    Whole,
)

MAX_ELEMENTS = 10_000
MAX_BODIES = 500
"""Bodies that a beam can be cut into."""
MAX_POINTS = 200
"""Points of a beam's axis, and stations on it: each begins an element, and the elements' matrices are dense."""

_SHAPES = "rectangle, box, circle, tube or I"


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

    shape: Literal["rectangle"] = Field(description=_SHAPES)
    width: Positive = Field(description="a number above 0: size along y, m")
    height: Positive = Field(description="a number above 0: size along z, m")


class Box(_SectionFile):
    """A hollow rectangle with one wall thickness."""

    shape: Literal["box"] = Field(description=_SHAPES)
    width: Positive = Field(description="a number above 0: outer size along y, m")
    height: Positive = Field(description="a number above 0: outer size along z, m")
    thickness: Positive = Field(description="a number above 0: wall thickness, m")


class Circle(_SectionFile):
    """A solid circle, by radius or diameter."""

    shape: Literal["circle"] = Field(description=_SHAPES)
    radius: Positive = Field(0.0, description="a number above 0: radius, m")
    diameter: Positive = Field(0.0, description="a number above 0: diameter, m")


class Tube(_SectionFile):
    """A ring: outer radius or diameter, and wall thickness or inner radius or diameter."""

    shape: Literal["tube"] = Field(description=_SHAPES)
    radius: Positive = Field(0.0, description="a number above 0: outer radius, m")
    diameter: Positive = Field(0.0, description="a number above 0: outer diameter, m")
    outer_radius: Positive = Field(0.0, description="a number above 0: outer radius, m")
    outer_diameter: Positive = Field(0.0, description="a number above 0: outer diameter, m")
    thickness: Positive = Field(0.0, description="a number above 0: wall thickness, m")
    inner_radius: NonNegative = Field(0.0, description="a number, 0 or more: inner radius, m")
    inner_diameter: NonNegative = Field(0.0, description="a number, 0 or more: inner diameter, m")


class WideFlange(_SectionFile):
    """An I: a web along z between two equal flanges along y."""

    shape: Literal["I"] = Field(description=_SHAPES)
    width: Positive = Field(description="a number above 0: width of the flanges, along y, m")
    height: Positive = Field(description="a number above 0: height over both flanges, along z, m")
    flange: Positive = Field(description="a number above 0: thickness of each flange, m")
    web: Positive = Field(description="a number above 0: thickness of the web, m")


Rows6: TypeAlias = Annotated[list[Vec6], StopAtFirst(), Field(min_length=6, max_length=6)]


class SectionRigidities(FileModel):
    """A section by its rigidities and its mass, each on its own; no material is needed."""

    EA: Positive = Field(description="a number above 0: stretching rigidity, N")
    EIy: Positive = Field(description="a number above 0: bending rigidity about y through the tension centre, N.m^2")
    EIz: Positive = Field(description="a number above 0: bending rigidity about z through the tension centre, N.m^2")
    GJ: Positive = Field(description="a number above 0: twisting rigidity, N.m^2")
    GAy: Positive = Field(0.0, description="a number above 0: shear rigidity for deflection along y, N")
    GAz: Positive = Field(0.0, description="a number above 0: shear rigidity for deflection along z, N")
    mass: Positive = Field(description="a number above 0: mass per length, kg/m")
    Jy: NonNegative = Field(0.0, description="a number, 0 or more: rotary inertia per length about y, kg.m")
    Jz: NonNegative = Field(0.0, description="a number, 0 or more: rotary inertia per length about z, kg.m")
    Jx: NonNegative = Field(0.0, description="a number, 0 or more: rotary inertia per length about x, kg.m")
    mass_center: Vec2 = Field([0.0, 0.0], description="2 numbers: mass centre [y, z] from the axis, m")
    tension_center: Vec2 = Field([0.0, 0.0], description="2 numbers: where a pull does not bend, [y, z], m")
    shear_center: Vec2 = Field([0.0, 0.0], description="2 numbers: where a shear force does not twist, [y, z], m")
    twist: Number = Field(0.0, description="a number: angle of the section's own axes about x, rad")


class SectionMatrices(FileModel):
    """A section by its full stiffness and mass, as VABS and BeamDyn have them; no material is needed."""

    stiffness: Rows6 = Field(description="6 rows of 6 numbers: stiffness about the axis, symmetric and positive")
    mass: Rows6 = Field(description="6 rows of 6 numbers: mass per length about the axis, symmetric")
    order: Literal["vabs", "beamdyn"] = Field(
        "vabs",
        description="one of vabs (x along the beam; forces x, y, z, then moments), beamdyn (z along the beam)",
    )
    twist: Number = Field(0.0, description="a number: angle of the section's own axes about x, rad")


SHAPES = ("rectangle", "box", "circle", "tube", "I")


def _section_kind(value: Any) -> str:
    """Which section a mapping describes; one whose shape is unknown is refused as a rectangle's `shape`."""
    if isinstance(value, dict) and "stiffness" in value:
        return TAG + "matrices"
    if isinstance(value, dict) and "shape" not in value and {"EA", "EIy", "EIz", "GJ", "mass"} & value.keys():
        return TAG + "rigidities"
    if not isinstance(value, dict) or "shape" not in value:
        return TAG + "numbers"
    shape = value["shape"]
    return TAG + (shape if isinstance(shape, str) and shape in SHAPES else "rectangle")


SectionFile: TypeAlias = Annotated[
    Annotated[SectionNumbers, Tag(TAG + "numbers")]
    | Annotated[SectionRigidities, Tag(TAG + "rigidities")]
    | Annotated[SectionMatrices, Tag(TAG + "matrices")]
    | Annotated[Rectangle, Tag(TAG + "rectangle")]
    | Annotated[Box, Tag(TAG + "box")]
    | Annotated[Circle, Tag(TAG + "circle")]
    | Annotated[Tube, Tag(TAG + "tube")]
    | Annotated[WideFlange, Tag(TAG + "I")],
    Discriminator(_section_kind),
]


class StationFile(FileModel):
    """A section at a place along the axis."""

    at: NonNegative = Field(description="a number, 0 or more: place along the axis, m from the root")
    section: SectionFile = Field(description="a mapping, as `section` of a uniform beam")


class BeamMassFile(FileModel):
    """A rigid part on a node."""

    at: str = Field(description="the name of a node: root, n1, n2, ..., tip")
    mass: NonNegative = Field(description="a number, 0 or more: mass, kg")
    com: Vec3 = Field([0.0, 0.0, 0.0], description="3 numbers: mass centre from the node [x, y, z], m, body axes")
    inertia: Vec6 = Field(
        [0.0] * 6, description="6 numbers: inertia [Ixx, Iyy, Izz, Ixy, Ixz, Iyz], kg.m^2, about the mass centre"
    )


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
    """Any of `count`, numbers per family, and `max_frequency`, but not count and families together."""

    boundary: Boundary = Field(
        "cantilever", description="one of cantilever, free, pinned, craig-bampton: how the modes are computed"
    )
    count: _Count = Field(0, description="a whole number, 0 or more: modes to keep, lowest first")
    max_frequency: Positive = Field(0.0, description="a number above 0: no modes above this frequency, Hz")
    axis: Vec3 = Field([], description="3 numbers, not all zero: axis about which pinned modes turn the root")
    axes: Annotated[list[Vec3], StopAtFirst(), Field(min_length=1, max_length=3)] = Field(
        [], description="a list of one to three axes, each 3 numbers, about which pinned modes turn the root"
    )
    interfaces: Annotated[list[str], StopAtFirst(), Field(min_length=1)] = Field(
        ["tip"], description="a list of at least one node that a craig-bampton set has static modes of"
    )
    bending_y: _Count = Field(0, description="a whole number, 0 or more: modes that bend about y, moving along z")
    bending_z: _Count = Field(0, description="a whole number, 0 or more: modes that bend about z, moving along y")
    torsion: _Count = Field(0, description="a whole number, 0 or more: modes that twist")
    axial: _Count = Field(0, description="a whole number, 0 or more: modes that stretch")


def _one_of(*keys: str) -> dict[str, Any]:
    """Of the JSON schema: exactly one of the keys is there."""
    return {"oneOf": [{"required": [key]} for key in keys]}


class BeamFile(FileModel):
    """A beam: its axis by `length` or `points`, its sections by `section` or `stations`."""

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [_one_of("length", "points"), _one_of("section", "stations")],
            "anyOf": [{"required": ["modes"]}, {"required": ["bodies"]}],
        }
    )

    length: Positive = Field(
        0.0, description="a number above 0: length of a beam along +x, m; for any other axis give `points`"
    )
    points: Annotated[list[Vec3], StopAtFirst(), Field(min_length=2, max_length=MAX_POINTS)] = Field(
        [], description=f"a list of 2 to {MAX_POINTS} points [x, y, z] of the axis, m, root first"
    )
    up: Vec3 = Field(
        [0.0, 0.0, 1.0], description="3 numbers, not all zero: direction that the section's z axis leans to"
    )
    elements: Annotated[Whole, Field(ge=1, le=MAX_ELEMENTS)] = Field(
        description=f"a whole number from 1 to {MAX_ELEMENTS}: finite elements along the beam"
    )
    bodies: Annotated[Whole, Field(ge=1, le=MAX_BODIES)] = Field(
        1, description=f"a whole number from 1 to {MAX_BODIES}: bodies that the beam is cut into, for large deflections"
    )
    wheels: list[WheelFile] = Field([], description="a list of {name, at, axis, inertia, w}")
    section: SectionFile = Field(
        default_factory=lambda: SectionNumbers(area=1.0, Iy=1.0, Iz=1.0, J=1.0),
        description="a mapping: {area, Iy, Iz, J}, or {shape: rectangle | box | circle | tube | I, ...}, or "
        "{EA, EIy, EIz, GJ, mass, ...}, or {stiffness, mass}",
    )
    stations: Annotated[list[StationFile], Field(min_length=2, max_length=MAX_POINTS)] = Field(
        [], description=f"a list of 2 to {MAX_POINTS} mappings {{at, section}}, from root to tip"
    )
    material: MaterialFile | None = Field(None, description="a mapping: {E, nu, rho} or {E, G, rho}")
    masses: list[BeamMassFile] = Field([], description="a list of {at, mass, com, inertia}: rigid parts on nodes")
    modes: BeamModesFile = Field(
        default_factory=BeamModesFile,
        description="a mapping: {boundary, count}, or {boundary, bending_y, bending_z, torsion, axial}, or "
        "{boundary, max_frequency}",
    )
    damping: DampingFile = Field(
        0.0,
        description="a ratio, 0 or more, or a list of one per mode, or {rayleigh: [alpha, beta]}, or {matrix: [...]}",
    )
    initial: ModalInitialFile = Field(
        default_factory=ModalInitialFile, description="a mapping: {eta: [...], eta_dot: [...]}"
    )
