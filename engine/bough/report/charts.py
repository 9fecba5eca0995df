"""Which variables belong in one chart: the same quantity, with the same unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.run.result import Result

Array: TypeAlias = NDArray[np.float64]

_INDEX = re.compile(r"\[\d+\]\Z")

HINGE: Mapping[str, str] = {
    "phi": "Hinge angles",
    "s": "Hinge translations",
    "Q": "Hinge attitudes (quaternions x, y, z, w)",
    "w": "Hinge angular speeds",
    "v": "Hinge speeds",
    "a_rot": "Hinge angular accelerations",
    "a_lin": "Hinge accelerations",
    "tau": "Hinge torques",
    "f": "Hinge forces",
    "eta": "Modal amplitudes",
    "eta_dot": "Modal rates",
    "friction": "Friction in hinges",
    "sticking": "Hinges that stick (1: held by friction)",
    "contact": "Hinges at a limit (-1: lower, 1: upper)",
    "h": "Momenta of wheels",
    "modal_force": "Modal forces",
    "reaction_force": "Reaction forces",
    "reaction_torque": "Reaction torques",
}
"""Title of `owner.quantity`: hinges and modes."""
NODE: Mapping[str, str] = {
    "r": "Node positions",
    "Q": "Node attitudes (quaternions x, y, z, w)",
    "v": "Node velocities",
    "w": "Node angular velocities",
    "a": "Node accelerations",
    "force": "Node forces",
    "torque": "Node torques",
    "local_force": "Node forces, node axes",
    "local_torque": "Node torques, node axes",
    "local_v": "Node velocities, node axes",
    "local_w": "Node angular velocities, node axes",
    "specific_force": "Specific forces (accelerometers)",
    "deflection": "Deflections of nodes",
    "rotation": "Rotations of nodes by modes",
}
"""Title of `body.node.quantity`: sensors and loads."""
ELEMENT: Mapping[str, str] = {
    "f": "Forces between nodes",
    "s": "Lengths and gaps of forces",
    "v": "Rates of lengths and gaps",
    "tau": "Torques of bushings",
    "phi": "Rotations across bushings",
    "w": "Angular speeds across bushings",
}
"""Title of `force.quantity`: springs, actuators, bushings, contacts."""
COORDINATES = tuple(HINGE[key] for key in ("phi", "s", "Q"))
"""Titles of what says where the mechanism is: always drawn, even if it rests."""
BY_UNIT = {
    "V": "Voltages",
    "A": "Currents",
    "W": "Power",
    "J": "Energy",
    "N.m": "Torques",
    "N": "Forces",
    "rad": "Angles",
    "rad/s": "Angular speeds",
    "rad/s2": "Angular accelerations",
    "m": "Positions",
    "m/s": "Speeds",
    "m/s2": "Accelerations",
    "kg.m2": "Inertias",
}
"""Titles of variables that are no hinge's, mode's or node's: of motors and controllers, say."""
REFERENCES = {"phi": "angle", "s": "position", "w": "angular speed", "v": "speed"}
"""What a controller may be asked for as `quantity_ref` beside the actual `quantity`."""
_ORDER = ["phi", "s", "tau", "f", "friction", "sticking", "contact", "eta", "w", "h", "v", "a_rot", "a_lin", "Q"]
_ORDER += ["eta_dot", "modal_force"]
_LAST = ["reaction_force", "reaction_torque"]
_POSITIONS = {"phi", "s", "Q"}
_MODES = {"eta", "eta_dot"}
_MARKS = {*_MODES, "a", "a_rot", "a_lin", *_LAST}
"""What a part of a mechanism has and another component with an angle or a speed has not."""
_AT_NODE = {"r", "force", "torque", "local_force", "local_torque"}
"""Of these a node has at least one: its position, or a load."""
_PARAMETERS = {"locked", "armature", "damping", "stiffness", "rest", "mass", "com", "inertia"}


@dataclass(frozen=True)
class Chart:
    """Variables that are drawn over one another.

    Attributes:
        title: What they are.
        unit: Their common unit; empty for none, or if it is not known.
        names: Variables of the result.
        caption: A line below, for what the curves do not say by themselves.
        paired: Whether each name and the next are a reference and what follows it, to be seen as a pair.
        foreign: Whether the variables are no mechanism's: they may repeat what it has by other names.
        leads: Whether it is what one looks for first: how well a controller does its work.
    """

    title: str
    unit: str
    names: tuple[str, ...]
    caption: str = ""
    paired: bool = False
    foreign: bool = False
    leads: bool = False


@dataclass(frozen=True, eq=False)
class Series:
    """Curves that a report shows besides the variables of a result: energy, a controller's effort, a plan.

    Attributes:
        title: What they are.
        unit: Their common unit; empty for none.
        curves: Values by name, each as long as the times.
        t: Times, s; those of the result if not given.
        caption: A line below.
    """

    title: str
    unit: str
    curves: Mapping[str, Array]
    t: Array | None = None
    caption: str = ""


def quantity_of(name: str) -> tuple[str, str]:
    """Owner and quantity of a variable, without its index: `arm.upper.eta[2]` is `arm.upper` and `eta`."""
    owner, _, last = name.rpartition(".")
    return owner, _INDEX.sub("", last)


