"""A partner's resource, opened: its variables by quantity and axis, and the partner at work."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from bough.errors import BoughError
from bough.mechanism.fields import Kind
from bough.mechanism.resource import Record, Resource, read_resource
from bough.partners import controller, model_controller, motor
from bough.partners.controller import ControllerRun
from bough.partners.model_run import ModelRun
from bough.partners.motor import MotorRun
from bough.partners.partner_run import PartnerRun
from bough.partners.quantity import INDEX_STEP


@dataclass(frozen=True)
class Place:
    """Where a variable's number is, and what it may be.

    Attributes:
        record: The variable, as the resource has it.
        quantity: Its quantity's name; empty for time.
        axis: Place among the quantity's numbers.
        least: Least value allowed.
        most: Greatest value allowed.
    """

    record: Record
    quantity: str
    axis: int
    least: float
    most: float


@dataclass(frozen=True)
class Opened:
    """Everything in a partner's `model.bough`.

    Attributes:
        resource: As read.
        places: Every variable, in the order of value references.
        run: The partner at work, at its start values.
    """

    resource: Resource
    places: tuple[Place, ...]
    run: PartnerRun


def open_partner(data: bytes) -> Opened:
    """Open the bytes of a partner's `model.bough`.

    Raises:
        BoughError: They are damaged, or of another version of bough.
    """
    resource = read_resource(data)
    number, axes = resource.partner
    families = {m.NUMBER: m.QUANTITIES for m in (motor, controller, model_controller)}
    if number not in families:
        raise BoughError("model.bough is not a partner's: build the FMU again")
    names = [q.name for q in families[number]]
    if number == model_controller.NUMBER:
        names += [q.name for q in model_controller.MODAL]
    n_reals, _ = struct.unpack_from("<qq", resource.block)
    reals = struct.unpack_from(f"<{n_reals}d", resource.block, 16)
    value: dict[str, list[float]] = {name: [] for name in names}
    places = []
    for i, v in enumerate(resource.variables):
        name = "" if v.kind == Kind.TIME else names[v.index // INDEX_STEP]
        places.append(Place(v, name, v.index % INDEX_STEP, reals[2 * i], reals[2 * i + 1]))
        if name:
            value[name].append(v.start[0])
    run: PartnerRun
    if number == model_controller.NUMBER:
        table, block = reals[2 * len(places) :], resource.block[16 + 8 * n_reals :]
        run = ModelRun(value, axes, table, block, resource.bodies)
    else:
        run = MotorRun(value, axes) if number == motor.NUMBER else ControllerRun(value, axes)
    return Opened(resource, tuple(places), run)
