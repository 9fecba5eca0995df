"""Flexible bodies that never leave a plane: their modes and the motions out of the plane do not meet.

A body is flat if mirroring it in a plane through its attach node changes nothing: every point lies in the plane, moves
within it and turns about its normal, and the normal is a principal axis of its rotary inertia. Then its kinetic energy
is the same for mirrored motions. Forces in the plane, those on modes among them, are even in what leads out of it, and
forces out of the plane odd. Inertia couples neither at any deflection; products of speeds do, two odd ones as an even
one, and one of each as an odd one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.flex.body import ROTATION, TRANSLATION, Array, FlexBody
from bough.fmu.marks import DUST, Mark, Vector, add, cross, times, total
from bough.mechanism.bodies import BodyData


@dataclass(frozen=True)
class Flat:
    """The plane of a flat body.

    Attributes:
        normal: Axis of the body that is normal to it: 0, 1 or 2.
        reach: Where its points are, in marks: constant, or what modes move.
        modes: What its deflection depends on.
        rates: What the rates of its deflection depend on.
    """

    normal: int
    reach: Vector
    modes: Mark
    rates: Mark

    @property
    def inside(self) -> tuple[int, int]:
        """The axes in the plane."""
        return (self.normal + 1) % 3, (self.normal + 2) % 3

    def within(self, angular: Vector, linear: Vector) -> Mark:
        """What happens within the plane: the rotation about the normal, translations normal to that."""
        a, b = self.inside
        return total((angular[self.normal], linear[a], linear[b]))

    def spread(self, within: Mark, angular: Vector, linear: Vector) -> tuple[Vector, Vector]:
        """Torque and force: the same mark within the plane, and those out of it."""
        i = self.normal
        torque = tuple(within if j == i else angular[j] for j in range(3))
        return torque, tuple(linear[j] if j == i else within for j in range(3))

    def drift(self, w: Vector) -> Mark:
        """Forces out of the plane that speeds cause: an odd one times an even one."""
        a, b = self.inside
        odd = total((w[a], w[b]))
        return times(odd, total((w[self.normal], self.modes, self.rates, 0)))

    def resist(self, w: Vector, v: Vector) -> tuple[Vector, Vector]:
        """Torque and force out of the plane by inertia from angular and linear acceleration."""
        a, b = self.inside
        only: Vector = tuple(v[j] if j == self.normal else None for j in range(3))
        tilt = times(total((w[a], w[b])), total((self.modes, 0)))
        return add(cross(self.reach, only), (tilt,) * 3), add(only, (tilt,) * 3)


def flat(data: BodyData, q: list[int], u: list[int]) -> Flat | None:
    """The plane of a flexible body along two of its axes; None if it has none, or if its points are not known.

    Args:
        data: The body.
        q: Bits of its modal coordinates.
        u: Bits of their rates.
    """
    flex = data.flex
    if flex is None or flex.points is None or data.wheel.any():
        return None
    if data.stiffening is not None and (flex.stiffening is None or flex.stiffening.rows is None):
        return None
    for normal in range(3):
        if _is_flat(flex, normal, data.stiffening is not None):
            return Flat(normal, _reach(flex, data, q), total(q), total(u))
    return None


def _is_flat(flex: FlexBody, i: int, stiffened: bool) -> bool:
    """Whether nothing of a body leads out of the plane normal to axis i of the body."""
    points = flex.points
    if points is None:
        return False
    a, b = (i + 1) % 3, (i + 2) % 3
    l0 = points.positions - flex.node_positions[flex.attach]
    size = float(abs(l0).max(initial=0.0))
    J, every = points.inertias, np.concatenate([points.shapes, flex.node_shapes])
    lam, gam = every[:, ROTATION], every[:, TRANSLATION]
    out = [(l0[:, i], size), (J[:, i, [a, b]], abs(J).max(initial=0.0)), (J[:, [a, b], i], abs(J).max(initial=0.0))]
    largest = max(abs(gam).max(initial=0.0), abs(lam).max(initial=0.0) * size)
    out += [(gam[:, i], largest), (lam[:, [a, b]] * size, largest)]
    if stiffened and flex.stiffening is not None and flex.stiffening.rows is not None:
        for H in (flex.stiffening.rows.H, flex.stiffening.node_bends):
            out.append((H[:, i], abs(H).max(initial=0.0)))
    return all(abs(part).max(initial=0.0) <= DUST * scale for part, scale in out)


def _reach(flex: FlexBody, data: BodyData, q: list[int]) -> Vector:
    """Where points are; all depends on the modes if the frame moves with them, or points move along curves."""
    if flex.points is None:
        return (total(q),) * 3
    places: Array = flex.points.positions - flex.node_positions[flex.attach]
    gam = flex.points.shapes[:, TRANSLATION]
    largest = DUST * float(abs(gam).max(initial=0.0))
    moved = data.stiffening is not None or bool(flex.node_shapes[flex.attach].any())
    out: list[Mark] = []
    for i in range(3):
        there = abs(gam[:, i]).max(axis=0, initial=0.0) > largest
        moves = total(bit for bit, some in zip(q, there.tolist(), strict=True) if some or moved)
        still = 0 if abs(places[:, i]).max(initial=0.0) > 0.0 else None
        out.append(total((still, moves)))
    return tuple(out)
