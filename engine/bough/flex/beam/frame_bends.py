"""Geometric stiffening of beams: how far a point moves at second order when strains stay what they are.

Take strains linear in eta, so that the elastic energy stays quadratic. With theta the modal rotation of the
section, the section turns by the rotation vector theta eta + theta_2, and the axis, of unit tangent e, follows:

    theta_2' = 1/2 theta x theta'                                  (R' = R kappa~, kappa = theta' eta)
    u_2'     = theta_2 x e + 1/2 t x (t x e)                       (R e, less e, less first order)

per eta eta; t is the rotation of the tangent, which is theta and, where the beam shears, the shear angle too. For a
straight beam in a plane this is the foreshortening u_2' = -w'^2 / 2; a twist phi together with a bending v
adds the deflection w_2'' = phi v'', which makes a narrow beam buckle sideways. Terms of the size of a strain
times a rotation are left out. All is integrated from the root, corners carry what follows along, and

    H_rs = d^2 u_2 / d eta_r d eta_s

is symmetric in the modes. Rotations are polynomials in xi within an element, so every integral is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bough.flex.beam.element import gauss
from bough.flex.beam.frame_mesh import Mesh
from bough.flex.beam.line import TURNS
from bough.flex.beam.modes import LineModes
from bough.flex.integrals import Stiffening, centrifugal
from bough.flex.points import TRANSLATION, Array
from bough.flex.rows import point_rows

SHEAR_TURNS = {"shear_y": (2, 1.0), "shear_z": (1, -1.0)}
"""Section axis about which a shear turns the tangent, and the sign."""
CHUNK = 100_000
"""Elements are taken so many at a time that elements times nm^2 is about this."""


def frame_stiffening(sets: Sequence[LineModes]) -> Stiffening:
    """The tables of a frame's modes, one family after the other, in its axes, about its root."""
    mesh = sets[0].line.mesh
    nm = sum(modes.omega.size for modes in sets)
    masses, _ = mesh.inertia
    nodes, moments = mesh.nodes, masses[:, np.newaxis] * (mesh.points.x - mesh.origin[0])
    xi, _ = gauss()
    node_bends = np.zeros((nodes.s.size, 3, nm, nm))
    every = np.zeros((masses.size, 3, nm, nm))
    E1, W, half = np.zeros((3, nm, nm)), np.zeros((3, 3, nm, nm)), np.zeros((nm, nm, nm))
    shapes = np.concatenate([modes.line.shapes(mesh.points, modes.z)[:, TRANSLATION] for modes in sets], axis=-1)
    momenta = masses[:, np.newaxis, np.newaxis] * shapes
    element_of = mesh.element_of(nodes.s)
    for bent in _along(mesh, *rotations(sets)):
        points = slice(bent.first * xi.size, bent.last * xi.size)
        bends = bent.bends(xi)
        if mesh.arms.any():
            bends = bends + bent.carried_all(xi, mesh.arms[bent.first : bent.last])
        every[points] = bends
        E1 += np.tensordot(masses[points], bends, axes=1)
        W += np.tensordot(moments[points].T, bends, axes=1)
        half += np.tensordot(momenta[points], bends, axes=((0, 1), (0, 1)))
        for e in range(bent.first, bent.last):
            inside = element_of == e
            node_bends[inside] = bent.bends_in(e, (nodes.s[inside] - mesh.s[e]) / mesh.length[e])
        for i, lump in enumerate(mesh.frame.masses, mesh.size * xi.size):
            e = int(element_of[lump.node])
            if bent.first <= e < bent.last:
                place = float((nodes.s[lump.node] - mesh.s[e]) / mesh.length[e])
                carried = every[i] = node_bends[lump.node] + bent.carried(e, place, lump.com)
                E1 += masses[i] * carried
                W += moments[i][:, np.newaxis, np.newaxis, np.newaxis] * carried
                half += np.tensordot(momenta[i], carried, axes=((0,), (0,)))
    W = W.transpose(2, 3, 1, 0)  # sum m H l0', (nm, nm, 3, 3)
    F1 = np.stack([W[..., 2, 1] - W[..., 1, 2], W[..., 0, 2] - W[..., 2, 0], W[..., 1, 0] - W[..., 0, 1]], axis=1)
    half = half.transpose(2, 0, 1)  # sum m gam_r . H_sq, (q, r, s)
    tables = E1.transpose(1, 0, 2), F1, centrifugal(W).transpose(0, 2, 1)
    rows = point_rows(masses, mesh.points.x - mesh.origin[0], shapes, every)
    return Stiffening(*tables, node_bends, half + half.transpose(0, 2, 1), rows)


