"""Bodies from the modes of a Nastran run (OP2) and the mesh they move (deck): no matrices, no reduction.

Modes phi are taken as they are, less the rigid ones of a free body. Their frequencies are exact; the mass M that they
move is that of the mesh, at its grids. Where it is Nastran's own M, phi'M phi is the generalized mass of the file.
Where it is not quite, the nearest set of shapes that is orthonormal in M is used, phi (phi'M phi)^-1/2: the stiffness
then stays diag(omega^2), and every frequency that of the file.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from bough.flex.body import FlexBody
from bough.flex.fe.check import check_mass
from bough.flex.fe.fe_model import Array, FeModel, Integers, Sparse
from bough.flex.fe.inertia import inertia
from bough.flex.fe.interface import couple, select
from bough.flex.fe.nastran.grids import Lump, NastranMesh
from bough.flex.fe.nastran.mass import mesh_mass
from bough.flex.fe.nastran.matrices import mesh_path, read_nastran_mesh
from bough.flex.fe.nastran.op2 import Modes, read_op2
from bough.flex.fe.problem import name_of, refuse, some
from bough.flex.fe.reduce import modal_damping
from bough.flex.fe.rigid import rigid_motions
from bough.flex.fe.si_units import in_si
from bough.model import Fe

RIGID = 1e-5
"""Share of a mode's kinetic energy besides that of a rigid motion, below which it is one."""
SAME_MASS = 1.5
"""Largest ratio between a mode's mass in the mesh and in the file; more is another model."""
SAME_WEIGHT = 0.01
"""Largest difference between the masses of mesh and file, relative."""
ORTHOGONAL = 0.3
"""Largest product of two modes of mass one in the mass of the mesh; more is another model."""
CLAMPED = 1e-5
"""Motion of the attach interface, of the largest of all nodes, that counts as none: single precision."""


def nastran_modes(fe: Fe) -> FlexBody:
    """The flexible body of an OP2 file with modes, and its mesh.

    Raises:
        ModelError: A file is not of Nastran or cut off, the modes are not those of the mesh, or there are too few.
    """
    mesh = read_nastran_mesh(fe)
    modes = read_op2(fe.file)
    model, shapes = moving_mass(fe, mesh, modes)
    model = in_si(model, fe.units)
    # Per unit of eta: lengths change their numbers, angles do not.
    shapes = shapes * np.where(model.dof_component < 3, fe.units.length, 1.0)[:, None]
    interfaces = select(_grids_only(model), fe)
    names = fe.node_names
    attach = names.index(fe.attach)
    origin = interfaces[attach].position
    R = rigid_motions(model, origin)
    check_mass(model, R, fe.mass)
    kept = _kept(fe, modes, model, shapes, R)
    omega = np.sqrt(modes.squares[kept]) / fe.units.time
    shapes = _orthonormal(fe, model, shapes[:, kept], kept, modes.masses[kept] * fe.units.mass * fe.units.length**2)
    # The modes say how the nodes move: no interface makes them follow it.
    following = tuple(replace(interface, rigid=False) for interface in interfaces)
    node_shapes = (couple(model, following, attach).C @ shapes).reshape(len(names), 6, -1)
    if np.abs(node_shapes[attach]).max(initial=0.0) <= CLAMPED * np.abs(shapes).max(initial=0.0):
        node_shapes[attach] = 0.0
    tables, points, complete = inertia(model, shapes, origin)
    return FlexBody(
        tables,
        names,
        np.array([interface.position for interface in interfaces]),
        node_shapes,
        attach,
        np.diag(omega**2),
        modal_damping(fe.damping, omega, None),
        omega,
        tuple(f"mode {k + 1}" for k in kept),
        None,
        points if complete else None,
    )


# --- mass and its motion ------------------------------------------------------------------------------------------


