"""Systems started at rest, recorded, swept, planned; vectors connected as one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import bough
import bough.coupling
from bough.cli import app
from bough.coupling.steps import folded
from bough.demo import MODEL
from bough.errors import ModelError, SimulationError
from bough.regression import record, verify
from bough.run.series_file import read_series

ARM = """bough: 1
name: arm
gravity: [0, 0, -9.81]
bodies:
  - name: upper
    parent: ground
    hinge: {name: shoulder, type: revolute, axis: [0, 1, 0], initial: {phi: 0.4}}
    beam: {length: 1.0, elements: 4, section: {area: 1.0e-3, Iy: 1.0e-8, Iz: 1.0e-8, J: 2.0e-8}, damping: 0.02,
           material: {E: 7.0e10, nu: 0.33, rho: 2700},
           modes: {boundary: cantilever, bending_y: 1, bending_z: 0, torsion: 0, axial: 0}}
  - name: fore
    parent: upper
    at: tip
    hinge: {name: elbow, type: revolute, axis: [0, 1, 0], initial: {phi: 0.7}}
    rigid: {mass: 0.5, com: [0.3, 0, 0], inertia: [0.001, 0.01, 0.01, 0, 0, 0]}
"""
SYSTEM = """bough_system: 1
name: drive
components:
  arm: arm.yaml
  motor: {partner: motor, axes: 2, set: {L: 0, J: 0.0, u_max: 100}}
  ctrl: {partner: controller, axes: 2, set: {kp: 40, kd: 4, phi_start: [0.4, 0.7], phi_end: [0.4, 0.7], u_max: 100}}
connections:
  - ctrl.u -> motor.u
  - motor.tau[1] -> arm.shoulder.tau
  - motor.tau[2] -> arm.elbow.tau
  - arm.shoulder.w -> motor.w[1]
  - arm.elbow.w -> motor.w[2]
  - arm.shoulder.phi -> ctrl.phi[1]
  - arm.elbow.phi -> ctrl.phi[2]
  - arm.shoulder.w -> ctrl.w[1]
  - arm.elbow.w -> ctrl.w[2]
