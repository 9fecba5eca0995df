"""Beams that are cut into bodies: large deflections, and everything else as of one beam."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flex.large_deflection import reissner_tip
from typer.testing import CliRunner

import bough
from bough.cli.app import app
from bough.flex import flex_body
from bough.model import plausibility_notes

SIDE = 0.01
MATERIAL = {"E": 70e9, "nu": 0.33, "rho": 2700.0}
EI = MATERIAL["E"] * SIDE**4 / 12.0


def boom(bodies: int, *, elements: int = 16, hinge: Any = None, **more: Any) -> dict[str, Any]:
    """A square rod of 1 m, cut."""
    beam = {"length": 1.0, "elements": elements, "bodies": bodies, "material": MATERIAL}
    beam["section"] = {"shape": "rectangle", "width": SIDE, "height": SIDE}
    body = {"name": "boom", "parent": "ground", "hinge": hinge or {"type": "fixed"}, "beam": beam | more}
    return {"bough": 1, "name": "rod", "bodies": [body], "inputs": ["boom.tip.force"], "outputs": ["boom.tip"]}


def fitted_order(errors: list[float]) -> float:
    """Order of convergence over halved pieces, from the last two."""
    return float(np.log2(errors[-2] / errors[-1]))


@pytest.mark.parametrize(("stiffening", "order", "last"), [(False, 2, 2e-4), (True, 3, 1e-5)])
def test_elastica_to_30_percent_of_the_length_converges_with_the_number_of_bodies(
    stiffening: bool, order: int, last: float
) -> None:
    """P L^2 / EI = 1: deflection 0.3017 L, shortening 0.0564 L (Bisshopp and Drucker 1945, table).

    One piece of n turns by the n-th part: second-order parts that it lacks are n^-2 in sum, third-order ones n^-3.
    """
    stretch = MATERIAL["E"] * SIDE**2
    tip, _ = reissner_tip(1.0, (0, 0, 0), (np.inf, EI, EI), (stretch, np.inf, np.inf), (0, 0, EI))
    assert tip[2] == pytest.approx(0.3017, abs=5e-5)
    assert 1.0 - tip[0] == pytest.approx(0.0564, abs=5e-5)
    errors = []
    for bodies in (4, 8, 16) if stiffening else (2, 4, 8, 16):
        system = bough.Mechanism(boom(bodies) | {"geometric_stiffening": stiffening})
        q, _ = bough.equilibrium(system, loads={"boom.tip.force": [0.0, 0.0, EI]})
        errors.append(float(np.linalg.norm(system.pose(q, "boom.tip")[0] - tip)))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < last
    assert fitted_order(errors) == pytest.approx(order, abs=0.2)


def test_45_degree_bend_in_16_bodies_is_within_one_percent() -> None:
    """Bathe and Bolourchi 1979: -13.4, -23.5, 53.4 in under 600 lb, by eight elements; Reissner's equations: exactly.

    The unit square section has GJ = G / 6 there, and G = E / 2. Units are inches and pounds.
    """
    angles = np.linspace(0.0, np.pi / 4, 33)
    points = 100.0 * np.column_stack([1.0 - np.cos(angles), np.sin(angles), 0.0 * angles])
    section = {"area": 1.0, "Iy": 1 / 12, "Iz": 1 / 12, "J": 1 / 6, "shear_area_y": 1.0, "shear_area_z": 1.0}
    beam = {"points": points.tolist(), "elements": 32, "bodies": 16, "section": section}
    beam["material"] = {"E": 1e7, "nu": 0.0, "rho": 1e-3}
    body = {"name": "bend", "parent": "ground", "hinge": {"type": "fixed"}, "beam": beam}
    model = {"bough": 1, "name": "bend", "bodies": [body], "inputs": ["bend.tip.force"]}
    system = bough.Mechanism(model)
    rest, _ = system.initial_state()
    q, _ = bough.equilibrium(system, loads={"bend.tip.force": [0.0, 0.0, 600.0]})
    moved = system.pose(q, "bend.tip")[0] - system.pose(rest, "bend.tip")[0]

    axes = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # x along the axis, z up
    rigid = 1e7 / 12
    tip, _ = reissner_tip(25 * np.pi, (0, 0, -0.01), (rigid,) * 3, (1e7, 5e6, 5e6), (0, 0, 600.0), axes)
    exact = tip - points[-1]
    np.testing.assert_allclose(moved, exact, rtol=0.01)
    assert np.linalg.norm(moved - [-13.4, -23.5, 53.4]) < 0.01 * np.linalg.norm(moved)


def test_frequencies_of_a_cut_beam_are_those_of_the_whole() -> None:
    """Each piece is the textbook element: omega^2 errs by (beta l)^4 / 720, with l the length of a piece."""
    whole = flex_body(bough.load(boom(8)).whole_bodies[0]).frequencies
    for bodies in (4, 8):
        system = bough.Mechanism(boom(bodies))
        q, u = system.initial_state()
        found = np.abs(np.linalg.eigvals(system.linearize(q, u, u).A).imag)
        for omega, beta in zip(whole[:6:2], (1.8751, 4.6941, 7.8548), strict=True):
            error = np.min(abs(found / omega - 1.0))
            assert error < 1.1 * (beta / bodies) ** 4 / 1440


def test_damping_of_a_cut_beam_is_that_of_one_beam() -> None:
    """A ratio is met at the first frequency of each family, and grows with the frequency."""
    system = bough.Mechanism(boom(8, damping=0.02))
    q, u = system.initial_state()
    values = np.linalg.eigvals(system.linearize(q, u, u).A)
    values = values[np.argsort(abs(values))]
    ratios = -values.real / abs(values)
    assert ratios[:4] == pytest.approx(0.02, rel=1e-4)
    second = np.flatnonzero(abs(values) > 2 * abs(values[0]))[0]
    assert ratios[second] == pytest.approx(0.02 * abs(values[second] / values[0]), rel=1e-3)


def test_names_are_those_of_one_beam() -> None:
    system = bough.Mechanism(boom(4, elements=9))
    assert system.node_names == ["boom.root", *(f"boom.n{i}" for i in range(1, 9)), "boom.tip"]
    assert system.q_names == [f"boom.eta[{i}]" for i in range(1, 25)]
    names = {v.name for v in system.variables}
    assert {"boom.tip.force[1]", "boom.tip.r[1]", "boom.eta_dot[24]"} <= names
    assert not [name for name in names if "#" in name]


def test_every_node_is_where_the_whole_beam_has_it() -> None:
    corners = [[0.0, 0.0, 0.0], [0.7, 0.1, 0.0], [0.7, 1.0, 0.3], [1.5, 1.0, 0.3]]
    shape = {"shape": "circle", "radius": 0.01}
    beam = {"points": corners, "elements": 17, "material": MATERIAL, "section": shape}
    body = {"name": "b", "parent": "ground", "hinge": {"type": "fixed"}}
    one = {"bough": 1, "name": "x", "bodies": [body | {"beam": beam | {"modes": {"count": 2}}}]}
    many = {"bough": 1, "name": "x", "bodies": [body | {"beam": beam | {"bodies": 5}}]}
    first, second = bough.Mechanism(one), bough.Mechanism(many)
    for node in first.node_names:
        np.testing.assert_allclose(
            second.pose(second.initial_state()[0], node)[0],
            first.pose(first.initial_state()[0], node)[0],
            atol=1e-12,
        )


def test_a_body_hangs_on_any_node_of_a_cut_beam_with_its_static_flexibility() -> None:
    """A weight on n5, inside a piece: the deflection under it is P a^3 / 3 EI, a = 5/16 m."""
    model = boom(4)
    model["gravity"] = [0.0, 0.0, -10.0]
    model["bodies"][0]["beam"]["material"] = MATERIAL | {"rho": 1e-3}
    model["bodies"].append({"name": "load", "parent": "boom", "at": "n5", "hinge": {"type": "fixed"}})
    model["bodies"][1]["rigid"] = {"mass": 0.1, "inertia": [1e-5, 1e-5, 1e-5, 0, 0, 0]}
    system = bough.Mechanism(model)
    q, _ = bough.equilibrium(system)
    drop = -system.pose(q, "load.origin")[0][2]
    # A deflection of 1.7e-4 m of 0.31: second-order parts are 1e-6 of it, the weight of the rod 1e-5.
    assert drop == pytest.approx(1.0 * (5 / 16) ** 3 / (3 * EI), rel=3e-5)


def test_section_force_where_the_beam_is_cut_is_the_load_outboard_of_it() -> None:
    system = bough.Mechanism(boom(4))
    q, u = bough.equilibrium(system, loads={"boom.tip.force": [0.0, 0.0, 1.0]})
    reactions = system.hybrid_dynamics(q, u, u, loads={"boom.tip.force": [0.0, 0.0, 1.0]}).reactions
    assert reactions[2, 5] == pytest.approx(-1.0, abs=1e-3)  # at n8: what the inner half exerts on the outer one
    assert reactions[2, 1] == pytest.approx(0.5, rel=1e-2)


@pytest.mark.parametrize(
    ("change", "key", "told"),
    [
        ({"elements": 3}, "elements", "at least 4 elements"),
        ({"modes": {"boundary": "cantilever", "count": 4}}, "modes.boundary", "converge to a wrong limit"),
        ({"modes": {"max_frequency": 100.0}}, "modes.max_frequency", "count"),
        ({"modes": {"interfaces": ["n3"]}}, "modes.interfaces", "every node that carries a hinge"),
        ({"damping": [0.01, 0.01]}, "damping", "one ratio"),
        ({"damping": {"rayleigh": [1.0, 0.0]}}, "damping.rayleigh", "[0, beta]"),
        ({"damping": {"matrix": [1.0]}}, "damping", "one ratio"),
        ({"initial": {"eta": [0.1]}}, "initial.eta", "24 numbers"),
        ({"bodies": 0}, "bodies", "from 1 to"),
    ],
)
def test_what_a_cut_beam_cannot_have_is_refused(change: dict[str, Any], key: str, told: str) -> None:
    with pytest.raises(bough.ModelError) as refused:
        bough.load(boom(change.pop("bodies", 4), **change))
    assert f"bodies[0].beam.{key}" in str(refused.value)
    assert told in str(refused.value)


def test_the_name_of_a_cut_may_not_be_taken() -> None:
    model = boom(4)
    model["bodies"].append(
        {"name": "boom_n8", "parent": "boom", "at": "tip", "hinge": {"type": "fixed"}, "rigid": {"mass": 1.0}}
    )
    with pytest.raises(bough.ModelError, match="boom_n8"):
        bough.load(model)


def test_start_values_go_to_their_pieces() -> None:
    eta = [0.001 * i for i in range(24)]
    system = bough.Mechanism(boom(4, initial={"eta": eta}))
    np.testing.assert_array_equal(system.initial_state()[0], eta)


def pieces_by_hand(boundary: str) -> dict[str, Any]:
    """Two beams of half a metre, fixed to one another."""
    beam = {"length": 0.5, "elements": 8, "material": MATERIAL, "modes": {"boundary": boundary, "count": 4}}
    beam["section"] = {"shape": "rectangle", "width": SIDE, "height": SIDE}
    one = {"name": "one", "parent": "ground", "hinge": {"type": "fixed"}, "beam": beam}
    two = {"name": "two", "parent": "one", "at": "tip", "hinge": {"type": "fixed"}, "beam": beam}
    return {"bough": 1, "name": "hand", "bodies": [one, two]}


def test_check_warns_of_a_beam_cut_by_hand_with_modes_that_carry_no_moment() -> None:
    (note,) = plausibility_notes(bough.load(pieces_by_hand("cantilever")))
    assert "wrong limit" in str(note)
    assert "`bodies: 2`" in str(note)
    assert not plausibility_notes(bough.load(pieces_by_hand("craig-bampton")))


def test_commands_know_a_cut_beam_as_one(tmp_path: Path) -> None:
    file = tmp_path / "rod.json"
    file.write_text(json.dumps(boom(4)))
    told = CliRunner().invoke(app, ["check", str(file), "--json"])
    facts = json.loads(told.stdout)
    assert [body["name"] for body in facts["bodies"]] == ["boom"]
    assert (facts["bodies"][0]["bodies"], facts["modes"]) == (4, 24)
    assert facts["mass"] == pytest.approx(2700 * SIDE**2)
    flex = CliRunner().invoke(app, ["flex", str(file), "--json"])
    assert json.loads(flex.stdout)["bodies"][0]["mass"] == pytest.approx(2700 * SIDE**2)
    refused = CliRunner().invoke(app, ["flex", str(file), "--json", "--sid", str(tmp_path / "rod.sid")])
    assert refused.exit_code == 1
    assert "cut into 4 bodies" in refused.output + (refused.stderr or "")


def test_an_fmu_of_a_cut_beam_runs_as_the_model_does(tmp_path: Path) -> None:
    model = boom(3, elements=6, damping=0.02) | {"gravity": [0.0, 0.0, -9.81]}
    bough.build_fmu(model, tmp_path / "rod.fmu", fmi="2.0", platforms="native")
    ours = bough.simulate(model, stop=0.05, step=0.01)
    from fmpy import simulate_fmu  # noqa: PLC0415 (slow to import)

    theirs = simulate_fmu(str(tmp_path / "rod.fmu"), stop_time=0.05, output_interval=0.01, output=["boom.tip.r[3]"])
    np.testing.assert_allclose(theirs["boom.tip.r[3]"], ours["boom.tip.r[3]"], atol=1e-6)


def test_modes_of_a_mechanism_know_what_the_modes_of_every_piece_are_called() -> None:
    found = bough.modes(boom(3, elements=6))
    assert set(found.mode_names) == {f"boom.eta_dot[{i}]" for i in range(1, 19)}
    assert found.frequencies[0] == pytest.approx(1.8751**2 * np.sqrt(EI / (2700 * SIDE**2)) / (2 * np.pi), rel=2e-4)
