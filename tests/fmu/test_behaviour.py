"""What an FMU does while it runs: parameters that change, hinges that lock, inputs with slopes, call backs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fmu.conftest import Finder
from fmu.fmi import OK, Array, Fmu, Instance
from fmu.models import system
from small_models import ARM

import bough

TIGHT = {"solver.tolerance": 1e-10}
# Two runs, each integrated to a relative tolerance of 1e-10 over some thousand steps, differ by less than this.
CLOSE = 1e-8


def outputs(of: bough.Mechanism) -> list[str]:
    return [v.name for v in of.variables if v.causality == "output"]


def state_of(it: Instance, of: bough.Mechanism) -> tuple[Array, Array]:
    return it.get(of.q_names), it.get(of.u_names)


def positions(of: bough.Mechanism) -> list[str]:
    return [*of.q_names, *of.u_names]


def error(a: Array, b: Array) -> float:
    """Largest difference over the largest number of a column, at least one."""
    return float(np.max(np.abs(a - b) / np.maximum(1.0, np.abs(b).max(axis=0))))


# ---- tunable parameters

CHANGES: dict[str, tuple[dict[str, float], Callable[[dict[str, Any]], Any]]] = {
    "payload": ({"hand.mass": 1.1}, lambda m: m["bodies"][2]["rigid"].update(mass=1.1)),
    "inertia": (
        {"hand.inertia[1]": 0.03, "hand.inertia[2]": 0.05, "hand.inertia[3]": 0.04, "hand.inertia[4]": 0.003},
        lambda m: m["bodies"][2]["rigid"].update(inertia=[0.03, 0.05, 0.04, 0.003, 0, 0]),
    ),
    "mass centre": ({"hand.com[2]": 0.08}, lambda m: m["bodies"][2]["rigid"]["com"].__setitem__(1, 0.08)),
    "gravity": ({"gravity[1]": 2.0, "gravity[3]": 1.0}, lambda m: m.update(gravity=[2.0, 0, 1.0])),
    "damping": ({"shoulder.damping": 3.0}, lambda m: m["bodies"][0]["hinge"].update(damping=3.0)),
    "stiffness": ({"wrist.stiffness[2]": 9.0}, lambda m: m["bodies"][1]["hinge"].update(stiffness=[0.5, 9.0])),
    "rest": ({"wrist.rest[1]": 0.6}, lambda m: m["bodies"][1]["hinge"].update(rest=[0.6, 0.0])),
    "armature": ({"grip.armature": 0.4}, lambda m: m["bodies"][2]["hinge"].update(armature=0.4)),
    "modal damping": ({"upper.damping_scale": 5.0}, lambda m: m["bodies"][0]["beam"].update(damping=0.05)),
}


@pytest.mark.parametrize("case", CHANGES)
def test_parameter_changed_between_steps_is_a_run_of_the_changed_model_from_there(arm: Fmu, case: str) -> None:
    parameters, change = CHANGES[case]
    changed = copy.deepcopy(ARM)
    change(changed)
    before, after = system("arm"), bough.Mechanism(changed)
    with Instance(arm) as it:
        it.initialize(TIGHT)
        first = it.run(0.1, 0.05, positions(before))
        it.set(parameters)
        got = it.run(0.3, 0.05, positions(before))
    ref = bough.simulate(before, 0.1, step=0.05, rtol=1e-10)
    middle = np.array([ref[n][-1] for n in before.q_names]), np.array([ref[n][-1] for n in before.u_names])
    rest = bough.simulate(after, 0.3, start=0.1, step=0.05, rtol=1e-10, initial=middle)
    expected = np.array([rest[n] for n in positions(after)]).T
    unchanged = bough.simulate(before, 0.3, start=0.1, step=0.05, rtol=1e-10, initial=middle)
    assert error(first, np.array([ref[n] for n in positions(before)]).T) < CLOSE
    assert error(got, expected) < CLOSE
    assert error(got, np.array([unchanged[n] for n in positions(before)]).T) > 1e-4  # it made a difference


def test_start_values_and_parameters_set_before_initialization_hold(arm: Fmu) -> None:
    changed = copy.deepcopy(ARM)
    changed["bodies"][0]["hinge"]["initial"] = {"phi": -0.4, "w": 0.1}
    changed["bodies"][2]["rigid"]["mass"] = 0.9
    other = bough.Mechanism(changed)
    ref = bough.simulate(other, 0.2, step=0.05, rtol=1e-10)
    with Instance(arm) as it:
        it.initialize({"shoulder.phi": -0.4, "shoulder.w": 0.1, "hand.mass": 0.9, **TIGHT})
        names = outputs(other)
        got = it.run(0.2, 0.05, names)
    assert error(got, np.array([ref[n] for n in names]).T) < 10 * CLOSE  # accelerations see modes a hundred times over


# ---- locking


def momentum(it: Instance) -> Array:
    of = system("flyer")
    return np.concatenate(of.momentum(*state_of(it, of)))


@pytest.mark.parametrize("hinge", ["root", "joint"])
def test_locking_and_releasing_while_running_keep_momentum(flyer: Fmu, hinge: str) -> None:
    """To rounding at the impulse; to the solver's tolerance over the steps between."""
    speeds = [n for n in system("flyer").u_names if n.startswith(f"{hinge}.w")]
    with Instance(flyer) as it:
        it.initialize(TIGHT)
        assert it.step(0.2) == OK
        before = momentum(it)
        assert np.abs(it.get(speeds)).max() > 0.05
        it.set_flag(f"{hinge}.locked", True)
        locked = momentum(it)
        assert np.abs(it.get(speeds)).max() == 0.0
        assert np.abs(locked - before).max() < 1e-12 * np.abs(before).max()
        assert any(m.category == "logEvents" and "locked" in m.text for m in it.messages)
        place = it.get([n for n in system("flyer").q_names if n.startswith(f"{hinge}.")])
        assert it.step(0.3) == OK
        assert np.abs(it.get(speeds)).max() == 0.0
        assert np.allclose(it.get([n for n in system("flyer").q_names if n.startswith(f"{hinge}.")]), place, 0, 1e-15)
        assert np.abs(momentum(it) - before).max() < CLOSE * np.abs(before).max()
        it.set_flag(f"{hinge}.locked", False)
        assert np.array_equal(it.get(speeds), np.zeros(len(speeds)))
        assert it.step(0.3) == OK
        assert np.abs(it.get(speeds)).max() > 1e-4  # it moves again
        assert np.abs(momentum(it) - before).max() < CLOSE * np.abs(before).max()


