"""Refuses loads that an imported body cannot answer: on nodes with flexibility that has no inertia.

`bough.flex.fe.massless` tells where that is. Modes cannot have it, and a mechanism that leaves it out is too stiff
there, however many modes are kept. Forces are answered exactly where only rotations lack inertia.
"""

from __future__ import annotations

from collections.abc import Iterator

from bough.errors import ModelError, Problem
from bough.mechanism.bodies import BodyData
from bough.model import End, Model

NO_TORQUE_HINGES = ("spherical",)
NO_TORQUE_LOOPS = ("spherical", "rod")
NO_TORQUE_FORCES = ("spring", "actuator")


def check_slack(model: Model, bodies: tuple[BodyData, ...]) -> None:
    """ModelError if something loads a node in a direction in which the body's modes lack flexibility."""
    slack = {
        f"{body.name}.{node}": [word for name, word in data.flex.slack if name == node]
        for body, data in zip(model.bodies, bodies, strict=True)
        if data.flex is not None
        for node in {name for name, _ in data.flex.slack}
    }
    for node, torque, what in _loads(model) if slack else ():
        words = [word for word in slack.get(node, ()) if torque or word.startswith("moving")]
        if words:
            body, _, name = node.rpartition(".")
            raise ModelError(
                Problem(
                    file=f"body {body!r}",
                    line=None,
                    key=f"fe.interfaces.{name}",
                    expected="an interface that moves mass in every direction in which it is loaded",
                    found=f"{what} on {name!r}, which moves no mass in {', '.join(words)}: no mode answers it",
                    cure="take `boundary: craig-bampton`; or give the grid mass and rotary inertia there (CONM2); or, "
                    "if only rotations lack it, load the interface by forces alone (spherical hinge)",
                )
            )


def _loads(model: Model) -> Iterator[tuple[str, bool, str]]:
    """Node, whether a torque can act there, and what brings it."""
    for child in model.bodies:
        offset = any(child.hinge.position)
        yield f"{child.parent}.{child.at}", offset or child.hinge.type not in NO_TORQUE_HINGES, f"body {child.name!r}"
    for name in model.inputs:
        node, _, kind = name.rpartition(".")
        yield node, kind.endswith("torque"), f"input {name!r}"
    for loop in model.loops:
        for end in loop.ends:
            yield _node(end), _offset(end) or loop.type not in NO_TORQUE_LOOPS, f"loop {loop.name!r}"
    for force in model.forces:
        for end in force.ends:
            yield _node(end), _offset(end) or force.type not in NO_TORQUE_FORCES, f"force {force.name!r}"


def _node(end: End) -> str:
    return f"{end.body}.{end.node}"


def _offset(end: End) -> bool:
    return any(end.position)
