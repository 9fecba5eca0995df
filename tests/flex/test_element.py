"""The elements against textbook matrices and exact statics."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from flex.sample import bar, family, rectangular, slender

from bough.flex.beam import element
from bough.flex.beam.frame import Frame, Station, straight
from bough.flex.beam.frame_mesh import Places
from bough.flex.beam.line import Line, coupled, families

L = 0.7
ROUND_OFF = 1e-12


def nodal_matrices(line: Line) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and mass of a one-element bending line in the textbook's coordinates (w1, s1, w2, s2)."""
    nodes = deflections(line, line.mesh.nodes)
    # z -> nodal coordinates is a change of basis, because one element has as many strains as it needs.
    from_nodes = np.linalg.inv(nodes.reshape(-1, line.weighted.shape[1]))
    strains = from_nodes[line.n_root :]
    motion = line.weighted @ from_nodes
    return strains.T @ strains, motion.T @ motion


def deflections(line: Line, places: Places) -> np.ndarray:
    """Deflection w and slope s of a bending line per unit of its coordinates, (m, 2, nz).

    Bending about y turns against the slope: rotation y = -s.
    """
    sign = -1.0 if line.name == "bending_y" else 1.0
    moved = line.motion(places)
    moved[:, 1] *= sign
    return moved


def textbook_translation(length: float) -> np.ndarray:
    """Of the Hermite cubics (Przemieniecki 1968, chapter 11); per unit of mass per length."""
    h = length
    return (h / 420.0) * np.array(
        [
            [156.0, 22.0 * h, 54.0, -13.0 * h],
            [22.0 * h, 4.0 * h**2, 13.0 * h, -3.0 * h**2],
            [54.0, 13.0 * h, 156.0, -22.0 * h],
            [-13.0 * h, -3.0 * h**2, -22.0 * h, 4.0 * h**2],
        ]
    )


def textbook_rotation(length: float) -> np.ndarray:
    """Of their slopes (Przemieniecki 1968, chapter 11); per unit of rotary inertia per length."""
    h = length
    return (1.0 / (30.0 * h)) * np.array(
        [
            [36.0, 3.0 * h, -36.0, 3.0 * h],
            [3.0 * h, 4.0 * h**2, -3.0 * h, -(h**2)],
            [-36.0, -3.0 * h, 36.0, -3.0 * h],
            [3.0 * h, -(h**2), -3.0 * h, 4.0 * h**2],
        ]
    )


def textbook_stiffness(length: float) -> np.ndarray:
    """Of the Euler-Bernoulli element (Przemieniecki 1968, chapter 5); per unit of EI."""
    h = length
    return (1.0 / h**3) * np.array(
        [
            [12.0, 6.0 * h, -12.0, 6.0 * h],
            [6.0 * h, 4.0 * h**2, -6.0 * h, 2.0 * h**2],
            [-12.0, -6.0 * h, 12.0, -6.0 * h],
            [6.0 * h, 2.0 * h**2, -6.0 * h, 4.0 * h**2],
        ]
    )


def test_quadrature_mass_is_the_textbook_consistent_mass() -> None:
    # A stubby beam: rotary inertia is a third of the whole in some entries.
    beam = rectangular(L, 1, height=0.5, width=0.3)
    for name, rotary in (("bending_y", beam.section.rho_Iy), ("bending_z", beam.section.rho_Iz)):
        _, mass = nodal_matrices(family(beam, name))
        expected = beam.section.rho_A * textbook_translation(L) + rotary * textbook_rotation(L)
        np.testing.assert_allclose(mass, expected, rtol=ROUND_OFF, atol=ROUND_OFF * expected.max())


def test_strain_energy_is_the_textbook_stiffness() -> None:
    beam = rectangular(L, 1, height=0.5, width=0.3)
    for name, bending in (("bending_y", beam.section.EIy), ("bending_z", beam.section.EIz)):
        stiffness, _ = nodal_matrices(family(beam, name))
        expected = bending * textbook_stiffness(L)
        np.testing.assert_allclose(stiffness, expected, rtol=ROUND_OFF, atol=ROUND_OFF * expected.max())


def test_gauss_points_are_enough_for_the_consistent_mass(monkeypatch: pytest.MonkeyPatch) -> None:
    beam = rectangular(L, 3, height=0.5, width=0.3, kappa=5.0 / 6.0)
    names = ("bending_y", "torsion", "axial")
    coarse = [family(beam, name).weighted for name in names]
    monkeypatch.setattr(element, "GAUSS_POINTS", 9)
    fine = [family(beam, name).weighted for name in names]
    for a, b in zip(coarse, fine, strict=True):
        np.testing.assert_allclose(a.T @ a, b.T @ b, rtol=ROUND_OFF, atol=ROUND_OFF * np.max(b.T @ b))