def test_locking_takes_energy_and_never_gives_any(flyer: Fmu) -> None:
    of = system("flyer")
    with Instance(flyer) as it:
        it.initialize(TIGHT)
        assert it.step(0.2) == OK
        before = sum(of.energy(*state_of(it, of)))
        it.set_flag("root.locked", True)
        middle = sum(of.energy(*state_of(it, of)))
        it.set_flag("joint.locked", True)
        after = sum(of.energy(*state_of(it, of)))
        assert before > middle > after


def test_locking_in_event_mode_tells_the_integrator_that_states_have_changed(flyer: Fmu) -> None:
    with Instance(flyer, "me") as it:
        it.initialize()
        it.to_continuous()
        it.must("EnterEventMode")
        before, was = it.states(), momentum(it)
        assert not it.update_discrete()
        it.set_flag("root.locked", True)
        assert it.update_discrete()
        assert not it.update_discrete()
        assert not np.array_equal(it.states(), before)
        assert np.abs(momentum(it) - was).max() < 1e-12 * np.abs(was).max()
        it.must("EnterContinuousTimeMode")
        rate = it.directional(["root.a"], ["root.tau"], [1.0])
        assert rate[0] == 0.0 and it.get(["root.a"])[0] == 0.0


def test_lock_set_in_event_mode_takes_hold_even_if_the_host_asks_for_no_update(flyer: Fmu) -> None:
    with Instance(flyer, "me") as it:
        it.initialize()
        it.to_continuous()
        it.must("EnterEventMode")
        it.set_flag("root.locked", True)
        it.must("EnterContinuousTimeMode")
        assert it.get(["root.w", "root.a"]).tolist() == [0.0, 0.0]


# ---- inputs and outputs


