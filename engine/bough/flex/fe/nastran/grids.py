"""The mesh of a Nastran deck: grids in basic axes, scalar points, sets, and the order of degrees of freedom."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from bough.flex.fe.fe_model import Array, Integers
from bough.flex.fe.nastran.bulk import RIGID, SETS, UNPLACED, Bulk, Card, expanded
from bough.flex.fe.problem import name_of, refuse
from bough.flex.numbers import real_number

Dof = tuple[int, int]
"""Number of a grid or scalar point, and component: 1 2 3 along, 4 5 6 about its axes; 0 of a scalar point."""

ROWS = 100_000
"""Degrees of freedom that cards of one kind may keep: each is a row of a full matrix."""
SOLIDS = frozenset({"CTETRA", "CHEXA", "CPENTA", "CPYRAM"})
_MASSES = frozenset({"CONM1", "CONM2", "CMASS1", "CMASS2", "CMASS3", "CMASS4"})


@dataclass(frozen=True, eq=False)
class Lump:
    """A CONM2: grid number, mass, position of its centre and inertia about that, (3, 3); in basic axes."""

    grid: int
    mass: float
    position: Array
    inertia: Array


@dataclass(frozen=True, eq=False)
class NastranMesh:
    """Grids and points of a deck.

    Attributes:
        ids: Numbers of the grids, rising, (n,).
        positions: In basic axes, in the deck's unit of length, (n, 3).
        axes: Axes of the grids' displacements as columns, in basic axes: u_basic = axes @ u, (n, 3, 3).
        points: Numbers of the scalar points, rising.
        retained: Degrees of freedom of ASET, BSET, CSET and QSET cards, in Nastran's order; empty if there are none.
        boundary: Those of an EXTRN card, in its order; empty if there is none.
        sets: Numbers of grids by the name of the set.
        dependent: Names of the cards that tie degrees of freedom together.
        omitted: Names of the cards that take some out.
        solid: Whether all elements are solids, of which grids have no stiffness in rotation.
        lumps: Concentrated masses.
        unplaced: Names of the cards with mass that is neither in elements nor in lumps.
        hubs: Numbers of the grids that rigid elements turn.
        parameters: PARAM cards that are numbers.
        source: The file's name, for messages.
    """

    ids: Integers
    positions: Array
    axes: Array
    points: tuple[int, ...]
    retained: tuple[Dof, ...]
    boundary: tuple[Dof, ...]
    sets: dict[str, tuple[int, ...]]
    dependent: tuple[str, ...]
    omitted: tuple[str, ...]
    solid: bool
    lumps: tuple[Lump, ...]
    unplaced: tuple[str, ...]
    hubs: frozenset[int]
    parameters: dict[str, float]
    source: str

    def every_dof(self) -> list[Dof]:
        """Nastran's g-set: six of every grid, one of every scalar point, by rising numbers."""
        dofs = [(int(k), c) for k in self.ids for c in range(1, 7)] + [(k, 0) for k in self.points]
        return sorted(dofs)


def nastran_mesh(bulk: Bulk, path: str, key: str) -> NastranMesh:
    """Everything but elements and matrices.

    Args:
        bulk: Cards.
        path: The file they come from.
        key: Key of `fe:` that names it, for messages.
    """
    grids = _Grids(bulk)
    ids = np.array(sorted(grids.cards), dtype=np.int64)
    if ids.size == 0:
        found = f"none in {name_of(path)}"
        refuse(key, "a deck or punch file of Nastran with GRID cards", found, "name the file with the grids: `mesh:`")
    points = {number for number, _ in _counted((card, dof) for card in bulk.of("SPOINT") for dof in _spoints(card))}
    retained = set(_counted((card, dof) for card in bulk.of(*SETS) for dof in _set_dofs(card, points)))
    return NastranMesh(
        ids,
        np.array([grids.position(int(k)) for k in ids]).reshape(-1, 3),
        np.array([grids.axes(int(k)) for k in ids]).reshape(-1, 3, 3),
        tuple(sorted(points)),
        tuple(sorted(retained)),
        tuple(_counted((card, dof) for card in bulk.of("EXTRN") for dof in _extrn(card, points))),
        _sets(bulk, retained, points),
        tuple(name for name in RIGID if bulk.of(name)),
        tuple(name for name in ("OMIT", "OMIT1", "SEQGP") if bulk.of(name)),
        bool(bulk.elements & SOLIDS) and bulk.elements <= SOLIDS | _MASSES,
        tuple(_lump(card, grids) for card in bulk.of("CONM2")),
        tuple(name for name in UNPLACED if bulk.of(name)),
        frozenset([card.integer(1) for card in bulk.of("RBE2")] + [card.integer(2) for card in bulk.of("RBE3")]),
        {name: value for name, text in bulk.parameters.items() if (value := real_number(text)) is not None},
        name_of(path),
    )


