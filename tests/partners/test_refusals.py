"""What is wrong is refused: at build time with the names there are, in a run with status and message."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fmu.fmi import DISCARD, ERROR, OK, Instance
from partners.built import described, instance, unpack

from bough.errors import BuildError
from bough.partners import KINDS, build_partner, describe_partner
from bough.partners.quantity import variable_table


@pytest.mark.parametrize(
    "kind, axes, values, words",
    [
        ("motor", 1, {"RR": 1.0}, "no parameter 'RR'; expected one of Ka (V/V), u_max (V), R (Ohm), L (H)"),
        ("motor", 1, {"RR": 1.0}, "did you mean 'R'?"),
        ("controller", 1, {"Kp": 1.0}, "did you mean 'kp'?"),
        ("controller", 1, {"outptu": "torque"}, "did you mean 'output'?"),
        ("motor", 1, {"tau": 1.0}, "'tau' is computed"),
        ("motor", 1, {"R": 0.0}, "R is 0 Ohm; expected at least 1e-06"),
        ("motor", 1, {"eta": 1.5}, "eta is 1.5; expected at least 0 and at most 1"),
        ("motor", 1, {"R": float("nan")}, "finite"),
        ("motor", 2, {"R": [1.0, 2.0, 3.0]}, "R has 3 values; expected 1 value for all axes, or 2: one for each"),
        ("motor", 1, {"R": [1.0, 2.0]}, "R has 2 values; expected 1 value (one hinge is driven)"),
        ("motor", 1, {"R": None}, "R is nothing (null); expected a number"),
        ("motor", 2, {"R": [1.0, "high"]}, "R is the text 'high'; expected a number"),
        ("motor", 1, {"L": -1.0}, "L is -1 H; expected at least 0 H"),
        ("motor", 1, {"R": [1.0, 2.0]}, "for 2 axes write `axes: 2` beside `set` (on the command line: --axes 2)"),
        ("motor", 2, {"R[3]": 1.0}, "no parameter 'R[3]'"),
        ("motor", 2, {"R[3]": 1.0}, "; there is R[1], R[2]"),
        ("motor", 1, {"R[1]": 1.0}, "; there is R"),
        ("motor", 0, {}, "axes is 0"),
        ("motor", 1, {"L": 1e-12}, "L is 1e-12"),
        ("controller", 1, {"encoder": 12.5}, "a whole number"),
        ("controller", 1, {"tacho": 2}, "true or false"),
        ("controller", 1, {"output": "current"}, "'voltage' or 'torque'"),
        ("controller", 1, {"kp": "high"}, "expected a number"),
        ("gearbox", 1, {}, "partners are motor, controller, model-controller"),
    ],
)
def test_wrong_values_are_refused_before_anything_is_built(kind: str, axes: int, values: dict, words: str) -> None:
    with pytest.raises(BuildError) as caught:
        describe_partner(kind, axes, values)
    assert words in str(caught.value)


def test_axes_are_no_cure_for_one_value_too_many_where_they_are_given_or_have_no_part_in_it() -> None:
    for axes, values in ((3, {"kp": [1.0, 2.0]}), (1, {"sample": [1e-3, 2e-3]}), (2, {"kp[1]": [1.0, 2.0]})):
        with pytest.raises(BuildError) as caught:
            describe_partner("controller", axes, values)
        assert "has 2 values" in str(caught.value) and "axes:" not in str(caught.value)


def test_options_of_the_build_are_checked(tmp_path: Path) -> None:
    for options in ({"fmi": "1.0"}, {"runtime": "source"}, {"runtime": "python", "fmi": "3.0"}, {"platforms": "vax"}):
        with pytest.raises(BuildError):
            build_partner("motor", tmp_path / "m.fmu", **options)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", KINDS)
def test_every_range_of_the_description_is_kept_by_the_library(kind: str, fmi: str, tmp_path: Path) -> None:
    """Values beyond the least and the greatest are discarded with the variable's name, and nothing changes."""
    partner = described(kind)
    checked = 0
    with Instance(unpack(partner, fmi, tmp_path)) as it:
        for v in variable_table(partner):
            if v.causality not in ("input", "parameter") or v.type != "Real":
                continue
            wrong = [float("nan"), float("inf")]
            wrong += [] if v.minimum is None else [v.minimum - 1.0]
            wrong += [] if v.maximum is None else [v.maximum + 1.0]
            before = it.get([v.name])[0]
            for x in wrong:
                assert it.try_set({v.name: x}) == DISCARD and f"'{v.name}'" in it.last and "Cure" in it.last
                assert it.get([v.name])[0] == before
                checked += 1
            for x in (v.minimum, v.maximum):
                assert x is None or it.try_set({v.name: x}) == OK
            it.set({v.name: before})
    assert checked >= 20


