"""Sweeps set what the FMU's variables of the same names set, and runs do not touch each other."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from regression.arm import write_arm, write_torque
from small_models import loaded_link
from typer.testing import CliRunner, Result

import bough
from bough.cli import app
from bough.coupling.single import run_fmu
from bough.run.result_csv import read_metadata
from bough.run.studies import Plan, grid, measure, settable, sweep

BALL = {
    "bough": 1,
    "name": "ball",
    "bodies": [
        {
            "name": "bar",
            "parent": "ground",
            "hinge": {"name": "h", "type": "spherical", "stiffness": 2.0, "initial": {"w": [0.3, 0, 0]}},
            "rigid": {"mass": 1.0, "com": [0.5, 0, 0], "inertia": [0.1, 0.2, 0.2, 0, 0, 0], "tunable": True},
        }
    ],
}
ARM_POINTS = [
    {},
    {"shoulder.damping": 2.0},
    {"shoulder.stiffness": 30.0, "shoulder.rest": 0.2},
    {"shoulder.armature": 0.5},
    {"gravity[1]": -3.0},
    {"link.damping_scale": 20.0},
    {"load.mass": 1.5, "load.com[1]": 0.1, "load.inertia[3]": 0.05},
    {"shoulder.w": 1.5, "link.eta[1]": 0.01},
    {"shoulder.tau": 0.7},
    {"shoulder.locked": 1.0, "link.eta[1]": 0.01, "shoulder.w": 2.0},
]
BALL_POINTS = [{"h.Q[1]": 0.5, "h.Q[4]": 1.0, "gravity[3]": -9.81}, {"h.w[2]": 2.0, "bar.mass": 3.0}]


@pytest.mark.parametrize(("model", "points"), [(loaded_link(), ARM_POINTS), (BALL, BALL_POINTS)], ids=["arm", "ball"])
def test_every_kind_of_setting_means_what_it_means_in_the_fmu(
    model: dict[str, object], points: list[dict[str, float]], tmp_path: Path
) -> None:
    fmu = bough.build_fmu(model, tmp_path / "x.fmu", platforms="native")
    runs: dict[int, bough.Result] = {}
    done = sweep(model, points, Plan(0.5, 0.01, rtol=1e-9), keep=runs.__setitem__)
    assert all(outcome.ok for outcome in done.outcomes)
    for number, point in enumerate(points, 1):
        other = run_fmu(fmu, 0.5, 0.01, None, point, 1e-9)
        for name in bough.Mechanism(model).q_names:
            # Both solvers keep 1e-9 of each step; a few hundred steps.
            size = max(1e-3, float(np.ptp(other[name])))
            assert runs[number][name] == pytest.approx(other[name], abs=1e-6 * size), (point, name)


def test_settings_change_the_run() -> None:
    finals = [o.measures[:, 0] for o in sweep(loaded_link(), ARM_POINTS, Plan(0.5, 0.01)).outcomes]
    for i, point in enumerate(ARM_POINTS[1:], 1):
        moves = set(point) - {"shoulder.armature", "shoulder.damping", "link.damping_scale", "load.mass"}
        changed = not np.allclose(finals[i], finals[0], atol=1e-12)
        assert changed or not moves, f"{point} changed nothing"


def test_runs_are_the_same_on_any_number_of_threads() -> None:
    points = grid({"shoulder.damping": [0.0, 0.5], "gravity[2]": [-1.0, 0.0, 1.0], "load.mass": [0.5, 2.0]})
    plan = Plan(0.3, 0.01)
    one, three = (sweep(loaded_link(), points, plan, jobs=jobs) for jobs in (1, 3))
    assert [o.number for o in three.outcomes] == list(range(1, 13))
    for a, b in zip(one.outcomes, three.outcomes, strict=True):
        assert np.array_equal(a.measures, b.measures)
        assert a.settings == b.settings


def test_run_after_others_begins_from_the_models_own_parameters() -> None:
    plan = Plan(0.3, 0.01)
    alone = sweep(loaded_link(), [{}], plan).outcomes[0]
    after = sweep(loaded_link(), [*ARM_POINTS, {}], plan, jobs=1).outcomes[-1]
    assert np.array_equal(alone.measures, after.measures)


def test_grid_is_every_combination_last_name_fastest() -> None:
    assert grid({"a": [1.0, 2.0], "b": [3.0, 4.0]}) == [
        {"a": 1.0, "b": 3.0},
        {"a": 1.0, "b": 4.0},
        {"a": 2.0, "b": 3.0},
        {"a": 2.0, "b": 4.0},
    ]
    with pytest.raises(ValueError, match="1000000000 runs"):
        grid(dict.fromkeys("abc", [0.0] * 1000))


def test_measures_are_final_peak_and_rms_over_time() -> None:
    t = np.linspace(0.0, 2 * math.pi, 2001)
    result = bough.Result(t, {"y": -3.0 * np.cos(t)})
    # Trapezia over a whole period of a smooth function are exact.
    assert measure(result, ["y"])[0] == pytest.approx([-3.0, 3.0, 3.0 / math.sqrt(2)], rel=1e-12)
    uneven = bough.Result(np.array([0.0, 1.0, 1.5]), {"y": np.array([2.0, 2.0, 2.0])})
    assert measure(uneven, ["y"])[0] == pytest.approx([2.0, 2.0, 2.0])


def test_what_can_be_set_is_what_the_fmu_lets_one_set() -> None:
    known = settable(bough.Mechanism(loaded_link()))
    assert {"shoulder.phi", "link.eta_dot[2]", "shoulder.tau", "gravity[3]", "load.mass"} <= set(known)
    assert not [name for name in known if name.startswith(("solver.", "der(", "load.origin"))]


# ---- the command


def _bough(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_command_writes_a_row_for_each_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model, torque = write_arm(tmp_path), write_torque(tmp_path)
    done = _bough(
        "sweep", model, "--set", "shoulder.damping=0.1,0.2:0.6:3", "--set", "gravity[3]=-9.81,0", "--input", torque,
        "--stop", 0.5, "--step", 0.01, "--only", "shoulder.phi", "--only", "*.eta[1]", "--runs", "all", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["ok"], told["runs"], told["variables"]) == (True, 8, 2)
    rows = _rows(tmp_path / "sweep.csv")
    assert [row["shoulder.damping"] for row in rows[::2]] == ["0.1", "0.2", "0.4", "0.6"]
    assert set(rows[0]) == {"run", "shoulder.damping", "gravity[3]", "ok"} | {
        f"{v}.{m}" for v in ("shoulder.phi", "link.eta[1]") for m in ("final", "peak", "rms")
    }
    full = bough.Result.from_csv(tmp_path / "all" / "run_0003.csv")
    assert float(rows[2]["shoulder.phi.final"]) == full["shoulder.phi"][-1]
    assert float(rows[2]["shoulder.phi.peak"]) == abs(full["shoulder.phi"]).max()
    assert len(list((tmp_path / "all").iterdir())) == 8 + 1, "the units of all runs are in one file"
    assert full.units["shoulder.phi"] == "rad" and full.units["shoulder.w"] == "rad/s"
    units, _ = read_metadata(tmp_path / "sweep.csv")
    assert units["shoulder.damping"] == "N.m.s/rad" and units["shoulder.phi.rms"] == "rad"


def test_failed_run_does_not_end_the_sweep(tmp_path: Path) -> None:
    model = write_arm(tmp_path)
    target = tmp_path / "s.csv"
    # A spring so stiff that rk4 with 10 ms steps blows up: one run of three.
    done = _bough(
        "sweep", model, "--set", "shoulder.stiffness=0,1e12,1", "--method", "rk4", "--step", 0.001, "--stop", 2,
        "--set", "shoulder.w=1", "-o", target,
    )  # fmt: skip
    assert done.exit_code == 1
    assert "run 2 (shoulder.stiffness=1e+12, shoulder.w=1) failed: " in done.output
    rows = _rows(target)
    assert [row["ok"] for row in rows] == ["1", "0", "1"]
    assert rows[1]["shoulder.phi.final"] == ""
    assert rows[2]["shoulder.phi.final"] != ""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "--set"),
        (["--set", "shoulder.damping"], 2, "low:high:count"),
        (["--set", "shoulder.damping=1,x"], 2, "low:high:count"),
        (["--set", "shoulder.damping=1:2:1"], 2, "low:high:count"),
        (["--set", "shoulder.damping=inf"], 2, "finite"),
        (["--set", "shoulder.damping=1", "--set", "shoulder.damping=2"], 2, "given twice"),
        (["--set", "shoulder.damping=0:1:1000001"], 2, "1000001 runs"),
        (["--set", "elbow.damping=1"], 1, "no 'elbow.damping' that can be set"),
        (["--set", "shoulder.damping=-1"], 1, "zero or a positive number"),
        (["--set", "shoulder.locked=0.5"], 1, "0 or 1"),
        (["--set", "solver.tolerance=1e-3"], 1, "no 'solver.tolerance'"),
        (["--set", "shoulder.damping=1", "--only", "nix*"], 1, "no variable fits"),
        (["--set", "shoulder.damping=1", "--method", "euler"], 2, "rosenbrock2"),
        (["--set", "shoulder.damping=1", "--stop", "-1"], 2, "--stop"),
    ],
)
def test_wrong_use_is_told(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    model = write_arm(tmp_path)
    done = _bough("sweep", model, *arguments, "-o", tmp_path / "s.csv")
    assert done.exit_code == code, done.output
    assert message in " ".join(done.output.replace("│", " ").split())
    assert not (tmp_path / "s.csv").exists()


def test_input_that_is_a_series_and_a_constant_is_refused(tmp_path: Path) -> None:
    done = _bough("sweep", write_arm(tmp_path), "--set", "shoulder.tau=1", "--input", write_torque(tmp_path))
    assert done.exit_code == 1
    assert "given twice" in done.output
