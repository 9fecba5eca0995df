"""The `fe:` entry of the model file, as written."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from bough.model.damping import DampingFile
from bough.model.fe_data import Coupling, FeBoundary, FeFormat
from bough.model.file_beam import ModalInitialFile
from bough.text.kinds import MAX_MODES, FileModel, Positive, StopAtFirst, Vec3, Whole

_Node: TypeAlias = Annotated[Whole, Field(ge=0)]


class FeUnitsFile(FileModel):
    """What one unit of the files is in SI."""

    length: Positive = Field(1.0, description="a number above 0: metres per unit of length, 0.001 for mm")
    mass: Positive = Field(1.0, description="a number above 0: kilograms per unit of mass, 1000 for tonnes")
    time: Positive = Field(1.0, description="a number above 0: seconds per unit of time")


class FeInterfaceFile(FileModel):
    """Where a hinge, a load or a sensor sits: FE nodes, the point that stands for them, how both are coupled."""

    nodes: Annotated[list[_Node], StopAtFirst(), Field(min_length=1)] = Field(
        [], description="a list of node numbers, each 0 or more"
    )
    set: Annotated[str, Field(min_length=1)] = Field("", description="the name of a node set of the FE model")
    box: Annotated[list[Vec3], StopAtFirst(), Field(min_length=2, max_length=2)] = Field(
        [], description="2 opposite corners of a box around the nodes, each [x, y, z] in m"
    )
    position: Vec3 = Field([], description="3 numbers: position [x, y, z] of the interface point, m")
    coupling: Coupling = Field("rigid", description="one of rigid (RBE2), average (RBE3)")


class FeModesFile(FileModel):
    """Which modes to keep."""

    boundary: FeBoundary = Field(
        "craig-bampton", description="one of craig-bampton, cantilever, free, file: how the modes are computed"
    )
    count: Annotated[Whole, Field(ge=0, le=MAX_MODES)] = Field(
        0, description=f"a whole number from 0 to {MAX_MODES}: normal modes to keep, lowest first"
    )
    max_frequency: Positive = Field(0.0, description="a number above 0: highest frequency of a normal mode, Hz")


class FeMatricesFile(FileModel):
    """Names of the matrices in a file that holds several."""

    stiffness: str = Field("", description="the name of the stiffness matrix in the file")
    mass: str = Field("", description="the name of the mass matrix in the file")
    damping: str = Field("", description="the name of the damping matrix in the file")


class FeFile(FileModel):
    """A flexible body from a finite element program."""

    file: Annotated[str, Field(min_length=1)] = Field(
        description="the path of the FE program's file, from the model file's folder"
    )
    format: FeFormat | None = Field(None, description="one of npz, calculix, abaqus, nastran, sid")
    mesh: Annotated[str, Field(min_length=1)] | None = Field(None, description="the path of the mesh file")
    mass_file: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="the path of the file with the mass matrix"
    )
    matrices: FeMatricesFile = Field(
        default_factory=FeMatricesFile, description="a mapping: {stiffness, mass, damping}, names in the file"
    )
    units: FeUnitsFile = Field(
        default_factory=FeUnitsFile, description="a mapping: {length, mass, time}, SI per unit of the files"
    )
    mass: Positive | None = Field(None, description="a number above 0: what the body should weigh, kg")
    interfaces: Annotated[dict[str, FeInterfaceFile], Field(min_length=1)] = Field(
        description="a mapping from names to {nodes | set | box, position, coupling}"
    )
    attach: str | None = Field(None, description="the name of the interface that carries the body's own hinge")
    modes: FeModesFile = Field(default_factory=FeModesFile, description="a mapping: {boundary, count, max_frequency}")
    damping: DampingFile | None = Field(
        None,
        description="a ratio, 0 or more, or a list of one per mode, or {rayleigh: [alpha, beta]}, or {matrix: [...]}",
    )
    initial: ModalInitialFile = Field(
        default_factory=ModalInitialFile, description="a mapping: {eta: [...], eta_dot: [...]}"
    )
