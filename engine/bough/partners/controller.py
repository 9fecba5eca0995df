"""Sampled PID controller with feed-forward: description. The law is `engine/kernel/src/partners/controller.c`.

At t_k = start + k sample, with the measured angle rounded to the encoder's counts:

    e = phi_ref - phi_m,  u = kp e + kd (w_ref - w_m) + I + kv w_ref + ka a_ref + u_ff, at most u_max either way

I grows by ki sample e, except where u is at its limit and I would push it further. Between samples everything is held.
A sample that falls on a communication point sees the inputs set there: it is shown as soon as one is set, and kept when
the next step begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bough.errors import did_you_mean
from bough.partners.misfit import FITTING, Misfit, PartnerError
from bough.partners.quantity import Partner, Quantity
from bough.text.problems import describe as words

NUMBER = 2
TEXT = "Joint controller: sampled PID with feed-forward and a built-in move"
OUTPUTS = ("voltage", "torque")
_MOVE = ("phi_start", "phi_end", "t_start", "t_move")
_INPUTS = ("phi", "w", "phi_cmd", "w_cmd", "a_cmd", "u_ff")
_ALL = ("time", *_INPUTS, "kp", "ki", "kd", "kv", "ka", "u_max", "sample", "encoder", "tacho", *_MOVE)
REFERENCE = (
    Quantity("phi_start", "rad", "Built-in move: angle before it", "tunable"),
    Quantity("phi_end", "rad", "Built-in move: angle after it", "tunable"),
    Quantity("t_start", "s", "Built-in move: when it begins", "tunable"),
    Quantity("t_move", "s", "Built-in move: how long it takes, from rest to rest", "tunable", 1.0, 0.0),
)
"""Smooth move from one angle to another, by a polynomial of degree five."""
QUANTITIES: tuple[Quantity, ...] = (
    Quantity("phi", "rad", "Angle of the hinge", "input"),
    Quantity("w", "rad/s", "Speed of the hinge", "input"),
    Quantity("phi_cmd", "rad", "Commanded angle, added to the built-in move", "input", optional=True),
    Quantity("w_cmd", "rad/s", "Commanded speed, added to the built-in move", "input", optional=True),
    Quantity("a_cmd", "rad/s2", "Commanded acceleration, added to the built-in move", "input", optional=True),
    Quantity("u_ff", "V", "Feed-forward, added to u", "input", optional=True),
    Quantity("u", "V", "Command to the amplifier", "output", depends=_ALL, main=True),
    Quantity("phi_ref", "rad", "Angle that is asked for", "output", depends=("time", "phi_cmd", *_MOVE)),
    Quantity("w_ref", "rad/s", "Speed that is asked for", "output", depends=("time", "w_cmd", *_MOVE)),
    Quantity("a_ref", "rad/s2", "Acceleration that is asked for", "output", depends=("time", "a_cmd", *_MOVE)),
    Quantity(
        "e",
        "rad",
        "Error, phi_ref less the measured angle",
        "output",
        depends=("time", "phi", "phi_cmd", "encoder", *_MOVE),
    ),  # fmt: skip
    Quantity("kp", "V/rad", "Gain on the error", "tunable", 20.0),
    Quantity("ki", "V/(rad.s)", "Gain on the integral of the error", "tunable"),
    Quantity("kd", "V.s/rad", "Gain on the error of speed", "tunable", 4.0),
    Quantity("kv", "V.s/rad", "Feed-forward of the reference's speed", "tunable"),
    Quantity("ka", "V.s2/rad", "Feed-forward of the reference's acceleration", "tunable"),
    Quantity("u_max", "V", "Greatest u; the integral does not wind up there", "tunable", 24.0, 0.0),
    Quantity("sample", "s", "Sample time, of all axes", "fixed", 1e-3, 1e-6, count=1),
    Quantity(
        "encoder",
        "",
        "Counts per turn of the encoder; 0: the angle is measured exactly",
        "fixed",
        0.0,
        0.0,
        1e9,
        "Integer",
    ),  # fmt: skip
    Quantity(
        "tacho",
        "",
        "Whether w is measured; if not, the speed is the difference of two angles",
        "fixed",
        1.0,
        0.0,
        1.0,
        "Boolean",
    ),  # fmt: skip
    *REFERENCE,
)
_TORQUE_UNITS = {"V": "N.m", "V/rad": "N.m/rad", "V/(rad.s)": "N.m/(rad.s)", "V.s/rad": "N.m.s/rad",
                 "V.s2/rad": "N.m.s2/rad"}  # fmt: skip


def describe(axes: int, values: Mapping[str, object], output: object = "voltage") -> Partner:
    """A controller for each axis, with one sample time.

    Args:
        axes: How many.
        values: Start values.
        output: What u is: "voltage" for an amplifier, or "torque" for a hinge.

    Raises:
        PartnerError: A value is wrong.
    """
    if output not in OUTPUTS:
        cure = did_you_mean(output, OUTPUTS).removeprefix("; ") if isinstance(output, str) else ""
        found, expected = f"output is {words(output)}", "'voltage' or 'torque'"
        raise PartnerError("controller", Misfit("output", found, expected, cure or FITTING))
    quantities = QUANTITIES
    if output == "torque":
        quantities = tuple(replace(q, unit=_TORQUE_UNITS.get(q.unit, q.unit)) for q in quantities)
        quantities = tuple(replace(q, text="Torque on the hinge") if q.name == "u" else q for q in quantities)
    return Partner("controller", NUMBER, TEXT, axes, sampled(quantities), {}, options=("output",)).set(values)


def sampled(quantities: tuple[Quantity, ...]) -> tuple[Quantity, ...]:
    """The same, inputs and outputs held between samples."""
    return tuple(replace(q, sampled=q.role in ("input", "output")) for q in quantities)
