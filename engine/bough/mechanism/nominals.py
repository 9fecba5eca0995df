"""Sizes of usual values: modal amplitudes are not of order one, and outside solvers judge their errors by them."""

from __future__ import annotations

import math

import numpy as np

from bough.flex.body import ROTATION, TRANSLATION, FlexBody
from bough.mechanism.fields import Kind
from bough.mechanism.mechanism import Mechanism

SMALL = 0.01
"""A deflection that counts as usual: a hundredth of the body's length, or as many radians."""


def nominal_values(system: Mechanism) -> dict[tuple[Kind, int], float]:
    """Powers of ten near the usual size of modal coordinates, their rates and their accelerations, by kind and index.

    A coordinate is usual where it moves a node of its body by a hundredth of the body's length or turns it by 0.01
    rad; its rate is larger by the mode's frequency. What is not in the table is of order one.
    """
    out: dict[tuple[Kind, int], float] = {}
    q_first, u_first = ({c.body: c.index for c in reversed(t) if c.modal} for t in (system.q_table, system.u_table))
    for data, body in zip(system.block.bodies, system.model.bodies, strict=True):
        if data.flex is None or body.name not in q_first:
            continue
        q0, u0 = q_first[body.name], u_first[body.name]
        for i, (size, w) in enumerate(_usual(data.flex)):
            out[Kind.Q, q0 + i] = _power(size)
            out[Kind.U, u0 + i] = out[Kind.QDOT, q0 + i] = _power(size * w)
            out[Kind.UDOT, u0 + i] = _power(size * w * w)
    return out


def _usual(flex: FlexBody) -> list[tuple[float, float]]:
    """Amplitude and angular frequency, rad/s, of each mode."""
    points = flex.node_positions
    length = float(np.linalg.norm(points[:, None] - points[None, :], axis=2).max(initial=0.0)) or 1.0
    out = []
    for i in range(flex.nm):
        moved = float(abs(flex.node_shapes[:, TRANSLATION, i]).max(initial=0.0)) / (SMALL * length)
        turned = float(abs(flex.node_shapes[:, ROTATION, i]).max(initial=0.0)) / SMALL
        largest = max(moved, turned)
        w = float(flex.frequencies[i])
        out.append((1.0 / largest if largest > 0.0 else 1.0, w if math.isfinite(w) and w > 0.0 else 1.0))
    return out


def _power(x: float) -> float:
    return float(f"1e{round(math.log10(x))}")