@pytest.mark.parametrize("order", [1, 2, 3])
def test_input_given_by_its_derivatives_is_the_polynomial(fmus: Finder, order: int) -> None:
    """The torque t, t^2/2 or t^3/6 in one long step, or in unequal short ones, equals the same input to simulate."""
    fmu, of = fmus("arm", "2.0"), system("arm")
    slope, factor = 1.5, (1.0, 2.0, 6.0)[order - 1]
    names, stop = outputs(of), 0.2
    ref = bough.simulate(of, stop, {"shoulder.tau": lambda t: slope * t**order / factor}, step=stop, rtol=1e-10)
    expected = np.array([ref[n][-1:] for n in names]).T
    for steps in ([stop], [0.03, 0.1, 0.07]):
        with Instance(fmu) as it:
            it.initialize(TIGHT)
            for h in steps:
                t = it.time
                it.set({"shoulder.tau": slope * t**order / factor})
                for k in range(1, order + 1):  # derivative k of t^n/n!
                    f = (1.0, 1.0, 2.0, 6.0)[order - k]
                    assert it.input_derivative("shoulder.tau", k, slope * t ** (order - k) / f) == OK
                assert it.step(h) == OK
            assert it.get(["shoulder.tau"])[0] == pytest.approx(slope * stop**order / factor, rel=1e-12)
            assert error(it.get(names)[None], expected) < 10 * CLOSE


def test_input_derivative_holds_for_one_step(fmus: Finder) -> None:
    with Instance(fmus("arm", "2.0")) as it:
        it.initialize(TIGHT)
        assert it.input_derivative("shoulder.tau", 1, 2.0) == OK
        assert it.step(0.1) == OK
        assert it.get(["shoulder.tau"])[0] == pytest.approx(0.2, rel=1e-14)
        assert it.step(0.1) == OK
        assert it.get(["shoulder.tau"])[0] == pytest.approx(0.2, rel=1e-14)


def test_output_derivatives_equal_differences(arm: Fmu) -> None:
    """Central differences over steps h of outputs known to 1e-12: h^2 times the third derivative, and 1e-12/h."""
    names, h = outputs(system("arm")), 2e-5
    with Instance(arm) as it:
        it.initialize({"solver.tolerance": 1e-12, "shoulder.tau": 0.4, "lower.tip.force[3]": 0.5})
        assert it.step(0.05) == OK
        rows = [it.get(names)]
        for _ in range(2):
            assert it.step(h) == OK
            if len(rows) == 1:
                exact = it.output_derivatives(names)
            rows.append(it.get(names))
        difference = (rows[2] - rows[0]) / (2 * h)
        scale = np.maximum(1.0, np.abs(exact).max())
        assert np.abs(exact - difference).max() < 1e-5 * scale
        assert (
            np.abs(exact).min() < 1e3 < np.abs(exact).max()
        )  # accelerations of modes have large rates: all are looked at


