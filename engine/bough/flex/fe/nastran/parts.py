"""Elements, materials and sections of a Nastran deck, for stress stiffness."""

from __future__ import annotations

import math
from typing import NoReturn

import numpy as np

from bough.flex.fe.elements import BeamSection, Kind, Part, Rule, rectangle_torsion
from bough.flex.fe.fe_model import Array
from bough.flex.fe.nastran.bulk import Bulk, Card, read_bulk
from bough.flex.fe.nastran.grids import NastranMesh, nastran_mesh
from bough.flex.fe.nastran.matrices import mesh_path
from bough.flex.fe.problem import name_of, refuse
from bough.model import Fe

SHAPES: dict[str, dict[int, tuple[Kind, Rule]]] = {
    "CTETRA": {4: ("tetra", "full"), 10: ("tetra", "full")},
    "CPENTA": {6: ("wedge", "full"), 15: ("wedge", "full")},
    "CHEXA": {8: ("brick", "incompatible"), 20: ("brick", "reduced")},
    "CTRIA3": {3: ("triangle", "full")},
    "CTRIAR": {3: ("triangle", "full")},
    "CTRIA6": {6: ("triangle", "full")},
    "CQUAD4": {4: ("square", "full")},
    "CQUADR": {4: ("square", "full")},
    "CQUAD8": {8: ("square", "full")},
    "CBAR": {2: ("line", "full")},
    "CBEAM": {2: ("line", "full")},
    "CROD": {2: ("line", "full")},
    "CONROD": {2: ("line", "full")},
}
"""Kind and integration by card and number of grids."""
WITHOUT_STRESS = frozenset({"CONM1", "CONM2", "CMASS1", "CMASS2", "CMASS3", "CMASS4"})
PROPERTIES = ("PSOLID", "PSHELL", "PBAR", "PBARL", "PBEAM", "PROD")
CURE = "bring the geometric stiffness in an .npz archive, or set `geometric_stiffening: false`"
# Abaqus has the middles of the edges below, above, between; Nastran below, between, above.
ORDER = {20: [*range(12), *range(16, 20), *range(12, 16)], 15: [*range(9), *range(12, 15), *range(9, 12)]}


def read_nastran_parts(fe: Fe) -> list[Part]:
    """The elements of the deck that holds the grids."""
    own = not fe.file.lower().endswith(".op4") and fe.mesh is None
    path = fe.file if own else mesh_path(fe)
    bulk = read_bulk(path, "mesh")
    return nastran_parts(bulk, nastran_mesh(bulk, path, "mesh"))


def nastran_parts(bulk: Bulk, mesh: NastranMesh) -> list[Part]:
    """All elements of a deck that carry stress, in its units.

    Raises:
        ModelError: An element, a property or a material is none that stress stiffness knows.
    """
    unknown = sorted(bulk.elements - SHAPES.keys() - WITHOUT_STRESS)
    if unknown or not bulk.elements - WITHOUT_STRESS:
        found = f"{', '.join(unknown) or 'none'} in {mesh.source}"
        refuse(
            "mesh", f"elements whose stress is known: {', '.join(SHAPES)}", found, f"name the deck as `mesh`; {CURE}"
        )
    return [part for name in SHAPES for part in _Parts(bulk, mesh).of(name)]


def _refuse(card: Card, expected: str, found: str) -> NoReturn:
    where = f"{card.name} on line {card.line} of {name_of(card.file)}"
    refuse("mesh", f"{expected}, for geometric stiffening", f"{found} of {where}", CURE)