master: {step: 1e-3, stop: 0.1}
"""


@pytest.fixture
def drive(tmp_path: Path) -> Path:
    (tmp_path / "arm.yaml").write_text(ARM, encoding="utf-8")
    (tmp_path / "drive.yaml").write_text(SYSTEM, encoding="utf-8")
    return tmp_path / "drive.yaml"


def silent(_: str) -> None: ...


def test_vectors_are_connected_element_by_element(drive: Path, tmp_path: Path) -> None:
    made = bough.coupling.gather(drive, tmp_path)
    ends = [(link.source, link.target) for link in made.links][:2]
    assert ends == [(("ctrl", f"u[{i}]"), ("motor", f"u[{i}]")) for i in (1, 2)]


def test_vectors_of_different_length_are_refused(drive: Path, tmp_path: Path) -> None:
    drive.write_text(SYSTEM.replace("motor, axes: 2", "motor, axes: 3"), encoding="utf-8")
    with pytest.raises(ModelError, match=r"ctrl.u has 2, motor.u has 3"):
        bough.coupling.gather(drive, tmp_path)
    drive.write_text(SYSTEM.replace("ctrl.u -> motor.u", "ctrl.u -> motor.u[1]"), encoding="utf-8")
    with pytest.raises(ModelError, match=r"ctrl.u has 2, motor.u\[1\] has 1"):
        bough.coupling.gather(drive, tmp_path)


def test_settled_system_stays_where_it_is(drive: Path) -> None:
    """Weight bends the beam and pulls at both hinges: without a settled start they sag and ring."""
    loose = bough.coupling.run(drive, warn=silent)
    held = bough.coupling.run(drive, settle=True, warn=silent)
    for name in ("arm.shoulder.phi", "arm.elbow.phi"):
        assert np.ptp(loose[name]) > 5e-4
        assert np.ptp(held[name]) < 1e-7
    assert np.ptp(held["arm.upper.eta[1]"]) < 1e-8 < abs(held["arm.upper.eta[1]"][0])
    # the weight of the forearm; the beam's tip turns by a few mrad
    assert held["motor.tau[2]"][0] == pytest.approx(-0.5 * 0.3 * 9.81 * np.cos(1.1), rel=3e-2)


def test_package_coupled_at_rest_starts_at_rest(drive: Path, tmp_path: Path) -> None:
    """The start values travel in the package: whoever runs it needs no model file."""
    path = tmp_path / "rest.ssp"
    done = CliRunner().invoke(app, ["couple", str(drive), "--settle", "--platform", "native", "-o", str(path)])
    assert done.exit_code == 0, done.output
    packed, held = bough.coupling.run(path, warn=silent), bough.coupling.run(drive, settle=True, warn=silent)
    for name in held.names:
        np.testing.assert_array_equal(packed[name], held[name], err_msg=name)
    refused = CliRunner().invoke(app, ["run", str(path), "--settle"])
    assert refused.exit_code == 2 and "bough couple SYSTEM --settle" in " ".join(refused.output.split())


def test_settled_package_is_refused_with_the_cure(drive: Path, tmp_path: Path) -> None:
    bough.coupling.couple(drive, tmp_path / "drive.ssp", platforms="native")
    with pytest.raises(SimulationError, match="run the system file"):
        bough.coupling.run(tmp_path / "drive.ssp", settle=True, warn=silent)


@pytest.mark.parametrize("kind", ["yaml", "ssp"])
def test_system_is_recorded_and_verified(drive: Path, tmp_path: Path, kind: str) -> None:
    source = drive
    if kind == "ssp":
        source = tmp_path / "drive.ssp"
        bough.coupling.couple(drive, source, platforms="native")
    kept = record(source, settings={"ctrl.kp[1]": 30.0}, only=("arm.*.phi",))
    assert kept.recipe.stop == 0.1 and kept.recipe.step == 1e-3
    assert verify(kept.path).ok
    assert kind == "ssp" or set(kept.digests) == {"drive.yaml", "arm.yaml"}
    moved = json.loads(kept.path.with_suffix(".json").read_text())
    moved["run"]["set"] = {"ctrl.kp[1]": 20.0}
    kept.path.with_suffix(".json").write_text(json.dumps(moved))
    assert not verify(kept.path).ok


def test_record_of_a_system_names_what_cannot_be_set(drive: Path) -> None:
    with pytest.raises(SimulationError, match=r"drive.yaml: .*did you mean 'ctrl.kp"):
        record(drive, settings={"ctrl.kpp[1]": 30.0})


def test_system_is_swept(drive: Path, tmp_path: Path) -> None:
    done = bough.coupling.sweep_system(drive, {"ctrl.kp[1]": [20.0, 40.0]}, only=["arm.shoulder.phi"], warn=silent)
    assert done.names == ("arm.shoulder.phi",) and all(o.ok for o in done.outcomes)
    sag = [abs(o.measures[0, 0] - 0.4) for o in done.outcomes]
    assert sag[1] < sag[0]
    answer = CliRunner().invoke(
        app, ["sweep", str(drive), "--set", "ctrl.kp[1]=20,40", "--only", "arm.*.phi", "-o", str(tmp_path / "s.csv")]
    )
    assert answer.exit_code == 0, answer.output
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 3
    wrong = CliRunner().invoke(app, ["sweep", str(drive), "--set", "ctrl.kpp=1,2"])
    assert wrong.exit_code == 1 and "did you mean 'ctrl.kp" in wrong.output


def test_warnings_alike_are_told_as_one() -> None:
    texts = [f"motor.u[{i}] is connected to nothing: 2 things" for i in range(1, 22)] + ["something else"]
    told = folded(texts)
    assert len(told) == 2 and told[0].startswith("motor.u[1] is connected to nothing")
    assert "20 more: motor.u[2], motor.u[3]" in told[0]
    assert folded(texts[:3]) == texts[:3]


def test_warnings_of_components_are_told_when_the_run_ends_well(drive: Path) -> None:
    """A controller with a model inside whose torque is at its limit says so once."""
    partner = "{partner: model-controller, model: arm.yaml, set: {tau_max: 1.0}}"
    lines = [line for line in SYSTEM.splitlines() if "motor" not in line and "ctrl: {" not in line]
    lines.insert(4, f"  ctrl: {partner}")
    lines.insert(6, "  - ctrl.tau[1] -> arm.shoulder.tau\n  - ctrl.tau[2] -> arm.elbow.tau")
    drive.write_text("\n".join(lines), encoding="utf-8")
    told: list[str] = []
    bough.coupling.run(drive, warn=told.append)
    assert sum("component ctrl" in text and "at its limit of 1" in text for text in told) == 1


# ---- plans

SLEW: dict[str, Any] = {
    "bough_system": 1,
    "name": "slew",
    "components": {
        "arm": {"model": str(MODEL), "set": {"shoulder.armature": 0.02, "elbow.armature": 0.01}},
        "ctrl": {
            "partner": "model-controller",
            "model": str(MODEL),
            "set": {"phi_start": [-0.6, 1.9], "phi_end": [1.2, 0.4], "t_move": 1.5, "law": "acceleration"},
        },
    },
    "connections": [
        "ctrl.tau[1] -> arm.shoulder.tau",
        "ctrl.tau[2] -> arm.elbow.tau",
        "arm.shoulder.phi -> ctrl.phi[1]",
        "arm.elbow.phi -> ctrl.phi[2]",
        "arm.shoulder.w -> ctrl.w[1]",
        "arm.elbow.w -> ctrl.w[2]",
    ],
    "master": {"step": 1e-3, "stop": 2.0},
}


def test_planned_torques_played_open_loop_end_where_the_plan_does(tmp_path: Path) -> None:
    (tmp_path / "slew.json").write_text(json.dumps(SLEW), encoding="utf-8")
    table, motion = tmp_path / "torques.csv", tmp_path / "plan.csv"
    made = CliRunner().invoke(
        app, ["plan", str(tmp_path / "slew.json"), "-o", str(table), "--motion", str(motion), "--json"]
    )
    assert made.exit_code == 0, made.output
    about = json.loads(made.stdout)
    assert about["inputs"] == ["shoulder.tau", "elbow.tau"] and about["set"] == {
        "shoulder.armature": 0.02,
        "elbow.armature": 0.01,
    }
    played = tmp_path / "played.csv"
    words = ["run", str(MODEL), "--input", str(table), "--stop", "2", "--rtol", "1e-10", "-o", str(played)]
    words += [word for name, value in about["set"].items() for word in ("--set", f"{name}={value}")]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 0, answer.output
    plan, run = bough.Result.from_csv(motion), bough.Result.from_csv(played)
    tip = [
        np.array([r[f"{prefix}payload.origin.r[{i}]"][-1] for i in (1, 2, 3)])
        for prefix, r in (("arm.", plan), ("", run))
    ]
    assert np.linalg.norm(tip[0] - tip[1]) < 1e-6
    assert np.abs(tip[0]).max() > 0.5
    assert set(read_series(table, ["shoulder.tau", "elbow.tau"])) == {"shoulder.tau", "elbow.tau"}
