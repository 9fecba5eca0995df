"""Wrong values, references and steps: the standard's status, a message that names the culprit, nothing changed."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from fmu.conftest import Finder
from fmu.fmi import DISCARD, ERROR, OK, Fmu, Instance, pointer

NOT_FINITE = (math.nan, math.inf, -math.inf)


def ready(fmu: Fmu, kind: str = "cs") -> Instance:
    return Instance(fmu, kind).initialize({"solver.tolerance": 1e-8, "shoulder.tau": 0.2})


# ---- value references and types


@pytest.mark.parametrize("reference", [10**6, 2**31, 2**32 - 1])
def test_unknown_value_reference_is_an_error_that_gives_the_range(arm: Fmu, reference: int) -> None:
    with ready(arm) as it:
        for kind in ("Real", "Integer", "Boolean"):
            for way in ("Get", "Set"):
                before = it.state_bytes()
                assert it.values(way, kind, ["shoulder.w", reference], np.zeros(2)) == ERROR
                if kind == "Real":
                    assert str(reference) in it.last and f"0 to {len(arm.references) - 1}" in it.last
                assert it.state_bytes() == before
        assert it.step(0.01) == OK


@pytest.mark.parametrize(
    ("name", "right"), [("shoulder.tau", "Real"), ("solver.method", "Integer"), ("shoulder.locked", "Boolean")]
)
def test_wrong_type_is_an_error_that_names_the_variable_and_its_type(arm: Fmu, name: str, right: str) -> None:
    words = {"Real": "real", "Integer": "integer", "Boolean": "boolean"}
    own = "enumeration" if right == "Integer" else words[right]  # which integers read and set, too
    with Instance(arm) as it:
        for asked in words:
            for way in ("Get", "Set"):
                status = it.values(way, asked, [name], np.zeros(1))
                assert status == (OK if asked == right else ERROR)
                if asked != right:
                    assert f"'{name}'" in it.last and own in it.last and words[asked] in it.last


def test_numbers_of_values_that_do_not_fit_are_refused(fmus: Finder) -> None:
    with ready(fmus("arm", "3.0")) as it:
        refs, out = it.vr(["shoulder.w", "shoulder.phi"]), np.zeros(4)
        for given in (0, 1, 3):
            assert it.call("GetFloat64", pointer(refs), 2, pointer(out), given) == ERROR
            assert "2 values" in it.last and str(given) in it.last
    with Instance(fmus("arm", "2.0"), "me") as it:
        it.initialize()
        it.to_continuous()
        assert it.call("SetContinuousStates", pointer(out), 3) == ERROR
        assert "3 values" in it.last and f"{it.states().size} continuous states" in it.last


# ---- values


@pytest.mark.parametrize("bad", NOT_FINITE)
def test_input_that_is_not_finite_is_discarded_and_nothing_changes(arm: Fmu, bad: float) -> None:
    with ready(arm) as it, ready(arm) as sister:
        before = it.state_bytes()
        assert it.try_set({"shoulder.tau": 1.0, "lower.tip.force[2]": bad, "wrist.tau[1]": 2.0}) == DISCARD
        assert "'lower.tip.force[2]'" in it.last and "nothing is changed" in it.last
        assert it.messages[-1].category == "logStatusDiscard" and it.messages[-1].status == DISCARD
        assert it.state_bytes() == before
        assert it.step(0.05) == sister.step(0.05) == OK
        assert it.state_bytes() == sister.state_bytes()


@pytest.mark.parametrize("bad", NOT_FINITE)
def test_parameters_and_start_values_that_are_not_finite_are_discarded(arm: Fmu, bad: float) -> None:
    with Instance(arm) as it:
        before = it.state_bytes()
        for name in ("gravity[3]", "shoulder.phi", "hand.mass", "solver.tolerance", "shoulder.damping"):
            assert it.try_set({name: bad}) == DISCARD
            assert f"'{name}'" in it.last
        assert it.state_bytes() == before


@pytest.mark.parametrize(
    "name",
    ["shoulder.damping", "wrist.stiffness[1]", "grip.armature", "upper.damping_scale", "hand.mass", "hand.inertia[2]"],
)
def test_negative_value_of_what_cannot_be_negative_is_discarded(arm: Fmu, name: str) -> None:
    with ready(arm) as it:
        before = it.state_bytes()
        assert it.try_set({name: -1e-3}) == DISCARD
        assert f"'{name}'" in it.last and ("positive" in it.last or "not negative" in it.last)
        assert it.state_bytes() == before


def test_minimum_and_maximum_in_the_description_are_what_the_binary_takes(arm: Fmu) -> None:
    """Every real with a min: the min itself is taken, less is not."""
    tree = ElementTree.parse(arm.folder / "modelDescription.xml")
    checked = 0
    for node in tree.iter():
        name, typed = node.get("name"), node.find("Real") if node.tag == "ScalarVariable" else node
        if name is None or typed is None or typed.get("min") is None or name == "solver.method":
            continue
        with Instance(arm) as it:
            assert it.try_set({name: float(str(typed.get("min")))}) == OK
            assert it.try_set({name: float(str(typed.get("min"))) - 1e-15}) == DISCARD
        checked += 1
    assert checked > 15
    for value, status in ((0.0, DISCARD), (1e-15, DISCARD), (1.0, DISCARD), (0.5, OK)):
        with Instance(arm) as it:
            assert it.try_set({"solver.tolerance": value}) == status
    for method, status in ((-1, DISCARD), (5, DISCARD), (0, OK), (4, OK)):
        with Instance(arm) as it:
            assert it.values("Set", "Integer", ["solver.method"], np.array([method], dtype=np.intc)) == status


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("shoulder.a", "computed by the model"),
        ("hand.tool.r[1]", "computed by the model"),
        ("der(shoulder.w)", "computed by the model"),
        ("time", "computed by the model"),
        ("shoulder.w", "a state"),
        ("solver.step", "fixed parameter"),
    ],
)
def test_what_cannot_be_set_is_refused_with_the_reason(arm: Fmu, name: str, word: str) -> None:
    with ready(arm) as it:
        assert it.try_set({name: 0.5}) == ERROR
        assert f"'{name}'" in it.last and word in it.last and "'step mode'" in it.last


def test_states_and_time_that_are_not_finite_are_discarded_in_model_exchange(arm: Fmu) -> None:
    with ready(arm, "me") as it:
        it.to_continuous()
        x = it.states()
        for bad in NOT_FINITE:
            broken = x.copy()
            broken[3] = bad
            assert it.call("SetContinuousStates", pointer(broken), broken.size) == DISCARD
            assert "continuous state 3" in it.last
            assert it.call("SetTime", bad) == DISCARD
        assert it.states().tobytes() == x.tobytes()


def test_quaternion_of_length_zero_is_refused_and_any_other_is_made_a_unit_one(flyer: Fmu) -> None:
    zero = {f"flight.Q[{i}]": 0.0 for i in range(1, 5)}
    with Instance(flyer) as it:
        it.set(zero)
        assert it.enter() == OK
        assert it.call("ExitInitializationMode") == ERROR
        assert "flight.Q[1]" in it.last and "0, 0, 0, 1" in it.last
        it.set({"flight.Q[2]": 3.0})
        it.must("ExitInitializationMode")
        assert it.get(list(zero)).tolist() == [0.0, 1.0, 0.0, 0.0]


def test_model_that_cannot_move_says_which_body_at_the_end_of_initialization(arm: Fmu) -> None:
    """A hand without mass on a slider without armature: nothing resists the force."""
    with Instance(arm) as it:
        it.set({"hand.mass": 0.0, **{f"hand.inertia[{i}]": 0.0 for i in range(1, 7)}})
        assert it.enter() == OK
        assert it.call("ExitInitializationMode") == ERROR
        assert "'hand'" in it.last and "'grip'" in it.last and "Cure: " in it.last
        it.set({"hand.mass": 0.1})
        it.must("ExitInitializationMode")
        assert it.step(0.01) == OK


# ---- steps


@pytest.mark.parametrize("h", [0.0, -0.01, *NOT_FINITE])
def test_step_size_that_is_not_positive_and_finite_is_refused(arm: Fmu, h: float) -> None:
    with ready(arm) as it:
        before = it.state_bytes()
        assert it.step(h) == ERROR
        assert "positive step" in it.last
        assert it.state_bytes() == before
        assert it.step(0.01) == OK


@pytest.mark.parametrize("time", [0.02, -1.0, *NOT_FINITE])
def test_communication_point_that_is_not_the_present_time_is_refused(arm: Fmu, time: float) -> None:
    with ready(arm) as it:
        before = it.state_bytes()
        assert it.step(0.01, time=time) == ERROR
        assert it.state_bytes() == before
        assert it.step(0.01) == OK


def test_step_beyond_the_stop_time_is_refused(arm: Fmu) -> None:
    with Instance(arm) as it:
        it.initialize(stop=0.03)
        assert [it.step(0.01) for _ in range(4)] == [OK, OK, OK, ERROR]
        assert "stop time" in it.last
        it.must("Terminate")


@pytest.mark.parametrize(
    ("start", "stop", "tolerance"), [(math.nan, None, None), (0.0, -1.0, None), (0.0, math.nan, None), (0.0, 1.0, 2.0)]
)
def test_experiment_that_makes_no_sense_is_refused(arm: Fmu, start: float, stop: float, tolerance: float) -> None:
    with Instance(arm) as it:
        assert it.enter(start, stop, tolerance) == ERROR
        assert "Expected a finite start" in it.last
        assert it.enter() == OK


def test_failed_step_is_discarded_and_a_saved_state_brings_the_instance_back(arm: Fmu) -> None:
    with ready(arm) as it, ready(arm) as sister:
        box = it.save()
        it.set({"lower.tip.force[1]": 1e300})
        assert it.step(0.01) == DISCARD
        assert it.messages[-1].category == "logStatusDiscard"
        assert it.step(0.01) == ERROR
        it.restore(box)
        it.drop(box)
        assert it.step(0.01, 0.0) == sister.step(0.01) == OK
        assert it.state_bytes() == sister.state_bytes()


# ---- derivatives


def test_derivatives_of_or_by_the_wrong_variables_are_refused(arm: Fmu) -> None:
    with ready(arm) as it:
        z, v, x = it.vr(["shoulder.a"]), it.vr(["shoulder.tau"]), np.ones(1)

        def ask(unknown: Any, known: Any) -> int:
            sizes = [1, pointer(x), 1] if it.new else [pointer(x)]
            return it.call("GetDirectionalDerivative", pointer(unknown), 1, pointer(known), 1, pointer(x), *sizes)

        assert ask(z, v) == OK
        assert ask(z, it.vr(["gravity[1]"])) == OK
        assert ask(z, it.vr(["solver.tolerance"])) == ERROR and "'solver.tolerance' is not a known" in it.last
        assert ask(v, v) == ERROR and "'shoulder.tau' is not an unknown" in it.last
        assert ask(z, it.vr(["shoulder.locked"])) == ERROR and "boolean" in it.last


def test_input_derivatives_of_wrong_order_or_variable_are_refused(fmus: Finder) -> None:
    with ready(fmus("arm", "2.0")) as it:
        before = it.state_bytes()
        assert it.input_derivative("shoulder.tau", 0, 1.0) == ERROR
        assert it.input_derivative("shoulder.tau", 4, 1.0) == ERROR
        assert it.input_derivative("shoulder.w", 1, 1.0) == ERROR
        assert "'shoulder.w'" in it.last
        assert it.input_derivative("shoulder.tau", 1, math.nan) == DISCARD
        assert "'shoulder.tau'" in it.last
        assert it.state_bytes() == before


# ---- logging


def test_log_categories_of_the_description_are_those_of_the_binary(arm: Fmu) -> None:
    import ctypes as c

    tree = ElementTree.parse(arm.folder / "modelDescription.xml")
    names = [str(node.get("name")) for node in tree.iter("Category")]
    assert len(names) >= 6
    with ready(arm) as it:
        for name in names:
            array = (c.c_char_p * 1)(name.encode())
            it.must("SetDebugLogging", 1, 1, c.addressof(array))
        array = (c.c_char_p * 1)(b"logNonsense")
        it.must("SetDebugLogging", 1, 0, None)
        assert it.call("SetDebugLogging", 1, 1, c.addressof(array)) == ERROR
        assert "'logNonsense'" in it.last


def test_only_the_categories_asked_for_are_heard(arm: Fmu) -> None:
    import ctypes as c

    with ready(arm) as it:
        for wanted, heard in (("logStatusError", [ERROR]), ("logStatusDiscard", [DISCARD]), ("logEvents", [OK])):
            array = (c.c_char_p * 1)(wanted.encode())
            it.must("SetDebugLogging", 1, 1, c.addressof(array))
            it.messages.clear()
            it.try_set({"shoulder.a": 1.0})  # an error
            it.try_set({"shoulder.tau": math.nan})  # a discard
            it.set_flag("shoulder.locked", True)  # an event, if it moves
            assert it.step(0.01) == OK
            it.set_flag("shoulder.locked", False)
            it.set({"shoulder.tau": 3.0})
            assert it.step(0.05) == OK
            assert [m.status for m in it.messages] == heard
            assert {m.category for m in it.messages} == {wanted}
        it.must("SetDebugLogging", 0, 0, None)
        it.messages.clear()
        assert it.try_set({"shoulder.tau": math.nan}) == DISCARD
        assert it.messages == []


def test_messages_arrive_formatted_with_the_instance_name(arm: Fmu) -> None:
    """Nothing is left to expand. FMI 2 loggers take a format: a % or # that stands for itself comes doubled."""
    with Instance(arm, name="left arm", token="100%d#r1#") as it:
        assert it.handle is None
        expected = "100%%d##r1##" if arm.fmi == "2.0" else "100%d#r1#"
        assert f"'{expected}'" in it.last and arm.token in it.last
        if arm.fmi == "2.0":
            assert it.names_seen == ["left arm"]


