"""What the metamorphic tests share: satellites at rest, pulses of torque, and the closed forms of what they do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

import bough

Array = NDArray[np.float64]
Dict = dict[str, Any]
Rng = np.random.Generator

SEEDS = int(os.environ.get("BOUGH_METAMORPHIC_SEEDS", "2"))
"""Random cases of each kind; a night takes a few hundred."""
EVERY = int(os.environ.get("BOUGH_METAMORPHIC_SEEDS", "0")) > 0
"""Whether to run the long cases too."""

J = 8.0
"""Inertia of the satellites about z, kg.m2: 5 of the hub, 3 by its mass off the axis (revolute)."""


def turntable() -> Dict:
    """A rigid hub on a revolute hinge without friction: J phi'' = tau."""
    rigid = {"mass": 12.0, "com": [0.3, 0.4, 0.0], "inertia": [4.0, 6.0, 5.0, 0, 0, 0], "tunable": True}
    hinge = {"name": "axis", "type": "revolute", "axis": [0, 0, 1]}
    bodies = [{"name": "hub", "parent": "ground", "hinge": hinge, "rigid": rigid}]
    return {"bough": 1, "name": "turntable", "bodies": bodies}


def flyer() -> Dict:
    """A rigid hub that nothing holds, turned about a principal axis: the same equation."""
    rigid = {"mass": 12.0, "inertia": [4.0, 6.0, J, 0, 0, 0]}
    bodies = [{"name": "hub", "parent": "ground", "hinge": {"name": "axis", "type": "free"}, "rigid": rigid}]
    return {"bough": 1, "name": "flyer", "bodies": bodies}


def panel(hinge: str = "revolute") -> Dict:
    """A hub with a panel of 3 m that bends at 0.5 Hz and more."""
    model = turntable() if hinge == "revolute" else flyer()
    model["name"] = f"panel_{hinge}"
    model["bodies"][0]["rigid"]["nodes"] = {"side": {"position": [0.5, 0, 0]}}
    beam: Dict = {
        "length": 3.0,
        "elements": 6,
        "section": {"area": 1e-3, "Iy": 2e-9, "Iz": 2e-9, "J": 4e-9},
        "material": {"E": 70e9, "nu": 0.33, "rho": 2700},
        "modes": {"bending_z": 2},
        "damping": 0.005,
    }
    model["bodies"].append({"name": "panel", "parent": "hub", "at": "side", "hinge": {"type": "fixed"}, "beam": beam})
    return model


TORQUE = {"revolute": "axis.tau", "free": "axis.tau[3]"}
"""The input that turns the hub about z."""
RIGID: Mapping[str, Callable[[], Dict]] = {"revolute": turntable, "free": flyer}


def angle(run: Any, hinge: str) -> Array:
    """Rotation about z, rad, of a turn below pi."""
    if hinge == "revolute":
        return np.asarray(run["axis.phi"])
    return 2.0 * np.arctan2(run["axis.Q[3]"], run["axis.Q[4]"])


def rate(run: Any, hinge: str) -> Array:
    """Speed about z, rad/s."""
    return np.asarray(run["axis.w" if hinge == "revolute" else "axis.w[3]"])


# ---- pulses


@dataclass(frozen=True)
class Pulse:
    """A torque over time by the corners of its graph; two at one time are a jump.

    Attributes:
        t: s, (n,).
        tau: N.m, (n,).
    """

    t: Array
    tau: Array

    @property
    def table(self) -> tuple[Array, Array]:
        return self.t, self.tau

    def scaled(self, factor: float) -> Pulse:
        return Pulse(self.t, factor * self.tau)

    def delayed(self, delay: float) -> Pulse:
        return Pulse(self.t + delay, self.tau)

    def motion(self, at: float, inertia: float = J) -> tuple[float, float]:
        """Angle and rate of `inertia` at a time after the last corner, from rest: cubic from corner to corner."""
        phi = w = 0.0
        for h, a, b in zip(np.diff(self.t), self.tau[:-1], self.tau[1:], strict=True):
            phi += w * h + h * h * (2.0 * a + b) / (6.0 * inertia)
            w += h * (a + b) / (2.0 * inertia)
        return phi + w * (at - self.t[-1]), w


def rectangle(begin: float, end: float, tau: float) -> Pulse:
    """A torque that jumps up and down again."""
    return Pulse(np.array([begin, begin, end, end]), np.array([0.0, tau, tau, 0.0]))


def draw(rng: Rng, stop: float, row: float) -> tuple[float, float]:
    """Begin and end of a pulse anywhere in a run, from one row to a third of it long, as often short as long."""
    length = row * float(np.exp(rng.uniform(0.0, np.log(stop / 3.0 / row))))
    begin = float(rng.uniform(0.0, 0.8 * stop - length))
    return begin, begin + length


def linear_response(system: bough.Mechanism, name: str, pulse: Pulse, at: float) -> Array:
    """State (q, u) at a time after the pulse from rest, for small motions: exponentials from corner to corner."""
    q, u = system.initial_state()
    model = system.linearize(q, u, np.zeros(system.nu))
    a, push = model.A, model.B[:, model.inputs.index(name)]
    n = len(a)
    corners = np.append(pulse.t, at)
    values = np.append(pulse.tau, pulse.tau[-1])
    x = np.zeros(n)
    for h, low, high in zip(np.diff(corners), values[:-1], values[1:], strict=True):
        if h == 0.0:
            continue
        whole = np.zeros((n + 2, n + 2))
        whole[:n, :n], whole[:n, n], whole[n, n + 1] = a, push, 1.0
        x = (expm(h * whole) @ np.concatenate([x, [low, (high - low) / h]]))[:n]
    return np.concatenate([q, u]) + x


# ---- comparing


PLAIN = {"phi": "position", "s": "position", "Q": "position", "w": "speed", "v": "speed"}


def kind_of(name: str) -> str:
    """What a variable is measured against: positions of hinges, speeds of hinges, modes, their rates, each together."""
    last = name.partition("[")[0].rpartition(".")[2]
    return PLAIN.get(last, last)


def apart(first: Any, second: Any, names: Iterable[str]) -> dict[str, float]:
    """Largest distance of two runs at the same times, over the largest value of the same kind, by name.

    What one part of a mechanism does is judged by what moves most: symmetry and second order leave others at zero.
    """
    size: dict[str, float] = {}
    for name in names:
        size[kind_of(name)] = max(size.get(kind_of(name), 0.0), float(np.abs(first[name]).max()))
    gaps = {name: float(np.abs(first[name] - second[name]).max()) for name in names}
    return {name: gap / (size[kind_of(name)] or 1.0) for name, gap in gaps.items()}
