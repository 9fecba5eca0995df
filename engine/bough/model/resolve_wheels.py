"""Wheels with dynamics: each becomes a rigid body on a revolute hinge of its own, `<body>.<wheel>`.

On a rigid body, mass and inertia in the file include the wheels, at rest in the body, as a drawing gives them: what a
wheel takes with it is taken off the body, so that both together are what the file says. A flexible body's data do not
include its wheels: they are added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bough.model.file import BodyFile
from bough.model.file_space import WheelFile
from bough.model.frames import unit
from bough.model.model import Body, Hinge, Inertia, Rigid, RigidNode
from bough.text.problems import Path, Report, describe, one_of

Array = NDArray[np.float64]
IMBALANCE_MASS = 0.01
"""Part of the body's mass that an unbalanced wheel without a mass counts as: only its first moment matters."""


def dynamic_wheels(file: BodyFile) -> tuple[str, list[WheelFile]]:
    """The kind of a body and its wheels that are not of constant momentum."""
    for kind in ("rigid", "beam", "nodal"):
        part = getattr(file, kind)
        if part is not None:
            return kind, list(part.wheels)
    return "fe", []


def expand_wheels(files: Mapping[str, BodyFile], bodies: Sequence[Body], report: Report) -> tuple[Body, ...]:
    """The bodies with their wheels behind them; rigid ones without what their wheels take along."""
    out: list[Body] = []
    wheels: list[Body] = []
    for i, body in enumerate(bodies):
        kind, found = dynamic_wheels(files[body.name])
        names: set[str] = set(body.node_names)
        for j, wheel in enumerate(found):
            path: Path = ("bodies", i, kind, "wheels", j)
            if wheel.momentum is not None:
                continue
            name = wheel.name or f"wheel{j + 1}"
            _check(wheel, name, names, body, kind, path, report)
            names.add(name)
            if report.problems:
                continue
            made, body = _made(wheel, name, body, path, report)
            wheels.append(made)
        out.append(body)
    return (*out, *wheels)


def _check(wheel: WheelFile, name: str, names: set[str], body: Body, kind: str, path: Path, report: Report) -> None:
    if wheel.inertia is None:
        expected = "inertia about the axis, kg.m^2, or constant momentum, N.m.s"
        report.add((*path, "inertia"), expected, "neither", "write e.g. `inertia: 0.1`")
    if name in names:
        expected = f"a name that no node and no other wheel of {body.name!r} has"
        report.add((*path, "name"), expected, describe(name), "rename the wheel")
    nodes = body.node_names
    if wheel.at and wheel.at not in nodes:
        close = report.suggest(wheel.at, nodes)
        cure = f"name one of {one_of(nodes)}" if close is None else f"did you mean '{close}'?"
        report.add((*path, "at"), f"a node of {body.name!r}", describe(wheel.at), cure)
    if not wheel.at and body.rigid is None:
        report.add((*path, "at"), "the node that carries the wheel", "no such key", f"write e.g. `at: {nodes[-1]}`")
    if body.rigid is not None and body.rigid.tunable:
        cure = "remove `tunable`, or make the wheel a body of its own on a revolute hinge"
        report.add(path, "no wheels with dynamics on a tunable body", "one", cure)
    if body.rigid is not None and wheel.transverse is not None:
        cure = "remove it: the inertia of a rigid body includes that of its wheels"
        report.add((*path, "transverse"), "no `transverse` on a rigid body", "it is there", cure)


def _matrix(six: Inertia) -> Array:
    xx, yy, zz, xy, xz, yz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _six(m: Array) -> Inertia:
    return (float(m[0, 0]), float(m[1, 1]), float(m[2, 2]), float(m[0, 1]), float(m[0, 2]), float(m[1, 2]))


def _point(mass: float, p: Array) -> Array:
    return np.asarray(mass * (p @ p * np.eye(3) - np.outer(p, p)))


def _across(axis: Array) -> Array:
    """A unit vector across the axis: where a static imbalance points at angle zero."""
    x = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = x - axis * (x @ axis)
    return np.asarray(x / np.linalg.norm(x))


