"""A mechanism of every kind of body, for pictures of it."""

from __future__ import annotations

import numpy as np
from small_models import SLIDER

import bough


def slider_run() -> tuple[bough.Mechanism, bough.Result]:
    """The mechanism and a second of its motion."""
    system = bough.Mechanism(SLIDER)
    result = bough.simulate(system, 1.0, {"rail.f": lambda t: 30.0 * np.sin(6.0 * t)}, 0.002)
    return system, result
