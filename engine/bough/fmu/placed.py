"""Bodies, hinges and nodes of a mechanism as marks: what their positions and directions depend on.

Vectors are in the user's body axes, those of a hinge in its outboard frame unless said otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from bough.flex.body import ROTATION, TRANSLATION
from bough.flex.integrals import clamp
from bough.fmu.flat import Flat, flat
from bough.fmu.marks import (
    DUST,
    IDENTITY,
    ZERO,
    Mark,
    Matrix,
    Vector,
    add,
    apply,
    constant,
    constant_matrix,
    product,
    quaternion_product,
    scaled,
    total,
    transposed,
    turn,
)
from bough.mechanism.drive_block import shafts
from bough.mechanism.fields import FIELDS, Kind
from bough.mechanism.mechanism import Mechanism
from bough.model import Body

UNIT: tuple[Vector, ...] = IDENTITY
NO_TURN: Vector = (None, None, None, 0)


class Knowns:
    """The bit of each known, by kind and index; those that are no knowns have none."""

    def __init__(self, places: dict[tuple[Kind, int], int]) -> None:
        """Keep the place of each known."""
        self._places = places

    def __call__(self, kind: Kind, *indices: int) -> int:
        """The bits of some knowns."""
        out = 0
        for i in indices:
            place = self._places.get((kind, i))
            if place is not None:
                out |= 1 << place
        return out


@dataclass(frozen=True)
class Node:
    """A node in its body.

    Attributes:
        turn: Its axes to the body's.
        quaternion: The same as a quaternion.
        place: Its position.
        rate: Rate of its position.
        spin: Its angular velocity relative to the body.
        bends: Which components of its rotation follow the modes; the marks are what those directions depend on.
        moves: The same of its position.
        drift: What its linear acceleration depends on beside that of the modes.
        drift_spin: The same of its angular acceleration.
    """

    turn: Matrix = IDENTITY
    quaternion: Vector = NO_TURN
    place: Vector = ZERO
    rate: Vector = ZERO
    spin: Vector = ZERO
    bends: Vector = ZERO
    moves: Vector = ZERO
    drift: Vector = ZERO
    drift_spin: Vector = ZERO

    @property
    def moving(self) -> bool:
        """Whether the modes move it: what pulls at it works on them."""
        return self.moves != ZERO or self.bends != ZERO


@dataclass(frozen=True)
class Joint:
    """A hinge between two bodies.

    Attributes:
        node: The parent's node that carries it.
        inboard: Inboard axes to those of the node, and as a quaternion.
        outboard: Outboard axes to inboard ones, and as a quaternion.
        offset: Position of the inboard frame, node axes.
        slides: Directions of translations, inboard axes, with the marks of position and speed, and the index in u: of
            a rotation, if that is a screw's.
        turns: Axes of rotations, outboard axes, with the mark of the speed, and the index in u.
        carried: The same axes in the inboard frame, but for a quaternion hinge, whose axes are outboard ones.
        own: What the force of each DOF depends on by itself, by index in u.
        motion: Bits of given accelerations, by index in u; empty for a hinge that is moved by forces.
        whole: Whether its rotations are one, held by a quaternion, and do not turn each other.
    """

    node: Node
    inboard: tuple[Matrix, Vector]
    outboard: tuple[Matrix, Vector]
    offset: Vector
    slides: tuple[tuple[Vector, int, int, int], ...]
    turns: tuple[tuple[Vector, int, int], ...]
    carried: tuple[Vector, ...]
    own: dict[int, int]
    motion: dict[int, int]
    whole: bool


_OF_EACH_DOF = [kind for kind, f in FIELDS.items() if f.group in ("INPUT", "PARAMETER") and f.count == "n->nu"]
"""Inputs and parameters that act on one degree of freedom."""


class Placed:
    """Every node and hinge of a mechanism."""

    def __init__(self, system: Mechanism, knowns: Knowns) -> None:
        """Find the places of coordinates and speeds."""
        self.system, self.known = system, knowns
        self.bodies = system.model.bodies
        self.index = {body.name: k for k, body in enumerate(self.bodies)}
        self.q0, self.u0 = [0], [0]
        for body in self.bodies:
            self.q0.append(self.q0[-1] + body.hinge.kind.nq + body.mode_count)
            self.u0.append(self.u0[-1] + body.hinge.kind.nu + body.mode_count)
        self.shafts = list(shafts(system.model))
        self._nodes: dict[tuple[int, str], Node] = {}
        self._flat: dict[int, Flat | None] = {}
        self._joints: dict[int, Joint] = {}

    def parent(self, k: int) -> int:
        """Index of a body's parent; -1: the ground."""
        return self.index.get(self.bodies[k].parent, -1)

    def modal(self, k: int) -> tuple[list[int], list[int]]:
        """Bits of a body's modal coordinates, and of their rates."""
        count, kind = self.bodies[k].mode_count, self.bodies[k].hinge.kind
        q, u = self.q0[k] + kind.nq, self.u0[k] + kind.nu
        return [self.known(Kind.Q, q + i) for i in range(count)], [self.known(Kind.U, u + i) for i in range(count)]

    # ---- nodes

    def node(self, k: int, name: str) -> Node:
        """A node of a body; k = -1: of the ground."""
        if (k, name) not in self._nodes:
            self._nodes[k, name] = Node() if k < 0 else self._node(k, name)
        return self._nodes[k, name]

    def _node(self, k: int, name: str) -> Node:
        rigid = self.bodies[k].rigid
        if rigid is None:
            return self._flexible_node(k, name)
        found = rigid.nodes[name]
        R, Q = _constant_turn(found.quaternion)
        return Node(turn=R, quaternion=Q, place=constant(found.position))

    def _flexible_node(self, k: int, name: str) -> Node:
        data = self.system.block.bodies[k]
        flex = data.flex
        if flex is None:
            raise ValueError(name)
        at, j = flex.attach, flex.node_names.index(name)
        shapes, l0 = flex.node_shapes, flex.node_positions - flex.node_positions[flex.attach]
        if self.system.model.ruthless(self.system.model.bodies[k]):
            lam, gam = shapes[:, ROTATION], shapes[:, TRANSLATION]
            lam, gam = clamp(l0, lam, gam, lam[at], gam[at])
            shapes = np.concatenate([lam, gam], axis=1)
        there = abs(shapes) > DUST * abs(shapes).max(axis=(0, 1), initial=0.0)
        q, u = self.modal(k)
        place = constant(l0[j])
        if there[at].any() or data.stiffening is not None:
            return _bent(place, (there[at] | there[j]).any(axis=0).tolist(), q, u, j == at, self.flat(k))
        lam, gam = there[j, :3], there[j, 3:]
        moves = tuple(0 if row.any() else None for row in gam)
        place = add(place, tuple(_bits(row, q) for row in gam))
        rate = tuple(_bits(row, u) for row in gam)
        axes = [i for i in range(3) if lam[i].any()]
        if len(axes) < 2:
            bends = tuple(0 if i in axes else None for i in range(3))
            angle = _bits(lam.any(axis=0), q) or 0
            spin = tuple(_bits(row, u) for row in lam)
            unit = [float(i in axes) for i in range(3)]
            return Node(turn(unit, angle), turn_quaternion(unit, angle), place, rate, spin, bends, moves)
        angle, speed = _bits(lam.any(axis=0), q) or 0, _bits(lam.any(axis=0), u) or 0
        full: Vector = (angle,) * 3
        if lam.any(axis=0).sum() == 1:  # one mode turns it about an axis that stays
            still: Vector = (0, 0, 0)
            return Node((full,) * 3, (angle,) * 4, place, rate, (speed,) * 3, still, moves)
        fast: Vector = (angle | speed,) * 3
        return Node((full,) * 3, (angle,) * 4, place, rate, fast, full, moves, fast, fast)

    def flat(self, k: int) -> Flat | None:
        """The plane that a flexible body never leaves; None if there is none."""
        if k not in self._flat:
            self._flat[k] = flat(self.system.block.bodies[k], *self.modal(k))
        return self._flat[k]

    # ---- hinges

    def joint(self, k: int) -> Joint:
        """The hinge that carries a body."""
        if k not in self._joints:
            self._joints[k] = self._joint(k)
        return self._joints[k]

    def _joint(self, k: int) -> Joint:
        body = self.bodies[k]
        hinge, kind = body.hinge, body.hinge.kind
        q0, u0 = self.q0[k], self.u0[k]
        slides = tuple(
            (constant(d, DUST), self.known(Kind.Q, q0 + i), self.known(Kind.U, u0 + i), u0 + i)
            for i, d in enumerate(kind.slides(hinge.axes))
        )
        axes, first = kind.turns(hinge.axes), u0 + kind.n_lin
        if kind.lead(hinge.own):  # a screw slides by its rotation
            slides = tuple(
                (constant(d, DUST), self.known(Kind.Q, q0 + kind.n_lin + i), self.known(Kind.U, first + i), first + i)
                for i, d in enumerate(axes)
            )
        if kind.quaternion:
            Q = self.known(Kind.Q, *range(q0 + kind.n_lin, q0 + kind.n_lin + 4))
            outboard: tuple[Matrix, Vector] = ((((Q,) * 3,) * 3), (Q,) * 4)
            local, carried = UNIT, UNIT
        else:
            angles = [self.known(Kind.Q, q0 + kind.n_lin + i) for i in range(kind.n_rot)]
            outboard, local, carried = _turned(axes, angles)
        turns = tuple((a, self.known(Kind.U, first + i), first + i) for i, a in enumerate(local[: kind.n_rot]))
        return Joint(
            self.node(self.parent(k), body.at),
            _constant_turn(hinge.quaternion),
            outboard,
            constant(hinge.position),
            slides,
            turns,
            carried[: kind.n_rot],
            self._own(k, body),
            {u0 + i: self.known(Kind.MOTION, u0 + i) for i in range(kind.nu)} if hinge.drive == "motion" else {},
            kind.quaternion,
        )

    def _own(self, k: int, body: Body) -> dict[int, int]:
        """Force, spring, damper and rotor of each DOF."""
        kind, q0, u0 = body.hinge.kind, self.q0[k], self.u0[k]
        out = {}
        for i in range(kind.nu):
            turned = kind.quaternion and i >= kind.n_lin
            q = range(q0 + kind.n_lin, q0 + kind.n_lin + 4) if turned else (q0 + i,)
            bits = self.known(Kind.Q, *q) | self.known(Kind.U, u0 + i) | self.known(Kind.LOCKED, k)
            for what in _OF_EACH_DOF:
                bits |= self.known(what, u0 + i)
            out[u0 + i] = bits | self._shaft(k)
        return out

    def _shaft(self, k: int) -> int:
        """What the torque of an elastic gear depends on: both of its ends."""
        ends = [(rotor, hinge) for rotor, hinge, _ in self.shafts if k in (rotor, hinge)]
        bits = 0
        for j in (j for pair in ends for j in pair):
            bits |= self.known(Kind.Q, self.q0[j]) | self.known(Kind.U, self.u0[j])
        return bits


