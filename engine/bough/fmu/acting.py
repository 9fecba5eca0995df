"""What forces between nodes depend on: marks of their wrenches and of the numbers that they tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scipy.spatial.transform import Rotation

from bough.fmu.marks import (
    ZERO,
    Mark,
    Matrix,
    Vector,
    add,
    apply,
    constant,
    constant_matrix,
    cross,
    dot,
    plus,
    scaled,
    times,
    total,
)
from bough.fmu.placed import Knowns
from bough.mechanism.element_block import BUSHING_VALUES, element_rows
from bough.mechanism.fields import Kind
from bough.model import Model
from bough.model.model import End, Force


@dataclass(frozen=True)
class EndMarks:
    """A frame of a force in space: axes, position, arm from its node, angular and linear velocity."""

    A: Matrix
    r: Vector
    arm: Vector
    w: Vector
    v: Vector


@dataclass(frozen=True)
class Wrench:
    """Torque and force on a node, inertial frame."""

    end: End
    torque: Vector
    force: Vector


def wrenches(
    model: Model, first_row: int, known: Knowns, frame: Callable[[End], EndMarks]
) -> tuple[list[Wrench], dict[tuple[Kind, int], Mark]]:
    """Wrenches of all forces, and what their numbers depend on.

    Args:
        model: The model.
        first_row: Row of the loads where those of elements begin.
        known: Bits of the knowns.
        frame: An end of a force in space.
    """
    rows = element_rows(model)
    found: list[Wrench] = []
    values: list[Mark] = []
    for force in model.forces:
        A, B = (frame(end) for end in force.ends)
        given: Mark = None
        if force.name in rows:
            given = known(Kind.LOAD, 6 * (first_row + rows.index(force.name)))
        acted = {"bushing": _bushing, "contact": _contact}.get(force.type, _line)(force, A, B, given)
        push, on_A, on_B, numbers = acted
        values += numbers
        found.append(Wrench(force.ends[0], add(on_A, cross(A.arm, push)), push))
        found.append(Wrench(force.ends[1], add(on_B, cross(B.arm, push)), push))
    return found, {(Kind.ELEMENT, i): mark for i, mark in enumerate(values)}


_Acted = tuple[Vector, Vector, Vector, list[Mark]]
"""Force, torque on the first and on the second end, numbers told."""


def _line(force: Force, A: EndMarks, B: EndMarks, given: Mark) -> _Acted:
    d, rate = add(A.r, B.r), add(A.v, B.v)
    s, v = total(d), plus(total(d), dot(d, rate))
    f = given
    if force.type == "spring":
        elastic = bool(force.stiffness or force.stiffness_table or force.only)
        damped = bool(force.damping or force.damping_table)
        f = plus(s if elastic else None, v if damped else None)
    return scaled(scaled(d, s), f), ZERO, ZERO, [s, v, f]


def _bushing(force: Force, A: EndMarks, B: EndMarks, given: Mark) -> _Acted:
    del given
    every = total([x for end in (A, B) for row in (*end.A, end.r, end.w, end.v) for x in row])
    all_: Vector = (every,) * 3
    return all_, all_, all_, [every] * (3 * len(BUSHING_VALUES))


def _contact(force: Force, A: EndMarks, B: EndMarks, given: Mark) -> _Acted:
    del given
    d, rate = add(A.r, B.r), add(A.v, B.v)
    flat = len(force.radius) == 1
    n = apply(B.A, constant(force.normal)) if flat else scaled(d, total(d))
    s = dot(n, d) if flat else total(d)
    turn = cross(B.w, d) if flat else ZERO
    v = dot(n, add(rate, turn))
    f = plus(s, v) if force.damping else s
    touch = add(d, n)
    slip = add(rate, cross(A.w, n), cross(B.w, touch))
    drag = times(f, total(slip)) if force.friction else None
    push = add(scaled(n, f), scaled(slip, drag), scaled(n, times(dot(slip, n), drag)))
    return push, cross(n, push), cross(touch, push), [s, plus(total([*n]), v), f]


def offset_axes(end: End) -> tuple[Matrix, Vector]:
    """Axes and position of an end's frame on its node."""
    return constant_matrix(Rotation.from_quat(end.quaternion).as_matrix()), constant(end.position)
