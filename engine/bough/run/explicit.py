"""What explicit methods are bad at: hinge damping so strong that it bounds the step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.linalg import eigh

from bough.errors import SimulationError
from bough.mechanism import kernel
from bough.mechanism.mechanism import Mechanism
from bough.run.studies import started

EXPLICIT = {"dopri5": 3.3, "rk4": 2.78}
"""Explicit methods, and the largest rate times step, on the negative real axis, that they bear."""
MOST_SPEEDS = 1000
"""Speeds of a mechanism beyond which nothing is said: the eigenvalues would take longer than a second."""
MOST_STEPS = 1e6
"""Steps of a run that take minutes."""


def damping_note(system: Mechanism, settings: Mapping[str, float], stop: float, method: str) -> str:
    """What a user should know of a run whose damping an explicit method cannot step over; empty if nothing.

    A motion `M du/dt = -C u` decays at the eigenvalues of `M^-1 C`: an explicit method stays stable only if its step
    times the largest of them is below its bound, however smooth the motion is.

    Args:
        system: The mechanism.
        settings: Values of the run by name.
        stop: Duration, s.
        method: As `bough.simulate` names it.
    """
    if method not in EXPLICIT or not 0 < system.nu <= MOST_SPEEDS:
        return ""
    try:
        data, q, _ = started(system, settings)
    except SimulationError:  # the run itself says so
        return ""
    free = np.flatnonzero(data.get(kernel.HELD, system.nu) == 0.0)
    c = data.get(kernel.DAMPING, system.nu)[free]
    if not np.any(c > 0.0):
        return ""
    M = data.mass_matrix(q[None])[0][np.ix_(free, free)]
    try:
        rates, shapes = eigh(np.diag(c), M)
    except np.linalg.LinAlgError:  # the run itself says that the inertia is singular
        return ""
    steps = float(rates[-1]) * stop / EXPLICIT[method]
    if not steps > MOST_STEPS:
        return ""
    name = system.u_names[free[int(np.argmax(c * shapes[:, -1] ** 2))]]
    hinge, seconds = name.rpartition(".")[0], 1 / rates[-1]
    return (
        f"the damping at {hinge} stops a motion in {seconds:.2g} s, and {method} has to follow it: {steps:.2g} steps "
        "or more. `--method rosenbrock2` steps over it"
    )
