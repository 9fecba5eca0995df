"""What is allowed but looks odd: numbers that point to millimetres, gigapascals, degrees or percents.

A note is no error: the model runs as it is. The limits lie far outside of what machines, buildings and spacecraft are
made of, so that a note is nearly always right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bough.model.beam_data import Beam, Section
from bough.model.frames import one_axis
from bough.model.model import Body, Hinge, Model, Rigid
from bough.text.problems import Path, key_path
from bough.text.source import ModelSource, read

THICK = 0.3
"""Twice a section's radius of gyration over the length of its beam: a rectangle is then half as high as it is long."""
LONG = 1000.0
"""Length of a beam, m, that is more likely given in millimetres."""
MODULUS = (1e6, 1e13)
"""Elastic moduli of solids, Pa: soft rubber has 1e6, diamond 1.2e12."""
DENSITY = (10.0, 1e5)
"""Densities of structural solids, kg/m^3: light foam has 20, osmium 22600. In g/cm^3 most have less than 10."""
FREQUENCY = (1e-3, 1e6)
"""First natural frequency of a beam, Hz."""
OVERDAMPED = 0.5
"""Ratio of critical damping that no structure has; a percent is 0.01."""
STRONG = 100.0
"""Gravity, m/s^2; that of Jupiter is 25."""
HEAVY_BEAM = 1e7
"""Mass of one beam, kg: ten thousand tonnes are more likely a beam given in millimetres."""
FAR = 1000.0
"""Distance of a mass centre or a node from the origin of its rigid body, m."""
GYRATION = 100.0
"""Radius of gyration of a rigid body, m, and how many times its own reach, that are unlikely together."""
HEAVY = 1e6
"""Mass of a rigid body, kg, and how many times another body's, that are unlikely together."""


