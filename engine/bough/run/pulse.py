"""How far a run is: told now and then, with a warning when it makes no progress."""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable

from bough.errors import ProgressWarning

INTERVAL = 0.1
"""Seconds of computing between two calls of whoever is told; by these calls a run can also be stopped."""
PATIENCE = 10.0
"""Seconds of computing after which the pace is judged; doubled after every warning."""
HOPELESS = 86_400.0
"""A run whose rest would take longer than this, s, makes no progress."""


class Pulse:
    """Feels the pulse of a run: call `beat` as often as convenient, at least several times a second."""

    def __init__(
        self,
        start: float,
        stop: float,
        tell: Callable[[float], None] | None,
        now: Callable[[], float] = clock.perf_counter,
    ) -> None:
        """Begin.

        Args:
            start: Of the run, s.
            stop: Of the run, s.
            tell: Called with the fraction done, 0 to 1; what it raises ends the run.
            now: Time of day, s.
        """
        self._start, self._stop, self._tell, self._now = start, stop, tell, now
        self._told = self._judged = now()
        self._time, self._steps, self._patience = start, 0, PATIENCE

    def beat(self, t: float, steps: Callable[[], int]) -> None:
        """The run has reached time t, s, in so many steps."""
        now = self._now()
        if now - self._told < INTERVAL:
            return
        self._told = now
        self.tell(t)
        if now - self._judged >= self._patience:
            self._judge(min(t, self._stop), steps(), now)

    def tell(self, t: float) -> None:
        """Tell at once that time t, s, is reached."""
        if self._tell is not None:
            span = self._stop - self._start
            self._tell(min(1.0, max(0.0, (t - self._start) / span)) if span > 0.0 else 1.0)

    def _judge(self, t: float, steps: int, now: float) -> None:
        took, made, count = now - self._judged, t - self._time, steps - self._steps
        self._judged, self._time, self._steps = now, t, steps
        if made * HOPELESS >= (self._stop - t) * took:
            return
        self._patience *= 2.0
        size = f"in {count} steps of {made / count:.2g} s" if count > 0 else "without one step accepted"
        rest = f"the rest would take {(self._stop - t) * took / made / 86_400:.2g} days" if made > 0.0 else "it stands"
        warnings.warn(
            f"hardly any progress at t = {t:.9g} s: {made:.2g} s in the last {took:.0f} s, {size}; {rest}. "
            "A stiff model wants method rosenbrock2; a larger tolerance or a fixed step helps too",
            ProgressWarning,
            stacklevel=4,
        )
