"""Frames with corners, tapers and masses: against a textbook program, closed forms and rigid-body statics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flex import classical
from flex.sample import bar, motions, rectangular, slender
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.special import j0, j1, y0, y1

from bough.errors import ModelError
from bough.flex.beam import line
from bough.flex.beam.beam import beam_flex
from bough.flex.beam.frame import RX, RY, RZ, TX, TY, TZ, Frame, LumpedMass, Section, Station, straight
from bough.flex.beam.frame_mesh import meshed
from bough.flex.beam.line import coupled, families
from bough.flex.beam.modes import ALL_MOTIONS, NO_MOTION, Selection, beam_modes, normal_modes
from bough.flex.body import ROTATION, FlexBody
from bough.model.axis import divided

UP = np.array([0.2, 0.3, 1.0])
STAIR = np.array([[0.0, 0.0, 0.0], [0.6, 0.0, 0.0], [0.6, 0.5, 0.0], [0.9, 0.5, 0.4]])
"""Three legs, no two in one plane with the third."""
BAR = bar(0.02, 0.03)
PART = LumpedMass(
    node=24,
    mass=0.8,
    com=np.array([0.05, -0.03, 0.08]),
    inertia=np.array([[4e-3, 1e-3, 0.0], [1e-3, 5e-3, -5e-4], [0.0, -5e-4, 3e-3]]),
)
SKEW_PIN = np.array([[1.0, 2.0, -1.0, 0.0, 0.0, 0.0]]).T / np.sqrt(6.0)
ROOTS = {"clamped": NO_MOTION, "free": ALL_MOTIONS, "pinned": SKEW_PIN}


def stair(elements: int = 24, masses: tuple[LumpedMass, ...] = (), corners: np.ndarray = STAIR) -> Frame:
    return Frame(corners, elements, (Station(0.0, BAR),), masses, UP)


def textbook(frame: Frame, cuts: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and mass with each element of a uniform frame cut in so many."""
    s = np.concatenate([np.linspace(a, b, cuts + 1)[:-1] for a, b in zip(frame.node_s, frame.node_s[1:], strict=False)])
    nodes = frame.position(np.append(s, frame.length))
    K, M = classical.assembled(nodes, [frame.section] * (len(nodes) - 1), frame.up)
    for mass in frame.masses:
        classical.add_mass(M, cuts * mass.node, mass.mass, mass.com, mass.inertia)
    return K, M


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("masses", [(), (PART,)], ids=["bare", "with a part"])
def test_a_frame_has_the_frequencies_and_shapes_of_the_textbook_program(
    root: str, masses: tuple[LumpedMass, ...]
) -> None:
    frame = stair(masses=masses)
    body = beam_flex(frame, Selection(count=8), ROOTS[root])
    omega, shapes = classical.frequencies(*textbook(frame, cuts=4), ROOTS[root])
    # Eight elements per leg overestimate omega by (k h)^4 / 1440: 1e-4 on the eighth free one, 1e-6 on the first.
    np.testing.assert_allclose(body.frequencies, omega[:8], rtol=1.5e-4)
    np.testing.assert_allclose(body.frequencies[:3], omega[:3], rtol=5e-6)
    for mode in range(8):
        own, other = body.node_shapes[:, :, mode], shapes[::4, :, mode]
        sign = np.sign(np.sum(own * other))
        np.testing.assert_allclose(own, sign * other, atol=2e-3 * np.abs(other).max())


def test_a_frame_converges_with_order_four() -> None:
    omega, _ = classical.frequencies(*textbook(stair(48), cuts=4), NO_MOTION)
    fine = beam_flex(stair(96), Selection(count=4)).frequencies
    np.testing.assert_allclose(fine, omega[:4], rtol=1e-5)
    # Legs of one length, so that the elements' length halves exactly.
    meshes = np.array([6, 12, 24])
    found = np.array([beam_flex(stair(int(n), corners=LEGS), Selection(count=3)).frequencies for n in meshes])
    exact = beam_flex(stair(96, corners=LEGS), Selection(count=3)).frequencies
    for mode in range(3):
        order = -np.polyfit(np.log(meshes), np.log((found[:, mode] / exact[mode]) ** 2 - 1.0), 1)[0]
        assert order == pytest.approx(4.0, abs=0.15)