def _bits(which: np.ndarray[tuple[int], np.dtype[np.bool_]], bits: list[int]) -> Mark:
    return total(b for there, b in zip(which.tolist(), bits, strict=True) if there)


def _bent(place: Vector, which: list[bool], q: list[int], u: list[int], attach: bool, plane: Flat | None) -> Node:
    """A node of a body whose frame moves with its modes, or whose points move along curves: everything follows them.

    Of a flat body everything within the plane.
    """
    if attach or not any(which):
        return Node(place=place)
    deflection = total(b for there, b in zip(which, q, strict=True) if there) or 0
    speed = deflection | (total(b for there, b in zip(which, u, strict=True) if there) or 0)
    full, fast = (deflection,) * 3, (speed,) * 3
    if plane is None:
        return Node((full,) * 3, (deflection,) * 4, full, fast, fast, full, full, fast, fast)
    bends, moves = plane.spread(deflection, ZERO, ZERO)
    spin, rate = plane.spread(speed, ZERO, ZERO)
    axis = [float(i == plane.normal) for i in range(3)]
    around, turned = turn(axis, deflection), turn_quaternion(axis, deflection)
    return Node(around, turned, add(moves, place), rate, spin, bends, moves, rate, spin)


def _constant_turn(quaternion: tuple[float, ...]) -> tuple[Matrix, Vector]:
    return constant_matrix(Rotation.from_quat(quaternion).as_matrix()), constant(quaternion, DUST)


def turn_quaternion(axis: object, angle: int) -> Vector:
    """The quaternion of a rotation about a constant axis."""
    direction = constant(np.asarray(axis, dtype=np.float64), DUST)
    return NO_TURN if direction == ZERO else (*scaled(direction, angle), angle)


def _turned(
    axes: np.ndarray[tuple[int, int], np.dtype[np.float64]], angles: list[int]
) -> tuple[tuple[Matrix, Vector], tuple[Vector, ...], tuple[Vector, ...]]:
    """Rotations one after the other: all of them, and their axes in the outboard and in the inboard frame."""
    R, Q = IDENTITY, NO_TURN
    carried: list[Vector] = []
    for axis, angle in zip(axes, angles, strict=True):
        carried.append(apply(R, constant(axis, DUST)))
        R, Q = product(R, turn(axis, angle)), quaternion_product(Q, turn_quaternion(axis, angle))
    rest, local = IDENTITY, list[Vector]()
    for axis, angle in zip(axes[::-1], angles[::-1], strict=True):
        local.insert(0, apply(transposed(rest), constant(axis, DUST)))
        rest = product(turn(axis, angle), rest)
    return (R, Q), tuple(local), tuple(carried)
