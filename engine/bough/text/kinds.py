"""The kinds of values that a model file is made of, each with the limits that make it a sensible one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, FailFast, Field, Tag

LIMIT = 1e50
"""Largest magnitude of a number: fourth powers of it, as in a section's inertia, are still finite."""
MAX_MODES = 500
"""Of one body: the tables of its modes hold the cube of their number, a gigabyte for these."""
NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]*$"
NAME_LENGTH = 128
TAG = "\0"
"""First character of a union's tag in pydantic's error locations, which no key of a file begins with."""


class FileModel(BaseModel):
    """A mapping of the model file, exactly as written."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Frozen(BaseModel):
    """A checked and completed part of a model."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StopAtFirst(FailFast):
    """Ends the check of a list at its first wrong item; hashable, as members of unions have to be."""

    def __hash__(self) -> int:
        """All instances are alike."""
        return hash(StopAtFirst)


def _whole(value: Any) -> Any:
    """Let 20.0 pass for 20: some programs write every number with a point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def either(number: str, other: str) -> Callable[[Any], str]:
    """A discriminator: the tag `other` for a list, `number` for all else."""
    return lambda value: TAG + (other if isinstance(value, list) else number)


def _matrix_or_diagonal(value: Any) -> str:
    rows = isinstance(value, list) and any(isinstance(row, list) for row in value)
    return TAG + ("matrix" if rows else "diagonal")


Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False, ge=-LIMIT, le=LIMIT)]
NonNegative: TypeAlias = Annotated[float, Field(allow_inf_nan=False, ge=0.0, le=LIMIT)]
Positive: TypeAlias = Annotated[float, Field(allow_inf_nan=False, gt=0.0, le=LIMIT)]
Whole: TypeAlias = Annotated[int, BeforeValidator(_whole)]
Name: TypeAlias = Annotated[str, Field(pattern=NAME_PATTERN, max_length=NAME_LENGTH)]

# One wrong number in a list is enough to know: a large array of text must not make a million messages.
Numbers: TypeAlias = Annotated[list[Number], StopAtFirst()]
NonNegatives: TypeAlias = Annotated[list[NonNegative], StopAtFirst()]
Vec2: TypeAlias = Annotated[list[Number], StopAtFirst(), Field(min_length=2, max_length=2)]
Vec3: TypeAlias = Annotated[list[Number], StopAtFirst(), Field(min_length=3, max_length=3)]
Vec4: TypeAlias = Annotated[list[Number], StopAtFirst(), Field(min_length=4, max_length=4)]
Vec6: TypeAlias = Annotated[list[Number], StopAtFirst(), Field(min_length=6, max_length=6)]

NumberOrList: TypeAlias = Annotated[
    Annotated[Number, Tag(TAG + "number")] | Annotated[Numbers, Tag(TAG + "list")],
    Discriminator(either("number", "list")),
]
NonNegativeOrList: TypeAlias = Annotated[
    Annotated[NonNegative, Tag(TAG + "number")] | Annotated[NonNegatives, Tag(TAG + "list")],
    Discriminator(either("number", "list")),
]
DiagonalOrMatrix: TypeAlias = Annotated[
    Annotated[Numbers, Tag(TAG + "diagonal")] | Annotated[list[Numbers], StopAtFirst(), Tag(TAG + "matrix")],
    Discriminator(_matrix_or_diagonal),
]
