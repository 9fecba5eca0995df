"""From one entry of `bodies:` to a checked body."""

from __future__ import annotations

import re

from bough.model.file import BodyFile, RigidFile
from bough.model.file_frame import FrameFile
from bough.model.frames import inertia, unit, unit_quaternion, vector
from bough.model.model import Body, Rigid, RigidNode, Wheel
from bough.model.resolve_beam import resolve_beam
from bough.model.resolve_fe import resolve_fe
from bough.model.resolve_hinge import resolve_hinge
from bough.model.resolve_nodal import resolve_nodal
from bough.text.kinds import NAME_LENGTH, NAME_PATTERN
from bough.text.problems import Path, Report, describe

KINDS = ("rigid", "beam", "nodal", "fe")
ORIGIN = RigidNode(position=(0.0, 0.0, 0.0), quaternion=(0.0, 0.0, 0.0, 1.0))
_NAME = re.compile(NAME_PATTERN[:-1] + r"\Z")
# A node's sensors and these variables of a body would begin alike.
_TAKEN_IF_TUNABLE = ("mass", "com", "inertia")


def resolve_body(file: BodyFile, path: Path, report: Report) -> Body:
    """The checked body; what is wrong goes into the report."""
    given = [kind for kind in KINDS if getattr(file, kind) is not None]
    if len(given) != 1:
        found = f"{' and '.join(given)} together" if given else "none of them"
        expected = "exactly one of rigid, beam, nodal, fe: what the body is made of"
        report.add(path, expected, found, "keep one of them" if given else "add e.g. `rigid: {mass: 1.0}`")
    if file.tunable and file.rigid is None:
        cure = "remove `tunable`, or make the body rigid"
        report.add((*path, "tunable"), "true for rigid bodies only", "true", cure)
    if file.fidelity is not None and file.rigid is not None:
        expected = "no such key for a rigid body, which has no deflection to keep or to drop"
        report.add((*path, "fidelity"), expected, describe(file.fidelity), "remove it, or give it to a flexible body")
    return Body(
        name=file.name,
        parent=file.parent,
        at=file.at,
        hinge=resolve_hinge(file.hinge, file.name, (*path, "hinge"), report),
        fidelity=file.fidelity,
        rigid=file.rigid and _rigid(file.rigid, file.tunable, (*path, "rigid"), report),
        beam=file.beam and resolve_beam(file.beam, (*path, "beam"), report),
        nodal=file.nodal and resolve_nodal(file.nodal, (*path, "nodal"), report),
        fe=file.fe and resolve_fe(file.fe, (*path, "fe"), report),
    )


def _rigid(file: RigidFile, tunable: bool, path: Path, report: Report) -> Rigid:
    tunable = tunable or file.tunable
    nodes = {"origin": ORIGIN}
    for name, frame in file.nodes.items():
        nodes[name] = _rigid_node(name, frame, tunable, (*path, "nodes", name), report)
    wheels = tuple(
        Wheel(axis=unit(wheel.axis, (*path, "wheels", i, "axis"), report), momentum=wheel.momentum)
        for i, wheel in enumerate(file.wheels)
        if wheel.momentum is not None
    )
    for i, wheel in enumerate(file.wheels):
        extra = sorted(wheel.model_fields_set - {"axis", "momentum"}) if wheel.momentum is not None else []
        if extra:
            found, cure = f"momentum and {', '.join(extra)}", "remove one of them"
            report.add((*path, "wheels", i), "constant `momentum`, or `inertia` and what belongs to it", found, cure)
    return Rigid(
        mass=file.mass,
        com=vector(file.com),
        inertia=inertia(file.inertia, (*path, "inertia"), report, alone=True),
        nodes=nodes,
        wheels=wheels,
        tunable=tunable,
    )


def _rigid_node(name: str, frame: FrameFile, tunable: bool, path: Path, report: Report) -> RigidNode:
    if not _NAME.match(name) or len(name) > NAME_LENGTH:
        expected = "a node name of letters, digits and underscores that does not begin with a digit"
        report.add(path, expected, describe(name), "rename the node")
    elif tunable and name in _TAKEN_IF_TUNABLE:
        expected = f"a node name other than {', '.join(_TAKEN_IF_TUNABLE)} on a tunable body"
        report.add(path, expected, describe(name), "rename the node")
    node = RigidNode(
        position=vector(frame.position),
        quaternion=unit_quaternion(frame.quaternion, (*path, "quaternion"), report),
    )
    if name == "origin" and node != ORIGIN:
        expected = "'origin' at the body's origin, where it always is"
        report.add(path, expected, "another position or attitude", "give the node another name")
    return node
