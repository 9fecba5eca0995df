"""What the file leaves to the drawing: attitudes of loops' second frames and lengths of rods."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from bough.errors import ModelError
from bough.mechanism import kernel
from bough.mechanism.block import compile_block
from bough.mechanism.bodies import Array
from bough.mechanism.constraint_block import Closure
from bough.model import Model
from bough.model.closures import AS_DRAWN
from bough.model.model import End, Loop
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
