"""Friction, limits and gears in the model block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from bough.model import Body, Model
from bough.model.drives import Friction, Limits

_STOPS = {"gives": 1, "rigid": 2, "latch": 3}
_NEVER = 1e300
"""Stands for a limit that is not there."""


@dataclass(frozen=True)
class Driven:
    """A hinge DOF with friction or a limit: the kernel's drive.

    Attributes:
        body: The body that the hinge carries.
        number: Of the body.
        dof: Of the hinge.
        friction: None for none.
        limits: None for none.
    """

    body: Body
    number: int
    dof: int
    friction: Friction | None
    limits: Limits | None


def driven(model: Model) -> Iterator[Driven]:
    """The drives of a model, in the kernel's order."""
    for k, body in enumerate(model.bodies):
        hinge, n = body.hinge, body.hinge.kind.nu
        friction, limits = hinge.friction or (None,) * n, hinge.limits or (None,) * n
        for j in range(n):
            if friction[j] is not None or limits[j] is not None:
                yield Driven(body, k, j, friction[j], limits[j])


def shafts(model: Model) -> Iterator[tuple[int, int, Body]]:
    """Numbers of the bodies of a rotor and of the hinge that it drives through an elastic shaft, and the latter."""
    index = {b.hinge.name: k for k, b in enumerate(model.bodies)}
    for k, body in enumerate(model.bodies):
        driven_body = model.bodies[index[body.hinge.drives]] if body.hinge.drives else None
        if driven_body is not None and driven_body.hinge.gear is not None:
            if driven_body.hinge.gear.stiffness is not None:
                yield k, index[body.hinge.drives], driven_body


def drive_ints(ints: list[int], model: Model) -> None:
    """Counts, then body, DOF and kind of stop of each drive, bodies of each gear."""
    drives, gears = list(driven(model)), list(shafts(model))
    ints += [len(drives), len(gears)]
    for d in drives:
        ints += [d.number, d.dof, 0 if d.limits is None else _STOPS[d.limits.kind]]
    for rotor, hinge, _ in gears:
        ints += [rotor, hinge]


def drive_reals(put: Callable[..., None], model: Model) -> None:
    """Friction and limits of each drive; ratio, stiffness, damping, backlash and offset of each gear."""
    for d in driven(model):
        f = (0.0, 0.0, 0.0) if d.friction is None else (d.friction.coulomb, d.friction.static, d.friction.stribeck)
        stop = (-_NEVER, _NEVER, 0.0, 0.0, 0.0)
        if d.limits is not None:
            x = d.limits
            low, high = max(x.lower, -_NEVER), min(x.upper, _NEVER)
            stop = (low, high, x.stiffness, x.damping, x.restitution)
        put(np.array([*f, *stop]))
    for _, _, body in shafts(model):
        gear = body.hinge.gear
        if gear is not None:
            put(np.array([gear.ratio, gear.stiffness or 0.0, gear.damping, gear.backlash, 0.0]))
