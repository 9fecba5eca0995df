"""Geometric stiffness of solids of tetrahedra, for FE programs that do not export it.

Every load that `Geometric` lists deflects the body, held at its attach interface: K u = f. The stress sigma of u, with
strain energy linear in it, stiffens by

    Kg[a, b] = 1_3 * integral of  grad N_a . sigma grad N_b

over the shape functions N of the nodes. Edges are straight, so grad N is linear in the quadratic element, sigma too,
and a rule of degree three is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import roots_jacobi

from bough.errors import ModelError
from bough.flex.fe.fe_model import Array, FeModel, Geometric, Integers, Sparse
from bough.flex.fe.interface import Coupled, couple, select
from bough.flex.fe.rigid import dof_positions
from bough.flex.fe.solve import Floating
from bough.model import Fe

EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))
STRAIGHT = 1e-6
"""How far a middle node may be from the middle of its edge, of the edge's length."""


def with_stress_stiffness(model: FeModel, fe: Fe, elements: ArrayLike, E: float, nu: float) -> FeModel:
    """The model with geometric stiffness of its own inertia and of forces on its interfaces.

    Args:
        model: Checked, in SI, as `bough.flex.fe.fe_body.read_fe` gives it.
        fe: The entry with its interfaces.
        elements: Node numbers, (ne, 4) or (ne, 10): corners, then the middles of the edges 12 23 31 14 24 34.
        E: Young's modulus, Pa.
        nu: Poisson's ratio.

    Raises:
        ModelError: A node is not there, or an edge is not straight.
    """
    nodes = _indices(model, np.asarray(elements, dtype=np.int64))
    coupled = couple(model, select(model, fe), fe.node_names.index(fe.attach))
    rows = coupled.rows(coupled.attach)
    space, _ = Floating(model, coupled).held(coupled.C.toarray()[rows])
    solid = _Solid(model, nodes, E, nu)
    loads = list(_inertia_loads(model, coupled))
    parts = [solid.stiffness(coupled.T @ space.solve(coupled.T.T @ load)) for load in loads]
    forces = {}
    for k, name in enumerate(i.name for i in fe.interfaces):
        if k != coupled.attach:
            pulls = coupled.C.toarray()[coupled.rows(k)][3:]
            forces[name] = tuple(solid.stiffness(coupled.T @ space.solve(pull)) for pull in pulls)
    return replace(model, geometric=Geometric(tuple(parts[:3]), tuple(parts[3:6]), tuple(parts[6:]), forces))


def _indices(model: FeModel, elements: Integers) -> Integers:
    order = np.argsort(model.node_ids)
    at = order[np.minimum(np.searchsorted(model.node_ids, elements, sorter=order), model.n - 1)]
    if elements.ndim != 2 or elements.shape[1] not in (4, 10) or not np.array_equal(model.node_ids[at], elements):
        raise ModelError("stress stiffness: expected tetrahedra of 4 or 10 node numbers of the FE model")
    if elements.shape[1] == 10:
        x = model.positions[at]
        for k, (i, j) in enumerate(EDGES):
            off = np.linalg.norm(x[:, 4 + k] - 0.5 * (x[:, i] + x[:, j]), axis=1)
            if np.any(off > STRAIGHT * np.linalg.norm(x[:, i] - x[:, j], axis=1)):
                raise ModelError(
                    "stress stiffness: expected straight edges, their middle nodes in the order 12 23 31 14 24 34; "
                    "in gmsh, set Mesh.SecondOrderLinear = 1"
                )
    return np.asarray(at, dtype=np.int64)


def _inertia_loads(model: FeModel, coupled: Coupled) -> Iterator[Array]:
    """-M a for unit translational and angular accelerations and the six products of a spin, about the attach point."""
    l0 = dof_positions(model) - coupled.interfaces[coupled.attach].position
    c = model.dof_component
    along = np.arange(c.size)

    def load(field: Array) -> Array:
        forces: Array = -(model.M @ field[along, c])
        return forces

    unit = np.eye(3)
    for i in range(3):
        yield load(np.broadcast_to(unit[i], l0.shape))
    for i in range(3):
        yield load(np.cross(unit[i], l0))
    for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
        # w x (w x l) = w (w.l) - l (w.w)
        turned = np.outer(l0[:, j], unit[i])
        yield load(turned - l0 if i == j else turned + np.outer(l0[:, i], unit[j]))


