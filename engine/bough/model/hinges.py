"""The hinge types: how many translations and rotations each has, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

HingeType: TypeAlias = Literal[
    "fixed", "revolute", "prismatic", "cylindrical", "universal", "planar", "spherical", "free"
]
Drive: TypeAlias = Literal["torque", "motion", "locked"]


@dataclass(frozen=True)
class HingeKind:
    """What a hinge type can do: translations first, then rotations.

    Attributes:
        n_lin: Number of translations.
        n_rot: Number of rotations.
        quaternion: Whether the rotations are held by a quaternion (x, y, z, w) instead of angles.
        n_axes: Number of axes that the user gives.
    """

    n_lin: int
    n_rot: int
    quaternion: bool
    n_axes: int

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return self.n_lin + (4 if self.quaternion else self.n_rot)

    @property
    def nu(self) -> int:
        """Number of speeds, the degrees of freedom."""
        return self.n_lin + self.n_rot


HINGES: dict[str, HingeKind] = {
    "fixed": HingeKind(0, 0, False, 0),
    "revolute": HingeKind(0, 1, False, 1),
    "prismatic": HingeKind(1, 0, False, 1),
    "cylindrical": HingeKind(1, 1, False, 1),
    "universal": HingeKind(0, 2, False, 2),
    "planar": HingeKind(2, 1, False, 2),
    "spherical": HingeKind(0, 3, True, 0),
    "free": HingeKind(3, 3, True, 0),
}
