"""Everything that fails for a reason of the user's is a `BoughError`, and says which argument it is about."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from run.test_inputs import cart

import bough
from bough.errors import ArgumentError, UnknownNameError, did_you_mean
from bough.run.studies import grid

Call = Callable[[bough.Mechanism], object]
ZERO = [0.0]

WRONG: dict[str, tuple[Call, str]] = {
    "shape of tau": (
        lambda s: s.forward_dynamics(ZERO, ZERO, np.zeros(3)),
        "tau: expected an array of shape (1,) or (B, 1), found (3,)",
    ),
    "shape of q": (lambda s: s.mass_matrix([0.0, 1.0]), "q: expected an array of shape (1,) or (B, 1), found (2,)"),
    "shape of udot": (lambda s: s.inverse_dynamics(ZERO, ZERO, 1.0), "udot: expected an array of shape (1,)"),
    "shape of motion": (
        lambda s: s.forward_dynamics(ZERO, ZERO, ZERO, motion=[1.0, 2.0]),
        "motion: expected an array of shape (1,)",
    ),
    "word as an array": (lambda s: s.energy("a", ZERO), "q: expected an array of 1 numbers, found 'a'"),
    "batches": (
        lambda s: s.inverse_dynamics(np.zeros((2, 1)), np.zeros((3, 1)), ZERO),
        "batch sizes differ: q (2, 1), u (3, 1), udot (1,)",
    ),
    "method of dynamics": (
        lambda s: s.forward_dynamics(ZERO, ZERO, ZERO, "direct"),
        "method: expected 'articulated' or 'composite', found 'direct'",
    ),
    "node": (lambda s: s.pose(ZERO, "box.hok"), "there is no node 'box.hok'; did you mean 'box.hook'?"),
    "load": (
        lambda s: s.forward_dynamics(ZERO, ZERO, ZERO, loads={"box.hook.forc": [1, 2, 3]}),
        "loads: 'box.hook.forc' is not a load input of the model; its `inputs:` are: box.hook.force; did you mean",
    ),
    "size of a load": (
        lambda s: s.forward_dynamics(ZERO, ZERO, ZERO, loads={"box.hook.force": [1, 2]}),
        "loads['box.hook.force']: expected three numbers, found [1, 2]",
    ),
    "held hinge": (
        lambda s: s.hybrid_dynamics(ZERO, ZERO, ZERO, held=["rial"]),
        "held: 'rial' names no speed, hinge or flexible body; did you mean 'rail'?",
    ),
    "input": (
        lambda s: bough.simulate(s, 1.0, {"rail.g": 1.0}),
        "inputs: there is no input 'rail.g'; inputs are: rail.f, box.hook.force[1]",
    ),
    "word as an input": (
        lambda s: bough.simulate(s, 1.0, {"rail.f": "a"}),
        "inputs['rail.f']: expected a number, an array or a function of time, found 'a'",
    ),
    "input that is not finite": (
        lambda s: bough.simulate(s, 1.0, {"rail.f": np.inf}),
        "inputs['rail.f']: expected a finite number, found inf",
    ),
    "method of a run": (
        lambda s: bough.simulate(s, 1.0, method="dopri"),
        "method: expected one of rk4, dopri5, rosenbrock2, radau5, auto, found 'dopri'; did you mean 'dopri5'?",
    ),
    "stop before the start": (
        lambda s: bough.simulate(s, -1.0),
        "stop: expected finite times, s, with stop >= start = 0.0, found -1.0",
    ),
    "word as the stop": (lambda s: bough.simulate(s, "soon"), "stop: expected a number, found 'soon'"),  # type: ignore[arg-type]
    "step": (lambda s: bough.simulate(s, 1.0, step=0.0), "step: expected a positive number of seconds, found 0.0"),
    "initial": (
        lambda s: bough.simulate(s, 1.0, initial=3.0),  # type: ignore[arg-type]
        "initial: expected a pair of arrays (q, u), found 3.0",
    ),
    "too many runs": (lambda s: grid({"a": range(1_000_001)}), "that makes 1000001 runs"),
}


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG)
def test_wrong_argument_is_named_by_a_bough_error_that_is_a_value_error(call: Call, message: str) -> None:
    with pytest.raises(bough.BoughError) as caught:
        call(bough.Mechanism(cart()))
    assert isinstance(caught.value, ArgumentError)
    assert isinstance(caught.value, ValueError), "as it was before there was an ArgumentError"
    assert message in str(caught.value)


def test_unknown_variable_of_a_result_is_told_with_the_one_that_was_meant() -> None:
    run = bough.simulate(cart(), 0.1, step=0.05)
    with pytest.raises(bough.BoughError) as caught:
        run["rail.reaction_forse[2]"]
    assert isinstance(caught.value, KeyError), "as it was before there was an UnknownNameError"
    expected = "no variable 'rail.reaction_forse[2]' in the result; did you mean 'rail.reaction_force[2]'?"
    assert str(caught.value) == expected, "no quotation marks of a KeyError, no list of everything"
    with pytest.raises(UnknownNameError, match=r"there are: .*, \.\.\. \(\d+ in all\)"):
        run["nonsense"]


def test_errors_survive_the_way_back_from_another_process() -> None:
    for error in (ArgumentError("tau: expected"), UnknownNameError("no variable")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))


def test_suggestions_are_for_misspellings_only() -> None:
    known = ["shoulder.tau", "gravity[3]"]
    assert did_you_mean("Shoulder.Tau", known) == "; did you mean 'shoulder.tau'?"
    assert did_you_mean("gravity", known) == "; did you mean 'gravity[3]'?"
    assert did_you_mean("nonsense", known) == ""
    assert did_you_mean("x" * 100_000, known) == ""


def test_system_and_result_tell_what_they_are() -> None:
    system = bough.Mechanism(cart())
    assert repr(system) == "<bough.Mechanism cart: bodies 1, nq 1, nu 1>"
    run = bough.simulate(system, 0.5, step=0.1)
    assert repr(run) == f"<bough.Result of cart: 6 rows of {len(run.names)} variables, t = 0 s to 0.5 s>"
    assert repr(bough.Result(np.zeros(0), {})) == "<bough.Result: 0 rows of 0 variables>"
