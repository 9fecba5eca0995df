"""What a master had better know of an FMU that bough has written, and that FMI has no words for."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bough.errors import BoughError
from bough.files import check_archive, open_file
from bough.mechanism.resource import read_resource
from bough.partners import controller, model_controller, motor
from bough.partners.opened import Opened, open_partner
from bough.partners.quantity import Quantity

RESOURCE = "resources/model.bough"
SAMPLE_SLACK = 1e-5
"""Communication points are sums in many hosts: a sample this much ahead, in sample times, is due; as in partner.h."""
_QUANTITIES: dict[int, tuple[Quantity, ...]] = {m.NUMBER: m.QUANTITIES for m in (motor, controller, model_controller)}


@dataclass(frozen=True)
class Facts:
    """Of one FMU.

    Attributes:
        mechanism: Whether it is a mechanism: its inputs are loads, and a hinge that nothing drives is a passive one.
        optional: Names of inputs that add to something else: nothing is missing where nothing is connected.
        sample: Time between two samples, s; None for what is not sampled.
        lag: Shortest time constant of a partner that is not sampled, s; None without one.
        drives: For each axis of a partner the outputs that it is there for: one of them should be connected.
        angles: Parameters and inputs of a partner in rad, with their start values.
    """

    mechanism: bool = False
    optional: frozenset[str] = frozenset()
    sample: float | None = None
    lag: float | None = None
    drives: tuple[tuple[str, ...], ...] = ()
    angles: tuple[tuple[str, float], ...] = ()


def read_facts(fmu: Path, values: Mapping[str, float]) -> Facts:
    """What is known of an FMU; of one from another tool nothing is.

    Args:
        fmu: Path of the FMU.
        values: Start values that differ from those in it, by variable.
    """
    try:
        with open_file(fmu) as stream, zipfile.ZipFile(stream) as archive:
            check_archive(archive)
            data = archive.read(RESOURCE) if RESOURCE in archive.namelist() else None
        if data is None:
            return Facts()
        return _facts(open_partner(data), values) if read_resource(data).partner[0] else Facts(mechanism=True)
    except (OSError, zipfile.BadZipFile, BoughError):
        return Facts()  # a damaged FMU tells so itself when it is loaded


def _facts(opened: Opened, values: Mapping[str, float]) -> Facts:
    number: dict[str, list[float]] = {}
    for place in opened.places:
        if place.quantity and place.record.start:
            name = place.record.name
            number.setdefault(place.quantity, []).append(float(values.get(name, place.record.start[0])))
    kind = opened.resource.partner[0]
    optional = {q.name for q in _QUANTITIES[kind] if q.optional}
    if kind == controller.NUMBER and not any(number["tacho"]):
        optional.add("w")  # without a tachometer nobody reads it
    names = frozenset(place.record.name for place in opened.places if place.quantity in optional)
    known = Facts(optional=names, drives=_drives(opened), angles=_angles(opened, values))
    if kind == model_controller.NUMBER:
        return replace(known, sample=opened.table[0])
    if kind == controller.NUMBER:
        return replace(known, sample=number["sample"][0])
    lags = [L / R for L, R in zip(number["L"], number["R"], strict=True) if L > 0.0]
    return replace(known, lag=min(lags, default=None))


def _drives(opened: Opened) -> tuple[tuple[str, ...], ...]:
    main = {q.name for q in _QUANTITIES[opened.resource.partner[0]] if q.main}
    axes: dict[int, list[str]] = {}
    for place in opened.places:
        if place.quantity in main:
            axes.setdefault(place.axis, []).append(place.record.name)
    return tuple(tuple(names) for _, names in sorted(axes.items()))


def _angles(opened: Opened, values: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    angles = {q.name for q in _QUANTITIES[opened.resource.partner[0]] if q.settable and q.unit == "rad"}
    found = [place.record for place in opened.places if place.quantity in angles]
    return tuple((v.name, float(values.get(v.name, v.start[0]))) for v in found)


def partner_values(fmu: Path) -> tuple[str, dict[str, float]]:
    """Kind of a partner, as `bough build-partner` names it, and start values of its variables.

    Of anything else the kind is empty.
    """
    try:
        with open_file(fmu) as stream, zipfile.ZipFile(stream) as archive:
            check_archive(archive)
            data = archive.read(RESOURCE) if RESOURCE in archive.namelist() else None
        if data is None or not read_resource(data).partner[0]:
            return "", {}
        opened = open_partner(data)
    except (OSError, zipfile.BadZipFile, BoughError):
        return "", {}
    kinds = {motor.NUMBER: "motor", controller.NUMBER: "controller", model_controller.NUMBER: "model-controller"}
    start = {place.record.name: float(place.record.start[0]) for place in opened.places if place.record.start}
    return kinds[opened.resource.partner[0]], start
