"""The hinge types, one record each: the file format, the kernel's block, kinematics, names and documents read it.

They stand in the order of the kernel's codes (`engine/kernel/src/hinges/hinges.inl`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]
Drive: TypeAlias = Literal["torque", "motion", "locked"]


@dataclass(frozen=True)
class HingeKind:
    """What a hinge type can do: translations first, then rotations.

    Attributes:
        n_lin: Number of translations.
        n_rot: Number of rotations.
        n_axes: Number of axes that the user gives; without any, translations and rotations are along x, y, z.
        quaternion: Whether the rotations are held by a quaternion (x, y, z, w) instead of angles.
        normal: Whether it turns about the normal of its axes, which are then orthogonal.
        own: Keys that only this type has in the model file, and what each of them is: numbers other than 0.
    """

    n_lin: int = 0
    n_rot: int = 0
    n_axes: int = 0
    quaternion: bool = False
    normal: bool = False
    own: tuple[tuple[str, str], ...] = ()

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return self.n_lin + (4 if self.quaternion else self.n_rot)

    @property
    def nu(self) -> int:
        """Number of speeds, the degrees of freedom."""
        return self.n_lin + self.n_rot

    @property
    def shifts(self) -> bool:
        """Whether the origin of the outboard frame moves in the inboard frame."""
        return self.n_lin > 0 or bool(self.own)

    def lead(self, own: tuple[float, ...]) -> float:
        """Advance along the axis of a rotation, m/rad, from the numbers of the hinge's own keys."""
        return own[0] / (2.0 * math.pi) if self.own else 0.0

    def slides(self, axes: ArrayLike) -> Array:
        """Directions of the translations in the inboard frame, (n_lin, 3), from the axes of a hinge."""
        given = np.asarray(axes, dtype=np.float64).reshape(-1, 3)
        return (given if self.n_axes else np.eye(3))[: self.n_lin]

    def turns(self, axes: ArrayLike) -> Array:
        """Axes of the rotations, (n_rot, 3): each in the frame that those before it have turned."""
        given = np.asarray(axes, dtype=np.float64).reshape(-1, 3)
        if self.normal:
            return np.cross(given[:1], given[1:])
        return (given if self.n_axes else np.eye(3))[: self.n_rot]

    def constants(self, axes: ArrayLike) -> Array:
        """Axes that the kernel does not know, (n, 3): of translations, and the first of two rotations.

        Its frames are turned so that the last rotation axis is z; a free hinge slides along x, y and z.
        """
        first = self.turns(axes)[: max(self.n_rot - 1, 0)] if not self.quaternion else np.empty((0, 3))
        slides = self.slides(axes) if self.n_axes else np.empty((0, 3))
        return np.concatenate([slides, first])


HINGES: dict[str, HingeKind] = {
    "fixed": HingeKind(),
    "revolute": HingeKind(n_rot=1, n_axes=1),
    "prismatic": HingeKind(n_lin=1, n_axes=1),
    "cylindrical": HingeKind(n_lin=1, n_rot=1, n_axes=1),
    "universal": HingeKind(n_rot=2, n_axes=2),
    "planar": HingeKind(n_lin=2, n_rot=1, n_axes=2, normal=True),
    "spherical": HingeKind(n_rot=3, quaternion=True),
    "free": HingeKind(n_lin=3, n_rot=3, quaternion=True),
    "screw": HingeKind(n_rot=1, n_axes=1, own=(("pitch", "advance in a turn, m, right-handed if positive"),)),
}

if TYPE_CHECKING:
    HingeType: TypeAlias = str
else:
    HingeType = Literal[tuple(HINGES)]
