"""Statuses as the standards ask for: what a solver may try again, what is read before initialization ends, handles."""

from __future__ import annotations

import ctypes as c

import numpy as np
import pytest
from fmu.conftest import Finder
from fmu.fmi import OK, Fmu, Instance, pointer

DISCARD, ERROR = 2, 3


@pytest.mark.parametrize("model", ["arm", "flyer"])
def test_a_solver_that_went_too_far_may_try_a_shorter_step(fmus: Finder, fmi: str, model: str) -> None:
    """Speeds of 1e200 rad/s overflow: discard, and the instance goes on from other states."""
    with Instance(fmus(model, fmi), "me") as it:
        it.initialize()
        it.to_continuous()
        good = it.states()
        rates = it.rates()
        far = good.copy()
        far[-1] = far[len(good) // 2] = 1e200
        assert it.call("SetContinuousStates", pointer(far), far.size) == OK
        out = np.zeros(good.size)
        name = "GetContinuousStateDerivatives" if it.new else "GetDerivatives"
        assert it.call(name, pointer(out), out.size) == DISCARD
        it.set_states(good)
        assert (it.rates() == rates).all()


def test_a_quaternion_is_scaled_when_initialization_ends(fmus: Finder, fmi: str) -> None:
    """Read before, it is what was set; everything computed from it sees it scaled."""
    names = [f"flight.Q[{i}]" for i in range(1, 5)]
    with Instance(fmus("flyer", fmi)) as it, Instance(fmus("flyer", fmi)) as unit:
        given = dict(zip(names, (0.0, 0.6, 0.0, 1.2), strict=True))
        length = np.sqrt(0.6**2 + 1.2**2)
        rates = [v for v in it.fmu.references if v.startswith("der(")]
        for each, values in ((it, given), (unit, {n: x / length for n, x in given.items()})):
            each.set({**values, "flight.w[1]": 0.3})
            assert each.enter() == OK
        assert it.get(names).tolist() == list(given.values())
        assert np.allclose(it.get(rates), unit.get(rates), rtol=1e-13, atol=1e-13)
        assert it.get(names).tolist() == list(given.values())
        it.must("ExitInitializationMode")
        assert np.allclose(it.get(names), np.array(list(given.values())) / length, rtol=1e-15)


def test_derivatives_by_a_quaternion_before_initialization_ends_are_those_of_the_scaled_one(fmus: Finder) -> None:
    names = [f"flight.Q[{i}]" for i in range(1, 5)]
    given = np.array([0.1, 0.6, -0.2, 1.2])
    fmu = fmus("flyer", "2.0")
    rates = [v for v in fmu.references if v.startswith("der(")]

    def at(Q: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        with Instance(fmu) as other:
            other.set({**dict(zip(names, Q.tolist(), strict=True)), "flight.w[1]": 0.3, "flight.w[3]": -0.2})
            other.enter()
            return other.get(rates)

    with Instance(fmu) as it:
        it.set({**dict(zip(names, given.tolist(), strict=True)), "flight.w[1]": 0.3, "flight.w[3]": -0.2})
        it.enter()
        for i, name in enumerate(names):
            step = 1e-5 * np.eye(4)[i]
            expected = (at(given + step) - at(given - step)) / 2e-5
            got = it.directional(rates, [name], [1.0])
            assert np.abs(got - expected).max() < 1e-7 * max(1.0, np.abs(expected).max())


def test_input_derivatives_count_whether_they_come_before_or_after_the_value(fmus: Finder) -> None:
    seen = []
    for first in ("value", "derivative"):
        with Instance(fmus("arm", "2.0")) as it:
            it.initialize()
            for what in (first, "derivative" if first == "value" else "value"):
                if what == "value":
                    it.set({"shoulder.tau": 1.0})
                else:
                    assert it.input_derivative("shoulder.tau", 1, 50.0) == OK
            assert it.step(0.01) == OK
            seen.append(it.get(["shoulder.w", "shoulder.tau"]))
            assert it.step(0.01) == OK  # they hold for one step
            seen[-1] = np.concatenate([seen[-1], it.get(["shoulder.w", "shoulder.tau"])])
    assert (seen[0] == seen[1]).all() and seen[0][1] == 1.5 and seen[0][3] == 1.5


def test_second_derivatives_of_outputs_are_zero_and_order_zero_is_an_error(fmus: Finder, fmi: str) -> None:
    with Instance(fmus("arm", fmi)) as it:
        it.initialize({"shoulder.tau": 0.5})
        assert it.step(0.01) == OK
        refs = it.vr(["shoulder.w", "shoulder.w", "shoulder.phi"])
        name = "GetOutputDerivatives" if it.new else "GetRealOutputDerivatives"

        def ask(orders: list[int]) -> tuple[int, list[float]]:
            numbers, out = np.array(orders, dtype=np.intc), np.full(3, np.nan)
            sizes = [out.size] if it.new else []
            return it.call(name, pointer(refs), 3, pointer(numbers), pointer(out), *sizes), out.tolist()

        status, found = ask([1, 2, 3])
        assert status == OK and found[0] == pytest.approx(it.get(["shoulder.a"])[0], rel=1e-12) and found[1:] == [0, 0]
        assert ask([0, 1, 1])[0] == ERROR


def test_deserializing_does_not_look_at_the_old_handle(arm: Fmu, fmus: Finder, fmi: str) -> None:
    """A handle of a host may hold anything before."""
    with Instance(fmus("arm", fmi)) as it:
        it.initialize()
        data = it.state_bytes()
        box, copy = c.c_void_p(0x1234), c.create_string_buffer(data, len(data))
        name, word = ("DeserializeFMUState", "State") if it.new else ("DeSerializeFMUstate", "state")
        assert it.call(name, c.addressof(copy), len(data), c.addressof(box)) == OK
        assert it.call(f"SetFMU{word}", box) == OK
        it.drop(box)
