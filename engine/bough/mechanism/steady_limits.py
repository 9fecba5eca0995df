"""Warnings of modes and Campbell diagrams: a steady motion beyond the limits of the bodies' modes."""

from __future__ import annotations

import warnings

from bough.errors import TheoryWarning
from bough.mechanism.bodies import Array
from bough.mechanism.kernel_watch import UNDAMPED, new_warnings, watch
from bough.mechanism.mechanism import Mechanism


class SteadyLimits:
    """Tells once per body and limit, as of the caller's caller; see `bough.TheoryWarning`."""

    def __init__(self, system: Mechanism) -> None:
        """Nothing has been told yet."""
        self._data = system._data.copy()
        self._labels = [body.label for body in system.model.bodies]

    def warn(self, q: Array, u: Array) -> None:
        """Compare a steady motion with the limits of the bodies.

        Args:
            q: Positions, (nq,).
            u: Speeds, (nu,): zero but for hinges that spin.
        """
        watch(self._data, 0.0, q, u)
        for text in new_warnings(self._data, self._labels, but=UNDAMPED):  # small motions do not grow by it
            warnings.warn(text.replace(" at t = 0 s", " in steady motion"), TheoryWarning, stacklevel=3)