def test_one_wrong_value_of_several_changes_none(fmi: str, tmp_path: Path) -> None:
    with instance(tmp_path, "motor", fmi) as it:
        before = it.state_bytes()
        assert it.try_set({"u": 3.0, "R": -1.0}) == DISCARD
        assert it.state_bytes() == before


def test_outputs_fixed_parameters_and_finished_instances_are_not_set(fmi: str, tmp_path: Path) -> None:
    with instance(tmp_path, "motor", fmi) as it:
        assert it.try_set({"tau": 1.0}) == ERROR and "computed" in it.last
        it.initialize()
        assert it.try_set({"R": 0.7}) == OK
        assert it.try_set({"L": 0.01}) == ERROR and "fixed parameter" in it.last
        it.must("Terminate")
        assert it.try_set({"u": 1.0}) == ERROR


def test_steps_with_gaps_or_too_many_samples_are_refused(fmi: str, tmp_path: Path) -> None:
    with instance(tmp_path, "controller", fmi, sample=1e-6) as it:
        it.initialize(stop=100.0)
        assert it.step(0.01, 1.0) == ERROR and "without gaps" in it.last
        assert it.step(-1.0) == ERROR and it.step(200.0) == ERROR
        state = it.save()
        assert it.step(50.0) == DISCARD and "more than 1000000 samples" in it.last
        assert it.step(0.01) == ERROR  # after a failed step a state is restored
        it.restore(state)
        assert it.step(1e-4) == OK
        it.drop(state)


def test_model_exchange_is_refused_with_a_message(fmi: str, tmp_path: Path) -> None:
    it = Instance(unpack(described("motor"), fmi, tmp_path), "me")
    assert it.handle is None and "co-simulation" in it.last


def test_derivatives_are_refused_with_a_message(fmi: str, tmp_path: Path) -> None:
    with instance(tmp_path, "motor", fmi) as it:
        it.initialize()
        refs, out = it.vr(["tau"]), np.zeros(1)
        extra = [1, out.ctypes.data, 1] if it.new else [out.ctypes.data]
        knowns = it.vr(["u"])
        status = it.call(
            "GetDirectionalDerivative", refs.ctypes.data, 1, knowns.ctypes.data, 1, out.ctypes.data, *extra
        )
        assert status == ERROR and "modelDescription.xml says so" in it.last


def test_damaged_or_foreign_resources_give_no_instance(fmi: str, tmp_path: Path) -> None:
    fmu = unpack(described("motor"), fmi, tmp_path)
    good = (fmu.resources / "model.bough").read_bytes()
    for place in (9, 40, 70, len(good) // 2, len(good) - 3):
        bad = bytearray(good)
        bad[place] ^= 0x10
        (fmu.resources / "model.bough").write_bytes(bytes(bad))
        it = Instance(fmu)
        assert it.handle is None and it.messages
    from fmu.models import system

    from bough.fmu.package import fmu_files

    (fmu.resources / "model.bough").write_bytes(fmu_files(system("arm"), fmi)["resources/model.bough"])
    it = Instance(fmu)
    assert it.handle is None and it.messages  # a mechanism is no partner
