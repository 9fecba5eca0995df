"""Blocks that no model gives: every number is in its range, and yet they must not be taken."""

from __future__ import annotations

import numpy as np
import pytest

from bough import BoughError
from bough.mechanism import block
from bough.mechanism.kernel import KernelModel

EYE = np.eye(3)
MODES = 40


def crafted(attach: int, hinge_type: int = 1) -> bytes:
    """Two bodies, ruthless; the first, of many modes, may claim to be unclamped, or to have another hinge."""
    writer = block._Writer()
    speeds = 1 + MODES + 1
    writer.ints += [2, speeds, speeds, 2, 0, 1, 0, 0, 0, 0, 0, 0]
    writer.ints += [-1, -1, hinge_type, MODES, attach, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    writer.ints += [0, 0, 1, 0, -1, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    writer.ints += [0, 0, 0, 1]  # of the nodes: their body, and the first that is equal
    writer.ints += 6 * [0]  # points of the bodies
    writer.ints += [0, 0, 1, -1]  # of the limits: the first body that has the same, and its attach node
    writer.ints += [0, 0]  # no drives, no gears
    hinge = [EYE, np.zeros(3), EYE, np.array([1.0, 0, 0, 0, 1, 1, 1, 0, 0, 0]), np.zeros(3)]
    writer.put(np.zeros(3), np.zeros(5 * speeds), *hinge)
    writer.put(np.ones(MODES), np.zeros(MODES))
    if attach >= 0:
        writer.put(np.eye(MODES))
    writer.put(np.zeros(12 * MODES), np.zeros(21), *hinge)
    for _ in range(2):
        writer.put(np.zeros(3), EYE, np.zeros(6 * MODES))
    writer.put(np.zeros(22 + 6 * MODES))
    return writer.finish()


def test_a_ruthless_body_cannot_be_unclamped() -> None:
    """Kinematics would write the influence of all its modes into the twelve numbers of a clamped one."""
    KernelModel(crafted(-1))
    with pytest.raises(BoughError, match="refuses the model block"):
        KernelModel(crafted(1))


@pytest.mark.parametrize("hinge_type", [len(block.HINGES), 255, 256, -1])
def test_a_hinge_type_that_the_kernel_does_not_have_is_refused(hinge_type: int) -> None:
    with pytest.raises(BoughError, match="refuses the model block"):
        KernelModel(crafted(-1, hinge_type))
