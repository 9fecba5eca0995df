"""FMUs of mechanisms with loops: closed at initialization, closed in every step, and drawn shut in Model Exchange."""

from __future__ import annotations

import ctypes as c
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu
from fmu.conftest import Finder
from fmu.fmi import ERROR, OK, Array, Fmu, Instance
from fmu.models import system
from scipy.linalg import null_space
from small_models import LINKAGE

import bough
from bough.mechanism import kernel_loops

TIGHT = {"solver.tolerance": 1e-10}
LOOP = [f"pin.reaction_{what}[{i}]" for what in ("force", "torque") for i in (1, 2, 3)] + ["gear.tau"]


@pytest.fixture
def linkage(fmus: Finder, fmi: str) -> Fmu:
    return fmus("linkage", fmi)


def state(it: Instance) -> tuple[Array, Array]:
    of = system("linkage")
    return it.get(of.q_names), it.get(of.u_names)


def left(q: Array, u: Array) -> float:
    """The largest residual: m, rad, and per second."""
    return max(max(vars(e).values()) for e in system("linkage").closure_error(q, u).values())


def completed(it: Instance) -> bool:
    """Whether the completed step asks for an event."""
    size = c.c_bool if it.new else c.c_int
    event, end = size(False), size(False)
    it.must("CompletedIntegratorStep", True, c.addressof(event), c.addressof(end))
    assert not end.value
    return bool(event.value)


def test_co_simulation_is_the_run_of_simulate(linkage: Fmu) -> None:
    names = [*system("linkage").q_names, *LOOP]
    expected = bough.simulate(system("linkage"), stop=0.5, step=0.05, rtol=1e-10, inputs={"motor.tau": 2.0})
    with Instance(linkage) as it:
        it.set({"motor.tau": 2.0})
        it.initialize(TIGHT)
        for i in range(1, 11):
            assert it.step(0.05) == OK
            assert left(*state(it)) < 1e-9
            for name, value in zip(names, it.get(names), strict=True):
                assert value == pytest.approx(expected[name][i], abs=1e-5 if name in LOOP else 1e-8)
    assert np.ptp(expected["drive.phi"]) > 0.5 and np.abs(expected["gear.tau"]).max() > 1.0


def test_reactions_of_loops_balance_the_rocker(linkage: Fmu) -> None:
    """Newton's law of the rocker about its pivot: nothing but gravity and the loop turn it."""
    with Instance(linkage) as it:
        it.initialize(TIGHT)
        assert it.step(0.1) == OK
        phi, a = it.get(["pivot.phi", "pivot.a"])
        force = it.get(LOOP[:2])  # axes of the second frame: the rocker's tip
        inertia = 0.3 + 1.5 * 0.75**2
        torque = 1.5 * force[1] - 1.5 * 9.81 * 0.75 * np.cos(phi)
        assert inertia * a == pytest.approx(torque, rel=1e-10)
        drive, motor = it.get(["gear.tau", "motor.a"])
        assert 2e-3 * motor == pytest.approx(drive, rel=1e-10)


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_model_exchange_in_an_importer_follows_simulate(tmp_path: Path, fmi: str) -> None:
    path = bough.build_fmu(system("linkage"), tmp_path / "linkage.fmu", fmi, platforms="native")
    assert validate_fmu(str(path)) == []
    description = fmpy.read_model_description(str(path))
    exchange: Any = description.modelExchange
    assert exchange.needsCompletedIntegratorStep if fmi == "3.0" else not exchange.completedIntegratorStepNotNeeded
    names = ["drive.phi", "pivot.phi", "motor.phi", "coupler.eta[1]", "gear.tau", "pin.reaction_force[1]"]
    expected = bough.simulate(system("linkage"), stop=1.0, step=0.1, rtol=1e-10)
    for kind, close in (("ModelExchange", 2e-4), ("CoSimulation", 1e-6)):
        run = fmpy.simulate_fmu(
            str(path),
            fmi_type=kind,
            stop_time=1.0,
            output_interval=0.1,
            solver="CVode",
            relative_tolerance=1e-8,
            output=names,
        )
        for name in names:
            off = np.abs(np.interp(expected.t, run["time"], run[name]) - expected[name]).max()
            assert off < close * max(1.0, np.abs(expected[name]).max()), name


# ---- start values