# --- coordinate systems -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _System:
    """A coordinate system: kind R, C or S, origin and axes (columns) in basic axes."""

    kind: str
    origin: Array
    axes: Array

    def basic(self, x: Array) -> Array:
        """Basic coordinates of a point given in this system; angles in degrees."""
        if self.kind == "R":
            local = x
        elif self.kind == "C":
            t = math.radians(x[1])
            local = np.array([x[0] * math.cos(t), x[0] * math.sin(t), x[2]])
        else:
            t, p = math.radians(x[1]), math.radians(x[2])
            local = x[0] * np.array([math.sin(t) * math.cos(p), math.sin(t) * math.sin(p), math.cos(t)])
        place: Array = self.origin + self.axes @ local
        return place

    def directions(self, position: Array) -> Array:
        """Axes at a point, as columns in basic axes: of cylinders and spheres they turn with the point."""
        if self.kind == "R":
            return self.axes
        x, y, z = (float(value) for value in self.axes.T @ (position - self.origin))
        # On the axis of the system Nastran takes the azimuth as zero.
        r = math.hypot(x, y)
        near = r <= 1e-12 * max(abs(z), float(np.abs(self.origin).max()), 1e-300)
        c, s = (1.0, 0.0) if near else (x / r, y / r)
        local = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        if self.kind == "S":
            rho = math.hypot(r, z)
            st, ct = (0.0, 1.0) if rho == 0.0 else (0.0 if near else r / rho, z / rho)
            local = np.array([[st * c, ct * c, -s], [st * s, ct * s, c], [ct, -st, 0.0]])
        turned: Array = self.axes @ local
        return turned


_BASIC = _System("R", np.zeros(3), np.eye(3))


class _Grids:
    """Grids and the systems they are given in, each worked out when first asked for."""

    def __init__(self, bulk: Bulk) -> None:
        self.cards: dict[int, Card] = {}
        for card in bulk.of("GRID"):
            # EXTSEOUT repeats boundary grids; the first counts.
            self.cards.setdefault(card.integer(0), card)
        defaults = bulk.of("GRDSET")
        self._cp = defaults[0].integer(1, 0) if defaults else 0
        self._cd = defaults[0].integer(5, 0) if defaults else 0
        self._system_cards = dict(self._numbered(bulk))
        self._systems: dict[int, _System | None] = {0: _BASIC}
        self._positions: dict[int, Array] = {}

    @staticmethod
    def _numbered(bulk: Bulk) -> Iterator[tuple[int, tuple[Card, int]]]:
        """Number of each system, its card and the card's field where it begins: CORD1x may hold two."""
        for card in bulk.of("CORD2R", "CORD2C", "CORD2S"):
            yield card.integer(0), (card, 0)
        for card in bulk.of("CORD1R", "CORD1C", "CORD1S"):
            for start in (0, 4):
                if card.text(start):
                    yield card.integer(start), (card, start)

    def position(self, number: int) -> Array:
        """Basic coordinates of a grid."""
        if number not in self._positions:
            card = self.cards[number]
            x = np.array([card.real(k, 0.0) for k in (2, 3, 4)])
            self._positions[number] = self._system(card.integer(1, self._cp), card).basic(x)
        return self._positions[number]

    def axes(self, number: int) -> Array:
        """Axes of a grid's displacements, as columns in basic axes."""
        card = self.cards[number]
        # -1 marks points of a fluid, which have a pressure only.
        return self.directions(max(card.integer(5, self._cd), 0), number, card)

    def directions(self, system: int, number: int, asking: Card) -> Array:
        """Axes of a system at a grid, as columns in basic axes."""
        return self._system(system, asking).directions(self.position(number))

    def _system(self, number: int, asking: Card) -> _System:
        if number not in self._systems:
            if number not in self._system_cards:
                asking.refuse("a coordinate system that the file defines", str(number))
            self._systems[number] = None
            card, start = self._system_cards[number]
            self._systems[number] = self._built(card, start)
        system = self._systems[number]
        if system is None:
            asking.refuse("a coordinate system that does not refer to itself", str(number))
        return system

    def _built(self, card: Card, start: int) -> _System:
        """Origin, a point on the z axis and one in the x-z plane, by coordinates or by grids."""
        if card.name.startswith("CORD2"):
            reference = self._system(card.integer(1, 0), card)
            a, b, c = (reference.basic(np.array([card.real(k + i, 0.0) for i in range(3)])) for k in (2, 5, 8))
        else:
            numbers = [card.integer(start + k) for k in (1, 2, 3)]
            missing = [number for number in numbers if number not in self.cards]
            if missing:
                card.refuse("grids that the file has", str(missing[0]))
            a, b, c = (self.position(number) for number in numbers)
        z, x = b - a, c - a
        y = np.cross(z, x)
        if np.linalg.norm(y) <= 1e-12 * np.linalg.norm(z) * np.linalg.norm(x):
            card.refuse("three points that are not on one line", "such points")
        z, y = z / np.linalg.norm(z), y / np.linalg.norm(y)
        return _System(card.name[-1], a, np.column_stack([np.cross(y, z), y, z]))


