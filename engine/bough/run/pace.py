"""The wall clock of a run in real time: each step waits for its time, and is measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

REAL_TIME = ("p50", "p99", "worst", "overruns", "late")
"""Statistics of a run in real time."""
SPIN = 2e-4
"""The last part of a wait is spent awake, s: a sleeping process comes back late."""


class Pacer:
    """Keeps a run at the pace of the wall clock.

    Attributes:
        took: Computing time of each step, s.
        overruns: Steps that ended after their time.
        late: Greatest delay of a step's end, s.
    """

    def __init__(
        self, clock: Callable[[], float] = time.perf_counter, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """Take a clock, s, and what waits for some seconds."""
        self._clock, self._sleep = clock, sleep
        self._zero = self._since = clock()
        self.took: list[float] = []
        self.overruns, self.late = 0, 0.0

    def begin(self, start: float = 0.0) -> None:
        """From now on the run's time, s, and the clock go together."""
        self._since = self._clock()
        self._zero = self._since - start

    def __call__(self, t: float) -> None:
        """A step has reached time t, s: wait until the clock has, too."""
        now, due = self._clock(), self._zero + t
        self.took.append(now - self._since)
        if now > due:
            self.overruns += 1
            self.late = max(self.late, now - due)
        elif due - now > SPIN:
            self._sleep(due - now - SPIN)
        while self._clock() < due:
            pass
        self._since = self._clock()

    def statistics(self) -> dict[str, float]:
        """`p50`, `p99` and `worst` of a step's computing time, s, `overruns`, and `late`, s."""
        took = np.array(self.took or [0.0])
        p50, p99 = np.percentile(took, [50.0, 99.0])
        return {
            "p50": float(p50),
            "p99": float(p99),
            "worst": float(took.max()),
            "overruns": float(self.overruns),
            "late": self.late,
        }


def told(statistics: Mapping[str, float], step: float) -> str:
    """The statistics of a paced run in one line."""
    ms = {key: f"{1e3 * statistics[key]:.3g} ms" for key in ("p50", "p99", "worst", "late")}
    late = f", {ms['late']} late at most" if statistics["overruns"] else ""
    return (
        f"real time, steps of {1e3 * step:g} ms: computing takes {ms['p50']} (p50), {ms['p99']} (p99), {ms['worst']} "
        f"(worst); {statistics['overruns']:.0f} overruns{late}"
    )
