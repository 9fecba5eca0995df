"""The loop over output rows in C makes the same calls as one by one from Python: equal to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.demo import MODEL
from bough.mechanism import kernel, kernel_sim
from bough.run.result import Result
from bough.run.signals import Schedule
from bough.run.simulate import _output_times, _Recorder, _Walk

STOP, STEP = 0.3, 1e-3
INPUTS = {
    "none": {},
    "constant": {"shoulder.tau": 0.3},
    "tables": {"shoulder.tau": ([0, 0.1, 0.1, 0.25], [0, 1.0, -1.0, 0.5]), "elbow.tau": ([0.05, 0.2], [0.0, 1.0])},
    "series": {"elbow.tau": np.sin(20.0 * _output_times(0.0, STOP, STEP))},
}


def row_by_row(system: bough.Mechanism, inputs: dict[str, object], method: str) -> Result:
    times = _output_times(0.0, STOP, STEP)
    schedule = Schedule(system, inputs, times)
    recorder = _Recorder(system, times, schedule)
    fixed = STEP if method == "rk4" else 0.0
    sim = kernel_sim.KernelSim(recorder.data, schedule.loads, method, 1e-6, 0.0, fixed, 0.0)
    sim.start(0.0, *system.initial_state())
    walk = _Walk(sim, schedule, 0.0)
    for i, t in enumerate(times):
        walk.to(float(t))
        recorder.record(i, sim.q, sim.u)
    return recorder.result(times.size, {})


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
@pytest.mark.parametrize("inputs", INPUTS)
def test_rows_recorded_in_c_equal_single_calls_bit_for_bit(inputs: str, method: str) -> None:
    system = bough.Mechanism(MODEL)
    one = bough.simulate(system, STOP, INPUTS[inputs], STEP, method=method)
    other = row_by_row(system, dict(INPUTS[inputs]), method)
    assert len(one) == 301
    for name in one.names:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_rows_that_do_not_fit_are_refused() -> None:
    system = bough.Mechanism(MODEL)
    times = _output_times(0.0, STOP, STEP)
    schedule = Schedule(system, {"shoulder.tau": 1.0}, times)
    recorder = _Recorder(system, times, schedule)
    good = schedule.linear
    wild = kernel_sim.LinearInputs(good.knots, good.places + 1000, good.values, good.slopes)
    sim = kernel_sim.KernelSim(recorder.data, schedule.loads, "dopri5", 1e-6, 0.0, 0.0, 0.0)
    sim.start(0.0, *system.initial_state())
    with pytest.raises(kernel.KernelError, match="null pointer|out of range"):
        sim.record(times, wild, recorder.nodes, recorder.store, lambda _: None)
