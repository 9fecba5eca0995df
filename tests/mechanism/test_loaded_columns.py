"""Linear models under node loads: Euler's column keeps the direction of its load, Beck's turns it with the tip."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from small_models import Dict, beam, body, hinge, model

import bough

E, RHO, LENGTH, WIDTH, HEIGHT = 70e9, 2700.0, 1.0, 0.02, 0.004
EI, MASS = E * WIDTH * HEIGHT**3 / 12, RHO * WIDTH * HEIGHT
UNIT = math.sqrt(EI / (MASS * LENGTH**4))
"""rad/s: frequencies of the column over this are pure numbers."""


def column(load: str) -> Dict:
    """A clamped strip that bends about y only."""
    section = {"shape": "rectangle", "width": WIDTH, "height": HEIGHT}
    modes = {"boundary": "cantilever", "bending_y": 6}
    strip = beam(LENGTH, modes, section, {"E": E, "nu": 0.3, "rho": RHO}, 20, damping=0.0)
    made = model("column", body("strip", "ground", hinge("fixed", "root"), beam=strip), inputs=[f"strip.tip.{load}"])
    return made | {"geometric_stiffening": True}


def poles(load: str, p: float) -> np.ndarray:
    """Eigenvalues over UNIT under a compression of p EI / L^2."""
    system = bough.Mechanism(column(load))
    q, u = system.initial_state()
    loads = {f"strip.tip.{load}": [-p * EI / LENGTH**2, 0, 0]}
    space = system.linearize(q, u, np.zeros(system.nu), loads=loads)
    assert not loads or space.about[f"strip.tip.{load}[1]"] == loads[f"strip.tip.{load}"][0]
    return np.linalg.eigvals(space.A) / UNIT


def test_a_dead_load_buckles_the_column_at_eulers_load() -> None:
    euler = math.pi**2 / 4
    assert abs(poles("force", 0.995 * euler).real).max() < 1e-6
    assert poles("force", 1.005 * euler).real.max() > 0.05
    first = np.sort(abs(poles("force", euler / 2).imag))[0]
    assert first == pytest.approx(loaded(euler / 2), rel=2e-4)  # six modes, from above


def loaded(p: float) -> float:
    """First frequency of the column under the dead load p, by its characteristic determinant.

    w = A cos ax + B sin ax + C cosh bx + D sinh bx; clamped at 0, without moment at 1, and there w_xxx + p w_x = 0.
    """

    def determinant(frequency: float) -> float:
        root = math.sqrt(p**2 / 4 + frequency**2)
        a, b = math.sqrt(root + p / 2), math.sqrt(root - p / 2)
        c, s, C, S = math.cos(a), math.sin(a), math.cosh(b), math.sinh(b)
        rows = [
            [1.0, 0.0, 1.0, 0.0],
            [0.0, a, 0.0, b],
            [-(a**2) * c, -(a**2) * s, b**2 * C, b**2 * S],
            [(a**3 - p * a) * s, (p * a - a**3) * c, (b**3 + p * b) * S, (b**3 + p * b) * C],
        ]
        return float(np.linalg.det(np.array(rows)))

    return float(brentq(determinant, 0.5, 3.5))


def test_a_load_that_follows_the_tip_makes_becks_column_flutter() -> None:
    """M. Beck, Z. angew. Math. Phys. 3 (1952) 225-228: no buckling, flutter at 20.05 EI / L^2."""
    assert abs(poles("local_force", math.pi**2 / 4).real).max() < 1e-6
    assert abs(poles("local_force", 19.9).real).max() < 1e-6
    assert poles("local_force", 20.2).real.max() > 0.1
