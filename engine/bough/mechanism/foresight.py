"""What can be told before a run: limits of the modes that a model passes at its start, or sagging under its weight."""

from __future__ import annotations

import numpy as np

from bough.errors import BoughError
from bough.mechanism.bodies import Array
from bough.mechanism.kernel_watch import new_warnings, watch
from bough.mechanism.mechanism import Mechanism
from bough.model import Hinge


def foreseen(system: Mechanism) -> list[str]:
    """Warnings that a run would give at its start, or once the bodies that hinges hold have settled under gravity.

    They are those of the run itself, with the number that is passed and the cure; see `bough.TheoryWarning`.
    """
    data = system._data.copy()
    labels = [body.label for body in system.model.bodies]
    q, u = system.initial_state()
    reaction = np.zeros(6 * len(labels))
    watch(data, 0.0, q, u)
    try:
        data.evaluate({"q": q, "u": u}, {"reaction": reaction})
        watch(data, 0.0, reaction=reaction)
        at_start = new_warnings(data, labels)
        watch(data, 0.0, _settled(system, q), np.zeros(system.nu))
    except BoughError:  # a model that cannot move says so by itself
        return new_warnings(data, labels)
    return at_start + [text.replace(" at t = 0 s", " at rest under its weight") for text in new_warnings(data, labels)]


def _held(hinge: Hinge) -> bool:
    """Whether nothing turns or slides at a hinge under weight, but for the give of its springs."""
    return not hinge.kind.nu or hinge.drive != "torque" or all(k > 0.0 for k in hinge.stiffness)


def _settled(system: Mechanism, q: Array) -> Array:
    """Positions with the modes bent by weight, of bodies that hinges hold: what swings or falls decides for itself."""
    rest: Array = q.copy()
    modal = [c.index for c in system.q_table if c.modal]
    rest[modal] = 0.0
    u = np.zeros(system.nu)
    missing = system.inverse_dynamics(rest, u, u)
    loose = {body.name for body in system.model.bodies if not _held(body.hinge)}
    for body in system.model.bodies:  # what hangs on a loose hinge is loose
        if body.parent in loose:
            loose.add(body.name)
    for body in reversed(system.model.bodies):  # and what carries one is loaded in a way that its motion decides
        if body.name in loose:
            loose.add(body.parent)
    for body, data in zip(system.model.bodies, system.block.bodies, strict=True):
        if not data.nm or body.name in loose or data.flex is None:
            continue
        at = [c.index for c in system.q_table if c.modal and c.body == body.name]
        speeds = [c.index for c in system.u_table if c.modal and c.body == body.name]
        rest[at] = -np.linalg.solve(data.flex.stiffness, missing[speeds])
    return rest
