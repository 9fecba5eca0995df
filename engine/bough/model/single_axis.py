"""Bodies with inertia about one axis only: allowed where they turn about that axis alone.

No mass distribution has such an inertia, but textbooks and drive trains write wheels and rotors so, and where a body
turns about one axis the other moments do nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bough.model.frames import inertia, one_axis
from bough.model.model import Body
from bough.text.problems import Report

PARALLEL = 1e-9
"""Sine of the angle up to which two axes are one."""

Array = NDArray[np.float64]


def check_turning(bodies: Sequence[Body], report: Report) -> None:
    """An inertia about one axis only needs a body that turns about it alone."""
    for i, body in enumerate(bodies):
        if body.rigid is None or one_axis(body.rigid.inertia) is None or turns_alone(body, bodies):
            continue
        inertia(body.rigid.inertia, ("bodies", i, "rigid", "inertia"), report)


def turns_alone(body: Body, bodies: Sequence[Body]) -> bool:
    """Whether all hinges from the ground to a rigid body turn about the one axis of its inertia."""
    by_name = {other.name: other for other in bodies}
    axis = None if body.rigid is None else one_axis(body.rigid.inertia)
    if axis is None:
        return False
    direction: Array = np.eye(3)[axis]
    while True:
        hinge = body.hinge
        if hinge.kind.quaternion or body.rigid is None:
            return False
        turns = hinge.kind.turns(hinge.axes)
        if any(np.linalg.norm(np.cross(turn, direction)) > PARALLEL for turn in turns):
            return False
        # A turn about the direction itself leaves it alone: so the frames at rest tell all.
        direction = Rotation.from_quat(hinge.quaternion).apply(direction)
        if body.parent == "ground":
            return True
        parent = by_name[body.parent]
        if parent.rigid is None:
            return False
        node = parent.rigid.nodes.get(body.at)
        if node is not None:
            direction = Rotation.from_quat(node.quaternion).apply(direction)
        body = parent