@pytest.mark.parametrize("elements", [1, 7])
@pytest.mark.parametrize("kappa", [math.inf, 5.0 / 6.0])
def test_tip_flexibility_is_exact_with_and_without_shear(elements: int, kappa: float) -> None:
    # Strains hold c'c / 2, so the flexibility of the tip is N N' with N its motion per unit of strain.
    beam = rectangular(L, elements, height=0.2, width=0.1, kappa=kappa)
    line = family(beam, "bending_y")
    tip = deflections(line, line.mesh.nodes)[-1][:, line.n_root :]
    by_hand = [
        [L**3 / (3.0 * beam.section.EIy) + L / beam.section.kGAz, L**2 / (2.0 * beam.section.EIy)],
        [L**2 / (2.0 * beam.section.EIy), L / beam.section.EIy],
    ]
    np.testing.assert_allclose(tip @ tip.T, by_hand, rtol=ROUND_OFF)
    for name, rigidity in (("axial", beam.section.EA), ("torsion", beam.section.GJ)):
        line = family(beam, name)
        tip = line.motion(line.mesh.nodes)[-1][:, line.n_root :]
        np.testing.assert_allclose(tip @ tip.T, [[L / rigidity]], rtol=ROUND_OFF)


def test_root_coordinates_move_the_beam_rigidly() -> None:
    beam = slender(5)
    line = family(beam, "bending_z")
    nodes = line.motion(line.mesh.nodes)
    root = nodes[:, :, : line.n_root]
    np.testing.assert_allclose(root[:, 0], np.stack([np.ones(6), beam.node_s], axis=-1))
    np.testing.assert_allclose(root[:, 1], np.stack([np.zeros(6), np.ones(6)], axis=-1))
    np.testing.assert_array_equal(nodes[0, :, line.n_root :], 0.0)


@pytest.mark.parametrize("shear", [math.inf, 3e4])
def test_motion_is_continuous_and_the_slope_its_derivative_without_shear(shear: float) -> None:
    beam, step = slender(5, EIz=70.0, kGAy=shear), 1e-6
    line = family(beam, "bending_z")
    x = np.array([0.2, 0.4, 0.5, 0.9]) * beam.length  # two between elements, two inside
    at = (Places(x + shift, beam.position(x + shift)) for shift in (-step, 0.0, step))
    behind, here, ahead = (line.motion(places) for places in at)
    np.testing.assert_allclose(ahead, behind, atol=1e-4 * np.abs(here).max())
    if math.isinf(shear):
        slope = (ahead[:, 0] - behind[:, 0]) / (2.0 * step)
        np.testing.assert_allclose(slope, here[:, 1], atol=1e-5 * np.abs(here[:, 1]).max())


def test_strains_of_unit_energy_are_so_where_the_rigidity_varies() -> None:
    begin, end, length = 3.0, 0.4, 0.7
    unit = element.unit_energy(begin, end, length)
    x, weights = np.polynomial.legendre.leggauss(8)
    xi, weights = 0.5 * (x + 1.0), 0.5 * length * weights
    strain = np.stack([np.ones(8), 2.0 * xi - 1.0], axis=-1) @ unit
    energy = np.einsum("g,gi,gj->ij", weights * (begin + (end - begin) * xi), strain, strain)
    np.testing.assert_allclose(energy, np.eye(2), atol=ROUND_OFF)


def tapered(elements: int, height: float, width: float, kappa: float) -> Frame:
    """A beam whose section shrinks to a third of its size."""
    thick, thin = bar(height, width, kappa), bar(height / 3.0, width / 3.0, kappa)
    return replace(straight(L, elements, thick), stations=(Station(0.0, thick), Station(L, thin)))


def test_gauss_points_are_enough_where_the_section_varies(monkeypatch: pytest.MonkeyPatch) -> None:
    beam = tapered(2, 0.5, 0.3, 5.0 / 6.0)
    names = ("bending_z", "torsion", "axial")
    coarse = [family(beam, name).weighted for name in names]
    monkeypatch.setattr(element, "GAUSS_POINTS", 9)
    fine = [family(beam, name).weighted for name in names]
    for a, b in zip(coarse, fine, strict=True):
        np.testing.assert_allclose(a.T @ a, b.T @ b, rtol=ROUND_OFF, atol=ROUND_OFF * np.max(b.T @ b))


def test_a_frame_has_the_same_motion_as_its_families() -> None:
    # A straight beam, all motions at once: every family's rows and columns are found in it.
    beam = rectangular(L, 3, height=0.2, width=0.1, kappa=5.0 / 6.0)
    whole = coupled(beam)
    every = whole.motion(whole.mesh.points)
    for line in families(beam):
        own = line.motion(line.mesh.points)
        rows = [whole.rows.index(row) for row in line.rows]
        strains = [whole.n_root + 6 * whole.kinds.index(kind) + i for kind in line.kinds for i in range(6)]
        np.testing.assert_array_equal(every[:, rows][:, :, rows + strains], own)
        others = np.setdiff1d(np.arange(6), rows)
        np.testing.assert_array_equal(every[:, others][:, :, strains], 0.0)
