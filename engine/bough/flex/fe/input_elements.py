"""Elements, materials and sections of Abaqus and CalculiX input, for stress stiffness."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from bough.flex.fe.elements import BeamSection, Kind, Part, Rule, rectangle_torsion
from bough.flex.fe.fe_model import Array
from bough.flex.fe.mesh import Keyword, Mesh
from bough.flex.fe.problem import refuse, some
from bough.flex.numbers import real_number

TYPES: dict[str, tuple[Kind, int, Rule]] = {
    "C3D4": ("tetra", 4, "full"),
    "C3D10": ("tetra", 10, "full"),
    "C3D6": ("wedge", 6, "full"),
    "C3D15": ("wedge", 15, "full"),
    "C3D8": ("brick", 8, "full"),
    "C3D8R": ("brick", 8, "reduced"),
    "C3D8I": ("brick", 8, "incompatible"),
    "C3D20": ("brick", 20, "full"),
    "C3D20R": ("brick", 20, "reduced"),
    "S3": ("triangle", 3, "full"),
    "S3R": ("triangle", 3, "full"),
    "STRI3": ("triangle", 3, "full"),
    "S6": ("triangle", 6, "full"),
    "STRI65": ("triangle", 6, "full"),
    "S4": ("square", 4, "full"),
    "S4R": ("square", 4, "full"),
    "S8": ("square", 8, "full"),
    "S8R": ("square", 8, "full"),
    "B31": ("line", 2, "full"),
    "B32": ("line", 3, "full"),
    "B33": ("line", 2, "full"),
    "T3D2": ("line", 2, "full"),
}
"""Kind, nodes and integration by the type of an element."""
WITHOUT_STRESS = ("MASS", "ROTARYI")
SECTIONS = {"S": "SHELL SECTION", "B": "BEAM SECTION", "C": "SOLID SECTION", "T": "SOLID SECTION"}
FACTORS = {"RECT": 0.85, "CIRC": 0.89, "PIPE": 0.53}
"""Shear areas of Abaqus, of the whole area."""
SLENDER = {"B31": 0.25, "B32": 0.25e-4}
"""By how much Abaqus lowers the shear stiffness of slender elements; see `BeamSection.slender`."""


def input_parts(mesh: Mesh) -> list[Part]:
    """All elements of the input that carry stress, in its units.

    Raises:
        ModelError: A type of element, a section or a material is none that stress stiffness knows.
    """
    wanted = {number for number, kind in mesh.types.items() if kind not in WITHOUT_STRESS}
    if not wanted:
        cure = "name the .inp file with the elements as `mesh`, or set `geometric_stiffening: false`"
        refuse("mesh", "elements, whose stress stiffens the body", "none", cure)
    for number in sorted(wanted):
        if mesh.types[number] not in TYPES:
            found = f"element {number} of type {mesh.types[number] or 'unknown'}"
            cure = "bring the geometric stiffness in an .npz archive, or set `geometric_stiffening: false`"
            refuse("mesh", f"elements whose stress is known: {', '.join(TYPES)}", found, cure)
    materials = _materials(mesh.keywords)
    parts = []
    for section in mesh.keywords:
        if "SECTION" in section.name:
            parts += list(_of_section(mesh, section, materials, wanted))
    if wanted:
        found = f"none for element {some(sorted(wanted))}"
        refuse("mesh", "a section for every element", found, "put *SOLID, *SHELL or *BEAM SECTION into the mesh file")
    return parts


def _materials(keywords: Sequence[Keyword]) -> dict[str, tuple[float, float] | str]:
    """E and nu by name, or why there are none."""
    out: dict[str, tuple[float, float] | str] = {}
    name = ""
    for keyword in keywords:
        if keyword.name == "MATERIAL":
            name = keyword.options.get("NAME", "").upper()
            out[name] = "without *ELASTIC"
        elif keyword.name == "ELASTIC":
            kind = keyword.options.get("TYPE", "ISOTROPIC").upper()
            if kind not in ("ISO", "ISOTROPIC"):
                out[name] = f"with *ELASTIC of type {kind}"
            else:
                E, nu = (*_numbers(keyword, 0), 0.0, 0.0)[:2]
                out[name] = (E, nu)
    return out


def _numbers(keyword: Keyword, row: int) -> list[float]:
    """Numbers on a line of data; blanks are zeros."""
    words = keyword.data[row] if row < len(keyword.data) else []
    numbers = [real_number(word) if word else 0.0 for word in words]
    if not numbers or any(x is None for x in numbers):
        found = f"{', '.join(words)!r} after {keyword.where}"
        refuse("mesh", f"numbers under *{keyword.name}", found, "write the mesh again, the keyword on one line")
    return [float(x) for x in numbers if x is not None]


def _of_section(
    mesh: Mesh, section: Keyword, materials: dict[str, tuple[float, float] | str], wanted: set[int]
) -> Iterator[Part]:
    """The parts of a section, by type of element; takes their elements off the wanted ones."""
    name = section.options.get("ELSET", "").upper()
    members = [number for number in dict.fromkeys(mesh.element_sets.get(name, ())) if number in wanted]
    for kind in dict.fromkeys(mesh.types[number] for number in members):
        own = [number for number in members if mesh.types[number] == kind]
        shape, n, rule = TYPES[kind]
        wrong = [number for number in own if len(mesh.elements[number]) != n]
        if wrong:
            found = f"{len(mesh.elements[wrong[0]])} nodes of element {wrong[0]}"
            refuse("mesh", f"{n} nodes of every {kind}", found, "write the mesh again")
        if SECTIONS[kind[0]] not in (section.name, section.name.replace(" GENERAL", "")):
            found = f"*{section.name} on {section.where} with element {own[0]} of type {kind}"
            refuse("mesh", f"*{SECTIONS[kind[0]]} for {kind}", found, "check the element set")
        nodes = np.array([mesh.elements[number] for number in own], dtype=np.int64)
        label = f"{kind} in ELSET {name}"
        wanted -= set(own)
        if section.name == "BEAM GENERAL SECTION":
            yield _general(section, kind, label, nodes)
            continue
        E, nu = _material(section, materials)
        thickness = _thickness(section) if kind[0] == "S" else None
        beam = _beam(section, kind, len(nodes)) if shape == "line" else None
        yield Part(label, shape, nodes, E, nu, rule, thickness, beam)


def _material(section: Keyword, materials: dict[str, tuple[float, float] | str]) -> tuple[float, float]:
    wanted = section.options.get("MATERIAL", "").upper()
    material = materials.get(wanted, "that is not in the file")
    if (
        isinstance(material, str)
        or not material[0] > 0.0
        or not -1.0 < material[1] < 0.5
        or "COMPOSITE" in section.options
    ):
        why = material if isinstance(material, str) else f"with E, nu = {material}"
        why = "of layers (COMPOSITE)" if "COMPOSITE" in section.options else why
        cure = "give *ELASTIC with E and nu, or bring the geometric stiffness in an .npz archive"
        refuse("mesh", "an isotropic elastic material", f"{wanted or 'one'} {why}, asked for on {section.where}", cure)
    return material


def _thickness(section: Keyword) -> float:
    odd = [
        key
        for key in ("OFFSET", "NODAL THICKNESS", "SHELL THICKNESS")
        if section.options.get(key, "0") not in ("0", "0.")
    ]
    if odd:
        refuse("mesh", "a shell of one thickness about its nodes", f"{odd[0]} on {section.where}", "leave it out")
    return _numbers(section, 0)[0]


def _axis(section: Keyword, row: int, ne: int) -> Array:
    """The first axis of a section, (ne, 3); (0, 0, -1) unless given."""
    given = _numbers(section, row) if row < len(section.data) and any(section.data[row]) else [0.0, 0.0, -1.0]
    return np.tile(np.array((given + [0.0, 0.0])[:3]), (ne, 1))


def _beam(section: Keyword, kind: str, ne: int) -> BeamSection:
    if kind == "T3D2":
        area = _numbers(section, 0)[0] if section.data else 1.0
        return BeamSection(area, 0.0, 0.0, 0.0, (0.0, 0.0), _any_across(ne), False)
    shape = section.options.get("SECTION", "").upper()
    if shape not in FACTORS:
        cure = "write it as *BEAM GENERAL SECTION, SECTION=GENERAL"
        refuse("mesh", f"SECTION={', '.join(FACTORS)}", f"{shape or 'none'} on {section.where}", cure)
    size = (*_numbers(section, 0), 0.0)[:2]
    if shape == "RECT":
        a, b = size
        A, I2, I3, J = a * b, a * b**3 / 12.0, b * a**3 / 12.0, rectangle_torsion(a, b)
    else:
        outer, inner = size[0], (size[0] - size[1] if shape == "PIPE" else 0.0)
        A, I2 = math.pi * (outer**2 - inner**2), math.pi / 4.0 * (outer**4 - inner**4)
        I3, J = I2, 2.0 * I2
    shear = (FACTORS[shape], FACTORS[shape])
    return BeamSection(A, I2, I3, J, shear, _axis(section, 1, ne), kind == "B33", SLENDER.get(kind, 0.0))


def _any_across(ne: int) -> Array:
    """A direction that no bar of a mesh has by accident: a truss does not care."""
    return np.tile(np.array([0.267, -0.534, 0.802]), (ne, 1))


def _general(section: Keyword, kind: str, name: str, nodes: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Part:
    """A section by area, I11, I12, I22, J; axes; E and G."""
    if section.options.get("SECTION", "GENERAL").upper() != "GENERAL":
        refuse("mesh", "SECTION=GENERAL", f"another on {section.where}", "give area and moments of inertia")
    A, I11, I12, I22, J = (*_numbers(section, 0), 0.0, 0.0, 0.0, 0.0)[:5]
    E, G = (*_numbers(section, 2), 0.0)[:2]
    if I12 != 0.0 or min(A, I11, I22, J, E, G) <= 0.0:
        found = f"A, I11, I12, I22, J = {A}, {I11}, {I12}, {I22}, {J} and E, G = {E}, {G} on {section.where}"
        refuse("mesh", "positive A, I11, I22, J, E, G and principal axes", found, "turn the axes until I12 is zero")
    shear = (math.inf, math.inf) if kind == "B33" else (1.0, 1.0)
    beam = BeamSection(A, I11, I22, J, shear, _axis(section, 1, len(nodes)), kind == "B33", SLENDER.get(kind, 0.0))
    return Part(name, "line", nodes, E, E / (2.0 * G) - 1.0, beam=beam)
