"""What loops and couplings exert depends on: marks of their multipliers.

The equation of a closure is `J udot + Jdot u = 0`, and its multipliers follow from it: they depend on whatever the
accelerations of its two ends do, and on every position and speed between the ends and the ground, which J, Jdot u and
the stabilization in Model Exchange are made of. Directions are not told apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bough.fmu.marks import Mark, plus, total
from bough.fmu.placed import Placed
from bough.mechanism.fields import Kind
from bough.mechanism.mechanism import Mechanism


class Closures:
    """Loops and couplings in marks.

    Attributes:
        wrench: What loops exert on each body, any component.
        force: What couplings exert on the DOFs that they relate, by index in u.
    """

    def __init__(self, system: Mechanism, placed: Placed) -> None:
        """Find the bodies and DOFs that each relates."""
        self.placed, self.model = placed, system.model
        self.ends = [[placed.index.get(end.body, -1) for end in loop.ends] for loop in self.model.loops]
        held = {c.name: c.index for c in system.q_table}
        speed = {q: u for q, u in _one_dof(placed)}
        self.terms = [[(held[name], speed[held[name]]) for name, _ in c.terms] for c in self.model.couplings]
        self.own = [total(self._path(k) for k in ends) for ends in self.ends]
        self.loops: list[Mark] = [None] * len(self.ends)
        self.couplings: list[Mark] = [None] * len(self.terms)
        self.wrench: list[Mark] = [None] * len(placed.bodies)
        self.force: dict[int, Mark] = {}

    def _path(self, k: int) -> Mark:
        """Positions and speeds from a body to the ground."""
        found: Mark = None
        while k >= 0:
            for kind, first in ((Kind.Q, self.placed.q0), (Kind.U, self.placed.u0)):
                found = plus(found, self.placed.known(kind, *range(first[k], first[k + 1])))
            k = self.placed.parent(k)
        return found

    def follow(self, alpha: Sequence[Iterable[Mark]], modal: Sequence[Mark], udot: Mapping[int, Mark]) -> None:
        """Multipliers from the accelerations of bodies, modes and DOFs, and what they exert."""
        for i, ends in enumerate(self.ends):
            bodies = [k for k in ends if k >= 0]
            moves = total(x for k in bodies for x in (*alpha[k], modal[k]))
            self.loops[i] = total((self.loops[i], self.own[i], moves))
            for k in bodies:
                self.wrench[k] = plus(self.wrench[k], self.loops[i])
        for i, terms in enumerate(self.terms):
            own = (self.placed.known(Kind.Q, q) | self.placed.known(Kind.U, u) for q, u in terms)
            self.couplings[i] = total((self.couplings[i], *own, *(udot.get(u) for _, u in terms)))
            for _, u in terms:
                self.force[u] = plus(self.force.get(u), self.couplings[i])

    def rows(self) -> dict[tuple[Kind, int], Mark]:
        """What each number of each kind depends on."""
        out: dict[tuple[Kind, int], Mark] = {}
        for i, mark in enumerate(self.loops):
            out |= {(Kind.CLOSURE, 6 * i + j): mark for j in range(6)}
        return out | {(Kind.COUPLING, i): mark for i, mark in enumerate(self.couplings)}


def _one_dof(placed: Placed) -> Iterable[tuple[int, int]]:
    """Place in q and in u of the DOF of every hinge that has one."""
    for k, body in enumerate(placed.bodies):
        if body.hinge.kind.nu == 1:
            yield placed.q0[k], placed.u0[k]
