"""Controller with a flexible model inside: description.

`model_design` makes its gains; `engine/kernel/src/partners/model_controller.c` is the law.
After figures 4 and 6 of US patent 5,546,508: the engine runs on the measured hinge state and predicts the motion,
deflections included; prediction and desired motion are compared, and the difference corrects the hinge torques.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bough.flex import load
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.variables import hinge_dofs
from bough.model import Model
from bough.partners.controller import REFERENCE, sampled
from bough.partners.misfit import Misfit, PartnerError
from bough.partners.model_design import Gains, design
from bough.partners.quantity import Partner, Quantity, as_list
from bough.text.problems import describe as words

KIND = "model-controller"
NUMBER = 3
TEXT = "Controller with a flexible model inside"
_CMD = ("phi_cmd", "w_cmd", "a_cmd")
_MOVE = tuple(q.name for q in REFERENCE)
_ALL = ("time", "phi", "w", *_CMD, "tau_ff", "tau_max", *_MOVE)
QUANTITIES: tuple[Quantity, ...] = (
    Quantity("phi", "rad", "Angle of the hinge", "input"),
    Quantity("w", "rad/s", "Speed of the hinge", "input"),
    Quantity("phi_cmd", "rad", "Commanded angle, added to the built-in move", "input", optional=True),
    Quantity("w_cmd", "rad/s", "Commanded speed, added to the built-in move", "input", optional=True),
    Quantity("a_cmd", "rad/s2", "Commanded acceleration, added to the built-in move", "input", optional=True),
    Quantity("tau_ff", "N.m", "Feed-forward, added to tau", "input", optional=True),
    Quantity("tau", "N.m", "Torque on the hinge", "output", depends=_ALL, across=True, main=True),
    Quantity(
        "u",
        "V",
        "Command to the amplifier, ku tau + kw w",
        "output",
        depends=(*_ALL, "ku", "kw"),
        across=True,
        main=True,
    ),
    Quantity("phi_ref", "rad", "Angle that is asked for", "output", depends=("time", "phi_cmd", *_MOVE)),
    Quantity("w_ref", "rad/s", "Speed that is asked for", "output", depends=("time", "w_cmd", *_MOVE)),
    Quantity("a_ref", "rad/s2", "Acceleration that is asked for", "output", depends=("time", "a_cmd", *_MOVE)),
    Quantity("e", "rad", "Error, phi_ref - phi", "output", depends=("time", "phi", "phi_cmd", *_MOVE)),
    Quantity("phi_pred", "rad", "Angle that the model had predicted", "output", depends=("time", "phi")),
    Quantity("tau_max", "N.m", "Greatest torque", "tunable", 1e3, 0.0),
    Quantity("ku", "V/(N.m)", "Voltage for a torque; R/(Ka N eta Kt) of the motor", "tunable"),
    Quantity("kw", "V.s/rad", "Voltage for a speed; Kb N/Ka of the motor", "tunable"),
    *REFERENCE,
)
MODAL = (
    Quantity(
        "eta", "1", "Modal coordinate, estimated", "output", depends=("time", "phi", "w", *_CMD, *_MOVE), across=True
    ),
    Quantity(
        "eta_dot", "1/s", "Modal speed, estimated", "output", depends=("time", "phi", "w", *_CMD, *_MOVE), across=True
    ),
)


@dataclass(frozen=True)
class Option:
    """What is settled when the FMU is built, and is no variable of it."""

    name: str
    unit: str
    text: str
    start: float
    minimum: float


OPTIONS = (
    Option("bandwidth", "rad/s", "How fast errors are to vanish", 4.0, 1e-3),
    Option("sample", "s", "Sample time", 1e-3, 1e-6),
    Option(
        "armature",
        "kg.m2",
        "Rotor inertia at the hinges, in place of the model's; one value, or one per axis",
        -1.0,
        0.0,
    ),
)


def describe(
    model: Model | Mechanism | str | os.PathLike[str] | Mapping[str, Any], values: Mapping[str, object]
) -> Partner:
    """A controller for all hinges of a model.

    Args:
        model: What `bough.load` takes, or a Mechanism.
        values: Start values of its variables, and the options.

    Raises:
        ModelError: The model is wrong.
        PartnerError: The model has hinges that are not driven rotations, or a value is wrong.
    """
    options, given = {o.name: o.start for o in OPTIONS}, dict(values)
    armature = _numbers("armature", given.pop("armature", ()))
    for o in OPTIONS[:2]:
        options[o.name] = _option(o, given.pop(o.name, o.start))
    loaded = model.model if isinstance(model, Mechanism) else model if isinstance(model, Model) else load(model)
    names = _hinges(loaded)
    if armature:
        loaded = _with_armature(loaded, armature, len(names))
    system = Mechanism(loaded)
    axes = len(names)
    start = [system.initial_state()[0][system.u_names.index(name)] for name in names]
    modes = system.nu - axes
    quantities = sampled((*QUANTITIES, *(replace(q, count=modes) for q in MODAL if modes)))
    about = f"{TEXT}: {loaded.name}, bandwidth {options['bandwidth']:g} rad/s, sample time {options['sample']:g} s"
    partner = Partner(
        KIND,
        NUMBER,
        about,
        axes,
        quantities,
        {},
        axis_names=tuple(n[:-2] for n in names),
        options=tuple(o.name for o in OPTIONS),
    )
    partner = partner.set({"phi_start": start, "phi_end": start}).set(given)
    end = next(partner.start(q) for q in quantities if q.name == "phi_end")
    gains = design(system, names, end, options["bandwidth"], options["sample"])
    bodies = tuple((body.label, body.hinge.name) for body in loaded.bodies)
    return replace(partner, table=_table(gains, options["sample"]), block=system.block.data, bodies=bodies)


def _table(g: Gains, sample: float) -> tuple[float, ...]:
    """The numbers that the library reads; see model_controller.c."""
    head = (sample, float(g.substeps), float(len(g.hinges) + len(g.modes)), float(len(g.modes)))
    arrays = (x for array in (g.flexibility, g.feedback, g.correction) for x in array.ravel().tolist())
    return (*head, *map(float, g.hinges), *map(float, g.modes), *arrays)


def _option(o: Option, value: object) -> float:
    if not isinstance(value, (int, float)) or not o.minimum <= value < 1e6:
        found = f"{o.name} is {words(value)}"
        raise PartnerError(KIND, Misfit(o.name, found, f"a number from {o.minimum:g} {o.unit} on"))
    return float(value)


def _numbers(name: str, value: object) -> list[float]:
    numbers = as_list(value)
    if any(not isinstance(x, (int, float)) or not 0.0 <= x < 1e9 for x in numbers):
        raise PartnerError(KIND, Misfit(name, f"{name} is {words(value)}", "numbers that are not negative"))
    return [float(x) for x in numbers if isinstance(x, (int, float))]


def _hinges(model: Model) -> list[str]:
    """Names of the hinges' speeds, in the order of u.

    Raises:
        PartnerError: A hinge is not a rotation that a torque drives.
    """
    names: list[str] = []
    for body in model.bodies:
        h = body.hinge
        if h.kind.shifts or h.kind.quaternion or (h.kind.nu and h.drive != "torque"):
            found = f"hinge '{h.name}' is {h.type}, drive {h.drive}"
            expected = "every hinge to be fixed, or a rotation about axes (revolute, universal) that a torque drives"
            raise PartnerError(KIND, Misfit("model", found, expected, "take a controller, one axis for each hinge"))
        names += [f"{h.name}.{dof.speed}" for dof in hinge_dofs(body)]
    if not names:
        expected = "a hinge that turns: there is nothing to control"
        raise PartnerError(KIND, Misfit("model", "the model has none", expected, "name another model"))
    return names


def _with_armature(model: Model, armature: Sequence[float], axes: int) -> Model:
    if len(armature) not in (1, axes):
        expected = "1 value (one hinge is driven)" if axes == 1 else f"1 value for all hinges, or {axes}"
        raise PartnerError(KIND, Misfit("armature", f"armature has {len(armature)} values", expected))
    left = list(armature) * (axes if len(armature) == 1 else 1)
    bodies = []
    for body in model.bodies:
        own, left = tuple(left[: body.hinge.kind.nu]), left[body.hinge.kind.nu :]
        bodies.append(body.model_copy(update={"hinge": body.hinge.model_copy(update={"armature": own})}))
    return model.model_copy(update={"bodies": tuple(bodies)})
