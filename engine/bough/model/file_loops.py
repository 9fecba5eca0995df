"""`loops:` and `couplings:` of the model file as written."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bough.model.closures import CLOSURE_TYPES, ClosureType
from bough.model.file_frame import NAME, FrameFile
from bough.text.kinds import FileModel, Name, Number, Positive, StopAtFirst, Vec3


class LoopFile(FileModel):
    """A closure between two nodes: the second frame is hinged to the first."""

    name: Name = Field("", description=NAME)
    type: ClosureType = Field(description=f"one of {', '.join(CLOSURE_TYPES)}")
    between: Annotated[list[str], StopAtFirst(), Field(min_length=2, max_length=2)] = Field(
        description="two nodes, [<body>.<node>, <body>.<node>]; ground.origin is the inertial frame"
    )
    axis: Vec3 = Field([], description="3 numbers, not all zero: direction of the axis in the first frame")
    axes: Annotated[list[Vec3], StopAtFirst()] = Field([], description="a list of axes, each 3 numbers")
    frames: Annotated[list[FrameFile], Field(min_length=2, max_length=2)] = Field(
        [], description="two mappings {position, quaternion}: an offset on each node"
    )
    length: Positive | None = Field(None, description="a number, more than 0: length of a rod, m; default as drawn")
    radius: Positive | None = Field(None, description="a number, more than 0: radius of a rolling disc, m")


class CouplingFile(FileModel):
    """A linear relation of coordinates: sum of factor times coordinate = offset."""

    name: Name = Field("", description=NAME)
    of: dict[str, Number] = Field(description="a mapping from coordinates of one-DOF hinges to factors")
    offset: Number = Field(0.0, description="a number: what the sum is, rad or m")