class _Parts:
    def __init__(self, bulk: Bulk, mesh: NastranMesh) -> None:
        self.bulk = bulk
        self.mesh = mesh
        self.properties = {(c.name[:4], c.integer(0)): c for c in bulk.of(*PROPERTIES)}
        self.materials = {card.integer(0): card for card in bulk.of("MAT1")}
        self.grids = {int(number): k for k, number in enumerate(mesh.ids)}

    def of(self, name: str) -> list[Part]:
        """The parts of one kind of card, by property and number of grids."""
        groups: dict[tuple[int, int, str], list[tuple[Card, list[int]]]] = {}
        for card in self.bulk.of(name):
            nodes = self._nodes(card)
            own = card.text(4) + card.text(3) if name == "CONROD" else ""
            groups.setdefault((0 if name == "CONROD" else card.integer(1), len(nodes), own), []).append((card, nodes))
        return [self._part(name, pid, members) for (pid, _, _), members in groups.items()]

    def _nodes(self, card: Card) -> list[int]:
        first = 1 if card.name == "CONROD" else 2
        most = max(SHAPES[card.name])
        given = [card.integer(i) for i in range(first, first + most) if card.text(i)]
        counts = [n for n in SHAPES[card.name] if n <= len(given)]
        if card.name in ("CTETRA", "CPENTA", "CHEXA"):
            counts = [n for n in SHAPES[card.name] if n == len(given)]
        if not counts or max(counts) != len(given):
            _refuse(card, f"{' or '.join(map(str, SHAPES[card.name]))} grids", f"{len(given)}")
        strange = [number for number in given if number not in self.grids]
        if strange:
            _refuse(card, "grids of the deck", f"grid {strange[0]}")
        return [given[k] for k in ORDER.get(len(given), range(len(given)))]

    def _part(self, name: str, pid: int, members: list[tuple[Card, list[int]]]) -> Part:
        card = members[0][0]
        nodes = np.array([given for _, given in members], dtype=np.int64)
        kind, rule = SHAPES[name][nodes.shape[1]]
        label = f"{name} of property {pid}" if pid else name
        if kind == "line":
            section, mid = self._beam(name, pid, card, [c for c, _ in members])
            E, G, _ = self._material(card, mid)
            return Part(label, kind, nodes, E, E / (2.0 * G) - 1.0, beam=section)
        prop = self._property("PSOL" if kind in ("tetra", "wedge", "brick") else "PSHE", pid, card)
        E, _, nu = self._material(prop, prop.integer(1))
        if prop.name == "PSOLID":
            return Part(label, kind, nodes, E, nu, rule)
        for c, given in members:
            after = 2 + len(given)
            odd = c.fields[after + 1 :] if c.name not in ("CTRIA6", "CQUAD8") else c.fields[max(after, 8) :]
            if any(text not in ("", "0.", "0.0", "0") for text in odd):
                _refuse(
                    c, "a shell of one thickness about its grids", f"{', '.join(filter(None, odd))} after its angle"
                )
        if prop.integer(3, -1) != prop.integer(1) or prop.real(4, 1.0) != 1.0:
            _refuse(prop, "one material in bending and stretching (MID1 = MID2, 12 I/T^3 = 1)", "others")
        return Part(label, kind, nodes, E, nu, rule, prop.real(2))

    def _property(self, family: str, pid: int, card: Card) -> Card:
        found = self.properties.get((family, pid))
        if found is None:
            _refuse(card, f"a property {' '.join(p for p in PROPERTIES if p.startswith(family))} in the deck", f"{pid}")
        return found

    def _material(self, card: Card, mid: int) -> tuple[float, float, float]:
        """E, G and nu; two of them tell the third."""
        found = self.materials.get(mid)
        if found is None:
            _refuse(card, "an isotropic material (MAT1)", f"material {mid}")
        E, G, nu = (found.real(i) if found.text(i) else None for i in (1, 2, 3))
        if E is None and G is not None and nu is not None:
            E = 2.0 * (1.0 + nu) * G
        if E is None or E <= 0.0:
            _refuse(found, "a positive E", f"{E}")
        nu = (E / (2.0 * G) - 1.0 if G else 0.0) if nu is None else nu
        return E, G or E / (2.0 * (1.0 + nu)), nu

    def _beam(self, name: str, pid: int, card: Card, members: list[Card]) -> tuple[BeamSection, int]:
        ne = len(members)
        if name in ("CROD", "CONROD"):
            prop = card if name == "CONROD" else self._property("PROD", pid, card)
            first = 3 if name == "CONROD" else 1
            # A truss does not care for directions across; no bar has this one by accident.
            across = np.tile(np.array([0.267, -0.534, 0.802]), (ne, 1))
            A, J = prop.real(first + 1), prop.real(first + 2, 0.0)
            return BeamSection(A, 0.0, 0.0, J, (0.0, 0.0), across, False), prop.integer(first)
        for c in members:
            odd = [t for t in c.fields[8:16] if t not in ("", "0", "0.", "0.0")]
            if odd or c.text(7) not in ("", "GGG"):
                _refuse(c, "bars without pins and offsets", ", ".join(odd) or c.text(7))
        axis2 = np.array([self._vector(c) for c in members])
        family = "PBAR" if name == "CBAR" else "PBEA"
        prop = self._property(family, pid, card)
        A, I1, I2, J, shear = _sizes(prop)
        if min(A, I1, I2, J) <= 0.0:
            _refuse(prop, "a positive area, I1, I2 and J", f"{A}, {I1}, {I2}, {J}")
        return BeamSection(A, I2, I1, J, shear, axis2, True), prop.integer(1)

    def _vector(self, card: Card) -> Array:
        """The vector v of a bar, in basic axes."""
        start = self.grids[card.integer(2)]
        text = card.text(4)
        if text and "." not in text and not card.text(5) and not card.text(6):
            other = self.grids.get(card.integer(4))
            if other is None:
                _refuse(card, "a grid G0 of the deck", text)
                return np.asarray(self.mesh.positions[other] - self.mesh.positions[start])
        if not any(card.text(i) for i in (4, 5, 6)):
            _refuse(card, "a vector X1, X2, X3 or a grid G0", "none")
        given = np.array([card.real(i, 0.0) for i in (4, 5, 6)])
        return np.asarray(self.mesh.axes[start] @ given)


def _sizes(card: Card) -> tuple[float, float, float, float, tuple[float, float]]:
    """Area, I1 (bending in the plane of v), I2, J and shear factors."""
    if card.name == "PBAR":
        if card.real(18, 0.0) != 0.0:
            _refuse(card, "principal axes (I12 = 0)", card.text(18))
        shear = tuple(card.real(i, 0.0) or math.inf for i in (16, 17))
        return card.real(2), card.real(3), card.real(4), card.real(5, 0.0), (shear[0], shear[1])
    if card.name == "PBEAM":
        if len(card.fields) > 16 or card.real(5, 0.0) != 0.0:
            _refuse(card, "a section that is the same from end to end, in principal axes", "stations, factors or I12")
        return card.real(2), card.real(3), card.real(4), card.real(6, 0.0), (1.0, 1.0)
    kind, d = card.text(3), [card.real(8 + i, 0.0) for i in range(2)]
    if kind == "BAR":
        area = d[0] * d[1]
        return area, d[0] * d[1] ** 3 / 12.0, d[1] * d[0] ** 3 / 12.0, rectangle_torsion(*d), (5.0 / 6.0, 5.0 / 6.0)
    if kind in ("ROD", "TUBE"):
        inner = d[1] if kind == "TUBE" else 0.0
        inertia = math.pi / 4.0 * (d[0] ** 4 - inner**4)
        factor = 0.9 if kind == "ROD" else 0.5
        return math.pi * (d[0] ** 2 - inner**2), inertia, inertia, 2.0 * inertia, (factor, factor)
    _refuse(card, "a section BAR, ROD or TUBE", kind)
