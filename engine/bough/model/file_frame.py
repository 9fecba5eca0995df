"""Frames and names in the model file as written."""

from __future__ import annotations

from pydantic import Field

from bough.text.kinds import FileModel, Vec3, Vec4

NAME = "a name of letters, digits and underscores that does not begin with a digit"
POSITION = "3 numbers: position [x, y, z], m"
QUATERNION = "4 numbers of unit length: quaternion [x, y, z, w], scalar last"


class FrameFile(FileModel):
    """A frame on a node or a body."""

    position: Vec3 = Field([0.0, 0.0, 0.0], description=POSITION)
    quaternion: Vec4 = Field([0.0, 0.0, 0.0, 1.0], description=QUATERNION)