def charts(result: Result) -> list[Chart]:
    """Every variable of a result in charts of one quantity each: controllers first, motion, the rest, reactions."""
    owners = _Owners(result.names)
    groups: dict[_Group, list[str]] = {}
    for name in result.names:
        told = result.units.get(name)
        groups.setdefault(owners.group(name, "" if told == "1" else told), []).append(name)
    titles = [group.title for group in groups]
    drawn = []
    for group in sorted(groups, key=lambda group: group.rank):
        names = tuple(groups[group])
        paired = group.paired and all(_partner(name) in names for name in names)
        if paired:
            names = tuple(each for name in names if name.endswith(_reference(name)) for each in (name, _partner(name)))
        several = titles.count(group.title) > 1
        title = f"{group.title} ({group.unit or 'no unit'})" if several else group.title
        drawn.append(Chart(title, group.unit, names, "", paired, group.foreign, group.rank < 0))
    return drawn


def has_mechanism(names: Iterable[str]) -> bool:
    """Whether variables of these names say where the hinges or modes of a model are."""
    owners = _Owners(names)
    return any(quantity_of(name)[1] in {*_POSITIONS, "eta"} and owners.is_hinge(name) for name in owners.names)


@dataclass(frozen=True)
class _Group:
    """A chart to be: place among the others, negative if it leads, and attributes of `Chart`."""

    rank: int
    title: str
    unit: str
    paired: bool = False
    foreign: bool = False


class _Owners:
    """What has which quantities: that tells hinges, bodies and nodes from other components.

    In the result of a coupled system a component's name comes first, so the number of dots does not tell hinges from
    nodes, and a controller has an angle too.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = dict.fromkeys(names)
        self.has: dict[str, set[str]] = {}
        for name in self.names:
            owner, key = quantity_of(name)
            self.has.setdefault(owner, set()).add(key)
        followers = [owner for owner, has in self.has.items() if _followed(has)]
        self.place = {owner: i - len(followers) for i, owner in enumerate(followers)}
        self.reactions = any(keys & set(_LAST) for keys in self.has.values())

    def group(self, name: str, unit: str | None) -> _Group:
        """Where a variable is drawn; its unit if it is known."""
        title = self._of_mechanism(name)
        if title is None:
            return self._foreign(name, unit)
        return _Group(_RANKS.index(title), title, unit or "")

    def _of_mechanism(self, name: str) -> str | None:
        """Title of the chart of a hinge's, mode's or node's variable; None for any other."""
        owner, key = quantity_of(name)
        has = self.has[owner]
        if not owner:
            return None
        if has & _AT_NODE and has <= set(NODE):
            return NODE[key]
        if self.reactions and {"s", "v", "f"} <= has <= set(ELEMENT):
            return ELEMENT[key]
        if not has <= {*HINGE, "a", *_PARAMETERS} or not has & {*_POSITIONS, *_MODES, *_LAST}:
            return None
        if self.reactions and not has & _MARKS:
            return None
        if key == "a":
            # One degree of freedom: an angle or a translation, as its position says.
            key = "a_rot" if "phi" in has else "a_lin"
        return HINGE.get(key)

    def is_hinge(self, name: str) -> bool:
        """Whether a variable is a hinge's or a mode's."""
        return self._of_mechanism(name) in HINGE.values()

    def _leading(self, owner: str, kind: int) -> int:
        """Rank of what one looks for first: the controllers in turn, of each the angle (0), error (1), speed (2)."""
        return 3 * self.place[owner] + kind

    def _foreign(self, name: str, unit: str | None) -> _Group:
        """Of another component: what has no known unit shares an axis with its own kind only, by the name."""
        owner, key = quantity_of(name)
        base = key.removesuffix("_ref")
        if base in REFERENCES and _partner(name) in self.names:
            title = _titled(owner, f"{REFERENCES[base]}, reference and actual")
            rank = self._leading(owner, 0 if base in _POSITIONS else 2)
            return _Group(rank, title, unit or "", paired=True, foreign=True)
        if key == "e" and owner in self.place:
            title = _titled(owner, "error, reference minus measured")
            return _Group(self._leading(owner, 1), title, unit or "", foreign=True)
        if unit in BY_UNIT:
            return _Group(_RANKS.index(BY_UNIT[unit]), BY_UNIT[unit], unit, foreign=True)
        return _Group(_RANKS.index(_REST), _titled(owner, key), unit or "", foreign=True)


_REST = ""
_RANKS = [
    *(HINGE[key] for key in _ORDER),
    *ELEMENT.values(),
    *NODE.values(),
    *BY_UNIT.values(),
    _REST,
    *(HINGE[key] for key in _LAST),
]
"""Titles in the order of the page."""


def _followed(has: set[str]) -> bool:
    """Whether these are the quantities of something that follows a reference."""
    return any({base, f"{base}_ref"} <= has for base in REFERENCES)


def _titled(owner: str, what: str) -> str:
    return f"{owner}: {what}" if owner else what


def _reference(name: str) -> str:
    """How the reference of a variable's kind ends: `_ref` and the variable's index."""
    index = _INDEX.search(name)
    return f"_ref{index[0] if index else ''}"


def _partner(name: str) -> str:
    """The reference of a variable, or the variable of a reference."""
    end = _reference(name)
    index = end.removeprefix("_ref")
    return name.removesuffix(end) + index if name.endswith(end) else name.removesuffix(index) + end
