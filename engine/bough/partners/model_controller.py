"""Controller with a flexible model inside: description.

`model_design` and `model_schedule` make its gains; `engine/kernel/src/partners/model_controller.c` is the law.
After figures 4 and 6 of US patent 5,546,508: the engine runs on the measured hinge state and predicts the motion,
deflections included; prediction and desired motion are compared, and the difference corrects the hinge torques.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import did_you_mean
from bough.flex import load
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.variables import hinge_dofs
from bough.model import Model
from bough.partners.controller import REFERENCE, sampled
from bough.partners.misfit import FITTING, Misfit, PartnerError
from bough.partners.model_design import plant_of
from bough.partners.model_schedule import Schedule, Way, schedule
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
    Quantity(
        "a_pred",
        "rad/s2",
        "Acceleration that the model computes for tau in the estimated state",
        "output",
        depends=_ALL,
        across=True,
    ),
    Quantity("limited", "1", "Whether tau is at its limit: 1, else 0", "output", depends=_ALL, across=True),
    Quantity("tau_max", "N.m", "Greatest torque; the integral does not wind up there", "tunable", 1e3, 0.0),
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
    Quantity("eta_cmd", "1", "Desired deflection, added to what the move asks for", "input", optional=True),
    Quantity("eta_dot_cmd", "1/s", "Its rate", "input", optional=True),
    Quantity("eta_ddot_cmd", "1/s2", "Its acceleration", "input", optional=True),
)
LAWS = ("state", "acceleration")
SLIDING = {"rad": "m", "rad/s": "m/s", "rad/s2": "m/s2", "N.m": "N", "V/(N.m)": "V/N", "V.s/rad": "V.s/m"}
"""Units of a translation's axis in place of a rotation's."""


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
    Option("integral", "1/s", "How fast a lasting error is to vanish; 0: no integral action", 0.0, 0.0),
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
        PartnerError: The model has hinges that cannot be controlled so, a value is wrong, or the loop is unstable.
    """
    options, given = {o.name: o.start for o in OPTIONS}, dict(values)
    armature = _numbers("armature", given.pop("armature", ()))
    law = _law(given.pop("law", LAWS[0]))
    if law and "integral" not in given:
        options["integral"] = 0.25 * _option(OPTIONS[0], given.get("bandwidth", OPTIONS[0].start))
    for o in OPTIONS[:3]:
        options[o.name] = _option(o, given.pop(o.name, options[o.name]))
    loaded = model.model if isinstance(model, Mechanism) else model if isinstance(model, Model) else load(model)
    loaded, left_out = _smooth(loaded)
    names, sliding, base = _hinges(loaded)
    if armature:
        loaded = _with_armature(loaded, armature, len(names), base)
    system = Mechanism(loaded)
    axes = len(names)
    plant = plant_of(system, names, base)
    start = [float(system.initial_state()[0][plant.base_q + j]) for j in plant.hinges]
    modes = len(plant.modes)
    quantities = sampled((*QUANTITIES, *(replace(q, count=modes) for q in MODAL if modes)))
    about = f"{TEXT}: {loaded.name}, bandwidth {options['bandwidth']:g} rad/s, sample time {options['sample']:g} s"
    about += f", integral {options['integral']:g} 1/s" if options["integral"] else ""
    about += ", law of accelerations" if law else ""
    about += f"; without {' and '.join(left_out)} of the hinges" if left_out else ""
    partner = Partner(
        KIND,
        NUMBER,
        about,
        axes,
        quantities,
        {},
        axis_names=tuple(n.rpartition(".")[0] for n in names),
        options=(*(o.name for o in OPTIONS), "law"),
        units=tuple(SLIDING if slides else {} for slides in sliding),
    )
    partner = partner.set({"phi_start": start, "phi_end": start}).set(given)
    gains = schedule(plant, _way(partner), options["bandwidth"], options["sample"], options["integral"])
    bodies = tuple((body.label, body.hinge.name) for body in loaded.bodies)
    return replace(partner, table=_table(gains, options["sample"], law), block=system.block.data, bodies=bodies)


def _way(partner: Partner) -> Way:
    """The built-in move with its start values: angles for a part of its time, from 0 to 1."""
    start, end, begin, takes = (
        np.array(partner.start(next(q for q in partner.quantities if q.name == name))) for name in _MOVE
    )
    first, last = float(begin.min()), float((begin + takes).max())

    def way(part: float) -> NDArray[np.float64]:
        t = first + part * (last - first) - begin
        s = np.clip(np.divide(t, takes, out=np.where(t >= 0.0, 1.0, 0.0), where=takes > 0.0), 0.0, 1.0)
        if last == first:
            s = np.full_like(s, part)  # a jump: gains for the way between all the same
        out: NDArray[np.float64] = start + (end - start) * s**3 * (10.0 + s * (-15.0 + 6.0 * s))
        return out

    return way