def test_a_step_that_would_never_end_is_given_up(fmus: Finder) -> None:
    """A solver step of a nanosecond: a thousand million of them to the communication point. Ten thousand show it."""
    with Instance(fmus("arm", "2.0")) as it:
        it.set_integer("solver.method", 0)
        it.initialize({"solver.step": 1e-9})
        assert it.step(1.0) == DISCARD
        assert "solver.step" in it.last and "t = 1e-05" in it.last


def test_a_step_of_1e9_seconds_is_given_up_at_once(fmus: Finder) -> None:
    """The arm swings and vibrates: a million steps would not bring it far."""
    with Instance(fmus("arm", "3.0")) as it:
        it.initialize({"shoulder.phi": 1.0})
        assert it.step(1e9) == DISCARD
        assert "too small" in it.last or "solver" in it.last


@pytest.mark.parametrize("name", ["solver.step", "solver.max_step"])
@pytest.mark.parametrize("value", [1e-22, 1e-13, 5e-324])
def test_steps_that_vanish_in_rounding_are_refused(name: str, value: float, fmus: Finder) -> None:
    with Instance(fmus("arm", "2.0")) as it:
        assert it.try_set({name: value}) == DISCARD
        assert "1e-12" in it.last and name in it.last
        assert it.try_set({name: 0.0}) == OK
