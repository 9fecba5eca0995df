"""Interfaces: points that stand for FE nodes, coupled rigidly (RBE2) or on average (RBE3).

Rigid: the degrees of freedom u_S of the nodes follow the point, u_S = R_S q, with R_S the rigid motions about it; they
give way to the six motions q (rotation, translation). Average: the point follows the nodes by least squares,
q = G u_S, G = (R_S' W R_S)^-1 R_S' W; a load f on the point is spread as G' f, and nothing is stiffened.

So the degrees of freedom that are left are y, with u = T y, and the motions of all interfaces are q = C y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bough.flex.fe.fe_model import Array, FeModel, Integers, Sparse
from bough.flex.fe.problem import refuse, some
from bough.flex.fe.rigid import dof_positions, motions, rigid_motions
from bough.model import Fe, FeInterface

DETERMINATE = 1e-6
"""Smallest over largest singular value of an interface's rigid motions: below, one of them moves no node."""


@dataclass(frozen=True, eq=False)
class Interface:
    """An interface point and the FE nodes it stands for.

    Attributes:
        name: As in the model file.
        position: m, (3,).
        nodes: Indices of its nodes.
        rigid: Whether the nodes follow the point (RBE2), else the point follows them (RBE3).
    """

    name: str
    position: Array
    nodes: Integers
    rigid: bool


@dataclass(frozen=True, eq=False)
class Coupled:
    """The model in the degrees of freedom y that the couplings leave; see the head of this file.

    Attributes:
        T: u = T y, (ndof, ny).
        C: q = C y, six rows (rotation, translation) per interface, (6 ni, ny).
        R: Rigid motions about the attach interface, y = R (rotation, translation), (ny, 6).
        K: T' K T.
        M: T' M T.
        attach: Index of the attach interface.
        interfaces: In the order of the model file.
        labels: Index of an FE degree of freedom that each y is, or moves with; for messages, (ny,).
        places: Number of the node, interface or generalized coordinate that each y belongs to, from 0 on, (ny,).
    """

    T: Sparse
    C: Sparse
    R: Array
    K: Sparse
    M: Sparse
    attach: int
    interfaces: tuple[Interface, ...]
    labels: Integers
    places: Integers

    def rows(self, interface: int) -> slice:
        """Rows of C that belong to an interface."""
        return slice(6 * interface, 6 * interface + 6)


def select(model: FeModel, fe: Fe) -> tuple[Interface, ...]:
    """The interfaces with the nodes that the model file names."""
    return tuple(_selected(model, interface) for interface in fe.interfaces)


def _selected(model: FeModel, interface: FeInterface) -> Interface:
    key = f"interfaces.{interface.name}"
    has_dofs = np.zeros(model.n, dtype=bool)
    has_dofs[model.dof_node[model.dof_node >= 0]] = True
    if interface.box is not None:
        low, high = np.sort(np.array(interface.box), axis=0)
        nodes = np.flatnonzero(((model.positions >= low) & (model.positions <= high)).all(axis=1) & has_dofs)
        if not nodes.size:
            span = f"{model.positions.min(axis=0).tolist()} to {model.positions.max(axis=0).tolist()} m"
            found = f"none; the nodes reach from {span}"
            refuse(
                f"{key}.box", "a box with nodes in it", found, "give the corners in metres, in the axes of the FE model"
            )
    else:
        numbers = interface.nodes if interface.set is None else _members(model, interface.set, f"{key}.set")
        kind = "nodes" if interface.set is None else "set"
        nodes = _indices(model, numbers, has_dofs, f"{key}.{kind}")
    mean = model.positions[nodes].mean(axis=0)
    position = mean if interface.position is None else np.array(interface.position)
    return Interface(interface.name, position, nodes, interface.coupling == "rigid")


def _members(model: FeModel, name: str, key: str) -> tuple[int, ...]:
    by_capitals = {known.upper(): known for known in model.sets}
    found = name if name in model.sets else by_capitals.get(name.upper())
    if found is None or not model.sets[found]:
        known = some(sorted(model.sets), 30) or "none"
        refuse(key, f"a node set of the FE model: {known}", f"{name!r}", "check the name, or list `nodes`")
    return model.sets[found]


def _indices(
    model: FeModel, numbers: tuple[int, ...], has_dofs: np.ndarray[tuple[int], np.dtype[np.bool_]], key: str
) -> Integers:
    order = np.argsort(model.node_ids)
    wanted = np.array(numbers, dtype=np.int64)
    at = np.searchsorted(model.node_ids, wanted, sorter=order)
    nodes = order[np.minimum(at, model.n - 1)]
    known = model.node_ids[nodes] == wanted
    if not known.all():
        span = f"{model.n} nodes, numbers from {model.node_ids.min()} to {model.node_ids.max()}"
        refuse(key, f"nodes of the FE model, which has {span}", f"no node {some(wanted[~known])}", "check the numbers")
    if not has_dofs[nodes].all():
        found = (
            f"node {some(wanted[~has_dofs[nodes]])} without any: held or tied in the FE model, or used by no element"
        )
        refuse(
            key, "nodes with degrees of freedom in the matrices", found, "export without boundary conditions and ties"
        )
    return np.asarray(nodes, dtype=np.int64)


