"""A run tells how far it is, warns when it stands still, and can be stopped by whoever is told."""

from __future__ import annotations

import os
import re
import signal
import threading
import warnings
from collections.abc import Iterator

import pytest
from run.test_inputs import cart

from bough.errors import ProgressWarning
from bough.run.pulse import INTERVAL, PATIENCE, Pulse
from bough.run.result import Interrupted, Result
from bough.run.simulate import simulate
from bough.run.studies import Plan, SweepInterrupted, sweep


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_progress_is_told_ten_times_a_second_at_most() -> None:
    clock, told = Clock(), list[float]()
    pulse = Pulse(1.0, 3.0, told.append, clock)
    for k in range(1001):
        clock.now = 1e-3 * k
        pulse.beat(1.0 + 2e-3 * k, lambda: 0)
    assert 9 <= len(told) <= 10 and told == sorted(told)
    assert told[-1] == pytest.approx(1.0, abs=2 * INTERVAL)
    pulse.tell(5.0)
    assert told[-1] == 1.0, "an integrator may be ahead of the last row"


@pytest.mark.parametrize("step", [0.0, 1e-12])
def test_run_that_stands_still_is_told_with_time_and_step(step: float) -> None:
    clock = Clock()
    pulse = Pulse(0.0, 10.0, None, clock)
    with pytest.warns(ProgressWarning) as caught:
        for k in range(4001):
            clock.now = 0.05 * k
            pulse.beat(1.5 + k * step * 100, lambda k=k: 100 * k if step else 0)  # type: ignore[misc]
    texts = [str(each.message) for each in caught]
    assert len(texts) == 4, "after 10, 30, 70 and 150 s of 200: not a line every ten seconds"
    assert all("hardly any progress at t = 1.5" in text and "rosenbrock2" in text for text in texts)
    told = "steps of 1e-12 s; the rest would take" if step else "without one step accepted; it stands"
    assert all(told in text for text in texts[1:])


def test_slow_run_that_will_end_is_left_in_peace() -> None:
    clock = Clock()
    pulse = Pulse(0.0, 10.0, None, clock)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(10_000):
            clock.now = 1.0 * k
            pulse.beat(2e-4 * k, lambda k=k: k)  # type: ignore[misc]
    assert PATIENCE < 10_000


def test_simulate_warns_without_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("INTERVAL", "PATIENCE", "HOPELESS"):
        monkeypatch.setattr(f"bough.run.pulse.{name}", 0.0)
    with pytest.warns(ProgressWarning) as caught:
        simulate(cart(), 1.0, inputs={"rail.f": 1.0}, step=0.1, method="rk4")
    told = re.compile(r"hardly any progress at t = [\d.]+ s: .*, in \d+ steps of [\d.e-]+ s; the rest would take")
    assert any(told.match(str(each.message)) for each in caught)


def test_whoever_is_told_can_stop_the_run() -> None:
    def stop(fraction: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        simulate(cart(), 1e8, step=100.0, progress=stop)
    rows = caught.value.result
    assert 0 < len(rows) < 1e6 and rows.t[-1] == 100.0 * (len(rows) - 1)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("jobs", [1, 3])
def test_interrupted_sweep_has_the_runs_that_ended(jobs: int, ctrl_c: None) -> None:
    kept: list[int] = []

    def keep(number: int, result: Result) -> None:
        kept.append(number)
        if len(kept) == 5:
            os.kill(os.getpid(), signal.SIGINT)

    points = [{"rail.f": float(k)} for k in range(5000)]
    with pytest.raises(SweepInterrupted) as caught:
        sweep(cart(), points, Plan(1.0, 0.1), jobs=jobs, keep=keep)
    ended = [outcome.number for outcome in caught.value.sweep.outcomes]
    assert sorted(kept) == ended and 5 <= len(ended) < 5000
    assert sorted([*ended, *caught.value.missing]) == list(range(1, 5001))
    assert str(caught.value) == f"interrupted: {len(ended)} of 5000 runs are done"
    for outcome in caught.value.sweep.outcomes:
        assert outcome.ok and outcome.settings == points[outcome.number - 1]


def test_interrupted_sweep_does_not_wait_for_the_runs_under_way(ctrl_c: None) -> None:
    timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(SweepInterrupted) as caught:  # one such run takes many minutes
        sweep(cart(), [{"rail.f": 1.0}, {"rail.f": 2.0}], Plan(1e8, 100.0), jobs=2)
    timer.join()
    assert caught.value.sweep.outcomes == () and caught.value.missing == (1, 2)
