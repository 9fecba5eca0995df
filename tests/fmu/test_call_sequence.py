"""Every function in every state: done, or refused with a message that names function, state and cure, and no harm done.

The table below says once more, by function and version, what the one in C says by kind of call: changing one alone
fails. It is more generous than the standards in places: values may be got in every state, also before initialization,
and snapshots be taken in all states but the call back.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fmu.conftest import Finder
from fmu.fmi import DISCARD, ERROR, LOG3, OK, Fmu, Instance, pointer
from fmu.signatures import SIGNATURES

STATES = {
    "cs": ("instantiated", "initialization mode", "step mode", "after a failed step", "terminated"),
    "me": ("instantiated", "initialization mode", "event mode", "continuous-time mode", "terminated"),
}
START = {"instantiated", "initialization mode"}
RUNNING = {"step mode", "event mode", "continuous-time mode"}
ENDED = {"after a failed step", "terminated"}
CALLED_BACK = "intermediate update"
ALL = START | RUNNING | ENDED
INSIDE = ALL | {CALLED_BACK}
ME_VALUES = {"initialization mode", "event mode", "continuous-time mode", "terminated"}

# function: kinds of run, states
BOTH: dict[str, tuple[str, set[str]]] = {
    "SetDebugLogging": ("cs me", INSIDE),
    "EnterInitializationMode": ("cs me", {"instantiated"}),
    "ExitInitializationMode": ("cs me", {"initialization mode"}),
    "Terminate": ("cs me", RUNNING | {"after a failed step"}),
    "Reset": ("cs me", ALL),
    "GetDirectionalDerivative": ("cs me", INSIDE - {"instantiated"}),
    "EnterEventMode": ("me", {"continuous-time mode"}),
    "EnterContinuousTimeMode": ("me", {"event mode"}),
    "CompletedIntegratorStep": ("me", {"continuous-time mode"}),
    "SetTime": ("me", {"event mode", "continuous-time mode"}),
    "SetContinuousStates": ("me", {"continuous-time mode"}),
    "GetContinuousStates": ("me", ME_VALUES),
    "GetEventIndicators": ("me", ME_VALUES),
    "GetNominalsOfContinuousStates": ("me", ALL),
    "DoStep": ("cs", {"step mode"}),
    "GetBoolean": ("cs me", INSIDE),
    "SetBoolean": ("cs me", START | {"step mode", "event mode"}),  # a tunable parameter
    "GetString": ("cs me", INSIDE),
    "SetString": ("cs me", (INSIDE) - ENDED),
}
TABLE: dict[str, dict[str, tuple[str, set[str]]]] = {
    "2.0": {
        **BOTH,
        "SetupExperiment": ("cs me", {"instantiated"}),
        "GetReal": ("cs me", ALL),
        "SetReal": ("cs me", START | RUNNING),  # an input
        "GetInteger": ("cs me", ALL),
        "SetInteger": ("cs me", START),  # a fixed parameter
        "NewDiscreteStates": ("me", {"event mode"}),
        "GetDerivatives": ("me", ME_VALUES),
        "SetRealInputDerivatives": ("cs", START | {"step mode"}),
        "GetRealOutputDerivatives": ("cs", {"step mode"} | ENDED),
        "CancelStep": ("", set()),
        **{f"Get{kind}Status": ("cs", {"step mode"} | ENDED) for kind in ("", "Real", "Boolean", "String")},
        "GetIntegerStatus": ("", set()),
        **{name: ("cs me", ALL) for name in SIGNATURES["2.0"] if "FMUstate" in name},
    },
    "3.0": {
        **BOTH,
        "GetFloat64": ("cs me", INSIDE),
        "SetFloat64": ("cs me", START | RUNNING | {CALLED_BACK}),
        "GetInt32": ("cs me", INSIDE),
        "SetInt32": ("cs me", START),
        "GetAdjointDerivative": ("cs me", INSIDE - {"instantiated"}),
        "UpdateDiscreteStates": ("me", {"event mode"}),
        "EvaluateDiscreteStates": ("me", {"event mode"}),
        "GetContinuousStateDerivatives": ("me", ME_VALUES),
        "GetOutputDerivatives": ("cs", {"step mode", CALLED_BACK} | ENDED),
        "GetNumberOfContinuousStates": ("cs me", INSIDE),
        "GetNumberOfEventIndicators": ("cs me", INSIDE),
        **{name: ("cs me", ALL) for name in SIGNATURES["3.0"] if "FMUState" in name},
        # the model has no structural parameters, no event mode in co-simulation, no clocks, constant dependencies
        **dict.fromkeys(
            (
                "EnterConfigurationMode",
                "ExitConfigurationMode",
                "EnterStepMode",
                "ActivateModelPartition",
                "GetNumberOfVariableDependencies",
                "GetVariableDependencies",
            ),
            ("", set()),
        ),
    },
}


def arguments(it: Instance, name: str, keep: list[Any]) -> tuple[Any, ...]:
    """Good arguments for a function; `keep` holds what must stay alive, and boxes to drop afterwards."""
    real, spare = np.zeros(64), np.zeros(64, dtype=np.int64)
    tau, speed = it.vr(["shoulder.tau"]), it.vr(["shoulder.w"])
    locked, method = it.vr(["shoulder.locked"]), it.vr(["solver.method"])
    nx = sum(n.startswith("der(") for n in it.fmu.references)
    keep += [real, spare, tau, speed, locked, method]
    at, to = pointer(real), pointer(spare)
    many = [1] if it.new else []
    if name in ("SetupExperiment", "EnterInitializationMode"):
        return (0, 0.0, 0.0, 0, 0.0) if name == "SetupExperiment" or it.new else ()
    if "FMUstate" in name or "FMUState" in name:
        return _state_arguments(it, name, keep)
    table: dict[str, tuple[Any, ...]] = {
        "SetDebugLogging": (0 if not it.new else False, 0, None),
        "GetReal": (pointer(speed), 1, at),
        "SetReal": (pointer(tau), 1, at),
        "GetFloat64": (pointer(speed), 1, at, 1),
        "SetFloat64": (pointer(tau), 1, at, 1),
        "GetInteger": (pointer(method), 1, to),
        "SetInteger": (pointer(method), 1, to),
        "GetInt32": (pointer(method), 1, to, 1),
        "SetInt32": (pointer(method), 1, to, 1),
        "GetBoolean": (pointer(locked), 1, to, *many),
        "SetBoolean": (pointer(locked), 1, to, *many),
        "GetDirectionalDerivative": (
            *(pointer(speed), 1, pointer(tau), 1, at),
            *((1, at + 8, 1) if it.new else (at + 8,)),
        ),
        "GetAdjointDerivative": (pointer(speed), 1, pointer(tau), 1, at, 1, at + 8, 1),
        "NewDiscreteStates": (at,),
        "UpdateDiscreteStates": (to, to + 8, to + 16, to + 24, to + 32, at),
        "CompletedIntegratorStep": (1, to, to + 8),
        "SetTime": (0.0,),
        "GetEventIndicators": (None, 0),
        "SetRealInputDerivatives": (pointer(tau), 1, pointer(np.ones(1, dtype=np.intc)), at),
        "GetRealOutputDerivatives": (pointer(speed), 1, _ones(keep), at),
        "GetOutputDerivatives": (pointer(speed), 1, _ones(keep), at, 1),
        "GetNumberOfContinuousStates": (to,),
        "GetNumberOfEventIndicators": (to,),
        "GetStatus": (0, to),
        "GetRealStatus": (2, at),
        "GetIntegerStatus": (0, to),
        "GetBooleanStatus": (3, to),
        "GetStringStatus": (1, to),
        "ActivateModelPartition": (0, 0.0),
        "GetNumberOfVariableDependencies": (1, to),
        "GetVariableDependencies": (1, to, to, to, to, 1),
        "DoStep": (it.time, 0.01, 1, *((to, to + 8, to + 16, at) if it.new else ())),
    }
    table["SetRealInputDerivatives"] = (pointer(tau), 1, _ones(keep), at)
    if name in ("SetContinuousStates", "GetContinuousStates", "GetNominalsOfContinuousStates") or "Derivatives" in name:
        table.setdefault(name, (at, nx))
    # functions for types that no variable has: an empty call is a good one
    empty = tuple(0 if kind == "z" else None for kind in SIGNATURES[it.fmu.fmi][name])
    return table.get(name, empty)


def _ones(keep: list[Any]) -> int:
    ones = np.ones(1, dtype=np.intc)
    keep.append(ones)
    return pointer(ones)


def _state_arguments(it: Instance, name: str, keep: list[Any]) -> tuple[Any, ...]:
    """A box made by a sister instance, so that the one under test is not called; the sister drops what is left."""
    with Instance(it.fmu, it.kind) as sister:
        box = sister.save()
        data = sister.serialize(box)
    out, size, fresh = c.create_string_buffer(data, len(data)), c.c_size_t(0), c.c_void_p(None)
    keep += [box, out, size, fresh]
    if name.startswith("Get"):
        return (c.addressof(fresh),)
    if name.startswith("Free"):
        return (c.addressof(box),)
    if name.startswith("Set"):
        return (box,)
    if name.startswith("Serialized"):
        return (box, c.addressof(size))
    if name.startswith("Serialize"):
        return (box, c.addressof(out), len(data))
    return (c.addressof(out), len(data), c.addressof(fresh))


def bring(it: Instance, state: str) -> None:
    """Along legal calls into a state."""
    if state == "instantiated":
        return
    assert it.enter() == OK
    if state == "initialization mode":
        return
    it.must("ExitInitializationMode")
    if state == "continuous-time mode":
        it.to_continuous()
    if state == "after a failed step":
        it.set({"lower.tip.force[1]": 1e300})
        assert it.step(0.01) == DISCARD
        assert "t = 0 s" in it.last and "Cure: " in it.last
    if state == "terminated":
        it.must("Terminate")


def drop_boxes(it: Instance, keep: list[Any]) -> None:
    for box in keep:
        if isinstance(box, c.c_void_p):
            it.drop(box)


def works(it: Instance) -> None:
    """From the beginning to the end, whatever was before."""
    it.must("Reset")
    it.initialize({"shoulder.tau": 0.1})
    if it.kind == "cs":
        assert it.step(0.01) == OK
    else:
        it.to_continuous()
        assert np.isfinite(it.rates()).all()
    assert np.isfinite(it.get(["hand.tool.a[1]"])).all()
    it.must("Terminate")


def goes_on(it: Instance, state: str) -> None:
    """The next legal call of a state still works: a refused call has left the state alone."""
    following: dict[str, Callable[[], Any]] = {
        "instantiated": lambda: it.enter() == OK,
        "initialization mode": lambda: it.call("ExitInitializationMode") == OK,
        "step mode": lambda: it.step(0.01) == OK,
        "event mode": lambda: it.call("EnterContinuousTimeMode") == OK,
        "continuous-time mode": lambda: it.call("EnterEventMode") == OK,
        "after a failed step": lambda: it.call("Terminate") == OK,
        "terminated": lambda: np.isfinite(it.get(["shoulder.phi"])).all(),
    }
    assert following[state]()


def judge(it: Instance, name: str, state: str, status: int) -> None:
    """Is the status what the table says, and is a refusal explained?"""
    kinds, allowed = TABLE[it.fmu.fmi].get(name, ("cs me", INSIDE if name.startswith("Get") else INSIDE - ENDED))
    where = f"{name} in {it.kind}, {state}"
    if it.kind in kinds.split() and state in allowed:
        computed = "Derivative" in name and name != "SetRealInputDerivatives"
        if state == "after a failed step" and computed:  # the input that broke the step is still there
            assert status in (OK, ERROR), where
            return
        assert status == OK, f"{where}: {it.last}"
        return
    if name == "GetIntegerStatus" and state in {"step mode"} | ENDED and it.kind == "cs":
        assert status == DISCARD  # FMI 2: no such status exists
        return
    assert status == ERROR, where
    text = it.last
    assert name in text, text
    if kinds:  # not merely a function that this FMU has no use for
        assert f"'{state}'" in text and "Cure: " in text and "Cure: ." not in text, text


def functions(fmi: str) -> list[str]:
    return sorted(SIGNATURES[fmi])


@pytest.mark.parametrize("kind", ["cs", "me"])
def test_every_function_in_every_state_is_done_or_refused_with_state_and_cure(arm: Fmu, kind: str) -> None:
    assert set(TABLE[arm.fmi]) <= set(functions(arm.fmi))
    for state in STATES[kind]:
        for name in functions(arm.fmi):
            with Instance(arm, kind) as it:
                bring(it, state)
                it.messages.clear()
                keep: list[Any] = []
                status = it.call(name, *arguments(it, name, keep))
                judge(it, name, state, status)
                if status == ERROR:
                    goes_on(it, state)
                drop_boxes(it, keep)
                works(it)


def test_calls_from_within_the_intermediate_update_follow_the_table(fmus: Finder) -> None:
    arm = fmus("arm", "3.0")
    for name in functions("3.0"):
        if name != "SetDebugLogging":  # it would silence the messages judged here
            call_from_within(arm, name)


def call_from_within(arm: Fmu, name: str) -> None:
    seen: list[int] = []
    boxes: list[Any] = []

    def update(*_: Any) -> None:
        if not seen:
            it.messages.clear()
            seen.append(it.call(name, *arguments(it, name, boxes)))
            judge(it, name, CALLED_BACK, seen[0])
            judged.append(name)

    judged: list[str] = []
    with Instance(arm, "cs", update=update) as it:
        it.initialize()
        assert it.step(0.01) == OK
        assert judged == [name]
        assert it.step(0.01) == OK
        drop_boxes(it, boxes)
        works(it)


def test_a_null_instance_is_an_error_in_every_function(arm: Fmu) -> None:
    library = arm.load()
    for name, kinds in SIGNATURES[arm.fmi].items():
        blank = [None if kind == "p" else 0 for kind in kinds]
        assert getattr(library, f"fmi{arm.fmi[0]}{name}")(None, *blank) == ERROR, name
    free = getattr(library, f"fmi{arm.fmi[0]}FreeInstance")
    free.restype, free.argtypes = None, [c.c_void_p]
    free(None)


def test_null_arrays_are_refused_in_every_function(arm: Fmu) -> None:
    """All pointers null, all counts one: an error with a message, never a crash."""
    for kind, state in (("cs", "step mode"), ("me", "continuous-time mode"), ("me", "event mode")):
        for name, kinds in SIGNATURES[arm.fmi].items():
            if "p" not in kinds or (name == "SetDebugLogging"):
                continue
            with Instance(arm, kind) as it:
                bring(it, state)
                it.messages.clear()
                blank = [{"p": None, "z": 1, "d": it.time or 0.01}.get(k, 0) for k in kinds]
                status = it.call(name, *blank)
                if status == OK:
                    assert name.startswith("FreeFMU"), name  # freeing nothing is fine
                else:
                    assert status == DISCARD or name in it.last, name
                works(it)


def test_type_of_run_that_is_not_offered_gives_no_instance(fmus: Finder) -> None:
    arm = fmus("arm", "3.0")
    with Instance(arm, "cs", event_mode=True) as it:
        assert it.handle is None and "eventModeUsed = false" in it.last
    library, heard = arm.load(), []
    log = LOG3(lambda _, status, category, text: heard.append(text.decode()))
    create = library.fmi3InstantiateScheduledExecution
    create.restype = c.c_void_p
    null = c.c_void_p(None)
    text = [c.c_char_p(b"it"), c.c_char_p(arm.token.encode()), c.c_char_p(str(arm.resources).encode())]
    assert create(*text, c.c_bool(False), c.c_bool(True), null, log, null, null, null) is None
    assert "scheduled execution" in heard[0]
