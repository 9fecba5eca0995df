"""DC motor with amplifier and rigid gear: description. The law is `engine/kernel/src/partners/motor.c`.

    v = Ka u, at most u_max either way            amplifier
    v = R i + L di/dt + Kb N w                    winding; w is the speed of the hinge
    tau = N eta Kt i                              torque at the hinge

The amplifier keeps |i| <= i_max as far as its voltage reaches. Inputs are constant over a step, so that the current
approaches (v - Kb N w)/R exponentially: each stretch between limits is exact. With L = 0 the current is there at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bough.partners.quantity import Partner, Quantity

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
