"""What the file leaves to the drawing: attitudes of loops' second frames, lengths of rods and springs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from bough.errors import ModelError
from bough.mechanism import kernel
from bough.mechanism.block import compile_block
from bough.mechanism.bodies import Array
from bough.mechanism.constraint_block import Closure
from bough.mechanism.element_block import (
    Element,
    element_rows,
    force_element,
    load_element,
    local_loads,
    wheel_elements,
)
from bough.model import Model
from bough.model.closures import AS_DRAWN
from bough.model.model import End, Force, Loop
from bough.model.tree import GROUND


def written_state(model: Model) -> tuple[Array, Array]:
    """Positions and speeds that the file writes, zero where it does not."""
    q: list[float] = []
    u: list[float] = []
    for body in model.bodies:
        q += body.hinge.initial_q
        u += body.hinge.initial_u
        initial = body.modal_initial
        if initial is not None:
            zeros = (0.0,) * body.mode_count
            q += initial.eta or zeros
            u += initial.eta_dot or zeros
    return np.array(q, dtype=np.float64), np.array(u, dtype=np.float64)


def drawn_closures(model: Model) -> tuple[Closure, ...]:
    """The loops of a model with attitudes and lengths as drawn at the start position.

    Raises:
        ModelError: A rod has no length there.
    """
    if not model.loops:
        return ()
    open_model = model.model_copy(update={"couplings": ()})
    block = compile_block(open_model)
    data = kernel.KernelData(kernel.KernelModel(block.data), lanes=0)
    q, _ = written_state(model)
    where = block.nodes
    return tuple(_closure(loop, [_frame(data, where, q, end) for end in loop.ends]) for loop in model.loops)


def _frame(data: kernel.KernelData, where: dict[str, int], q: Array, end: End) -> tuple[Array, Array, Array]:
    """Origin of the frame, its axes and those of its node, inertial frame."""
    r, node = np.zeros(3), np.eye(3)
    if end.body != GROUND:
        pose = data.node_pose(q[None], where[f"{end.body}.{end.node}"])[0]
        r, node = pose[:3], Rotation.from_quat(pose[3:]).as_matrix()
    return r + node @ np.array(end.position), node @ Rotation.from_quat(end.quaternion).as_matrix(), node


def _closure(loop: Loop, frames: Sequence[tuple[Array, Array, Array]]) -> Closure:
    (r1, R1, _), (r2, R2, node2) = frames
    second = node2.T @ (R1 if loop.type in AS_DRAWN and not loop.ends[1].turned else R2)
    value = 0.0 if loop.value is None else loop.value
    if loop.type == "rod" and loop.value is None:
        value = float(np.linalg.norm(r2 - r1))
        if value < 1e-9:
            raise ModelError(
                f"loop {loop.name!r}: expected a rod of some length, found both ends at one point as drawn; "
                "write its `length`, or take a spherical loop"
            )
    if loop.type == "universal":
        value = float(np.dot(loop.axes[0], loop.axes[1]))
    return Closure(loop, second, value)


def drawn_elements(model: Model) -> tuple[Element, ...] | None:
    """The forces of a model with free lengths as drawn at the start position; None if there are none.

    Raises:
        ModelError: A spring has no direction there, or a contact begins inside.
    """
    rows = element_rows(model)
    others = [load_element(node, rows.index(f"{node}.local")) for node in local_loads(model)] + wheel_elements(model)
    if not model.forces:
        return tuple(others) or None
    block = compile_block(model.model_copy(update={"couplings": ()}))
    data = kernel.KernelData(kernel.KernelModel(block.data), lanes=0)
    q, _ = written_state(model)
    elements = []
    for force in model.forces:
        frames = [_frame(data, block.nodes, q, end) for end in force.ends]
        row = rows.index(force.name) if force.name in rows else None
        elements.append(force_element(force, _free_length(force, frames), row))
    return (*elements, *others)


def _free_length(force: Force, frames: Sequence[tuple[Array, Array, Array]]) -> float:
    """Of a spring, m; and what cannot begin so is refused."""
    (r1, _, _), (r2, R2, _) = frames
    distance = float(np.linalg.norm(r2 - r1))
    length = distance if force.length is None else force.length
    smooth = force.type == "spring" and force.length == 0.0
    if force.type in ("spring", "actuator") and distance < 1e-9 and not smooth:
        raise ModelError(
            f"forces: {force.name!r}: expected ends apart from each other at the start, found both at one point, "
            "where the line between them has no direction; move an end with `frames`, take a bushing, or for a spring "
            "write `length: 0`"
        )
    if force.type == "contact":
        flat = len(force.radius) == 1
        gap = float((R2 @ np.array(force.normal)) @ (r1 - r2) if flat else distance) - sum(force.radius)
        if gap < -1e-3 * force.radius[0]:
            other = "plane" if flat else "other sphere"
            raise ModelError(
                f"forces: {force.name!r}: expected a sphere outside the {other} at the start position, found it "
                f"{-gap:.3g} m inside; move the start position, check `normal` (it points from the second node to the "
                "first) and `radius`"
            )
    return length
