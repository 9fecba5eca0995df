"""Minima over interleaved rounds, on one core: the measure of every table here."""

from __future__ import annotations

import datetime
import os
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path

Sampler = Callable[[], float]
"""One short measurement: seconds per evaluation."""

WINDOW = 0.002  # s: long against the clock, short against the slices of the scheduler


def pin_to_core() -> int | None:
    """Bind this process, and those it starts, to one core; return its number, or None where that cannot be done."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def loop(call: Callable[[], object], evaluations: int = 1, window: float = WINDOW) -> Sampler:
    """Sampler that repeats a Python call for about `window` seconds.

    Args:
        call: What to time.
        evaluations: How many evaluations one call makes.
        window: Length of one measurement, s.
    """
    began = time.perf_counter()
    call()
    count = 1
    while (spent := time.perf_counter() - began) < 0.5 * window:
        count *= 2
        began = time.perf_counter()
        for _ in range(count):
            call()
    repeats = max(1, round(count * window / max(spent, 1e-9)))

    def sample() -> float:
        call()  # those measured in between have taken the caches
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        return (time.perf_counter() - start) / (repeats * evaluations)

    return sample


def minima(samplers: Mapping[str, Sampler], rounds: int) -> dict[str, float]:
    """Smallest time of each, s: one sample of each in turn, `rounds` times over."""
    best = dict.fromkeys(samplers, float("inf"))
    for _ in range(rounds):
        for name, sample in samplers.items():
            best[name] = min(best[name], sample())
    return best


def machine() -> dict[str, str]:
    """What the numbers were taken on, without naming the host."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        cpu = models[0] if models else cpu
    return {
        "cpu": cpu,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
    }
