"""Sections of any kind along the elements: full stiffness and inertia, mass centres beside the axis, twist.

Own properties and the twist are linear between two stations. Along an element the stiffness in the section's axes is
taken as linear from its value at one end to that at the other, K = K_m + K_d P1, so that the strains
a0 P0 + a1 P1 (see `element`) have the energy a'Ga / 2 with

    G = l [[K_m, K_d / 3], [K_d / 3, K_m / 3]] = L L',    a = L^-T c,

for all kinds of strain together: c has unit energy, as in the elements whose strains do not see each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.flex.beam import element
from bough.flex.beam.frame import STRAINS, Frame
from bough.flex.points import Array

PLAIN = ("stretch", "twist", "bend_y", "bend_z")
"""Strains without shear."""


@dataclass(frozen=True, eq=False)
class GeneralMesh:
    """General sections along the elements, in the section's axes.

    Attributes:
        kinds: Kinds of strain, in the order of `unit`.
        unit: Strains of unit energy, a = U c, (ne, 2 kinds, 2 kinds); kind by kind, a0 before a1.
        rho_A: Mass per length at the Gauss points, kg/m, (ne, ng).
        center: Mass centres there from the axis, y and z, m, (ne, ng, 2).
        inertia: Rotary inertia per length there, about the mass centres, kg.m, (ne, ng, 3, 3).
    """

    kinds: tuple[str, ...]
    unit: Array
    rho_A: Array
    center: Array
    inertia: Array

    @property
    def shears(self) -> bool:
        """Whether the sections shear."""
        return len(self.kinds) == len(STRAINS)


def general_mesh(frame: Frame, begin: Array, end: Array) -> GeneralMesh:
    """The sections of a frame on its elements, which begin and end at these places, m, (ne,)."""
    size = len(frame.general[0].stiffness)
    kinds = STRAINS if size == 6 else PLAIN
    xi, _ = element.gauss()
    middle = 0.5 * (begin + end)
    K0, K1 = (_stiffness(frame, s, middle) for s in (begin, end))
    at = begin[:, np.newaxis] + (end - begin)[:, np.newaxis] * xi
    rho, center, inertia = _inertia(frame, at.ravel(), np.repeat(middle, xi.size))
    shape = at.shape
    return GeneralMesh(
        kinds,
        _unit_energy(K0, K1, end - begin),
        rho.reshape(shape),
        center.reshape(*shape, 2),
        inertia.reshape(*shape, 3, 3),
    )


def _between(frame: Frame, s: Array, inside: Array) -> tuple[Array, Array, Array]:
    """Stations before and after places (m,), each seen from the side of a place inside its element, and the share."""
    at = np.array([station.at for station in frame.stations])
    after = np.searchsorted(at, inside)
    left, right = np.maximum(after - 1, 0), np.minimum(after, at.size - 1)
    width = at[right] - at[left]
    return left, right, np.divide(s - at[left], width, out=np.zeros_like(s), where=width > 0.0)


def _linear(table: Array, between: tuple[Array, Array, Array]) -> Array:
    left, right, share = between
    share = share.reshape(-1, *[1] * (table.ndim - 1))
    linear: Array = table[left] + share * (table[right] - table[left])
    return linear


def turn(angle: Array) -> Array:
    """Rotations about x by angles (m,), (m, 3, 3): own axes to the section's."""
    c, s = np.cos(angle), np.sin(angle)
    out = np.zeros((angle.size, 3, 3))
    out[:, 0, 0] = 1.0
    out[:, 1, 1], out[:, 1, 2], out[:, 2, 1], out[:, 2, 2] = c, -s, s, c
    return out


def _stiffness(frame: Frame, s: Array, inside: Array) -> Array:
    """Stiffness in the section's axes at places, as strains have their signs here, (m, n, n)."""
    between = _between(frame, s, inside)
    own = _linear(np.array([section.stiffness for section in frame.general]), between)
    R = turn(_linear(np.array([section.twist for section in frame.general]), between))
    n = own.shape[1]
    Q = np.zeros((s.size, n, n))
    if n == 6:
        Q[:, :3, :3], Q[:, 3:, 3:] = R, R
    else:
        Q[:, 0, 0] = 1.0
        Q[:, 1:, 1:] = R
    Q[:, -2] *= -1.0  # bend_y turns the section about -y
    K: Array = Q @ own @ Q.transpose(0, 2, 1)
    return K


def _inertia(frame: Frame, s: Array, inside: Array) -> tuple[Array, Array, Array]:
    """Mass per length, mass centre and rotary inertia in the section's axes at places (m,)."""
    between = _between(frame, s, inside)
    sections = frame.general
    R = turn(_linear(np.array([section.twist for section in sections]), between))
    rho = _linear(np.array([section.rho_A for section in sections]), between)
    moment = _linear(np.array([section.rho_A * np.asarray(section.center) for section in sections]), between)
    center = np.einsum("mij,mj->mi", R[:, 1:, 1:], moment / rho[:, np.newaxis])
    own = _linear(np.array([section.inertia for section in sections]), between)
    return rho, center, R @ own @ R.transpose(0, 2, 1)


def _unit_energy(K0: Array, K1: Array, length: Array) -> Array:
    """U of a = U c for elements whose stiffness goes from K0 to K1, (ne, 2n, 2n)."""
    mean, rise = 0.5 * (K0 + K1), 0.5 * (K1 - K0)
    ne, n = mean.shape[:2]
    G = np.zeros((ne, n, 2, n, 2))
    G[:, :, 0, :, 0], G[:, :, 1, :, 1] = mean, mean / 3.0
    G[:, :, 0, :, 1], G[:, :, 1, :, 0] = rise / 3.0, rise / 3.0
    flat = (length[:, np.newaxis, np.newaxis] * G.reshape(ne, 2 * n, 2 * n)).astype(np.float64)
    scale = 1.0 / np.sqrt(np.einsum("eii->ei", flat))
    L = np.linalg.cholesky(flat * scale[:, :, np.newaxis] * scale[:, np.newaxis])
    unit: Array = scale[:, :, np.newaxis] * np.linalg.inv(L).transpose(0, 2, 1)
    return unit
