"""The choice of a mode set changes how fast a mechanism's frequencies converge, not what they converge to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flex import classical
from flex.test_frame import textbook
from scipy.linalg import eigh
from scipy.optimize import brentq

import bough
from bough.flex.build import beam_frame
from bough.mechanism.vibration import vibrations
from bough.model import load

PAYLOAD: dict[str, Any] = {"mass": 1.2, "com": [0.05, 0, 0], "inertia": [2e-3, 3e-3, 3e-3, 0, 0, 0]}
POINT: dict[str, Any] = {"mass": 1.2}
BEAM: dict[str, Any] = {
    "length": 1.0,
    "elements": 40,
    "section": {"shape": "rectangle", "width": 0.01, "height": 0.02},
    "material": {"E": 70e9, "nu": 0.33, "rho": 2700},
}
HINGE = {"type": "revolute", "axis": [0, 0, 1]}
SETS: dict[str, dict[str, Any]] = {
    "cantilever": {"boundary": "cantilever"},
    "pinned": {"boundary": "pinned"},
    "pinned about y": {"boundary": "pinned", "axis": [0, 1, 0]},
    "free": {"boundary": "free"},
    "craig-bampton": {"boundary": "craig-bampton", "interfaces": ["tip"]},
}


def hertz(modes: dict[str, Any], many: int, payload: dict[str, Any], hinge: dict[str, Any] = HINGE) -> np.ndarray:
    """Frequencies of a hinged beam that bends in its plane of rotation, payload on its tip, Hz."""
    beam = {**BEAM, "modes": {**modes, "bending_z": many}}
    arm = {"name": "arm", "parent": "ground", "hinge": hinge, "beam": beam}
    load = {"name": "load", "parent": "arm", "at": "tip", "hinge": {"type": "fixed"}, "rigid": payload}
    found = vibrations(bough.Mechanism({"bough": 1, "name": "m", "bodies": [arm, load]}))
    assert found.unsprung == 1
    return np.array([mode.frequency for mode in found.modes])


def exact(payload: dict[str, Any]) -> np.ndarray:
    """The same by the textbook program: the payload on the last node, the first node free to turn about z."""
    beam = {**BEAM, "modes": {"count": 1}}
    body = {"name": "arm", "parent": "ground", "hinge": HINGE, "beam": beam}
    frame = load({"bough": 1, "name": "m", "bodies": [body]}).bodies[0].beam
    assert frame is not None
    K, M = textbook(beam_frame(frame), cuts=2)
    com, inertia = np.array(payload.get("com", np.zeros(3))), np.diag(payload.get("inertia", np.zeros(6))[:3])
    classical.add_mass(M, 80, payload["mass"], com, inertia)
    # In the plane: deflections along y and turns about z; the hinge holds the first deflection.
    plane = np.arange(len(K)).reshape(-1, 6)[:, [1, 5]].ravel()[1:]
    squares = eigh(K[np.ix_(plane, plane)], M[np.ix_(plane, plane)], eigvals_only=True)
    return np.sqrt(squares[1:4]) / (2.0 * np.pi)


def errors(name: str, numbers: tuple[int, ...], payload: dict[str, Any]) -> np.ndarray:
    """How far the first three frequencies are off, relative, (numbers of modes, 3)."""
    limit = exact(payload)
    # A Craig-Bampton set has static modes that stretch, twist and bend the beam the other way, too: find the nearest.
    found = [hertz(SETS[name], many, payload) for many in numbers]
    return np.array([[np.min(np.abs(f / g - 1.0)) for g in limit] for f in found])


def order(numbers: tuple[int, ...], falling: np.ndarray) -> float:
    """Power of the number of modes with which errors fall."""
    return float(-np.polyfit(np.log(numbers), np.log(falling), 1)[0])


PLAIN = ["cantilever", "pinned", "pinned about y", "free"]


@pytest.mark.parametrize("name", PLAIN)
def test_every_mode_set_converges_to_the_same_frequencies_under_a_point_mass(name: str) -> None:
    # None of them has a shear force at the tip, which the mass needs: phi^2 / omega^2 ~ n^-4 of each mode is missing.
    off = errors(name, (8, 16, 32), POINT)
    assert np.all(off[-1] < 6e-5)
    for mode in range(2):
        assert order((8, 16, 32), off[:, mode]) == pytest.approx(3.0, abs=0.4)


@pytest.mark.parametrize("name", PLAIN)
def test_they_converge_slower_where_the_payload_bends_the_tip(name: str) -> None:
    # Nor a bending moment: phi'^2 / omega^2 ~ n^-2 of each mode is missing.
    off = errors(name, (8, 16, 32), PAYLOAD)
    for mode in range(3):
        assert order((8, 16, 32), off[:, mode]) == pytest.approx(1.1, abs=0.15)
    # Errors that halve are gone after one extrapolation.
    assert np.all(np.abs(2.0 * off[2] - off[1]) < 6e-3)


@pytest.mark.parametrize("payload", [POINT, PAYLOAD], ids=["point", "body"])
def test_a_craig_bampton_set_has_what_the_tip_needs(payload: dict[str, Any]) -> None:
    off = errors("craig-bampton", (2, 4, 8), payload)
    assert np.all(off[-1] < 3e-5)
    assert np.all(off[1:, :2] < 0.2 * off[:-1, :2] + 1e-6)


def test_modes_made_for_the_load_need_no_more_than_are_asked_for() -> None:
    # Pinned, the payload part of the beam: the modes are the mechanism's own, by cot mu = coth mu + 2 Xi mu.
    length, rho_A = 1.0, 2700 * 2e-4
    ratio = 1.2 / (rho_A * length)
    mu = [brentq(lambda m: np.cos(m) - np.sin(m) * (1 / np.tanh(m) + 2 * ratio * m), a, a + 0.5) for a in (3.0, 6.1)]
    rigidity = 70e9 * 0.02 * 0.01**3 / 12
    closed = np.array(mu) ** 2 / length**2 * np.sqrt(rigidity / rho_A) / (2 * np.pi)
    modes = {"boundary": "pinned", "bending_z": 2}
    beam = {**BEAM, "masses": [{"at": "tip", "mass": 1.2}], "modes": modes}
    body = {"name": "arm", "parent": "ground", "hinge": HINGE, "beam": beam}
    found = vibrations(bough.Mechanism({"bough": 1, "name": "m", "bodies": [body]}))
    # Rotary inertia of the section, which the equation leaves out, is 2e-4.
    np.testing.assert_allclose([mode.frequency for mode in found.modes], closed, rtol=1e-3)


def bent(boundary: str, count: int) -> np.ndarray:
    """First three frequencies of a frame whose motions all couple, on a hinge along none of its axes, Hz."""
    beam = {key: value for key, value in BEAM.items() if key != "length"}
    beam |= {"points": [[0, 0, 0], [0.5, 0, 0], [0.5, 0.3, 0.3]], "elements": 30}
    beam["modes"] = {"boundary": boundary, "count": count}
    arm = {"name": "arm", "parent": "ground", "hinge": {"type": "revolute", "axis": [0.2, 0.5, 1]}, "beam": beam}
    load = {"name": "load", "parent": "arm", "at": "tip", "hinge": {"type": "fixed"}, "rigid": PAYLOAD}
    found = vibrations(bough.Mechanism({"bough": 1, "name": "m", "bodies": [arm, load]}))
    return np.array([mode.frequency for mode in found.modes])[:3]


@pytest.mark.parametrize(("boundary", "close"), [("cantilever", 6e-4), ("pinned", 6e-4), ("free", 4e-2)])
def test_a_bent_beam_on_a_skew_hinge_has_one_limit_too(boundary: str, close: float) -> None:
    reference = bent("craig-bampton", 20)
    few, some, many = (bent(boundary, count) / reference - 1.0 for count in (20, 40, 80))
    # Ritz: from above. Free modes lack the moment that the hinge holds the root with, and need most.
    assert np.all(many > -1e-9) and np.all(many < close)
    assert np.all(some < 0.75 * few) and np.all(many < 0.65 * some)
    assert np.all(np.abs(2.0 * many - some) < 0.25 * close + 1e-4)
