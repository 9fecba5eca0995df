"""Matrices and nodes in a NumPy `.npz` archive: the format for matrices that come from a program of one's own.

Keys of the archive; n nodes, ndof degrees of freedom:

    nodes             (n, 3)         positions
    node_ids          (n,)           numbers of the nodes; 1 to n without it
    dofs              (ndof, 2)      node number and direction 1 to 6 (x y z, rotation x y z) of every row of the
                                     matrices; (0, 0) for a generalized one; without it, 3 or 6 per node in order
    K, M, D           matrices       stiffness, mass, damping (D may be absent), each symmetric
    set_<NAME>        (k,)           node numbers of the set NAME
    Kg_acceleration   3 matrices     geometric stiffness of unit accelerations, see `bough.flex.fe.fe_model.Geometric`
    Kg_angular        3 matrices
    Kg_spin           6 matrices
    Kg_force_<NAME>   3 matrices     of unit forces on the interface NAME

A matrix X is dense, `X` (ndof, ndof), or compressed sparse rows, `X_data`, `X_indices`, `X_indptr`, or triplets,
`X_row`, `X_col`, `X_data`. Several matrices are stacked: dense (3, ndof, ndof), or sparse with 3 ndof rows.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from scipy import sparse

from bough.errors import ModelError
from bough.files import binary_file, check_archive, open_file
from bough.flex.fe.fe_model import Array, FeModel, Geometric, Integers, Sparse
from bough.flex.fe.problem import name_of, refuse
from bough.model import Fe

_PARTS = ("", "_data")
_LOADS = {"Kg_acceleration": 3, "Kg_angular": 3, "Kg_spin": 6}
_FORCE = "Kg_force_"


def read_npz(fe: Fe) -> FeModel:
    """The FE model in an archive, in the archive's own units."""
    content = _arrays(fe.file)
    file = name_of(fe.file)
    for key, value in content.items():
        if not isinstance(value, np.ndarray):  # NumPy gives back the bytes of a member without its header
            found = f"something else in {file}"
            refuse("file", f"an array in `{key}`", found, "write it again with numpy.savez: it is damaged")
    for key in ("nodes", "K", "M"):
        if not any(key + part in content for part in _PARTS):
            found = f"{file} with the keys {', '.join(sorted(content)[:20]) or 'none'}"
            refuse("file", f"an archive with the key `{key}`", found, f"write `{key}` into the archive")
    nodes = _numbers(content, "nodes", file)
    if nodes.ndim != 2 or nodes.shape[1] != 3:
        refuse("file", "`nodes` of shape (n, 3)", f"shape {nodes.shape} in {file}", "give x, y, z of every node")
    ids = _integers(content, "node_ids", file) if "node_ids" in content else np.arange(1, len(nodes) + 1)
    if ids.shape != (len(nodes),) or np.unique(ids).size != ids.size:
        found = f"shape {ids.shape} for {len(nodes)} nodes, or a number twice, in {file}"
        refuse("file", "`node_ids` with one number per node, each once", found, "number every node once")
    ndof = _size(content, file)
    dof_node, dof_component = _dofs(content, ids, ndof, file)
    return FeModel(
        ids,
        nodes,
        dof_node,
        dof_component,
        _matrices(content, "K", ndof, 1, file)[0],
        _matrices(content, "M", ndof, 1, file)[0],
        _matrices(content, "D", ndof, 1, file)[0] if any("D" + part in content for part in _PARTS) else None,
        {key[4:]: tuple(_integers(content, key, file).ravel().tolist()) for key in content if key.startswith("set_")},
        _geometric(content, ndof, file),
        file,
    )