def test_start_value_that_is_set_stays_and_the_others_follow(linkage: Fmu) -> None:
    with Instance(linkage) as it:
        it.initialize({"drive.phi": 2.5, "motor.w": -4.5})
        q, u = state(it)
        assert left(q, u) < 1e-10
        values = dict(zip(system("linkage").q_names + system("linkage").u_names, [*q, *u], strict=True))
        assert values["drive.phi"] == 2.5 and values["motor.phi"] == pytest.approx(8.0, abs=1e-12)
        assert values["motor.w"] == -4.5 and values["drive.w"] == pytest.approx(-1.5, abs=1e-12)
        model = bough.load(LINKAGE | {"bodies": [_with(b, {"phi": 2.5}) for b in LINKAGE["bodies"]]})
        expected = bough.Mechanism(model).initial_state()[0]
        assert np.abs(q - expected).max() < 1e-9  # the same way of closing as the file's


def _with(body: dict[str, Any], initial: dict[str, float]) -> dict[str, Any]:
    return body | {"hinge": body["hinge"] | {"initial": initial}} if body["name"] == "crank" else body


def test_start_values_that_cannot_close_are_refused_with_the_loop(linkage: Fmu) -> None:
    with Instance(linkage) as it:
        it.set({"drive.phi": 2.5, "pivot.phi": -2.5, "elbow.phi": 0.0})
        it.set_flag("elbow.locked", True)
        it.set_flag("pivot.locked", True)
        it.set_flag("drive.locked", True)
        assert it.enter() == OK
        assert it.call("ExitInitializationMode") == ERROR
        assert "'pin' cannot be closed from these start values" in it.last, it.last


def test_contradicting_start_values_are_given_up_for_others_near_by(linkage: Fmu) -> None:
    with Instance(linkage) as it:
        it.initialize({"drive.phi": 1.2, "pivot.phi": 1.9, "elbow.phi": -0.3})
        assert left(*state(it)) < 1e-10


def test_states_seen_in_initialization_are_closed(linkage: Fmu) -> None:
    with Instance(linkage) as it:
        it.set({"drive.phi": 0.7})
        assert it.enter() == OK
        q, u = state(it)
        assert left(q, u) < 1e-10 and q[0] == 0.7
        it.set({"drive.phi": 0.9})
        box = it.save()
        it.must("ExitInitializationMode")
        after = state(it)[0]
        assert after[0] == 0.9 and left(*state(it)) < 1e-10
        it.restore(box)  # what was written is part of the state
        it.must("ExitInitializationMode")
        assert state(it)[0].tobytes() == after.tobytes()


# ---- Model Exchange


def test_drift_asks_for_an_event_that_closes_the_loops(linkage: Fmu) -> None:
    with Instance(linkage, "me") as it:
        it.initialize()
        it.to_continuous()
        assert not completed(it)
        x = it.states()
        opened = x.copy()
        opened[0] += 1e-3
        it.set_states(opened)
        assert left(*state(it)) > 1e-4 and completed(it)
        it.must("EnterEventMode")
        assert it.update_discrete()  # the importer is told that states have changed
        closed = it.states()
        assert left(*state(it)) < 1e-10 and 0.0 < np.abs(closed - opened).max() < 0.01
        assert not it.update_discrete() and it.states().tobytes() == closed.tobytes()
        it.must("EnterContinuousTimeMode")
        assert not completed(it)


def test_rates_draw_open_loops_shut(linkage: Fmu) -> None:
    """A residual g of positions, with none of speeds, shrinks at -a^2 g, a = 10/s; its rate at -2 a."""
    of = system("linkage")
    with Instance(linkage, "me") as it:
        it.initialize()
        it.to_continuous()
        x = it.states()
        for step, expected in ((of.q_names.index("motor.phi"), -100.0), (of.nq + of.u_names.index("motor.w"), -20.0)):
            moved = x.copy()
            moved[step] += 1e-4
            it.set_states(moved)
            rates = it.rates()[of.nq :]
            gear = rates[of.u_names.index("motor.w")] - 3 * rates[of.u_names.index("drive.w")]
            assert gear == pytest.approx(expected * 1e-4, rel=1e-6)


