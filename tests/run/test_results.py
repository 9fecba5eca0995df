"""Results: written so that they read back the same bits."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from run.cases import craft, states

from bough import Mechanism, SimulationError, simulate
from bough.run.result import Result


def test_result_reads_back_the_same_bits(tmp_path: Path) -> None:
    run = simulate(craft(), 1.0, step=0.01)
    path = tmp_path / "run.csv"
    run.to_csv(path)
    back = Result.from_csv(path)
    assert back.names == run.names and back.t.tobytes() == run.t.tobytes()
    for name in run.names:
        assert back[name].tobytes() == run[name].tobytes(), name
    assert not list(tmp_path.glob("*.part"))


def test_awkward_numbers_read_back_the_same_bits(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=500) * 10.0 ** rng.integers(-300, 300, 500)])
    values[:6] = [-0.0, 5e-324, 1.7976931348623157e308, 0.1, np.inf, np.nan]
    path = tmp_path / "awkward.csv"
    Result(np.arange(500.0), {"x": values}).to_csv(path)
    assert Result.from_csv(path)["x"].tobytes() == values.tobytes()


def test_result_tells_states_names_units_and_statistics() -> None:
    system = Mechanism(craft())
    run = simulate(system, 0.1, step=0.02)
    q, u = states(system, run)
    assert np.array_equal(q[0], system.initial_state()[0]) and np.array_equal(u[0], system.initial_state()[1])
    assert run.model_name == "craft" and run.units["tether.w[1]"] == "rad/s" and len(run) == 6
    assert run.statistics["steps"] > 0 and run.statistics["evaluations"] > run.statistics["steps"]
    assert "base.s[1]" in run and "nothing" not in run
    with pytest.raises(KeyError, match="no variable 'nothing'"):
        run["nothing"]


def test_recorded_accelerations_are_those_of_the_recorded_states() -> None:
    system = Mechanism(craft())
    run = simulate(system, 0.5, step=0.1, rtol=1e-4)
    q, u = states(system, run)
    for i in range(len(run)):
        udot = system.forward_dynamics(q[i], u[i], np.zeros(system.nu))
        assert run["drive.a"][i] == udot[system.u_names.index("drive.w")]


def test_unreadable_results_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    for text, message in (
        ("", "header"),
        ("x,y\n1,2\n", "header"),
        ("time,x\n1,two\n", ":2: expected 2 numbers"),
        ("time,x\n1,2\n3\n", ":3: expected 2 numbers"),
    ):
        path.write_text(text)
        with pytest.raises(SimulationError, match=message):
            Result.from_csv(path)
    with pytest.raises(SimulationError, match="cannot read"):
        Result.from_csv(tmp_path / "absent.csv")
    with pytest.raises(SimulationError, match="cannot write"):
        Result(np.zeros(1), {}).to_csv(tmp_path / "no" / "such" / "folder.csv")


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    Result(np.array([1.0]), {"x": np.array([2.0])}).to_csv(pipe)
    assert os.read(reader, 100) == b"time,x\n1.0,2.0\n"
    os.close(reader)
    assert pipe.is_fifo()
