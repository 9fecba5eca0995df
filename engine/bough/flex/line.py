"""A straight beam as four plane problems that do not see each other.

The section is doubly symmetric about the body's y and z axes, so stretch, twist and both bendings decouple.
Solving each family by itself keeps shapes clean when frequencies coincide (Iy = Iz), and reproducible.

    family      motion                                           rigidity
    bending_y   translation z = w, rotation y = -s               EIy, kGAz
    bending_z   translation y = w, rotation z = +s               EIz, kGAy
    torsion     rotation x = u                                   GJ
    axial       translation x = u                                EA

`bending_y` is bending *about* y: the beam deflects along z.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from bough.flex import element
from bough.flex.body import Array

MESH_LIMIT = 400
"""Most elements that are computed with; the matrices of a family are dense."""

RX, RY, RZ, TX, TY, TZ = range(6)
"""Rows of a shape: rotations first."""


@dataclass(frozen=True)
class BeamProperties:
    """A uniform straight beam in numbers: SI units, section axes along the body's y and z.

    Attributes:
        length: m.
        elements: Number of equal elements, which the named nodes bound.
        EA: Stretching rigidity, N.
        GJ: Twisting rigidity, N.m^2.
        EIy: Bending rigidity about y, N.m^2.
        EIz: Bending rigidity about z, N.m^2.
        rho_A: Mass per length, kg/m.
        rho_Iy: Rotary inertia per length about y, kg.m.
        rho_Iz: Rotary inertia per length about z, kg.m.
        kGAy: Shear rigidity for deflection along y, N; infinite for Euler-Bernoulli.
        kGAz: Shear rigidity for deflection along z, N; infinite for Euler-Bernoulli.
    """

    length: float
    elements: int
    EA: float
    GJ: float
    EIy: float
    EIz: float
    rho_A: float
    rho_Iy: float
    rho_Iz: float
    kGAy: float = math.inf
    kGAz: float = math.inf

    @property
    def mesh(self) -> int:
        """Number of elements that are computed with.

        Beyond MESH_LIMIT the error of the first five modes is below 2e-9; named nodes are then read off the
        interpolation, and the number of inertia points stays within reason.
        """
        return min(self.elements, MESH_LIMIT)

    @property
    def mesh_x(self) -> Array:
        """Places where the elements begin, m, (mesh,)."""
        return np.linspace(0.0, self.length, self.mesh + 1)[:-1]

    @property
    def element_length(self) -> float:
        """Length of one element of the mesh, m."""
        return self.length / self.mesh

    @property
    def node_x(self) -> Array:
        """Places of the named nodes along the beam, m, (elements + 1,)."""
        return np.linspace(0.0, self.length, self.elements + 1)

    @property
    def point_x(self) -> Array:
        """Places of the Gauss points along the beam, m, element by element."""
        xi, _ = element.gauss()
        return (self.mesh_x[:, np.newaxis] + self.element_length * xi).ravel()

    @property
    def point_length(self) -> Array:
        """Length of beam that each Gauss point stands for, m; they sum to the length."""
        _, weights = element.gauss()
        return np.tile(self.element_length * weights, self.mesh)

    @property
    def inertia_per_length(self) -> Array:
        """Mass (kg/m) or rotary inertia (kg.m) per length that goes with each row of a shape, (6,)."""
        polar = self.rho_Iy + self.rho_Iz
        return np.array([polar, self.rho_Iy, self.rho_Iz, self.rho_A, self.rho_A, self.rho_A])


@dataclass(frozen=True)
class Line:
    """One family of a beam: its motion by coordinates z = [root, c].

    `root` are the motions of the root, which carry the beam along rigidly; `c` are the strains of all
    elements, sized so that the elastic energy is c'c / 2.

    Attributes:
        name: Of the family.
        rows: Rows of a six-row shape that the family moves; root coordinate i moves rows[i] at the root.
        signs: Spatial component = sign * family's component, for each of the rows.
        points: Components at the Gauss points per unit of z, (np, rows, nz).
        nodes: Components at the nodes per unit of z, (nn, rows, nz).
        weighted: `points`, each component times the root of its mass or rotary inertia, one below the other,
            (np rows, nz): the kinetic energy, summed over the Gauss points, is |weighted z_dot|^2 / 2.
    """

    name: str
    rows: tuple[int, ...]
    signs: tuple[float, ...]
    points: Array
    nodes: Array
    weighted: Array

    @property
    def n_root(self) -> int:
        """Number of root coordinates, which come first in z."""
        return len(self.rows)

    @property
    def n_strain(self) -> int:
        """Number of strain coordinates."""
        return int(self.points.shape[2]) - self.n_root

    def shapes_at_points(self, z: Array) -> Array:
        """Six-row shapes at the Gauss points, (np, 6, n), of coordinate vectors (nz, n)."""
        return self._six_rows(self.points, z)

    def shapes_at_nodes(self, z: Array) -> Array:
        """Six-row shapes at the nodes, (nn, 6, n), of coordinate vectors (nz, n)."""
        return self._six_rows(self.nodes, z)

    def _six_rows(self, components: Array, z: Array) -> Array:
        shapes = np.zeros((len(components), 6, z.shape[1]))
        for i, (row, sign) in enumerate(zip(self.rows, self.signs, strict=True)):
            shapes[:, row] = sign * (components[:, i] @ z)
        return shapes


def lines(beam: BeamProperties) -> tuple[Line, ...]:
    """The four families of a beam, in the order that breaks ties between equal frequencies."""
    bending_y = partial(bending_motion, beam, beam.EIy, beam.kGAz)
    bending_z = partial(bending_motion, beam, beam.EIz, beam.kGAy)
    return (
        _line("bending_y", beam, bending_y, rows=(TZ, RY), signs=(1.0, -1.0)),
        _line("bending_z", beam, bending_z, rows=(TY, RZ), signs=(1.0, 1.0)),
        _line("torsion", beam, partial(rod_motion, beam, beam.GJ), rows=(RX,), signs=(1.0,)),
        _line("axial", beam, partial(rod_motion, beam, beam.EA), rows=(TX,), signs=(1.0,)),
    )


def _line(
    name: str,
    beam: BeamProperties,
    components: Callable[[Array], Array],
    rows: tuple[int, ...],
    signs: tuple[float, ...],
) -> Line:
    points = components(beam.point_x)
    inertia = beam.inertia_per_length[list(rows)] * beam.point_length[:, np.newaxis]
    weighted = (np.sqrt(inertia)[..., np.newaxis] * points).reshape(inertia.size, -1)
    return Line(name, rows, signs, points, components(beam.node_x), weighted)


def rod_motion(beam: BeamProperties, rigidity: float, x: Array) -> Array:
    """The motion u of a rod at places x (m,), per unit of z, (m, 1, nz).

    Args:
        beam: The beam.
        rigidity: EA, N, or GJ, N.m^2.
        x: Places along the beam, m.
    """
    xi, _ = _inside_and_beyond(beam, x)
    u = element.once(xi, beam.element_length) * element.unit_energy(rigidity, beam.element_length)
    return np.hstack([np.ones((x.size, 1)), u.reshape(x.size, -1)])[:, np.newaxis]


def bending_motion(beam: BeamProperties, bending: float, shear: float, x: Array) -> Array:
    """The motion (w, s) in bending at places x (m,), per unit of z, (m, 2, nz).

    Args:
        beam: The beam.
        bending: EI, N.m^2.
        shear: kGA, N; infinite for Euler-Bernoulli.
        x: Places along the beam, m.
    """
    xi, beyond = _inside_and_beyond(beam, x)
    length, size = beam.element_length, element.unit_energy(bending, beam.element_length)
    s = element.once(xi, length) * size
    # Past the element its slope at the far end carries on.
    w = element.twice(xi, length) * size + beyond[..., np.newaxis] * s
    if math.isfinite(shear):
        w_shear = element.once(xi, length) * element.unit_energy(shear, length)
        w, s = np.concatenate([w, w_shear], axis=-1), np.concatenate([s, np.zeros_like(w_shear)], axis=-1)
    shift, turn = [np.ones_like(x), np.zeros_like(x)], [x, np.ones_like(x)]
    root = np.stack([shift, turn], axis=-1).transpose(1, 0, 2)
    strains = np.stack([w.reshape(x.size, -1), s.reshape(x.size, -1)], axis=1)
    return np.concatenate([root, strains], axis=-1)


def _inside_and_beyond(beam: BeamProperties, x: Array) -> tuple[Array, Array]:
    """How far places x have come in each element, xi in [0, 1], and past its end, m; both (m, mesh)."""
    along = x[:, np.newaxis] - beam.mesh_x[np.newaxis]
    xi = np.clip(along / beam.element_length, 0.0, 1.0)
    return xi, np.maximum(along - beam.element_length, 0.0)
