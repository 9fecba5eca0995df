"""Straight uniform beams: from section and material to inertia points, nodes, modes and damping."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bough.errors import ModelError, Problem
from bough.flex.body import Array, FlexBody
from bough.flex.line import TX, BeamProperties, lines
from bough.flex.modes import LineModes, Selection, beam_modes, merge_order
from bough.flex.points import Points


@dataclass(frozen=True)
class Rayleigh:
    """Damping proportional to mass and stiffness, alpha M + beta K: alpha in 1/s, beta in s."""

    alpha: float
    beta: float


Damping: TypeAlias = float | Sequence[float] | Rayleigh
"""One ratio for all modes, one ratio per mode, or Rayleigh's two coefficients."""


def beam_flex(
    beam: BeamProperties,
    selection: Selection,
    released: Collection[int] = (),
    interface: Collection[int] = (),
    damping: Damping = 0.0,
) -> FlexBody:
    """The flexible body of a beam from root (0, 0, 0) to tip (length, 0, 0), attached at its root.

    Args:
        beam: The beam in numbers.
        selection: Which modes to keep.
        released: Motions left free at the root when the modes are made (rows of a shape).
        interface: Craig-Bampton interface nodes (indices); empty for plain modes.
        damping: Ratios, or Rayleigh's coefficients.
    """
    sets = beam_modes(lines(beam), selection, released, interface)
    order = merge_order(sets)
    omega = np.array([sets[f].omega[i] for f, i in order])
    positions, masses, inertias = inertia_points(beam)
    node_positions = np.zeros((beam.elements + 1, 3))
    node_positions[:, 0] = beam.node_x
    shapes = _in_order([modes.line.shapes_at_points(modes.z) for modes in sets], sets, order)
    return FlexBody.from_points(
        Points(positions, masses, inertias, shapes),
        node_names=node_names(beam.elements),
        node_positions=node_positions,
        node_shapes=_in_order([modes.line.shapes_at_nodes(modes.z) for modes in sets], sets, order),
        attach=0,
        stiffness=np.diag(omega**2),
        damping=np.diag(modal_damping(omega, damping)),
        frequencies=omega,
        mode_names=tuple(f"{sets[f].line.name} {i + 1}" for f, i in order),
    )


def inertia_points(beam: BeamProperties) -> tuple[Array, Array, Array]:
    """Gauss points of all elements: positions (np, 3), masses (np,), rotary inertias (np, 3, 3).

    Their sums are exact for the uniform beam: mass rho A L, centre L/2, inertia about the root in bending
    rho A L^3 / 3 + rho I L.
    """
    positions = np.zeros((beam.point_x.size, 3))
    positions[:, 0] = beam.point_x
    lengths, per_length = beam.point_length, beam.inertia_per_length
    return positions, per_length[TX] * lengths, np.diag(per_length[:3]) * lengths[:, np.newaxis, np.newaxis]


def node_names(elements: int) -> tuple[str, ...]:
    """'root', 'n1' ... , 'tip', from one end of the beam to the other."""
    return ("root", *(f"n{i}" for i in range(1, elements)), "tip")


def modal_damping(omega: Array, damping: Damping) -> Array:
    """Damping of each mass-orthonormal mode: 2 z omega, or alpha + beta omega^2, 1/s, (nm,)."""
    if isinstance(damping, Rayleigh):
        return damping.alpha + damping.beta * omega**2
    ratios = np.asarray(damping, dtype=np.float64)
    if ratios.ndim and ratios.size != omega.size:
        raise ModelError(
            Problem(
                file="beam",
                line=None,
                key="beam.damping",
                expected=f"one damping ratio for each of the {omega.size} modes",
                found=f"{ratios.size} ratios",
                cure="give one number for all modes, or as many as the beam has modes",
            )
        )
    return 2.0 * ratios * omega


def _in_order(shapes: list[Array], sets: list[LineModes], order: list[tuple[int, int]]) -> Array:
    """Columns of the families' shapes, merged into one array (n, 6, nm)."""
    offsets = np.cumsum([0] + [modes.omega.size for modes in sets])
    return np.concatenate(shapes, axis=-1)[:, :, [int(offsets[f]) + i for f, i in order]]
