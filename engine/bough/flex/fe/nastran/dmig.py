"""DMIG cards of Nastran: matrices whose rows and columns are told by grid and component."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bough.files import open_file
from bough.flex.fe.fe_model import Sparse
from bough.flex.fe.nastran.bulk import Bulk, Card
from bough.flex.fe.nastran.grids import Dof
from bough.flex.fe.problem import name_of, refuse

_SQUARE, _SYMMETRIC = 1, 6
_CUT = "write the file again: it is cut short"


@dataclass(frozen=True, eq=False)
class Dmig:
    """Entries of one matrix, as the cards give them: one triangle, or all of a square one."""

    name: str
    symmetric: bool
    rows: list[Dof]
    columns: list[Dof]
    values: list[float]

    @property
    def dofs(self) -> set[Dof]:
        """All degrees of freedom that it names."""
        return {*self.rows, *self.columns}

    def matrix(self, index: dict[Dof, int]) -> Sparse:
        """The full matrix with rows in the order of the index."""
        i = np.array([index[dof] for dof in self.rows], dtype=np.int64)
        j = np.array([index[dof] for dof in self.columns], dtype=np.int64)
        values = np.array(self.values, dtype=np.float64)
        if self.symmetric:
            # One triangle, but cards may mix both: every entry stands for its mirror image too.
            off = i != j
            i, j = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
            values = np.concatenate([values, values[off]])
        return sparse.csc_array((values, (i, j)), shape=(len(index), len(index)))


def check_end(path: str, key: str) -> None:
    """Refuse a file that ends within a line: the number there may have lost digits, or its exponent."""
    with open_file(path) as stream:
        stream.seek(max(os.path.getsize(path) - 1, 0))
        if stream.read() not in (b"", b"\n", b"\r"):
            cure = "write the file again: it is cut short; if it is whole, end its last line"
            refuse(key, "a file that ends with a line", f"{name_of(path)}, which ends within one", cure)


def dmig_names(bulk: Bulk) -> list[str]:
    """Names of the matrices, in the order of the file."""
    return list(dict.fromkeys(card.text(0) for card in bulk.of("DMIG")))


def read_dmig(bulk: Bulk, name: str, path: str) -> Dmig:
    """The matrix of that name, which must be there."""
    cards = [card for card in bulk.of("DMIG") if card.text(0) == name]
    header = [card for card in cards if card.text(1) == "0"]
    if not header:
        refuse("file", f"a header card DMIG {name} 0 ...", f"none in {name_of(path)}", _CUT)
    form, kind = header[0].integer(2), header[0].integer(3)
    if form not in (_SQUARE, _SYMMETRIC) or kind not in (1, 2):
        found = f"form {form} and type {kind} in the header of {name} in {name_of(path)}"
        refuse("file", "a square or symmetric (1, 6) real (1, 2) matrix", found, "name another matrix: `matrices:`")
    dmig = Dmig(name, form == _SYMMETRIC, [], [], [])
    for card in cards:
        if card.text(1) != "0":
            _column(card, dmig)
    return dmig


def _column(card: Card, dmig: Dmig) -> None:
    """One card: number and component of a column, then number, component, real and imaginary part of each row."""
    column = (card.integer(1), card.integer(2, 0))
    if len(card.fields) < 7:
        card.refuse("an entry after the column", card.text(4))
    for k in range(4, len(card.fields), 4):
        dmig.rows.append((card.integer(k), card.integer(k + 1, 0)))
        dmig.columns.append(column)
        dmig.values.append(card.real(k + 2))
