"""The variable table: every variable of a model, by the names of the FMU, in one place.

Names and units follow Modelica.Mechanics. The table is read by the Python API (names of q and u), by results,
and by whatever writes FMUs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from bough.model import Body, Model

Kind: TypeAlias = Literal["q", "u", "udot", "tau", "motion", "load", "pose", "velocity", "acceleration", "reaction"]
"""Where a variable's number is: an entry of q, u, udot, of the inputs tau, motion and loads, of a node's pose,
velocity or acceleration, or of a hinge's reaction."""
Causality: TypeAlias = Literal["input", "output", "local"]


@dataclass(frozen=True)
class Variable:
    """One scalar variable.

    Attributes:
        name: As in the FMU, for instance `shoulder.phi` or `upper.eta[1]`.
        unit: SI, in FMI spelling (`rad/s`, `N.m`, `m/s2`); empty for none.
        causality: input or output.
        kind: Which array its number is in.
        index: Place in that array (flattened for loads, poses, velocities, accelerations and reactions).
        description: One line of English.
    """

    name: str
    unit: str
    causality: Causality
    kind: Kind
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


def coordinate_names(model: Model) -> tuple[list[str], list[str]]:
    """Names of q and u: per body, its hinge (translations, then rotations), then its modes."""
    q: list[str] = []
    u: list[str] = []
    for body in model.bodies:
        h, kind, dofs = body.hinge.name, body.hinge.kind, hinge_dofs(body)
        angles = dofs[: kind.n_lin] if kind.quaternion else dofs
        q += [f"{h}.{d.position}" for d in angles]
        if kind.quaternion:
            q += [f"{h}.Q[{i}]" for i in range(1, 5)]
        u += [f"{h}.{d.speed}" for d in dofs]
        q += [f"{body.name}.eta[{i}]" for i in range(1, body.mode_count + 1)]
        u += [f"{body.name}.eta_dot[{i}]" for i in range(1, body.mode_count + 1)]
    return q, u


def _hinge_variables(body: Body, q0: int, u0: int) -> list[Variable]:
    """Inputs, then positions, speeds, and accelerations or (of a driven hinge) the forces found."""
    h, kind, dofs = body.hinge.name, body.hinge.kind, hinge_dofs(body)
    driven = body.hinge.drive == "motion"
    inputs: list[Variable] = []
    positions: list[Variable] = []
    speeds: list[Variable] = []
    found: list[Variable] = []
    for j, d in enumerate(dofs):
        angle, force, what = ("rad", "N.m", "rotation") if d.rotation else ("m", "N", "translation")
        acceleration, effort = f"{h}.{d.acceleration}", f"{h}.{d.force}"
        if driven:
            text = f"Prescribed acceleration of hinge {h}, {what}"
            inputs.append(Variable(acceleration, f"{angle}/s2", "input", "motion", u0 + j, text))
            text = f"{'Torque' if d.rotation else 'Force'} that the motion of hinge {h} takes"
            found.append(Variable(effort, force, "output", "tau", u0 + j, text))
        else:
            text = f"{'Torque' if d.rotation else 'Force'} applied at hinge {h}"
            inputs.append(Variable(effort, force, "input", "tau", u0 + j, text))
            text = f"Acceleration of hinge {h}, {what}"
            found.append(Variable(acceleration, f"{angle}/s2", "output", "udot", u0 + j, text))
        if not (kind.quaternion and d.rotation):
            text = f"Position of hinge {h}, {what}"
            positions.append(Variable(f"{h}.{d.position}", angle, "output", "q", q0 + j, text))
        text = f"Speed of hinge {h}, {what}"
        speeds.append(Variable(f"{h}.{d.speed}", f"{angle}/s", "output", "u", u0 + j, text))
    if kind.quaternion:
        for i in range(4):
            text = f"Attitude of hinge {h}, quaternion, component {'xyzw'[i]}"
            positions.append(Variable(f"{h}.Q[{i + 1}]", "", "output", "q", q0 + kind.n_lin + i, text))
    return inputs + positions + speeds + found


def _modal_variables(body: Body, q0: int, u0: int) -> list[Variable]:
    """Modal coordinates, then their rates."""
    name, modes = body.name, range(1, body.mode_count + 1)
    texts = [f"Deflection of {name}, mode {i}" for i in modes]
    values = [Variable(f"{name}.eta[{i}]", "", "output", "q", q0 + i - 1, texts[i - 1]) for i in modes]
    texts = [f"Rate of deflection of {name}, mode {i}" for i in modes]
    return values + [Variable(f"{name}.eta_dot[{i}]", "1/s", "output", "u", u0 + i - 1, texts[i - 1]) for i in modes]


def _sensor_variables(name: str, n: int) -> list[Variable]:
    rows: list[tuple[str, int, str, Kind, int, str]] = [
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


def variable_table(model: Model, loads: tuple[str, ...]) -> list[Variable]:
    """Every input and output of a model.

    Args:
        model: A checked model.
        loads: `body.node` of the load nodes in the kernel's order.
    """
    out: list[Variable] = []
    q0 = u0 = 0
    for k, body in enumerate(model.bodies):
        h = body.hinge.name
        out += _hinge_variables(body, q0, u0)
        q0, u0 = q0 + body.hinge.kind.nq, u0 + body.hinge.kind.nu
        out += _modal_variables(body, q0, u0)
        q0, u0 = q0 + body.mode_count, u0 + body.mode_count
        for key, unit, first in (("force", "N", 3), ("torque", "N.m", 0)):
            for i in range(3):
                text = f"Reaction {key} at hinge {h} on body {body.name}, outboard frame"
                index = 6 * k + first + i
                out.append(Variable(f"{h}.reaction_{key}[{i + 1}]", unit, "output", "reaction", index, text))
    for name in model.inputs:
        node, _, key = name.rpartition(".")
        unit, first = ("N", 3) if key == "force" else ("N.m", 0)
        for i in range(3):
            index = 6 * loads.index(node) + first + i
            out.append(Variable(f"{name}[{i + 1}]", unit, "input", "load", index, f"{key} at {node}, inertial frame"))
    for n, name in enumerate(model.outputs):
        out += _sensor_variables(name, n)
    return out