def _arrays(path: str) -> dict[str, Any]:
    expected = "a NumPy archive, as numpy.savez writes it"
    try:
        with open_file(path) as stream:
            archive = np.load(stream, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                refuse("file", expected, f"a single array in {name_of(path)}", "save with numpy.savez")
            check_archive(archive.zip)
            return {key: archive[key] for key in archive.files}
    except ModelError:
        raise
    # Unpacking meets whatever the file has: errors of zip, of compression, of headers; all are the file's.
    except Exception as error:
        found = f"{name_of(path)}, which cannot be read ({' '.join(str(error).split())[:120]})"
        refuse(
            "file", expected, found, "write it again with numpy.savez: it is cut short, or no archive, or has objects"
        )


def _numbers(content: Mapping[str, Any], key: str, file: str) -> Array:
    value = content[key]
    if value.dtype.kind not in "fiu":
        refuse("file", f"numbers in `{key}`", f"{value.dtype} in {file}", "save real numbers")
    return np.asarray(value, dtype=np.float64)


def _integers(content: Mapping[str, Any], key: str, file: str) -> Integers:
    value = _numbers(content, key, file)
    whole = np.isfinite(value) & (value == np.round(value)) & (np.abs(value) < 2**53)
    if not whole.all():
        refuse("file", f"whole numbers in `{key}`", f"others in {file}", "save integers")
    return value.astype(np.int64)


def _size(content: Mapping[str, Any], file: str) -> int:
    """Number of degrees of freedom, from the first thing that tells."""
    if "dofs" in content:
        return len(content["dofs"])
    if "K" in content:
        return len(content["K"]) if content["K"].ndim else 0
    if "K_indptr" in content:
        return int(content["K_indptr"].size) - 1
    if "K_row" in content and content["K_row"].size:
        return int(max(content["K_row"].max(), content.get("K_col", content["K_row"]).max())) + 1
    refuse("file", "`K`, or `K_data` with `K_indices` and `K_indptr`, or with `K_row` and `K_col`", file, "add them")


def _dofs(content: Mapping[str, Any], ids: Integers, ndof: int, file: str) -> tuple[Integers, Integers]:
    if "dofs" not in content:
        per_node = ndof // max(len(ids), 1)
        if per_node not in (3, 6) or per_node * len(ids) != ndof:
            found = f"{ndof} degrees of freedom of {len(ids)} nodes in {file}"
            refuse("file", "`dofs`, or 3 or 6 degrees of freedom per node", found, "add `dofs` (ndof, 2)")
        return np.repeat(np.arange(len(ids)), per_node), np.tile(np.arange(per_node), len(ids))
    dofs = _integers(content, "dofs", file)
    if dofs.shape != (ndof, 2):
        found = f"shape {dofs.shape} for {ndof} degrees of freedom in {file}"
        refuse("file", "`dofs` of shape (ndof, 2)", found, "give node and direction of every row of K")
    node, direction = dofs.T
    generalized = (node == 0) & (direction == 0)
    index = {int(number): k for k, number in enumerate(ids)}
    where = np.array(
        [-1 if g else index.get(int(k), -2) for k, g in zip(node, generalized, strict=True)], dtype=np.int64
    )
    if (where == -2).any():
        found = f"node {node[where == -2][0]} in `dofs` of {file}"
        refuse("file", "nodes in `dofs` that are in `node_ids`", found, "make both lists fit")
    if ((direction < 1) | (direction > 6))[~generalized].any():
        refuse(
            "file", "directions from 1 to 6 in `dofs`", f"others in {file}", "1 2 3 move along, 4 5 6 turn about x y z"
        )
    return where, np.where(generalized, -1, direction - 1)


def _matrices(content: Mapping[str, Any], key: str, ndof: int, count: int, file: str) -> tuple[Sparse, ...]:
    """`count` matrices of one key, dense or sparse."""
    stacked = (count * ndof, ndof)
    try:
        if key in content:
            dense = _numbers(content, key, file)
            if dense.shape not in ((count, ndof, ndof), stacked):
                raise ValueError(f"shape {dense.shape}")
            whole = sparse.csr_array(dense.reshape(stacked))
        elif key + "_indptr" in content:
            parts = [_integers(content, f"{key}_{part}", file) for part in ("indices", "indptr")]
            whole = sparse.csr_array((_numbers(content, key + "_data", file), *parts), shape=stacked)
            whole.check_format()
        else:
            row, col = (_integers(content, f"{key}_{part}", file) for part in ("row", "col"))
            whole = sparse.csr_array((_numbers(content, key + "_data", file), (row, col)), shape=stacked)
    except (KeyError, ValueError, IndexError) as error:
        found = f"{' '.join(str(error).split())[:120]} in {file}"
        refuse("file", f"`{key}` as a matrix of {stacked[0]} x {ndof}", found, "write the matrix whole")
    return tuple(whole[k * ndof : (k + 1) * ndof] for k in range(count))


def _geometric(content: Mapping[str, Any], ndof: int, file: str) -> Geometric | None:
    names = {key.removesuffix(end) for key in content for end in ("_data", "") if key.startswith("Kg_")}
    names = {name for name in names if any(name + part in content for part in _PARTS)}
    names -= {name for name in names if name.rpartition("_")[2] in ("indices", "indptr", "row", "col", "data")}
    if not names:
        return None
    sets = {}
    for name in sorted(names):
        if name not in _LOADS and not name.startswith(_FORCE):
            expected = f"one of {', '.join(_LOADS)}, {_FORCE}<interface>"
            refuse("file", expected, f"the key {name!r} in {file}", "rename it")
        sets[name] = _matrices(content, name, ndof, _LOADS.get(name, 3), file)
    return Geometric(
        sets.get("Kg_acceleration", ()),
        sets.get("Kg_angular", ()),
        sets.get("Kg_spin", ()),
        {name[len(_FORCE) :]: value for name, value in sets.items() if name.startswith(_FORCE)},
    )


def write_npz(path: str | PathLike[str], model: FeModel) -> None:
    """Write an FE model as an archive that `read_npz` reads, matrices as compressed sparse rows.

    Raises:
        OutputError: The file cannot be written.
    """
    direction = np.where(model.dof_node < 0, 0, model.dof_component + 1)
    number = np.where(model.dof_node < 0, 0, model.node_ids[model.dof_node])
    content: dict[str, Any] = {
        "nodes": model.positions,
        "node_ids": model.node_ids,
        "dofs": np.column_stack([number, direction]),
    }
    stacks: dict[str, tuple[Sparse, ...]] = {"K": (model.K,), "M": (model.M,)}
    if model.D is not None:
        stacks["D"] = (model.D,)
    if model.geometric is not None:
        g = model.geometric
        stacks |= {"Kg_acceleration": g.acceleration, "Kg_angular": g.angular, "Kg_spin": g.spin}
        stacks |= {_FORCE + name: matrices for name, matrices in g.forces.items()}
    for key, matrices in stacks.items():
        if matrices:
            whole = sparse.csr_array(sparse.vstack(matrices))
            content |= {f"{key}_data": whole.data, f"{key}_indices": whole.indices, f"{key}_indptr": whole.indptr}
    content |= {f"set_{name}": np.array(numbers) for name, numbers in model.sets.items()}
    name = os.fspath(path)
    with binary_file(name if name.endswith(".npz") else f"{name}.npz") as file:
        np.savez_compressed(file, **content)
