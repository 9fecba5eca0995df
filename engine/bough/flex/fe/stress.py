"""Geometric stiffness of solids, shells and beams, for FE programs that do not export it.

Every load that `Geometric` lists deflects the body, held at its attach interface: K u = f, with K of the FE program.
The elements tell the stress sigma of u; it works on the strain of second order, and its stiffness is

    u' Kg u = integral of  sigma_ij (d_i u . d_j u + 2 d_i u2_j)

with u the shape functions' field, and u2 = 0 of solids. Shells and beams carry fibres r that turn with their node:
u(r) = u + th x r, u2(r) = 1/2 th x (th x r), whose directions along the middle surface or the axis are t, across s:

    d_t u = u,t + th,t x r      d_s u = th x e_s      f . (a x (b x r)) = a' (r f' - (f.r) 1) b

The strain energy of the elements is held against that of the FE program, u' K u: other materials, sections, units or
an order of nodes that differs show there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from bough.flex.fe.elements import Kind, Part, scattered
from bough.flex.fe.fe_model import Array, FeModel, Geometric, Integers, Sparse
from bough.flex.fe.fibres import Fibres
from bough.flex.fe.interface import Coupled, couple, select
from bough.flex.fe.problem import refuse, some
from bough.flex.fe.rigid import dof_positions, rigid_motions
from bough.flex.fe.shapes import reference, rule
from bough.flex.fe.solve import Floating
from bough.model import Fe

SOLIDS: dict[int, Kind] = {4: "tetra", 10: "tetra", 6: "wedge", 15: "wedge", 8: "brick", 20: "brick"}
POINTS = {4: 1, 10: 2, 6: 2, 15: 3, 8: 2, 20: 3}
"""Gauss points each way of a solid with so many nodes, fully integrated."""
REDUCED = {8: 1, 20: 2}
ENERGY = 0.3
"""Relative difference of the strain energies of elements and matrices that coarse meshes may show."""


def with_stress_stiffness(model: FeModel, fe: Fe, parts: Sequence[Part]) -> FeModel:
    """The model with geometric stiffness of its own inertia and of forces on its interfaces.

    Args:
        model: Checked, in SI, as `bough.flex.fe.fe_body.read_fe` gives it.
        fe: The entry with its interfaces.
        parts: All elements, in SI.

    Raises:
        ModelError: A node is not there, an element is degenerate, or elements and matrices do not belong together.
    """
    coupled = couple(model, select(model, fe), fe.node_names.index(fe.attach))
    rows = coupled.rows(coupled.attach)
    space, _ = Floating(model, coupled).held(coupled.C.toarray()[rows])
    meshes = [_mesh(model, part) for part in parts]
    loads = [coupled.T.T @ load for load in _inertia_loads(model, coupled)]
    others = [k for k in range(len(fe.interfaces)) if k != coupled.attach]
    loads += [pull for k in others for pull in coupled.C.toarray()[coupled.rows(k)][3:]]
    answers = [coupled.T @ space.solve(load) for load in loads]
    stresses = [[mesh.stress(u) for mesh in meshes] for u in answers]
    _check_energy(model, fe, answers, [sum(energy for _, energy in one) for one in stresses])
    Kg = [sum((mesh.stiffness(s) for mesh, (s, _) in zip(meshes, one, strict=True)), _none(model)) for one in stresses]
    forces = {fe.interfaces[k].name: tuple(Kg[12 + 3 * i : 15 + 3 * i]) for i, k in enumerate(others)}
    return replace(model, geometric=Geometric(tuple(Kg[:3]), tuple(Kg[3:6]), tuple(Kg[6:12]), forces))


def solids(elements: ArrayLike, E: float, nu: float, name: str = "solid elements") -> Part:
    """A part of tetrahedra, wedges or bricks by node numbers, in the order of Abaqus; E in Pa."""
    nodes = np.asarray(elements, dtype=np.int64)
    if nodes.ndim != 2 or nodes.shape[1] not in SOLIDS:
        found = f"an array of shape {nodes.shape}"
        refuse(
            "mesh", "solids of 4, 10 (tetrahedra), 6, 15 (wedges), 8 or 20 (bricks) nodes", found, "give node numbers"
        )
    return Part(name, SOLIDS[nodes.shape[1]], nodes, E, nu)


def _none(model: FeModel) -> Sparse:
    return sparse.csr_array((model.ndof, model.ndof))


def _mesh(model: FeModel, part: Part) -> _Solid | Fibres:
    order = np.argsort(model.node_ids)
    at = order[np.minimum(np.searchsorted(model.node_ids, part.nodes, sorter=order), model.n - 1)]
    missing = np.unique(part.nodes[model.node_ids[at] != part.nodes])
    if missing.size:
        found = f"node {some(missing)} of {part.name} in the mesh only"
        cure = "export all nodes of the elements: superelements and nodes that are held or tied have no stress"
        refuse("file", "matrices with every node of the elements, for geometric stiffening", found, cure)
    dofs = np.full((model.n, 6), -1, dtype=np.int64)
    own = model.dof_node >= 0
    dofs[model.dof_node[own], model.dof_component[own]] = np.flatnonzero(own)
    bare = (dofs[at][..., :3] < 0).any(axis=2)
    if bare.any():
        found = f"node {some(np.unique(part.nodes[bare]))} of {part.name} without all three"
        refuse("file", "translations of every node of the elements", found, "export without boundary conditions")
    made = (_Solid if part.thickness is None and part.beam is None else Fibres)(model, part, at, dofs[at])
    if not made.volumes.min(initial=1.0) > 0.0:
        element = int(np.flatnonzero((made.volumes <= 0.0).any(axis=1))[0])
        found = f"one that is folded or flat in {part.name}, with the nodes {some(part.nodes[element], 20)}"
        refuse("mesh", "elements with a volume", found, "check the order of its nodes, or mesh again")
    return made


def _inertia_loads(model: FeModel, coupled: Coupled) -> Iterator[Array]:
    """-M a for unit translational and angular accelerations and the six products of a spin, about the attach point."""
    origin = coupled.interfaces[coupled.attach].position
    R = rigid_motions(model, origin)
    for i in (3, 4, 5, 0, 1, 2):
        yield -(model.M @ R[:, i])
    l0 = dof_positions(model) - origin
    along = np.flatnonzero((model.dof_component >= 0) & (model.dof_component < 3))
    unit = np.eye(3)
    for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
        # w x (w x l) = w (w.l) - l (w.w)
        turned = np.outer(l0[:, j], unit[i])
        field = turned - l0 if i == j else turned + np.outer(l0[:, i], unit[j])
        a = np.zeros(model.ndof)
        a[along] = field[along, model.dof_component[along]]
        yield -(model.M @ a)


def _check_energy(model: FeModel, fe: Fe, answers: Sequence[Array], energies: Sequence[float]) -> None:
    """Elements store what the matrices say; forces and accelerations that hardly strain the body tell nothing."""
    for u, energy in zip(answers, energies, strict=True):
        whole = 0.5 * float(u @ (model.K @ u))
        if not abs(energy - whole) <= ENERGY * whole:
            found = f"{energy / whole:.3g} times as much in the elements" if whole > 0.0 else "none in the matrices"
            cure = (
                "check materials, sections, units and that mesh and matrices are of one job; linear bricks with "
                "reduced integration need four layers in bending"
            )
            refuse("mesh", "elements that store the strain energy of the stiffness matrix", found, cure)


class _Solid:
    """Gradients of the shape functions of solids at the points of a rule.

    Linear bricks have the mean of the volume's strain (Abaqus, CalculiX), or incompatible modes 1 - xi^2 (Taylor,
    Beresford and Wilson, Int. J. Numer. Methods Eng. 10, 1976), whose amplitudes follow from the nodes' motion.
    """

    def __init__(self, model: FeModel, part: Part, nodes: Integers, dofs: Integers) -> None:
        self.model, self.part = model, part
        self.dofs = dofs[..., :3]
        n = nodes.shape[1]
        points = REDUCED.get(n, POINTS[n]) if part.rule == "reduced" else POINTS[n]
        places, weights = rule(part.kind, points)
        x = model.positions[nodes]
        slopes = reference(part.kind, n).slopes(places)
        jacobians = np.einsum("pak,eai->epik", slopes, x)
        determinants = np.linalg.det(jacobians)
        # A wedge or brick numbered from its other end is as good: the sign is that of the whole.
        self.volumes = determinants * np.sign(determinants[:, :1]) * weights
        self.gradients = np.einsum("pak,epki->epai", slopes, _inverse(jacobians))
        self.lame = part.E * part.nu / ((1.0 + part.nu) * (1.0 - 2.0 * part.nu)), part.E / (2.0 * (1.0 + part.nu))
        self.bubbles: Array | None = None
        if part.rule == "incompatible" and n == 8:
            centre = np.einsum("ak,eai->eik", reference("brick", 8).slopes(np.zeros((1, 3)))[0], x)
            scale = (np.abs(np.linalg.det(centre))[:, None] / np.abs(determinants))[..., None, None]
            own = np.array([np.diag(-2.0 * p) for p in places])
            self.bubbles = scale * np.einsum("pak,eki->epai", own, _inverse(centre))

    def stress(self, u: Array) -> tuple[Array, float]:
        """At the points, Pa, (ne, points, 3, 3), and the strain energy, J."""
        slope = np.einsum("eai,epaj->epij", u[self.dofs], self.gradients, optimize=True)
        if self.bubbles is not None:
            slope = slope + np.einsum("eai,epaj->epij", self._bubbled(slope, self.bubbles), self.bubbles, optimize=True)
        strain = 0.5 * (slope + slope.swapaxes(-1, -2))
        volume = np.trace(strain, axis1=-2, axis2=-1)
        if self.part.kind == "brick" and self.dofs.shape[1] == 8 and self.bubbles is None:
            mean = (volume * self.volumes).sum(axis=1, keepdims=True) / self.volumes.sum(axis=1, keepdims=True)
            strain = strain + ((mean - volume) / 3.0)[..., None, None] * np.eye(3)
            volume = np.broadcast_to(mean, volume.shape)
        stress = self._law(strain, volume)
        return stress, 0.5 * float(np.einsum("ep,epij,epij->", self.volumes, stress, strain))

    def _law(self, strain: Array, volume: Array) -> Array:
        stress: Array = self.lame[0] * volume[..., None, None] * np.eye(3) + 2.0 * self.lame[1] * strain
        return stress

    def _bubbled(self, slope: Array, b: Array) -> Array:
        """Amplitudes of the incompatible modes, (ne, 3, 3): no force acts on them."""
        w, (lam, mu) = self.volumes, self.lame
        strain = 0.5 * (slope + slope.swapaxes(-1, -2))
        stress = self._law(strain, np.trace(strain, axis1=-2, axis2=-1))
        force = np.einsum("ep,epij,epaj->eai", w, stress, b, optimize=True)
        K = lam * np.einsum("ep,epai,epbj->eaibj", w, b, b, optimize=True)
        K = K + mu * np.einsum("ep,epaj,epbi->eaibj", w, b, b, optimize=True)
        K = K + mu * np.einsum("ep,epak,epbk,ij->eaibj", w, b, b, np.eye(3), optimize=True)
        ne = len(K)
        answer: Array = -np.linalg.solve(K.reshape(ne, 9, 9), force.reshape(ne, 9, 1)).reshape(ne, 3, 3)
        return answer

    def stiffness(self, stress: Array) -> Sparse:
        """Kg of a stress, (ndof, ndof)."""
        g = self.gradients
        blocks = np.einsum("ep,epai,epij,epbj->eab", self.volumes, g, stress, g, optimize=True)
        return sum((scattered(self.model, self.dofs[..., c], blocks) for c in range(3)), _none(self.model))


def _inverse(jacobians: Array) -> Array:
    """Of matrices that may be singular, which volumes tell."""
    singular = np.abs(np.linalg.det(jacobians)) == 0.0
    safe: Array = np.linalg.inv(np.where(singular[..., None, None], np.eye(3), jacobians))
    return safe