def rotations(sets: Sequence[LineModes]) -> tuple[Array, Array]:
    """Modal rotation of section and of tangent, as polynomials in xi: both (ne, 3 coefficients, 3 axes, nm)."""
    mesh = sets[0].line.mesh
    theta = np.zeros((mesh.size, 3, 3, sum(modes.omega.size for modes in sets)))
    tangent = np.zeros_like(theta)
    first = 0
    for modes in sets:
        line, columns = modes.line, slice(first, first + modes.omega.size)
        for i, row in enumerate(line.rows):
            if row < 3:
                theta[:, 0, row, columns] += modes.z[i]
        for kind in line.kinds:
            a0, a1 = line.strains(kind, modes.z).transpose(1, 0, 2)
            if kind in TURNS:
                column, sign = TURNS[kind]
                # Strain a0 + a1 (2 xi - 1), integrated.
                axis = sign * mesh.length[:, np.newaxis] * mesh.axes[:, :, column]
                theta[:, 1, :, columns] += axis[..., np.newaxis] * (a0 - a1)[:, np.newaxis]
                theta[:, 2, :, columns] += axis[..., np.newaxis] * a1[:, np.newaxis]
            elif kind in SHEAR_TURNS:
                column, sign = SHEAR_TURNS[kind]
                axis = sign * mesh.axes[:, :, column]
                tangent[:, 0, :, columns] += axis[..., np.newaxis] * (a0 - a1)[:, np.newaxis]
                tangent[:, 1, :, columns] += axis[..., np.newaxis] * (2.0 * a1)[:, np.newaxis]
        first = columns.stop
    # What the elements before have turned by.
    theta[1:, 0] += np.cumsum(theta[:-1, 1] + theta[:-1, 2], axis=0)
    return theta, tangent + theta


@dataclass(frozen=True, eq=False)
class _Bent:
    """Second-order motion along some elements, per eta eta, symmetric in the modes.

    Attributes:
        first: The first of n elements.
        theta: Rotation of the sections, polynomials in xi, (n, 3 coefficients, 3, nm).
        rotation: theta_2, polynomials of degree three, (n, 4, 3, nm, nm).
        shift: H of the axis, polynomials of degree five, m, (n, 6, 3, nm, nm).
    """

    first: int
    theta: Array
    rotation: Array
    shift: Array

    @property
    def last(self) -> int:
        """The element after them."""
        return self.first + len(self.theta)

    def bends(self, xi: Array) -> Array:
        """H of the same places (m,) of all elements, element by element, m, (n m, 3, nm, nm)."""
        n, nm = len(self.shift), self.shift.shape[-1]
        bends: Array = (xi[:, np.newaxis] ** np.arange(6)) @ self.shift.reshape(n, 6, 3 * nm**2)
        return bends.reshape(n * xi.size, 3, nm, nm)

    def bends_in(self, e: int, xi: Array) -> Array:
        """H of places (m,) of one element, m, (m, 3, nm, nm)."""
        bends: Array = np.tensordot(xi[:, np.newaxis] ** np.arange(6), self.shift[e - self.first], axes=1)
        return bends

    def carried_all(self, xi: Array, arms: Array) -> Array:
        """What rigid arms (n, m, 3) at the same places (m,) of all elements add to H, m, (n m, 3, nm, nm)."""
        at = [
            [self.carried(self.first + e, float(x), arm) for x, arm in zip(xi, row, strict=True)]
            for e, row in enumerate(arms)
        ]
        carried = np.array(at)
        return carried.reshape(-1, *carried.shape[2:])

    def carried(self, e: int, xi: float, arm: Array) -> Array:
        """What a rigid arm (3,) on an element adds to H at its far end, m, (3, nm, nm)."""
        theta, rotation = (_at(part[e - self.first], xi)[np.newaxis] for part in (self.theta, self.rotation))
        arm = arm[np.newaxis]
        bend: Array = _crossed(rotation[:, np.newaxis], arm)[0, 0] + _twice_turned(theta, theta, arm)[0]
        return bend


