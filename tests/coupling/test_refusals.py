"""What is wrong in a system is told with place and cure, and a component that fails with its name and the time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coupling.conftest import drive
from coupling.parts import RIGID, edited

import bough
from bough.coupling import couple, is_system_file, run

Writer = Callable[[dict[str, Any]], Path]


def told(data: dict[str, Any], written: Writer, tmp_path: Path) -> str:
    """What is refused, in a file of a line per value."""
    with pytest.raises(bough.ModelError) as caught:
        couple(written(data), tmp_path / "out.ssp", platforms="native")
    assert not (tmp_path / "out.ssp").exists()
    return str(caught.value)


@pytest.mark.parametrize(
    ("wire", "words"),
    [
        ("motr.tau -> arm.shoulder.tau", ["no component 'motr'", "did you mean 'motor.tau'?"]),
        ("motor.tau -> arm.shoulder.taw", ["no variable 'shoulder.taw'", "did you mean 'arm.shoulder.tau'?"]),
        ("motor.tau -> arm.shoulder.w", ["arm.shoulder.w, which is an output", "turn the connection round"]),
        ("motor.u -> arm.shoulder.tau", ["motor.u, which is an input"]),
        ("motor.i -> arm.shoulder.tau", ["the unit N.m of arm.shoulder.tau", "A of motor.i", "factor"]),
        ("motor.tau -> arm.shoulder.locked", ["the same type", "boolean"]),
        ("motor.i, arm.shoulder.w", ["`component.output -> component.input`", 'write "motor.i -> arm.shoulder.w"']),
        ("motor.i => motor.u", ['write "motor.i -> motor.u"']),
        ("motor.i", ['write "motor.tau -> arm.shoulder.tau"']),
    ],
)
def test_connection_that_does_not_fit_is_told_with_line_and_cure(
    parts: Path, written: Writer, tmp_path: Path, wire: str, words: list[str]
) -> None:
    message = told(drive(parts, connections=[wire]), written, tmp_path)
    assert "system.yaml:9: connections[0]" in message
    for word in words:
        assert word in message, message


def test_connection_that_is_turned_round_is_told_once(parts: Path, written: Writer, tmp_path: Path) -> None:
    message = told(drive(parts, connections=["arm.shoulder.tau -> motor.tau"]), written, tmp_path)
    assert message.count("connections[0]") == 1
    assert "arm.shoulder.tau, which is an input, before motor.tau, which is an output" in message
    assert 'turn the connection round: "motor.tau -> arm.shoulder.tau"' in message


def axles(**more: Any) -> dict[str, Any]:
    """Two motors in one component, and two controllers."""
    parts = {"motor": {"partner": "motor", "axes": 2}, "controller": {"partner": "controller", "axes": 2}}
    wires = [f"controller.u[{i}] -> motor.u[{i}]" for i in (1, 2)]
    return {"bough_system": 1, "name": "axles", "components": parts, "connections": wires} | more


@pytest.mark.parametrize(
    ("wire", "cure"),
    [
        ("controller.u -> motor.u[1]", "it has elements: controller.u[1], controller.u[2]"),
        ("controller.u[1] -> motor.u", "it has elements: motor.u[1], motor.u[2]"),
        ("controller.u[3] -> motor.u[1]", "it has elements: controller.u[1], controller.u[2]"),
    ],
)
def test_missing_or_wrong_index_of_a_connection_is_told_with_those_there_are(
    written: Writer, tmp_path: Path, wire: str, cure: str
) -> None:
    message = told(axles(connections=[wire]), written, tmp_path)
    assert message.count("connections[0]") == 1 and cure in message and "did you mean" not in message


def test_index_of_a_variable_that_has_none_is_told(parts: Path, written: Writer, tmp_path: Path) -> None:
    message = told(drive(parts, connections=["motor.tau[1] -> arm.shoulder.tau"]), written, tmp_path)
    assert "it has no index: motor.tau" in message


def test_several_values_for_one_axis_ask_for_axes(written: Writer, tmp_path: Path) -> None:
    parts = {"controller": {"partner": "controller", "set": {"phi_end": [1.2, 0.4]}}}
    message = told({"bough_system": 1, "name": "x", "components": parts}, written, tmp_path)
    assert "components.controller.set.phi_end" in message and "for 2 axes write `axes: 2`" in message


def test_value_without_an_index_in_the_system_file_counts_for_all_elements(written: Writer, tmp_path: Path) -> None:
    made = couple(axles(set={"motor.R": 0.6, "motor.R[2]": 0.7}), tmp_path / "x.ssp", platforms="native")
    assert made.component("motor").values == {"R[1]": 0.6, "R[2]": 0.7}
    (tmp_path / "none").mkdir()
    message = told(axles(set={"motor.R": -1}), written, tmp_path / "none")
    assert message.count("set.'motor.R'") == 1 and "at least 1e-06 Ohm" in message
    message = told(axles(set={"motor.R[3]": 1}), written, tmp_path / "none")
    assert "it has elements: motor.R[1], motor.R[2]" in message


def test_input_has_one_source(parts: Path, written: Writer, tmp_path: Path) -> None:
    wires = ["motor.tau -> arm.shoulder.tau", {"from": "motor.i", "to": "arm.shoulder.tau", "factor": 2.0}]
    message = told(drive(parts, connections=wires), written, tmp_path)
    assert "one source for each input" in message and "is fed by motor.tau already" in message


def in_degrees(parts: Path, tmp_path: Path) -> Path:
    """The motor with a speed in deg/s."""
    base = '<BaseUnit s="-1" rad="1"/>'
    changes = (('name="rad/s"', 'name="deg/s"'), (base, f'<BaseUnit s="-1" rad="1" factor="{np.pi / 180!r}"/>'))
    return edited(parts / "motor.fmu", tmp_path / "degrees.fmu", *changes, ('unit="rad/s"', 'unit="deg/s"'))


def test_unit_of_the_same_dimension_is_refused_or_converted(parts: Path, written: Writer, tmp_path: Path) -> None:
    files = {"arm": str(parts / "arm.fmu"), "motor": str(in_degrees(parts, tmp_path))}
    message = told(drive(parts, components=files), written, tmp_path)
    assert "the unit deg/s of motor.w" in message and "rad/s of arm.shoulder.w" in message
    assert "{from: arm.shoulder.w, to: motor.w, convert: true}" in message
    wires: list[Any] = ["motor.tau -> arm.shoulder.tau"]
    wires += [{"from": "arm.shoulder.w", "to": "motor.w", "convert": True}]
    made = couple(drive(parts, components=files, connections=wires), tmp_path / "out.ssp")
    assert made.links[1].factor == pytest.approx(180 / np.pi)
    result = run(tmp_path / "out.ssp", 0.1)
    np.testing.assert_allclose(result["motor.w"], result["arm.shoulder.w"] * 180 / np.pi, rtol=1e-12)


def test_missing_connection_is_warned_of(parts: Path, tmp_path: Path) -> None:
    made = couple(drive(parts, connections=["motor.tau -> arm.shoulder.tau"]), tmp_path / "out.ssp")
    assert [w for w in made.warnings if "nothing is connected to motor.w" in w]
    assert not couple(drive(parts), tmp_path / "out.ssp").warnings


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bough_system": 2}, ["bough_system", "the format version, 1"]),
        ({"connecions": []}, ["unknown key 'connecions'", "did you mean 'connections'?"]),
        ({"components": {}}, ["components", "an empty mapping"]),
        ({"components": {"arm": "nowhere.fmu"}}, ["components.arm", "no such file", "nowhere.fmu"]),
        ({"components": {"arm": "nowhere.yaml"}}, ["nowhere.yaml", "no such file"]),
        ({"components": {"arm": {"partner": "rotor"}}}, ["there is no partner 'rotor'", "did you mean 'motor'?"]),
        ({"components": {"arm": {"partner": "servo"}}}, ["components.arm.partner", "one of motor, controller, model-"]),
        ({"components": {"arm": {"partner": "model-controller", "axes": 2}}}, ["components.arm.axes", "remove it"]),
        ({"components": {"arm": {"partner": "model-controller"}}}, ["components.arm.model", "name the model file"]),
        ({"components": {"arm": {"partner": "motor", "axes": 101}}}, ["components.arm.axes", "1 to 100"]),
        ({"components": {"arm": {"fmi": "2.0"}}}, ["one of `fmu`, `model`, `partner`"]),
        (
            {"set": {"arm.shoulder.armatur": 1.0}},
            ["set.'arm.shoulder.armatur'\n", "did you mean 'arm.shoulder.armature'?"],
        ),
        ({"set": {"arm.shoulder.a": 1.0}}, ["it is a calculated output"]),
        ({"set": {"motor.R": "small"}}, ["a finite number", "the text 'small'"]),
        ({"set": {"arm.shoulder.locked": 1}}, ["true or false"]),
        ({"master": {"order": "gaus-seidel"}}, ["master.order", "did you mean 'gauss-seidel'?"]),
        ({"master": {"step": 0}}, ["master.step"]),
        ({"master": {"sequence": ["arm"]}}, ["master.sequence", "each of arm, motor once"]),
    ],
)
def test_system_file_that_is_wrong_is_told_with_its_place(
    parts: Path, written: Writer, tmp_path: Path, changes: dict[str, Any], words: list[str]
) -> None:
    message = told(drive(parts, **changes), written, tmp_path)
    assert "system.yaml:" in message
    for word in words:
        assert word in message, message


def test_values_of_partners_that_do_not_fit_are_told_at_their_lines(written: Writer, tmp_path: Path) -> None:
    """All of them, each with what may be there and the name that was meant."""
    values = {"L": -1, "RR": 3, "Kt": None, "N": [1, 2, 3], "tau": 1}
    parts = {"motor": {"partner": "motor", "axes": 2, "set": values}}
    parts |= {"controller": {"partner": "controller", "set": {"Kp": 2}}}
    message = told({"bough_system": 1, "name": "x", "components": parts}, written, tmp_path)
    lines = (tmp_path / "system.yaml").read_text(encoding="utf-8").splitlines()
    for component, key, words in (
        ("motor", "L", ["expected: at least 0 H", "found:    L is -1 H"]),
        ("motor", "RR", ["there is no parameter 'RR'", "did you mean 'R'?"]),
        ("motor", "Kt", ["expected: a number", "nothing (null)"]),
        ("motor", "N", ["1 value for all axes, or 2", "N has 3 values"]),
        ("motor", "tau", ["'tau' is computed by the motor"]),
        ("controller", "Kp", ["one of kp (V/rad), ki", "did you mean 'kp'?"]),
    ):
        line = next(i for i, text in enumerate(lines, 1) if f'"{key}":' in text)
        head = f"system.yaml:{line}: components.{component}.set.{key}\n"
        assert head in message, message
        own = message.partition(head)[2].partition("\n\n")[0]
        assert all(word in own for word in words), own
    assert "see there" not in message


def test_inputs_of_partners_are_set_for_each_axis(tmp_path: Path) -> None:
    for given, expected in (({"u": 2}, [2.0, 2.0]), ({"u": [2, 3]}, [2.0, 3.0]), ({"u[2]": 3}, [0.0, 3.0])):
        motor = {"partner": "motor", "axes": 2, "set": given}
        made = couple({"bough_system": 1, "name": "x", "components": {"motor": motor}}, tmp_path / "x.ssp")
        result = run(tmp_path / "x.ssp", 1e-3)
        assert [result[f"motor.u[{i}]"][0] for i in (1, 2)] == expected
        assert ("motor.u[1]" in str(made.warnings)) == ("u" not in given)


def test_model_file_is_not_taken_for_a_system_file(written: Writer, tmp_path: Path) -> None:
    """Nobody is told to remove the bodies of a model."""
    message = told(RIGID, written, tmp_path)
    assert "a model file (it has 'bodies')" in message and "bough_system, components, connections" in message
    assert "docs/systems.md" in message and "unknown key" not in message and "remove" not in message


def test_system_files_are_told_from_other_files(written: Writer, tmp_path: Path) -> None:
    assert is_system_file(written({"name": "x", "bough_system": 1}))
    broken = tmp_path / "broken.yaml"
    broken.write_text("bough_system: 1\nname: [\n", encoding="utf-8")
    assert is_system_file(broken)
    for text in ("bough: 1\nname: bough_system\n", "# bough_system: 1\nbough: 1\n", "bodies: {bough_system: 1}\n", ""):
        (tmp_path / "other.yaml").write_text(text, encoding="utf-8")
        assert not is_system_file(tmp_path / "other.yaml"), text
    assert not is_system_file(tmp_path / "nothing.yaml") and not is_system_file(tmp_path / "arm.fmu")


@pytest.mark.parametrize("text", ["{from: motor.tau[1], to: arm.f, factor: 2}", "{from: a.b, to: motor.tau[1]}"])
def test_index_in_braces_asks_for_quotes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "system.yaml"
    head = "bough_system: 1\nname: x\ncomponents: {motor: {partner: motor}}\nconnections:\n"
    path.write_text(f"{head}  - {text}\n", encoding="utf-8")
    with pytest.raises(bough.ModelError) as caught:
        couple(path, tmp_path / "out.ssp")
    assert "system.yaml:5" in str(caught.value) and 'write "motor.tau[1]"' in str(caught.value)
    path.write_text(f"{head}  - {text} ]\n".replace("[1]", ""), encoding="utf-8")
    with pytest.raises(bough.ModelError, match=r"system\.yaml:5") as caught:
        couple(path, tmp_path / "out.ssp")
    assert "quotes" not in str(caught.value)


def test_file_that_is_no_fmu_is_told(parts: Path, written: Writer, tmp_path: Path) -> None:
    (tmp_path / "text.fmu").write_text("not a zip file", encoding="utf-8")
    message = told(drive(parts, components={"arm": "text.fmu"}), written, tmp_path)
    assert "components.arm" in message and "not a readable FMU" in message


def failing(parts: Path, tmp_path: Path, factor: float = 1.0, **values: float) -> Path:
    """An arm driven by a source of torque that goes wrong at a time."""
    data = {
        "bough_system": 1,
        "name": "failing",
        "components": {"arm": str(parts / "arm.fmu"), "source": str(parts / "Gain.fmu")},
        "connections": [{"from": "source.y", "to": "arm.shoulder.tau", "factor": factor}],
        "set": {f"source.{name}": value for name, value in values.items()},
        "master": {"step": 0.1, "stop": 2.0},
    }
    couple(data, tmp_path / "failing.ssp")
    return tmp_path / "failing.ssp"


@pytest.mark.parametrize(
    ("values", "words", "rows"),
    [
        # The slave refuses the step that goes beyond 0.55 s.
        ({}, ["component source failed at t = 0.5 s", "fmi2DoStep returned"], 6),
        # A torque that no arm survives is there at 0.6 s, and spoils the next step.
        ({"jump": 1e300}, ["component arm failed at t = 0.6 s: fmi2DoStep returned discard", "shoulder"], 7),
        # The sum of two numbers that are almost the largest; the arm itself sees little of it.
        ({"jump": 1.7e308, "c": 1.7e308, "factor": 1e-309}, ["source failed at t = 0.6 s: its output y is inf"], 6),
    ],
    ids=["step refused", "arm beyond numbers", "output infinite"],
)
def test_component_that_fails_in_mid_run_is_named_with_the_time_and_results_are_kept(
    parts: Path, tmp_path: Path, values: dict[str, float], words: list[str], rows: int
) -> None:
    with pytest.raises(bough.SimulationError) as caught:
        run(failing(parts, tmp_path, late=0.55, **values))
    for word in words:
        assert word in str(caught.value), caught.value
    kept = caught.value.result
    np.testing.assert_allclose(kept.t, 0.1 * np.arange(rows), atol=1e-12)
    assert "arm.shoulder.w" in kept and kept.statistics["steps"] == rows - 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": "random"}, "order is 'random'"),
        ({"extrapolation": "cubic"}, "extrapolation is 'cubic'"),
        ({"step": -1.0}, "the communication step is -1.0 s"),
        ({"stop": 0.0}, "expected a later end"),
        ({"tolerance": 2.0}, "tolerance is 2.0"),
        ({"every": 0}, "every is 0"),
        ({"values": {"arm.shoulder.dampin": 1.0}}, "did you mean 'arm.shoulder.damping'?"),
        ({"values": {"motor.RR": 1.0}}, "component motor has no 'RR'; did you mean 'motor.R'?"),
        ({"values": {"motor.RR": 1.0}}, "In motor you can set: u, Ka, u_max, R, L, Kt, Kb, N, eta, J, i_max"),
        ({"values": {"mootr.R": 1.0}}, "there is no component 'mootr'; did you mean 'motor.R'?"),
        ({"values": {"motor.R": -1.0}}, "motor.R is -1.0; expected at least 1e-06 Ohm"),
        ({"values": {"motor.w": 1.0}}, "a connection sets it"),
        ({"inputs": {"motor.w": 1.0}}, "motor.w is not a free input; free inputs are: motor.u"),
        ({"inputs": {"mot.u": 1.0}}, "there is no component 'mot'"),
    ],
)
def test_option_that_does_not_fit_is_told(driven: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(bough.SimulationError) as caught:
        run(driven, **options)
    assert words in str(caught.value)


def test_error_control_needs_states_and_energy_needs_a_port(parts: Path, tmp_path: Path) -> None:
    path = failing(parts, tmp_path)
    with pytest.raises(bough.SimulationError, match="component source cannot save its state"):
        run(path, tolerance=1e-4)
    with pytest.raises(bough.SimulationError, match="the system has no power port"):
        run(path, extrapolation="energy")


def test_fmu_without_a_binary_for_this_machine_is_told(parts: Path, tmp_path: Path) -> None:
    other = "x86_64-windows" if bough.fmu.package.native_platform() != "x86_64-windows" else "x86_64-linux"
    data = json.loads(json.dumps(drive(parts)))
    bough.build_fmu(RIGID, tmp_path / "other.fmu", platforms=other)
    data["components"]["arm"] = str(tmp_path / "other.fmu")
    couple(data, tmp_path / "out.ssp")
    with pytest.raises(bough.SimulationError, match="component arm failed.*no binary for this machine"):
        run(tmp_path / "out.ssp")