def _table(g: Schedule, sample: float, law: int) -> tuple[float, ...]:
    """The numbers that the library reads; see model_controller.h."""
    plant, H, m = g.plant, len(g.plant.hinges), len(g.plant.modes)
    head = (sample, g.substeps, H + m, m, len(g.stations), plant.base > 0, law, g.reach)
    out = [*map(float, head), *map(float, plant.hinges), *map(float, plant.modes), *([1.0] * H)]
    for s in g.stations:
        arrays = (s.pose, s.flexibility, s.feedback, s.correction, s.integral, *((s.closed, s.weights) if law else ()))
        out += [x for array in arrays for x in array.ravel().tolist()]
    return tuple(out)


def _law(value: object) -> int:
    if value not in LAWS:
        cure = did_you_mean(value, LAWS).removeprefix("; ") if isinstance(value, str) else ""
        found, expected = f"law is {words(value)}", "'state' or 'acceleration'"
        raise PartnerError(KIND, Misfit("law", found, expected, cure or FITTING))
    return LAWS.index(str(value))


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


def _smooth(model: Model) -> tuple[Model, tuple[str, ...]]:
    """The model without what jumps, and what was left out: friction and limits; rotors turn with their hinges.

    Gains come from a linear model, and at rest a hinge with friction is held. A rotor behind a gear is its inertia seen
    at the hinge; the torque is the one at the hinge, ratio times that of the motor.
    """
    bodies, gears = [], set[str]()
    rubs = stops = False
    for body in model.bodies:
        h = body.hinge
        if h.drives:
            continue
        rubs, stops = rubs or any(h.friction), stops or any(h.limits)
        armature = h.armature
        if h.gear is not None:
            gears.add(f"{h.name}_gear")
            rubs = rubs or h.gear.friction is not None
            armature = (armature[0] + h.gear.inertia * h.gear.ratio**2, *armature[1:])
        changes = {"friction": (), "limits": (), "gear": None, "armature": armature}
        bodies.append(body.model_copy(update={"hinge": h.model_copy(update=changes)}))
    couplings = tuple(c for c in model.couplings if c.name not in gears)
    said = {"friction": rubs, "limits": stops, "elasticity and play of gears": bool(gears)}
    left_out = tuple(name for name, there in said.items() if there)
    return model.model_copy(update={"bodies": tuple(bodies), "couplings": couplings}), left_out


def _hinges(model: Model) -> tuple[list[str], list[bool], int]:
    """Names of the hinges' speeds in the order of u, whether each is a translation, and speeds of a floating base.

    Raises:
        PartnerError: A hinge cannot be controlled.
    """
    names, sliding, base = list[str](), list[bool](), 0
    for number, body in enumerate(model.bodies):
        h = body.hinge
        if h.type == "free" and number == 0 and h.drive == "torque":
            base = h.kind.nu
            _check_floating(model, h.name)
            continue
        if h.kind.quaternion or (h.kind.nu and h.drive != "torque"):
            found = f"hinge '{h.name}' is {h.type}, drive {h.drive}"
            expected = (
                "hinges with translations and rotations about axes that forces and torques drive, fixed ones, and at "
                "most one free hinge, of the first body"
            )
            raise PartnerError(KIND, Misfit("model", found, expected, "take a controller, one axis for each hinge"))
        names += [f"{h.name}.{dof.speed}" for dof in hinge_dofs(body)]
        sliding += [k < h.kind.n_lin for k in range(h.kind.nu)]
    if model.loops or model.couplings:
        raise PartnerError(KIND, Misfit("model", "it has loops or couplings", "a tree", "take a controller"))
    if not names:
        expected = "a hinge that turns or slides: there is nothing to control"
        raise PartnerError(KIND, Misfit("model", "the model has none", expected, "name another model"))
    return names, sliding, base


def _check_floating(model: Model, name: str) -> None:
    """A base is eliminated by its momentum, which is zero and stays so: nothing may push it."""
    h = model.bodies[0].hinge
    pushed = any(model.gravity) or any(h.damping) or any(h.stiffness)
    if pushed:
        found = f"gravity, or a spring or damper of hinge '{name}', acts on the floating base"
        raise PartnerError(KIND, Misfit("model", found, "a base that nothing pushes", "leave them out of the model"))


def _with_armature(model: Model, armature: Sequence[float], axes: int, base: int) -> Model:
    if len(armature) not in (1, axes):
        expected = "1 value (one hinge is driven)" if axes == 1 else f"1 value for all hinges, or {axes}"
        raise PartnerError(KIND, Misfit("armature", f"armature has {len(armature)} values", expected))
    left = list(armature) * (axes if len(armature) == 1 else 1)
    bodies = []
    for number, body in enumerate(model.bodies):
        if base and number == 0:
            bodies.append(body)
            continue
        own, left = tuple(left[: body.hinge.kind.nu]), left[body.hinge.kind.nu :]
        bodies.append(body.model_copy(update={"hinge": body.hinge.model_copy(update={"armature": own})}))
    return model.model_copy(update={"bodies": tuple(bodies)})
