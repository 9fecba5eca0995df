"""FE models from Nastran: matrices in OUTPUT4 or DMIG form, grids from the deck or the punch file.

Matrices refer to the displacement axes of each grid (field CD); here they are turned into basic axes. Scalar points,
which carry the modal coordinates of Craig-Bampton superelements, become generalized degrees of freedom. The order of
the rows of OUTPUT4 matrices is not in that file. It follows from the deck, in this order of preference:

    EXTRN               the boundary of an external superelement, as EXTSEOUT punches it
    ASET, BSET, CSET, QSET   sorted by number and component: KAA, KXX
    all grids           six per grid, one per scalar point, sorted by number: KGG
    all grids of a solid mesh   three per grid: KGG without the rotations
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse

from bough.flex.fe.fe_model import Array, FeModel, Integers, Sparse
from bough.flex.fe.nastran.bulk import Bulk, read_bulk
from bough.flex.fe.nastran.dmig import check_end, dmig_names, read_dmig
from bough.flex.fe.nastran.grids import Dof, NastranMesh, nastran_mesh
from bough.flex.fe.nastran.op4 import read_op4
from bough.flex.fe.problem import name_of, refuse, some
from bough.model import Fe

SUFFIXES = ("AAX", "AA", "XX", "GG", "NN", "FF", "LL")
"""What follows K, M and B in the names of matrices, in order of preference."""
MESHES = (".bdf", ".dat", ".nas", ".pch", ".asm")
IDLE = 1e-12
"""Stiffness of a rotation, of the largest one, under which it counts as none: that of a plate about its normal."""


def read_nastran(fe: Fe) -> FeModel:
    """The FE model in OUTPUT4 or DMIG matrices, in the files' own units.

    Raises:
        ModelError: A file is not of Nastran or cut off, a matrix is missing, or matrices and grids do not fit.
    """
    if fe.file.lower().endswith(".op2"):
        cure = "write `modes: {boundary: file}` to use the modes, or export matrices (.op4, .pch)"
        refuse("modes.boundary", "file: an OP2 file holds modes, not matrices", fe.modes.boundary, cure)
    if fe.file.lower().endswith(".op4"):
        mesh = read_nastran_mesh(fe)
        dofs, matrices = _from_op4(fe, mesh)
    else:
        bulk = read_bulk(fe.file, "file")
        dofs, matrices = _from_dmig(fe, bulk)
        mesh = nastran_mesh(bulk, fe.file, "file") if fe.mesh is None else read_nastran_mesh(fe)
    return _model(fe, mesh, dofs, matrices)


def read_nastran_mesh(fe: Fe) -> NastranMesh:
    """The mesh that the key names, or the deck beside the file with the same stem."""
    path = mesh_path(fe)
    return nastran_mesh(read_bulk(path, "mesh"), path, "mesh")


def mesh_path(fe: Fe) -> str:
    """The file with the grids."""
    if fe.mesh is not None:
        return fe.mesh
    stem = os.path.splitext(fe.file)[0]
    for ending in MESHES:
        if os.path.isfile(stem + ending):
            return stem + ending
    found = f"no {name_of(stem)} with one of the endings {' '.join(MESHES)}"
    refuse("mesh", "the path of the deck with the GRID cards", found, "add `mesh: FILE.bdf`")


# --- matrices -----------------------------------------------------------------------------------------------------


def _chosen(fe: Fe, there: Sequence[str], masses: Sequence[str]) -> dict[str, str]:
    """Names of the stiffness, mass and, if there is one, damping matrix.

    Args:
        fe: Its key `matrices` comes first.
        there: Names in the file.
        masses: Names in the file with the mass matrix: the same, but for `mass_file`.
    """
    names = {key: value.upper() for key, value in fe.matrices.items()}
    usual = {"K" + end: "M" + end for end in SUFFIXES if _has(names, "stiffness", "K" + end, there)}
    if "stiffness" not in names:
        pairs = {k: m for k, m in usual.items() if names.get("mass", m) in masses}
        names["stiffness"] = next(iter(pairs or usual), "")
    if "mass" not in names:
        names["mass"] = "M" + names["stiffness"][1:] if names["stiffness"] else "MAAX"
    damping = "B" + names["stiffness"][1:]
    if "damping" not in names and damping in there:
        names["damping"] = damping
    for key, known in (("stiffness", there), ("mass", masses), ("damping", there)):
        if key in names and names[key] not in known:
            wanted = f"matrix {names[key]!r}" if names[key] else f"stiffness matrix K{', K'.join(SUFFIXES)}"
            file = fe.mass_file if key == "mass" and fe.mass_file is not None else fe.file
            found = f"{name_of(file)} with {some(known, 12) or 'no matrix'}"
            refuse(f"matrices.{key}", f"the {wanted}", found, f"name it: `matrices: {{{key}: NAME}}`")
    return names


def _has(names: Mapping[str, str], key: str, name: str, there: Sequence[str]) -> bool:
    return key not in names and name in there


def _from_op4(fe: Fe, mesh: NastranMesh) -> tuple[list[Dof], dict[str, Sparse]]:
    content = read_op4(fe.file, "file")
    masses = content if fe.mass_file is None else read_op4(fe.mass_file, "mass_file")
    names = _chosen(fe, list(content), list(masses))
    matrices = {key: _symmetric((masses if key == "mass" else content)[name]) for key, name in names.items()}
    ndof = int(matrices["stiffness"].shape[0])
    for key, matrix in list(matrices.items()):
        if matrix.shape == (ndof, ndof):
            continue
        # EXTSEOUT writes 1 x 1 stand-ins for what a model does not have.
        if key == "damping" and "damping" not in fe.matrices and matrix.nnz == 0:
            del matrices[key]
            continue
        found = f"{names[key]} with {matrix.shape[0]} x {matrix.shape[1]}, {names['stiffness']} with {ndof} rows"
        refuse(f"matrices.{key}", "square matrices of one size", found, "name matrices of the same set")
    return _order(mesh, ndof, names["stiffness"]), matrices


def _symmetric(matrix: Sparse) -> Sparse:
    """All of a matrix of which one triangle may be given."""
    if matrix.shape[0] != matrix.shape[1]:
        return matrix
    upper, lower = sparse.triu(matrix, 1), sparse.tril(matrix, -1)
    if (upper.nnz == 0) != (lower.nnz == 0):
        full: Sparse = sparse.csc_array(matrix + upper.T + lower.T)
        return full
    return matrix


def _order(mesh: NastranMesh, ndof: int, name: str) -> list[Dof]:
    """Which degree of freedom each row of an OUTPUT4 matrix is."""
    every = mesh.every_dof()
    solid = [(int(k), c) for k in mesh.ids for c in (1, 2, 3)] if mesh.solid and not mesh.points else []
    for told in (mesh.boundary, mesh.retained):
        if len(told) == ndof:
            return list(told)
    for dofs in (every, solid):
        if len(dofs) == ndof:
            _check_whole(mesh, name)
            return dofs
    counts = [f"{len(every)} of all grids and scalar points of {mesh.source}"]
    counts += [f"{len(mesh.retained)} of ASET, BSET, CSET and QSET"] if mesh.retained else []
    counts += [f"{len(mesh.boundary)} of EXTRN"] if mesh.boundary else []
    refuse(
        "mesh",
        f"as many degrees of freedom as {name} has rows: {ndof}",
        ", ".join(counts),
        "give the deck that belongs to the matrices; where Nastran removed some (AUTOSPC, SPC, MPC), write the "
        "matrices with EXTSEOUT, or list their degrees of freedom on an EXTRN card in the mesh",
    )


def _check_whole(mesh: NastranMesh, name: str) -> None:
    """Matrices of all grids know nothing of rigid elements, nor of another numbering."""
    if mesh.dependent:
        refuse(
            "file",
            f"a mesh without rigid elements and constraints, which {name} of all grids does not hold",
            f"{', '.join(mesh.dependent)} in {mesh.source}",
            "export with EXTSEOUT, where Nastran has worked them in; or take them out of the deck and let "
            "`interfaces` couple the grids (coupling: rigid is RBE2, average is RBE3)",
        )
    if "SEQGP" in mesh.omitted:
        refuse("mesh", "grids in the order of their numbers", f"SEQGP in {mesh.source}", "renumber the grids instead")


def _from_dmig(fe: Fe, bulk: Bulk) -> tuple[list[Dof], dict[str, Sparse]]:
    there = dmig_names(bulk)
    other = bulk if fe.mass_file is None else read_bulk(fe.mass_file, "mass_file")
    if not there:
        refuse(
            "file",
            "matrices: DMIG cards in a punch file, or an OUTPUT4 file (.op4)",
            f"no DMIG card in {name_of(fe.file)}",
            "name the file with the matrices in `file` and the deck in `mesh`; EXTSEOUT(DMIGPCH) writes such a file",
        )
    names = _chosen(fe, there, dmig_names(other))
    for key, path in (("file", fe.file), ("mass_file", fe.mass_file)):
        if path is not None:
            check_end(path, key)
    read = {
        key: read_dmig(other, name, fe.mass_file or fe.file) if key == "mass" else read_dmig(bulk, name, fe.file)
        for key, name in names.items()
    }
    dofs = sorted(set().union(*(dmig.dofs for dmig in read.values())))
    light = sorted(dof for dof in read["stiffness"].dofs - read["mass"].dofs if dof[1] == 0)
    if light:
        found = f"none for scalar point {light[0][0]} in {name_of(fe.file)}"
        cure = "write the file again: it is cut short, or holds the mass of another model"
        refuse("file", f"an entry of {names['mass']} for every modal coordinate of {names['stiffness']}", found, cure)
    index = {dof: k for k, dof in enumerate(dofs)}
    return dofs, {key: dmig.matrix(index) for key, dmig in read.items()}


# --- model --------------------------------------------------------------------------------------------------------


def _model(fe: Fe, mesh: NastranMesh, dofs: Sequence[Dof], matrices: Mapping[str, Sparse]) -> FeModel:
    """Grids that have degrees of freedom in the matrices, in basic axes."""
    grids = {int(number): k for k, number in enumerate(mesh.ids)}
    unknown = [number for number, c in dofs if number not in grids and (c != 0 or number in grids)]
    if unknown:
        found = f"grid {unknown[0]} in the matrices, not in {mesh.source}"
        refuse("mesh", "every grid of the matrices", found, "name the deck that belongs to the matrices: `mesh:`")
    used = np.array(sorted({grids[number] for number, c in dofs if c != 0}), dtype=np.int64)
    renumbered = {int(k): i for i, k in enumerate(used)}
    node = np.array([renumbered[grids[number]] if c else -1 for number, c in dofs], dtype=np.int64)
    component = np.array([c - 1 for _, c in dofs], dtype=np.int64)
    turn = _turn(mesh.axes[used], node, component, mesh.ids[used])
    turned = {key: turn.T @ matrix @ turn for key, matrix in matrices.items()}
    keep = _resisting(turned["stiffness"], turned["mass"], component)
    turned = {key: sparse.csc_array(matrix)[keep][:, keep] for key, matrix in turned.items()}
    known = {int(number) for number in mesh.ids[used]}
    return FeModel(
        mesh.ids[used],
        mesh.positions[used],
        node[keep],
        component[keep],
        turned["stiffness"],
        turned["mass"],
        turned.get("damping"),
        {name: members for name, members in mesh.sets.items() if known & set(members)},
        source=name_of(fe.file),
    )


def _turn(axes: Array, node: Integers, component: Integers, ids: Integers) -> Sparse:
    """T with u = T u_basic: the displacement axes of every grid, for translations and rotations alike."""
    at = {(int(i), int(c)): k for k, (i, c) in enumerate(zip(node, component, strict=True)) if i >= 0}
    T = sparse.lil_array(sparse.eye_array(component.size))
    for i in (int(k) for k in np.flatnonzero(np.abs(axes - np.eye(3)).max(axis=(1, 2)) > 1e-14)):
        for first in (0, 3):
            rows = [at[i, first + c] for c in range(3) if (i, first + c) in at]
            if len(rows) in (1, 2):
                found = f"some directions only of grid {ids[i]}, which has displacement axes of its own (CD)"
                cure = "retain all three translations (123) or rotations (456) of it, or leave its field CD blank"
                refuse("mesh", "grids in basic axes, or with all their directions in the matrices", found, cure)
            for a, row in enumerate(rows):
                for b, column in enumerate(rows):
                    # u = axes' u_basic
                    T[row, column] = axes[i, b, a]
    return sparse.csc_array(T)


def _resisting(K: Sparse, M: Sparse, component: Integers) -> Integers:
    """Rows to keep: all but rotations without stiffness and inertia, which Nastran's AUTOSPC removes as well."""
    turns = component > 2
    idle = turns.copy()
    for matrix in (K, M):
        diagonal = np.abs(matrix.diagonal())
        idle &= diagonal <= IDLE * diagonal[turns].max(initial=0.0)
    return np.flatnonzero(~idle)
