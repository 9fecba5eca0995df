"""`forces:` of the model file as written."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from bough.model.file_frame import NAME, FrameFile
from bough.text.kinds import (
    TAG,
    FileModel,
    Name,
    NonNegative,
    Number,
    Numbers,
    Positive,
    StopAtFirst,
    Vec3,
)

ForceType: TypeAlias = Literal["spring", "actuator", "bushing", "contact"]
FORCE_TYPES: tuple[ForceType, ...] = ("spring", "actuator", "bushing", "contact")
ContactLaw: TypeAlias = Literal["linear", "hunt-crossley"]
OnlyWay: TypeAlias = Literal["tension", "compression"]


def _coefficient(value: Any) -> str:
    if not isinstance(value, list):
        return TAG + "number"
    return TAG + ("rows" if any(isinstance(row, list) for row in value) else "list")


Coefficient: TypeAlias = Annotated[
    Annotated[Number, Tag(TAG + "number")]
    | Annotated[Numbers, Tag(TAG + "list")]
    | Annotated[list[Numbers], StopAtFirst(), Tag(TAG + "rows")],
    Discriminator(_coefficient),
]
_SHAPES = "a number, a table [[x, f], ...], or for a bushing 6 numbers or 6 x 6"


def _one_or_two(value: Any) -> str:
    return TAG + ("pair" if isinstance(value, list) else "one")


Radius: TypeAlias = Annotated[
    Annotated[Positive, Tag(TAG + "one")]
    | Annotated[list[Positive], StopAtFirst(), Field(min_length=2, max_length=2), Tag(TAG + "pair")],
    Discriminator(_one_or_two),
]


class ForceFile(FileModel):
    """A force between two nodes."""

    name: Name = Field("", description=NAME)
    type: ForceType = Field(description=f"one of {', '.join(FORCE_TYPES)}")
    between: Annotated[list[str], StopAtFirst(), Field(min_length=2, max_length=2)] = Field(
        description="two nodes, [<body>.<node>, <body>.<node>]; ground.origin is the inertial frame"
    )
    frames: Annotated[list[FrameFile], Field(min_length=2, max_length=2)] = Field(
        [], description="two mappings {position, quaternion}: an offset on each node"
    )
    stiffness: Coefficient | None = Field(None, description=f"{_SHAPES}: N/m (N.m/rad)")
    damping: Coefficient | None = Field(None, description=f"{_SHAPES}: N.s/m (N.m.s/rad)")
    length: NonNegative | None = Field(None, description="a number, 0 or more: free length, m; default as drawn")
    only: OnlyWay | None = Field(None, description="one of tension, compression")
    normal: Vec3 | None = Field(None, description="3 numbers, not all zero: normal of the plane in the second frame")
    radius: Radius | None = Field(None, description="a number, more than 0: radius of the sphere, m; or two of them")
    exponent: Positive | None = Field(None, description="a number, more than 0: power of the depth, 1.5 for Hertz")
    law: ContactLaw | None = Field(None, description="one of linear, hunt-crossley: how a contact damps")
    friction: NonNegative | None = Field(None, description="a number, 0 or more: coefficient of friction")
    slip: Positive | None = Field(None, description="a number, more than 0: slip at which friction is 71 % there, m/s")
