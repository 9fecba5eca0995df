"""From `friction:`, `limits:` and `gear:` of a hinge to checked ones, and from a gear to a rotor of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bough.model.drives import Friction, Gear, Limits
from bough.model.file_drives import FrictionFile, GearFile, LimitsFile
from bough.model.model import Body, Coupling, Hinge, Rigid, RigidNode
from bough.text.problems import Path, Report, describe

if TYPE_CHECKING:
    from bough.model.file import HingeFile
    from bough.model.hinges import HingeKind

ROTOR = "rotor"
"""What the rotor's own hinge is called, after the hinge that it drives."""


def resolve_friction(file: HingeFile, kind: HingeKind, path: Path, report: Report) -> tuple[Friction | None, ...]:
    """Friction of each DOF; none where it is zero."""
    if file.friction is None or not _moves(file, kind, "friction", path, report):
        return ()
    return _friction(file.friction, kind.nu, f"a {file.type} hinge", (*path, "friction"), report)


def _friction(file: FrictionFile, n: int, what: str, path: Path, report: Report) -> tuple[Friction | None, ...]:
    coulomb = _spread(file.coulomb, "coulomb", n, what, path, report)
    static = coulomb if file.static is None else _spread(file.static, "static", n, what, path, report)
    stribeck = _spread(file.stribeck, "stribeck", n, what, path, report)
    for c, s in zip(coulomb, static, strict=True):
        if s < c:
            expected = f"{c:g} or more: friction at rest is not less than friction in motion"
            report.add((*path, "static"), expected, describe(s), "swap them, or leave `static` out")
            break
    rows = zip(coulomb, static, stribeck, strict=True)
    return tuple(Friction(coulomb=c, static=max(c, s), stribeck=w) if max(c, s) > 0.0 else None for c, s, w in rows)


def _moves(file: HingeFile, kind: HingeKind, key: str, path: Path, report: Report) -> bool:
    """Whether there is a DOF whose force can be of use: not on fixed hinges, nor where the motion is given."""
    if kind.nu == 0:
        report.add((*path, key), "nothing on a fixed hinge", f"`{key}`", f"remove `{key}`")
        return False
    if file.drive == "motion":
        expected = f"no `{key}` where `drive: motion` gives the acceleration, whatever acts"
        report.add((*path, key), expected, f"`{key}`", "remove it, or write `drive: torque`")
        return False
    return True


def _spread(value: float | list[float], key: str, n: int, what: str, path: Path, report: Report) -> tuple[float, ...]:
    if not isinstance(value, list):
        return (float(value),) * n
    if len(value) != n:
        expected = f"a number, or a list of {n}: one per degree of freedom of {what}"
        report.add(
            (*path, key), expected, describe(value), f"give {n} value{'' if n == 1 else 's'}, translations first"
        )
        return (0.0,) * n
    return tuple(float(x) for x in value)


def resolve_limits(file: HingeFile, kind: HingeKind, path: Path, report: Report) -> tuple[Limits | None, ...]:
    """Limits of each DOF."""
    limits = file.limits
    own: Path = (*path, "limits")
    if limits is None or not _moves(file, kind, "limits", path, report):
        return ()
    if kind.quaternion:
        expected = f"no limits on a {file.type} hinge, whose attitude has no coordinates"
        report.add(own, expected, "`limits`", "use hinges with angles: revolute, universal")
        return ()
    if limits.lower is None and limits.upper is None:
        report.add(own, "`lower`, `upper`, or both", "neither", "write e.g. `limits: {upper: 1.5, stiffness: 1e4}`")
        return ()
    what = f"a {file.type} hinge"
    none = (math.inf,) * kind.nu
    low = (
        tuple(-x for x in none) if limits.lower is None else _spread(limits.lower, "lower", kind.nu, what, own, report)
    )
    high = none if limits.upper is None else _spread(limits.upper, "upper", kind.nu, what, own, report)
    if not _ordered(low, high, own, report):
        return ()
    made = _stop(limits, own, report)
    return tuple(made.model_copy(update={"lower": a, "upper": b}) for a, b in zip(low, high, strict=True))


def _ordered(low: tuple[float, ...], high: tuple[float, ...], path: Path, report: Report) -> bool:
    for a, b in zip(low, high, strict=True):
        if not a < b:
            report.add((*path, "upper"), f"more than `lower`, {a:g}", describe(b), "swap `lower` and `upper`")
            return False
    return True


