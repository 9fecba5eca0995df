"""From the `hinge:` entry to a checked hinge: axes of unit length, one value per degree of freedom."""

from __future__ import annotations

import math
from typing import Protocol

from bough.model.file import HingeFile, InitialFile
from bough.model.frames import Vector3, unit, unit_quaternion, vector
from bough.model.hinges import HINGES, HingeKind
from bough.model.model import Hinge
from bough.model.resolve_drives import resolve_friction, resolve_gear, resolve_limits
from bough.text.problems import Path, Report, describe

ORTHOGONAL = 1e-6
"""Cosine up to which two planar axes count as orthogonal, sine down to which universal ones as parallel."""

Tuple = tuple[float, ...]

# Key, what is expected and cure, by the number of axes that the hinge type has.
_AXES_WANTED = (
    ("axis", "no axis", "remove it"),
    ("axis", "one axis, three numbers,", "write e.g. `axis: [0, 0, 1]`"),
    ("axes", "two axes, three numbers each,", "write e.g. `axes: [[1, 0, 0], [0, 1, 0]]`"),
)


def resolve_hinge(file: HingeFile, body: str, path: Path, report: Report) -> Hinge:
    """The checked hinge of a body; what is wrong goes into the report."""
    kind = HINGES[file.type]
    spread = {key: _per_dof(file, key, kind, path, report) for key in ("damping", "stiffness", "rest", "armature")}
    if kind.quaternion and any(spread["rest"][kind.n_lin :]):
        report.add(
            (*path, "rest"),
            f"0 for the rotations of a {file.type} hinge",
            describe(file.rest),
            "turn the hinge's frame instead; give translations in a list, with 0 for the rotations",
        )
    if file.drive == "motion" and kind.nu == 0:
        report.add((*path, "drive"), "torque on a fixed hinge", "motion", "remove `drive`: nothing can move")
    initial_q, initial_u = _initial(file, kind, (*path, "initial"), report)
    return Hinge(
        name=file.name or f"{body}_hinge",
        type=file.type,
        axes=resolve_axes(file, kind, f"{file.type} hinge", path, report),
        own=_own(file, kind, path, report),
        position=vector(file.frame.position),
        quaternion=unit_quaternion(file.frame.quaternion, (*path, "frame", "quaternion"), report),
        **spread,
        drive=file.drive,
        initial_q=initial_q,
        initial_u=initial_u,
        written=_written(file.initial, kind, ("s", "Q" if kind.quaternion else "phi")),
        written_speeds=_written(file.initial, kind, ("v", "w")),
        friction=resolve_friction(file, kind, path, report),
        limits=resolve_limits(file, kind, path, report),
        gear=resolve_gear(file, kind, path, report),
    )


def _written(initial: InitialFile, kind: HingeKind, keys: tuple[str, str]) -> tuple[bool, ...]:
    lin, rot = (key in initial.model_fields_set for key in keys)
    return (lin,) * kind.n_lin + (rot,) * kind.n_rot


class _HasAxes(Protocol):
    @property
    def axis(self) -> list[float]: ...

    @property
    def axes(self) -> list[list[float]]: ...

    @property
    def model_fields_set(self) -> set[str]: ...


def resolve_axes(file: _HasAxes, kind: HingeKind, what: str, path: Path, report: Report) -> tuple[Vector3, ...]:
    """Axes of unit length of a hinge or a loop, `what`; as many as its kind has."""
    given = [key for key in ("axis", "axes") if key in file.model_fields_set]
    count = len(file.axes) if "axes" in given else len(given)
    if len(given) == 2 or count != kind.n_axes:
        key, wanted, cure = _AXES_WANTED[kind.n_axes]
        found = f"{count or 'no'} ax{'is' if count < 2 else 'es'}"
        if len(given) == 2:
            found = "both `axis` and `axes`"
        report.add((*path, given[-1] if given else key), f"{wanted} for a {what}", found, cure)
        return ()
    if given == ["axis"]:
        return (unit(file.axis, (*path, "axis"), report),)
    before = len(report.problems)
    axes = tuple(unit(axis, (*path, "axes", i), report) for i, axis in enumerate(file.axes))
    if len(axes) < 2 or len(report.problems) > before:
        return axes
    return _pair(axes[0], axes[1], kind.normal, (*path, "axes"), report)