def moving_mass(fe: Fe, mesh: NastranMesh, modes: Modes) -> tuple[FeModel, Array]:
    """Grids and concentrated masses as nodes with mass and without stiffness, and the modes' motion of them.

    A CONM2 is a node of its own, which moves rigidly with its grid; its number is negative.
    """
    scalar, untwisted = mesh_mass(mesh_path(fe), mesh, "mesh")
    lumps = mesh.lumps
    moves, present = _motion(fe, mesh, modes, scalar)
    n = mesh.ids.size
    turning = np.ones(len(moves), dtype=bool)
    turning[:n] = np.abs(moves[:n, 3:]).any(axis=(1, 2)) | ~np.isin(mesh.ids, list(untwisted))
    used = np.concatenate([np.flatnonzero(present), np.arange(n, len(moves))])
    dofs = np.array([(i, c) for i, k in enumerate(used) for c in range(6 if turning[k] else 3)], dtype=np.int64)
    node, component = dofs.T
    weight = mesh.parameters.get("WTMASS", 1.0)
    _check_weight(modes, mesh, float(scalar.sum()) + sum(lump.mass for lump in lumps), weight)
    heavy = sparse.diags_array(np.array([lump.mass for lump in lumps])) if lumps else sparse.csr_array((0, 0))
    all_of = sparse.csr_array(sparse.block_diag([scalar, heavy]))[used][:, used]
    M = weight * _mass_matrix(all_of, node, component, lumps)
    model = FeModel(
        np.concatenate([mesh.ids, -1 - np.arange(len(lumps))])[used],
        np.vstack([mesh.positions, *(lump.position[None] for lump in lumps)])[used],
        node,
        component,
        sparse.csc_array(M.shape),
        M,
        sets=mesh.sets,
        source=mesh.source,
    )
    return model, moves[used[node], component]


def _motion(fe: Fe, mesh: NastranMesh, modes: Modes, scalar: Sparse) -> tuple[Array, Array]:
    """Motion of grids and concentrated masses in basic axes, (n + lumps, 6, nm), and which grids the file has."""
    known = np.isin(modes.ids, mesh.ids)
    if not known.all():
        found = f"grid {some(modes.ids[~known])} in the modes, not in {mesh.source}"
        refuse("mesh", "every grid of the modes", found, "give the deck that the modes come from")
    n, at = mesh.ids.size, np.searchsorted(mesh.ids, modes.ids)
    present = np.zeros(n, dtype=bool)
    present[at] = True
    grids = np.searchsorted(mesh.ids, np.array([lump.grid for lump in mesh.lumps], dtype=np.int64))
    heavy = np.asarray(scalar.sum(axis=1)).ravel() != 0.0
    heavy[grids] = True
    if (heavy & ~present).any():
        found = f"none for grid {some(mesh.ids[heavy & ~present])} in {name_of(fe.file)}"
        refuse("file", "modes at every grid with mass", found, "ask for all of them: DISPLACEMENT(PLOT) = ALL")
    moves = np.zeros((n + grids.size, 6, modes.squares.size))
    for rows in (slice(0, 3), slice(3, 6)):
        moves[at, rows] = mesh.axes[at] @ modes.shapes[:, rows]
    for k, (grid, lump) in enumerate(zip(grids, mesh.lumps, strict=True), start=n):
        arm = lump.position - mesh.positions[grid]
        moves[k, 3:] = moves[grid, 3:]
        moves[k, :3] = moves[grid, :3] + np.cross(moves[grid, 3:], arm[:, None], axis=0)
    return moves, present


def _mass_matrix(scalar: Sparse, node: Integers, component: Integers, lumps: tuple[Lump, ...]) -> Sparse:
    """Ms (x) 1_3 on the translations; the inertias of the lumps, the last nodes, on their rotations."""
    ndof = node.size
    places = [
        sparse.csr_array((np.ones(at.size), (at, node[at])), shape=(ndof, scalar.shape[0]))
        for at in (np.flatnonzero(component == c) for c in range(3))
    ]
    M = sparse.lil_array(sum(place @ scalar @ place.T for place in places))
    first = ndof - 6 * len(lumps)
    for k, lump in enumerate(lumps):
        turns = slice(first + 6 * k + 3, first + 6 * k + 6)
        M[turns, turns] = lump.inertia
    return sparse.csc_array(M)


def _check_weight(modes: Modes, mesh: NastranMesh, mass: float, weight: float) -> None:
    """The grid point weight table, which may hold the mass before or after PARAM,WTMASS."""
    told = modes.weight
    if told is None or min(abs(told - mass), abs(told - weight * mass)) <= SAME_WEIGHT * abs(told):
        return
    found = f"{mass:.6g} in the elements and CONM2 cards of {mesh.source}, {told:.6g} in the file"
    cure = "give the deck that the modes come from; if it is the one, import matrices (.op4, .pch) instead"
    refuse("mesh", "the mass in the file's grid point weight table", found, cure)


