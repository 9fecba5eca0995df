"""Modes in OP2 files of Nastran, as pyNastran reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.flex.fe.fe_model import Array, Integers
from bough.flex.fe.nastran.pyn import load, reading, silent_log
from bough.flex.fe.problem import name_of, refuse

_GRID = 1
"""Type of a grid in an OP2 table; others are scalar and fluid points."""


@dataclass(frozen=True, eq=False)
class Modes:
    """Modes of an OP2 file, in the file's units.

    Attributes:
        ids: Numbers of the grids, (n,).
        shapes: Translation, then rotation, in the displacement axes of each grid, (n, 6, nm).
        squares: Squared circular frequencies, (nm,).
        masses: Generalized masses, (nm,); nan where the file does not tell.
        weight: Mass of the model by Nastran's grid point weight generator; None where the file has no such table.
    """

    ids: Integers
    shapes: Array
    squares: Array
    masses: Array
    weight: float | None


def read_op2(path: str) -> Modes:
    """The modes of an OP2 file with one subcase of eigenvectors.

    Raises:
        ModelError: It is no OP2 file, it is cut off, or it holds no real modes, or those of several subcases.
    """
    expected = "an OP2 file of Nastran, whole, with eigenvectors"
    cure = "run SOL 103 with DISPLACEMENT(PLOT) = ALL and PARAM,POST,-1, and copy the file as binary"
    with reading(path, "file", expected, cure):
        op2 = load("pyNastran.op2.op2", "OP2", "file")(log=silent_log())
        op2.set_results(["eigenvectors", "eigenvalues"])
        op2.read_op2(path, build_dataframe=False)
        tables = list(op2.eigenvectors.values())
        masses = _generalized(op2)
        weights = [float(table.mass[0]) for table in op2.grid_point_weight.values()]
    if not tables:
        refuse("file", expected, f"no eigenvectors in {name_of(path)}", cure)
    if len(tables) > 1:
        found = f"{len(tables)} tables of eigenvectors in {name_of(path)}"
        refuse("file", "modes of one subcase and one superelement", found, "run the part on its own, with one subcase")
    table = tables[0]
    data, kinds = np.asarray(table.data), np.asarray(table.node_gridtype)
    if np.iscomplexobj(data) or not np.isfinite(data).all():
        refuse("file", "real modes", f"others in {name_of(path)}", "run SOL 103, real eigenvalues")
    grids = kinds[:, 1] == _GRID
    return Modes(
        kinds[grids, 0].astype(np.int64),
        data[:, grids].astype(np.float64).transpose(1, 2, 0),
        np.asarray(table.eigns, dtype=np.float64),
        np.array([masses.get(int(mode), np.nan) for mode in table.modes]),
        weights[0] if len(weights) == 1 else None,
    )


def _generalized(op2: Any) -> dict[int, float]:
    """Generalized mass of each mode."""
    return {
        int(mode): float(mass)
        for table in op2.eigenvalues.values()
        for mode, mass in zip(table.mode, table.generalized_mass, strict=True)
    }
