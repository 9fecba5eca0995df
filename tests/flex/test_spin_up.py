"""Spin-up of a beam with geometric stiffening, against the numbers of Simo and Vu-Quoc (1987)."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from examples.make_golden import script
from numpy.polynomial.legendre import leggauss
from ruamel.yaml import YAML
from scipy.linalg import eigh

import bough


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return script("spin_up")


@pytest.fixture(scope="module")
def run(example: ModuleType) -> bough.Result:
    return example.simulate()


def test_the_hub_turns_as_prescribed(example: ModuleType, run: bough.Result) -> None:
    t, rise, speed = run.t, example.RISE, example.SPEED
    before = speed / rise * (t**2 / 2.0 + (rise / (2.0 * np.pi)) ** 2 * (np.cos(2.0 * np.pi * t / rise) - 1.0))
    theta = np.where(t < rise, before, speed * (t - rise / 2.0))
    np.testing.assert_allclose(run["hub.phi"], theta, atol=1e-4)


def test_the_tip_lags_as_published(example: ModuleType, run: bough.Result) -> None:
    _, deflection = example.tip(run)
    lowest = int(np.argmin(deflection))
    assert deflection[lowest] == pytest.approx(-0.574, rel=0.01)
    assert run.t[lowest] == pytest.approx(6.76, rel=0.01)


def test_the_steady_extension_is_as_published(example: ModuleType, run: bough.Result) -> None:
    """Stretch less foreshortening; the small vibration that is left after the spin-up is averaged."""
    extension, deflection = example.tip(run)
    late = run.t >= example.RISE
    assert extension[late].mean() == pytest.approx(5.14e-4, rel=0.01)
    assert abs(deflection[late]).max() < 0.005
    system = bough.Mechanism(example.model())
    q, _ = example.steady(system, example.SPEED)
    position, _ = system.pose(q, "blade.tip")
    assert position[0] - example.LENGTH == pytest.approx(5.14e-4, rel=0.01)
    assert abs(position[1:]).max() < 1e-9


def test_frequencies_are_as_published(example: ModuleType) -> None:
    system = bough.Mechanism(example.model())
    assert example.frequencies(system, 0.0)[0] == pytest.approx(3.798, rel=0.01)
    assert example.frequencies(system, example.SPEED)[0] == pytest.approx(4.513, rel=0.01)


def test_the_vibration_after_the_spin_up_has_that_frequency(example: ModuleType, run: bough.Result) -> None:
    _, deflection = example.tip(run)
    late = run.t >= example.RISE
    t, y = run.t[late], deflection[late] - deflection[late].mean()
    rising = np.flatnonzero((y[:-1] < 0.0) & (y[1:] >= 0.0))
    crossings = t[rising] - y[rising] * (t[rising + 1] - t[rising]) / (y[rising + 1] - y[rising])
    assert 2.0 * np.pi / np.diff(crossings).mean() == pytest.approx(4.513, rel=0.01)


def rotating_beam(speed: float, degree: int = 9) -> float:
    """First in-plane frequency by Ritz with powers of x, rad/s: bending, pull of the centrifugal force, no shear.

    Shear, rotary inertia and the Coriolis force of the stretch, which it lacks, take off 5e-5 at rest, 1.6e-3 at
    20 rad/s.
    """
    length, EI, mass = 10.0, 1.4e4, 1.2
    nodes, weights = leggauss(20)
    x, dx = 0.5 * length * (nodes + 1.0), 0.5 * length * weights
    n = np.arange(2, degree + 1)
    w, slope, bend = (c * x[:, None] ** p / length**n for c, p in ((1.0, n), (n, n - 1), (n * (n - 1), n - 2)))
    pull = 0.5 * mass * speed**2 * (length**2 - x**2)
    K = bend.T @ (EI * dx[:, None] * bend) + slope.T @ ((pull * dx)[:, None] * slope)
    M = w.T @ (mass * dx[:, None] * w)
    return float(np.sqrt(eigh(K - speed**2 * M, M, eigvals_only=True)[0]))


@pytest.mark.parametrize("speed", [0.0, 6.0, 20.0])
def test_frequencies_are_those_of_a_rotating_beam(example: ModuleType, speed: float) -> None:
    """The faster, the more modes it takes: with the example's four 0.02 % are missing at 6 rad/s, 2 % at 20 rad/s."""
    given = YAML(typ="safe").load(example.HERE / "model.yaml")
    given["bodies"][0]["beam"]["modes"] = {"bending_z": 12, "axial": 3}
    found = example.frequencies(bough.Mechanism(given), speed)[0]
    assert found == pytest.approx(rotating_beam(speed), rel=0.002)


def test_without_stiffening_it_diverges(example: ModuleType) -> None:
    """The first frequency is lost at 3.8 rad/s; the tip passes any bound soon after."""
    _, deflection = example.tip(example.simulate(stiffening=False, stop=10.0))
    assert deflection.min() < -50.0
    soft = bough.Mechanism(example.model(stiffening=False))
    rest = example.frequencies(soft, 0.0)[0]
    assert example.frequencies(soft, 3.0)[0] == pytest.approx(np.sqrt(rest**2 - 9.0), rel=0.005)
    assert np.all(np.isnan(example.frequencies(soft, 4.0)))
