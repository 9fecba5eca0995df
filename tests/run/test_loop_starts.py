"""Where runs of mechanisms with loops start: values that users set stay, limits hold, nothing moves in silence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from run.test_loops import drift, four_bar, link

import bough
from bough.errors import ModelError, SimulationError
from bough.run.outcomes import Sweep
from bough.run.studies import Plan, run_set

HARD = {"restitution": 0.3}


def limited(lower: float, upper: float, **kind: Any) -> dict[str, Any]:
    """The four-bar with stops at the rocker; its start position is found: 1.265 rad."""
    model = four_bar()
    model["bodies"][2]["hinge"]["limits"] = {"lower": lower, "upper": upper, **(kind or HARD)}
    return model


@pytest.mark.parametrize("phi", [0.3, 2.0, -2.5])
def test_start_value_that_a_study_sets_stays_and_the_others_follow_as_in_an_fmu(phi: float) -> None:
    system = bough.Mechanism(four_bar())
    result = run_set(system, {"crank_h.phi": phi, "crank_h.w": 0.7}, Plan(stop=0.01, step=0.01))
    q, u = (np.array([result[n][0] for n in names]) for names in (system.q_names, system.u_names))
    assert q[0] == phi and u[0] == pytest.approx(0.7, abs=1e-12)
    assert drift(system, [q], [u]) < 1e-10
    run = bough.Run(four_bar(), settings={"crank_h.phi": phi})
    assert q == pytest.approx([run[n] for n in system.q_names], abs=1e-9)  # the same way of closing


def test_start_value_out_of_reach_ends_its_run_alone_with_the_loops_name() -> None:
    model = four_bar()
    model["bodies"][1]["hinge"]["drive"] = "locked"
    model["bodies"][1]["hinge"]["initial"] = {"phi": -0.7}
    model["bodies"][2] = link("rocker", "ground", "origin", 0.9, frame={"position": [2, 0, 0]})  # too short for 3.1 rad
    found = bough.sweep(model, {"coupler_h.phi": [-0.7, 3.1]}, stop=0.01, step=0.01)
    assert isinstance(found, Sweep)
    outcomes = found.outcomes
    assert outcomes[0].ok and "'pin' cannot be closed" in outcomes[1].error


def test_a_state_that_is_open_is_refused_not_moved() -> None:
    system = bough.Mechanism(four_bar())
    q, u = system.initial_state()
    for state in (([1.0, -0.6, 1.26], u), (q, [1.0, 0.0, 0.0])):
        with pytest.raises(SimulationError, match=r"'pin' is open at this state, by .* Mechanism.assemble\(q\)"):
            bough.simulate(system, stop=0.1, initial=state)
    closed, _ = system.assemble([1.0, -0.6, 1.26], keep=["crank_h.phi"])
    speeds = system.assemble_speeds(closed, [1.0, 0.0, 0.0], keep=["crank_h.w"])
    run = bough.simulate(system, stop=0.1, step=0.1, initial=(closed, speeds))
    assert run["crank_h.phi"][0] == pytest.approx(1.0, abs=1e-12)
    assert run["crank_h.w"][0] == pytest.approx(1.0, abs=1e-12) and drift(system, [closed], [speeds]) < 1e-10


def test_limits_concern_where_loops_close_not_the_unwritten_zero() -> None:
    """Zero is beyond these limits, where the rocker closes is not."""
    system = bough.Mechanism(limited(0.8, 1.5))
    assert system.initial_state()[0][2] == pytest.approx(1.2649654, abs=1e-6)
    run = bough.simulate(system, stop=1.0, step=0.01)
    assert run["rocker_h.phi"].max() == pytest.approx(1.5, abs=1e-9) or run["rocker_h.phi"].max() < 1.5


def test_assembly_looks_for_a_place_within_limits() -> None:
    """The same crank angle closes with the rocker below the line, too."""
    q, _ = bough.Mechanism(limited(-3.0, 0.0)).initial_state()
    assert q[0] == 1.0 and -3.0 <= q[2] <= 0.0


@pytest.mark.parametrize("kind", [HARD, {"latch": True}, {"stiffness": 1e4}])
def test_loops_that_close_only_beyond_limits_are_refused(kind: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=r"rocker_h.phi = .*, beyond its limits, -0.1 to 0.5"):
        bough.Mechanism(limited(-0.1, 0.5, **kind))


def test_written_start_beyond_limits_is_refused_at_its_line_with_loops_too() -> None:
    model = limited(0.8, 1.5)
    model["bodies"][2]["hinge"]["initial"] = {"phi": 1.6}
    with pytest.raises(ModelError, match=r"bodies\[2\].hinge.initial.phi(.|\n)*within the limits, 0.8 to 1.5"):
        bough.load(model)


def test_start_values_beyond_limits_are_refused_by_a_run() -> None:
    """With a loop, where they follow, and of a tree, where one is set."""
    pendulum = {"bough": 1, "name": "p", "bodies": [link("a", "ground", "origin", 1.0)]}
    pendulum["bodies"][0]["hinge"]["limits"] = {"upper": 0.5, **HARD}  # type: ignore[index]
    for model, name, hinge in ((limited(0.8, 1.5), "crank_h.phi", "rocker_h.phi"), (pendulum, "a_h.phi", "a_h.phi")):
        with pytest.raises(SimulationError, match=f"{hinge} = .* is beyond the limits of its hinge"):
            bough.Run(model, settings={name: 1.9})
