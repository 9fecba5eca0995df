"""Which numbers change which: the dependencies of an FMU's outputs and derivatives, derived from the mechanism.

An unknown depends on a known if some state, some inputs and some values of the tunable parameters exist where changing
the known changes the unknown. The equations of motion, written body by body, say it by their form:

    alpha = R' (alpha_parent + alpha_parent x l + w x (w x l) + 2 w x ldot + ...) + H' udot        (outward)
    f     = M alpha + w x (..) - loads + sum over children of [R f ; l x R f]                      (inward)
    H f   = tau - springs - dampers - armature udot                                                (each free DOF)

They are run on marks (`bough.fmu.marks`), out and in again until nothing changes: `x = A x + b` has
`x = (1 + A + A^2 + ...) b`, so what follows along chains of non-zero entries of A holds every dependency. Nothing is
left out because it is small, as numbers would have it in a long or light chain. Directions that never couple (a plane
mechanism's normal, the axes of a gantry) stay apart where they lie along the axes of the bodies' frames; where they lie
askew, or where loops close, they count as coupled, and so do those of flexible bodies, unless these never leave a plane
(`bough.fmu.flat`). Trees that share only the ground do not couple, nor do those
on a body that follows given motions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bough.fmu.marks import (
    DUST,
    ZERO,
    Mark,
    Matrix,
    Vector,
    add,
    apply,
    constant,
    cross,
    dot,
    plus,
    product,
    scaled,
    set_bits,
    total,
    transposed,
)
from bough.fmu.multipliers import Closures
from bough.fmu.placed import Joint, Knowns, Placed
from bough.fmu.sensed import Sensors
from bough.mechanism.drive_block import driven
from bough.mechanism.fields import Kind
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.variable_table import FmuVariable


def is_known(v: FmuVariable) -> bool:
    """Whether outputs and derivatives can depend on it: states, inputs and tunable parameters."""
    return v.state or v.causality == "input" or v.variability == "tunable"


def dependency_rows(system: Mechanism, scalars: Sequence[FmuVariable]) -> list[int]:
    """For each scalar variable the knowns that it depends on, as bits: bit j is variable j.

    Variables that are neither outputs nor derivatives have none. A state depends on itself.
    """
    knowns = Knowns({(v.kind, v.index): j for j, v in enumerate(scalars) if is_known(v)})
    found = _Motion(system, Placed(system, knowns)).rows()
    out = []
    for j, v in enumerate(scalars):
        wanted = v.causality in ("output", "local") and not v.state
        out.append(1 << j if v.state else (found[v.kind, v.index] or 0) if wanted else 0)
    return out


def start_rows(system: Mechanism, scalars: Sequence[FmuVariable], rows: Sequence[int]) -> list[int]:
    """The same at initialization, where a locked hinge has no speed and a quaternion is scaled to length one.

    So what depends on a hinge's speed depends on its lock, and what depends on a component of a quaternion on all four.
    """
    places = {(v.kind, v.index): j for j, v in enumerate(scalars)}
    knowns, placed = Knowns(places), Placed(system, Knowns({}))
    more: dict[int, int] = {}
    for k, body in enumerate(placed.bodies):
        kind, q0, u0 = body.hinge.kind, placed.q0[k], placed.u0[k]
        lock = knowns(Kind.LOCKED, k)
        if lock:
            more |= {places[Kind.U, i]: lock for i in range(u0, u0 + kind.nu)}
        if kind.quaternion:
            Q = range(q0 + kind.n_lin, q0 + kind.n_lin + 4)
            more |= {places[Kind.Q, i]: knowns(Kind.Q, *Q) for i in Q}
    which = sum(1 << j for j in more)
    made: dict[int, int] = {}
    for bits in rows:
        if bits not in made:
            made[bits] = bits
            for j in set_bits(bits & which):
                made[bits] |= more[j]
    return [made[bits] for bits in rows]


class _Link:
    """One body with its hinge: constants of the sweeps, in marks."""

    def __init__(self, placed: Placed, k: int) -> None:
        self.k, self.parent = k, placed.parent(k)
        self.joint: Joint = placed.joint(k)
        joint, node = self.joint, self.joint.node
        self.port = product(node.turn, joint.inboard[0])
        """Inboard axes to those of the parent."""
        self.R = product(self.port, joint.outboard[0])
        """Outboard axes to those of the parent."""
        self.back: Matrix = transposed(self.R)
        self.slides = [(apply(self.port, d), s, v, i) for d, s, v, i in joint.slides]
        self.arm = add(apply(node.turn, joint.offset), *(scaled(d, s) for d, s, _, _ in self.slides))
        self.lever = add(node.place, self.arm)
        self.spin = add(ZERO, *(scaled(a, w) for a, w, _ in joint.turns))
        self.w: Vector = ZERO
        self.drift_w: Vector = ZERO
        self.drift_v: Vector = ZERO

    def turn(self, w: Vector) -> None:
        """Angular velocity, and accelerations that speeds cause, from the angular velocity of the parent."""
        node = self.joint.node
        at_node = add(w, node.spin)
        carried = apply(self.back, at_node)
        self.w = add(carried, self.spin)
        turns = [] if self.joint.whole else [scaled(a, x) for a, x, _ in self.joint.turns]
        inner = [cross(a, b) for i, a in enumerate(turns) for b in turns[i + 1 :]]
        slip = add(ZERO, *(scaled(d, v) for d, _, v, _ in self.slides))
        moved = add(cross(w, node.spin), node.drift_spin)
        self.drift_w = add(apply(self.back, moved), cross(carried, self.spin), *inner)
        self.drift_v = add(
            cross(w, cross(w, node.place)),
            cross(w, node.rate),
            node.drift,
            cross(at_node, cross(at_node, self.arm)),
            cross(moved, self.arm),
            cross(at_node, slip),
        )


class _Motion:
    """The equations of motion in marks."""

    def __init__(self, system: Mechanism, placed: Placed) -> None:
        self.system, self.placed, self.known = system, placed, placed.known
        n = len(placed.bodies)
        self.links = [_Link(placed, k) for k in range(n)]
        for link in self.links:
            link.turn(self.links[link.parent].w if link.parent >= 0 else ZERO)
        self.children: list[list[int]] = [[] for _ in range(n)]
        for link in self.links:
            if link.parent >= 0:
                self.children[link.parent].append(link.k)
        self.gravity: Vector = tuple(self.known(Kind.GRAVITY, i) for i in range(3))
        self.sensors = Sensors(system, placed)
        self.inertia = [self._inertia(k) for k in range(n)]
        self.bias = [self._bias(k) for k in range(n)]
        self.alpha: list[tuple[Vector, Vector]] = [(ZERO, ZERO)] * n
        self.f: list[tuple[Vector, Vector]] = [(ZERO, ZERO)] * n
        self.modal: list[Mark] = [None] * n
        self.udot: dict[int, Mark] = {}
        self.closures = Closures(system, placed)
        self._solve()

    # ---- constants of the bodies

    def _inertia(self, k: int) -> tuple[Matrix, Vector, Mark] | None:
        """Inertia, first moment and mass; None for a flexible body, all of which is coupled to its modes."""
        rigid = self.placed.bodies[k].rigid
        if rigid is None:
            return None
        if rigid.tunable:
            m = self.known(Kind.RIGID, 10 * k)
            moment = tuple(m | self.known(Kind.RIGID, 10 * k + 1 + i) for i in range(3))
            J = self.known(Kind.RIGID, *range(10 * k, 10 * k + 10))
            return ((J,) * 3,) * 3, moment, m
        com = np.array(rigid.com)
        xx, yy, zz, xy, xz, yz = rigid.inertia
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + rigid.mass * (
            com @ com * np.eye(3) - np.outer(com, com)
        )
        least = DUST * float(abs(J).max())
        return tuple(constant(row, least) for row in J), constant(rigid.mass * com), 0 if rigid.mass else None

    def _bias(self, k: int) -> tuple[Vector, Vector]:
        """Forces that speeds and loads cause: torque and force; for a flexible body those that its modes feel too."""
        rigid, inertia, w = self.placed.bodies[k].rigid, self.inertia[k], self.links[k].w
        if rigid is None or inertia is None:
            eta, rate = self.placed.modal(k)
            damped = self.system.block.bodies[k].damping.any()
            scale = self.known(Kind.MODAL_DAMPING, k) if damped else None
            felt, plane = self.sensors.loads(k, moving=True), self.placed.flat(k)
            u0 = self.placed.u0[k] + self.placed.bodies[k].hinge.kind.nu
            given = self.known(Kind.TAU, *range(u0, self.placed.u0[k + 1])) or None
            own = total([*eta, *rate, *w, scale, given])
            if plane is None:
                every: Vector = (total([own, *felt[0], *felt[1]]),) * 3
                return every, every
            odd: Vector = (plane.drift(w),) * 3
            return plane.spread(plus(own, plane.within(*felt)), odd, odd)
        J, c, _ = inertia
        h = constant(sum((x.momentum * np.array(x.axis) for x in rigid.wheels), np.zeros(3)), DUST)
        torque, force = self.sensors.loads(k)
        return add(cross(w, apply(J, w)), cross(w, h), torque), add(cross(w, cross(w, c)), force)

    # ---- sweeps

    def _solve(self) -> None:
        """Sweep until nothing changes; sets only grow, so it ends."""
        while True:
            before = (list(self.alpha), list(self.f), list(self.modal), dict(self.udot))
            for link in self.links:
                self._outward(link)
            self.closures.follow([(*w, *v) for w, v in self.alpha], self.modal, self.udot)
            for link in reversed(self.links):
                self._inward(link)
            if before == (self.alpha, self.f, self.modal, self.udot):
                return

    def _outward(self, link: _Link) -> None:
        node, p = link.joint.node, link.parent
        w, v = self.alpha[p] if p >= 0 else (ZERO, self.gravity)
        modal = self.modal[p] if p >= 0 else None
        at_node = add(w, scaled(node.bends, modal))
        slid = [scaled(d, self.udot.get(i)) for d, _, _, i in link.slides]
        linear = add(v, cross(w, node.place), scaled(node.moves, modal), cross(at_node, link.arm), link.drift_v, *slid)
        turned = [scaled(a, self.udot.get(i)) for a, _, i in link.joint.turns]
        angular = add(apply(link.back, at_node), link.drift_w, *turned)
        self.alpha[link.k] = angular, apply(link.back, linear)

    def _inward(self, link: _Link) -> None:
        k = link.k
        w, v = self.alpha[k]
        inertia, (torque, force) = self.inertia[k], self.bias[k]
        closing = self.closures.wrench[k]
        torque, force = add(torque, (closing,) * 3), add(force, (closing,) * 3)
        inner = [self._carried(self.links[c]) for c in self.children[k]]
        if inertia is None:
            moving = [self._carried(self.links[c]) for c in self.children[k] if self.links[c].joint.node.moving]
            self.f[k] = self._flexible(k, (torque, force), moving, [*inner, self.sensors.loads(k)])
        else:
            J, c, m = inertia
            torques = add(torque, apply(J, w), cross(c, v), *(t for t, _ in inner))
            self.f[k] = torques, add(force, scaled(v, m), cross(w, c), *(f for _, f in inner))
        self._hinge(link)

    def _flexible(
        self,
        k: int,
        bias: tuple[Vector, Vector],
        moving: list[tuple[Vector, Vector]],
        inner: list[tuple[Vector, Vector]],
    ) -> tuple[Vector, Vector]:
        """Torque and force of a flexible body, and what its modes feel: of a flat one only what is in its plane."""
        plane, (w, v) = self.placed.flat(k), self.alpha[k]
        if plane is None:
            felt = (x for pair in ((w, v), bias, *moving) for vector in pair for x in vector)
            every = total([*felt, self.modal[k]])
            own: tuple[Vector, Vector] = (every,) * 3, (every,) * 3
        else:
            every = total([*(plane.within(*pair) for pair in ((w, v), bias, *moving)), self.modal[k]])
            torque, force = plane.resist(w, v)
            own = plane.spread(every, add(torque, bias[0]), add(force, bias[1]))
        if self.placed.bodies[k].mode_count:
            self.modal[k] = every
        return add(own[0], *(t for t, _ in inner)), add(own[1], *(f for _, f in inner))

    def _carried(self, link: _Link) -> tuple[Vector, Vector]:
        """A child's torque and force at the parent's frame."""
        torque, force = (apply(link.R, x) for x in self.f[link.k])
        return add(torque, cross(link.lever, force)), force

    def _along(self, link: _Link) -> dict[int, Mark]:
        """The wrench of the hinge along each of its DOFs."""
        torque, force = self.f[link.k]
        outward = apply(link.R, force)
        out = {i: dot(d, outward) for d, _, _, i in link.slides}
        for a, _, i in link.joint.turns:  # a screw has both
            out[i] = plus(out[i], dot(a, torque)) if i in out else dot(a, torque)
        return out

    def _hinge(self, link: _Link) -> None:
        if link.joint.motion:
            self.udot.update(link.joint.motion)
            return
        for i, along in self._along(link).items():
            self.udot[i] = total((along, link.joint.own[i], self.closures.force.get(i)))

    # ---- results

    def rows(self) -> dict[tuple[Kind, int], Mark]:
        """What each number of each kind depends on."""
        out: dict[tuple[Kind, int], Mark] = {}
        placed = self.placed
        for link in self.links:
            k = link.k
            torque, force = self.f[k]
            out |= {(Kind.REACTION, 6 * k + i): x for i, x in enumerate((*torque, *force))}
            for i, along in self._along(link).items():
                out[Kind.FORCE, i] = plus(along, link.joint.own[i])
                out[Kind.UDOT, i] = self.udot[i]
            body = placed.bodies[k]
            for i in range(placed.u0[k] + body.hinge.kind.nu, placed.u0[k + 1]):
                out[Kind.UDOT, i] = self.modal[k]
            out |= self._rates(k)
        out |= self.closures.rows()
        out |= self._drives(out)
        return out | self.sensors.rows(self.udot, self.modal)

    def _drives(self, found: dict[tuple[Kind, int], Mark]) -> dict[tuple[Kind, int], Mark]:
        """Friction depends on all that the force of a held hinge does, gaps on position and speed."""
        out: dict[tuple[Kind, int], Mark] = {}
        placed, drives = self.placed, list(driven(self.system.model))
        for n, d in enumerate(drives):
            u, q = placed.u0[d.number] + d.dof, placed.q0[d.number] + d.dof
            force, own = found[Kind.FORCE, u], self.known(Kind.Q, q) | self.known(Kind.U, u)
            for kind in (Kind.FRICTION, Kind.STICKING):
                out[kind, n] = force
            out[Kind.CONTACT, n] = plus(force, own)
            held = self.known(Kind.LOCKED, d.number)
            out[Kind.INDICATOR, 2 * n], out[Kind.INDICATOR, 2 * n + 1] = plus(force, own), own | held
        for n, (rotor, hinge, _) in enumerate(placed.shafts):
            ends = self.known(Kind.Q, placed.q0[rotor], placed.q0[hinge])
            out[Kind.INDICATOR, 2 * len(drives) + n] = ends | self.known(Kind.U, placed.u0[rotor], placed.u0[hinge])
        return out

    def _rates(self, k: int) -> dict[tuple[Kind, int], Mark]:
        """Rates of positions: the speeds, but 1/2 Q w for a quaternion, whose rate no entry enters by itself."""
        placed, kind = self.placed, self.placed.bodies[k].hinge.kind
        q0, u0, n = placed.q0[k], placed.u0[k], kind.n_lin
        if not kind.quaternion:
            return {(Kind.QDOT, q0 + i): self.known(Kind.U, u0 + i) for i in range(placed.q0[k + 1] - q0)}
        out: dict[tuple[Kind, int], Mark] = {(Kind.QDOT, q0 + i): self.known(Kind.U, u0 + i) for i in range(n)}
        spin = self.known(Kind.U, *range(u0 + n, u0 + n + 3))
        Q = range(q0 + n, q0 + n + 4)
        out |= {(Kind.QDOT, i): spin | self.known(Kind.Q, *(j for j in Q if j != i)) for i in Q}
        first = Q.stop
        return out | {
            (Kind.QDOT, first + i): self.known(Kind.U, u0 + n + 3 + i) for i in range(placed.q0[k + 1] - first)
        }
