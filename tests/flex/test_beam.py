"""The flexible body that a beam becomes: mass, shapes, signs, order, selection, damping."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flex.sample import motions, rectangular, slender
from scipy.linalg import eigh

from bough.errors import ModelError
from bough.flex.beam import line
from bough.flex.beam.beam import Rayleigh, beam_flex, damping_matrix
from bough.flex.beam.frame import RX, RY, RZ, TX, TY, TZ
from bough.flex.beam.modes import ALL_MOTIONS, Selection
from bough.flex.body import ROTATION, TRANSLATION, FlexBody

BOUNDARIES = {
    "cantilever": {},
    "free": {"released": ALL_MOTIONS},
    "pinned": {"released": motions(RZ)},
    "ball": {"released": motions(RX, RY, RZ)},
    "craig-bampton": {"interface": (12,)},
}
EIGHT = Selection(count=8)


def stubby(elements: int = 12) -> FlexBody:
    return beam_flex(rectangular(1.1, elements, height=0.09, width=0.06), EIGHT)


@pytest.mark.parametrize("elements", [1, 3, 40])
def test_inertia_points_sum_to_the_uniform_beam(elements: int) -> None:
    beam = rectangular(1.1, elements, height=0.09, width=0.06)
    body = beam_flex(beam, Selection(count=2))
    x = body.points.positions[:, 0]
    np.testing.assert_array_equal(body.points.positions[:, 1:], 0.0)
    assert body.mass == pytest.approx(beam.section.rho_A * 1.1, rel=1e-14)
    assert body.points.masses @ x / body.mass == pytest.approx(0.55, rel=1e-14)
    about_root = body.points.inertias.sum(axis=0) + np.diag([0.0, 1.0, 1.0]) * (body.points.masses @ x**2)
    expected = np.array(
        [
            (beam.section.rho_Iy + beam.section.rho_Iz) * 1.1,
            beam.section.rho_A * 1.1**3 / 3.0 + beam.section.rho_Iy * 1.1,
            beam.section.rho_A * 1.1**3 / 3.0 + beam.section.rho_Iz * 1.1,
        ]
    )
    np.testing.assert_allclose(about_root, np.diag(expected), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("kappa", [np.inf, 0.85])
def test_modes_are_mass_orthonormal(boundary: str, kappa: float) -> None:
    beam = rectangular(1.1, 12, height=0.09, width=0.06, kappa=kappa)
    body = beam_flex(beam, Selection(count=12), **BOUNDARIES[boundary])
    np.testing.assert_allclose(body.modal_mass, np.eye(body.nm), atol=1e-12)
    np.testing.assert_array_equal(body.stiffness, np.diag(body.frequencies**2))
    assert np.all(np.diff(body.frequencies) >= 0.0)


@pytest.mark.parametrize("boundary", ["cantilever", "craig-bampton"])
def test_shapes_are_exactly_zero_at_the_clamped_root(boundary: str) -> None:
    body = beam_flex(slender(12), EIGHT, **BOUNDARIES[boundary])
    np.testing.assert_array_equal(body.node_shapes[body.attach], 0.0)


def test_pinned_root_turns_about_its_axis_only_and_takes_no_angular_momentum() -> None:
    body = beam_flex(slender(12), Selection(per_family={"bending_z": 5}), released=motions(RZ))
    root = body.node_shapes[body.attach]
    assert np.all(np.abs(root[RZ]) > 0.0)
    np.testing.assert_array_equal(np.delete(root, RZ, axis=0), 0.0)
    momentum = momenta(body)[RZ]
    np.testing.assert_allclose(momentum, 0.0, atol=1e-12 * np.abs(body.points.shapes).max() * body.mass)


def test_free_modes_carry_no_momentum() -> None:
    body = beam_flex(rectangular(1.1, 12, height=0.09, width=0.06), Selection(count=20), ALL_MOTIONS)
    np.testing.assert_allclose(momenta(body), 0.0, atol=1e-12 * np.abs(body.points.shapes).max() * body.mass)


def momenta(body: FlexBody) -> np.ndarray:
    """Angular (about the root) and linear momentum per unit of eta_dot, (6, nm)."""
    linear = np.einsum("p,pir->pir", body.points.masses, body.points.shapes[:, TRANSLATION])
    spin = np.einsum("pij,pjr->ir", body.points.inertias, body.points.shapes[:, ROTATION])
    orbit = np.cross(body.points.positions[:, :, None], linear, axis=1).sum(axis=0)
    return np.vstack([spin + orbit, linear.sum(axis=0)])


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_tip_moves_positively_in_every_mode(boundary: str) -> None:
    body = beam_flex(rectangular(1.1, 12, height=0.09, width=0.06), Selection(count=16), **BOUNDARIES[boundary])
    rows = {"bending_y": TZ, "bending_z": TY, "torsion": RX, "axial": TX}
    tip = body.node_shapes[body.node("tip")]
    for mode, name in enumerate(body.mode_names):
        assert tip[rows[name.split()[0]], mode] > 0.0


def test_bending_about_y_moves_along_z_and_turns_against_the_slope() -> None:
    body = beam_flex(slender(12), Selection(per_family={"bending_y": 1, "bending_z": 1}))
    tip = body.node_shapes[-1]
    assert body.mode_names == ("bending_y 1", "bending_z 1")
    # First cantilever mode: the tip's slope is 1.3765 times its deflection over the length.
    assert tip[RY, 0] == pytest.approx(-1.3765 * tip[TZ, 0] / 1.3, rel=1e-4)
    assert tip[RZ, 1] == pytest.approx(+1.3765 * tip[TY, 1] / 1.3, rel=1e-4)
    assert np.count_nonzero(tip) == 4


def test_equal_frequencies_give_clean_shapes_in_family_order() -> None:
    body = beam_flex(slender(12), Selection(count=6))
    assert body.mode_names == tuple(f"bending_{axis} {i}" for i in (1, 2, 3) for axis in "yz")
    assert np.all(body.node_shapes[:, TY, 0::2] == 0.0)
    assert np.all(body.node_shapes[:, TZ, 1::2] == 0.0)


def test_rounding_of_the_rigidity_does_not_swap_equal_modes() -> None:
    beam = slender(12)
    for factor in (1.0 - 1e-14, 1.0 + 1e-14):
        body = beam_flex(slender(12, EIy=beam.section.EIy * factor), Selection(count=6))
        assert body.mode_names[::2] == ("bending_y 1", "bending_y 2", "bending_y 3")


def test_modes_are_reproducible_bit_for_bit() -> None:
    a, b = stubby(), stubby()
    np.testing.assert_array_equal(a.points.shapes, b.points.shapes)
    np.testing.assert_array_equal(a.node_shapes, b.node_shapes)


def test_shapes_do_not_depend_on_how_many_modes_are_kept() -> None:
    many, few = stubby(), beam_flex(rectangular(1.1, 12, height=0.09, width=0.06), Selection(count=3))
    np.testing.assert_allclose(many.node_shapes[:, :, :3], few.node_shapes, rtol=1e-9, atol=1e-9)


def test_nodes_are_named_from_root_to_tip() -> None:
    assert stubby(1).node_names == ("root", "tip")
    assert stubby(3).node_names == ("root", "n1", "n2", "tip")
    body = stubby(4)
    np.testing.assert_allclose(body.node_positions[:, 0], 1.1 * np.arange(5) / 4)
    assert body.node_names[body.attach] == "root"


def test_a_mesh_beyond_the_limit_keeps_all_named_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    two = Selection(per_family={"bending_y": 2})
    plain = beam_flex(slender(20), two)
    monkeypatch.setattr(line, "MESH_LIMIT", 20)
    fine = beam_flex(slender(60), two)
    assert fine.nn == 61
    assert fine.points.masses.size == plain.points.masses.size
    np.testing.assert_allclose(fine.node_shapes[::3], plain.node_shapes, rtol=1e-9, atol=1e-9)
    between = fine.node_shapes[1::3, TZ] - 0.5 * (fine.node_shapes[0:-1:3, TZ] + fine.node_shapes[2::3, TZ])
    assert np.all(np.abs(between) < 0.01 * np.abs(fine.node_shapes[:, TZ]).max())


def test_selection_by_family_and_by_cut_off() -> None:
    beam = rectangular(1.1, 12, height=0.09, width=0.06)
    families = beam_flex(beam, Selection(per_family={"bending_z": 2, "axial": 1}))
    assert sorted(families.mode_names) == ["axial 1", "bending_z 1", "bending_z 2"]
    whole = beam_flex(beam, Selection(count=20))
    ceiling = whole.frequencies[6] / (2.0 * np.pi) * (1.0 + 1e-6)
    cut = beam_flex(beam, Selection(max_frequency=ceiling))
    assert cut.mode_names == whole.mode_names[:7]
    assert beam_flex(beam, Selection(count=3, max_frequency=ceiling)).nm == 3
    assert beam_flex(beam, Selection(count=20, max_frequency=ceiling)).nm == 7
    assert beam_flex(beam, Selection(count=0)).nm == 0


@pytest.mark.parametrize(
    ("selection", "limit"),
    [
        (Selection(count=17), "at most 16 modes"),
        (Selection(per_family={"axial": 5}), "at most 4 axial modes"),
    ],
)
def test_more_modes_than_the_mesh_has_are_refused_with_a_cure(selection: Selection, limit: str) -> None:
    with pytest.raises(ModelError, match="raise beam.elements") as caught:
        beam_flex(slender(2), selection)
    assert limit in str(caught.value)


def test_every_mode_of_a_coarse_mesh_can_be_had() -> None:
    body = beam_flex(rectangular(1.1, 2, height=0.09, width=0.06), Selection(count=16))
    np.testing.assert_allclose(body.modal_mass, np.eye(16), atol=1e-12)


def test_damping_by_ratio_per_mode_by_rayleigh_and_by_matrix() -> None:
    omega = np.array([2.0, 5.0, 11.0])
    np.testing.assert_allclose(damping_matrix(omega, 0.01), np.diag(0.02 * omega))
    np.testing.assert_allclose(damping_matrix(omega, (0.01, 0.0, 0.03)), np.diag([0.04, 0.0, 0.66]))
    np.testing.assert_allclose(damping_matrix(omega, Rayleigh(0.3, 0.02)), np.diag(0.3 + 0.02 * omega**2))
    full = [[1.0, 0.1, 0.0], [0.1, 2.0, 0.3], [0.0, 0.3, 3.0]]
    np.testing.assert_array_equal(damping_matrix(omega, full), full)
    with pytest.raises(ModelError, match="each of the 3 modes"):
        damping_matrix(omega, (0.01, 0.02))
    with pytest.raises(ModelError, match="a matrix of 2 x 2"):
        damping_matrix(omega, [[1.0, 0.0], [0.0, 1.0]])


def test_rayleigh_damping_is_the_projection_of_alpha_m_plus_beta_k() -> None:
    body = beam_flex(slender(12), EIGHT, damping=Rayleigh(0.3, 0.02))
    expected = 0.3 * body.modal_mass + 0.02 * body.stiffness
    np.testing.assert_allclose(body.damping, expected, atol=1e-12 * np.abs(expected).max())


def test_craig_bampton_keeps_the_exact_statics_of_the_tip() -> None:
    # Six static shapes are enough for any load on the tip: flexibility by modes = flexibility of the beam.
    beam = rectangular(1.1, 12, height=0.09, width=0.06, kappa=0.85)
    body = beam_flex(beam, Selection(count=0), interface=(12,))
    assert body.nm == 6
    tip = body.node_shapes[-1]
    flexibility = tip @ np.linalg.inv(body.stiffness) @ tip.T
    length = beam.length
    assert flexibility[TX, TX] == pytest.approx(length / beam.section.EA, rel=1e-12)
    assert flexibility[RX, RX] == pytest.approx(length / beam.section.GJ, rel=1e-12)
    by_hand = length**3 / (3.0 * beam.section.EIz) + length / beam.section.kGAy
    assert flexibility[TY, TY] == pytest.approx(by_hand, rel=1e-12)
    assert flexibility[TZ, RY] == pytest.approx(-(length**2) / (2.0 * beam.section.EIy), rel=1e-12)


def test_two_halves_by_craig_bampton_make_the_whole() -> None:
    # The outer half rides on the tip of the inner half; both are meshed as the whole is.
    whole = beam_flex(rectangular(1.2, 20, height=0.02, width=0.03), Selection(count=8))
    half = rectangular(0.6, 10, height=0.02, width=0.03)
    inner = beam_flex(half, Selection(count=12), interface=(10,))
    outer = beam_flex(half, Selection(count=12), interface=(10,))

    tip = inner.node_shapes[-1]
    carried = np.repeat(tip[None], outer.points.masses.size, axis=0)
    carried[:, TRANSLATION] += np.cross(tip[None, ROTATION], outer.points.positions[:, :, None], axis=1)
    ride = np.concatenate([carried, outer.points.shapes], axis=2)
    lam, gam = ride[:, ROTATION], ride[:, TRANSLATION]
    mass = np.einsum("p,pir,pis->rs", outer.points.masses, gam, gam)
    mass += np.einsum("pir,pij,pjs->rs", lam, outer.points.inertias, lam)
    mass[: inner.nm, : inner.nm] += inner.modal_mass
    stiffness = np.diag(np.concatenate([np.diag(inner.stiffness), np.diag(outer.stiffness)]))
    omega = np.sqrt(eigh(stiffness, mass, eigvals_only=True))
    # Four or five held modes per bending plane leave 3.4e-4 on the eighth frequency; Ritz: never from below.
    np.testing.assert_allclose(omega[:8], whole.frequencies, rtol=1e-3)
    assert np.all(omega[:8] > whole.frequencies * (1.0 - 1e-10))


def test_arrays_are_read_only_and_sizes_are_checked() -> None:
    body = stubby()
    with pytest.raises(ValueError, match="read-only"):
        body.points.shapes[0, 0, 0] = 1.0
    with pytest.raises(ValueError, match="positions"):
        replace(body.points, positions=body.points.positions[:-1])
    with pytest.raises(ValueError, match="node_shapes"):
        replace(body, node_shapes=body.node_shapes[:-1])
    with pytest.raises(KeyError):
        body.node("elbow")
