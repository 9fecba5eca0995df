"""Frequencies of beams against closed forms, and how fast the elements converge to them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from flex.sample import family, rectangular, slender
from scipy.integrate import simpson
from scipy.linalg import eigh
from scipy.optimize import brentq

from bough.flex.line import RX, RY, RZ, TX, BeamProperties, Line
from bough.flex.modes import ALL_MOTIONS, LineModes, normal_modes


def modes_of(beam: BeamProperties, name: str, released: tuple[int, ...] = ()) -> LineModes:
    return normal_modes(family(beam, name), released)


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
    [((), CLAMPED_FREE), (tuple(ALL_MOTIONS), FREE_FREE), ((RY,), PINNED_FREE)],
    ids=["clamped-free", "free-free", "pinned-free"],
)
def test_bending_frequencies_are_the_closed_forms(released: tuple[int, ...], mu: np.ndarray) -> None:
    beam = slender(40)
    omega = modes_of(beam, "bending_y", released).omega[:5]
    exact = (mu / beam.length) ** 2 * np.sqrt(beam.EIy / beam.rho_A)
    # The Hermite element overestimates omega by (k h)^4 / 1440 relative: 2.4e-5 at most here.
    np.testing.assert_allclose(omega, exact, rtol=3e-5)


@pytest.mark.parametrize(("name", "row"), [("axial", TX), ("torsion", RX)])
@pytest.mark.parametrize(("free", "half"), [(False, 0.5), (True, 0.0)], ids=["clamped-free", "free-free"])
def test_rod_frequencies_are_the_closed_forms(name: str, row: int, free: bool, half: float) -> None:
    beam = slender(40)
    speed = {
        "axial": np.sqrt(beam.EA / beam.rho_A),
        "torsion": np.sqrt(beam.GJ / (beam.rho_Iy + beam.rho_Iz)),
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
            exact = ((mode + 0.5) * np.pi / beam.length) ** 2 * beam.GJ / (beam.rho_Iy + beam.rho_Iz)
        else:
            exact = (CLAMPED_FREE[mode] / beam.length) ** 4 * beam.EIz / beam.rho_A
        order = -np.polyfit(np.log(meshes), np.log(np.array(squares) / exact - 1.0), 1)[0]
        assert order == pytest.approx(4.0, abs=0.1)


def test_low_frequencies_keep_their_digits_on_a_fine_mesh() -> None:
    beam = slender(200)
    exact = (CLAMPED_FREE[0] / beam.length) ** 2 * np.sqrt(beam.EIy / beam.rho_A)
    # Solving K x = omega^2 M x directly loses this to 1e-7: omega_max^2 / omega_1^2 is near 1e11.
    omega = normal_modes(family(beam, "bending_y"), most=1).omega
    assert omega[0] == pytest.approx(exact, rel=1e-10)


def simply_supported(line: Line) -> np.ndarray:
    """Frequencies with the deflection held at both ends and the slopes free, rad/s."""
    tip = line.nodes[-1, 0]
    # Coordinates that leave root and tip in place: the turn of the root follows the strains.
    z = np.vstack([np.zeros_like(tip[2:]), -tip[2:] / tip[1], np.eye(line.n_strain)])
    motion = line.weighted @ z
    return 1.0 / np.sqrt(eigh(motion.T @ motion, eigvals_only=True)[::-1])


def test_rotary_inertia_lowers_frequencies_as_rayleigh_has_it() -> None:
    # Simply supported: omega^2 = EI k^4 / (rho A + rho I k^2), k = n pi / L.
    beam = rectangular(1.0, 40, height=0.1, width=0.05)
    k = N * np.pi / beam.length
    exact = np.sqrt(beam.EIy * k**4 / (beam.rho_A + beam.rho_Iy * k**2))
    np.testing.assert_allclose(simply_supported(family(beam, "bending_y"))[:5], exact, rtol=3e-5)
    assert exact[4] < 0.97 * np.sqrt(beam.EIy / beam.rho_A) * k[4] ** 2


def timoshenko(beam: BeamProperties) -> np.ndarray:
    """First five simply supported bending_y frequencies, rad/s.

    w = W sin kx, s = S cos kx satisfies both equations of motion and the ends exactly: a quadratic for
    omega^2 (Timoshenko 1921), whose lower root is the bending branch.
    """
    exact, shear = [], beam.kGAz
    for k in N * np.pi / beam.length:
        stiffness = np.array([[shear * k**2, -shear * k], [-shear * k, beam.EIy * k**2 + shear]])
        exact.append(np.sqrt(eigh(stiffness, np.diag([beam.rho_A, beam.rho_Iy]), eigvals_only=True)[0]))
    return np.array(exact)


def test_shear_lowers_frequencies_as_timoshenko_has_it() -> None:
    beam = rectangular(1.0, 40, height=0.1, width=0.05, kappa=5.0 / 6.0)
    exact = timoshenko(beam)
    np.testing.assert_allclose(simply_supported(family(beam, "bending_y"))[:5], exact, rtol=3e-5)
    assert exact[4] < 0.8 * np.sqrt(beam.EIy / beam.rho_A) * (5.0 * np.pi / beam.length) ** 2


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
    soft = slender(40, kGAz=rigid.EIy / rigid.length**2 / small)
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
