"""The model file as written: the definitions behind both the checks and the JSON schema.

Descriptions say what is expected at a key: they are what an error message shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field, create_model

from bough.model.file_beam import BeamFile, ModalInitialFile
from bough.model.file_drives import FrictionFile, GearFile, LimitsFile
from bough.model.file_fe import FeFile
from bough.model.file_forces import ForceFile
from bough.model.file_frame import NAME, POSITION, QUATERNION, FrameFile
from bough.model.file_loops import CouplingFile, LoopFile
from bough.model.file_space import Gravity, WheelFile
from bough.model.hinges import HINGES, Drive, HingeType
from bough.text.kinds import (
    DiagonalOrMatrix,
    FileModel,
    Name,
    NonNegative,
    NonNegativeOrList,
    NonNegatives,
    Number,
    NumberOrList,
    StopAtFirst,
    Vec3,
    Vec4,
    Vec6,
    Whole,
)

FIDELITY = "one of full, ruthless"

VERSION = 1
"""Format version that this bough reads."""

_INERTIA = "6 numbers: inertia [Ixx, Iyy, Izz, Ixy, Ixz, Iyz], kg.m^2"
_PER_DOF = "or a list of one per degree of freedom, translations first"


class InitialFile(FileModel):
    """Start values of a hinge, named as its variables."""

    phi: NumberOrList = Field(0.0, description="a number, or one per rotation: angle, rad")
    w: NumberOrList = Field(0.0, description="a number, or one per rotation: angular velocity, rad/s")
    s: NumberOrList = Field(0.0, description="a number, or one per translation: displacement, m")
    v: NumberOrList = Field(0.0, description="a number, or one per translation: velocity, m/s")
    Q: Vec4 = Field([0.0, 0.0, 0.0, 1.0], description=QUATERNION)


class _HingeFile(FileModel):
    """How a body hangs on its parent."""

    name: Name = Field("", description=NAME)
    type: HingeType = Field(description=f"one of {', '.join(HINGES)}")
    axis: Vec3 = Field([], description="3 numbers, not all zero: direction of the axis")
    axes: Annotated[list[Vec3], StopAtFirst()] = Field([], description="a list of axes, each 3 numbers")
    frame: FrameFile = Field(default_factory=FrameFile, description="a mapping: {position, quaternion}")
    damping: NonNegativeOrList = Field(0.0, description=f"a number, 0 or more, N.m.s/rad or N.s/m, {_PER_DOF}")
    stiffness: NonNegativeOrList = Field(0.0, description=f"a number, 0 or more, N.m/rad or N/m, {_PER_DOF}")
    rest: NumberOrList = Field(0.0, description=f"a number, rad or m, {_PER_DOF}")
    armature: NonNegativeOrList = Field(0.0, description=f"a number, 0 or more, kg.m^2 or kg, {_PER_DOF}")
    initial: InitialFile = Field(default_factory=InitialFile, description="a mapping of start values: phi, w, s, v, Q")
    drive: Drive = Field("torque", description="one of torque, motion, locked")
    friction: FrictionFile | None = Field(None, description="a mapping: {coulomb, static, stribeck}")
    limits: LimitsFile | None = Field(
        None, description="a mapping: {lower, upper, stiffness, damping} or {.., restitution} or {.., latch}"
    )
    gear: GearFile | None = Field(None, description="a mapping: {ratio, inertia, stiffness, damping, backlash}")


if TYPE_CHECKING:
    HingeFile: TypeAlias = _HingeFile
else:  # with the keys that single hinge types bring
    _OWN = {key: f"a number, {name} hinges: {what}" for name, kind in HINGES.items() for key, what in kind.own}
    _KEYS = {key: (Number, Field(0.0, description=what)) for key, what in _OWN.items()}
    HingeFile = create_model("HingeFile", __base__=_HingeFile, __doc__=_HingeFile.__doc__, **_KEYS)


class RigidFile(FileModel):
    """A rigid body."""

    mass: NonNegative = Field(description="a number, 0 or more: mass, kg")
    com: Vec3 = Field([0.0, 0.0, 0.0], description="3 numbers: mass centre [x, y, z], m")
    inertia: Vec6 = Field([0.0] * 6, description=f"{_INERTIA}, about the mass centre")
    nodes: dict[str, FrameFile] = Field({}, description="a mapping from node names to {position, quaternion}")
    wheels: list[WheelFile] = Field([], description="a list of {name, axis, inertia, w} or {axis, momentum}")
    tunable: bool = Field(False, description="true or false: whether mass properties can change in a run")


class NodalNodeFile(FileModel):
    """A node of a flexible body."""

    name: Name = Field(description=NAME)
    position: Vec3 = Field(description=POSITION)
    mass: NonNegative = Field(0.0, description="a number, 0 or more: mass, kg")
    com: Vec3 = Field([0.0, 0.0, 0.0], description="3 numbers: mass centre from the node [x, y, z], m, body axes")
    inertia: Vec6 = Field([0.0] * 6, description=f"{_INERTIA}, about the mass centre")


class NodalFile(FileModel):
    """A flexible body by nodes and mode shapes."""

    attach: Name = Field(description="the name of the node that carries the body's own hinge")
    nodes: Annotated[list[NodalNodeFile], Field(min_length=1)] = Field(
        description="a list of at least one {name, position, mass, inertia}"
    )
    modes: Annotated[list[Annotated[list[Vec6], StopAtFirst()]], StopAtFirst()] = Field(
        [], description="a list [mode][node][6] of numbers: rotation, then translation of each node"
    )
    stiffness: DiagonalOrMatrix = Field(
        [], description="a list of one number per mode, or a symmetric matrix with a row per mode"
    )
    damping: NonNegatives = Field([], description="a list of ratios, 0 or more, one per mode")
    damping_matrix: DiagonalOrMatrix = Field(
        [], description="a list of one number per mode, or a symmetric matrix with a row per mode"
    )
    wheels: list[WheelFile] = Field([], description="a list of {name, at, axis, inertia, w}")
    clamped: bool = Field(False, description="true or false: whether every mode is zero at the attach node")
    initial: ModalInitialFile = Field(
        default_factory=ModalInitialFile, description="a mapping: {eta: [...], eta_dot: [...]}"
    )


class BodyFile(FileModel):
    """One body with the hinge that carries it."""

    name: Name = Field(description=NAME)
    parent: str = Field(description="'ground' or the name of an earlier body")
    at: str = Field("origin", description="the name of a node of the parent")
    hinge: HingeFile = Field(description="a mapping with the key `type`")
    tunable: bool = Field(False, description="true or false: whether mass properties can change in a run")
    fidelity: Literal["full", "ruthless"] | None = Field(None, description=FIDELITY)
    rigid: RigidFile | None = Field(None, description="a mapping: {mass, com, inertia, nodes, wheels}")
    beam: BeamFile | None = Field(None, description="a mapping: {length, elements, section, material, modes, damping}")
    nodal: NodalFile | None = Field(None, description="a mapping: {attach, nodes, modes, stiffness, damping}")
    fe: FeFile | None = Field(None, description="a mapping: {file, interfaces, attach, modes, damping}")


class HeaderFile(FileModel):
    """Everything at the top of the file but the bodies."""

    bough: Annotated[Whole, Field(ge=VERSION, le=VERSION)] = Field(
        description=f"the format version, which is {VERSION}"
    )
    name: Name = Field(description=NAME)
    gravity: Gravity = Field([0.0, 0.0, 0.0], description="3 numbers: gravity [x, y, z], m/s^2; or {mu, center}")
    fidelity: Literal["full", "ruthless"] = Field("full", description=FIDELITY)
    geometric_stiffening: bool = Field(False, description="true or false")
    loops: list[LoopFile] | None = Field(None, description="a list of {name, type, between, axis, frames}")
    forces: list[ForceFile] | None = Field(None, description="a list of {name, type, between, stiffness, damping}")
    couplings: list[CouplingFile] | None = Field(None, description="a list of {name, of, offset}")
    inputs: Annotated[list[str], StopAtFirst()] | None = Field(
        None, description="a list of node loads `<body>.<node>.force`, `.torque`, `.local_force`, `.local_torque`"
    )
    outputs: Annotated[list[str], StopAtFirst()] | None = Field(
        None, description="a list of node sensors `<body>.<node>`, `<body>.<node>.local`, `.deflection`"
    )


class ModelFile(HeaderFile):
    """A bough model file."""

    bodies: Annotated[list[BodyFile], Field(min_length=1)] = Field(
        description="a list of at least one body, parents before children"
    )