def _along(mesh: Mesh, theta: Array, tangent: Array) -> Iterator[_Bent]:
    """The elements from root to tip, some at a time."""
    nm = theta.shape[-1]
    rotation, shift = np.zeros((3, nm, nm)), np.zeros((3, nm, nm))
    size = max(CHUNK // max(nm, 1) ** 2, 1)
    for first in range(0, mesh.size, size):
        chosen = slice(first, first + size)
        axis, t = mesh.axes[chosen, :, 0], theta[chosen]
        turned = [0.5 * _both(t[:, 0], t[:, 1]), 0.5 * _both(t[:, 0], t[:, 2]), _both(t[:, 1], t[:, 2]) / 6.0]
        turns = _joined(rotation, turned)
        slope = np.zeros((len(t), 5, 3, nm, nm))
        slope[:, :4] = _crossed(turns, axis)
        for a in range(3):
            for b in range(3):
                slope[:, a + b] += _twice_turned(tangent[chosen, a], tangent[chosen, b], axis)
        scale = mesh.length[chosen, np.newaxis] / np.arange(1, 6)
        shifts = _joined(shift, list((scale[..., np.newaxis, np.newaxis, np.newaxis] * slope).swapaxes(0, 1)))
        yield _Bent(first, t, turns, shifts)
        rotation, shift = turns[-1].sum(axis=0), shifts[-1].sum(axis=0)


def _joined(start: Array, coefficients: list[Array]) -> Array:
    """Polynomials (n, number + 1, ...) that go on where the one before ends, by all but their constants (n, ...)."""
    joined = np.stack([coefficients[0], *coefficients], axis=1)
    ends = np.cumsum(np.sum(coefficients, axis=0), axis=0)
    joined[0, 0] = start
    joined[1:, 0] = start + ends[:-1]
    return joined


def _at(polynomial: Array, xi: float) -> Array:
    """The value of a polynomial by its coefficients (n, ...)."""
    value: Array = np.tensordot(xi ** np.arange(len(polynomial)), polynomial, axes=1)
    return value


def _crossed(turn: Array, x: Array) -> Array:
    """Rotations (n, m, 3, nm, nm) x vectors (n, 3)."""
    crossed: Array = np.cross(turn, x[:, np.newaxis, :, np.newaxis, np.newaxis], axis=2)
    return crossed


def _both(a: Array, b: Array) -> Array:
    """a_r x b_s + a_s x b_r of modal vectors (n, 3, nm), (n, 3, nm, nm)."""
    one: Array = np.cross(a[..., np.newaxis], b[:, :, np.newaxis], axis=1)
    both: Array = one + one.swapaxes(2, 3)
    return both


def _twice_turned(a: Array, b: Array, x: Array) -> Array:
    """The part symmetric in r, s of a_r x (b_s x x) = b_s (a_r . x) - x (a_r . b_s), (n, 3, nm, nm)."""
    along = (x[:, np.newaxis] @ a).swapaxes(1, 2)[:, np.newaxis]
    one: Array = b[:, :, np.newaxis] * along - x[..., np.newaxis, np.newaxis] * (a.swapaxes(1, 2) @ b)[:, np.newaxis]
    half: Array = 0.5 * (one + one.swapaxes(2, 3))
    return half
