"""Geometric stiffness that an FE model brings: signs and sizes against rotating and pulled beams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flex.fe.fem import RHO, entry, imported, straight
from flex.fe.test_mechanism import BEAM, pendulum
from scipy import sparse

import bough
from bough.flex.fe import FeModel, Geometric

LENGTH, ELEMENTS = 1.0, 20
AREA = 0.02 * 0.03


def stress_stiffness(model: FeModel, force: np.ndarray) -> sparse.csc_array:
    """Of an axial force in every element, (elements,): the integral of N v' w', Hermite polynomials."""
    L = LENGTH / force.size
    g = np.array(
        [
            [36, 3 * L, -36, 3 * L],
            [3 * L, 4 * L**2, -3 * L, -(L**2)],
            [-36, -3 * L, 36, -3 * L],
            [3 * L, -(L**2), -3 * L, 4 * L**2],
        ]
    )
    out = np.zeros((model.ndof, model.ndof))
    for e, N in enumerate(force):
        for dofs, sign in (([1, 5, 7, 11], 1.0), ([2, 4, 8, 10], -1.0)):
            turn = np.diag([1.0, sign, 1.0, sign])
            at = 6 * e + np.array(dofs)
            out[np.ix_(at, at)] += N / (30.0 * L) * turn @ g @ turn
    return sparse.csc_array(out)


def beam(elements: int = ELEMENTS) -> FeModel:
    """With the axial forces of the loads; bending moments stiffen a slender beam's bending not at all."""
    model = straight(LENGTH, elements)
    ends = np.linspace(0.0, LENGTH, elements + 1)
    low, high = ends[:-1], ends[1:]
    # Mean over each element of N(x) = the load beyond x. Acceleration +x: the load is -rho A per length.
    pushed = -RHO * AREA * (LENGTH - 0.5 * (low + high))
    # Spin about y or z: the load is +rho A x per length.
    pulled = 0.5 * RHO * AREA * (LENGTH**2 - (high**3 - low**3) / (3.0 * (high - low)))
    none, along = stress_stiffness(model, 0.0 * low), stress_stiffness(model, pushed)
    spin = stress_stiffness(model, pulled)
    geometric = Geometric(
        acceleration=(along, none, none),
        angular=(none, none, none),
        spin=(none, spin, spin, none, none, none),
        forces={"tip": (stress_stiffness(model, np.ones(elements)), none, none)},
    )
    return FeModel(**{**vars(model), "geometric": geometric})


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fe") / "spinning.npz"
    entry(path, beam())
    return path


def test_southwell_coefficient_of_a_spinning_beam(file: Path) -> None:
    """Out of the plane of the spin, omega^2 of the first mode of a uniform cantilever rises by 1.193 W^2 (Southwell and
    Gough 1921), in the plane by one less.
    """
    body = imported(entry(file, modes={"boundary": "cantilever", "count": 2}))
    assert body.stiffening is not None
    # Mode 1 bends along y (the thinner side), so spin about y lifts it out of plane, about z in plane.
    assert body.stiffening.N1[0][1, 0] == pytest.approx(1.193, abs=1e-3)
    in_plane = body.stiffening.N1[0][2, 0] + body.integrals.N1[0][2, 0]
    assert in_plane == pytest.approx(0.193, abs=1e-3)


def test_pull_at_the_tip_stiffens_and_acceleration_towards_it_softens(file: Path) -> None:
    """A cantilever buckles under P = pi^2 EI / 4 L^2, and under its own weight at q L^3 = 7.837 EI (Greenhill 1881)."""
    body = imported(entry(file, modes={"boundary": "cantilever", "count": 12}))
    assert body.stiffening is not None
    EI = 70e9 * 0.03 * 0.02**3 / 12.0
    K = body.stiffness
    # Modal force + p.H eta: a pull P adds -P H to the stiffness.
    pull = -body.stiffening.node_bends[1, 0]
    critical = 1.0 / np.linalg.eigvals(np.linalg.solve(K, pull)).real.max()
    assert critical == pytest.approx(np.pi**2 * EI / (4.0 * LENGTH**2), rel=2e-3)
    # Acceleration a along +x pushes the beam together with rho A a per length: E1 is the stiffness it adds, below zero.
    E1 = body.stiffening.E1[:, 0, :]
    critical = -1.0 / np.linalg.eigvals(np.linalg.solve(K, E1)).real.min()
    assert critical == pytest.approx(7.837 * EI / (RHO * AREA * LENGTH**3), rel=2e-3)


def spinning(kind: str, body: dict[str, Any], boundary: str, count: int) -> np.ndarray:
    """Frequencies of a beam that is made to spin at 20 rad/s about y, about its stretched state."""
    modes = {"boundary": boundary, "count": count}
    model = pendulum(kind, {**body, "modes": modes}, drive="motion", initial={"w": 20.0})
    system = bough.Mechanism({**model, "geometric_stiffening": True, "gravity": [0, 0, 0]})
    q, u = system.initial_state()
    nq, zero = system.nq, np.zeros(system.nu)
    for _ in range(6):
        A = system.linearize(q, u, zero).A
        q[1:] -= np.linalg.solve(A[nq + 1 :, 1:nq], system.forward_dynamics(q, u, zero)[1:])
    assert np.abs(system.forward_dynamics(q, u, zero)[1:]).max() < 1e-6
    values = np.linalg.eigvals(system.linearize(q, u, zero).A)
    return np.sort(values.imag[values.imag > 1.0])[:3]


def test_spinning_beam_has_the_frequencies_of_the_native_one(file: Path, tmp_path: Path) -> None:
    native = spinning("beam", BEAM, "cantilever", 10)
    np.testing.assert_allclose(spinning("fe", entry(file), "cantilever", 10), native, rtol=1e-3)


def test_free_modes_stiffen_as_clamped_ones_do(tmp_path: Path) -> None:
    """All modes of a short mesh span the same: the attach interface turns with free ones, and what it carries too."""
    fe = entry(tmp_path / "short.npz", beam(4))
    clamped = spinning("fe", fe, "cantilever", 24)
    np.testing.assert_allclose(spinning("fe", fe, "free", 24), clamped, rtol=2e-3)


def test_stiffening_is_refused_without_geometric_stiffness(tmp_path: Path) -> None:
    model = pendulum(
        "fe", entry(tmp_path / "plain.npz", straight(LENGTH, 4), modes={"boundary": "cantilever", "count": 3})
    )
    with pytest.raises(bough.ModelError, match="geometric_stiffening"):
        bough.Mechanism({**model, "geometric_stiffening": True})
