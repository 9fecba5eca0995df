"""Beams: from axis, sections and masses to inertia points, nodes, modes, damping and geometric stiffening."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError, Problem
from bough.flex.beam.frame import Frame
from bough.flex.beam.frame_bends import frame_stiffening
from bough.flex.beam.frame_mesh import Places
from bough.flex.beam.line import coupled, families
from bough.flex.beam.modes import NO_MOTION, LineModes, Selection, beam_modes, merge_order
from bough.flex.body import FlexBody
from bough.flex.integrals import Stiffening
from bough.flex.points import ROTATION, TRANSLATION, Array, Points
from bough.model.beam_data import beam_node_names

ALIGNED = 1e-6
"""How far, in rad, a released motion may be from a section axis and still count as along it."""


@dataclass(frozen=True)
class Rayleigh:
    """Damping proportional to mass and stiffness, alpha M + beta K: alpha in 1/s, beta in s."""

    alpha: float
    beta: float


Damping: TypeAlias = float | Sequence[float] | Sequence[Sequence[float]] | Rayleigh
"""One ratio for all modes, one ratio per mode, a full matrix, or Rayleigh's two coefficients."""


def beam_flex(
    frame: Frame,
    selection: Selection,
    released: Array = NO_MOTION,
    interface: Collection[int] = (),
    names: tuple[str, ...] = (),
    damping: Damping = 0.0,
    stiffening: bool = True,
) -> FlexBody:
    """The flexible body of a beam, attached at its root.

    Args:
        frame: The beam in numbers.
        selection: Which modes to keep.
        released: Motions left free at the root when the modes are made, (6, k), rotations first.
        interface: Craig-Bampton interface nodes (indices); empty for plain modes.
        names: Of the nodes; by default 'root', 'n1' ... 'tip'.
        damping: Of the modes.
        stiffening: Whether to prepare geometric stiffening.

    Raises:
        ModelError: The beam has fewer modes than asked for, or has no families to choose from, or its numbers are
            beyond floating point.
    """
    rows = _released_rows(frame, released) if frame.is_decoupled else None
    if rows is not None:
        turn, own = frame.axes[0], frame.in_own_axes()
        sets = beam_modes(families(own, interface), selection, np.eye(6)[:, rows], interface)
    elif selection.per_family is not None:
        raise _no_families(frame)
    else:
        turn = np.eye(3)
        sets = beam_modes([coupled(frame, interface)], selection, released, interface)
    order = merge_order(sets)
    omega = np.array([sets[f].omega[i] for f, i in order])
    mesh = sets[0].line.mesh
    masses, inertias = mesh.inertia
    origin = frame.corners[0] - turn @ mesh.frame.corners[0]
    body = FlexBody.from_points(
        Points(
            mesh.points.x @ turn.T + origin,
            masses,
            turn @ inertias @ turn.T,
            _turned(turn, _shapes(mesh.points, sets, order)),
        ),
        node_names=names or beam_node_names(frame.elements),
        node_positions=frame.position(frame.node_s),
        node_shapes=_turned(turn, _shapes(mesh.nodes, sets, order)),
        attach=0,
        stiffness=np.diag(omega**2),
        damping=damping_matrix(omega, damping),
        frequencies=omega,
        mode_names=tuple(f"{sets[f].line.name} {i + 1}" for f, i in order),
    )
    if not stiffening:
        return replace(body, smooth=True)
    return replace(body, smooth=True, stiffening=_stiffening(turn, sets, order))


def damping_matrix(omega: Array, damping: Damping) -> Array:
    """Damping of mass-orthonormal modes, 1/s, (nm, nm).

    On the diagonal 2 z omega, or alpha + beta omega^2; a matrix as it is.
    """
    if isinstance(damping, Rayleigh):
        return np.diag(damping.alpha + damping.beta * omega**2)
    values = np.asarray(damping, dtype=np.float64)
    if values.ndim and values.shape != (omega.size,) * values.ndim:
        matrix = values.ndim == 2
        size = " x ".join(str(n) for n in values.shape)
        raise ModelError(
            Problem(
                file="beam",
                line=None,
                key="beam.damping",
                expected=f"a row and a column for each of the {omega.size} modes"
                if matrix
                else f"one damping ratio for each of the {omega.size} modes",
                found=f"a matrix of {size}" if matrix else f"{size} ratios",
                cure="give one number for all modes, or as many as the beam has modes",
            )
        )
    return values if values.ndim == 2 else np.diag(2.0 * values * omega)


def _released_rows(frame: Frame, released: Array) -> NDArray[np.intp] | None:
    """Rows, in the section's axes, that a straight beam is released in; None if they are not along its axes."""
    own = np.kron(np.eye(2), frame.axes[0]).T @ released
    projector = own @ np.linalg.pinv(own)
    rows = np.flatnonzero(np.diag(projector) > 0.5)
    if np.any(np.abs(projector - np.diag(np.isin(np.arange(6), rows))) > ALIGNED):
        return None
    return rows


def _shapes(places: Places, sets: Sequence[LineModes], order: Sequence[tuple[int, int]]) -> Array:
    """Shapes of all families, merged into one array (m, 6, nm)."""
    shapes = np.concatenate([modes.line.shapes(places, modes.z) for modes in sets], axis=-1)
    return shapes[:, :, _columns(sets, order)]


def _columns(sets: Sequence[LineModes], order: Sequence[tuple[int, int]]) -> list[int]:
    """Where the modes are among those of all families, one family after the other."""
    offsets = np.cumsum([0] + [modes.omega.size for modes in sets])
    return [int(offsets[f]) + i for f, i in order]


def _turned(turn: Array, shapes: Array) -> Array:
    """Shapes (m, 6, nm) in the body's axes."""
    if np.array_equal(turn, np.eye(3)):
        return shapes
    return np.concatenate([turn @ shapes[:, ROTATION], turn @ shapes[:, TRANSLATION]], axis=1)


def _stiffening(turn: Array, sets: Sequence[LineModes], order: Sequence[tuple[int, int]]) -> Stiffening:
    """Geometric stiffening in the body's axes, modes in order."""
    columns = _columns(sets, order)
    own = frame_stiffening(sets)
    return own.transformed(turn.T, np.eye(len(columns))[:, columns])


def _no_families(frame: Frame) -> ModelError:
    reasons = {
        frame.is_decoupled: "modes pinned about an axis that is not one of its section's axes",
        frame.is_straight and not frame.is_decoupled: "a mass beside its axis, or with products of inertia",
        not frame.is_straight: "an axis with corners",
    }
    return ModelError(
        Problem(
            file="beam",
            line=None,
            key="beam.modes",
            expected="`count` or `max_frequency`: bending, torsion and stretch of this beam are not apart",
            found=f"numbers of modes per family, but {reasons[True]}",
            cure="write e.g. {boundary: cantilever, count: 6}",
        )
    )
