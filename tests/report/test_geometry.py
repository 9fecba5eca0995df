"""Pictures of a mechanism are where its nodes are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from report.mechanisms import slider_run

import bough
from bough.report import Animation, Part
from bough.report.retrace import energy_series, find_prefix, positions, speeds
from bough.report.scenes import animate, automatic_exaggeration, exaggerated, inertia_box

GOOD = sorted((Path(__file__).resolve().parents[1] / "model" / "good").iterdir())


@pytest.fixture(scope="module")
def run() -> tuple[bough.Mechanism, bough.Result]:
    return slider_run()


def _part(scene: Animation, name: str) -> Part:
    return next(part for part in scene.parts if part.name == name)


def test_beam_is_drawn_through_the_poses_of_its_nodes(run: tuple[bough.Mechanism, bough.Result]) -> None:
    system, result = run
    scene = animate(system, result, frames=21, exaggeration=1.0)
    q = positions(system, result)[np.searchsorted(result.t, scene.times)]
    boom = _part(scene, "boom")
    for j, node in enumerate(system.model.bodies[1].node_names):
        assert np.array_equal(boom.points[0, :, j], system.pose(q, f"boom.{node}")[0])
    assert [list(line) for line in boom.lines] == [list(range(9))]
    assert np.array_equal(scene.trails[0].points[0], system.pose(q, "boom.tip")[0])


def test_rigid_body_has_its_mass_centre_and_nodes_joined_to_its_origin(
    run: tuple[bough.Mechanism, bough.Result],
) -> None:
    system, result = run
    cart = _part(animate(system, result, frames=5, exaggeration=1.0), "cart")
    base = np.column_stack([result["rail.s"][[0, 125, 250, 375, 500]], np.zeros(5), np.zeros(5)])
    ends = {tuple(np.round(cart.points[0, 0, line[1]] - base[0], 12)) for line in cart.lines}
    assert ends == {(0.0, 0.0, 0.5), (0.1, 0.0, 0.0)}
    assert cart.points[0, :, cart.dots[0]] == pytest.approx(base + [0.1, 0.0, 0.0], abs=1e-14)


def test_box_of_a_rigid_body_has_its_inertia() -> None:
    a, b, c, m = 0.5, 1.0, 2.0, 3.0
    moments = m / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    model = {
        "bough": 1,
        "name": "brick",
        "bodies": [
            {
                "name": "brick",
                "parent": "ground",
                "hinge": {"type": "free"},
                "rigid": {"mass": m, "com": [1, 2, 3], "inertia": [*moments.tolist(), 0, 0, 0]},
            }
        ],
    }
    rigid = bough.load(model).bodies[0].rigid
    assert rigid is not None
    corners = inertia_box(rigid)
    assert corners is not None
    # Square roots of differences: round-off of 1e-16 in the inertia is 1e-15 in the sides.
    assert corners.min(axis=0) == pytest.approx([1 - a / 2, 2 - b / 2, 3 - c / 2], abs=1e-12)
    assert corners.max(axis=0) == pytest.approx([1 + a / 2, 2 + b / 2, 3 + c / 2], abs=1e-12)
    assert inertia_box(rigid.model_copy(update={"inertia": (0.0,) * 6})) is None, "a point has no box"


def test_exaggeration_scales_deflections_and_keeps_bodies_together(run: tuple[bough.Mechanism, bough.Result]) -> None:
    system, result = run
    scene = animate(system, result, frames=11, exaggeration=[1.0, 5.0])
    boom, flag = _part(scene, "boom"), _part(scene, "flag")
    assert np.allclose(boom.points[1, :, -1], flag.points[1, :, 0], atol=1e-12), "the flag stays on the tip"
    rows = np.searchsorted(result.t, scene.times)
    straight = system.pose(exaggerated(system, positions(system, result), 0.0)[rows], "boom.tip")[0]
    once, five = (np.linalg.norm(boom.points[k, :, -1] - straight, axis=1) for k in (0, 1))
    assert once.max() > 1e-3
    assert np.allclose(five, 5 * once, atol=1e-12), "the boom's tip moves by the shapes times eta: linear in it"


def test_automatic_exaggeration_makes_a_small_deflection_visible(run: tuple[bough.Mechanism, bough.Result]) -> None:
    system, result = run
    q = positions(system, result)
    small = exaggerated(system, q, 1e-2)
    factor = automatic_exaggeration(system, small)
    assert factor in {1.0 * 10**k for k in range(4)} | {2.0 * 10**k for k in range(4)} | {5.0 * 10**k for k in range(4)}
    assert factor >= 20 * automatic_exaggeration(system, q)
    assert automatic_exaggeration(system, exaggerated(system, q, 0.0)) == 1.0, "what does not bend is not exaggerated"


def test_frames_are_even_in_time_and_skip_rows_that_are_not_finite(run: tuple[bough.Mechanism, bough.Result]) -> None:
    system, result = run
    columns = {name: result[name].copy() for name in result.names}
    columns["rail.s"][-100:] = np.nan
    broken = bough.Result(result.t, columns)
    times = animate(system, broken, frames=41, exaggeration=1.0).times
    assert times.size == 41
    assert times[-1] == result.t[-101]
    assert np.diff(times) == pytest.approx(0.02, abs=0.0021), "the nearest rows, 2 ms apart"
    columns["rail.s"][:] = np.nan
    with pytest.raises(bough.SimulationError, match="no finite rows"):
        animate(system, bough.Result(result.t, columns))


def test_part_of_a_coupled_system_is_found_by_its_prefix(run: tuple[bough.Mechanism, bough.Result]) -> None:
    system, result = run
    coupled = bough.Result(result.t, {f"crane.{name}": result[name] for name in result.names} | {"motor.u": result.t})
    assert find_prefix(system, coupled) == "crane."
    assert find_prefix(system, result) == ""
    scene = animate(system, coupled, frames=3, prefix="crane.")
    assert np.array_equal(scene.parts[1].points, animate(system, result, frames=3).parts[1].points)


def test_result_of_another_model_is_refused(run: tuple[bough.Mechanism, bough.Result]) -> None:
    system, result = run
    other = bough.Result(result.t, {"rail.s": result["rail.s"]})
    with pytest.raises(bough.SimulationError, match=r"does not hold 'luff\.phi' and \d+ more"):
        animate(system, other)
    with pytest.raises(bough.SimulationError, match=r"no node 'boom\.end'"):
        animate(system, result, trails=["boom.end"])


def test_energy_curves_are_those_of_the_system(run: tuple[bough.Mechanism, bough.Result]) -> None:
    system, result = run
    series = energy_series(system, result)
    kinetic, potential = system.energy(positions(system, result), speeds(system, result))
    assert np.array_equal(series.curves["kinetic"], kinetic)
    gained = np.asarray(kinetic + potential) - potential[0]
    assert series.curves["sum"] == pytest.approx(gained + series.curves["elastic"][0], abs=1e-9 * abs(potential).max())
    assert "springs" not in series.curves, "the model has none"


@pytest.mark.parametrize("path", GOOD, ids=lambda p: p.stem)
def test_every_good_model_can_be_drawn(path: Path) -> None:
    system = bough.Mechanism(path)
    q, u = system.initial_state()
    columns = dict.fromkeys(system.q_names, np.zeros(2)) | dict(zip(system.q_names, np.tile(q, (2, 1)).T, strict=True))
    columns |= dict(zip(system.u_names, np.tile(u, (2, 1)).T, strict=True))
    scene = animate(system, bough.Result(np.array([0.0, 1.0]), columns))
    scene.check()
    assert {part.name for part in scene.parts} >= {body.name for body in system.model.bodies}
