"""Wheels and gravity of the model file as written."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Field, Tag

from bough.model.file_frame import NAME
from bough.text.kinds import TAG, FileModel, Name, NonNegative, Number, Positive, Vec3


class WheelFile(FileModel):
    """A spinning part: a wheel with dynamics, or constant momentum."""

    name: Name = Field("", description=NAME)
    axis: Vec3 = Field(description="3 numbers, not all zero: spin axis in body axes")
    momentum: Number | None = Field(None, description="a number: constant angular momentum, N.m.s")
    inertia: Positive | None = Field(None, description="a number, more than 0: inertia about the axis, kg.m^2")
    w: Number = Field(0.0, description="a number: start speed relative to the body, rad/s")
    at: str = Field("", description="the name of a node of the body")
    mass: NonNegative = Field(0.0, description="a number, 0 or more: mass of the wheel, kg")
    transverse: NonNegative | None = Field(None, description="a number, 0 or more: inertia across the axis, kg.m^2")
    static: Number = Field(0.0, description="a number: static imbalance, kg.m")
    dynamic: Number = Field(0.0, description="a number: dynamic imbalance, kg.m^2")


class PointGravityFile(FileModel):
    """The field of a point mass."""

    mu: Positive = Field(description="a number, more than 0: gravitational parameter, m^3/s^2")
    center: Vec3 = Field([0.0, 0.0, 0.0], description="3 numbers: where the point mass is, m")


def _gravity(value: Any) -> str:
    return TAG + ("field" if isinstance(value, (dict, PointGravityFile)) else "uniform")


Gravity: TypeAlias = Annotated[
    Annotated[Vec3, Tag(TAG + "uniform")] | Annotated[PointGravityFile, Tag(TAG + "field")], Discriminator(_gravity)
]