def test_output_derivatives_after_a_step_with_a_ramp_contain_the_ramp(fmus: Finder) -> None:
    with Instance(fmus("arm", "2.0")) as it, Instance(fmus("arm", "2.0")) as flat:
        for one in (it, flat):
            one.initialize(TIGHT)
            assert one.input_derivative("shoulder.tau", 1, 3.0) == OK
            assert one.step(0.1) == OK
        flat.set({"shoulder.tau": 0.30000000000000004})  # a value set starts anew, with no slope
        gain = it.directional(["shoulder.a"], ["shoulder.tau"], [1.0])[0]
        rates = [one.output_derivatives(["shoulder.a", "shoulder.w"]) for one in (it, flat)]
        assert rates[0][0] - rates[1][0] == pytest.approx(3.0 * gain, rel=1e-9)
        assert rates[0][1] == pytest.approx(it.get(["shoulder.a"])[0], rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_communication_steps_of_any_size_give_the_same_run(arm: Fmu, seed: int) -> None:
    of = system("arm")
    names = positions(of)
    random = np.random.default_rng(seed)
    cuts = np.sort(np.append(random.uniform(0, 0.3, 17 * (seed + 1)), [0.3]))
    ref = bough.simulate(of, 0.3, {"shoulder.tau": 0.3}, step=0.3, rtol=1e-10)
    with Instance(arm) as it:
        it.initialize({**TIGHT, "shoulder.tau": 0.3})
        for cut in cuts:
            assert it.step(float(cut) - it.time) == OK
        assert error(it.get(names)[None], np.array([ref[n][-1:] for n in names]).T) < CLOSE


# ---- intermediate update, FMI 3


def test_looking_in_the_intermediate_update_changes_nothing(fmus: Finder) -> None:
    fmu, names = fmus("arm", "3.0"), outputs(system("arm"))
    seen: list[tuple[float, Array]] = []

    def update(_: Any, time: float, *flags: Any) -> None:
        assert flags[:3] == (True, True, True)  # inputs may be set, outputs got, and the step is finished
        seen.append((time, it.get(names)))
        it.output_derivatives(["shoulder.a"])

    with Instance(fmu, update=update) as it, Instance(fmu) as quiet:
        it.initialize()
        quiet.initialize()
        for _ in range(3):
            assert it.step(0.05) == quiet.step(0.05) == OK
            assert not it.early
        assert it.state_bytes() == quiet.state_bytes()
    times = [t for t, _ in seen]
    assert times == sorted(times) and times[-1] == pytest.approx(0.15, abs=1e-15) and len(times) > 10
    ref = bough.simulate(system("arm"), 0.15, {}, step=0.15, rtol=1e-9)
    of = system("arm")
    last = np.array([seen[-1][1][names.index(n)] for n in of.q_names])
    assert np.abs(last - np.array([ref[n][-1] for n in of.q_names])).max() < 1e-4  # default tolerance 1e-6


def test_input_set_in_the_intermediate_update_acts_from_there(fmus: Finder) -> None:
    """One step with the torque changed at an internal point equals two steps with the change between them.

    Also in effort: a solver that kept the rate from before the change would have to creep away from it.
    """
    fmu, of = fmus("arm", "3.0"), system("arm")
    when: list[float] = []
    steps: dict[str, int] = {"within": 0, "between": 0}

    def within(_: Any, time: float, *flags: Any) -> None:
        steps["within"] += 1
        if not when and time > 0.02:
            when.append(time)
            it.set({"shoulder.tau": 2.0})

    def between(*_: Any) -> None:
        steps["between"] += 1

    with Instance(fmu, update=within) as it, Instance(fmu, update=between) as other:
        it.initialize(TIGHT)
        other.initialize(TIGHT)
        assert it.step(0.1) == OK
        assert other.step(when[0]) == OK
        other.set({"shoulder.tau": 2.0})
        assert other.step(0.1 - other.time) == OK
        assert error(it.get(positions(of))[None], other.get(positions(of))[None]) < CLOSE
        assert abs(other.get(["shoulder.w"])[0]) > 0.1
        assert abs(steps["within"] - steps["between"]) <= 3


@pytest.mark.parametrize("allowed", [True, False])
def test_early_return_stops_at_the_internal_step_if_it_was_allowed(fmus: Finder, allowed: bool) -> None:
    fmu, of = fmus("arm", "3.0"), system("arm")

    def update(_: Any, time: float, *arguments: Any) -> None:
        assert arguments[3] == allowed
        if time > 0.02:
            arguments[4][0] = True
            arguments[5][0] = time

    with Instance(fmu, update=update, early_return=allowed) as it:
        it.initialize(TIGHT)
        assert it.step(0.1) == OK
        assert it.early == allowed
        assert (0.02 < it.time < 0.1) if allowed else it.time == 0.1
        assert it.get(["time"])[0] == it.time
        while it.time < 0.2 - 1e-12:  # the master goes on from where it is
            assert it.step(0.2 - it.time) == OK
        ref = bough.simulate(of, 0.2, step=0.2, rtol=1e-10)
        got = it.get(positions(of))[None]
        assert error(got, np.array([ref[n][-1:] for n in positions(of)]).T) < CLOSE


def test_messages_after_a_call_back_name_the_step_again(fmus: Finder) -> None:
    def update(_: Any, time: float, *flags: Any) -> None:
        if time > 0.01:
            it.set({"lower.tip.force[1]": 1e300})

    with Instance(fmus("arm", "3.0"), update=update) as it:
        it.initialize()
        assert it.step(0.1) == 2
        assert it.last.startswith("fmi3DoStep: ")


def test_solver_tolerance_that_was_set_wins_over_that_of_the_experiment(arm: Fmu) -> None:
    """Hosts hand the description's default experiment back in: it must not undo what a user has asked for."""
    with Instance(arm) as it:
        it.initialize({"solver.tolerance": 1e-9}, tolerance=1e-6)
        assert it.get(["solver.tolerance"])[0] == 1e-9
    for set_first in ({}, {"solver.tolerance": 1e-6}):  # not set, or only to what it is
        with Instance(arm) as it:
            it.initialize(set_first, tolerance=1e-4)
            assert it.get(["solver.tolerance"])[0] == 1e-4
