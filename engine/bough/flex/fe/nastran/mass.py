"""Mass of a Nastran mesh at its grids, from element cards: what the modes of an OP2 file move.

An element's mass (pyNastran: density, section, non-structural mass) goes to its grids by its shape functions.
Lumped, as Nastran does without PARAM,COUPMASS: grid i gets int N_i; coupled: pairs get int N_i N_j. Both keep mass and
centre. Quadratic elements get the shares of the consistent matrix's diagonal (Hinton, Rock and Zienkiewicz): their
int N_i are negative at corners.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from scipy import sparse

from bough.flex.fe.fe_model import Array, Sparse
from bough.flex.fe.nastran.bulk import COORDINATES, bulk_lines
from bough.flex.fe.nastran.grids import SOLIDS, NastranMesh
from bough.flex.fe.nastran.pyn import load, reading, silent_log
from bough.flex.fe.problem import refuse

_ELEMENTS = (
    *("CROD", "CONROD", "CTUBE", "CBAR", "CBEAM", "CBEND", "CSHEAR"),
    *("CTRIA3", "CTRIA6", "CTRIAR", "CQUAD4", "CQUAD8", "CQUADR", "CTETRA", "CPENTA", "CHEXA", "CPYRAM"),
)
_PROPERTIES = (
    *("PROD", "PTUBE", "PBAR", "PBARL", "PBEAM", "PBEAML", "PBCOMP", "PBEND", "PSHEAR", "BAROR", "BEAMOR"),
    *("PSHELL", "PCOMP", "PCOMPG", "PSOLID", "PLSOLID", "PCOMPS"),
)
_MATERIALS = ("MAT1", "MAT2", "MAT3", "MAT8", "MAT9", "MAT10", "MAT11")

_QUADRATIC: dict[str, tuple[float, ...]] = {
    "CTRIA6": (1 / 19,) * 3 + (16 / 57,) * 3,
    "CQUAD8": (3 / 76,) * 4 + (16 / 76,) * 4,
    "CTETRA": (1 / 36,) * 4 + (4 / 27,) * 6,
    "CPENTA": (1 / 34,) * 6 + (4 / 51,) * 3 + (2 / 17,) * 3 + (4 / 51,) * 3,
    "CHEXA": (7 / 248,) * 8 + (2 / 31,) * 12,
}
"""Shares of the grids of quadratic elements, corners first."""
_CORNERS = {"CTRIA6": 3, "CQUAD8": 4, "CTETRA": 4, "CPENTA": 6, "CHEXA": 8, "CPYRAM": 5}
_AS_BRICK = {6: (0, 1, 2, 2, 3, 4, 5, 5), 5: (0, 1, 2, 3, 4, 4, 4, 4), 8: tuple(range(8))}
"""Wedges and pyramids are bricks with edges drawn together."""


def mesh_mass(path: str, mesh: NastranMesh, key: str) -> tuple[Sparse, set[int]]:
    """Scalar mass matrix of the elements, (n, n), in the deck's unit of mass, and the grids that only solids hold.

    Args:
        path: The deck.
        mesh: Its grids.
        key: Key of `fe:` that names it, for messages.
    """
    if mesh.unplaced:
        found = f"{', '.join(mesh.unplaced)} in {mesh.source}"
        cure = "use CONM2 instead, or import matrices (.op4, .pch), which hold every mass"
        refuse(key, "mass in elements and CONM2 cards", found, cure)
    coupled = mesh.parameters.get("COUPMASS", -1.0) > 0.0
    index = {int(number): k for k, number in enumerate(mesh.ids)}
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    solid: set[int] = set()
    other: set[int] = set(mesh.hubs)
    cure = "check the deck with Nastran; cards that no mass comes from may be taken out of it"
    with reading(path, key, "a deck that pyNastran reads", cure):
        for element in _deck(path, mesh, key).elements.values():
            nodes = [number for number in element.node_ids if number]
            (solid if element.type in SOLIDS else other).update(nodes)
            mass = float(element.Mass())
            if mass == 0.0:
                continue
            at = [index[number] for number in nodes]
            shares = mass * element_shares(element.type, mesh.positions[at], coupled)
            for a, i in enumerate(at):
                for b, j in enumerate(at):
                    if shares[a, b]:
                        rows.append(i)
                        columns.append(j)
                        values.append(float(shares[a, b]))
    n = mesh.ids.size
    return sparse.csr_array((values, (rows, columns)), shape=(n, n), dtype=np.float64), solid - other


def _deck(path: str, mesh: NastranMesh, key: str) -> Any:
    """The model that pyNastran makes of the deck: nothing but elements and what their mass needs."""
    deck = load("pyNastran.bdf.bdf", "BDF", key)(log=silent_log())
    deck.enable_cards([*_ELEMENTS, *_PROPERTIES, *_MATERIALS, *COORDINATES, "GRID", "GRDSET"])
    text = "".join(f"{line}\n" for _, _, line in bulk_lines(path, key, []))
    deck.read_bdf(io.StringIO(text), validate=False, xref=False, punch=True)
    # Positions that are ours already: pyNastran leaves out GRDSET.
    for number, position in zip(mesh.ids.tolist(), mesh.positions, strict=True):
        deck.nodes[number].xyz = position.copy()
        deck.nodes[number].cp = 0
    deck.cross_reference(xref_loads=False, xref_constraints=False, xref_aero=False, xref_sets=False)
    return deck


def element_shares(kind: str, x: Array, coupled: bool) -> Array:
    """Shares of the grids in an element's mass, (n, n), of sum 1; diagonal unless coupled.

    Args:
        kind: Name of the card.
        x: Positions of the grids that it has, (n, 3).
        coupled: Whether pairs of grids share mass.
    """
    n = len(x)
    quadratic = _QUADRATIC.get(kind)
    if quadratic is not None and n == len(quadratic):
        return np.diag(quadratic)
    corners = min(_CORNERS.get(kind, n), n)
    # The consistent matrix of simplices is (1 + delta_ij), scaled; bricks and quadrilaterals are summed.
    share = np.ones((corners, corners)) + np.eye(corners)
    if kind in ("CHEXA", "CPENTA", "CPYRAM"):
        share = _gauss(x[:corners], _AS_BRICK[corners], 3)
    elif corners == 4 and kind != "CTETRA":
        share = _gauss(x[:corners], (0, 1, 2, 3), 2)
    if not coupled:
        share = np.diag(share.sum(axis=1))
    out = np.zeros((n, n))
    out[:corners, :corners] = share / share.sum()
    return out


def _gauss(x: Array, brick: tuple[int, ...], dimension: int) -> Array:
    """Sums int N_i N_j over a brick or quadrilateral of which some corners may coincide, (n, n)."""
    signs = np.array([(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1)] * 2, dtype=np.float64)
    signs[4:, 2] = 1.0
    signs = signs[: 2**dimension, :dimension]
    place = np.zeros((len(brick), len(x)))
    place[np.arange(len(brick)), brick] = 1.0
    corners = place @ x
    share = np.zeros((len(brick), len(brick)))
    # Three points each way: exact for products of two shape functions of a parallelepiped, and near it elsewhere.
    points, weights = np.polynomial.legendre.leggauss(3)
    for at in np.ndindex(*(3,) * dimension):
        xi = points[list(at)]
        factors = 0.5 * (1.0 + signs * xi)
        N = factors.prod(axis=1)
        slope = np.column_stack(
            [0.5 * signs[:, d] * np.delete(factors, d, axis=1).prod(axis=1) for d in range(dimension)]
        )
        jacobian = slope.T @ corners
        size = abs(np.linalg.det(jacobian)) if dimension == 3 else np.linalg.norm(np.cross(*jacobian))
        share += weights[list(at)].prod() * size * np.outer(N, N)
    shared: Array = place.T @ share @ place
    return shared
