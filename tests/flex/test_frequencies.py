"""Frequencies of beams against closed forms, and how fast the elements converge to them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from flex.sample import family, motions, rectangular, slender
from scipy.integrate import simpson
from scipy.linalg import eigh
from scipy.optimize import brentq

from bough.flex.beam.frame import RX, RY, RZ, TX, Frame, LumpedMass, straight
from bough.flex.beam.line import Line
from bough.flex.beam.modes import LineModes, normal_modes


def modes_of(beam: Frame, name: str, released: tuple[int, ...] = ()) -> LineModes:
    return normal_modes(family(beam, name), motions(*released))


def roots(f: Callable[[float], float], guesses: list[float]) -> np.ndarray:
    """Roots of a characteristic equation, each within 0.4 of its guess."""
    return np.array([brentq(f, guess - 0.4, guess + 0.4, xtol=1e-14) for guess in guesses])


# Characteristic equations (Blevins 1979, chapter 8) in forms that do not overflow.
N = np.arange(1, 6)
CLAMPED_FREE = roots(lambda m: np.cos(m) + 1.0 / np.cosh(m), [1.9, *(np.pi * (N[1:] - 0.5))])
FREE_FREE = roots(lambda m: np.cos(m) - 1.0 / np.cosh(m), list(np.pi * (N + 0.5)))
PINNED_FREE = roots(lambda m: np.sin(m) - np.cos(m) * np.tanh(m), list(np.pi * (N + 0.25)))


@pytest.mark.parametrize(
    ("released", "mu"),
    [((), CLAMPED_FREE), (tuple(range(6)), FREE_FREE), ((RY,), PINNED_FREE)],
    ids=["clamped-free", "free-free", "pinned-free"],
)
def test_bending_frequencies_are_the_closed_forms(released: tuple[int, ...], mu: np.ndarray) -> None:
    beam = slender(40)
    omega = modes_of(beam, "bending_y", released).omega[:5]
    exact = (mu / beam.length) ** 2 * np.sqrt(beam.section.EIy / beam.section.rho_A)
    # The Hermite element overestimates omega by (k h)^4 / 1440 relative: 2.4e-5 at most here.
    np.testing.assert_allclose(omega, exact, rtol=3e-5)


XI = 5.18
"""Tip mass over beam mass, as in the MSAT emulator."""
# cot mu = coth mu + 2 Xi mu, times sin mu.
PINNED_TIP_MASS = roots(lambda m: np.cos(m) - np.sin(m) * (1.0 / np.tanh(m) + 2.0 * XI * m), list(np.pi * N + 0.1 / N))


def with_tip_mass(elements: int) -> Frame:
    beam = slender(elements)
    return straight(beam.length, elements, beam.section, (LumpedMass(elements, XI * beam.section.rho_A * beam.length),))


def test_a_pinned_beam_with_a_tip_mass_has_the_roots_of_its_equation() -> None:
    np.testing.assert_allclose(PINNED_TIP_MASS[:3], [3.171121, 6.298278, 9.434905], atol=1e-6)
    beam = with_tip_mass(40)
    omega = modes_of(beam, "bending_z", (RZ,)).omega[:5]
    exact = (PINNED_TIP_MASS / beam.length) ** 2 * np.sqrt(beam.section.EIz / beam.section.rho_A)
    np.testing.assert_allclose(omega, exact, rtol=3e-5)


def test_it_converges_with_order_four_too() -> None:
    meshes = np.array([8, 16, 32])
    squares = np.array([modes_of(with_tip_mass(int(n)), "bending_z", (RZ,)).omega[:3] ** 2 for n in meshes])
    beam = slender()
    exact = (PINNED_TIP_MASS[:3] / beam.length) ** 4 * beam.section.EIz / beam.section.rho_A
    for mode in range(3):
        order = -np.polyfit(np.log(meshes), np.log(squares[:, mode] / exact[mode] - 1.0), 1)[0]
        assert order == pytest.approx(4.0, abs=0.1)


def test_a_clamped_beam_with_a_heavy_tip_swings_as_a_spring() -> None:
    # Tip mass m: omega^2 = 3 EI / L^3 (m + 33/140 of the beam) (Rayleigh), the better the heavier the tip.
    beam = slender(10)
    mass = 100.0 * beam.section.rho_A * beam.length
    loaded = straight(beam.length, 10, beam.section, (LumpedMass(10, mass),))
    moved = mass + 33.0 / 140.0 * beam.section.rho_A * beam.length
    exact = np.sqrt(3.0 * beam.section.EIy / beam.length**3 / moved)
    assert modes_of(loaded, "bending_y").omega[0] == pytest.approx(exact, rel=1e-6)


def test_a_disc_on_a_rod_twists_as_the_transcendental_equation_says() -> None:
    # Clamped rod, disc of inertia I at its end: beta tan beta = I_rod / I_disc.
    beam = slender(40)
    polar = (beam.section.rho_Iy + beam.section.rho_Iz) * beam.length
    disc = LumpedMass(40, 0.0, np.zeros(3), np.diag([2.0 * polar, polar, polar]))
    beta = np.array(
        [brentq(lambda b: b * np.tan(b) - 0.5, k * np.pi + 1e-9, (k + 0.5) * np.pi - 1e-9) for k in range(4)]
    )
    speed = np.sqrt(beam.section.GJ / (beam.section.rho_Iy + beam.section.rho_Iz))
    omega = modes_of(straight(beam.length, 40, beam.section, (disc,)), "torsion").omega[:4]
    np.testing.assert_allclose(omega, beta * speed / beam.length, rtol=1e-5)


@pytest.mark.parametrize(("name", "row"), [("axial", TX), ("torsion", RX)])
@pytest.mark.parametrize(("free", "half"), [(False, 0.5), (True, 0.0)], ids=["clamped-free", "free-free"])
def test_rod_frequencies_are_the_closed_forms(name: str, row: int, free: bool, half: float) -> None:
    beam = slender(40)
    speed = {
        "axial": np.sqrt(beam.section.EA / beam.section.rho_A),
        "torsion": np.sqrt(beam.section.GJ / (beam.section.rho_Iy + beam.section.rho_Iz)),
    }[name]
    omega = modes_of(beam, name, (row,) if free else ()).omega[:5]
    # The quadratic rod overestimates omega by (k h)^4 / 1440 relative: 1.7e-5 for the fifth mode here.
    np.testing.assert_allclose(omega, (N - half) * np.pi * speed / beam.length, rtol=3e-5)


@pytest.mark.parametrize("name", ["bending_z", "torsion"])
def test_frequency_squared_converges_with_order_four(name: str) -> None:
    meshes = np.array([8, 16, 32])
    for mode in range(3):
        squares = []
        for n in meshes:
            beam = slender(int(n))
            squares.append(modes_of(beam, name).omega[mode] ** 2)
        if name == "torsion":
            exact = (
                ((mode + 0.5) * np.pi / beam.length) ** 2
                * beam.section.GJ
                / (beam.section.rho_Iy + beam.section.rho_Iz)
            )
        else:
            exact = (CLAMPED_FREE[mode] / beam.length) ** 4 * beam.section.EIz / beam.section.rho_A
        order = -np.polyfit(np.log(meshes), np.log(np.array(squares) / exact - 1.0), 1)[0]
        assert order == pytest.approx(4.0, abs=0.1)


def test_low_frequencies_keep_their_digits_on_a_fine_mesh() -> None:
    beam = slender(200)
    exact = (CLAMPED_FREE[0] / beam.length) ** 2 * np.sqrt(beam.section.EIy / beam.section.rho_A)
    # Solving K x = omega^2 M x directly loses this to 1e-7: omega_max^2 / omega_1^2 is near 1e11.
    omega = normal_modes(family(beam, "bending_y"), most=1).omega
    assert omega[0] == pytest.approx(exact, rel=1e-10)


def simply_supported(line: Line) -> np.ndarray:
    """Frequencies with the deflection held at both ends and the slopes free, rad/s."""
    tip = line.motion(line.mesh.nodes)[-1, 0]
    # Coordinates that leave root and tip in place: the turn of the root follows the strains.
    z = np.vstack([np.zeros_like(tip[2:]), -tip[2:] / tip[1], np.eye(line.n_strain)])
    motion = line.weighted @ z
    return 1.0 / np.sqrt(eigh(motion.T @ motion, eigvals_only=True)[::-1])


def test_rotary_inertia_lowers_frequencies_as_rayleigh_has_it() -> None:
    # Simply supported: omega^2 = EI k^4 / (rho A + rho I k^2), k = n pi / L.
    beam = rectangular(1.0, 40, height=0.1, width=0.05)
    k = N * np.pi / beam.length
    exact = np.sqrt(beam.section.EIy * k**4 / (beam.section.rho_A + beam.section.rho_Iy * k**2))
    np.testing.assert_allclose(simply_supported(family(beam, "bending_y"))[:5], exact, rtol=3e-5)
    assert exact[4] < 0.97 * np.sqrt(beam.section.EIy / beam.section.rho_A) * k[4] ** 2


def timoshenko(beam: Frame) -> np.ndarray:
    """First five simply supported bending_y frequencies, rad/s.

    w = W sin kx, s = S cos kx satisfies both equations of motion and the ends exactly: a quadratic for
    omega^2 (Timoshenko 1921), whose lower root is the bending branch.
    """
    exact, shear = [], beam.section.kGAz
    for k in N * np.pi / beam.length:
        stiffness = np.array([[shear * k**2, -shear * k], [-shear * k, beam.section.EIy * k**2 + shear]])
        exact.append(np.sqrt(eigh(stiffness, np.diag([beam.section.rho_A, beam.section.rho_Iy]), eigvals_only=True)[0]))
    return np.array(exact)


def test_shear_lowers_frequencies_as_timoshenko_has_it() -> None:
    beam = rectangular(1.0, 40, height=0.1, width=0.05, kappa=5.0 / 6.0)
    exact = timoshenko(beam)
    np.testing.assert_allclose(simply_supported(family(beam, "bending_y"))[:5], exact, rtol=3e-5)
    assert exact[4] < 0.8 * np.sqrt(beam.section.EIy / beam.section.rho_A) * (5.0 * np.pi / beam.length) ** 2


def test_frequency_squared_converges_with_order_four_with_shear() -> None:
    exact, meshes = timoshenko(rectangular(1.0, 1, height=0.1, width=0.05, kappa=5.0 / 6.0)), [8, 16, 32]
    for mode in range(3):
        beams = [rectangular(1.0, n, height=0.1, width=0.05, kappa=5.0 / 6.0) for n in meshes]
        omega = np.array([simply_supported(family(beam, "bending_y"))[mode] for beam in beams])
        order = -np.polyfit(np.log(meshes), np.log((omega / exact[mode]) ** 2 - 1.0), 1)[0]
        assert order == pytest.approx(4.0, abs=0.1)


def test_cantilever_shear_correction_is_first_order_in_shear_flexibility() -> None:
    # Rayleigh: a little shear flexibility adds int (EI w''')^2 / kGA to the flexibility seen by mode w, so
    # d(omega^2) / omega^2 = - int (EI w''')^2 dx / (kGA int EI w''^2 dx). No rotary inertia here.
    mu = CLAMPED_FREE[0]
    sigma = (np.sinh(mu) - np.sin(mu)) / (np.cosh(mu) + np.cos(mu))
    x = np.linspace(0.0, 1.0, 1001)
    second = np.cosh(mu * x) + np.cos(mu * x) - sigma * (np.sinh(mu * x) + np.sin(mu * x))
    third = mu * (np.sinh(mu * x) - np.sin(mu * x) - sigma * (np.cosh(mu * x) + np.cos(mu * x)))
    ratio = simpson(third**2, x=x) / simpson(second**2, x=x)

    rigid, small = slender(40), 1e-5
    soft = slender(40, kGAz=rigid.section.EIy / rigid.length**2 / small)
    before, after = (modes_of(beam, "bending_y").omega[0] for beam in (rigid, soft))
    assert (after / before) ** 2 - 1.0 == pytest.approx(-ratio * small, rel=1e-3)


def test_shear_belongs_to_the_plane_of_the_deflection() -> None:
    plain, soft_in_y = slender(8), slender(8, kGAy=1e-4)
    for name, changes in (("bending_y", False), ("bending_z", True)):
        a, b = modes_of(plain, name).omega[0], modes_of(soft_in_y, name).omega[0]
        assert bool(b < a) is changes


def test_pinning_about_one_axis_leaves_the_other_families_clamped() -> None:
    beam = slender(20)
    for name in ("bending_y", "torsion", "axial"):
        np.testing.assert_array_equal(modes_of(beam, name, (RZ,)).omega, modes_of(beam, name).omega)