def _own(file: HingeFile, kind: HingeKind, path: Path, report: Report) -> Tuple:
    """Numbers of the keys that only this hinge type has: all of them, none of another type, and none of them zero."""
    for name, other in HINGES.items():
        for key, _ in other.own:
            if other is not kind and key in file.model_fields_set:
                expected = f"no `{key}` for a {file.type} hinge: it belongs to {name} hinges"
                report.add((*path, key), expected, describe(getattr(file, key)), f"remove it, or write `type: {name}`")
    values = []
    for key, what in kind.own:
        value = float(getattr(file, key))
        if value == 0.0:
            found = "0" if key in file.model_fields_set else "none"
            expected = f"a number other than 0 for a {file.type} hinge: {what}"
            report.add((*path, key), expected, found, f"write e.g. `{key}: 0.01`")
        values.append(value)
    return tuple(values)


def _pair(a: Vector3, b: Vector3, orthogonal: bool, path: Path, report: Report) -> tuple[Vector3, ...]:
    """Two axes that can serve together: orthonormal ones in a plane, or not parallel ones to turn about."""
    cosine = math.fsum(x * y for x, y in zip(a, b, strict=True))
    rest = [y - cosine * x for x, y in zip(a, b, strict=True)]
    sine = math.hypot(*rest)
    if orthogonal and abs(cosine) > ORTHOGONAL:
        angle = math.degrees(math.atan2(sine, cosine))
        found = f"{angle:.6g} degrees between them"
        report.add(path, "two orthogonal axes in the plane", found, "make it 90 degrees")
    elif not orthogonal and sine < ORTHOGONAL:
        cure = "choose another second axis, or a revolute hinge"
        report.add(path, "two axes that are not parallel", "parallel axes", cure)
    elif orthogonal:
        x, y, z = (value / sine for value in rest)
        return (a, (x, y, z))
    return (a, b)


def _per_dof(file: HingeFile, key: str, kind: HingeKind, path: Path, report: Report) -> Tuple:
    """The values of a key, one per degree of freedom; a single number serves all of them."""
    value: float | list[float] = getattr(file, key)
    if not isinstance(value, list):
        if kind.nu == 0 and value != 0.0:
            report.add((*path, key), "nothing on a fixed hinge", describe(value), f"remove `{key}`")
        return (float(value),) * kind.nu
    if len(value) != kind.nu:
        report.add(
            (*path, key),
            f"a number, or a list of {kind.nu}: one per degree of freedom of a {file.type} hinge",
            describe(value),
            f"give {kind.nu} value{'' if kind.nu == 1 else 's'}, translations first",
        )
        return (0.0,) * kind.nu
    return tuple(float(x) for x in value)


def _initial(file: HingeFile, kind: HingeKind, path: Path, report: Report) -> tuple[Tuple, Tuple]:
    """Start positions and speeds in the order of the hinge's coordinates."""
    initial = file.initial
    sizes = {"s": kind.n_lin, "v": kind.n_lin, "phi": 0 if kind.quaternion else kind.n_rot, "w": kind.n_rot}
    allowed = [key for key, size in sizes.items() if size] + (["Q"] if kind.quaternion else [])
    for key in sorted(initial.model_fields_set - set(allowed)):
        names = f"only {', '.join(allowed)}" if allowed else "no start values"
        expected = f"{names} for a {file.type} hinge"
        report.add((*path, key), expected, f"the key {key!r}", "remove or rename it")
    s, v, phi, w = (_start(initial, key, size, path, report) for key, size in sizes.items())
    if file.drive == "locked" and any(v + w):
        report.add(path, "zero speed, because the hinge is locked", describe([*v, *w]), "remove v and w, or the lock")
    turn = unit_quaternion(initial.Q, (*path, "Q"), report) if kind.quaternion else phi
    return s + turn, v + w


def _start(initial: InitialFile, key: str, size: int, path: Path, report: Report) -> Tuple:
    value: float | list[float] = getattr(initial, key)
    if size == 0 or key not in initial.model_fields_set:
        return (0.0,) * size
    values = value if isinstance(value, list) else [value]
    if len(values) != size:
        expected = "one number" if size == 1 else f"a list of {size} numbers"
        report.add((*path, key), expected, describe(value), f"give {size} value{'' if size == 1 else 's'}")
        return (0.0,) * size
    return tuple(float(x) for x in values)
