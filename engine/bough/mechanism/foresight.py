"""What can be told before a run: limits of the modes that a model passes at its start, or sagging under its weight."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from bough.errors import BoughError
from bough.mechanism import kernel
from bough.mechanism.bodies import Array
from bough.mechanism.kernel_watch import new_warnings, watch
from bough.mechanism.mechanism import Mechanism
from bough.model import Hinge

MOST_SPEEDS = 1000
"""Speeds of a mechanism beyond which nothing is said of its damping: the eigenvalues would take a second and more."""
MOST_RATE = 3e5
"""Rate of decay, 1/s, beyond which the default method, explicit, takes a hundred thousand steps a second."""


def fastest_decay(system: Mechanism, data: kernel.KernelData, q: Array) -> tuple[str, float] | None:
    """The hinge whose damper stops a motion soonest, and its rate of decay, 1/s; None without dampers.

    A motion `M du/dt = -C u` decays at the eigenvalues of `M^-1 C`.
    """
    if not 0 < system.nu <= MOST_SPEEDS:
        return None
    free = np.flatnonzero(data.get(kernel.HELD, system.nu) == 0.0)
    c = data.get(kernel.DAMPING, system.nu)[free]
    if not np.any(c > 0.0):
        return None
    M = data.mass_matrix(q[None])[0][np.ix_(free, free)]
    try:
        rates, shapes = eigh(np.diag(c), M)
    except np.linalg.LinAlgError:  # whoever runs it says that the inertia is singular
        return None
    name = system.u_names[free[int(np.argmax(c * shapes[:, -1] ** 2))]]
    return name.rpartition(".")[0], float(rates[-1])


def strong_damper(system: Mechanism) -> tuple[str, str, str] | None:
    """What is found, why it matters and the cure where a damper binds the default method to tiny steps."""
    found = fastest_decay(system, system._data, system.initial_state()[0])
    if found is None or found[1] <= MOST_RATE:
        return None
    hinge, rate = found
    return (
        f"the damping at {hinge} stops a motion in {1 / rate:.2g} s",
        f"the default method, dopri5, follows it with {rate / 3.3:.2g} steps for each second",
        "check its unit (N.m.s/rad, N.s/m), or run with `--method rosenbrock2`, which steps over it",
    )


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
