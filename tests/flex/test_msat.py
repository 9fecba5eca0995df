"""The MSAT emulator, a pinned beam with a heavy tip: frequencies, and responses to a torque, against closed forms."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from examples.make_golden import script
from scipy.integrate import quad

import bough
from bough.mechanism.vibration import vibrations

PUBLISHED = [5.2834, 20.842, 46.770, 83.068, 129.738]
"""rad/s, from the characteristic equation with Xi = 5.18."""
SMALL = 0.01
"""Part of the torque: with cantilever modes, whose frame follows the hub, only small angles are linear."""


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return script("msat_beam")


@pytest.fixture(scope="module")
def times(example: ModuleType) -> np.ndarray:
    return np.linspace(0.0, example.STOP, round(example.STOP / example.STEP) + 1)


@pytest.fixture(scope="module")
def undamped(example: ModuleType, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return example.transfer_functions(times, zeta=0.0)


# ---- the closed forms themselves


def test_shapes_are_normalised(example: ModuleType) -> None:
    """Scalar product (24) by quadrature; values at the ends by differences."""
    length, xi, mu = example.LENGTH, example.XI, example.roots(5)
    slope, tip = example.shape_values(mu)
    for i, m in enumerate(mu, 1):

        def shape(x: float, m: float = m) -> float:
            return float(np.sinh(m * x / length) / np.sinh(m) + np.sin(m * x / length) / np.sin(m))

        product = quad(lambda x: shape(x) ** 2, 0.0, length, epsabs=1e-12)[0] + xi * length * shape(length) ** 2
        size = 1.0 / np.sqrt(product)
        assert tip[i] == pytest.approx(size * shape(length), rel=1e-10)
        assert slope[i] == pytest.approx(size * (shape(1e-6) - shape(-1e-6)) / 2e-6, rel=1e-7)


def test_the_sum_of_the_hub_is_its_static_compliance(example: ModuleType) -> None:
    """sum X'(0)^2 / (rho omega^2) = integral of m^2 / EI, m the moment in a beam that a unit torque turns."""
    length, rho, xi, mu = example.LENGTH, example.RHO, example.XI, example.roots(example.ALL_TERMS)
    slope, _ = example.shape_values(mu)
    inertia = rho * length**3 * (1.0 / 3.0 + xi)

    def moment(x: float) -> float:
        spread = (length**3 - x**3) / 3.0 - x * (length**2 - x**2) / 2.0
        return rho * (spread + xi * length**2 * (length - x)) / inertia

    bent = quad(lambda x: moment(x) ** 2, 0.0, length)[0] / (example.STIFFNESS**2 * rho)
    # What is missing is the rest of a sum over 1 / i^2 after 20000 terms.
    assert np.sum(slope[1:] ** 2 / (rho * example.frequencies(mu) ** 2)) == pytest.approx(bent, rel=5e-5)


def test_a_ramp_response_solves_its_equation(example: ModuleType) -> None:
    omega, zeta, t, h = 7.0, 0.1, 0.8, 1e-4
    before, now, after = example.ramp_response(omega, zeta, np.array([t - h, t, t + h]))
    rest = (after - 2.0 * now + before) / h**2 + zeta * omega * (after - before) / h + omega**2 * now - t
    assert abs(rest) < 1e-6
    assert abs(example.ramp_response(omega, zeta, np.array([-1.0, 0.0, 1e-3]))).max() < 1e-9


# ---- frequencies


@pytest.mark.parametrize("modes", [("pinned", 5), ("cantilever", 8), ("free", 20)], ids=lambda modes: modes[0])
def test_frequencies_are_those_of_the_characteristic_equation(example: ModuleType, modes: tuple[str, int]) -> None:
    np.testing.assert_allclose(example.frequencies(example.roots(5)), PUBLISHED, rtol=3e-5)
    found = vibrations(bough.Mechanism(example.model(*modes, zeta=0.0)))
    assert found.unsprung == 1
    omega = 2.0 * np.pi * np.array([mode.frequency for mode in found.modes[:5]])
    np.testing.assert_allclose(omega, PUBLISHED, rtol=1e-3)


def test_mode_sets_converge_to_one_limit(example: ModuleType) -> None:
    """Ritz: from above, and the mesh is the same; rotary inertia, which (9) lacks, is 1e-6 of the first frequency."""
    limit = np.array([mode.frequency for mode in vibrations(bough.Mechanism(example.model("pinned", 5, 0.0))).modes])
    for boundary, counts, factor in (("cantilever", (5, 10, 20), 100.0), ("free", (10, 20, 40), 6.0)):
        errors = []
        for count in counts:
            modes = vibrations(bough.Mechanism(example.model(boundary, count, 0.0))).modes[:3]
            errors.append(np.array([mode.frequency for mode in modes]) / limit[:3] - 1.0)
        assert np.all(np.array(errors) > -1e-9)
        # Measured: 140 (cantilever: seventh power), 7.4 and 8.7 (free: third power).
        assert np.all(errors[1] < errors[0] / factor) and np.all(errors[2] < errors[1] / factor)


# ---- responses


def test_pinned_modes_give_the_transfer_functions(example: ModuleType) -> None:
    run = example.simulate()
    reference = example.transfer_functions(run.t)
    assert abs(reference[0]).max() > 0.02 and abs(reference[1]).max() > 0.002
    assert np.all(example.errors(run, reference) < 0.005)
    # Mode by term: what is left is the second order of 25 mrad and the integrator.
    assert np.all(example.errors(run, example.transfer_functions(run.t, terms=16)) < 1e-4)


def test_enough_cantilever_modes_give_them_too(example: ModuleType, undamped: tuple[np.ndarray, np.ndarray]) -> None:
    errors = [example.errors(example.simulate("cantilever", n, 0.0, SMALL), undamped, SMALL) for n in (2, 4, 6)]
    assert np.all(errors[2] < 0.005)
    assert np.all(errors[1] < errors[0] / 5.0) and np.all(errors[2] < errors[1] / 5.0)


def test_what_pinned_modes_lack_at_the_hub_goes_with_their_number(
    example: ModuleType, undamped: tuple[np.ndarray, np.ndarray]
) -> None:
    """No pinned mode has curvature where the torque acts: its static part comes in with the first power."""
    hub = [example.errors(example.simulate("pinned", n, 0.0, SMALL), undamped, SMALL)[0] for n in (4, 8)]
    assert hub[0] / hub[1] == pytest.approx(2.0, rel=0.1)
