"""Matrices that CalculiX writes for `*FREQUENCY, SOLVER=MATRIXSTORAGE`: `.sti`, `.mas` and `.dof`.

`.dof` has a line `node.direction` per row of the matrices; `.sti` and `.mas` have lines `row column value` of one
triangle. Degrees of freedom that the step holds or ties are in none of them. Nodes and sets come from the `.inp` file
of the job, or from an `.frd` file, whose positions have six digits only.
"""

from __future__ import annotations

import os

import numpy as np

from bough.flex.fe.fe_model import FeModel, Integers, Sparse
from bough.flex.fe.matrix_text import read_table, symmetric, whole
from bough.flex.fe.mesh import beside, lines_of, read_mesh
from bough.flex.fe.problem import name_of, refuse, some
from bough.flex.numbers import whole_number
from bough.model import Fe


def read_calculix(fe: Fe) -> FeModel:
    """The FE model of a CalculiX job, in its own units."""
    stem = os.path.splitext(fe.file)[0]
    mass_file = fe.mass_file or _companion(stem + ".mas", "mass_file", "mass matrix")
    numbers, directions = _dofs(_companion(stem + ".dof", "file", "list of degrees of freedom"))
    mesh = read_mesh(beside(fe.file, fe.mesh))
    ids, positions = mesh.arrays()
    missing = np.setdiff1d(numbers, ids)
    if missing.size:
        found = f"node {some(missing)} in {name_of(stem + '.dof')} only"
        cure = (
            "name the mesh of the same job; shells and beams are expanded to solids, whose nodes only an .frd file has"
        )
        refuse("mesh", "all nodes of the matrices", found, cure)
    used = np.isin(ids, numbers)
    return FeModel(
        ids[used],
        positions[used],
        np.searchsorted(ids[used], numbers),
        directions - 1,
        _matrix(fe.file, numbers.size, "file"),
        _matrix(mass_file, numbers.size, "mass_file"),
        sets=mesh.node_sets(),
        source=name_of(fe.file),
    )


def _companion(path: str, key: str, what: str) -> str:
    if not os.path.isfile(path):
        cure = "keep the .sti, .mas and .dof files of the job together"
        refuse(key, f"the {what} beside the stiffness", f"no file {name_of(path)}", cure)
    return path


def _dofs(path: str) -> tuple[Integers, Integers]:
    """Node number and direction, 1 to 3, of every row."""
    numbers, directions = [], []
    for line, text in lines_of(path, "file"):
        node, _, direction = text.strip().partition(".")
        if not node and not direction:
            continue
        number = whole_number(node)
        if number is None or number < 1 or direction not in ("1", "2", "3"):
            found = f"line {line} of {name_of(path)}: {text[:40]!r}"
            expected = "node.direction, a node number from 1 on and a direction from 1 to 3"
            refuse("file", expected, found, "write the file again: a structural job")
        numbers.append(number)
        directions.append(int(direction))
    if not numbers:
        refuse("file", "lines node.direction", f"none in {name_of(path)}", "run the job again")
    return np.array(numbers, dtype=np.int64), np.array(directions, dtype=np.int64)


def _matrix(path: str, ndof: int, key: str) -> Sparse:
    table = read_table(path, 3, key, "row, column, value")
    rows, columns = whole(table[:, :2], key, path).T
    last = int(max(rows.max(), columns.max()))
    if last != ndof or min(rows.min(), columns.min()) < 1:
        found = f"rows up to {last} in {name_of(path)}"
        cure = "write both again in one job: one is cut short, or they are of different jobs"
        refuse(key, f"{ndof} rows, as many as the .dof file has", found, cure)
    bare = np.setdiff1d(np.arange(1, ndof + 1), rows[rows == columns])
    if bare.size:
        found = f"none in row {some(bare)} of {name_of(path)}"
        refuse(key, "an entry on the diagonal of every row", found, "write the file again: it is cut short")
    return symmetric(rows - 1, columns - 1, table[:, 2], ndof, key, path)