def _made(wheel: WheelFile, name: str, body: Body, path: Path, report: Report) -> tuple[Body, Body]:
    """The wheel as a body, and its carrier without it."""
    a = np.array(unit(wheel.axis, (*path, "axis"), report))
    x = _across(a)
    spin = float(wheel.inertia or 0.0)
    mass = wheel.mass
    at = wheel.at or "origin"
    turn, place = np.eye(3), np.zeros(3)
    if body.rigid is not None:
        node = body.rigid.nodes[at]
        turn, place = Rotation.from_quat(node.quaternion).as_matrix(), np.array(node.position)
        if wheel.static and mass == 0.0:
            mass = IMBALANCE_MASS * body.rigid.mass
        body = _less(body, mass, place, spin, a, path, report)
    elif wheel.static and mass == 0.0:
        report.add((*path, "mass"), "the mass of an unbalanced wheel, kg", "0", "write e.g. `mass: 2.0`")
        mass = 1.0
    arm = x * (wheel.static / mass) if mass else np.zeros(3)
    across = (0.5 * spin if wheel.transverse is None else wheel.transverse) if body.rigid is None else 0.0
    J = (
        spin * np.outer(a, a)
        + across * (np.eye(3) - np.outer(a, a))
        + wheel.dynamic * (np.outer(a, x) + np.outer(x, a))
    )
    J = J - _point(mass, arm)
    to_node = turn.T
    name = f"{body.name}.{name}"
    ax, ay, az = (float(v) for v in to_node @ a)
    hinge = Hinge(
        name=name,
        type="revolute",
        axes=((ax, ay, az),),
        position=(0.0, 0.0, 0.0),
        quaternion=(0.0, 0.0, 0.0, 1.0),
        damping=(0.0,),
        stiffness=(0.0,),
        rest=(0.0,),
        armature=(0.0,),
        drive="torque",
        initial_q=(0.0,),
        initial_u=(wheel.w,),
        written=(True,),
        written_speeds=(True,),
    )
    com = to_node @ arm
    origin = RigidNode(position=(0.0, 0.0, 0.0), quaternion=(0.0, 0.0, 0.0, 1.0))
    rigid = Rigid(
        mass=mass,
        com=(float(com[0]), float(com[1]), float(com[2])),
        inertia=_six(to_node @ J @ to_node.T),
        nodes={"origin": origin},
        wheels=(),
        tunable=False,
    )
    return Body(name=name, parent=body.name, at=at, hinge=hinge, rigid=rigid, spin=spin), body


def _less(body: Body, mass: float, place: Array, spin: float, axis: Array, path: Path, report: Report) -> Body:
    """A rigid body less a mass at a point and a moment of inertia about an axis."""
    rigid = body.rigid
    if rigid is None:
        return body
    com = np.array(rigid.com)
    left = rigid.mass - mass
    if mass and left <= 0.0:
        expected = f"less than the mass of the body, {rigid.mass:g} kg, which includes the wheel"
        report.add((*path, "mass"), expected, f"{mass:g} kg", "give the mass of the whole body, wheels included")
        return body
    centre = (rigid.mass * com - mass * place) / left if mass else com
    J = _matrix(rigid.inertia) + _point(rigid.mass, com) - _point(mass, place) - spin * np.outer(axis, axis)
    J = J - _point(left, centre)
    least = float(np.linalg.eigvalsh(J)[0])
    if least < -1e-9 * max(1e-300, float(np.abs(J).max())):
        expected = "an inertia of the body that includes its wheels, at rest"
        found = f"{spin:g} kg.m^2 about an axis, which leaves {least:.3g} kg.m^2"
        report.add((*path, "inertia"), expected, found, "give the inertia of the whole body, wheels included")
    c = (float(centre[0]), float(centre[1]), float(centre[2]))
    changed = rigid.model_copy(update={"mass": left, "com": c, "inertia": _six(J)})
    return body.model_copy(update={"rigid": changed})
