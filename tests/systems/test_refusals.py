"""What is wrong in a system is told with place and cure, and a component that fails with its name and the time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from systems.conftest import drive
from systems.parts import RIGID, edited

import bough
from bough.systems import couple, run

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
        ("motor.tau, arm.shoulder.tau", ["`component.output -> component.input`"]),
    ],
)
def test_connection_that_does_not_fit_is_told_with_line_and_cure(
    parts: Path, written: Writer, tmp_path: Path, wire: str, words: list[str]
) -> None:
    message = told(drive(parts, connections=[wire]), written, tmp_path)
    assert "system.yaml:9: connections[0]" in message
    for word in words:
        assert word in message, message


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
        ({"connecions": []}, ["unknown key 'connecions'"]),
        ({"components": {}}, ["components", "an empty mapping"]),
        ({"components": {"arm": "nowhere.fmu"}}, ["components.arm", "no such file", "nowhere.fmu"]),
        ({"components": {"arm": "nowhere.yaml"}}, ["nowhere.yaml", "no such file"]),
        ({"components": {"arm": {"partner": "rotor"}}}, ["there is no partner 'rotor'"]),
        ({"components": {"arm": {"fmi": "2.0"}}}, ["one of `fmu`, `model`, `partner`"]),
        ({"set": {"arm.shoulder.armatur": 1.0}}, ["did you mean 'shoulder.armature'?"]),
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


def test_file_that_is_no_fmu_is_told(parts: Path, written: Writer, tmp_path: Path) -> None:
    (tmp_path / "text.fmu").write_text("not a zip file", encoding="utf-8")
    message = told(drive(parts, components={"arm": "text.fmu"}), written, tmp_path)
    assert "components.arm" in message and "no readable FMU" in message


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
        ({"values": {"arm.shoulder.dampin": 1.0}}, "did you mean 'shoulder.damping'?"),
        ({"values": {"motor.w": 1.0}}, "a connection sets it"),
        ({"inputs": {"motor.w": 1.0}}, "motor.w is no free input; free inputs are: motor.u"),
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
    other = "x86_64-windows" if bough.export.package.native_platform() != "x86_64-windows" else "x86_64-linux"
    data = json.loads(json.dumps(drive(parts)))
    bough.build_fmu(RIGID, tmp_path / "other.fmu", platforms=other)
    data["components"]["arm"] = str(tmp_path / "other.fmu")
    couple(data, tmp_path / "out.ssp")
    with pytest.raises(bough.SimulationError, match="component arm failed.*no binary for this machine"):
        run(tmp_path / "out.ssp")
