"""Torque/speed ports: pairs of links whose product is a power, and the energy that passes through them.

A port joins components a and b: a sends an effort e (torque, force, voltage) and b answers with a flow f (speed,
current), or the other way round. Between communication points b works with an input e~ and a with an input f~, which
are not quite what the other side does. What b takes in, int e~ f dt, and what a gives away, int e f~ dt, then differ:
the residual is energy that the coupling has made or lost (Sadjina, Kyllingstad, Skjong and Pedersen, "Energy
conservation and power bonds in co-simulations", Engineering with Computers 33 (2017), 607-620).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from bough.coupling.assembly import POWER, Assembly, Link, Port, Unit
from bough.run.result import Array

SAME = 1e-3
"""Relative difference of the powers at both ends of a port, for factors that a user has rounded."""
_INDEX = re.compile(r"(\[[^\]]*\])?$")


@dataclass(frozen=True)
class PowerPort:
    """Two links that carry a power.

    Attributes:
        effort: Index of the link from a to b.
        flow: Index of the link from b to a.
        scale: Power in W per product of the two values.
    """

    effort: int
    flow: int
    scale: float


def power_ports(assembly: Assembly) -> list[PowerPort]:
    """Ports of a system: links in opposite directions between the same variables' groups, with a power as product."""
    links = assembly.links
    out: list[PowerPort] = []
    used: set[int] = set()
    for i, link in enumerate(links):
        for j in range(i + 1, len(links)):
            other = links[j]
            opposite = (link.source[0], link.target[0]) == (other.target[0], other.source[0])
            if not opposite or used & {i, j} or link.source[0] == link.target[0]:
                continue
            one, scale = _unit(assembly, link.target), _scale(assembly, link, other)
            if scale is not None and one is not None and _group(link.target) == _group(other.source):
                # Torque, force and voltage have a kg in them; speed and current have not.
                out.append(PowerPort(i, j, scale) if one.base[0] else PowerPort(j, i, scale))
                used |= {i, j}
    return out


def _scale(assembly: Assembly, link: Link, other: Link) -> float | None:
    """Watts per product of what two links carry; None if that is no power.

    A factor may change the kind of a quantity: a pinion of radius r makes a force tau / r of a torque, and a turning
    speed v / r of a speed. What arrives times what is answered is a power at both ends, and the same one.
    """
    if link.offset or other.offset or not link.factor or not other.factor:
        return None
    there = _power(_unit(assembly, link.target), _unit(assembly, other.source))
    here = _power(_unit(assembly, link.source), _unit(assembly, other.target))
    if there is None or here is None:
        return None
    one, two = there / other.factor, here / link.factor
    return two if math.isclose(one, two, rel_tol=SAME) else None


def _unit(assembly: Assembly, port: Port) -> Unit | None:
    name = assembly.variable(port).unit
    return None if name is None else assembly.component(port[0]).interface.units.get(name)


def _power(a: Unit | None, b: Unit | None) -> float | None:
    """Watts per product of the units; None if it is no power. An angle counts as a number."""
    if a is None or b is None or a.offset or b.offset:
        return None
    base = tuple(x + y for x, y in zip(a.base, b.base, strict=True))
    return a.factor * b.factor if base[:-1] == POWER[:-1] else None


def _group(port: Port) -> tuple[str, str]:
    """What variables of one hinge or axis have in common: `arm.shoulder.tau[1]` gives ('shoulder', '[1]')."""
    name = port[1]
    index = _INDEX.search(name)
    return name.rpartition(".")[0], "" if index is None else index.group(0)


class EnergyMeter:
    """Sums up what passes through the ports.

    Attributes:
        taken: Energy that b has taken in at each port, J.
        given: Energy that a has given away at each port, J.
    """

    def __init__(self, ports: Sequence[PowerPort]) -> None:
        """Begin with nothing."""
        self.ports = ports
        self.taken = [0.0] * len(ports)
        self.given = [0.0] * len(ports)

    def add(self, h: float, held: Array, known: Array) -> None:
        """One step of length h, s.

        Args:
            h: Length of the step.
            held: What each link's target has used, at the beginning and at the end of the step, (links, 2).
            known: What each link's source was, at the beginning and at the end, (links, 2).
        """
        for k, port in enumerate(self.ports):
            self.taken[k] += port.scale * _product(held[port.effort], known[port.flow], h)
            self.given[k] += port.scale * _product(known[port.effort], held[port.flow], h)


def _product(a: Array, b: Array, h: float) -> float:
    """Integral of the product of two straight lines."""
    return float(h * (2 * a[0] * b[0] + a[0] * b[1] + a[1] * b[0] + 2 * a[1] * b[1]) / 6)