@dataclass(frozen=True)
class Note:
    """One thing that looks odd in a model, where it is and what was probably meant.

    Attributes:
        file: The file as the user named it, '<dict>' for a mapping; empty if the source is not known.
        line: Line in that file, counted from 1; None where there is no text to point at.
        key: Key path such as `bodies[0].beam.section`.
        found: What is there.
        why: Why it looks odd.
        cure: What was probably meant.
    """

    file: str
    line: int | None
    key: str
    found: str
    why: str
    cure: str

    def __str__(self) -> str:
        """One line: `arm.yaml:12: bodies[0].beam.section: found; why; cure`."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place + ': ' if place else ''}{self.key}: {self.found}; {self.why}; {self.cure}"


@dataclass(frozen=True)
class _Oddity:
    path: Path
    found: str
    why: str
    cure: str


def plausibility_notes(model: Model, source: ModelSource | None = None) -> tuple[Note, ...]:
    """What looks odd in a model, in the order of its file; empty for most.

    Args:
        model: A checked model.
        source: What it was loaded from, for file and lines; read again only if there is something to note.
    """
    odd = list(_oddities(model))
    if not odd:
        return ()
    text = None if source is None else read(source)
    file, line_of = ("", _no_line) if text is None else (text.file, text.line_of)
    notes = [Note(file, line_of(o.path), key_path(o.path), o.found, o.why, o.cure) for o in odd]
    return tuple(sorted(notes, key=lambda note: note.line or 0))


def _no_line(path: Path) -> int | None:
    return None


def _oddities(model: Model) -> Iterator[_Oddity]:
    size = math.hypot(*model.gravity)
    if size > STRONG:
        why = "that of the Earth is 9.81"
        yield _Oddity(("gravity",), f"gravity of {size:g} m/s2", why, "give m/s2: 9810 mm/s2 is 9.81")
    for i, body in enumerate(b for b in model.whole_bodies if b.spin is None):
        yield from _of_hinge(body.hinge, ("bodies", i, "hinge"))
        yield from _of_damping(body, ("bodies", i))
        if body.beam is not None:
            yield from _of_beam(body.beam, ("bodies", i, "beam"))
            yield from _of_cut(body, model, ("bodies", i, "beam", "modes"))
        if body.rigid is not None:
            yield from _of_rigid(body, model, ("bodies", i, "rigid", "mass"))
            if one_axis(body.rigid.inertia) is not None:
                found = "inertia about one axis only, which no body has"
                why = "it turns about that axis alone, and the other moments do nothing"
                cure = "give all three before it gets another hinge: `[I, I/2, I/2, 0, 0, 0]` is a thin disc"
                yield _Oddity(("bodies", i, "rigid", "inertia"), found, why, cure)


def _of_hinge(hinge: Hinge, path: Path) -> Iterator[_Oddity]:
    kind = hinge.kind
    if kind.quaternion or not kind.n_rot or hinge.drives:  # a rotor makes many turns
        return
    springs = any(hinge.stiffness[kind.n_lin :])
    places = ((("initial", "phi"), hinge.initial_q), (("rest",), hinge.rest if springs else ()))
    for keys, values in places:
        worst = max(values[kind.n_lin :], key=abs, default=0.0)
        if abs(worst) > 2.0 * math.pi:
            found = f"an angle of {worst:g} rad, more than a full turn"
            cure = f"{worst:g} deg is {math.radians(worst):.5g}"
            yield _Oddity((*path, *keys), found, "angles are in radians", cure)


def _of_damping(body: Body, path: Path) -> Iterator[_Oddity]:
    ratios = () if body.nodal is None else body.nodal.damping or ()
    flexible = body.beam or body.fe
    if flexible is not None:
        ratios = flexible.damping.ratios or (flexible.damping.ratio or 0.0,)
    worst = max(ratios, default=0.0)
    if worst >= OVERDAMPED:
        why = "with a ratio of 1 nothing swings any more, structures have 0.001 to 0.05"
        cure = f"{worst:g} % is {worst / 100:g}"
        yield _Oddity((*path, body.kind, "damping"), f"a damping ratio of {worst:g}", why, cure)


def _of_beam(beam: Beam, path: Path) -> Iterator[_Oddity]:
    if not beam.sections:  # rigidities: they say nothing of sizes
        yield from _of_elements(beam, path)
        return
    oddities = [*_of_size(beam, path), *_of_material(beam, path)]
    # A wrong length or modulus makes a wrong mass and frequency: that is one mistake.
    yield from oddities or [*_of_mass(beam, path)] or _of_frequency(beam, path)
    yield from _of_elements(beam, path)


def _of_mass(beam: Beam, path: Path) -> Iterator[_Oddity]:
    if beam.material is None or beam.section is None:
        return
    mass = beam.material.rho * beam.section.area * beam.length
    if mass > HEAVY_BEAM:
        found = f"a beam of {beam.length:g} m and {mass:.3g} kg"
        cure = f"give metres: {beam.length:g} mm is {beam.length / 1000:g}, and the same for the section"
        yield _Oddity((*path, "length"), found, "few beams have more than ten thousand tonnes", cure)


def _of_elements(beam: Beam, path: Path) -> Iterator[_Oddity]:
    """Too few elements: n of them give about n bending modes in a plane to a percent, and the next 20 % off or more."""
    families, count = beam.modes.families, beam.modes.count
    wanted = max(families.get("bending_y", 0), families.get("bending_z", 0)) if families else -(-(count or 0) // 2)
    if wanted > beam.elements:
        one = beam.elements == 1
        found = f"{beam.elements} element{'' if one else 's'} for {wanted} bending modes in a plane"
        why = f"mode {beam.elements + 1} comes out {57 if one else 20} % too fast or worse"
        cure = f"give `elements: {max(2 * wanted, 4)}` or more: they cost nothing in the run"
        yield _Oddity((*path, "elements"), found, why, cure)


def _of_cut(body: Body, model: Model, path: Path) -> Iterator[_Oddity]:
    """A beam cut by hand: one that ends free of moment, with the next piece of the same beam fixed to its tip."""
    beam, bare = body.beam, ("cantilever", "pinned", "free")
    if beam is None or beam.modes.boundary not in bare or len(model.pieces(body.name)) > 1:
        return
    for other in model.bodies:
        on_tip = other.parent == body.name and other.at == "tip" and other.hinge.type == "fixed"
        if on_tip and other.beam is not None and other.beam.material == beam.material:
            if other.beam.stations[0].section != beam.stations[-1].section:
                continue
            yield _Oddity(
                path,
                f"{beam.modes.boundary} modes of {body.name!r}, which {other.name!r} goes on with as one beam",
                "they carry no moment at the tip: more bodies converge to the wrong limit",
                "write one beam with `bodies: 2` or more, or take `boundary: craig-bampton` for every piece",
            )
            return


def _of_size(beam: Beam, path: Path) -> Iterator[_Oddity]:
    uniform = len(beam.stations) == 1
    sizes = [_size(section) for section in beam.sections]
    worst = max(range(len(sizes)), key=sizes.__getitem__)
    if beam.length > LONG:
        key = "length" if beam.points == ((0.0, 0.0, 0.0), (beam.length, 0.0, 0.0)) else "points"
        cure = f"give metres: {beam.length:g} mm is {beam.length / 1000:g}"
        yield _Oddity((*path, key), f"a beam of {beam.length:g} m", "few beams are longer than a kilometre", cure)
    elif sizes[worst] > THICK * beam.length:
        where: Path = ("section",) if uniform else ("stations", worst, "section")
        found = f"a section more than {sizes[worst]:.2g} m across on a beam of {beam.length:g} m"
        cure = "give metres: 60 mm is 0.06" if sizes[worst] > 1.0 else "check length and section, both in metres"
        yield _Oddity((*path, *where), found, "the section of a beam is much smaller than its length", cure)


def _size(section: Section) -> float:
    """Twice the radius of gyration, m: no section with it is smaller, whatever its shape."""
    return 2.0 * math.sqrt(max(section.Iy, section.Iz) / section.area)


def _of_material(beam: Beam, path: Path) -> Iterator[_Oddity]:
    material = beam.material
    if material is None:
        return
    low, high = MODULUS
    name, modulus = ("G", material.G) if low <= material.E <= high else ("E", material.E)
    # With Poisson's ratio given, G is at least a third of E.
    if not (low / 3.0 if name == "G" else low) <= modulus <= high:
        why = "steel has 210e9 Pa, aluminium 70e9, rubber 1e6 or more"
        unit, power = ("GPa", "e9") if modulus < 1000.0 else ("MPa", "e6")
        cure = f"give Pa: {modulus:g} {unit} is {modulus:g}{power}" if modulus < low else "give Pa"
        yield _Oddity((*path, "material", name), f"a modulus of {modulus:g} Pa", why, cure)
    if not DENSITY[0] <= material.rho <= DENSITY[1]:
        cure = "give kg/m3: 7.85 g/cm3 is 7850, 7.85e-9 t/mm3 is 7850"
        if 0.02 <= material.rho < DENSITY[0]:
            cure = f"give kg/m3: {material.rho:g} g/cm3 is {1000 * material.rho:g}"
        found = f"a density of {material.rho:g} kg/m3"
        yield _Oddity((*path, "material", "rho"), found, "steel has 7850, aluminium 2700", cure)


def _of_frequency(beam: Beam, path: Path) -> Iterator[_Oddity]:
    """First bending frequency of the uniform cantilever with the root's section: 1.875^2 / L^2 sqrt(E I / rho A)."""
    section, material = beam.section, beam.material
    if section is None or material is None:
        return
    slenderness = min(section.Iy, section.Iz) / section.area / beam.length**4
    hertz = 1.875104**2 / (2.0 * math.pi) * math.sqrt(material.E / material.rho * slenderness)
    if not FREQUENCY[0] <= hertz <= FREQUENCY[1]:
        found = f"a beam of {beam.length:g} m that swings at about {hertz:.2g} Hz"
        why = "beams swing between a thousandth and a million times a second"
        cure = "check length and section (m, m2, m4), E (Pa) and rho (kg/m3)"
        yield _Oddity(path, found, why, cure)


