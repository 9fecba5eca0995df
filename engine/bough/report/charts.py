"""Which variables belong in one chart: the same quantity, with the same unit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.result import Result

Array: TypeAlias = NDArray[np.float64]

_INDEX = re.compile(r"\[\d+\]\Z")

HINGE = {
    "phi": ("Hinge angles", "rad"),
    "s": ("Hinge translations", "m"),
    "Q": ("Hinge attitudes (quaternions x, y, z, w)", ""),
    "w": ("Hinge angular speeds", "rad/s"),
    "v": ("Hinge speeds", "m/s"),
    "a_rot": ("Hinge angular accelerations", "rad/s2"),
    "a_lin": ("Hinge accelerations", "m/s2"),
    "tau": ("Hinge torques", "N.m"),
    "f": ("Hinge forces", "N"),
    "eta": ("Modal amplitudes", ""),
    "eta_dot": ("Modal rates", "1/s"),
    "reaction_force": ("Reaction forces", "N"),
    "reaction_torque": ("Reaction torques", "N.m"),
}
"""Title and unit of `owner.quantity`: hinges and modes."""
NODE = {
    "r": ("Node positions", "m"),
    "Q": ("Node attitudes (quaternions x, y, z, w)", ""),
    "v": ("Node velocities", "m/s"),
    "w": ("Node angular velocities", "rad/s"),
    "a": ("Node accelerations", "m/s2"),
    "force": ("Node forces", "N"),
    "torque": ("Node torques", "N.m"),
}
"""Title and unit of `body.node.quantity`: sensors and loads."""
OTHER = ("Other variables", "")
OF_BODIES = ("eta", "eta_dot", "reaction_force", "reaction_torque")
"""Quantities that need no position beside them: of modes, and of hinges that do not move."""
BY_UNIT = {
    "V": "Voltages",
    "A": "Currents",
    "W": "Power",
    "J": "Energy",
    "N.m": "Torques",
    "N": "Forces",
    "rad": "Angles",
    "rad/s": "Angular speeds",
    "m": "Positions",
    "m/s": "Speeds",
    "kg.m2": "Inertias",
}
"""Titles of variables that are no hinge's, mode's or node's: of motors and controllers, say."""
_ORDER = ["phi", "s", "tau", "f", "eta", "w", "v", "a_rot", "a_lin", "Q", "eta_dot"]
_LAST = ["reaction_force", "reaction_torque"]


@dataclass(frozen=True)
class Chart:
    """Variables that are drawn over one another.

    Attributes:
        title: What they are.
        unit: Their common unit; empty for none.
        names: Variables of the result.
    """

    title: str
    unit: str
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Series:
    """Curves that a report shows besides the variables of a result: energy, a controller's effort, a plan.

    Attributes:
        title: What they are.
        unit: Their common unit; empty for none.
        curves: Values by name, each as long as the times.
        t: Times, s; those of the result if not given.
    """

    title: str
    unit: str
    curves: Mapping[str, Array]
    t: Array | None = None


def charts(result: Result) -> list[Chart]:
    """Every variable of a result in charts of one quantity each, motion first and reactions last."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in result.names:
        title, unit = _quantity(name, result.__contains__)
        told = result.units.get(name, unit)
        if title == OTHER[0] or told != unit:
            title = BY_UNIT.get(told, OTHER[0])
        groups.setdefault((title, told), []).append(name)
    ranked = sorted(groups, key=lambda key: _rank(key[0]))
    return [Chart(title, unit, tuple(groups[title, unit])) for title, unit in ranked]


def _quantity(name: str, known: Callable[[object], bool]) -> tuple[str, str]:
    """Title and unit by the name alone: a CSV file carries no units.

    In the result of a coupled system a component's name comes first, so the number of dots does not tell hinges from
    nodes: what else the owner has does.
    """
    owner, _, last = name.rpartition(".")
    key = _INDEX.sub("", last)
    if not owner:
        return OTHER
    if any(known(f"{owner}.{mark}[1]") for mark in ("r", "force", "torque")):
        return NODE.get(key, OTHER)
    hinge = any(known(f"{owner}.{mark}") for mark in ("phi", "phi[1]", "s", "s[1]", "Q[1]"))
    if not hinge and key not in OF_BODIES:
        return OTHER
    if key == "a":
        # One degree of freedom: an angle or a translation, as its position says.
        key = "a_rot" if known(f"{owner}.phi") else "a_lin"
    return HINGE.get(key, OTHER)


def _rank(title: str) -> int:
    titles = [HINGE[key][0] for key in _ORDER] + [row[0] for row in NODE.values()]
    titles += list(BY_UNIT.values()) + [HINGE[key][0] for key in _LAST]
    return titles.index(title) if title in titles else len(titles)
