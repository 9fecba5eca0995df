"""Matrices that Abaqus writes for `*MATRIX GENERATE`: `.mtx` text in two formats.

`FORMAT=MATRIX INPUT` (and `LABELS`): row node, direction, column node, direction, value. `FORMAT=COORDINATE`: row,
column, value, where the rows are taken to be the nodes of the mesh in rising order with the same 3 or 6 directions
each. Nodes and sets come from the `.inp` file of the job.
"""

from __future__ import annotations

import os
import re

import numpy as np

from bough.flex.fe.fe_model import Array, FeModel, Integers
from bough.flex.fe.matrix_text import read_table, symmetric, whole
from bough.flex.fe.mesh import Mesh, beside, lines_of, read_mesh
from bough.flex.fe.problem import name_of, refuse, some
from bough.model import Fe

HELD = 1e30
"""Abaqus puts 1e36 on the diagonal of a degree of freedom that the step holds."""
_STIFFNESS = re.compile(r"STIF(\d*)$", re.IGNORECASE)


def read_abaqus(fe: Fe) -> FeModel:
    """The FE model of an Abaqus job, in its own units."""
    mesh = read_mesh(mesh_file(fe))
    mass_file = fe.mass_file or _mass_beside(fe.file)
    tables = {"file": _entries(fe.file, "file"), "mass_file": _entries(mass_file, "mass_file")}
    if len({table.shape[1] for table in tables.values()}) != 1:
        found = f"different ones in {name_of(fe.file)} and {name_of(mass_file)}"
        refuse("mass_file", "stiffness and mass in one format", found, "write both in one step")
    dofs = _coordinate_dofs(tables["file"], mesh, fe) if tables["file"].shape[1] == 3 else _labels(tables, fe)
    ids, positions = mesh.arrays()
    missing = np.setdiff1d(dofs[:, 0], ids)
    if missing.size:
        found = f"node {some(missing)} in {name_of(fe.file)} only"
        refuse("mesh", "all nodes of the matrices", found, "name the .inp file of the same job")
    used = np.isin(ids, dofs[:, 0])
    matrices = {}
    for key, path in (("file", fe.file), ("mass_file", mass_file)):
        rows, columns = _rows(tables[key], dofs, key, path)
        matrices[key] = symmetric(rows, columns, tables[key][:, -1], len(dofs), key, path)
    return FeModel(
        ids[used],
        positions[used],
        np.searchsorted(ids[used], dofs[:, 0]),
        dofs[:, 1] - 1,
        matrices["file"],
        matrices["mass_file"],
        sets=mesh.node_sets(),
        source=name_of(fe.file),
    )


def mesh_file(fe: Fe) -> str:
    """The .inp file that is given, or the job's: `job_STIF2.mtx` belongs to `job.inp`."""
    stem, ending = os.path.splitext(fe.file)
    return beside(_STIFFNESS.sub("", stem).rstrip("_") + ending, fe.mesh)


def _mass_beside(path: str) -> str:
    stem, ending = os.path.splitext(path)
    mass = _STIFFNESS.sub(r"MASS\1", stem) + ending
    if mass == path or not os.path.isfile(mass):
        found = f"no file {name_of(mass)} beside {name_of(path)}" if mass != path else "no such key"
        refuse("mass_file", "the path of the mass matrix", found, "add `mass_file: JOB_MASS1.mtx`")
    return mass


def _entries(path: str, key: str) -> Array:
    """Lines of 5 or 3 numbers."""
    columns = 5
    for _, line in lines_of(path, key):
        words = line.partition("*")[0].replace(",", " ").split()
        if words:
            columns = 3 if len(words) == 3 else 5
            break
    what = "row, column, value" if columns == 3 else "node, direction, node, direction, value"
    table = read_table(path, columns, key, what)
    if np.abs(table[:, -1]).max() > HELD:
        found = f"an entry of {table[:, -1].max():.3g} in {name_of(path)}, which Abaqus writes where a node is held"
        refuse(key, "matrices of the free body", found, "remove *BOUNDARY from the step that generates the matrices")
    return table


def _labels(tables: dict[str, Array], fe: Fe) -> Integers:
    """Node and direction of every row, in order."""
    labels = [whole(table[:, :4], key, fe.file).reshape(-1, 2) for key, table in tables.items()]
    dofs = np.unique(np.vstack(labels), axis=0)
    if dofs[:, 0].min() < 1:
        found = f"a node numbered {dofs[:, 0].min()} in {name_of(fe.file)}, an internal one of Abaqus"
        refuse("file", "nodes of the mesh only", found, "avoid connectors, hybrid elements and Lagrange multipliers")
    if dofs[:, 1].min() < 1 or dofs[:, 1].max() > 6:
        refuse("file", "directions from 1 to 6", f"others in {name_of(fe.file)}", "export a structural model")
    return dofs


def _coordinate_dofs(table: Array, mesh: Mesh, fe: Fe) -> Integers:
    size = int(whole(table[:, :2], "file", fe.file).max())
    ids, _ = mesh.arrays()
    per_node = size // max(ids.size, 1)
    if per_node not in (3, 6) or per_node * ids.size != size:
        found = f"{size} rows for {ids.size} nodes"
        cure = "write the matrices with FORMAT=MATRIX INPUT, which names nodes and directions"
        refuse("file", "3 or 6 rows per node of the mesh", found, cure)
    return np.column_stack([np.repeat(ids, per_node), np.tile(np.arange(1, per_node + 1), ids.size)])


def _rows(table: Array, dofs: Integers, key: str, path: str) -> tuple[Integers, Integers]:
    """Row and column of every entry."""
    if table.shape[1] == 3:
        rows, columns = whole(table[:, :2], key, path).T - 1
        if max(rows.max(), columns.max()) >= len(dofs) or min(rows.min(), columns.min()) < 0:
            refuse(key, f"{len(dofs)} rows", f"others in {name_of(path)}", "write both matrices in one step")
        return rows, columns
    labels = whole(table[:, :4], key, path)
    codes = dofs @ np.array([8, 1])
    return np.searchsorted(codes, labels[:, :2] @ [8, 1]), np.searchsorted(codes, labels[:, 2:] @ [8, 1])
