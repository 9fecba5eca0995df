"""What a user is warned of: steps too long for a component, inputs without a source; and of nothing else."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from coupling.parts import DRIVEN, RIGID
from coupling.test_commands import invoke

from bough.coupling import couple, run


@pytest.fixture
def system(tmp_path: Path) -> dict[str, Any]:
    """Arm, motor and controller, connected as README does it; everything else is optional."""
    (tmp_path / "arm.yaml").write_text(json.dumps(RIGID), encoding="utf-8")
    return {
        "bough_system": 1,
        "name": "drive",
        "components": {
            "arm": str(tmp_path / "arm.yaml"),
            "motor": {"partner": "motor", "set": {"L": 0.0}},
            "controller": {"partner": "controller", "set": {"phi_end": 1.0}},
        },
        "connections": [*DRIVEN],
        "master": {"step": 1e-3, "stop": 0.02},
    }


def without(system: dict[str, Any], *wires: str) -> dict[str, Any]:
    return {**system, "connections": [wire for wire in system["connections"] if wire not in wires]}


def test_optional_inputs_are_not_missed(system: dict[str, Any], tmp_path: Path) -> None:
    made = couple(system, tmp_path / "x.ssp", platforms="native")
    assert made.warnings == ()
    assert ("controller", "phi_cmd") in made.open_inputs()


def test_required_inputs_are_missed(system: dict[str, Any], tmp_path: Path) -> None:
    made = couple(without(system, "arm.shoulder.phi -> controller.phi"), tmp_path / "x.ssp", platforms="native")
    assert made.warnings == ("nothing is connected to controller.phi: what the FMUs start with stays there",)
    made = couple(without(system, "controller.u -> motor.u"), tmp_path / "x.ssp", platforms="native")
    assert made.warnings[0].startswith("nothing is connected to motor.u:")


def test_speed_is_not_missed_without_a_tachometer(system: dict[str, Any], tmp_path: Path) -> None:
    system["components"]["controller"]["set"]["tacho"] = False
    made = couple(without(system, "arm.shoulder.w -> controller.w"), tmp_path / "x.ssp", platforms="native")
    assert made.warnings == ()


def test_mechanism_that_nothing_drives_is_told_and_a_passive_hinge_is_not(
    system: dict[str, Any], tmp_path: Path
) -> None:
    made = couple(without(system, "motor.tau -> arm.shoulder.tau"), tmp_path / "x.ssp", platforms="native")
    assert made.warnings[0].startswith("nothing is connected to arm.shoulder.tau:")
    link = {**RIGID["bodies"][0], "name": "second", "parent": "link", "hinge": {"name": "elbow", "type": "revolute"}}
    link["hinge"]["axis"] = [0, 0, 1]
    (tmp_path / "arm.yaml").write_text(json.dumps({**RIGID, "bodies": [*RIGID["bodies"], link]}), encoding="utf-8")
    made = couple(system, tmp_path / "x.ssp", platforms="native")
    assert made.warnings == () and ("arm", "elbow.tau") in made.open_inputs()


def test_input_that_the_run_is_given_is_not_missed(system: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "system.json"
    path.write_text(json.dumps(without(system, "controller.u -> motor.u")), encoding="utf-8")
    with pytest.warns(UserWarning, match="nothing is connected to motor.u"):
        run(path)
    run(path, inputs={"motor.u": lambda t: 1.0})
    run(path, values={"motor.u": 1.0})


def test_torque_that_goes_nowhere_is_told_with_where_it_may_go(system: dict[str, Any], tmp_path: Path) -> None:
    """Once, with the input that misses it; and again when the package is run."""
    words = "motor.tau is connected to nothing: connect it to arm.shoulder.tau"
    made = couple(without(system, "motor.tau -> arm.shoulder.tau"), tmp_path / "x.ssp", platforms="native")
    assert len(made.warnings) == 1 and made.warnings[0].endswith(f"stays there. {words}")
    with pytest.warns(UserWarning, match=f"^{words}$"):
        run(tmp_path / "x.ssp")
    done = invoke("run", tmp_path / "x.ssp", "-o", tmp_path / "run.csv")
    assert done.exit_code == 0 and done.stderr == f"warning: {words}\n"
    run(tmp_path / "x.ssp", values={"arm.shoulder.tau": 0.1})  # left out on purpose


def two_axes(system: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """The same for two hinges."""
    link = {**RIGID["bodies"][0], "name": "second", "parent": "link"}
    link["hinge"] = {"name": "elbow", "type": "revolute", "axis": [0, 0, 1]}
    (tmp_path / "arm.yaml").write_text(json.dumps({**RIGID, "bodies": [*RIGID["bodies"], link]}), encoding="utf-8")
    for name in ("motor", "controller"):
        system["components"][name]["axes"] = 2
    system["connections"] = [
        text.format(i=i, hinge=hinge)
        for i, hinge in ((1, "shoulder"), (2, "elbow"))
        for text in (
            "controller.u[{i}] -> motor.u[{i}]",
            "motor.tau[{i}] -> arm.{hinge}.tau",
            "arm.{hinge}.w -> motor.w[{i}]",
            "arm.{hinge}.phi -> controller.phi[{i}]",
            "arm.{hinge}.w -> controller.w[{i}]",
        )
    ]
    return system


def test_each_axis_that_drives_nothing_is_told(system: dict[str, Any], tmp_path: Path) -> None:
    system = two_axes(system, tmp_path)
    assert couple(system, tmp_path / "x.ssp", platforms="native").warnings == ()
    wires = ["motor.tau[2] -> arm.elbow.tau", "controller.u[1] -> motor.u[1]"]
    made = couple(without(system, *wires), tmp_path / "x.ssp", platforms="native")
    assert made.warnings == (
        "nothing is connected to motor.u[1]: what the FMUs start with stays there. controller.u[1] is connected to "
        "nothing: connect it to motor.u[1]",
        "motor.tau[2] is connected to nothing: connect it to arm.elbow.tau",
    )


def test_model_controller_drives_by_torque_or_by_command(system: dict[str, Any], tmp_path: Path) -> None:
    system["components"]["controller"] |= {"partner": "model-controller", "model": str(tmp_path / "arm.yaml")}
    assert couple(system, tmp_path / "x.ssp", platforms="native").warnings == ()
    made = couple(without(system, "controller.u -> motor.u"), tmp_path / "x.ssp", platforms="native")
    assert "controller.tau or controller.u is connected to nothing: connect it to motor.u" in made.warnings[0]
    system["connections"] = [wire for wire in system["connections"] if "motor" not in wire]
    del system["components"]["motor"]
    system["connections"].append("controller.tau -> arm.shoulder.tau")
    assert couple(system, tmp_path / "x.ssp", platforms="native").warnings == ()


def test_angle_of_more_than_a_turn_is_told_to_be_in_radians(system: dict[str, Any], tmp_path: Path) -> None:
    values = system["components"]["controller"]["set"]
    values["phi_end"] = 57
    words = "controller.phi_end: {} rad is more than {}; angles are in radians, {} deg is {}"
    made = couple(system, tmp_path / "x.ssp", platforms="native")
    assert made.warnings == (words.format(57, "nine turns", 57, 0.9948),)
    with pytest.warns(UserWarning, match="-90 rad is more than 14 turns.* -90 deg is -1.571"):
        run(tmp_path / "x.ssp", values={"controller.phi_end": -90.0})
    with pytest.warns(UserWarning, match="7 rad is more than one turn;"):
        run(tmp_path / "x.ssp", values={"controller.phi_end": 7.0})
    run(tmp_path / "x.ssp", values={"controller.phi_end": -6.2832})


def test_angle_that_is_measured_scaled_may_be_many_turns(system: dict[str, Any], tmp_path: Path) -> None:
    """At the rotor of a gear, or at a pinion."""
    system["components"]["controller"]["set"]["phi_end"] = 57
    data = without(system, "arm.shoulder.phi -> controller.phi")
    data["connections"].append({"from": "arm.shoulder.phi", "to": "controller.phi", "factor": 50})
    assert not [text for text in couple(data, tmp_path / "x.ssp", platforms="native").warnings if "turns" in text]


@pytest.mark.parametrize("kind", ["controller", "model-controller"])
def test_step_longer_than_a_sample_is_warned_of(system: dict[str, Any], tmp_path: Path, kind: str) -> None:
    """With the component, its sample time and the cure; once; and not at the sample time itself."""
    system["components"]["controller"]["partner"] = kind
    if kind == "model-controller":
        system["components"]["controller"]["model"] = str(tmp_path / "arm.yaml")
    system["components"]["controller"]["set"] |= {"sample": 0.002}
    assert couple(system, tmp_path / "x.ssp", platforms="native").warnings == ()
    words = "component controller samples every 0.002 s, and the communication step is 0.5 s.*Choose a step of 0.002 s"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(tmp_path / "x.ssp", 1.0, 0.5)  # a loop that goes wild, of which a controller with a model tells too
    assert sum(re.search(words, str(each.message)) is not None for each in caught) == 1
    run(tmp_path / "x.ssp", 0.02, 0.002)
    made = couple({**system, "master": {"step": 0.01, "stop": 0.02}}, tmp_path / "y.ssp", platforms="native")
    assert "samples every 0.002 s" in made.warnings[0]


def test_step_longer_than_a_sample_is_told_on_stderr(system: dict[str, Any], tmp_path: Path) -> None:
    couple(system, tmp_path / "x.ssp", platforms="native")
    arguments = ["run", tmp_path / "x.ssp", "-o", tmp_path / "run.csv", "--stop", 1]
    done = invoke(*arguments, "--step", 0.5)
    assert done.exit_code == 0 and done.stderr.count("warning: component controller samples every 0.001 s") == 1
    # A sample time that the run is given counts, not the one in the FMU.
    assert invoke(*arguments, "--step", 0.01, "--set", "controller.sample=0.01").stderr == ""


def test_step_longer_than_the_time_constant_of_a_winding_is_warned_of(driven: Path) -> None:
    """L / R is 40 ms."""
    with pytest.warns(UserWarning, match=r"component motor has a time constant of 0\.04 s .*is 0\.05 s.*L = 0"):
        run(driven, 0.1, 0.05)
    with pytest.warns(UserWarning, match=r"time constant of 0\.004 s"):
        run(driven, 0.1, 0.01, values={"motor.L": 0.002})
    run(driven, 0.1, 0.04, values={"motor.L": 0.02})


def test_wrong_side_of_a_gear_is_told(system: dict[str, Any], tmp_path: Path) -> None:
    """A hinge with a gear takes torque at its rotor: speed and inertia of a motor belong there as well."""
    arm = json.loads(json.dumps(RIGID))
    arm["bodies"][0]["hinge"]["gear"] = {"ratio": 50, "inertia": 1e-4, "stiffness": 1e4}
    (tmp_path / "arm.yaml").write_text(json.dumps(arm), encoding="utf-8")
    system["connections"].append("motor.armature -> arm.shoulder.armature")
    said = couple(system, tmp_path / "x.ssp", platforms="native").warnings
    assert [("connect arm.shoulder.rotor.w" in text, "arm.shoulder.rotor.armature" in text) for text in said] == [
        (True, False),
        (False, True),
    ]
    right = [
        wire.replace("arm.shoulder.w -> motor.w", "arm.shoulder.rotor.w -> motor.w") for wire in system["connections"]
    ]
    right[-1] = "motor.armature -> arm.shoulder.rotor.armature"
    system["connections"] = right
    assert couple(system, tmp_path / "x.ssp", platforms="native").warnings == ()


def test_torque_of_a_model_controller_is_not_that_of_a_rotor(tmp_path: Path) -> None:
    arm = json.loads(json.dumps(RIGID))
    arm["bodies"][0]["hinge"]["gear"] = {"ratio": 50, "inertia": 1e-4, "stiffness": 1e4}
    (tmp_path / "arm.yaml").write_text(json.dumps(arm), encoding="utf-8")
    brain = {"partner": "model-controller", "model": str(tmp_path / "arm.yaml")}
    wire: dict[str, Any] = {"from": "brain.tau", "to": "arm.shoulder.tau"}
    system = {
        "bough_system": 1,
        "name": "drive",
        "components": {"arm": str(tmp_path / "arm.yaml"), "brain": brain},
        "connections": [wire, "arm.shoulder.phi -> brain.phi", "arm.shoulder.w -> brain.w"],
    }
    (said,) = couple(system, tmp_path / "x.ssp", platforms="native").warnings
    assert "one over the gear's ratio" in said
    wire["factor"] = 0.02
    (said,) = couple(system, tmp_path / "x.ssp", platforms="native").warnings
    assert "no container.json" in said, "fmucontainer does not scale; nothing is said of the gear"
