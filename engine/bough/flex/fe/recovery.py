"""Motion of FE nodes that are no interfaces: sensors.

A sensor at a node moves with the node: no coupling holds it and no static shape is made for it. Its translation is the
node's own. Its rotation is the node's, where it has rotations (beams, shells). A node of a solid has none: it turns as
the nodes that share elements with it do on average about it, by least squares over their translations. The nearest
count most (weights of 1 / distance^4): elements may be long, and the body bends along them.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from bough.flex.fe.fe_model import Array, FeModel, Integers, Sparse
from bough.flex.fe.interface import DETERMINATE, select
from bough.flex.fe.problem import refuse
from bough.flex.fe.rigid import dof_positions, motions
from bough.model import Fe

TURN, MOVE = slice(0, 3), slice(3, 6)


def recovery(model: FeModel, fe: Fe) -> tuple[Array, Sparse]:
    """Positions (k, 3) of the sensors of an entry, and G of their motions q = G u, six rows each: (6 k, ndof)."""
    places = select(model, fe.model_copy(update={"interfaces": fe.sensors}))
    rows = [_recovered(model, int(place.nodes[0]), place.name) for place in places]
    positions = np.array([place.position for place in places]).reshape(-1, 3)
    return positions, sparse.csr_array(sparse.vstack([sparse.csr_array((0, model.ndof)), *rows]))


def _recovered(model: FeModel, node: int, name: str) -> Sparse:
    """Rotation and translation of a node from the degrees of freedom of the model, (6, ndof)."""
    own = {int(model.dof_component[k]): int(k) for k in np.flatnonzero(model.dof_node == node)}
    if not {0, 1, 2} <= own.keys():
        found = f"node {model.node_ids[node]} with {len(own)} of them"
        refuse("outputs", f"a node with three translations for the sensor {name!r}", found, "name another node")
    G = np.zeros((6, model.ndof))
    G[MOVE, [own[0], own[1], own[2]]] = np.eye(3)
    if {3, 4, 5} <= own.keys():
        G[TURN, [own[3], own[4], own[5]]] = np.eye(3)
        return sparse.csr_array(G)
    dofs = _around(model, node)
    here, there = model.positions[node], dof_positions(model)[dofs]
    distance = np.linalg.norm(there - here, axis=1)
    nearest = float(distance.min(initial=np.inf))
    # What a turn moves the neighbours by, against the node itself: u_j - u = turn x l_j
    R = motions(there, model.dof_component[dofs], here)[:, TURN] * ((nearest / distance) ** 2)[:, None]
    values = np.linalg.svd(R, compute_uv=False)
    if len(R) < 3 or not values[-1] > DETERMINATE * values[0]:
        found = f"node {model.node_ids[node]}, without rotations, and with its neighbours in one line"
        refuse("outputs", f"a node whose rotation can be found for the sensor {name!r}", found, "name another node")
    turn = np.linalg.pinv(R) * (nearest / distance) ** 2
    G[TURN, dofs] = turn
    for c in range(3):
        G[TURN, own[c]] -= turn[:, model.dof_component[dofs] == c].sum(axis=1)
    return sparse.csr_array(G)


def _around(model: FeModel, node: int) -> Integers:
    """Translations of the nodes that stiffness joins to a node."""
    own = np.flatnonzero((model.dof_node == node) & (model.dof_component < 3))
    joined = np.unique(sparse.csc_array(model.K)[:, own].tocoo().row)
    near = np.setdiff1d(model.dof_node[joined], [-1, node])
    moves = (model.dof_component >= 0) & (model.dof_component < 3)
    return np.flatnonzero(np.isin(model.dof_node, near) & moves)
