"""The variable table: every variable of a model, by the names of the FMU, in one place.

Names and units follow Modelica.Mechanics. The table is read by the Python API (names of q and u), by results,
and by whatever writes FMUs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Literal, TypeAlias

from bough.mechanism.drive_block import driven
from bough.mechanism.element_block import force_values
from bough.model import Body, Model
from bough.model.tree import MODAL

Causality: TypeAlias = Literal["input", "output", "local"]


@dataclass(frozen=True)
class Variable:
    """One scalar variable.

    Attributes:
        name: As in the FMU, for instance `shoulder.phi` or `upper.eta[1]`.
        unit: SI, in FMI spelling (`rad/s`, `N.m`, `m/s2`); empty for none.
        causality: input or output.
        kind: Which array its number is in: a member of `bough.mechanism.fields.FIELDS`.
        index: Place in that array (flattened for loads, poses, velocities, accelerations and reactions).
        description: One line of English.
    """

    name: str
    unit: str
    causality: Causality
    kind: str
    index: int
    description: str


@dataclass(frozen=True)
class _Dof:
    """One hinge DOF: names of position, speed, acceleration and force, after the hinge's name."""

    position: str
    speed: str
    acceleration: str
    force: str
    rotation: bool

    @property
    def kind(self) -> Literal["translation", "rotation"]:
        """What it counts."""
        return "rotation" if self.rotation else "translation"


def _numbered(names: tuple[str, str, str, str], n: int, rotation: bool) -> list[_Dof]:
    suffixes = [""] if n == 1 else [f"[{i}]" for i in range(1, n + 1)]
    s, v, a, f = names
    return [_Dof(s + i, v + i, a + i, f + i, rotation) for i in suffixes]


def hinge_dofs(body: Body) -> list[_Dof]:
    """Names of a hinge's DOFs in the order of its speeds (a quaternion's positions are not among them)."""
    kind = body.hinge.kind
    single = kind.nu == 1
    lin = ("s", "v", "a" if single else "a_lin", "f")
    rot = ("phi", "w", "a" if single else "a_rot", "tau")
    return _numbered(lin, kind.n_lin, False) + _numbered(rot, kind.n_rot, True) if kind.nu else []


@dataclass(frozen=True)
class Coordinate:
    """One entry of q or u.

    Attributes:
        name: As in the FMU, for instance `shoulder.phi` or `upper.eta_dot[1]`.
        body: The body that it moves.
        owner: What its name begins with: the hinge's name, or for a mode the body's, or that of the beam of which
            the body is a piece.
        kind: What it counts; a quaternion has four entries in q, and rotations in u.
        unit: SI, in FMI spelling; empty for none.
        number: Which of its kind at its owner, from 1.
        index: Place in q or u.
    """

    name: str
    body: str
    owner: str
    kind: Literal["translation", "rotation", "quaternion", "mode"]
    unit: str
    number: int
    index: int

    @property
    def modal(self) -> bool:
        """Whether it belongs to a mode."""
        return self.kind == "mode"


def coordinates(model: Model) -> tuple[list[Coordinate], list[Coordinate]]:
    """The tables of q and u: per body, its hinge (translations, then rotations), then its modes."""
    q: list[Coordinate] = []
    u: list[Coordinate] = []
    for body in model.bodies:
        name, h, kind = body.name, body.hinge.name, body.hinge.kind
        for j, d in enumerate(hinge_dofs(body)):
            unit, number = ("rad", j + 1 - kind.n_lin) if d.rotation else ("m", j + 1)
            if not (d.rotation and kind.quaternion):
                q.append(Coordinate(f"{h}.{d.position}", name, h, d.kind, unit, number, len(q)))
            u.append(Coordinate(f"{h}.{d.speed}", name, h, d.kind, f"{unit}/s", number, len(u)))
        for i in range(1, 5) if kind.quaternion else ():
            q.append(Coordinate(f"{h}.Q[{i}]", name, h, "quaternion", "", i, len(q)))
        label, before = body.label, 0 if body.cut is None else body.cut.modes_before
        for i in range(before + 1, before + body.mode_count + 1):
            q.append(Coordinate(f"{label}.eta[{i}]", name, label, "mode", "", i, len(q)))
            u.append(Coordinate(f"{label}.eta_dot[{i}]", name, label, "mode", "1/s", i, len(u)))
    return q, u


def _position(c: Coordinate) -> Variable:
    text = f"Position of hinge {c.owner}, {c.kind}"
    if c.kind == "quaternion":
        text = f"Attitude of hinge {c.owner}, quaternion, component {'xyzw'[c.number - 1]}"
    if c.modal:
        text = f"Deflection of {c.owner}, mode {c.number}"
    return Variable(c.name, c.unit, "output", "q", c.index, text)


def _speed(c: Coordinate) -> Variable:
    text = f"Rate of deflection of {c.owner}, mode {c.number}" if c.modal else f"Speed of hinge {c.owner}, {c.kind}"
    return Variable(c.name, c.unit, "output", "u", c.index, text)