class _Solid:
    """Gradients of the shape functions at the points of a rule."""

    def __init__(self, model: FeModel, nodes: Integers, E: float, nu: float) -> None:
        self.model, self.nodes = model, nodes
        self.lame = E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), E / (2.0 * (1.0 + nu))
        x = model.positions[nodes[:, :4]]
        edges = x[:, 1:] - x[:, :1]
        inverse = np.linalg.inv(edges)
        bary = np.concatenate([-inverse.sum(axis=2)[:, None], inverse.transpose(0, 2, 1)], axis=1)
        places, weights = _rule() if nodes.shape[1] == 10 else (np.full((1, 4), 0.25), np.ones(1))
        self.volumes = np.abs(np.linalg.det(edges))[:, None] / 6.0 * weights
        self.gradients = bary[:, None] if nodes.shape[1] == 4 else _quadratic(places, bary)
        place = np.full((model.n, 3), -1, dtype=np.int64)
        place[model.dof_node, model.dof_component] = np.arange(model.ndof)
        self.dofs = place

    def stiffness(self, u: Array) -> Sparse:
        """Kg of the stress that a deflection brings, (ndof, ndof)."""
        nodal = np.where(self.dofs >= 0, u[self.dofs], 0.0)[self.nodes]
        slope = np.einsum("eai,eqaj->eqij", nodal, self.gradients, optimize=True)
        strain = 0.5 * (slope + slope.swapaxes(-1, -2))
        volume = np.trace(strain, axis1=-2, axis2=-1)[..., None, None]
        stress = self.lame[0] * volume * np.eye(3) + 2.0 * self.lame[1] * strain
        blocks = np.einsum(
            "eq,eqai,eqij,eqbj->eab", self.volumes, self.gradients, stress, self.gradients, optimize=True
        )
        size = self.nodes.shape[1]
        rows, columns = np.repeat(self.nodes, size, axis=1).ravel(), np.tile(self.nodes, (1, size)).ravel()
        n, ndof = self.model.n, self.model.ndof
        scalar = sparse.csr_array((blocks.ravel(), (rows, columns)), shape=(n, n))
        full = sparse.csr_array((ndof, ndof))
        for c in range(3):
            own = np.flatnonzero(self.model.dof_component == c)
            where = (own, self.model.dof_node[own])
            pick = sparse.csr_array((np.ones(own.size), where), shape=(ndof, n))
            full = full + pick @ scalar @ pick.T
        return full


def _quadratic(places: Array, bary: Array) -> Array:
    """Gradients of the ten shape functions at points of given barycentric coordinates, (ne, points, 10, 3)."""
    corner = [(4.0 * b - 1.0)[None, :, None] * bary[:, None, k] for k, b in enumerate(places.T)]
    middle = [
        4.0 * (places[None, :, i, None] * bary[:, None, j] + places[None, :, j, None] * bary[:, None, i])
        for i, j in EDGES
    ]
    return np.stack(corner + middle, axis=2)


def _rule() -> tuple[Array, Array]:
    """Barycentric points and weights of a rule of degree three on a tetrahedron: a product of Gauss-Jacobi rules."""
    (a, wa), (b, wb), (c, wc) = (roots_jacobi(2, k, 0) for k in (2, 1, 0))
    a, b, c = (0.5 * (t + 1.0) for t in (a, b, c))
    x = np.array([[p, q * (1.0 - p), r * (1.0 - q) * (1.0 - p)] for p in a for q in b for r in c])
    weights = np.array([p * q * r for p in wa for q in wb for r in wc])
    return np.column_stack([1.0 - x.sum(axis=1), x]), weights / weights.sum()
