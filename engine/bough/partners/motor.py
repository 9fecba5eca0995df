"""DC motor with amplifier and rigid gear: description, and the equations in Python.

    v = Ka u, at most u_max either way            amplifier
    v = R i + L di/dt + Kb N w                    winding; w is the speed of the hinge
    tau = N eta Kt i                              torque at the hinge

The amplifier keeps |i| <= i_max as far as its voltage reaches. Inputs are constant over a step, so that the current
approaches (v - Kb N w)/R exponentially: each stretch between limits is exact. With L = 0 the current is there at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bough.partners.partner_run import PartnerRun
from bough.partners.quantity import Partner, Quantity
from bough.partners.shapes import clamp, decay

NUMBER = 1
TEXT = "DC motor with amplifier and gear"
_CURRENT = ("u", "w", "Ka", "u_max", "R", "L", "Kb", "N", "i_max")
_TORQUE = ("N", "eta", "Kt")
QUANTITIES: tuple[Quantity, ...] = (
    Quantity("u", "V", "Command to the amplifier", "input"),
    Quantity("w", "rad/s", "Speed of the hinge", "input"),
    Quantity("tau", "N.m", "Torque at the hinge", "output", depends=(*_CURRENT, *_TORQUE), main=True),
    Quantity("i", "A", "Current in the winding", "output", depends=_CURRENT),
    Quantity("v", "V", "Voltage at the winding", "output", depends=_CURRENT),
    Quantity("power", "W", "Mechanical power to the hinge, tau w", "output", depends=(*_CURRENT, *_TORQUE)),
    Quantity("armature", "kg.m2", "Rotor inertia seen at the hinge, J N^2", "output", depends=("J", "N")),
    Quantity("Ka", "V/V", "Gain of the amplifier", "tunable", 1.0),
    Quantity("u_max", "V", "Greatest voltage of the amplifier", "tunable", 24.0, 0.0),
    Quantity("R", "Ohm", "Resistance of the winding", "tunable", 0.5, 1e-6),
    Quantity("L", "H", "Inductance of the winding; 0: the current has no delay", "fixed", 5e-4, 0.0),
    Quantity("Kt", "N.m/A", "Torque constant", "tunable", 0.05),
    Quantity("Kb", "V.s/rad", "Back-EMF constant", "tunable", 0.05),
    Quantity("N", "1", "Gear ratio, turns of the rotor for one of the hinge", "tunable", 50.0),
    Quantity("eta", "1", "Efficiency of the gear", "tunable", 0.9, 0.0, 1.0),
    Quantity("J", "kg.m2", "Inertia of the rotor", "tunable", 2e-5, 0.0),
    Quantity("i_max", "A", "Greatest current that the amplifier lets through", "tunable", 20.0, 0.0),
)
INDUCTANCE_LEAST = 1e-9
"""Where the current is a state, H: outputs that do not depend on inputs must not begin to."""


def describe(axes: int, values: Mapping[str, object]) -> Partner:
    """A motor for each axis.

    One that is built with L > 0 on all axes has torques that do not depend on the inputs of the same instant, and keeps
    L > 0.

    Raises:
        PartnerError: A value is wrong.
    """
    partner = Partner("motor", NUMBER, TEXT, axes, QUANTITIES, {}).set(values)
    inductance = next(q for q in QUANTITIES if q.name == "L")
    if not all(x > 0.0 for x in partner.start(inductance)):
        return partner
    instant = {"i": (), "tau": _TORQUE, "power": ("w", *_TORQUE)}  # of the state, and of what is not behind it
    quantities = tuple(
        replace(q, depends=instant[q.name])
        if q.name in instant
        else replace(q, minimum=INDUCTANCE_LEAST, text="Inductance of the winding")
        if q.name == "L"
        else q
        for q in QUANTITIES
    )
    return replace(partner, quantities=quantities).set({"L": partner.start(inductance)})


@dataclass(frozen=True)
class _Circuit:
    """Numbers of an axis at one instant: v is what is asked for, the currents what v, -u_max and u_max lead to."""

    R: float
    L: float
    i_max: float
    v: float
    emf: float
    aim: float
    least: float
    most: float

    def hold(self) -> float:
        """The current limit as far as the voltage reaches, A."""
        if self.aim > self.i_max:
            return self.least if self.least > self.i_max else self.i_max
        if self.aim < -self.i_max:
            return self.most if self.most < -self.i_max else -self.i_max
        return self.aim

    def current_after(self, i: float, h: float) -> float:
        """Current i, A, after h seconds."""
        x = h * self.R / self.L
        side = -1.0 if i < 0.0 else 1.0
        if side * i > self.i_max:  # beyond the limit: all voltage against it
            start, against = side * i, side * (self.least if side > 0.0 else self.most)
            needed = math.log((start - against) / (self.i_max - against)) if against < self.i_max else x
            if needed >= x:
                return side * _approach(start, against, x)
            x -= needed
            i = side * self.i_max
        if self.aim > self.i_max:
            return _into_limit(i, self.aim, self.least, self.i_max, x)
        if self.aim < -self.i_max:
            return -_into_limit(-i, -self.aim, -self.most, self.i_max, x)
        return _approach(i, self.aim, x)

    def voltage(self, i: float) -> float:
        """Voltage at the winding, V."""
        if self.L == 0.0:
            return self.R * i + self.emf
        if i > self.i_max:
            return self.R * self.least + self.emf
        if i < -self.i_max:
            return self.R * self.most + self.emf
        held = (i == self.i_max and self.aim > i) or (i == -self.i_max and self.aim < i)
        return self.R * self.hold() + self.emf if held else self.v


def _approach(i: float, aim: float, x: float) -> float:
    return i + (aim - i) * decay(x)


def _into_limit(i: float, aim: float, least: float, i_max: float, x: float) -> float:
    """From |i| <= i_max with an aim above the limit, x time constants on; signs as for a positive aim."""
    free = _approach(i, aim, x)
    if free <= i_max:
        return free
    if least <= i_max:
        return i_max
    return _approach(i_max, least, x - math.log((aim - i) / (aim - i_max)))  # pushed through the limit from outside


class MotorRun(PartnerRun):
    """The motor at work; memory is the current of each axis, A."""

    def __init__(self, value: dict[str, list[float]], axes: int) -> None:
        """Begin without current."""
        super().__init__(value, axes, [0.0] * axes)

    def _look(self, a: int) -> _Circuit:
        v = self.value
        u_max, R = v["u_max"][a], v["R"][a]
        voltage = clamp(v["Ka"][a] * v["u"][a], -u_max, u_max)
        emf = v["Kb"][a] * v["N"][a] * v["w"][a]
        aims = ((voltage - emf) / R, (-u_max - emf) / R, (u_max - emf) / R)
        return _Circuit(R, v["L"][a], v["i_max"][a], voltage, emf, *aims)

    def evaluate(self) -> None:
        """See `PartnerRun`."""
        v = self.value
        for a in range(self.axes):
            c, N = self._look(a), v["N"][a]
            i = c.hold() if c.L == 0.0 else self.memory[a]
            tau = N * v["eta"][a] * v["Kt"][a] * i
            v["i"][a], v["v"][a], v["tau"][a] = i, c.voltage(i), tau
            v["power"][a], v["armature"][a] = tau * v["w"][a], v["J"][a] * N * N

    def advance(self, end: float) -> None:
        """See `PartnerRun`."""
        for a in range(self.axes):
            c = self._look(a)
            self.memory[a] = c.hold() if c.L == 0.0 else c.current_after(self.memory[a], end - self.time)