def _drive_variables(model: Model) -> dict[str, list[Variable]]:
    """By hinge: the force of friction, whether it holds, which limit is touched."""
    out: dict[str, list[Variable]] = {}
    for n, d in enumerate(driven(model)):
        h, dofs = d.body.hinge.name, hinge_dofs(d.body)
        suffix = "" if len(dofs) == 1 else f"[{d.dof + 1}]"
        tail, rotation = ("" if len(dofs) == 1 else f", axis {d.dof + 1}"), dofs[d.dof].rotation
        rows = out.setdefault(h, [])
        if d.friction is not None:
            unit, force = ("N.m", "Torque") if rotation else ("N", "Force")
            text = f"{force} that friction exerts in hinge {h}{tail}"
            rows.append(Variable(f"{h}.friction{suffix}", unit, "output", "friction", n, text))
            text = f"Whether friction holds hinge {h} at rest{tail}"
            rows.append(Variable(f"{h}.sticking{suffix}", "", "output", "sticking", n, text))
        if d.limits is not None:
            text = f"Limit that hinge {h} touches: -1 lower, 1 upper, 0 none{tail}"
            rows.append(Variable(f"{h}.contact{suffix}", "", "output", "contact", n, text))
    return {h: sorted(rows, key=lambda v: v.kind) for h, rows in out.items()}


def _forces(body: Body, u0: int) -> tuple[list[Variable], list[Variable]]:
    """What a hinge is given and what is found: forces and accelerations, or of a driven hinge the other way round."""
    h, driven = body.hinge.name, body.hinge.drive == "motion"
    given: list[Variable] = []
    found: list[Variable] = []
    for index, d in enumerate(hinge_dofs(body), u0):
        angle, unit, force = ("rad", "N.m", "Torque") if d.rotation else ("m", "N", "Force")
        acceleration, effort = f"{h}.{d.acceleration}", f"{body.hinge.drives or h}.{d.force}"
        if driven:
            text = f"Prescribed acceleration of hinge {h}, {d.kind}"
            given.append(Variable(acceleration, f"{angle}/s2", "input", "motion", index, text))
            found.append(
                Variable(effort, unit, "output", "force", index, f"{force} that the motion of hinge {h} takes")
            )
        else:
            if body.hinge.gear is None:  # of a geared hinge the rotor takes it
                at = f"to the rotor of hinge {body.hinge.drives}" if body.hinge.drives else f"at hinge {h}"
                given.append(Variable(effort, unit, "input", "tau", index, f"{force} applied {at}"))
            text = f"Acceleration of hinge {h}, {d.kind}"
            found.append(Variable(acceleration, f"{angle}/s2", "output", "udot", index, text))
    return given, found


def _by_body(table: list[Coordinate]) -> dict[str, list[Coordinate]]:
    return {name: list(rows) for name, rows in groupby(table, key=lambda c: c.body)}


def _body_variables(body: Body, q: list[Coordinate], u: list[Coordinate]) -> list[Variable]:
    """Inputs, positions, speeds and what is found at the hinge; then the modes and their rates."""
    given, found = _forces(body, u[0].index if u else 0)
    hinge = [*(_position(c) for c in q if not c.modal), *(_speed(c) for c in u if not c.modal)]
    modes = [*(_position(c) for c in q if c.modal), *(_speed(c) for c in u if c.modal)]
    return [*given, *hinge, *found, *modes]


def _sensor_variables(name: str, n: int) -> list[Variable]:
    rows: list[tuple[str, int, str, str, int, str]] = [
        ("r", 3, "m", "pose", 7 * n, "position"),
        ("Q", 4, "", "pose", 7 * n + 3, "attitude quaternion x y z w"),
        ("v", 3, "m/s", "velocity", 6 * n + 3, "velocity"),
        ("w", 3, "rad/s", "velocity", 6 * n, "angular velocity"),
        ("a", 3, "m/s2", "acceleration", 6 * n + 3, "acceleration"),
    ]
    return [
        Variable(f"{name}.{key}[{i + 1}]", unit, "output", kind, first + i, f"{name}: {text}, inertial frame")
        for key, count, unit, kind, first, text in rows
        for i in range(count)
    ]


def _closure_variables(model: Model) -> list[Variable]:
    """What loops and couplings exert."""
    out: list[Variable] = []
    for k, loop in enumerate(model.loops):
        for key, unit, first in (("force", "N", 3), ("torque", "N.m", 0)):
            text = f"Reaction {key} of loop {loop.name}, first on second side, axes of the second frame"
            out += [
                Variable(f"{loop.name}.reaction_{key}[{i + 1}]", unit, "output", "closure", 6 * k + first + i, text)
                for i in range(3)
            ]
    for k, coupling in enumerate(model.couplings):
        unit = "N.m" if all(name.endswith(".phi") for name, _ in coupling.terms) else "N"
        text = f"Multiplier of coupling {coupling.name}: force or torque on a coordinate over its factor"
        out.append(Variable(f"{coupling.name}.tau", unit, "output", "coupling", k, text))
    return out


