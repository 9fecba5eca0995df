"""A partner's resource, opened: its variables by quantity and axis, their start values and ranges."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from bough.errors import BoughError
from bough.mechanism.fields import Kind
from bough.mechanism.resource import Record, Resource, read_resource
from bough.partners import controller, model_controller, motor
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
    """What a partner's `model.bough` says.

    Attributes:
        resource: As read.
        places: Every variable, in the order of value references.
        table: Further numbers, of a model-controller: its sample time first.
    """

    resource: Resource
    places: tuple[Place, ...]
    table: tuple[float, ...]

    def start_values(self) -> dict[str, list[float]]:
        """Numbers by quantity, one per axis."""
        value: dict[str, list[float]] = {}
        for place in self.places:
            if place.quantity:
                value.setdefault(place.quantity, []).append(place.record.start[0])
        return value


def open_partner(data: bytes) -> Opened:
    """Open the bytes of a partner's `model.bough`.

    Raises:
        BoughError: They are damaged, or of another version of bough.
    """
    resource = read_resource(data)
    families = {m.NUMBER: m.QUANTITIES for m in (motor, controller, model_controller)}
    if resource.partner[0] not in families:
        raise BoughError("model.bough is not a partner's: build the FMU again")
    names = [q.name for q in families[resource.partner[0]]]
    if resource.partner[0] == model_controller.NUMBER:
        names += [q.name for q in model_controller.MODAL]
    n_reals, _ = struct.unpack_from("<qq", resource.block)
    reals = struct.unpack_from(f"<{n_reals}d", resource.block, 16)
    places = []
    for i, v in enumerate(resource.variables):
        name = "" if v.kind == Kind.TIME else names[v.index // INDEX_STEP]
        places.append(Place(v, name, v.index % INDEX_STEP, reals[2 * i], reals[2 * i + 1]))
    return Opened(resource, tuple(places), reals[2 * len(places) :])
