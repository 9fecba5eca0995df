"""Forces between nodes in the model block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from bough.mechanism.bodies import Array
from bough.model import Model
from bough.model.model import End, Force
from bough.model.tree import GROUND

CODES = ("spring", "actuator", "bushing", "contact", "load", "wheel")
"""In the order of the kernel's codes."""
LINE_VALUES = (("s", "m"), ("v", "m/s"), ("f", "N"))
BUSHING_VALUES = (("s", "m"), ("v", "m/s"), ("f", "N"), ("phi", "rad"), ("w", "rad/s"), ("tau", "N.m"))
ONLY = {None: 0.0, "tension": -1.0, "compression": 1.0}


@dataclass(frozen=True, eq=False)
class Element:
    """One element as the kernel sees it.

    Attributes:
        code: Which law.
        ends: First and second frame; None where nothing is.
        constants: Numbers of the law, its tables included.
        tables: Points of the two tables of a spring; the body of a wheel.
        input: Row among the loads of elements that it takes, or None.
    """

    code: str
    ends: tuple[End | None, End | None]
    constants: Array
    tables: tuple[int, int] = (0, 0)
    input: int | None = None


def force_element(force: Force, length: float, input_: int | None) -> Element:
    """A force of the model file; `length` is its free length, settled."""
    tables = (0, 0)
    constants = np.zeros(0)
    if force.type == "spring":
        tables = (len(force.stiffness_table), len(force.damping_table))
        head = [force.stiffness, force.damping, length, ONLY[force.only]]
        points = [x for table in (force.stiffness_table, force.damping_table) for point in table for x in point]
        constants = np.array([*head, *points])
    elif force.type == "bushing":
        constants = np.concatenate([np.ravel(force.stiffness_matrix), np.ravel(force.damping_matrix)])
    elif force.type == "contact":
        other = force.radius[1] if len(force.radius) > 1 else -1.0
        law = float(force.law == "hunt-crossley")
        numbers = [force.radius[0], other, force.stiffness, force.damping, force.exponent, law]
        constants = np.array([*force.normal, *numbers, force.friction, force.slip])
    return Element(force.type, force.ends, constants, tables, input_)


def element_rows(model: Model) -> tuple[str, ...]:
    """What takes a row of loads beside the load nodes: actuators by their names, then loads in node axes."""
    actuators = tuple(force.name for force in model.forces if force.type == "actuator")
    return (*actuators, *(f"{node}.local" for node in local_loads(model)))


def local_loads(model: Model) -> tuple[str, ...]:
    """`body.node` of every load in node axes, once each."""
    ports = (name.rpartition(".") for name in model.inputs)
    return tuple(dict.fromkeys(node for node, _, key in ports if key in ("local_force", "local_torque")))


def load_element(node: str, row: int) -> Element:
    """A load in the axes of a node."""
    body, _, name = node.partition(".")
    return Element("load", (End(body=body, node=name), None), np.zeros(0), input=row)


def wheel_elements(model: Model) -> list[Element]:
    """Momentum of every wheel with dynamics."""
    return [
        Element("wheel", (None, None), np.array([b.spin]), (k, 0))
        for k, b in enumerate(model.bodies)
        if b.spin is not None
    ]


def force_values(model: Model) -> list[tuple[Force, str, str, int]]:
    """Numbers that forces tell: the force, the rest of the name, unit, and place among the element's values."""
    out: list[tuple[Force, str, str, int]] = []
    place = 0
    for force in model.forces:
        values = BUSHING_VALUES if force.type == "bushing" else LINE_VALUES
        for key, unit in values:
            for i in range(3 if force.type == "bushing" else 1):
                out.append((force, f"{key}[{i + 1}]" if force.type == "bushing" else key, unit, place))
                place += 1
    return out


def element_ints(ints: list[int], elements: Sequence[Element], where: dict[str, int], loads: int) -> None:
    """Law, nodes, row of loads and sizes of tables of each element."""
    for e in elements:
        ints.append(CODES.index(e.code))
        ints += [-1 if end is None or end.body == GROUND else where[f"{end.body}.{end.node}"] for end in e.ends]
        ints += [-1 if e.input is None else loads + e.input, *e.tables]


def element_reals(put: Callable[..., None], elements: Sequence[Element]) -> None:
    """Frames and constants of each element."""
    for e in elements:
        for end in e.ends:
            position, quaternion = ((0, 0, 0), (0, 0, 0, 1)) if end is None else (end.position, end.quaternion)
            put(np.array(position), Rotation.from_quat(quaternion).as_matrix())
        put(e.constants)
