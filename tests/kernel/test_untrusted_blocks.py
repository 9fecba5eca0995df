"""Blocks that no model gives: every number is in its range, and yet they must not be taken."""

from __future__ import annotations

import numpy as np
import pytest

from bough import BoughError, load
from bough.mechanism import block
from bough.mechanism.bodies import BodyData
from bough.mechanism.kernel import KernelModel
from bough.mechanism.point_block import PointBlock

EYE = np.eye(3)
MODES = 40


def crafted(attach: int, hinge_type: int = 1, inputs: int = 0) -> bytes:
    """Two bodies, ruthless; the first, of many modes, may claim to be unclamped, or to have another hinge."""
    writer = block._Writer()
    speeds = 1 + MODES + 1
    writer.ints += [2, speeds, speeds, 2, 0, 0, 0, 0, 0, inputs, 0]
    writer.ints += [-1, -1, hinge_type, MODES, attach, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    writer.ints += [0, 0, 1, 0, -1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0]
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


@pytest.mark.parametrize(("place", "value"), [(0, 2.0), (0, -1.0), (1, 7.0), (1, 0.5), (2, 3.0)])
def test_second_order_motion_of_a_mode_that_is_not_there_is_refused(
    place: int, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Modes and components of the records of H are indices into the kernel's scratch memory."""
    good = block.point_block

    def spoilt(data: BodyData) -> PointBlock:
        made = good(data)
        records = made.arrays[-1 if data.turning is None else -3].copy()
        assert records.shape[1] == 3 + made.counts[0]
        records[-1, place] = value
        arrays = [records if array.shape == records.shape else array for array in made.arrays]
        return PointBlock(made.counts, tuple(arrays))

    section = {"shape": "rectangle", "width": 0.01, "height": 0.01}
    beam = {"length": 1.0, "elements": 4, "section": section, "material": {"E": 1e9, "nu": 0.3, "rho": 1000.0}}
    beam["modes"] = {"boundary": "cantilever", "bending_y": 2}
    body = {"name": "b", "parent": "ground", "hinge": {"type": "fixed"}, "beam": beam}
    model = load({"bough": 1, "name": "m", "geometric_stiffening": True, "bodies": [body]})
    KernelModel(block.compile_block(model).data)
    monkeypatch.setattr(block, "point_block", spoilt)
    with pytest.raises(BoughError, match="refuses the model block"):
        KernelModel(block.compile_block(model).data)


def test_rows_of_loads_that_no_element_takes_are_refused() -> None:
    """Ten million of them would take gigabytes for a block of a few kilobytes."""
    for inputs in (1, 10_000_000):
        with pytest.raises(BoughError, match="refuses the model block"):
            KernelModel(crafted(-1, inputs=inputs))
