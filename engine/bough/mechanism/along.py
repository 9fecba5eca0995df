"""Kinematics along a motion: what nodes do and forces tell in many states, in one call of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bough.mechanism.mechanism import Mechanism

Array: TypeAlias = NDArray[np.float64]


def force_values_along(system: Mechanism, q: Array, u: Array) -> Array:
    """What forces between nodes tell, (B, values), in the order of `force_values`; actuators without their input."""
    data = system._data
    out = np.zeros((q.shape[0], data.model.element_values))
    data.evaluate({"q": np.ascontiguousarray(q), "u": np.ascontiguousarray(u)}, {"element": out}, rows=q.shape[0])
    return out


def nodes_along(system: Mechanism, q: Array, u: Array, nodes: Sequence[str]) -> tuple[Array, Array]:
    """Poses (B, n, 7) and velocities (B, n, 6), angular part first, of nodes in the inertial frame."""
    data, index = system._nodes(nodes)
    pose, velocity = np.empty((q.shape[0], index.size, 7)), np.empty((q.shape[0], index.size, 6))
    at = {"q": np.ascontiguousarray(q), "u": np.ascontiguousarray(u)}
    data.evaluate(at, {"pose": pose, "velocity": velocity}, index, q.shape[0])
    return pose, velocity
