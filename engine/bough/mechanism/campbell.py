"""Campbell diagrams: the frequencies of a mechanism over the speed of a hinge that spins."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ArgumentError
from bough.mechanism.equilibrium import equilibrium, spinning
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.steady_limits import SteadyLimits
from bough.mechanism.vibration import vibrations
from bough.model import Model

Array: TypeAlias = NDArray[np.float64]

SPEEDS = 25
"""Speeds between the two ends of a range."""


@dataclass(frozen=True, eq=False)
class Campbell:
    """Frequencies over speed, as an observer sees them who turns along.

    Attributes:
        hinge: Name of the hinge that spins.
        speeds: rad/s, (n,).
        frequencies: Hz, ascending at each speed, (n, m); NaN where a speed has fewer motions that swing.
        damping: Ratio of critical damping, (n, m); negative where a motion grows.
    """

    hinge: str
    speeds: Array
    frequencies: Array
    damping: Array

    def to_csv(self) -> str:
        """A table: speed, then frequency and damping of each motion."""
        count = self.frequencies.shape[1]
        head = ["speed [rad/s]"] + [f"{key} {i + 1}" for i in range(count) for key in ("frequency [Hz]", "damping")]
        lines = [",".join(head)]
        for speed, hertz, ratio in zip(self.speeds, self.frequencies, self.damping, strict=True):
            cells = [float(x) for pair in zip(hertz, ratio, strict=True) for x in pair]
            lines.append(",".join([repr(float(speed)), *("" if np.isnan(x) else repr(x) for x in cells)]))
        return "\n".join(lines) + "\n"


def campbell(
    model: Model | Mechanism | str | os.PathLike[str] | Mapping[str, Any],
    spin: Mapping[str, Sequence[float] | Array],
    *,
    at: ArrayLike | None = None,
    loads: Mapping[str, ArrayLike] | None = None,
) -> Campbell:
    """Natural frequencies over the speed of a hinge, each about the steady motion at that speed.

    Args:
        model: A model, or what `bough.load` takes, or a Mechanism.
        spin: One hinge and its speeds, rad/s: two for a range, `{"hub": (0, 60)}`, or all of them.
        at: Position to begin the search for the steady motion from, (nq,); the start position if not given.
        loads: Node loads that act all the time, by name, inertial frame.

    Raises:
        ArgumentError: `spin` does not name one hinge that turns about one axis, with two speeds or more.
        SimulationError: There is no steady motion at a speed.

    Warns:
        TheoryWarning: A flexible body is bent or spins beyond the limits of its modes; once per body and limit.
    """
    if len(spin) != 1:
        raise ArgumentError(f"spin: expected one hinge with its speeds, found {len(spin)}")
    system = model if isinstance(model, Mechanism) else Mechanism(model)
    system.refuse_loops("a Campbell diagram")
    ((hinge, given),) = spin.items()
    speeds = np.asarray(given, dtype=np.float64)
    if speeds.ndim != 1 or speeds.size < 2 or not np.all(np.isfinite(speeds)):
        raise ArgumentError(f"spin[{hinge!r}]: expected two or more finite speeds, rad/s, found {given!r}")
    if speeds.size == 2:
        speeds = np.linspace(speeds[0], speeds[1], SPEEDS)
    turning = spinning(system, {hinge: 1.0})
    q = system.initial_state()[0] if at is None else np.asarray(at, dtype=np.float64)
    rows = []
    limits = SteadyLimits(system)
    for speed in speeds:
        # The steady motion at one speed is near that at the next.
        q, _ = equilibrium(system, q=q, loads=loads, spin={hinge: float(speed)} if speed else None)
        limits.warn(q, float(speed) * turning)
        # At rest the hinge is held as well: the motions are those that go on at speed.
        found = vibrations(system, q, float(speed) * turning, loads, held=np.flatnonzero(turning))
        rows.append([(mode.frequency, mode.damping) for mode in found.modes if mode.kind != "decay"])
    most = max(map(len, rows), default=0)
    table = np.full((speeds.size, most, 2), np.nan)
    for i, row in enumerate(rows):
        table[i, : len(row)] = np.array(row).reshape(-1, 2)
    return Campbell(hinge, speeds, table[..., 0], table[..., 1])
