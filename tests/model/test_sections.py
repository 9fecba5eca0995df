"""Section constants against formulas that the code does not use."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from bough.errors import ModelError
from bough.model import Section, load


def section(**keys: Any) -> Section:
    beam = {
        "length": 1,
        "elements": 2,
        "section": keys,
        "material": {"E": 1, "nu": 0, "rho": 1},
        "modes": {"count": 1},
    }
    body = {"name": "a", "parent": "ground", "hinge": {"type": "fixed"}, "beam": beam}
    found = load({"bough": 1, "name": "m", "bodies": [body]}).bodies[0].beam
    assert found is not None
    return found.section


def test_second_moments_of_a_rectangle_are_those_of_a_fine_grid() -> None:
    w, h, n = 0.04, 0.08, 400
    y = (np.arange(n) + 0.5) / n * w - w / 2
    z = (np.arange(n) + 0.5) / n * h - h / 2
    s = section(shape="rectangle", width=w, height=h)
    # The midpoint rule misses 1 / n^2 of a quadratic's integral.
    assert s.Iy == pytest.approx(np.mean(z**2) * w * h, rel=2 / n**2)
    assert s.Iz == pytest.approx(np.mean(y**2) * w * h, rel=2 / n**2)


def test_torsion_constant_of_a_square_is_the_tabulated_one() -> None:
    # Timoshenko & Goodier, Theory of Elasticity, table for rectangular bars: 0.1406 a^4; 0.229 a b^3 for 2:1.
    assert section(shape="rectangle", width=1, height=1).J == pytest.approx(0.1406, abs=5e-5)
    assert section(shape="rectangle", width=2, height=1).J == pytest.approx(2 * 0.229, abs=1e-3)
    thin = section(shape="rectangle", width=1000, height=1)
    assert thin.J == pytest.approx(1000 / 3 * (1 - 0.630 / 1000), rel=1e-6)


def test_torsion_constant_does_not_depend_on_which_side_is_called_width() -> None:
    assert section(shape="rectangle", width=3, height=1).J == section(shape="rectangle", width=1, height=3).J


def test_a_circle_has_twice_its_bending_constant_in_torsion() -> None:
    s = section(shape="circle", diameter=0.2)
    assert s == section(shape="circle", radius=0.1)
    assert s.area == pytest.approx(math.pi * 0.01, rel=1e-14)
    assert s.J == 2 * s.Iy == 2 * s.Iz


def test_every_way_to_give_a_tube_gives_the_same_tube() -> None:
    one = section(shape="tube", diameter=0.2, thickness=0.02)
    for keys in (
        {"radius": 0.1, "inner_radius": 0.08},
        {"outer_radius": 0.1, "inner_diameter": 0.16},
        {"outer_diameter": 0.2, "thickness": 0.02},
    ):
        other = section(shape="tube", **keys)
        for name in ("area", "Iy", "Iz", "J"):
            assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-13)
    full, hole = section(shape="circle", radius=0.1), section(shape="circle", radius=0.08)
    assert one.Iy == pytest.approx(full.Iy - hole.Iy, rel=1e-12)


def test_a_box_is_a_rectangle_less_a_rectangle() -> None:
    box = section(shape="box", width=0.05, height=0.03, thickness=0.002)
    outer = section(shape="rectangle", width=0.05, height=0.03)
    inner = section(shape="rectangle", width=0.046, height=0.026)
    for name in ("area", "Iy", "Iz"):
        assert getattr(box, name) == pytest.approx(getattr(outer, name) - getattr(inner, name), rel=1e-12)
    # A thin-walled square tube of side a: J = a^3 t.
    assert section(shape="box", width=1.001, height=1.001, thickness=0.001).J == pytest.approx(0.001, rel=1e-12)


def test_an_i_is_three_rectangles() -> None:
    w, h, flange, web = 0.1, 0.2, 0.01, 0.006
    s = section(shape="I", width=w, height=h, flange=flange, web=web)
    parts = [(w, flange, (h - flange) / 2), (w, flange, -(h - flange) / 2), (web, h - 2 * flange, 0.0)]
    # Each about the common centroid, by the parallel axes.
    assert s.area == pytest.approx(sum(b * t for b, t, _ in parts), rel=1e-14)
    assert s.Iy == pytest.approx(sum(b * t**3 / 12 + b * t * z**2 for b, t, z in parts), rel=1e-13)
    assert s.Iz == pytest.approx(sum(t * b**3 / 12 for b, t, _ in parts), rel=1e-14)


def test_torsion_constant_of_an_i_is_that_of_its_strips_joined() -> None:
    # Saint-Venant's problem by finite differences: Laplace(phi) = -2, phi = 0 on the rim, J = 2 integral phi.
    w, h, flange, web, ny, nz = 0.6, 0.8, 0.05, 0.04, 150, 160
    y, z = np.meshgrid((np.arange(1, ny) / ny - 0.5) * w, (np.arange(1, nz) / nz - 0.5) * h, indexing="ij")
    # The rim runs along grid lines.
    inside = (np.abs(z) > h / 2 - flange + 1e-9) | (np.abs(y) < web / 2 - 1e-9)
    number = np.full(inside.shape, -1)
    number[inside] = np.arange(inside.sum())
    dy, dz = w / ny, h / nz
    matrix = scipy.sparse.lil_array((inside.sum(), inside.sum()))
    for (i, j), k in np.ndenumerate(number):
        if k < 0:
            continue
        matrix[k, k] = 2 / dy**2 + 2 / dz**2
        for a, b, weight in ((i - 1, j, dy), (i + 1, j, dy), (i, j - 1, dz), (i, j + 1, dz)):
            if 0 <= a < ny - 1 and 0 <= b < nz - 1 and number[a, b] >= 0:
                matrix[k, number[a, b]] = -1 / weight**2
    phi = scipy.sparse.linalg.spsolve(matrix.tocsc(), np.full(inside.sum(), 2.0))
    found = section(shape="I", width=w, height=h, flange=flange, web=web).J
    # Open thin walls: the ends of the strips take 0.63 t off them, the joints add as much again and more.
    assert found == pytest.approx(2 * phi.sum() * dy * dz, rel=0.04)


@pytest.mark.parametrize(
    ("keys", "key"),
    [({"flange": 0.1}, "flange"), ({"web": 0.11}, "web"), ({"web": -1}, "web"), ({"thickness": 1}, "thickness")],
)
def test_an_impossible_i_is_refused(keys: dict[str, float], key: str) -> None:
    with pytest.raises(ModelError) as caught:
        section(**{"shape": "I", "width": 0.1, "height": 0.2, "flange": 0.01, "web": 0.006, **keys})
    assert caught.value.problems[0].key == f"bodies[0].beam.section.{key}"


def test_shear_areas_are_none_unless_given() -> None:
    assert section(area=1, Iy=1, Iz=1, J=1).shear_area_y is None
    assert section(area=1, Iy=1, Iz=1, J=1, shear_area_y=0.8).shear_area_y == 0.8
