"""Beams of the model file: every key does what it says, and every mistake is named with its place and cure."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import numpy as np
import pytest

import bough
from bough.errors import ModelError
from bough.flex import FlexBody, counted, flex_body
from bough.flex.beam.beam import beam_flex
from bough.flex.beam.frame import Frame, LumpedMass, Section, Station
from bough.flex.beam.modes import Selection
from bough.model import Body, load, schema

STEEL = {"E": 210e9, "nu": 0.3, "rho": 7850}
CIRCLE = {"shape": "circle", "diameter": 0.02}
MODES = {"boundary": "cantilever", "count": 4}
BEAM: dict[str, Any] = {"length": 1.0, "elements": 10, "section": CIRCLE, "material": STEEL, "modes": MODES}


def model(hinge: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    beam = {key: value for key, value in {**BEAM, **changes}.items() if value is not None}
    body = {"name": "link", "parent": "ground", "hinge": hinge or {"type": "fixed"}, "beam": beam}
    return {"bough": 1, "name": "one", "bodies": [body]}


def loaded(hinge: dict[str, Any] | None = None, **changes: Any) -> Body:
    return load(model(hinge, **changes)).bodies[0]


def built(hinge: dict[str, Any] | None = None, **changes: Any) -> FlexBody:
    return flex_body(loaded(hinge, **changes))


def test_a_beam_along_points_is_the_frame_with_these_corners() -> None:
    points = [[0, 0, 0], [0, 0, 0.6], [0.5, 0, 0.6]]
    section = {"area": 1e-4, "Iy": 1e-9, "Iz": 3e-9, "J": 2e-9, "shear_area_y": 8e-5}
    masses = [{"at": "tip", "mass": 0.3, "com": [0, 0.1, 0], "inertia": [1e-3, 2e-3, 2.5e-3, 1e-4, 0, 0]}]
    found = built(length=None, points=points, up=[0, 2, 0], elements=11, section=section, masses=masses)
    E, G, rho = 210e9, 210e9 / 2.6, 7850
    numbers = Section(
        EA=E * 1e-4,
        GJ=G * 2e-9,
        EIy=E * 1e-9,
        EIz=E * 3e-9,
        rho_A=rho * 1e-4,
        rho_Iy=rho * 1e-9,
        rho_Iz=rho * 3e-9,
        kGAy=G * 8e-5,
    )
    inertia = np.array([[1e-3, 1e-4, 0], [1e-4, 2e-3, 0], [0, 0, 2.5e-3]])
    frame = Frame(
        np.array(points, dtype=float),
        11,
        (Station(0.0, numbers),),
        (LumpedMass(11, 0.3, np.array([0.0, 0.1, 0.0]), inertia),),
        np.array([0.0, 1.0, 0.0]),
    )
    expected = beam_flex(frame, Selection(count=4))
    np.testing.assert_allclose(found.frequencies, expected.frequencies, rtol=1e-12)
    np.testing.assert_allclose(found.node_shapes, expected.node_shapes, atol=1e-9)
    # 0.6 m and 0.5 m in eleven elements of 0.1 m: the corner is node n6.
    np.testing.assert_allclose(found.node_positions[found.node("n6")], [0, 0, 0.6], atol=1e-15)
    np.testing.assert_allclose(found.node_positions[found.node("tip")], [0.5, 0, 0.6], atol=1e-15)


def test_up_turns_the_section() -> None:
    flat = {"shape": "rectangle", "width": 0.04, "height": 0.01}
    upright = built(section=flat, modes={"bending_y": 1}, up=[0, 1, 0]).node_shapes[-1, 3:, 0]
    # Bending about the section's y is the soft one; its z axis points along the body's y.
    assert abs(upright[1]) > 0.0 and abs(upright[2]) < 1e-12 * abs(upright[1])


def test_two_points_are_a_straight_beam_in_any_direction() -> None:
    along_x, along_z = built(), built(length=None, points=[[0, 0, 0], [0, 0, 1]], up=[1, 0, 0])
    np.testing.assert_allclose(along_x.frequencies, along_z.frequencies, rtol=1e-12)
    assert along_z.mode_names == along_x.mode_names
    np.testing.assert_allclose(along_z.node_positions[-1], [0, 0, 1])


def test_stations_weigh_what_a_linear_area_weighs() -> None:
    stations = [{"at": 0, "section": CIRCLE}, {"at": 0.6, "section": CIRCLE}]
    stations += [{"at": 1.0, "section": {"shape": "circle", "diameter": 0.01}}]
    area = np.pi / 4 * 0.02**2
    body = built(section=None, stations=stations)
    assert body.mass == pytest.approx(7850 * area * (0.6 + 0.4 * (1 + 0.25) / 2), rel=1e-13)
    assert body.frequencies[0] > built().frequencies[0]


def test_masses_on_nodes_count() -> None:
    body = built(masses=[{"at": "tip", "mass": 2.0}, {"at": "n5", "mass": 1.0}, {"at": "root", "mass": 0.5}])
    plain = built()
    assert body.mass == pytest.approx(plain.mass + 3.5, rel=1e-14)
    assert body.integrals.inertia[1] == pytest.approx(plain.mass * 0.5 + 2.0 + 0.5, rel=1e-13)
    assert body.frequencies[0] < plain.frequencies[0]


def test_a_cut_off_alone_and_with_a_count() -> None:
    # A circular section: bending frequencies come in pairs.
    whole = built(modes={"count": 12})
    hertz = float(whole.frequencies[5] / (2 * np.pi)) * 1.001
    modes = {"max_frequency": hertz}
    body = loaded(modes=modes)
    assert not body.knows_mode_count
    counted_body = counted(load(model(modes=modes))).bodies[0]
    assert counted_body.mode_count == 6
    assert built(modes={"max_frequency": hertz, "count": 3}).nm == 3
    assert built(modes={"max_frequency": hertz, "count": 12}).nm == 6
    assert built(modes={"max_frequency": hertz, "bending_y": 9, "torsion": 1}).nm < 6
    assert bough.Mechanism(model(modes=modes)).nu == 6


def test_damping_by_cut_off_is_checked_when_the_modes_are_known() -> None:
    hertz = float(built().frequencies[3] / (2 * np.pi)) * 1.001
    modes = {"max_frequency": hertz}
    np.testing.assert_allclose(built(modes=modes, damping=0.02).damping, built(damping=0.02).damping, rtol=1e-9)
    assert built(modes=modes, damping=[0.1] * 4).nm == 4
    with pytest.raises(ModelError, match=r"(?s)body 'link': beam.damping.*each of the 4 modes.*3 ratios"):
        built(modes=modes, damping=[0.1] * 3)
    with pytest.raises(ModelError, match=r"(?s)a row and a column for each of the 4 modes.*2 x 2"):
        built(modes=modes, damping={"matrix": [[1, 0], [0, 1]]})


def test_a_damping_matrix_is_taken_as_it_is() -> None:
    matrix = [[2.0, 0.5, 0, 0], [0.5, 1.0, 0, 0], [0, 0, 3.0, 0], [0, 0, 0, 0.0]]
    np.testing.assert_array_equal(built(damping={"matrix": matrix}).damping, matrix)
    np.testing.assert_array_equal(built(damping={"matrix": [1, 2, 3, 4]}).damping, np.diag([1, 2, 3, 4]))


def test_interfaces_by_name() -> None:
    modes = {"boundary": "craig-bampton", "count": 3, "interfaces": ["n4", "tip"]}
    body = loaded(modes=modes)
    assert body.mode_count == flex_body(body).nm == 15
    default = loaded(modes={"boundary": "craig-bampton", "count": 3})
    assert default.beam is not None and default.beam.modes.interfaces == ("tip",)
    assert default.mode_count == 9


def test_the_schema_has_one_axis_and_one_kind_of_sections() -> None:
    whole = json.loads(json.dumps(schema()))
    jsonschema.validate(model(), whole)
    for changes in ({"points": [[0, 0, 0], [1, 0, 0]]}, {"length": None}, {"section": None}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(model(**changes), whole)


TWO = [[0, 0, 0], [1, 0, 0]]
STATION = {"at": 0, "section": CIRCLE}
CB = {"boundary": "craig-bampton", "count": 1}
MISTAKES: list[tuple[dict[str, Any], str, str, str]] = [
    ({"length": None}, "length", "a number above 0: length", "no such key"),
    ({"points": TWO}, "points", "either length or points", "both"),
    ({"length": None, "points": [[0, 0, 0]]}, "points", "2 to 200 points", "a list of 1"),
    ({"length": None, "points": [[0, 0, 0], [1, 0]]}, "points[1]", "points [x, y, z]", "a list of 2"),
    ({"length": None, "points": [*TWO, [1, 0, 0]]}, "points[2]", "away from the one before", "points[1] again"),
    ({"length": None, "points": [*TWO, [1, 0, 1]]}, "up", "across every segment", "along the segment from points[1]"),
    ({"up": [1, 0, 0]}, "up", "across every segment", "[1.0, 0.0, 0.0]"),
    ({"up": [0, 0, 0]}, "up", "non-zero length", "0"),
    (
        {"length": None, "points": [*TWO, [1, 1, 0]], "elements": 1, "modes": {"count": 1}},
        "elements",
        "at least 2",
        "1",
    ),
    ({"section": None}, "section", "{area, Iy, Iz, J}", "no such key"),
    ({"stations": [STATION, STATION]}, "stations", "either section or stations", "both"),
    ({"section": None, "stations": [STATION]}, "stations", "2 to 200", "a list of 1"),
    ({"section": None, "stations": [STATION, {**STATION, "at": -1}]}, "stations[1].at", "0 or more", "-1"),
    ({"section": None, "stations": [STATION, {**STATION, "at": 1.1}]}, "stations[1].at", "1 m long", "1.1"),
    (
        {"section": None, "stations": [STATION, {**STATION, "at": 0.5}, {**STATION, "at": 0.4}]},
        "stations[2].at",
        "a place from 0.5 m",
        "0.4",
    ),
    (
        {"section": None, "stations": [STATION, {"at": 1, "section": {**CIRCLE, "shear_area_z": 1e-4}}]},
        "stations[1].section",
        "shear_area_z at all stations",
        "stations[0] without",
    ),
    ({"masses": [{"at": "tap", "mass": 1}]}, "masses[0].at", "root, n1, n2", "'tap'"),
    ({"masses": [{"at": "tip"}]}, "masses[0].mass", "0 or more", "no such key"),
    ({"masses": [{"at": "tip", "mass": -1}]}, "masses[0].mass", "0 or more", "-1"),
    ({"masses": [{"at": "tip", "mass": 1, "inertia": [1, 1, 3, 0, 0, 0]}]}, "masses[0].inertia", "triangle", "3"),
    ({"modes": {"boundary": "cantilever"}}, "modes", "or max_frequency", "neither"),
    ({"modes": {"max_frequency": 0}}, "modes.max_frequency", "above 0", "0"),
    ({"modes": {**MODES, "axis": [0, 0, 1]}}, "modes.axis", "boundary: pinned", "boundary: cantilever"),
    ({"modes": {**MODES, "interfaces": ["tip"]}}, "modes.interfaces", "boundary: craig-bampton", "cantilever"),
    ({"modes": {**MODES, "boundary": "pinned", "axis": [0, 0, 0]}}, "modes.axis", "non-zero length", "0"),
    ({"modes": {**MODES, "boundary": "pinned", "axes": []}}, "modes.axes", "one to three axes", "an empty list"),
    (
        {"modes": {**MODES, "boundary": "pinned", "axis": [0, 0, 1], "axes": [[0, 0, 1]]}},
        "modes.axes",
        "either axis or axes",
        "both",
    ),
    ({"modes": {**CB, "interfaces": ["root"]}}, "modes.interfaces[0]", "other than root", "'root'"),
    ({"modes": {**CB, "interfaces": ["n2", "n2"]}}, "modes.interfaces[1]", "every node once", "'n2' again"),
    ({"modes": {**CB, "interfaces": ["n99"]}}, "modes.interfaces[0]", "one of the nodes", "'n99'"),
    ({"modes": {**CB, "interfaces": []}}, "modes.interfaces", "at least one node", "an empty list"),
    ({"modes": {"boundary": "craig-bampton", "count": 55}}, "modes.count", "at most 60 modes", "61 modes"),
    ({"modes": {"boundary": "craig-bampton", "axial": 10}}, "modes.axial", "at most 9 axial", "10"),
    ({"damping": {}}, "damping", "exactly one of rayleigh, matrix", "none"),
    ({"damping": {"rayleigh": [0, 0], "matrix": [1]}}, "damping", "exactly one", "both rayleigh and matrix"),
    ({"damping": {"matrix": [1, 2]}}, "damping.matrix", "4 x 4", "a list of 2"),
    ({"damping": {"matrix": [[1, 2], [3]]}}, "damping.matrix", "4 x 4", "rows of 1, 2"),
    (
        {"modes": {"count": 2}, "damping": {"matrix": [[1, 2], [3, 4]]}},
        "damping.matrix",
        "symmetric",
        "row 1, column 2",
    ),
    ({"modes": {"count": 2}, "damping": {"matrix": [[1, 2], [2, 1]]}}, "damping.matrix", "negative", "-1"),
]


@pytest.mark.parametrize(("changes", "key", "expected", "found"), MISTAKES, ids=lambda value: str(value)[:40])
def test_a_mistake_is_refused_with_place_and_cure(changes: dict[str, Any], key: str, expected: str, found: str) -> None:
    with pytest.raises(ModelError) as caught:
        load(model(**changes))
    (problem,) = caught.value.problems
    assert problem.key == f"bodies[0].beam.{key}"
    assert expected in problem.expected
    assert found in problem.found
    assert problem.cure


def test_start_values_of_modes_below_a_cut_off_are_checked_when_they_are_counted() -> None:
    hertz = float(built().frequencies[3] / (2 * np.pi)) * 1.001
    good = model(modes={"max_frequency": hertz}, initial={"eta": [0.1, 0, 0, 0]})
    q, _ = bough.Mechanism(good).initial_state()
    np.testing.assert_array_equal(q, [0.1, 0, 0, 0])
    with pytest.raises(ModelError, match="4 numbers, one per mode"):
        bough.Mechanism(model(modes={"max_frequency": hertz}, initial={"eta": [0.1]}))
