"""Who carries the rotary inertia of a body's points at full fidelity, so that it is positive at any deflection.

- Points that turn into themselves (no rotation, or one axis of a body of revolution): the constant tables.
- Sections of a beam that all turn about one principal axis: points beside it that move linearly, `offset_rows`.
  M^ff and M^rf are exact and need no sum at run time; J errs at second order in the angle, and stays positive.
- Everything else: turning points, exactly (`turning`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bough.flex.integrals import ModalIntegrals, modal_integrals, with_offsets
from bough.flex.points import ROTATION, Array, Points
from bough.flex.rows import Rows, offset_rows
from bough.flex.turning import Turning, turning_points


@dataclass(frozen=True, eq=False)
class RotaryInertia:
    """The shares of one body.

    Attributes:
        tables: Modal integrals without what the others carry.
        turning: Points that turn; None if there are none.
        rows: To be added to the rows of a stiffened body; None if there are none.
    """

    tables: ModalIntegrals
    turning: Turning | None = None
    rows: Rows | None = None


def rotary_inertia(
    integrals: ModalIntegrals, points: Points, origin: Array, smooth: bool, stiffened: bool
) -> RotaryInertia:
    """The shares of a body with these points.

    Args:
        integrals: Of all points.
        points: With rotary inertia or without.
        origin: Position of the attach node, m, (3,).
        smooth: Whether the points stand for sections of a beam.
        stiffened: Whether rows carry the translations: then the tables carry no modal mass at all.
    """
    turning, chosen = turning_points(points)
    if stiffened:
        chosen = (np.abs(points.inertias).max(axis=(1, 2), initial=0.0) > 0.0) & np.any(
            points.shapes[:, ROTATION], axis=(1, 2)
        )
        turning = Turning(points.shapes[chosen, ROTATION], points.inertias[chosen])
    if not chosen.any():
        return RotaryInertia(integrals)
    if smooth and not integrals.rotary:
        offsets = offset_rows(points)
        if offsets is not None:
            return RotaryInertia(integrals if stiffened else with_offsets(integrals, points, offsets), None, offsets)
    rest = points.inertias.copy()
    rest[chosen] = 0.0
    tables = modal_integrals(replace(points, inertias=rest), origin)
    return RotaryInertia(tables, turning.thinned() if smooth else turning)
