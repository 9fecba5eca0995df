"""From an FE model to a flexible body: interfaces, mode set, damping.

Mode sets; a is the attach interface, whose six motions are the hinge's and of no mode:

    cantilever       modes with a held
    craig-bampton    six static shapes of every interface but a (its unit motions, the other interfaces held) and the
                     modes with all interfaces held; within their span, made mass-orthonormal with a held
    free             modes of the body that floats, without its rigid motions; a moves with them

Modes are mass-orthonormal; stiffness is diag(omega^2). A group of equal frequencies, whose shapes are
arbitrary, is turned so that at the degree of freedom that the group moves most only its first shape moves, and so on.
A shape's largest translation is positive.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg

from bough.flex.body import FlexBody
from bough.flex.fe.fe_model import Array, FeModel
from bough.flex.fe.geometric import stiffening, with_turning
from bough.flex.fe.inertia import inertia
from bough.flex.fe.interface import Coupled, couple, select
from bough.flex.fe.massless import check_rigid_inertia, refuse_massless_shapes, slack
from bough.flex.fe.problem import refuse
from bough.flex.fe.recovery import recovery
from bough.flex.fe.solve import Floating, Space, lowest, with_mass
from bough.model import Fe, FeModes, ModalDamping

GROUP = 1e-7
"""Relative difference of squared frequencies within a group of equal ones."""
TIE = 1e-6
"""Relative difference of amplitudes below which the first of them counts as the largest."""
FIRST_TRY = 20
MOST = 2000
"""Most modes below a cut-off frequency."""
STIFFEST = 1e-11
"""Square of the lowest over the highest frequency of a Craig-Bampton set: digits of the lowest that are lost beyond."""
GROUNDED = 0.05
"""Largest frequency of a rigid motion, which should be zero, of the lowest elastic one."""


def reduced(model: FeModel, fe: Fe) -> FlexBody:
    """The flexible body of a checked FE model, in SI."""
    names = tuple(interface.name for interface in fe.interfaces)
    attach = names.index(fe.attach)
    coupled = couple(model, select(model, fe), attach)
    floating = Floating(model, coupled)
    check_rigid_inertia(floating)
    squares, y = _modes(floating, coupled, fe.modes)
    clamped = fe.modes.boundary != "free"
    y = _signed(model, coupled, _separated(squares, y))
    shapes = coupled.T @ y
    stiffness = y.T @ (coupled.K @ y)
    _check_grounding(floating, squares)
    nm = squares.size
    node_shapes = (coupled.C @ y).reshape(len(names), 6, nm)
    if clamped:
        # Round-off would make the attach node move, and the equations longer.
        node_shapes[attach] = 0.0
    positions = np.array([interface.position for interface in coupled.interfaces])
    tables, points, whole = inertia(model, shapes, positions[attach])
    extra = None
    if model.geometric is not None:
        held = shapes - coupled.T @ (coupled.R @ node_shapes[attach])
        extra = stiffening(model.geometric, held, names, attach)
        extra = extra if clamped else with_turning(extra, points, positions, node_shapes, attach)
    frequencies = np.sqrt(squares)
    if fe.sensors:
        where, G = recovery(model, fe)
        positions, node_shapes = (
            np.vstack([positions, where]),
            np.vstack([node_shapes, (G @ shapes).reshape(-1, 6, nm)]),
        )
        extra = None if extra is None else replace(extra, node_bends=_unbent(extra.node_bends, len(where)))
    return FlexBody(
        tables,
        fe.node_names,
        positions,
        node_shapes,
        attach,
        np.diag(squares) if _is_diagonal(stiffness, squares) else 0.5 * (stiffness + stiffness.T),
        modal_damping(fe.damping, frequencies, None if model.D is None else shapes.T @ (model.D @ shapes)),
        frequencies,
        tuple(f"mode {k + 1}" for k in range(nm)),
        extra,
        points if whole else None,
        slack=() if fe.modes.boundary == "craig-bampton" else slack(coupled, floating),
    )


def _unbent(bends: Array, more: int) -> Array:
    """Second-order motion of interfaces, and none of sensors, whose geometric stiffness nobody has computed."""
    return np.concatenate([bends, np.zeros((more, *bends.shape[1:]))])


def _is_diagonal(stiffness: Array, squares: Array) -> bool:
    off = np.abs(stiffness - np.diag(squares))
    return bool(off.max(initial=0.0) <= 1e-9 * squares.max(initial=0.0))


def _modes(floating: Floating, coupled: Coupled, modes: FeModes) -> tuple[Array, Array]:
    """Squared frequencies and shapes in y, mass-orthonormal."""
    if modes.boundary == "free":
        return _chosen(floating.unsupported(), modes, 0)
    C = coupled.C.toarray()
    rows = coupled.rows(coupled.attach)
    if modes.boundary == "cantilever" or len(C) == 6:
        return _chosen(floating.held(C[rows])[0], modes, 0)
    space, static = floating.held(C)
    static = np.delete(static, np.arange(rows.start, rows.stop), axis=1)
    _, normal = _chosen(space, modes, static.shape[1])
    basis = np.column_stack([static, normal])
    # Unit rotations and unit translations differ in size: scale before the small eigenproblem.
    basis = basis / np.sqrt(np.einsum("ir,ir->r", basis, coupled.K @ basis))
    k, m = (basis.T @ (matrix @ basis) for matrix in (coupled.K, coupled.M))
    mu, turn = linalg.eigh(0.5 * (m + m.T), 0.5 * (k + k.T))
    shapes = basis @ turn
    heavy = with_mass(coupled.M, shapes, mu, floating.tolerance) & (mu > STIFFEST * mu[-1])
    if not heavy.all():
        refuse_massless_shapes(coupled, shapes[:, ~heavy])
    order = np.argsort(-mu)
    return 1.0 / mu[order], shapes[:, order] / np.sqrt(mu[order])


def _chosen(space: Space, modes: FeModes, static: int) -> tuple[Array, Array]:
    """Normal modes by count, by cut-off frequency, or the fewer of both."""
    count, limit = modes.count, modes.max_frequency
    if count is not None and count > space.size:
        cure = "keep fewer modes, or use a finer mesh"
        refuse("modes.count", f"at most {space.size} modes: as many as there are degrees of freedom", str(count), cure)
    if limit is None:
        squares, shapes = lowest(space, count or 0)
        if squares.size < (count or 0):
            found = f"{count}, but only {squares.size} motions have mass"
            refuse("modes.count", "as many modes as degrees of freedom with mass", found, "keep fewer modes")
        return squares, shapes
    cut = (2.0 * np.pi * limit) ** 2
    tried = min(count or FIRST_TRY, space.size)
    while True:
        squares, shapes = lowest(space, tried)
        below = int(np.count_nonzero(squares <= cut))
        if below < squares.size or squares.size < tried or tried >= min(count or MOST, space.size):
            break
        tried = min(2 * tried, count or MOST, space.size)
    if below >= MOST:
        found = f"{MOST} modes or more below {limit:g} Hz"
        refuse("modes.max_frequency", f"fewer than {MOST} modes", found, "lower max_frequency, or give count")
    if not below and not static and count != 0:
        lowest_one = f"{np.sqrt(squares[0]) / (2.0 * np.pi):.6g} Hz" if squares.size else "none"
        found = f"none below {limit:g} Hz; the lowest is {lowest_one}"
        refuse("modes.max_frequency", "at least one mode", found, "raise max_frequency")
    return squares[:below], shapes[:, :below]


def _separated(squares: Array, y: Array) -> Array:
    """Turn the shapes within groups of equal frequencies; see the head of this file."""
    y = y.copy()
    first = 0
    for k in range(1, squares.size + 1):
        if k < squares.size and squares[k] - squares[k - 1] <= GROUP * squares[k]:
            continue
        for j in range(first, k - 1):
            size = np.linalg.norm(y[:, j:k], axis=1)
            at = int(np.flatnonzero(size >= (1.0 - TIE) * size.max())[0])
            # A reflection that puts the whole motion of that degree of freedom into shape j.
            mirror = y[at, j:k].copy()
            mirror[0] += np.copysign(np.linalg.norm(mirror), mirror[0])
            y[:, j:k] -= np.outer(y[:, j:k] @ mirror, 2.0 * mirror / (mirror @ mirror))
        first = k
    return y


def _signed(model: FeModel, coupled: Coupled, y: Array) -> Array:
    """Make the largest translation of every shape positive."""
    along = np.abs(coupled.T @ y) if y.shape[1] else np.zeros((model.ndof, 0))
    along[(model.dof_component < 0) | (model.dof_component > 2)] = 0.0
    moved = coupled.T @ y
    for k in range(y.shape[1]):
        if not along[:, k].any():
            continue
        at = int(np.flatnonzero(along[:, k] >= (1.0 - TIE) * along[:, k].max())[0])
        if moved[at, k] < 0.0:
            y[:, k] *= -1.0
    return y


def _check_grounding(floating: Floating, squares: Array) -> None:
    """A rigid motion takes no stiffness worth mentioning: weak springs to the ground escape the check by rows."""
    if not squares.size:
        return
    k = floating.R.T @ (floating.K @ floating.R)
    ground = float(linalg.eigh(0.5 * (k + k.T), 0.5 * (floating.mass + floating.mass.T), eigvals_only=True)[-1])
    if ground > GROUNDED**2 * squares[0]:
        found = (
            f"a body that swings rigidly at {np.sqrt(ground) / (2.0 * np.pi):.4g} Hz, as if sprung to the ground; "
            f"its first mode has {np.sqrt(squares[0]) / (2.0 * np.pi):.4g} Hz"
        )
        cure = "remove springs to the ground; export matrices with more digits; take nodes from the same model"
        refuse("file", "stiffness that a rigid motion of the body does not strain", found, cure)


def modal_damping(damping: ModalDamping, frequencies: Array, matrix: Array | None) -> Array:
    """Modal damping of mass-orthonormal modes, (nm, nm).

    Args:
        damping: As the model file has it.
        frequencies: rad/s, (nm,).
        matrix: What the FE model's own damping matrix gives, or None.
    """
    nm = frequencies.size
    for name, given in (("damping", damping.ratios), ("damping.matrix", damping.matrix)):
        if given is not None and len(given) != nm:
            refuse(name, f"{nm}, one per mode", f"{len(given)}", f"give {nm} values, or one ratio for all")
    if damping.ratio is not None or damping.ratios is not None:
        ratios = np.full(nm, damping.ratio) if damping.ratios is None else np.array(damping.ratios)
        return np.diag(2.0 * ratios * frequencies)
    if damping.rayleigh is not None:
        alpha, beta = damping.rayleigh
        return np.diag(alpha + beta * frequencies**2)
    if damping.matrix is not None:
        return np.array(damping.matrix, dtype=np.float64).reshape(nm, nm)
    return np.zeros((nm, nm)) if matrix is None else 0.5 * (matrix + matrix.T)
