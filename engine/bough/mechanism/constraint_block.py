"""Loops and couplings in the model block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from bough.mechanism.bodies import Array, BodyData
from bough.model import Model
from bough.model.closures import CLOSURES
from bough.model.model import Loop
from bough.model.tree import GROUND


@dataclass(frozen=True, eq=False)
class Closure:
    """A loop with everything settled that the file leaves to the drawing.

    Attributes:
        loop: As the file has it.
        second: Attitude of the second frame on its node, (3, 3), frame axes to node axes.
        value: Length of a rod, radius of a disc, cosine between the axes of a universal closure; else 0.
    """

    loop: Loop
    second: Array
    value: float


def triad(loop: Loop) -> Array:
    """Three orthonormal rows in the closure's frames; the last is its own axis, or the normal of its plane."""
    kind = CLOSURES[loop.type]
    if kind.n_axes == 0 or loop.type == "universal":
        return np.eye(3)
    z = np.cross(loop.axes[0], loop.axes[1]) if kind.normal else np.array(loop.axes[0])
    z = z / np.linalg.norm(z)
    x = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = x - z * (x @ z)
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z])


def mechanism_length(bodies: Sequence[BodyData], closures: Sequence[Closure]) -> float:
    """A length that turns rad into m where equations of both are compared: the largest lever of a node, m."""
    levers = [float(np.linalg.norm(n.l0)) for d in bodies for n in d.nodes]
    levers += [float(np.linalg.norm(end.position)) for c in closures for end in c.loop.ends]
    levers += [c.value for c in closures if c.loop.type in ("rod", "rolling")]
    longest = max(levers, default=0.0)
    return longest if longest > 0.0 else 1.0


def constraint_ints(ints: list[int], model: Model, closures: Sequence[Closure], where: dict[str, int]) -> None:
    """Type and nodes of each loop, bodies of each coupling."""
    codes = list(CLOSURES)
    for c in closures:
        ints.append(codes.index(c.loop.type))
        ints += [-1 if e.body == GROUND else where[f"{e.body}.{e.node}"] for e in c.loop.ends]
    index = {b.hinge.name: k for k, b in enumerate(model.bodies)}
    ints += [len(c.terms) for c in model.couplings]
    ints += [index[name.rpartition(".")[0]] for c in model.couplings for name, _ in c.terms]


def constraint_reals(
    put: Callable[..., None], model: Model, bodies: Sequence[BodyData], closures: Sequence[Closure]
) -> None:
    """Frames, axes and values of each loop, offset and factors of each coupling."""
    if not closures and not model.couplings:
        return
    put(np.array([mechanism_length(bodies, closures)]))
    for c in closures:
        first, second = c.loop.ends
        put(np.array(first.position), Rotation.from_quat(first.quaternion).as_matrix())
        put(np.array(second.position), c.second, triad(c.loop))
        axes = np.array(c.loop.axes if c.loop.type == "universal" else np.zeros((2, 3)))
        put(axes, np.array([c.value]))
    for coupling in model.couplings:
        put(np.array([coupling.offset, *(factor for _, factor in coupling.terms)]))