def variable_table(model: Model, loads: tuple[str, ...]) -> list[Variable]:
    """Every input and output of a model.

    Args:
        model: A checked model.
        loads: `body.node` of the load nodes in the kernel's order.
    """
    out: list[Variable] = []
    q, u = coordinates(model)
    of_q, of_u = _by_body(q), _by_body(u)
    drives = _drive_variables(model)
    for k, body in enumerate(model.bodies):
        h = body.hinge.name
        out += _body_variables(body, of_q.get(body.name, []), of_u.get(body.name, []))
        out += drives.get(h, [])
        for key, unit, first in (("force", "N", 3), ("torque", "N.m", 0)):
            for i in range(3):
                text = f"Reaction {key} at hinge {h} on body {body.label}, outboard frame"
                if body.cut is not None and body.cut.number:
                    text = f"{key.capitalize()} in {body.label} at node {body.at}, inner on outer part, node axes"
                index = 6 * k + first + i
                out.append(Variable(f"{h}.reaction_{key}[{i + 1}]", unit, "output", "reaction", index, text))
    out += _closure_variables(model)
    for name in model.inputs:
        node, _, key = name.rpartition(".")
        if key == MODAL:
            modes = [c for c in u if c.modal and c.owner == node]
            text = "Force on mode {} of {}"
            out += [
                Variable(f"{name}[{c.number}]", "", "input", "tau", c.index, text.format(c.number, node)) for c in modes
            ]
            continue
        local, what = key.startswith("local_"), key.removeprefix("local_")
        row = loads.index(f"{node}.local" if local else node)
        unit, first = ("N", 3) if what == "force" else ("N.m", 0)
        axes = "node axes" if local else "inertial frame"
        for i in range(3):
            text = f"{what} at {node}, {axes}"
            out.append(Variable(f"{name}[{i + 1}]", unit, "input", "loads", 6 * row + first + i, text))
    out += _force_variables(model, loads)
    for n, name in enumerate(model.outputs):
        out += _sensor_variables(name, n)
        out += _more_sensor_variables(model, name, n)
    return out


def _more_sensor_variables(model: Model, name: str, n: int) -> list[Variable]:
    """What a gyro and an accelerometer read, and how modes move a node."""
    rows: list[tuple[str, str, str, int, str]] = []
    if name in model.local:
        rows += [
            ("local_v", "m/s", "local", 9 * n, "velocity, node axes"),
            ("local_w", "rad/s", "local", 9 * n + 3, "angular velocity, node axes"),
            ("specific_force", "m/s2", "local", 9 * n + 6, "acceleration less gravity, node axes"),
        ]
    if name in model.deflections:
        rows += [
            ("deflection", "m", "deflection", 6 * n, "displacement by the modes, body axes"),
            ("rotation", "rad", "deflection", 6 * n + 3, "rotation by the modes, body axes"),
        ]
    return [
        Variable(f"{name}.{key}[{i + 1}]", unit, "output", kind, first + i, f"{name}: {text}")
        for key, unit, kind, first, text in rows
        for i in range(3)
    ]


_FORCE_TEXT = {
    "s": "Distance of the ends of {}",
    "v": "Rate of the distance of {}",
    "f": "Force of {}, positive pushes apart",
    "phi": "Rotation across {}",
    "w": "Angular velocity across {}",
    "tau": "Torque of {}",
}


def _force_variables(model: Model, loads: tuple[str, ...]) -> list[Variable]:
    """Inputs of actuators, and what forces tell."""
    out: list[Variable] = []
    for name in (force.name for force in model.forces if force.type == "actuator"):
        text = f"Force applied by {name}, positive pushes its ends apart"
        out.append(Variable(f"{name}.f", "N", "input", "loads", 6 * loads.index(name), text))
    for force, key, unit, index in force_values(model):
        if force.type == "actuator" and key == "f":
            continue
        word, part, number = key.partition("[")
        text = _FORCE_TEXT[word].format(force.name)
        if force.type == "contact" and word in "sv":
            text = (
                f"Gap of {force.name}, negative when pressed in" if word == "s" else f"Rate of the gap of {force.name}"
            )
        if part:
            text = f"{text}, component {'xyz'[int(number[0]) - 1]} in the first frame".replace(
                "Distance of the ends", "Offset"
            )
        out.append(Variable(f"{force.name}.{key}", unit, "output", "element", index, text))
    first = len(force_values(model))
    for i, body in enumerate(b for b in model.bodies if b.spin is not None):
        text = f"Angular momentum of wheel {body.name} relative to the body that carries it"
        out.append(Variable(f"{body.name}.h", "N.m.s", "output", "element", first + i, text))
    return out
