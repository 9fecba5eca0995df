"""Values that a single run is given by name, parameters, start values, inputs; and what is told of wrong names."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from regression.arm import write_arm
from small_models import LINKAGE, body, hinge, loaded_link, model, rigid
from typer.testing import CliRunner, Result

import bough
from bough.cli import app
from bough.run.settling import settled
from bough.run.studies import Plan, run_set

PLAN = Plan(0.4, 0.02)


def _bough(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def _said(done: Result) -> str:
    """What was said, without the frame that a terminal's width breaks."""
    return " ".join(done.output.replace("│", " ").split())


def _changed(body: int, part: str, **values: Any) -> dict[str, Any]:
    model = loaded_link()
    model["bodies"][body][part] |= values
    return model


def _fixed_load() -> dict[str, Any]:
    """The arm with a load whose mass is not to be changed."""
    model = loaded_link()
    del model["bodies"][1]["rigid"]["tunable"]
    return model


EQUAL = {
    "damping": ({"shoulder.damping": 2.0}, _changed(0, "hinge", damping=2.0)),
    "spring": ({"shoulder.stiffness": 3.0, "shoulder.rest": 0.5}, _changed(0, "hinge", stiffness=3.0, rest=0.5)),
    "gravity": ({"gravity[1]": -3.0, "gravity[3]": 0.0}, loaded_link() | {"gravity": [-3.0, 0, 0]}),
    "start": ({"shoulder.phi": 0.4, "shoulder.w": 1.0}, _changed(0, "hinge", initial={"phi": 0.4, "w": 1.0})),
    "tunable mass": ({"load.mass": 0.9, "shoulder.w": 1.0}, None),
}


@pytest.mark.parametrize(("settings", "model"), EQUAL.values(), ids=EQUAL)
def test_run_with_values_set_is_the_run_of_a_model_that_has_them(
    settings: dict[str, float], model: dict[str, Any] | None, tmp_path: Path
) -> None:
    if model is None:
        model = loaded_link(0.9)
        model["bodies"][0]["hinge"] |= {"initial": {"w": 1.0}}
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    target = tmp_path / "run.csv"
    done = _bough("run", write_arm(tmp_path), *words, "--stop", 0.4, "--step", 0.02, "-o", target)
    assert done.exit_code == 0, done.output
    found, expected = bough.Result.from_csv(target), bough.simulate(model, stop=0.4, step=0.02)
    for name in expected.names:
        # The same equations; a mass that the kernel is handed at run time rounds otherwise than one that is compiled.
        assert found[name] == pytest.approx(expected[name], rel=1e-9, abs=1e-9), name


def test_locked_hinge_is_set_by_a_word(tmp_path: Path) -> None:
    words = ["--set", "shoulder.locked=true", "--set", "shoulder.tau=5", "--stop", 0.1]
    assert _bough("run", write_arm(tmp_path), *words, "-o", tmp_path / "run.csv").exit_code == 0
    assert np.all(bough.Result.from_csv(tmp_path / "run.csv")["shoulder.phi"] == 0.0)


def test_fmu_and_model_take_the_same_settings(tmp_path: Path) -> None:
    model, words = write_arm(tmp_path), ["--set", "shoulder.damping=2", "--set", "shoulder.w=1", "--set", "load.mass=1"]
    fmu = bough.build_fmu(model, tmp_path / "arm.fmu", platforms="native")
    for source, target in ((model, "model.csv"), (fmu, "fmu.csv")):
        options = ["--stop", 0.4, "--step", 0.02, "--rtol", 1e-9]
        done = _bough("run", source, *words, *options, "-o", tmp_path / target)
        assert done.exit_code == 0, done.output
    one, other = (bough.Result.from_csv(tmp_path / name)["shoulder.phi"] for name in ("model.csv", "fmu.csv"))
    # Both solvers keep 1e-9 of each step; some dozen steps.
    assert one == pytest.approx(other, abs=1e-7)


def test_values_set_for_one_run_are_gone_after_it() -> None:
    system = bough.Mechanism(loaded_link())
    before = bough.simulate(system, 0.4, {"shoulder.tau": 1.0}, 0.02)["shoulder.phi"]
    settings = {"shoulder.damping": 9.0, "load.mass": 3.0, "shoulder.locked": 1.0, "shoulder.tau": 1.0}
    assert not np.any(run_set(system, settings, PLAN)["shoulder.phi"])
    assert np.array_equal(bough.simulate(system, 0.4, {"shoulder.tau": 1.0}, 0.02)["shoulder.phi"], before)


def test_run_with_inputs_only_is_that_of_simulate_to_the_last_digit() -> None:
    found, expected = (
        run_set(loaded_link(), {"shoulder.tau": 1.0}, PLAN),
        bough.simulate(loaded_link(), 0.4, {"shoulder.tau": 1.0}, 0.02),
    )
    for name in expected.names:
        assert np.array_equal(found[name], expected[name]), name


