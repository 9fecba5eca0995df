"""Functions of time that partners share; `fmu_src/partners/shapes.c` is the same, line by line and bit for bit."""

from __future__ import annotations

SAMPLE_SLACK = 1e-5
"""Communication points are sums in many hosts: a sample this much ahead, in sample times, is due."""
SAMPLES_MOST = 1e6
"""In one communication step; more are a mistake."""
COUNT_MOST = 9e15
"""Numbers of samples are whole doubles, below 2^53."""


def decay(x: float) -> float:
    """1 - exp(-x) for x >= 0."""
    if not x < 40.0:  # exp(-40) is lost beside 1
        return 1.0
    doublings = 0
    while x > 0.0625:
        x *= 0.5
        doublings += 1
    s = 1.0
    for n in range(10, 1, -1):  # x - x^2/2! + x^3/3! - ..., the tenth term is below rounding
        s = 1.0 - x / n * s
    s *= x
    for _ in range(doublings):  # 1 - e^-2x = (1 - e^-x)(1 + e^-x)
        s *= 2.0 - s
    return s


def quintic(t: float, duration: float) -> tuple[float, float, float]:
    """A move from 0 to 1 that begins at t = 0: position, speed (1/s) and acceleration (1/s2)."""
    if not 0.0 < t < duration:
        return (0.0 if t < 0.0 or (t == 0.0 and duration > 0.0) else 1.0), 0.0, 0.0
    x = t / duration
    return (
        x * x * x * (10.0 + x * (6.0 * x - 15.0)),
        30.0 * x * x * (1.0 - x) * (1.0 - x) / duration,
        60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (duration * duration),
    )


def clamp(x: float, least: float, most: float) -> float:
    """X, at least and at most."""
    return least if x < least else most if x > most else x
