"""Shells and beams as fibres that turn with their nodes; see `stress` for the formulas.

A shell is integrated over two points of its thickness, a beam over four of its section, at the radii of gyration: that
is exact for forces and moments. A beam's shear stress of torsion is that of a turning section, scaled to its torque.
The rotation of a shell about its normal, which many programs leave to a fictitious stiffness, takes no part.
"""

from __future__ import annotations

import numpy as np

from bough.flex.fe.elements import BeamSection, Part, scattered
from bough.flex.fe.fe_model import Array, FeModel, Integers, Sparse
from bough.flex.fe.problem import refuse
from bough.flex.fe.shapes import reference, rule

SHEAR = 5.0 / 6.0
"""Shear area of a plate over its thickness."""
RULES = {("triangle", 3): 1, ("triangle", 6): 2, ("square", 4): 2, ("square", 8): 2, ("line", 2): 1, ("line", 3): 2}
"""Points each way where the strains of shells and beams do not lock; shear of linear quadrilaterals as a mean."""


class Fibres:
    """Gradients of the displacement of fibres: `along` the axis or the surface, `turn` of the section.

    Attributes:
        volumes: Weights of the points, (ne, points).
    """

    def __init__(self, model: FeModel, part: Part, nodes: Integers, dofs: Integers) -> None:
        """Prepare the points of all elements."""
        self.model, self.part = model, part
        ne, n = nodes.shape
        self.dofs = dofs.reshape(ne, 6 * n)
        if part.thickness is None and part.beam is None:
            raise ValueError(part.name)
        x = model.positions[nodes]
        if part.beam is not None and part.beam.hermite:
            self._cubic(x, part.beam)
        else:
            places, weights = rule(part.kind, RULES[part.kind, n])
            self._interpolated(x, places, weights)
        if part.beam is None:
            h = 0.5 * part.thickness / np.sqrt(3.0)  # type: ignore[operator]
            places = np.array([[0.0, 0.0, -h], [0.0, 0.0, h]])
            self.fibre_weight = 0.5 * part.thickness  # type: ignore[operator]
        else:
            y, z = np.sqrt(part.beam.I3 / part.beam.A), np.sqrt(part.beam.I2 / part.beam.A)
            places = np.array([[0.0, i * y, j * z] for i in (-1, 1) for j in (-1, 1)])
            self.fibre_weight = 0.25 * part.beam.A
        self.places = places

    def _interpolated(self, x: Array, places: Array, weights: Array) -> None:
        """Lagrange's functions for displacements and rotations."""
        element = reference(self.part.kind, x.shape[1])
        N, slopes = element.values(places), element.slopes(places)
        tangents = np.einsum("pak,eai->epki", slopes, x)
        first = tangents[..., 0, :]
        if self.part.beam is None:
            normal = np.cross(first, tangents[..., 1, :])
            size = np.linalg.norm(normal, axis=-1)
            # Of a quadrilateral whose corners cross, the normal turns over within.
            over = np.einsum("epi,ei->ep", normal, normal[:, 0]) <= 0.0
            e1, e3 = _unit(first), _unit(normal)
            axes = np.stack([e1, np.cross(e3, e1), e3], axis=2)
            # d/dxi_k = (x,k . e_t) d_t
            local = np.einsum("epki,epti->epkt", tangents, axes[:, :, :2])
            flat = size <= 0.0
            inverse = np.linalg.inv(np.where(flat[..., None, None], np.eye(2), local))
        else:
            size = np.linalg.norm(first, axis=-1)
            axes = _beam_axes(_unit(first), self.part.beam, self.part.name)
            inverse = 1.0 / np.where(size > 0.0, size, 1.0)[..., None, None]
        self.volumes = size * weights
        if self.part.beam is None:
            self.volumes = np.where(over, 0.0, self.volumes)
        self.axes = axes
        d = np.einsum("pak,eptk->epta", slopes, inverse)
        eye = np.eye(3)
        ne, p, t, n = d.shape
        self.along = np.zeros((ne, p, t, 3, n, 6))
        self.along[..., :3] = np.einsum("epta,ij->eptiaj", d, eye)
        bend = np.zeros_like(self.along)
        bend[..., 3:] = np.einsum("epta,ij->eptiaj", d, eye)
        turn = np.zeros((ne, p, 3, n, 6))
        turn[..., 3:] = np.einsum("pa,ij->piaj", N, eye)[None]
        self.along, bend, turn = (a.reshape(*a.shape[:-2], 6 * n) for a in (self.along, bend, turn))
        if self.part.beam is None:
            surface = eye - np.einsum("epi,epj->epij", axes[:, :, 2], axes[:, :, 2])
            bend, turn = np.einsum("epij,eptjd->eptid", surface, bend), np.einsum("epij,epjd->epid", surface, turn)
        self.bend, self.turn = bend, turn
        self.shear: Array | None = None
        self.curve = self.bend

    def _cubic(self, x: Array, beam: BeamSection) -> None:
        """Hermite's cubics across, linear along and in torsion; sections stay at right angles to the axis."""
        places, weights = rule("line", 3)
        chord = x[:, 1] - x[:, 0]
        L = np.linalg.norm(chord, axis=1)
        axes = _beam_axes(_unit(chord)[:, None], beam, self.part.name)
        e1 = axes[:, 0, 0]
        E, G = self.part.E, self.part.E / (2.0 * (1.0 + self.part.nu))
        ne, p = len(x), len(places)
        axial = np.einsum("ei,ej->eij", e1, e1)
        across = np.eye(3) - axial
        slope = -_cross_matrix(e1)  # th x e1 = -e1~ th
        eye = np.eye(3)
        self.along, self.bend = np.zeros((2, ne, p, 1, 3, 12))
        self.turn, self.shear = np.zeros((2, ne, p, 3, 12))
        curve = np.zeros((ne, p, 1, 3, 12))
        span = L[:, None, None]
        # Shear force: 12 EI / L^3 (1 + Phi) (dv - L mean slope), per axis, in basic axes.
        stiff = np.zeros((ne, 3, 3))
        bent = np.zeros((ne, 3, 3))
        for k, (inertia, ratio) in enumerate(((beam.I3, beam.shear[0]), (beam.I2, beam.shear[1]))):
            direction = axes[:, 0, 1 + k]
            own = np.einsum("ei,ej->eij", direction, direction)
            phi = 12.0 * E * inertia / (G * beam.A * ratio * L**2)
            stiff += (12.0 * E * inertia / (L**3 * (1.0 + phi)))[:, None, None] * own
            bent += own / (E * inertia)
        lean = np.zeros((ne, 3, 12))
        lean[..., 0:3], lean[..., 6:9] = -eye, eye
        lean[..., 3:6] = lean[..., 9:12] = -0.5 * span * slope
        force = np.einsum("eij,ejd->eid", stiff, lean)
        for q, xi in enumerate((0.5 * (places[:, 0] + 1.0)).tolist()):
            v = (6.0 * xi * (xi - 1.0), (1.0 - xi) * (1.0 - 3.0 * xi), xi * (3.0 * xi - 2.0))
            c = (6.0 * (2.0 * xi - 1.0), 6.0 * xi - 4.0, 6.0 * xi - 2.0)
            d, dd = np.zeros((2, ne, 3, 12))
            d[..., 0:3], d[..., 6:9] = v[0] * across / span, -v[0] * across / span
            d[..., 3:6], d[..., 9:12] = v[1] * slope, v[2] * slope
            dd[..., 0:3], dd[..., 6:9] = c[0] * across / span**2, -c[0] * across / span**2
            dd[..., 3:6], dd[..., 9:12] = c[1] * slope / span, c[2] * slope / span
            about = _cross_matrix(e1)
            self.along[:, q, 0] = d
            self.along[:, q, 0, :, 0:3] -= axial / span
            self.along[:, q, 0, :, 6:9] += axial / span
            twist = np.zeros((ne, 3, 12))
            twist[..., 3:6], twist[..., 9:12] = -axial / span, axial / span
            self.bend[:, q, 0] = twist + np.einsum("eij,ejd->eid", about, dd)
            self.turn[:, q] = np.einsum("eij,ejd->eid", about, d)
            self.turn[:, q, :, 3:6] += (1.0 - xi) * axial
            self.turn[:, q, :, 9:12] += xi * axial
            mean = np.zeros((ne, 3, 12))
            mean[..., 3:6], mean[..., 9:12] = -slope / span, slope / span
            mean = mean - (xi - 0.5) * span * np.einsum("eij,ejd->eid", bent, force)
            curve[:, q, 0] = twist + np.einsum("eij,ejd->eid", about, mean)
            self.shear[:, q] = force
        self.curve = curve
        self.axes = np.repeat(axes, p, axis=1)
        self.volumes = 0.5 * L[:, None] * weights

    def stress(self, u: Array) -> tuple[Array, float]:
        """At the points of the fibres, Pa, local axes, (ne, points, fibres, 3, 3), and the strain energy, J."""
        local = np.where(self.dofs >= 0, u[self.dofs], 0.0)
        along = np.einsum("eptid,ed,epji->eptj", self.along, local, self.axes, optimize=True)
        curve = np.einsum("eptid,ed,epji->eptj", self.curve, local, self.axes, optimize=True)
        turn = np.einsum("epid,ed,epji->epj", self.turn, local, self.axes, optimize=True)
        if self.part.beam is None:
            return self._plate(along, curve, turn)
        force = None
        if self.shear is not None:
            force = np.einsum("epid,ed,epji->epj", self.shear, local, self.axes, optimize=True)
        return self._beam(self.part.beam, along[:, :, 0], curve[:, :, 0], turn, force)

    def _plate(self, along: Array, curve: Array, turn: Array) -> tuple[Array, float]:
        E, nu = self.part.E, self.part.nu
        ne, p = along.shape[:2]
        stress = np.zeros((ne, p, 2, 3, 3))
        energy = 0.0
        # th x e3 = (th2, -th1, 0)
        gamma = along[:, :, :, 2] + np.stack([turn[..., 1], -turn[..., 0]], axis=-1)
        linear = self.part.kind == "square" and self.dofs.shape[1] == 24
        if linear:
            gamma = _mean(gamma)
        tau = SHEAR * E / (2.0 * (1.0 + nu)) * gamma
        for k, z in enumerate(self.places[:, 2]):
            slope = along[..., :2] + z * np.stack([curve[..., 1], -curve[..., 0]], axis=-1)
            strain = 0.5 * (slope + slope.swapaxes(-1, -2))
            if linear:
                strain[..., 0, 1] = strain[..., 1, 0] = _mean(strain[..., 0, 1])
            trace = np.trace(strain, axis1=-2, axis2=-1)[..., None, None]
            flat = E / (1.0 - nu**2) * ((1.0 - nu) * strain + nu * trace * np.eye(2))
            stress[:, :, k, :2, :2] = flat
            stress[:, :, k, :2, 2] = stress[:, :, k, 2, :2] = tau
            density = np.einsum("epij,epij->ep", flat, strain) + np.einsum("epi,epi->ep", tau, gamma)
            energy += 0.5 * self.fibre_weight * float((self.volumes * density).sum())
        return stress, energy

    def _beam(
        self, beam: BeamSection, along: Array, curve: Array, turn: Array, force: Array | None
    ) -> tuple[Array, float]:
        E, G = self.part.E, self.part.E / (2.0 * (1.0 + self.part.nu))
        area = G * beam.A * np.array(beam.shear)
        if force is None:
            # th x e2 . e1 = -th3, th x e3 . e1 = th2
            L = self.volumes.sum(axis=1)[:, None]
            inertia = np.array([beam.I3, beam.I2])
            lowered = inertia > 0.0
            area = (
                area
                / (
                    1.0
                    + np.where(lowered, beam.slender * beam.A * L**2 / (12.0 * np.where(lowered, inertia, 1.0)), 0.0)
                )[:, None]
            )
            Q = area * (along[..., 1:] + np.stack([-turn[..., 2], turn[..., 1]], axis=-1))
        else:
            Q = force[..., 1:]
        torque = G * beam.J * curve[..., 0]
        ne, p = torque.shape
        stress = np.zeros((ne, p, 4, 3, 3))
        energy = (Q**2 / np.where(area > 0.0, area, np.inf)).sum(axis=-1)
        energy = energy + (torque**2 / (G * beam.J) if beam.J > 0.0 else 0.0)
        for k, (_, y, z) in enumerate(self.places):
            # e1 . (th' x r) = th2' z - th3' y
            axial = E * (along[..., 0] + curve[..., 1] * z - curve[..., 2] * y)
            stress[:, :, k, 0, 0] = axial
            polar = (beam.I2 + beam.I3) or 1.0
            for axis, tau in (
                (1, Q[..., 0] / beam.A - torque * z / polar),
                (2, Q[..., 1] / beam.A + torque * y / polar),
            ):
                stress[:, :, k, 0, axis] = stress[:, :, k, axis, 0] = tau
            energy = energy + self.fibre_weight * axial**2 / E
        return stress, 0.5 * float((self.volumes * energy).sum())

    def stiffness(self, stress: Array) -> Sparse:
        """Kg of a stress, (ndof, ndof)."""
        nt = self.along.shape[2]
        total = np.zeros((len(self.dofs), self.dofs.shape[1], self.dofs.shape[1]))
        w = self.fibre_weight * self.volumes
        for k, place in enumerate(self.places):
            r = np.einsum("k,epki->epi", place, self.axes)
            G = np.zeros((*self.along.shape[:2], 3, *self.along.shape[3:]))
            G[:, :, :nt] = self.along - np.einsum("epij,eptjd->eptid", _cross_matrix(r), self.bend)
            for s in range(nt, 3):
                G[:, :, s] = -np.einsum("epij,epjd->epid", _cross_matrix(self.axes[:, :, s]), self.turn)
            sigma = stress[:, :, k]
            total += np.einsum("ep,epst,epsia,eptib->eab", w, sigma, G, G, optimize=True)
            f = np.einsum("epst,epsi->epti", sigma, self.axes)
            for t in range(3):
                arm = r if t < nt else self.axes[:, :, t]
                S = np.einsum("epi,epj->epij", arm, f[:, :, t])
                S = S - np.einsum("epi,epi->ep", f[:, :, t], arm)[..., None, None] * np.eye(3)
                # u2 = 1/2 th x (th x r) holds half; its second derivative has S and its transpose.
                other = self.bend[:, :, t] if t < nt else 0.5 * self.turn
                half = np.einsum("ep,epia,epij,epjb->eab", w, other, S + S.swapaxes(-1, -2), self.turn, optimize=True)
                total += 0.5 * (half + half.swapaxes(1, 2))
        return scattered(self.model, self.dofs, total)


def _mean(strain: Array) -> Array:
    """Of the points of an element, for all of them."""
    return np.broadcast_to(strain.mean(axis=1, keepdims=True), strain.shape)


def _unit(vectors: Array) -> Array:
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(size > 0.0, size, 1.0))


def _cross_matrix(a: Array) -> Array:
    """a~ with a~ b = a x b, (..., 3, 3)."""
    out = np.zeros((*a.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., j, i], out[..., i, j] = a[..., k], -a[..., k]
    return out


def _beam_axes(e1: Array, beam: BeamSection, name: str) -> Array:
    """Axes of the section at every point, (ne, p, 3, 3)."""
    side = beam.axis2[:, None] - np.einsum("epi,ei->ep", e1, beam.axis2)[..., None] * e1
    if not (np.linalg.norm(side, axis=-1) > 1e-6 * np.linalg.norm(beam.axis2, axis=-1)[:, None]).all():
        refuse("mesh", "a direction of the section across the beam", f"one along it in {name}", "turn it")
    e2 = _unit(side)
    return np.stack([e1, e2, np.cross(e1, e2)], axis=2)
