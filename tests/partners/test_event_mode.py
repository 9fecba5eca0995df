"""Sampled controllers in FMI 3: steps end at samples, which are taken in event mode; numbers stay the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi3 import FMU3Slave

from bough.partners import build_partner

SAMPLE = 0.01
GAINS = {"kp": 20.0, "ki": 5.0, "kd": 1.0, "sample": SAMPLE, "phi_end": 1.0, "t_move": 0.5, "tacho": 1}


class Host:
    """An FMU of a controller in FMPy, with event mode or without."""

    def __init__(self, path: Path, folder: Path, events: bool) -> None:
        about = fmpy.read_model_description(str(path))
        self.events = events
        self.vr = {v.name: v.valueReference for v in about.modelVariables}
        fmpy.extract(str(path), str(folder))
        self.fmu = FMU3Slave(
            guid=about.guid, unzipDirectory=str(folder), modelIdentifier=about.coSimulation.modelIdentifier
        )
        self.fmu.instantiate(eventModeUsed=events, earlyReturnAllowed=events)
        self.fmu.enterInitializationMode(startTime=0.0)
        self.fmu.exitInitializationMode()

    def set(self, **values: float) -> None:
        self.fmu.setFloat64([self.vr[n] for n in values], list(values.values()))

    def get(self, *names: str) -> list[float]:
        found: list[float] = self.fmu.getFloat64([self.vr[n] for n in names])
        return found


def measured(t: float) -> dict[str, float]:
    return {"phi": 0.3 * np.sin(3.0 * t), "w": 0.9 * np.cos(3.0 * t)}


@pytest.fixture
def controller(tmp_path: Path) -> Path:
    return build_partner("controller", tmp_path / "c.fmu", values=GAINS, fmi="3.0", platforms="native")


def test_description_offers_event_mode_to_sampled_partners_only(controller: Path, tmp_path: Path) -> None:
    about = fmpy.read_model_description(str(controller), validate=True).coSimulation
    assert about.hasEventMode and about.mightReturnEarlyFromDoStep
    motor = fmpy.read_model_description(str(build_partner("motor", tmp_path / "m.fmu", fmi="3.0", platforms="native")))
    assert not motor.coSimulation.hasEventMode
    with pytest.raises(Exception, match="[Ii]nstantiate"):
        Host(tmp_path / "m.fmu", tmp_path / "m", events=True)


def test_a_long_step_returns_at_the_next_sample_and_says_so(controller: Path, tmp_path: Path) -> None:
    it = Host(controller, tmp_path / "it", events=True)
    for k in range(5):
        it.set(**measured(k * SAMPLE))
        again, ended, _, _, defined, time = it.fmu.updateDiscreteStates()
        assert (again, ended, defined) == (False, False, True) and time == pytest.approx((k + 1) * SAMPLE, rel=1e-14)
        it.fmu.enterStepMode()
        event, ended, early, last = it.fmu.doStep(k * SAMPLE, 1.0)
        assert (event, ended, early) == (True, False, True) and last == time
        it.fmu.enterEventMode()
    it.fmu.updateDiscreteStates()
    it.fmu.enterStepMode()
    event, _, early, last = it.fmu.doStep(5 * SAMPLE, 0.3 * SAMPLE)  # shorter than to the next sample
    assert (event, early) == (False, False) and last == pytest.approx(5.3 * SAMPLE)


def test_outputs_are_those_of_a_host_that_steps_from_sample_to_sample(controller: Path, tmp_path: Path) -> None:
    seen: dict[bool, list[Any]] = {}
    for events in (True, False):
        it, rows = Host(controller, tmp_path / f"it{events}", events), []
        for k in range(20):
            t = k * SAMPLE
            it.set(**measured(t))
            if events:
                it.fmu.updateDiscreteStates()
                rows.append(it.get("u", "e", "phi_ref"))
                it.fmu.enterStepMode()
            else:
                rows.append(it.get("u", "e", "phi_ref"))
            it.fmu.doStep(t, SAMPLE)
            if events:
                it.fmu.enterEventMode()
        seen[events] = rows
    assert seen[True] == seen[False] and len({row[0] for row in seen[True]}) > 10


def test_between_samples_outputs_are_held_whatever_the_inputs_do(controller: Path, tmp_path: Path) -> None:
    it = Host(controller, tmp_path / "it", events=True)
    it.set(**measured(0.0))
    it.fmu.updateDiscreteStates()
    held = it.get("u")
    it.fmu.enterStepMode()
    it.set(phi=0.7)
    assert it.get("u") == held
    it.fmu.doStep(0.0, SAMPLE / 2)
    assert it.get("u") == held


def test_a_state_in_event_mode_is_saved_and_restored(controller: Path, tmp_path: Path) -> None:
    it = Host(controller, tmp_path / "it", events=True)
    it.set(**measured(0.0))
    state = it.fmu.getFMUState()
    it.fmu.updateDiscreteStates()
    first = it.get("u", "e")
    it.fmu.enterStepMode()
    it.fmu.setFMUState(state)
    it.fmu.updateDiscreteStates()
    assert it.get("u", "e") == first
    it.fmu.freeFMUState(state)
