"""How cost grows: per body from 10 to 1000 bodies, per mode from 1 to 20; memory and rates of a long chain."""

from __future__ import annotations

from typing import Any

import numpy as np

import bough
from benchmarks.chains import flexible_model, flexible_states
from benchmarks.ctimer import Timer
from benchmarks.timing import Sampler, minima

KINDS = (
    ("rigid", 0, "full", True),
    ("ruthless, 5 modes", 5, "ruthless", True),
    ("full, 5 modes", 5, "full", True),
    ("ruthless, 5 modes, no two bodies equal", 5, "ruthless", False),
    ("full, 5 modes, no two bodies equal", 5, "full", False),
)
SIZES = (10, 20, 50, 100, 200, 500, 1000)
MODES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20)
POINTS, BATCH = 12, 16
LONG_WINDOW = 0.01  # s: ten evaluations of the longest chain, after the one that brings its data near


def _timer(bodies: int, modes: int, fidelity: str, points: int = POINTS, equal: bool = True) -> Timer:
    system = bough.Mechanism(flexible_model(bodies, modes, fidelity, points=points, equal=equal))
    return Timer(system, *flexible_states(bodies, modes, BATCH))


def run(quick: bool) -> dict[str, Any]:
    """Tables of cost against bodies and modes, memory, rates."""
    rounds = 10 if quick else 60
    return {"bodies": _bodies(quick, rounds), "modes": _modes(quick, rounds), "long": _long(rounds)}


def _bodies(quick: bool, rounds: int) -> list[dict[str, Any]]:
    """Seconds per body and evaluation, and the spread over the sizes."""
    sizes = (10, 100, 1000) if quick else SIZES
    out = []
    for name, modes, fidelity, equal in KINDS:
        timers = {n: _timer(n, modes, fidelity, equal=equal) for n in sizes}
        samplers: dict[str, Sampler] = {}
        for n, t in timers.items():
            samplers[f"single {n}"], samplers[f"batch {n}"] = t.single(LONG_WINDOW), t.batch(LONG_WINDOW)
        best = minima(samplers, rounds)
        row: dict[str, Any] = {"kind": name, "sizes": list(sizes)}
        for call in ("single", "batch"):
            costs = [best[f"{call} {n}"] / n for n in sizes]
            row[call] = costs
            row[f"{call}_spread"] = max(costs) / min(costs)
            row[f"{call}_growth"] = max(costs) / costs[0]
        row["bytes"] = [t.memory[1] for t in timers.values()]
        out.append(row)
    return out


def _modes(quick: bool, rounds: int) -> list[dict[str, Any]]:
    """Seconds per body against the number of modes, with a straight line fitted."""
    counts = (1, 5, 10, 20) if quick else MODES
    out = []
    for fidelity in ("ruthless", "full"):
        timers = {m: _timer(10, m, fidelity, points=40) for m in counts}
        samplers: dict[str, Sampler] = {}
        for m, t in timers.items():
            samplers[f"single {m}"], samplers[f"batch {m}"] = t.single(0.001), t.batch(0.001)
        best = minima(samplers, rounds)
        for call in ("single", "batch"):
            y = np.array([best[f"{call} {m}"] / 10 for m in counts])
            slope, base = np.polyfit(counts, y, 1)
            curve = np.polyfit(counts, y, 2)
            fit = base + slope * np.array(counts)
            out.append(
                {
                    "fidelity": fidelity,
                    "call": call,
                    "modes": list(counts),
                    "seconds": y.tolist(),
                    "base": float(base),
                    "slope": float(slope),
                    "deviation": float(np.abs(y / fit - 1).max()),
                    "quadratic": float(curve[0] * counts[-1] ** 2 / y[-1]),
                }
            )
    return out


def _long(rounds: int) -> list[dict[str, Any]]:
    """Kernel memory and evaluations per second of 1000 bodies with 10 modes."""
    out = []
    for fidelity in ("full", "ruthless"):
        for points in (POINTS, 40):
            if points == 40 and fidelity == "ruthless":
                continue
            t = _timer(1000, 10, fidelity, points, equal=False)
            best = minima({"single": t.single(), "batch": t.batch()}, max(5, rounds // 4))
            model, total = t.memory
            row = {"fidelity": fidelity, "nodes": points + 2, "model_bytes": model, "bytes": total}
            out.append({**row, **{f"{k}_seconds": v for k, v in best.items()}})
    return out