def _of_rigid(body: Body, model: Model, path: Path) -> Iterator[_Oddity]:
    rigid = body.rigid
    if rigid is None or body.hinge.drives:  # a rotor has its inertia at its hinge
        return
    ports = [port.split(".")[0] for port in (*model.inputs, *model.outputs)]
    used = body.name in ports or any(other.parent == body.name for other in model.whole_bodies)
    if rigid.mass == 0.0 and not (any(rigid.inertia) or rigid.wheels or rigid.tunable or used):
        found = f"a body {body.name!r} without mass that carries nothing"
        yield _Oddity(path, found, "it has no effect on anything", "give its mass in kg, or remove the body")
    yield from _of_extent(rigid, path[:-1])
    if not any(other.parent == body.name for other in model.whole_bodies):
        yield from _of_wheel(body.hinge, rigid, path[:-1])
    others = [b.rigid.mass for b in model.bodies if b.rigid is not None and b.rigid.mass > 0.0]
    if rigid.mass > HEAVY and rigid.mass > HEAVY * min(others):
        found = f"{rigid.mass:g} kg in a model whose lightest body has {min(others):g} kg"
        yield _Oddity(path, found, "masses a million times apart are rare in one mechanism", "give kilograms")


def _of_extent(rigid: Rigid, path: Path) -> Iterator[_Oddity]:
    """A rigid body drawn in millimetres: places kilometres away, or an inertia in kg.mm2."""
    places: dict[Path, tuple[float, ...]] = {("com",): rigid.com}
    places |= {("nodes", name, "position"): node.position for name, node in rigid.nodes.items()}
    keys, far = max(places.items(), key=lambda item: math.hypot(*item[1]))
    reach = math.hypot(*far)
    if reach > FAR:
        found = f"a place {reach:g} m from the origin of the body"
        cure = f"give metres: {reach:g} mm is {reach / 1000:g}"
        yield _Oddity((*path, *keys), found, "few rigid bodies are a kilometre long", cure)
    elif rigid.mass > 0.0:
        gyration = math.sqrt(max(rigid.inertia[:3]) / rigid.mass)
        if gyration > GYRATION and gyration > GYRATION * reach:
            found = f"a radius of gyration of {gyration:.3g} m, {max(rigid.inertia[:3]):g} kg.m2 with {rigid.mass:g} kg"
            cure = "give kg.m2: 1e6 kg.mm2 is 1"
            yield _Oddity((*path, "inertia"), found, "few rigid bodies are hundreds of metres large", cure)


