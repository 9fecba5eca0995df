"""Runs against the wall clock: pace, computing times and overruns, by a clock that only the test moves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import bough
from bough.cli import app
from bough.run.pace import Pacer, told
from bough.run.pacing import paced

PENDULUM = {
    "bough": 1,
    "name": "pendulum",
    "gravity": [0, 0, -9.81],
    "bodies": [{"name": "b", "parent": "ground", "hinge": {"name": "pivot", "type": "revolute", "axis": [0, 1, 0]},
                "rigid": {"mass": 1.0, "com": [0.5, 0, 0], "inertia": [0.01, 0.1, 0.1, 0, 0, 0]}}],
}  # fmt: skip


class Clock:
    """Moves when it is told, when somebody sleeps, and a little at each look."""

    def __init__(self, look: float = 0.0) -> None:
        self.now, self.look, self.slept = 100.0, look, 0.0

    def __call__(self) -> float:
        self.now += self.look
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds


def test_pacer_waits_for_the_clock_and_counts_steps_that_come_late() -> None:
    clock = Clock(look=1e-5)
    pace = Pacer(clock, clock.sleep)
    pace.begin()
    zero = clock.now
    for k, work in enumerate([2e-3, 3e-3, 25e-3, 1e-3, 1e-3, 1e-3], 1):
        clock.now += work
        pace(10e-3 * k)
    assert clock.now - zero == pytest.approx(60e-3, abs=1e-4)  # it has caught up
    found = pace.statistics()
    assert found["overruns"] == 2 and found["late"] == pytest.approx(15e-3, abs=2e-4)  # it, and the next one
    assert found["worst"] == pytest.approx(25e-3, abs=1e-4) and found["p50"] == pytest.approx(1.5e-3, abs=1e-3)
    assert clock.slept > 20e-3
    assert "2 overruns, 15" in told(found, 10e-3)


def test_paced_run_is_the_run_of_the_fmu() -> None:
    clock = Clock(look=1e-3)
    result = paced(PENDULUM, 0.2, 1e-2, pacer=Pacer(clock, clock.sleep))
    plain = bough.Run(PENDULUM, method="rk4", solver_step=1e-2)
    for _ in range(20):
        plain.step(1e-2)
    assert result["pivot.phi"][-1] == pytest.approx(plain["pivot.phi"], rel=1e-12) and plain["pivot.phi"] > 0.1
    assert result.t == pytest.approx(np.arange(21) * 1e-2)
    assert {"p50", "p99", "worst", "overruns", "late"} <= set(result.statistics)


def test_command_tells_computing_times_and_overruns(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps(PENDULUM), encoding="utf-8")
    words = ["run", str(tmp_path / "m.json"), "--real-time", "--stop", "0.02", "-o", str(tmp_path / "r.csv")]
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    about = json.loads(done.stdout)
    assert about["method"] == "rk4" and about["rows"] == 21 and about["worst"] >= about["p99"] >= about["p50"] > 0.0
    spoken = CliRunner().invoke(app, words)
    assert "real time, steps of 1 ms" in spoken.output and "overruns" in spoken.output
    refused = CliRunner().invoke(app, [*words, "--atol", "1e-9"])
    assert refused.exit_code == 2
