"""What sensors and loads at nodes depend on: marks of poses, velocities and accelerations in the inertial frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bough.fmu.acting import EndMarks, offset_axes, wrenches
from bough.fmu.marks import (
    IDENTITY,
    ZERO,
    Mark,
    Matrix,
    Vector,
    add,
    apply,
    cross,
    product,
    quaternion_product,
    scaled,
    total,
    transposed,
)
from bough.fmu.placed import NO_TURN, Node, Placed
from bough.mechanism.element_block import element_rows, force_values, local_loads
from bough.mechanism.fields import Kind
from bough.mechanism.mechanism import Mechanism
from bough.model.model import End
from bough.model.tree import GROUND


@dataclass(frozen=True)
class _Frame:
    """A frame in space: axes, position, velocities."""

    A: Matrix = IDENTITY
    Q: Vector = NO_TURN
    r: Vector = ZERO
    w: Vector = ZERO
    v: Vector = ZERO


class Sensors:
    """Frames of the bodies that carry a sensor or a load, and of those between them and the ground."""

    def __init__(self, system: Mechanism, placed: Placed) -> None:
        """Walk from the ground to every body that is needed."""
        self.system, self.placed, self.known = system, placed, placed.known
        model = system.model
        keys = model.node_keys()
        self.sensors = [keys[name] for name in model.outputs]
        rows = element_rows(model)
        nodes = system.block.loads[: len(system.block.loads) - len(rows)]
        self._local = [(*keys[node], len(nodes) + rows.index(f"{node}.local")) for node in local_loads(model)]
        self._loads = [keys[name] for name in nodes]
        joined = [keys[f"{e.body}.{e.node}"] for force in model.forces for e in force.ends if e.body != GROUND]
        self.frames: dict[int, _Frame] = {-1: _Frame()}
        self.needed: set[int] = set()
        pulled = [(b.name, "") for b in model.bodies] if model.field is not None else []
        local = [(body, name) for body, name, _ in self._local]
        for body, _ in [*self.sensors, *self._loads, *local, *joined, *pulled]:
            k = placed.index.get(body, -1)
            while k >= 0 and k not in self.needed:
                self.needed.add(k)
                k = placed.parent(k)
        for k in sorted(self.needed):
            self.frames[k] = self._body(k)
        acting, self._told = wrenches(model, len(nodes), self.known, self._end)
        self._acting = [(*keys[f"{x.end.body}.{x.end.node}"], x) for x in acting if x.end.body != GROUND]

    def _end(self, end: End) -> EndMarks:
        """A frame of a force in space."""
        axes, position = offset_axes(end)
        if end.body == GROUND:
            return EndMarks(axes, position, ZERO, ZERO, ZERO)
        body, name = self.system.model.node_keys()[f"{end.body}.{end.node}"]
        k = self.placed.index[body]
        f = self._at(k, self.placed.node(k, name))
        arm = apply(f.A, position)
        return EndMarks(product(f.A, axes), add(f.r, arm), arm, f.w, add(f.v, cross(f.w, arm)))

    def _body(self, k: int) -> _Frame:
        joint = self.placed.joint(k)
        node = self._at(self.placed.parent(k), joint.node)
        A, Q = product(node.A, joint.inboard[0]), quaternion_product(node.Q, joint.inboard[1])
        directions = [(apply(A, d), s, v) for d, s, v, _ in joint.slides]
        arm = add(apply(node.A, joint.offset), *(scaled(d, s) for d, s, _ in directions))
        out, turned = product(A, joint.outboard[0]), quaternion_product(Q, joint.outboard[1])
        axes = self._axes(k, A, out)
        w = add(node.w, *(scaled(a, x) for a, (_, x, _) in zip(axes, joint.turns, strict=True)))
        v = add(node.v, cross(node.w, arm), *(scaled(d, x) for d, _, x in directions))
        return _Frame(out, turned, add(node.r, arm), w, v)

    def _axes(self, k: int, inboard: Matrix, outboard: Matrix) -> list[Vector]:
        """Axes of the rotations of a hinge in space."""
        joint = self.placed.joint(k)
        return [apply(outboard if joint.whole else inboard, a) for a in joint.carried]

    def _at(self, k: int, node: Node) -> _Frame:
        """A node of a body."""
        f = self.frames[k]
        arm = apply(f.A, node.place)
        return _Frame(
            product(f.A, node.turn),
            quaternion_product(f.Q, node.quaternion),
            add(f.r, arm),
            add(f.w, apply(f.A, node.spin)),
            add(f.v, cross(f.w, arm), apply(f.A, node.rate)),
        )

    def loads(self, k: int, moving: bool = False) -> tuple[Vector, Vector]:
        """Torque and force of the loads on a body, in its axes, at its frame; only those at nodes that modes move."""
        torque, force = ZERO, ZERO
        for i, (body, name) in enumerate(self._loads):
            if self.placed.index[body] != k or (moving and not self.placed.node(k, name).moving):
                continue
            back = transposed(self.frames[k].A)
            t, f = (
                apply(back, tuple(self.known(Kind.LOAD, 6 * i + first + c) or None for c in range(3)))
                for first in (0, 3)
            )
            node = self.placed.node(k, name)
            torque, force = add(torque, t, cross(node.place, f)), add(force, f)
        for body, name, row in self._local:
            if self.placed.index[body] != k or (moving and not self.placed.node(k, name).moving):
                continue
            node = self.placed.node(k, name)
            t, f = (
                apply(node.turn, tuple(self.known(Kind.LOAD, 6 * row + first + c) or None for c in range(3)))
                for first in (0, 3)
            )
            torque, force = add(torque, t, cross(node.place, f)), add(force, f)
        if self.system.model.field is not None:
            f = self._pulled(k)
            torque, force = add(torque, f), add(force, f)
        for body, name, wrench in self._acting:
            if self.placed.index[body] != k or (moving and not self.placed.node(k, name).moving):
                continue
            back, node = transposed(self.frames[k].A), self.placed.node(k, name)
            t, f = apply(back, wrench.torque), apply(back, wrench.force)
            torque, force = add(torque, t, cross(node.place, f)), add(force, f)
        return torque, force

    def _pulled(self, k: int) -> Vector:
        """Gravity of a point mass on a body: everything that says where it is."""
        f = self.frames[k]
        eta, _ = self.placed.modal(k)
        weighed = self.known(Kind.RIGID, *range(10 * k, 10 * k + 10))
        every = total([*f.r, *(x for row in f.A for x in row), *eta, weighed])
        return (every,) * 3

    # ---- results

    def rows(self, udot: Mapping[int, Mark], modal: Sequence[Mark]) -> dict[tuple[Kind, int], Mark]:
        """What each number of each sensor depends on, when accelerations depend on this."""
        accelerations: dict[int, tuple[Vector, Vector]] = {-1: (ZERO, ZERO)}
        for k in sorted(self.needed):
            accelerations[k] = self._acceleration(k, accelerations, udot, modal)
        out: dict[tuple[Kind, int], Mark] = dict(self._told)
        first = len(force_values(self.system.model))
        for i, body in enumerate(b.name for b in self.system.model.bodies if b.spin is not None):
            out[Kind.ELEMENT, first + i] = self.known(Kind.U, self.placed.u0[self.placed.index[body]])
        for n, (body, name) in enumerate(self.sensors):
            k = self.placed.index.get(body, -1)
            node = self.placed.node(k, name)
            f = self._at(k, node)
            _, a = self._node_acceleration(k, node, accelerations[k], modal)
            out |= {(Kind.POSE, 7 * n + i): x for i, x in enumerate((*f.r, *f.Q))}
            out |= {(Kind.VELOCITY, 6 * n + i): x for i, x in enumerate((*f.w, *f.v))}
            out |= {(Kind.ACCELERATION, 6 * n + 3 + i): x for i, x in enumerate(a)}
            out |= self._more(n, k, name, f, a)
        return out

    def _more(self, n: int, k: int, name: str, f: _Frame, a: Vector) -> dict[tuple[Kind, int], Mark]:
        """Local motion and deflection of a sensor."""
        back = transposed(f.A)
        felt = add(a, tuple(self.known(Kind.GRAVITY, i) for i in range(3)))
        if self.system.model.field is not None:
            felt = add(felt, scaled((0, 0, 0), total(f.r)))
        local = (*apply(back, f.v), *apply(back, f.w), *apply(back, felt))
        out: dict[tuple[Kind, int], Mark] = {(Kind.LOCAL, 9 * n + i): x for i, x in enumerate(local)}
        return out | {(Kind.DEFLECTION, 6 * n + i): self._deflected(k, name) for i in range(6)}

    def _deflected(self, k: int, name: str) -> Mark:
        """What the deflection of a node depends on; the attach node of free modes is deflected, too."""
        flex = self.system.block.bodies[k].flex if k >= 0 else None
        if flex is None:
            return None
        own = bool(flex.node_shapes[flex.node_names.index(name)].any())
        return total(self.placed.modal(k)[0]) if own or self.placed.node(k, name).moving else None

    def _node_acceleration(
        self, k: int, node: Node, of: tuple[Vector, Vector], modal: Sequence[Mark]
    ) -> tuple[Vector, Vector]:
        """Angular and linear acceleration of a node."""
        f, (w, v) = self.frames[k], of
        arm, spin, rate = apply(f.A, node.place), apply(f.A, node.spin), apply(f.A, node.rate)
        own = modal[k] if k >= 0 else None
        angular = add(w, cross(f.w, spin), apply(f.A, add(node.drift_spin, scaled(node.bends, own))))
        moved = apply(f.A, add(node.drift, scaled(node.moves, own)))
        return angular, add(v, cross(w, arm), cross(f.w, cross(f.w, arm)), cross(f.w, rate), moved)

    def _acceleration(
        self,
        k: int,
        known: Mapping[int, tuple[Vector, Vector]],
        udot: Mapping[int, Mark],
        modal: Sequence[Mark],
    ) -> tuple[Vector, Vector]:
        """Angular and linear acceleration of a body's frame."""
        joint, p = self.placed.joint(k), self.placed.parent(k)
        node = self._at(p, joint.node)
        w, v = self._node_acceleration(p, joint.node, known[p], modal)
        A = product(node.A, joint.inboard[0])
        directions = [(apply(A, d), s, x, i) for d, s, x, i in joint.slides]
        arm = add(apply(node.A, joint.offset), *(scaled(d, s) for d, s, _, _ in directions))
        slip = add(ZERO, *(scaled(d, x) for d, _, x, _ in directions))
        axes = self._axes(k, A, product(A, joint.outboard[0]))
        spins = [scaled(a, x) for a, (_, x, _) in zip(axes, joint.turns, strict=True)]
        inner = [] if joint.whole else [cross(a, b) for i, a in enumerate(spins) for b in spins[i + 1 :]]
        turned = [scaled(a, udot.get(i)) for a, (_, _, i) in zip(axes, joint.turns, strict=True)]
        slid = [scaled(d, udot.get(i)) for d, _, _, i in directions]
        angular = add(w, cross(node.w, add(ZERO, *spins)), *inner, *turned)
        linear = add(v, cross(w, arm), cross(node.w, cross(node.w, arm)), cross(node.w, slip), *slid)
        return angular, linear