LEGS = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.8, 0.4]])
"""Three legs of one length."""


def test_rigid_body_properties_of_a_frame_with_a_part_are_exact() -> None:
    frame = stair(masses=(PART,))
    body = beam_flex(frame, Selection(count=1))
    # Thin rods of rho A each, with the section's own inertia; parallel axes.
    mass, moment, inertia = 0.0, np.zeros(3), np.zeros((3, 3))

    def add(m: float, centre: np.ndarray, about_centre: np.ndarray) -> None:
        nonlocal mass, moment, inertia
        mass, moment = mass + m, moment + m * centre
        inertia = inertia + about_centre + m * (centre @ centre * np.eye(3) - np.outer(centre, centre))

    for leg in range(3):
        along = STAIR[leg + 1] - STAIR[leg]
        m, x = BAR.rho_A * np.linalg.norm(along), along / np.linalg.norm(along)
        y = np.cross(UP, x) / np.linalg.norm(np.cross(UP, x))
        z = np.cross(x, y)
        h = np.linalg.norm(along)
        own = m * h**2 / 12.0 * (np.eye(3) - np.outer(x, x))
        own += h * ((BAR.rho_Iy + BAR.rho_Iz) * np.outer(x, x) + BAR.rho_Iy * np.outer(y, y))
        own += h * BAR.rho_Iz * np.outer(z, z)
        add(m, 0.5 * (STAIR[leg] + STAIR[leg + 1]), own)
    add(PART.mass, STAIR[-1] + PART.com, PART.inertia)
    found = body.integrals.inertia
    i, j = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
    np.testing.assert_allclose(found, [mass, *moment, *inertia[i, j]], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("root", ROOTS)
def test_modes_of_a_frame_are_mass_orthonormal_and_solve_its_equations(root: str) -> None:
    frame = stair(masses=(PART,))
    body = beam_flex(frame, Selection(count=12), ROOTS[root])
    np.testing.assert_allclose(body.modal_mass, np.eye(12), atol=1e-11)
    if root == "clamped":
        np.testing.assert_array_equal(body.node_shapes[0], 0.0)


def test_craig_bampton_with_several_interfaces_keeps_the_exact_statics_of_a_frame() -> None:
    # Static shapes are enough for any load on the interface nodes, and so are cubics: both are exact.
    frame, nodes = stair(), (11, 24)
    body = beam_flex(frame, Selection(count=0), interface=nodes)
    assert body.nm == 12
    shapes = body.node_shapes[list(nodes)].reshape(12, 12)
    K, _ = textbook(frame)
    flexibility = np.linalg.inv(K[6:, 6:]).reshape(24, 6, 24, 6)[:, [3, 4, 5, 0, 1, 2]][..., [3, 4, 5, 0, 1, 2]]
    expected = flexibility[[10, 23]][:, :, [10, 23]].reshape(12, 12)
    found = shapes @ np.linalg.inv(body.stiffness) @ shapes.T
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


def test_a_craig_bampton_set_contains_the_modes_of_the_frame() -> None:
    frame = stair()
    whole = beam_flex(frame, Selection(count=6)).frequencies
    reduced = beam_flex(frame, Selection(count=12), interface=(12, 24)).frequencies[:6]
    # Ritz: never from below.
    np.testing.assert_allclose(reduced, whole, rtol=1e-3)
    assert np.all(reduced > whole * (1.0 - 1e-10))


# ---- straight beams


def test_a_straight_beam_of_any_direction_is_a_turned_beam() -> None:
    plain = beam_flex(rectangular(1.1, 12, height=0.09, width=0.06), Selection(count=9), motions(RY))
    x, up = np.array([2.0, -1.0, 2.0]) / 3.0, np.array([0.0, 1.0, 1.0])
    origin = np.array([0.3, 0.1, -0.2])
    frame = Frame(np.array([origin, origin + 1.1 * x]), 12, (Station(0.0, bar(0.09, 0.06)),), up=up)
    turn = frame.axes[0]
    assert abs(turn[:, 1] @ up) < 1e-15 and np.linalg.det(turn) == pytest.approx(1.0)
    pin = np.concatenate([turn[:, 1], np.zeros(3)])[:, np.newaxis]
    turned = beam_flex(frame, Selection(count=9), pin)
    assert turned.mode_names == plain.mode_names
    np.testing.assert_allclose(turned.frequencies, plain.frequencies, rtol=1e-10)
    both = np.kron(np.eye(2), turn)
    np.testing.assert_allclose(turned.node_shapes, both @ plain.node_shapes, atol=1e-8)
    np.testing.assert_allclose(turned.node_positions, origin + plain.node_positions @ turn.T, atol=1e-15)
    assert turned.points is not None and plain.points is not None
    np.testing.assert_allclose(turned.points.positions, origin + plain.points.positions @ turn.T, atol=1e-15)
    assert turned.stiffening is not None and plain.stiffening is not None
    expected = np.einsum("ij,njrs->nirs", turn, plain.stiffening.node_bends)
    np.testing.assert_allclose(turned.stiffening.node_bends, expected, atol=1e-8)


def test_all_motions_at_once_have_the_modes_of_the_families() -> None:
    frame = rectangular(1.1, 12, height=0.09, width=0.06, kappa=0.85)
    apart = beam_modes(families(frame), Selection(count=14))
    (together,) = beam_modes([coupled(frame)], Selection(count=14))
    expected = np.sort(np.concatenate([modes.omega for modes in apart]))
    np.testing.assert_allclose(together.omega, expected, rtol=1e-9)


def test_a_mass_on_the_axis_leaves_the_families_apart_and_one_beside_it_does_not() -> None:
    section, inertia = bar(0.02, 0.03), np.diag([1e-3, 2e-3, 3e-3])
    on = straight(1.0, 40, section, (LumpedMass(40, 0.5, np.array([0.1, 0.0, 0.0]), inertia),))
    beside = straight(1.0, 40, section, (LumpedMass(40, 0.5, np.array([0.1, 1e-3, 0.0]), inertia),))
    per_family = Selection(per_family={"bending_y": 2, "torsion": 1})
    assert sorted(beam_flex(on, per_family).mode_names) == ["bending_y 1", "bending_y 2", "torsion 1"]
    with pytest.raises(ModelError, match="a mass beside its axis"):
        beam_flex(beside, per_family)
    with pytest.raises(ModelError, match="an axis with corners"):
        beam_flex(stair(), per_family)
    # The small offset couples, and changes little.
    count = Selection(count=6)
    np.testing.assert_allclose(beam_flex(beside, count).frequencies, beam_flex(on, count).frequencies, rtol=1e-3)
    for frame in (on, beside):
        omega, _ = classical.frequencies(*textbook(frame, cuts=2), NO_MOTION)
        np.testing.assert_allclose(beam_flex(frame, count).frequencies, omega[:6], rtol=2e-5)


def test_equal_frequencies_of_coupled_motions_do_not_depend_on_round_off() -> None:
    shapes = []
    for factor in (1.0 - 1e-13, 1.0 + 1e-13):
        frame = slender(12)
        frame = straight(1.3, 12, replace(frame.section, EIy=frame.section.EIy * factor))
        modes = normal_modes(coupled(frame), most=4)
        shapes.append(modes.line.shapes(modes.line.mesh.nodes, modes.z)[:, :, :4])
    np.testing.assert_allclose(shapes[0], shapes[1], atol=1e-6 * np.abs(shapes[0]).max())
    tip = shapes[0][-1]
    assert np.all(tip[TY, ::2] > 0.0) and np.all(tip[TZ, 1::2] > 0.0)
    np.testing.assert_allclose(tip[TZ, ::2], 0.0, atol=1e-6 * np.abs(tip).max())


def test_shapes_are_signed_by_the_tip() -> None:
    body = beam_flex(stair(masses=(PART,)), Selection(count=12))
    for shape in body.node_shapes[-1, 3:].T:
        fair = np.abs(shape) >= 0.1 * np.abs(shape).max()
        assert shape[np.argmax(fair)] > 0.0


def test_a_frame_is_reproducible_bit_for_bit_and_shapes_do_not_depend_on_their_number() -> None:
    a, b = (beam_flex(stair(masses=(PART,)), Selection(count=8)) for _ in range(2))
    np.testing.assert_array_equal(a.node_shapes, b.node_shapes)
    few = beam_flex(stair(masses=(PART,)), Selection(count=3))
    np.testing.assert_allclose(few.node_shapes, a.node_shapes[:, :, :3], atol=1e-7 * np.abs(a.node_shapes).max())


# ---- tapers


def spectral(
    section: Section, rho_A: np.polynomial.Polynomial, EI: np.polynomial.Polynomial, length: float
) -> np.ndarray:
    """Cantilever frequencies, rad/s, without rotary inertia, by Ritz with x^2 P_k(x), k < 16: converged to 1e-10."""
    x, weights = np.polynomial.legendre.leggauss(60)
    xi, weights = 0.5 * (x + 1.0), 0.5 * weights * length
    basis = [
        np.polynomial.Legendre.basis(k, domain=[0.0, 1.0]).convert(kind=np.polynomial.Polynomial) for k in range(16)
    ]
    square = np.polynomial.Polynomial([0.0, 0.0, 1.0])
    w = np.array([(square * p)(xi) for p in basis])
    second = np.array([(square * p).deriv(2)(xi) for p in basis]) / length**2
    K = (second * weights * EI(xi)) @ second.T
    M = (w * weights * rho_A(xi)) @ w.T
    return np.sqrt(eigh(K, M, eigvals_only=True))


def width_taper(ratio: float, elements: int) -> tuple[Frame, Section]:
    """Constant height, width down to a share of it: area and Iy are linear, and so exactly as interpolated."""
    length, section = 1.0, bar(1e-4, 1e-3)
    tip = replace(section, **{k: ratio * getattr(section, k) for k in ("EA", "GJ", "EIy", "EIz", "rho_A")})
    frame = straight(length, elements, section)
    return replace(frame, stations=(Station(0.0, section), Station(length, tip))), section


def test_a_beam_of_tapered_width_has_the_frequencies_of_its_equation() -> None:
    frame, section = width_taper(0.2, 40)
    shape = np.polynomial.Polynomial([1.0, -0.8])
    exact = spectral(section, section.rho_A * shape, section.EIy * shape, 1.0)[:5]
    found = beam_flex(frame, Selection(per_family={"bending_y": 5})).frequencies
    np.testing.assert_allclose(found, exact, rtol=3e-5)
    # It is a taper: a uniform beam has 3.516.
    assert exact[0] / np.sqrt(section.EIy / section.rho_A) > 5.0


def test_a_triangle_in_plan_has_the_published_frequency() -> None:
    # Cantilever of constant thickness and triangular plan: omega L^2 sqrt(rho A / EI) = 7.16 (Mabie & Rogers 1964).
    frame, section = width_taper(1e-6, 40)
    found = beam_flex(frame, Selection(per_family={"bending_y": 1})).frequencies[0]
    assert found / np.sqrt(section.EIy / section.rho_A) == pytest.approx(7.16, abs=0.005)


def test_a_rod_of_tapered_area_has_the_frequencies_of_bessel_functions() -> None:
    # (A u')' + k^2 A u = 0 with A linear: u = a J0(k r) + b Y0(k r), r the distance from the taper's apex.
    ratio = 0.3
    frame, section = width_taper(ratio, 40)
    root, tip = 1.0 / (1.0 - ratio), ratio / (1.0 - ratio)

    def condition(k: float) -> float:
        return float(j0(k * root) * y1(k * tip) - y0(k * root) * j1(k * tip))

    grid = np.linspace(0.5, 12.0, 400)
    values = np.array([condition(k) for k in grid])
    roots = [brentq(condition, grid[i], grid[i + 1]) for i in np.flatnonzero(values[:-1] * values[1:] < 0.0)][:3]
    found = beam_flex(frame, Selection(per_family={"axial": 3})).frequencies
    np.testing.assert_allclose(found, np.array(roots) * np.sqrt(section.EA / section.rho_A), rtol=1e-5)


def test_a_taper_converges_with_order_four() -> None:
    shape = np.polynomial.Polynomial([1.0, -0.8])
    meshes = np.array([4, 8, 16])
    found = []
    for n in meshes:
        frame, section = width_taper(0.2, int(n))
        found.append(beam_flex(frame, Selection(per_family={"bending_y": 3})).frequencies)
    exact = spectral(section, section.rho_A * shape, section.EIy * shape, 1.0)[:3]
    for mode in range(3):
        order = -np.polyfit(np.log(meshes), np.log((np.array(found)[:, mode] / exact[mode]) ** 2 - 1.0), 1)[0]
        assert order == pytest.approx(4.0, abs=0.25)


def test_kirchhoffs_wedge_by_many_stations() -> None:
    # Constant width, height down to nothing: 5.315 and 15.21 (Kirchhoff 1879). Iy falls with the cube of the height,
    # which straight lines between 60 stations follow; a tip of 0.1 % stands for none.
    height = np.linspace(1.0, 1e-3, 60)
    stations = tuple(
        Station(float(at), bar(float(1e-4 * h), 1e-3)) for at, h in zip(np.linspace(0.0, 1.0, 60), height, strict=True)
    )
    frame = replace(straight(1.0, 40, stations[0].section), stations=stations)
    found = beam_flex(frame, Selection(per_family={"bending_y": 2})).frequencies
    unit = np.sqrt(frame.section.EIy / frame.section.rho_A)
    np.testing.assert_allclose(found / unit, [5.315, 15.21], rtol=2e-3)


def test_two_stations_at_one_place_make_a_step_wherever_it_is() -> None:
    thick, thin = bar(0.03, 0.04), bar(0.01, 0.02)
    # 0.37 m is on no node of thirty.
    at = (Station(0.0, thick), Station(0.37, thick), Station(0.37, thin), Station(1.0, thin))
    frame = replace(straight(1.0, 30, thick), stations=at)
    body = beam_flex(frame, Selection(count=6))
    assert body.nn == 31
    s = np.concatenate([np.linspace(0.0, 0.37, 38), np.linspace(0.37, 1.0, 64)[1:]])
    sections = [thick if x < 0.37 - 1e-9 else thin for x in s[:-1]]
    nodes = np.column_stack([s, np.zeros((s.size, 2))])
    omega, _ = classical.frequencies(*classical.assembled(nodes, sections, np.array([0.0, 0.0, 1.0])), NO_MOTION)
    np.testing.assert_allclose(body.frequencies, omega[:6], rtol=1e-5)
    mass = 0.37 * thick.rho_A + 0.63 * thin.rho_A
    assert body.mass == pytest.approx(mass, rel=1e-14)


def test_the_section_stays_as_it_is_beyond_the_outermost_stations() -> None:
    thick, thin = bar(0.03, 0.04), bar(0.01, 0.02)
    frame = replace(straight(1.0, 10, thick), stations=(Station(0.25, thick), Station(0.75, thin)))
    expected = 0.25 * thick.rho_A + 0.25 * (thick.rho_A + thin.rho_A) + 0.25 * thin.rho_A
    assert beam_flex(frame, Selection(count=1)).mass == pytest.approx(expected, rel=1e-14)


# ---- nodes and meshes


def test_elements_are_spread_over_the_segments_so_that_the_longest_is_shortest() -> None:
    np.testing.assert_allclose(divided(np.array([0.0, 2.0]), 4), [0.0, 0.5, 1.0, 1.5, 2.0])
    np.testing.assert_allclose(divided(np.array([0.0, 1.0, 4.0]), 4), [0.0, 1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(divided(np.array([0.0, 1.0, 2.0]), 3), [0.0, 0.5, 1.0, 2.0])
    np.testing.assert_allclose(divided(np.array([0.0, 0.01, 1.0]), 3), [0.0, 0.01, 0.505, 1.0])


def test_corners_are_nodes_and_nodes_are_named_from_root_to_tip() -> None:
    body = beam_flex(stair(7), Selection(count=1))
    assert body.node_names == ("root", "n1", "n2", "n3", "n4", "n5", "n6", "tip")
    for corner in STAIR:
        assert np.linalg.norm(body.node_positions - corner, axis=1).min() < 1e-15
    assert body.attach == 0


def test_a_fine_frame_is_cut_where_something_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    part = replace(PART, node=30)
    frame = stair(120, masses=(part,))
    monkeypatch.setattr(line, "COUPLED_LIMIT", 30)
    coarse = beam_flex(frame, Selection(count=6))
    monkeypatch.setattr(line, "COUPLED_LIMIT", 120)
    fine = beam_flex(frame, Selection(count=6))
    assert coarse.nn == fine.nn == 121
    assert coarse.points is not None and len(coarse.points.masses) == 30 * 4 + 1
    np.testing.assert_allclose(coarse.frequencies, fine.frequencies, rtol=1e-5)
    scale = np.abs(fine.node_shapes).max()
    np.testing.assert_allclose(coarse.node_shapes, fine.node_shapes, atol=2e-3 * scale)
    ends = meshed(frame, 30, interface=[77])
    for place in (*frame.corner_s, frame.node_s[30], frame.node_s[77]):
        assert np.min(np.abs(np.append(ends.s, frame.length) - place)) < 1e-12


def test_shapes_are_the_motion_times_the_coordinates() -> None:
    frame = replace(stair(9, masses=(replace(PART, node=5),)), stations=(Station(0.0, bar(0.02, 0.03, 0.85)),))
    whole = coupled(frame)
    z = np.random.default_rng(3).standard_normal((whole.n_root + whole.n_strain, 4))
    for places in (whole.mesh.nodes, whole.mesh.points, whole.mesh.ends):
        moved = np.einsum("mrz,zn->mrn", whole.motion(places), z)
        expected = np.zeros((places.s.size, 6, 4))
        expected[:, list(whole.rows)] = moved
        np.testing.assert_allclose(whole.shapes(places, z), expected, atol=1e-12 * np.abs(expected).max())


def test_a_rigid_motion_of_the_root_strains_nothing_and_carries_everything() -> None:
    whole = coupled(stair(9, masses=(replace(PART, node=9),)))
    z = np.zeros((whole.n_root + whole.n_strain, 6))
    z[:6] = np.eye(6)
    shapes = whole.shapes(whole.mesh.points, z)
    for i, row in enumerate(whole.rows):
        turn, shift = np.zeros(3), np.zeros(3)
        (turn if row < TX else shift)[row % 3] = 1.0
        np.testing.assert_allclose(shapes[:, ROTATION, i], np.tile(turn, (len(shapes), 1)), atol=1e-15)
        expected = shift + np.cross(turn, whole.mesh.points.x)
        np.testing.assert_allclose(shapes[:, 3:, i], expected, atol=1e-15)
    assert {RX, RY, RZ, TX, TY, TZ} == set(whole.rows)


def cut(frame: Frame, hertz: float, **keys: object) -> FlexBody:
    return beam_flex(frame, Selection(max_frequency=hertz), **keys)  # type: ignore[arg-type]


def test_a_cut_off_keeps_what_is_below_it_in_frames_too() -> None:
    whole = beam_flex(stair(), Selection(count=10))
    ceiling = 0.5 * (whole.frequencies[5] + whole.frequencies[6]) / (2.0 * np.pi)
    body = cut(stair(), ceiling)
    assert body.nm == 6
    np.testing.assert_allclose(
        body.node_shapes, whole.node_shapes[:, :, :6], atol=1e-7 * np.abs(whole.node_shapes).max()
    )
    # Of a Craig-Bampton set it cuts the modes with the interface held; the static ones are all there.
    assert cut(stair(), 1e-3, interface=(24,)).nm == 6
    with pytest.raises(ModelError, match="in Hz, not rad/s"):
        cut(stair(), 0.5 * whole.frequencies[0] / (2.0 * np.pi))