def _determinate(R: Array, reach: float) -> bool:
    """Whether the six motions of a point can be told from the degrees of freedom."""
    if len(R) < 6:
        return False
    values = np.linalg.svd(R / np.array([max(reach, 1e-300)] * 3 + [1.0] * 3), compute_uv=False)
    return bool(values[-1] > DETERMINATE * values[0])


def _motion(model: FeModel, interface: Interface, where: Array) -> tuple[Integers, Array, Array]:
    """Degrees of freedom of an interface, their rigid motions, and the weights that RBE3 gives them."""
    dofs = np.flatnonzero(np.isin(model.dof_node, interface.nodes))
    components = model.dof_component[dofs]
    reach = float(np.linalg.norm(model.positions[interface.nodes] - interface.position, axis=1).max())
    if not interface.rigid:
        along = components < 3
        R = motions(where[dofs[along]], components[along], interface.position)
        if _determinate(R, reach):
            return dofs[along], R, np.ones(len(R))
    R = motions(where[dofs], components, interface.position)
    unit = reach if reach > 0.0 else 1.0
    if not _determinate(R, unit):
        found = (
            f"{interface.nodes.size} node{'s' if interface.nodes.size > 1 else ''} that cannot determine all rotations"
        )
        expected = "three nodes that are not in line, or a node with rotations"
        refuse(f"interfaces.{interface.name}", expected, found, "add nodes around the interface point")
    return dofs, R, np.where(components < 3, 1.0, unit**2)


def couple(model: FeModel, interfaces: tuple[Interface, ...], attach: int) -> Coupled:
    """Condense the rigid interfaces, and find every interface's motion."""
    where = dof_positions(model)
    parts = [_motion(model, interface, where) for interface in interfaces]
    _check_overlap(model, interfaces)
    rigid = [k for k, interface in enumerate(interfaces) if interface.rigid]
    tied = np.zeros(model.ndof, dtype=bool)
    for k in rigid:
        tied[parts[k][0]] = True
    kept = np.flatnonzero(~tied)
    nk, ny = kept.size, kept.size + 6 * len(rigid)
    blocks = [(kept, np.arange(nk), np.ones(nk))]
    for j, k in enumerate(rigid):
        dofs, R, _ = parts[k]
        rows, columns = np.repeat(dofs, 6), np.tile(nk + 6 * j + np.arange(6), dofs.size)
        blocks.append((rows, columns, R.ravel()))
    rows, columns, values = (np.concatenate(part) for part in zip(*blocks, strict=True))
    T = sparse.csr_array((values, (rows, columns)), shape=(model.ndof, ny))
    motions_of = []
    for k, interface in enumerate(interfaces):
        dofs, R, weights = parts[k]
        if interface.rigid:
            first = nk + 6 * rigid.index(k)
            motions_of.append(sparse.csr_array((np.ones(6), (np.arange(6), first + np.arange(6))), shape=(6, ny)))
        else:
            G = np.linalg.solve(R.T @ (weights[:, None] * R), R.T * weights)
            motions_of.append(sparse.csr_array(G) @ T[dofs])
    origin = interfaces[attach].position
    R_y = np.zeros((ny, 6))
    R_y[:nk] = rigid_motions(model, origin)[kept]
    for j, k in enumerate(rigid):
        place = np.repeat(interfaces[k].position[None], 6, axis=0)
        R_y[nk + 6 * j : nk + 6 * j + 6] = motions(place, np.array([3, 4, 5, 0, 1, 2]), origin)
    labels = np.concatenate([kept, *(np.repeat(parts[k][0][0], 6) for k in rigid)]).astype(np.int64)
    own = np.where(model.dof_node[kept] < 0, model.n + len(rigid) + np.arange(nk), model.dof_node[kept])
    places = np.concatenate([own, np.repeat(model.n + np.arange(len(rigid)), 6)])
    places = np.unique(places, return_inverse=True)[1].astype(np.int64)
    K, M = (sparse.csc_array(T.T @ matrix @ T) for matrix in (model.K, model.M))
    return Coupled(T, sparse.csr_array(sparse.vstack(motions_of)), R_y, K, M, attach, interfaces, labels, places)


def _check_overlap(model: FeModel, interfaces: tuple[Interface, ...]) -> None:
    """A node follows one point at most."""
    owner: dict[int, str] = {}
    for interface in interfaces:
        for node in interface.nodes.tolist() if interface.rigid else ():
            if node in owner:
                found = f"node {model.node_ids[node]} in {owner[node]!r} already"
                cure = "use `coupling: average` for one of them, or other nodes"
                refuse(f"interfaces.{interface.name}", "nodes that no other rigid interface has", found, cure)
            owner[node] = interface.name
