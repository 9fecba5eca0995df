"""From bodies of the model file to flexible-body data."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import bough
from bough import model
from bough.errors import ModelError
from bough.flex import FlexBody, build, flex_body
from bough.flex.beam.line import RX, RY, RZ
from bough.flex.body import ROTATION
from bough.flex.nodal import nodal_body

BEAM: dict[str, Any] = {
    "length": 1.0,
    "elements": 20,
    "section": {"area": 1e-4, "Iy": 1e-9, "Iz": 2e-9, "J": 2e-9},
    "material": {"E": 70e9, "nu": 0.33, "rho": 2700.0},
    "modes": {"boundary": "cantilever", "count": 4},
}
PANEL: dict[str, Any] = {
    "attach": "a",
    "nodes": [
        {"name": "a", "position": [0, 0, 0], "mass": 0.1},
        {"name": "b", "position": [1, 0, 0], "mass": 0.4, "inertia": [0.01, 0.02, 0.02, 0.001, 0.0, 0.002]},
    ],
    "modes": [[[0, 0, 0, 0, 0, 0], [0, -1, 0, 0, 0, 2]], [[0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 1, 0]]],
    "stiffness": [50.0, 80.0],
}
MASSLESS = {"mass": 0.0, "inertia": (0.0,) * 6}


def loaded(hinge: dict[str, Any] | None = None, **kind: Any) -> model.Body:
    """The body of a model that has one."""
    body = {"name": "link", "parent": "ground", "hinge": hinge or {"type": "fixed"}, **kind}
    return model.load({"bough": 1, "name": "one", "bodies": [body]}).bodies[0]


def built(hinge: dict[str, Any] | None = None, **kind: Any) -> FlexBody:
    return flex_body(loaded(hinge, **kind))


def beam(hinge: dict[str, Any] | None = None, **changes: Any) -> FlexBody:
    return built(hinge, beam={**BEAM, **changes})


def test_beam_of_the_model_file_has_the_closed_form_frequency() -> None:
    body = beam(damping=0.01)
    # Clamped-free: mu_1 = 1.875104.
    expected = 1.8751040687**2 * np.sqrt(70e9 * 1e-9 / (2700.0 * 1e-4))
    assert body.frequencies[0] == pytest.approx(expected, rel=1e-4)
    assert body.mode_names[:2] == ("bending_y 1", "bending_z 1")
    np.testing.assert_allclose(body.damping, np.diag(0.02 * body.frequencies), rtol=1e-15)
    assert body.node_names[1] == "n1"


def test_number_of_modes_is_what_the_model_says() -> None:
    for modes in (
        {"boundary": "craig-bampton", "count": 4},
        {"boundary": "craig-bampton", "bending_y": 2, "torsion": 1},
        {"boundary": "free", "bending_y": 2, "bending_z": 1, "torsion": 1, "axial": 1},
        {"boundary": "pinned", "count": 5},
    ):
        body = loaded(beam={**BEAM, "modes": modes})
        assert flex_body(body).nm == body.mode_count
        assert flex_body(body).node_names == body.node_names


def test_damping_of_the_model_file() -> None:
    ratios = beam(damping=[0.01, 0.02, 0.03, 0.04])
    expected = 2.0 * np.array([0.01, 0.02, 0.03, 0.04]) * ratios.frequencies
    np.testing.assert_allclose(np.diag(ratios.damping), expected)
    rayleigh = beam(damping={"rayleigh": [0.5, 1e-4]})
    np.testing.assert_allclose(np.diag(rayleigh.damping), 0.5 + 1e-4 * rayleigh.frequencies**2)


def test_shear_area_of_the_model_file_softens_its_plane() -> None:
    modes = {"boundary": "cantilever", "bending_y": 1, "bending_z": 1}
    plain = beam(modes=modes)
    soft = beam(modes=modes, section={**BEAM["section"], "shear_area_z": 1e-6})
    assert soft.frequencies[0] < plain.frequencies[0] * (1.0 - 1e-4)
    assert soft.frequencies[1] == pytest.approx(plain.frequencies[1], rel=1e-12)


@pytest.mark.parametrize(
    ("hinge", "rows"),
    [
        ({"type": "revolute", "axis": [0, 0, 1]}, {RZ}),
        ({"type": "revolute", "axis": [0, -2, 0]}, {RY}),
        ({"type": "universal", "axes": [[0, 0, 1], [1, 0, 0]]}, {RX, RZ}),
        ({"type": "planar", "axes": [[1, 0, 0], [0, 0, 1]]}, {RY}),
        ({"type": "spherical"}, {RX, RY, RZ}),
        ({"type": "fixed"}, {RZ}),
    ],
)
def test_pinned_modes_turn_the_root_as_the_hinge_does(hinge: dict[str, Any], rows: set[int]) -> None:
    modes = {"boundary": "pinned", "bending_y": 2, "bending_z": 2, "torsion": 2, "axial": 1}
    root = beam(hinge, modes=modes).node_shapes[0]
    assert set(np.flatnonzero(np.any(root != 0.0, axis=1))) == rows
    assert not np.any(root[3:])


def test_pin_between_body_axes_has_modes_but_no_families() -> None:
    hinge = {"type": "revolute", "axis": [0, 1, 1]}
    body = beam(hinge, modes={"boundary": "pinned", "count": 4})
    root = body.node_shapes[0]
    np.testing.assert_allclose(root[RY], root[RZ], rtol=1e-12)
    assert np.all(np.abs(root[RY]) > 0.0)
    assert body.mode_names[0] == "mode 1"
    with pytest.raises(ModelError, match="pinned about an axis that is not one of its section's axes") as caught:
        beam(hinge, modes={"boundary": "pinned", "bending_y": 2})
    assert "body 'link'" in str(caught.value) and "count" in str(caught.value)


def test_pinned_modes_turn_about_the_axis_that_the_file_gives() -> None:
    hinge = {"type": "revolute", "axis": [0, 0, 1]}
    modes = {"boundary": "pinned", "bending_y": 2, "bending_z": 2}
    np.testing.assert_array_equal(
        beam(hinge, modes={**modes, "axis": [0, -3, 0]}).node_shapes,
        beam({"type": "revolute", "axis": [0, 1, 0]}, modes=modes).node_shapes,
    )
    # Two axes between y and z release both, as y and z themselves do.
    both = beam(hinge, modes={**modes, "axes": [[0, 1, 1], [0, 1, -1]]})
    ball = beam(hinge, modes={**modes, "axes": [[0, 1, 0], [0, 0, 1]]})
    np.testing.assert_array_equal(both.node_shapes, ball.node_shapes)


def test_too_many_modes_name_the_body() -> None:
    # The model file is checked for this before; a body made by hand may not be.
    body = loaded(beam=BEAM)
    assert body.beam is not None
    greedy = body.beam.model_copy(update={"modes": model.BeamModes(boundary="cantilever", count=1000)})
    with pytest.raises(ModelError, match="body 'link': beam.modes"):
        flex_body(body.model_copy(update={"beam": greedy}))


def test_nodal_body_is_taken_as_given() -> None:
    body = built(nodal={**PANEL, "damping": [0.01, 0.02]})
    assert (body.points.masses.size, body.nn, body.nm, body.attach) == (2, 2, 2, 0)
    np.testing.assert_array_equal(body.points.shapes[1, :, 0], [0, -1, 0, 0, 0, 2])
    np.testing.assert_array_equal(body.points.shapes[1, :, 1], [0, 0, 1, 0, 1, 0])
    np.testing.assert_array_equal(body.points.inertias[1], [[0.01, 0.001, 0], [0.001, 0.02, 0.002], [0, 0.002, 0.02]])
    # M_rr = m Gam'Gam + Lam' J Lam.
    masses = np.array([0.4 * 4.0 + 0.02, 0.4 + 0.02])
    np.testing.assert_allclose(np.diag(body.modal_mass), masses)
    assert body.modal_mass[0, 1] == pytest.approx(-0.002)
    np.testing.assert_allclose(body.frequencies, np.sqrt([50.0, 80.0] / masses))
    expected = 2.0 * np.array([0.01, 0.02]) * np.sqrt([50.0, 80.0] * masses)
    np.testing.assert_allclose(body.damping, np.diag(expected))


def test_nodal_body_with_matrices_or_without_damping() -> None:
    c = [[1.0, 0.2], [0.2, 2.0]]
    body = built(nodal={**PANEL, "stiffness": [[50.0, 1.0], [1.0, 80.0]], "damping_matrix": c})
    np.testing.assert_array_equal(body.damping, c)
    np.testing.assert_array_equal(body.stiffness, [[50.0, 1.0], [1.0, 80.0]])
    np.testing.assert_array_equal(built(nodal=PANEL).damping, np.zeros((2, 2)))


def test_shape_that_moves_no_mass_has_no_frequency() -> None:
    nodal = loaded(nodal=PANEL).nodal
    assert nodal is not None
    light = nodal.model_copy(update={"nodes": tuple(n.model_copy(update=MASSLESS) for n in nodal.nodes)})
    assert np.all(np.isnan(nodal_body(light).frequencies))


def test_nodal_body_without_modes() -> None:
    body = built(nodal={**PANEL, "modes": [], "stiffness": []})
    assert body.nm == 0
    assert body.points.shapes[:, ROTATION].shape == (2, 3, 0)


def test_rigid_body_has_no_flexible_data() -> None:
    with pytest.raises(ValueError, match="is rigid"):
        built(rigid={"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]})


def test_numbers_beyond_floating_point_are_refused() -> None:
    material = {"E": 1e-50, "G": 1e-50, "rho": 1e50}
    section = {"area": 1.0, "Iy": 1e-50, "Iz": 1e-50, "J": 1e-50}
    with pytest.raises(ModelError, match="SI units"):
        beam(material=material, section=section, length=1e50)


def test_a_flexible_body_is_solved_once_from_the_file_to_the_poses_of_all_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solved: list[str] = []
    solve = build._solved
    monkeypatch.setattr(build, "_solved", lambda body, stiff: solved.append(body.name) or solve(body, stiff))
    # Modes by a cut-off frequency have to be counted when the file is read.
    beam = BEAM | {"modes": {"boundary": "cantilever", "max_frequency": 200.0}}
    body = {"name": "link", "parent": "ground", "hinge": {"type": "fixed"}, "beam": beam}
    system = bough.Mechanism(bough.load({"bough": 1, "name": "one", "bodies": [body]}))
    q, _ = system.initial_state()
    system.pose(q, "link.n7")  # carries nothing: the kernel gets a block with every node
    bough.Mechanism(system.model.model_copy(update={"gravity": (0.0, 0.0, -9.81)}))
    assert solved == ["link"]


def test_a_body_on_another_hinge_or_with_stiffening_is_solved_again() -> None:
    pinned = BEAM | {"modes": {"boundary": "pinned", "count": 2}}
    about_z = loaded({"type": "revolute", "axis": [0, 0, 1]}, beam=pinned)
    about_y = about_z.model_copy(update={"hinge": about_z.hinge.model_copy(update={"axes": ((0.0, 1.0, 0.0),)})})
    plain = flex_body(about_z, stiffening=False)
    assert plain.stiffening is None and flex_body(about_z).stiffening is not None
    assert not np.allclose(flex_body(about_y).node_shapes, flex_body(about_z).node_shapes, atol=1e-3)
    np.testing.assert_array_equal(flex_body(about_z).node_shapes, plain.node_shapes)


def test_solved_bodies_are_forgotten_with_their_model() -> None:
    body = loaded(beam=BEAM)
    flex_body(body)
    before = len(build._SOLVED)
    del body
    gc.collect()
    assert len(build._SOLVED) < before


def test_equal_beams_are_solved_once_and_pinned_ones_once_for_each_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is loaded from a text of its own: what counts is what they are."""
    calls: list[str] = []
    solve = build._beam_body

    def counted(beam: Any, hinge: Any, stiffening: bool) -> FlexBody:
        calls.append(beam.modes.boundary)
        return solve(beam, hinge, stiffening)

    monkeypatch.setattr(build, "_beam_body", counted)
    odd = {"length": 1.2345}
    first, second, longer = beam(**odd), beam(**odd), beam(length=1.2346)
    assert first is second and first is not longer and len(calls) == 2
    np.testing.assert_array_equal(first.node_shapes, solve(*solved_of(odd)).node_shapes)
    pinned = odd | {"modes": {"boundary": "pinned", "count": 2}}
    kept = [beam({"type": "revolute", "axis": axis}, **pinned) for axis in ([0, 0, 1], [0, 1, 0], [0, 0, 1])]
    assert kept[0] is kept[2] and kept[0] is not kept[1] and len(calls) == 4


def solved_of(changes: dict[str, Any]) -> tuple[Any, Any, bool]:
    """What the beam with these changes is made of."""
    body = loaded(None, beam=BEAM | changes)
    return body.beam, body.hinge, True
