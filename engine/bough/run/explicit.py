"""What explicit methods are bad at: hinge damping so strong that it bounds the step."""

from __future__ import annotations

from collections.abc import Mapping

from bough.errors import SimulationError
from bough.mechanism.foresight import fastest_decay
from bough.mechanism.mechanism import Mechanism
from bough.run.studies import started

EXPLICIT = {"dopri5": 3.3, "rk4": 2.78}
"""Explicit methods, and the largest rate times step, on the negative real axis, that they bear."""
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
    if method not in EXPLICIT:
        return ""
    try:
        data, q, _ = started(system, settings)
    except SimulationError:  # the run itself says so
        return ""
    found = fastest_decay(system, data, q)
    if found is None:
        return ""
    hinge, rate = found
    steps = rate * stop / EXPLICIT[method]
    if not steps > MOST_STEPS:
        return ""
    return (
        f"the damping at {hinge} stops a motion in {1 / rate:.2g} s, and {method} has to follow it: {steps:.2g} steps "
        "or more. `--method rosenbrock2` steps over it"
    )