def _lump(card: Card, grids: _Grids) -> Lump:
    """Offset and inertia refer to the axes of system CID at the grid; with CID -1 the offset is a basic position."""
    grid, system = card.integer(1), card.integer(2, 0)
    if grid not in grids.cards:
        card.refuse("a grid that the file has", str(grid))
    place = grids.position(grid)
    x = np.array([card.real(k, 0.0) for k in (4, 5, 6)])
    axes = grids.directions(max(system, 0), grid, card)
    xx, xy, yy, xz, yz, zz = (card.real(k, 0.0) for k in range(8, 14))
    inertia = np.array([[xx, -xy, -xz], [-xy, yy, -yz], [-xz, -yz, zz]])
    position: Array = x if system == -1 else place + axes @ x
    return Lump(grid, card.real(3, 0.0), position, axes @ inertia @ axes.T)


# --- degrees of freedom and sets ----------------------------------------------------------------------------------


def _counted(dofs: Iterable[tuple[Card, Dof]]) -> Iterator[Dof]:
    """Degrees of freedom that are rows of a matrix, as far as there can be so many."""
    for count, (card, dof) in enumerate(dofs):
        if count == ROWS:
            found = f"more by {card.name} on line {card.line} of {name_of(card.file)}"
            refuse(card.key, f"at most {ROWS} degrees of freedom that a matrix keeps", found, "look for a wrong THRU")
        yield dof


def _spread(card: Card, number: int, components: str, points: Iterable[int]) -> list[Dof]:
    """All degrees of freedom that a number and a text such as 123456 mean."""
    if components.strip("0123456"):
        card.refuse("components such as 123456, or 0,", components)
    if number in points or components.strip("0") == "":
        return [(number, 0)]
    return [(number, int(c)) for c in components if c in "123456"]


def _spoints(card: Card) -> Iterator[Dof]:
    return ((number, 0) for number in expanded([text.upper() for text in card.fields], card.key))


def _set_dofs(card: Card, points: Iterable[int]) -> Iterator[Dof]:
    if card.name.endswith("1"):
        components = card.text(0)
        for number in expanded([text.upper() for text in card.fields[1:]], card.key):
            yield from _spread(card, number, components, points)
        return
    for k in range(0, len(card.fields), 2):
        if card.text(k):
            yield from _spread(card, card.integer(k), card.text(k + 1), points)


def _extrn(card: Card, points: Iterable[int]) -> Iterator[Dof]:
    k = 0
    while k < len(card.fields):
        if not card.text(k):
            k += 2
        elif card.text(k + 1) == "THRU":
            numbers = range(card.integer(k), card.integer(k + 2) + 1)
            for number in numbers:
                yield from _spread(card, number, card.text(k + 3), points)
            k += 4
        else:
            yield from _spread(card, card.integer(k), card.text(k + 1), points)
            k += 2


def _sets(bulk: Bulk, retained: Iterable[Dof], points: Iterable[int]) -> dict[str, tuple[int, ...]]:
    """Sets of grids: SET_n of case control, SET1_n, legs of RBE2_n and RBE3_n, ASET."""
    sets = {f"SET_{number}": tuple(members) for number, members in bulk.sets.items()}
    for card in bulk.of("SET1"):
        sets[f"SET1_{card.integer(0)}"] = tuple(expanded([text.upper() for text in card.fields[1:]], card.key))
    for card in bulk.of("RBE2"):
        # The last field may be a real: a coefficient of thermal expansion.
        legs = [text.upper() for text in card.fields[3:] if "." not in text]
        sets[f"RBE2_{card.integer(0)}"] = tuple(expanded(legs, card.key))
    for card in bulk.of("RBE3"):
        sets[f"RBE3_{card.integer(0)}"] = tuple(_averaged(card))
    boundary = tuple(dict.fromkeys(number for number, _ in retained if number not in set(points)))
    if boundary:
        sets["ASET"] = boundary
    return sets


def _averaged(card: Card) -> Iterator[int]:
    """Grids that an RBE3 averages: after each weight (a real) a component list, then grids, until UM or ALPHA."""
    expect_components = False
    words: list[str] = []
    for text in (field.upper() for field in card.fields[4:]):
        if text in ("UM", "ALPHA"):
            break
        if "." in text:
            expect_components = True
        elif text and expect_components:
            expect_components = False
        elif text:
            words.append(text)
    yield from expanded(words, card.key)