def check_starts(bodies: Iterable[Body], closed: bool, report: Report) -> None:
    """Start positions lie within the limits; with loops (`closed`) unwritten ones are found later."""
    for i, body in enumerate(bodies):
        hinge = body.hinge
        for j, limits in enumerate(hinge.limits):
            x = hinge.initial_q[j]
            if limits is None or limits.lower <= x <= limits.upper or (closed and not hinge.written[j]):
                continue
            key = "s" if j < hinge.kind.n_lin else "phi"
            expected = f"a start position within the limits, {limits.lower:g} to {limits.upper:g}"
            path: Path = ("bodies", i, "hinge", "initial", key)
            report.add(path, expected, describe(x), "move the start position, or the limits")
            break


def _stop(file: LimitsFile, path: Path, report: Report) -> Limits:
    """What the stop is made of: exactly one of stiffness, restitution, latch."""
    given = [k for k in ("stiffness", "restitution") if getattr(file, k) is not None] + ["latch"] * file.latch
    if len(given) != 1:
        expected = "one of `stiffness` (a stop that gives), `restitution` (one that does not), `latch: true`"
        found = " and ".join(given) or "none of them"
        report.add(path, expected, found, "keep one of them" if given else "add e.g. `restitution: 0.3`")
    if file.damping is not None and file.stiffness is None:
        report.add((*path, "damping"), "`damping` with `stiffness` only", describe(file.damping), "remove it")
    if file.stiffness is not None:
        return Limits(kind="gives", stiffness=file.stiffness, damping=file.damping or 0.0)
    return Limits(kind="latch" if file.latch else "rigid", restitution=file.restitution or 0.0)


def resolve_gear(file: HingeFile, kind: HingeKind, path: Path, report: Report) -> Gear | None:
    """The geared rotor of a hinge."""
    gear: GearFile | None = file.gear
    own: Path = (*path, "gear")
    if gear is None or not _moves(file, kind, "gear", path, report):
        return None
    if kind.nu != 1:
        expected = f"no gear on a {file.type} hinge: a rotor drives one degree of freedom"
        report.add(own, expected, "`gear`", "drive a revolute or prismatic hinge; several hinges make a universal one")
        return None
    if gear.ratio == 0.0:
        report.add((*own, "ratio"), "a number other than 0", "0", "write rotor turns per turn of the hinge")
        return None
    for key in ("damping", "backlash"):
        if gear.stiffness is None and getattr(gear, key) > 0.0:
            expected = f"no `{key}` in a rigid gear"
            report.add((*own, key), expected, describe(getattr(gear, key)), "add `stiffness`, or remove it")
    rubs: tuple[Friction | None, ...] = (None,)
    if gear.friction is not None:
        rubs = _friction(gear.friction, 1, "a rotor", (*own, "friction"), report)
    return Gear(
        ratio=gear.ratio,
        inertia=gear.inertia,
        stiffness=gear.stiffness,
        damping=gear.damping,
        backlash=gear.backlash,
        friction=rubs[0],
    )


def rotors(bodies: tuple[Body, ...]) -> tuple[tuple[Body, ...], tuple[Coupling, ...]]:
    """A body for every geared rotor, hinged to the ground, and couplings for the gears that are rigid.

    A rotor has inertia about its axis only, and turns about an axis that is fixed in space: what it does to the body
    that carries it beyond the torque of the gear is left out.
    """
    made, rigid = [], []
    for body in bodies:
        hinge, gear = body.hinge, body.hinge.gear
        if gear is None:
            continue
        rotor = _rotor_hinge(hinge, gear)
        origin = RigidNode(position=(0.0, 0.0, 0.0), quaternion=(0.0, 0.0, 0.0, 1.0))
        nothing = Rigid(
            mass=0.0,
            com=(0.0, 0.0, 0.0),
            inertia=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
            nodes={"origin": origin},
            wheels=(),
            tunable=False,
        )
        made.append(Body(name=f"{hinge.name}_{ROTOR}", parent="ground", at="origin", hinge=rotor, rigid=nothing))
        if gear.stiffness is None:
            name = f"{hinge.name}.{'s' if hinge.kind.n_lin else 'phi'}"
            terms = ((f"{rotor.name}.phi", 1.0), (name, -gear.ratio))
            rigid.append(Coupling(name=f"{hinge.name}_gear", terms=terms, offset=0.0))
    return tuple(made), tuple(rigid)


def _rotor_hinge(hinge: Hinge, gear: Gear) -> Hinge:
    return Hinge(
        name=f"{hinge.name}.{ROTOR}",
        type="revolute",
        axes=((0.0, 0.0, 1.0),),
        position=(0.0, 0.0, 0.0),
        quaternion=(0.0, 0.0, 0.0, 1.0),
        damping=(0.0,),
        stiffness=(0.0,),
        rest=(0.0,),
        armature=(gear.inertia,),
        drive="torque",
        initial_q=(gear.ratio * hinge.initial_q[0],),
        initial_u=(gear.ratio * hinge.initial_u[0],),
        friction=(gear.friction,),
        drives=hinge.name,
    )