def _grids_only(model: FeModel) -> FeModel:
    """Without the nodes of concentrated masses, which come last: what interfaces are chosen from."""
    n = int(np.count_nonzero(model.node_ids >= 0))
    ndof = int(np.count_nonzero(model.dof_node < n))
    empty = sparse.csc_array((ndof, ndof))
    return FeModel(
        model.node_ids[:n],
        model.positions[:n],
        model.dof_node[:ndof],
        model.dof_component[:ndof],
        empty,
        empty,
        sets=model.sets,
        source=model.source,
    )


# --- modes --------------------------------------------------------------------------------------------------------


def _kept(fe: Fe, modes: Modes, model: FeModel, shapes: Array, R: Array) -> Integers:
    """Modes that are no rigid motions, lowest first, as many as the model asks for."""
    energy = np.einsum("ir,ir->r", shapes, model.M @ shapes)
    momentum, total = R.T @ (model.M @ shapes), R.T @ (model.M @ R)
    # A line of point masses has no inertia about itself: that motion takes no part.
    size = np.sqrt(np.maximum(np.diag(total), 1e-12 * np.diag(total)[:3].max()))
    inverse = np.linalg.pinv(total / np.outer(size, size), rcond=1e-10, hermitian=True) / np.outer(size, size)
    rigid = np.einsum("ir,ir->r", momentum, inverse @ momentum)
    elastic = np.flatnonzero(energy - rigid > RIGID * energy)
    if not elastic.size:
        found = f"{modes.squares.size} rigid ones in {name_of(fe.file)}"
        refuse("file", "elastic modes", found, "ask for more modes: field ND of EIGRL")
    if modes.squares[elastic].min() <= 0.0:
        worst = int(elastic[np.argmin(modes.squares[elastic])])
        found = f"mode {worst + 1} with the eigenvalue {modes.squares[worst]:g} in {name_of(fe.file)}"
        refuse("file", "elastic modes with positive eigenvalues", found, "look for mechanisms: this mode shows one")
    elastic = elastic[np.argsort(modes.squares[elastic], kind="stable")]
    count, limit = fe.modes.count, fe.modes.max_frequency
    if count is not None and count > elastic.size:
        found = f"{count}, with {elastic.size} in {name_of(fe.file)}"
        refuse(
            "modes.count", "at most as many modes as the file has elastic ones", found, "keep fewer, or compute more"
        )
    if limit is not None:
        hertz = np.sqrt(modes.squares[elastic]) / (2.0 * np.pi * fe.units.time)
        if hertz[0] > limit:
            found = f"none below {limit:g} Hz; the lowest is {hertz[0]:.6g} Hz"
            refuse("modes.max_frequency", "at least one mode", found, "raise max_frequency")
        elastic = elastic[hertz <= limit]
    return elastic[:count]


def _orthonormal(fe: Fe, model: FeModel, shapes: Array, kept: Integers, masses: Array) -> Array:
    """The nearest shapes that are orthonormal in the mass of the mesh; refused if they are not near.

    Args:
        fe: For messages.
        model: With the mass.
        shapes: As in the file, (ndof, nm).
        kept: Their indices in the file.
        masses: Their generalized masses in the file, nan if unknown, (nm,).
    """
    gram = shapes.T @ (model.M @ shapes)
    own = np.diag(gram)
    cure = (
        "give the deck that the modes come from; if it is the one, its mass is not all in elements and CONM2 cards, "
        "or coupled (PARAM,COUPMASS) in high modes: keep fewer, or import matrices (.op4, .pch)"
    )
    told = np.flatnonzero(np.isfinite(masses) & (masses > 0.0))
    ratio = own[told] / masses[told]
    worst = int(np.argmax(np.abs(np.log(ratio)))) if told.size else 0
    if told.size and not 1.0 / SAME_MASS <= ratio[worst] <= SAME_MASS:
        found = f"{ratio[worst]:.4g} times that for mode {kept[told[worst]] + 1}"
        refuse("mesh", f"a mesh in which the modes move the mass that {name_of(fe.file)} tells", found, cure)
    unit = gram / np.sqrt(np.outer(own, own))
    off = np.abs(unit - np.eye(len(unit)))
    if off.max(initial=0.0) > ORTHOGONAL:
        i, j = np.unravel_index(int(np.argmax(off)), off.shape)
        found = f"modes {kept[i] + 1} and {kept[j] + 1}, which share {off[i, j]:.3g} of their mass in the mesh"
        refuse("mesh", "modes that are orthogonal in the mass of the mesh", found, cure)
    values, vectors = np.linalg.eigh(0.5 * (unit + unit.T))
    nearest: Array = (shapes / np.sqrt(own)) @ (vectors / np.sqrt(values)) @ vectors.T
    return nearest