def _of_wheel(hinge: Hinge, rigid: Rigid, path: Path) -> Iterator[_Oddity]:
    """A disc that carries nothing, its centre on its axis of rotation, but tilted against it: it would wobble.

    Where the axis of a wheel is tilted, its inertia has to be turned as well: it is in body axes, those of the hinge's
    frame and not of the wheel. About a diameter a disc does not wobble.
    """
    if hinge.type != "revolute" or hinge.limits:
        return
    axis = np.array(hinge.axes[0]) / np.linalg.norm(hinge.axes[0])
    Ixx, Iyy, Izz, Ixy, Ixz, Iyz = rigid.inertia
    moments, own = np.linalg.eigh([[Ixx, Ixy, Ixz], [Ixy, Iyy, Iyz], [Ixz, Iyz, Izz]])
    size = math.sqrt(moments[2] / rigid.mass) if rigid.mass > 0.0 else math.inf
    centred = np.linalg.norm(np.cross(axis, rigid.com)) <= 1e-3 * size
    disc = moments[1] - moments[0] <= 0.01 * moments[2] and moments[2] > 1.05 * moments[1]
    tilt = math.degrees(math.acos(min(1.0, abs(float(own[:, 2] @ axis)))))
    if not (centred and disc and 1.0 < tilt < 89.0):
        return
    a, t = axis, float(moments[1])
    turned = t * np.eye(3) + (float(moments[2]) - t) * np.outer(a, a)
    six = [*np.diag(turned), turned[0, 1], turned[0, 2], turned[1, 2]]
    about = ", ".join(f"{x:.3g}" for x in own[:, 2] * (1.0 if own[:, 2] @ axis >= 0.0 else -1.0))
    found = f"a disc with its axis along [{about}] that turns about an axis {tilt:.3g} deg away"
    cure = f"turn the inertia with the axis: [{', '.join(f'{x:.6g}' for x in six)}], or tilt `frame` and keep the axis"
    yield _Oddity((*path, "inertia"), found, "it wobbles as it spins", cure)