@pytest.mark.parametrize("settings", [{"drive.phi": 1.4}, {"drive.w": 0.4}], ids=["position", "speed"])
def test_start_value_in_a_loop_is_kept_and_the_others_follow_as_in_the_fmu(settings: dict[str, float]) -> None:
    system = bough.Mechanism(LINKAGE)
    started, fmu = run_set(system, settings, Plan(1e-3, 1e-3)), bough.Run(system, settings)
    for name in (*system.q_names, *system.u_names):
        assert started[name][0] == fmu[name], name
    ((name, value),) = settings.items()
    assert started[name][0] == value


def test_modes_settle_at_the_start_value_that_is_set_in_a_loop() -> None:
    drawn = copy.deepcopy(LINKAGE)
    drawn["bodies"][0]["hinge"]["initial"]["phi"] = 1.4
    found, expected = settled(bough.Mechanism(LINKAGE), {}, {"drive.phi": 1.4}), settled(bough.Mechanism(drawn), {}, {})
    modes = [name for name in expected if ".eta[" in name]
    # Two ways to one position; Newton's last step leaves 1e-12 of the weight.
    assert [found[name] for name in modes] == pytest.approx([expected[name] for name in modes], rel=1e-7)
    assert max(abs(expected[name]) for name in modes) > 1e-5


def test_start_value_that_no_loop_can_have_is_refused_by_name() -> None:
    slack = {"drive.phi": 1.1, "motor.phi": 1.0}  # the gear asks for 3.8
    with pytest.raises(bough.SimulationError, match=r"'gear' cannot be closed from these start values") as caught:
        run_set(LINKAGE, slack | {"drive.locked": 1.0, "motor.locked": 1.0}, PLAN)
    assert caught.value.result is None


def test_quaternion_of_zeros_is_refused_by_name() -> None:
    ball = model("ball", body("bar", "ground", hinge("spherical", "h"), rigid=rigid(1.0, (0.1, 0.2, 0.2))))
    with pytest.raises(bough.SimulationError, match=r"'h.Q\[1\]' to 'h.Q\[4\]' are all zero"):
        run_set(ball, {"h.Q[4]": 0.0}, PLAN)


HINTS = {
    "a mass that is fixed": ("load.mass", "mark the body `tunable: true`"),
    "an inertia that is fixed": ("load.inertia[3]", "mark the body `tunable: true`"),
    "the mass of a beam": ("link.mass", "the mass of link follows from its shape"),
    "a node that is no input": ("link.tip.force", "under inputs: [link.tip.force]"),
    "its component": ("link.tip.torque[2]", "under inputs: [link.tip.torque]"),
    "a vector": ("load.origin.force", "its parts are load.origin.force[1]"),
    "a misspelling": ("shoulder.tua", "did you mean 'shoulder.tau'?"),
}


def _hinted() -> dict[str, Any]:
    return _fixed_load() | {"inputs": ["load.origin.force"]}


@pytest.mark.parametrize(("name", "hint"), HINTS.values(), ids=HINTS)
@pytest.mark.parametrize(("command", "code"), [("run", 2), ("sweep", 1)])
def test_name_that_cannot_be_set_is_told_with_its_cure(
    command: str, code: int, name: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.json").write_text(json.dumps(_hinted()), encoding="utf-8")
    done = _bough(command, "arm.json", "--set", f"{name}=1", "--stop", 0.1)
    assert done.exit_code == code
    assert name in _said(done)
    assert hint in _said(done)
    assert [p.name for p in tmp_path.iterdir()] == ["arm.json"]


@pytest.mark.parametrize(("name", "hint"), HINTS.values(), ids=HINTS)
def test_name_that_is_no_input_of_simulate_is_told_with_its_cure(name: str, hint: str) -> None:
    with pytest.raises(bough.BoughError) as caught:
        bough.simulate(_hinted(), 0.1, {name: 1.0})
    assert name in str(caught.value)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("shoulder.phi", "it is a state: hand over its start value by initial"),
        ("shoulder.damping", "it is a parameter"),
        ("gravity[3]", "it is a parameter"),
    ],
)
def test_state_and_parameter_are_told_from_inputs_of_simulate(name: str, hint: str) -> None:
    with pytest.raises(bough.BoughError, match=hint):
        bough.simulate(loaded_link(), 0.1, {name: 1.0})


def test_settings_that_are_refused_answer_a_program_too(tmp_path: Path) -> None:
    done = _bough("run", write_arm(tmp_path), "--set", "shoulder.damping=-1", "--json", "-o", tmp_path / "run.csv")
    assert done.exit_code == 1
    assert "expected zero or a positive number" in json.loads(done.stdout)["error"]