@pytest.mark.parametrize("kind", ["cs", "me"])
def test_directional_derivatives_equal_differences(linkage: Fmu, kind: str) -> None:
    """Of every output by every state and input; away from closed states too, which an importer's solver visits."""
    of = system("linkage")
    states = [*of.q_names, *of.u_names]
    inputs = [v.name for v in of.variables if v.causality == "input"]
    outputs = [v.name for v in of.variables if v.causality == "output"] + [f"der({n})" for n in states]
    with Instance(linkage, "me") as it:
        it.initialize({n: 0.1 * (i + 1) for i, n in enumerate(inputs)})
        it.to_continuous()
        x = it.states()
        if kind == "me":  # somewhat open
            x = x + 1e-3 * np.sin(np.arange(x.size))
            it.set_states(x)
        h, wrong = 1e-6, {}
        for j, name in enumerate(states):
            exact = it.directional(outputs, [name], [1.0])
            pair = []
            for way in (h, -h):
                y = x.copy()
                y[j] += way
                it.set_states(y)
                pair.append(it.get(outputs))
            it.set_states(x)
            found = (pair[0] - pair[1]) / (2 * h)
            bad = np.abs(found - exact) > 2e-6 * np.maximum(np.abs(exact).max(), 1.0)
            wrong |= {(outputs[i], name): (found[i], exact[i]) for i in np.flatnonzero(bad)}
        for name in inputs:  # linear
            exact, before = it.directional(outputs, [name], [1.0]), it.get(outputs)
            old = float(it.get([name])[0])
            it.set({name: old + 1.0})
            bad = np.abs(it.get(outputs) - before - exact) > 1e-9 * np.maximum(np.abs(exact).max(), 1.0)
            wrong |= {(outputs[i], name): exact[i] for i in np.flatnonzero(bad)}
            it.set({name: old})
        assert not wrong


def test_output_derivatives_follow_the_closed_motion(linkage: Fmu) -> None:
    names = ["drive.w", "gear.tau", "pin.reaction_force[1]"]
    with Instance(linkage) as it:
        it.initialize(TIGHT)
        assert it.step(0.2) == OK
        slope, before = it.output_derivatives(names), it.get(names)
        assert it.step(1e-5) == OK
        assert (it.get(names) - before) / 1e-5 == pytest.approx(slope, rel=1e-2)


# ---- parameters in a run


def test_locking_in_a_loop_keeps_it_closed_and_gives_no_energy(linkage: Fmu) -> None:
    of = system("linkage")
    with Instance(linkage) as it:
        it.initialize(TIGHT)
        assert it.step(0.3) == OK
        was = state(it)[1]
        before = sum(of.energy(*state(it)))
        it.set_flag("pivot.locked", True)  # crank, gear and rocker stand, the coupler goes on vibrating
        q, u = state(it)
        assert left(q, u) < 1e-10 and it.get(["pivot.w"])[0] == 0.0
        assert abs(was[0]) > 1.0 and abs(u[0]) < 0.01
        assert sum(of.energy(q, u)) < before
        # No impulse but those of the loops and of the hinge: none along motions that both allow.
        J = kernel_loops.residuals(of._data, q, u).J
        motions = null_space(np.vstack([J, np.eye(of.nu)[of.u_names.index("pivot.w")]]))
        impulse = of.mass_matrix(q) @ (u - was)
        assert motions.shape[1] == 3 and np.abs(motions.T @ impulse).max() < 1e-10 * np.abs(impulse).max()
        assert it.step(0.1) == OK and left(*state(it)) < 1e-9
        assert it.get(["pivot.w"])[0] == 0.0
        it.set_flag("pivot.locked", False)
        assert it.step(0.3) == OK and left(*state(it)) < 1e-9
        assert abs(it.get(["pivot.w"])[0]) > 0.01


def test_payload_in_a_loop_acts_from_where_it_is_set(linkage: Fmu) -> None:
    heavy = [b | {"rigid": b["rigid"] | {"mass": 4.0}} if b["name"] == "crank" else b for b in LINKAGE["bodies"]]
    of = bough.Mechanism(LINKAGE | {"bodies": heavy})
    with Instance(linkage) as it:
        it.initialize(TIGHT)
        assert it.step(0.1) == OK
        q, u = state(it)
        it.set({"crank.mass": 4.0})
        assert it.get(["drive.a"])[0] == pytest.approx(of.forward_dynamics(q, u, np.zeros(of.nu))[0], rel=1e-10)
        assert it.step(0.1) == OK and left(*state(it)) < 1e-9
