"""An FMU's log says when a flexible body leaves the limits of its modes: once, as a warning, and the run goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fmu.fmi import OK, Fmu, Instance
from fmu.models import unpack
from small_models import beam, body, hinge, model

import bough

WARNING = 1
ROD = {"shape": "rectangle", "width": 0.02, "height": 0.02}
ROTOR = model(
    "rotor",
    body("blade", "ground", hinge("revolute", "hub", [0, 0, 1]), beam=beam(2.0, {"bending_y": 2, "bending_z": 2}, ROD)),
)


@pytest.fixture
def rotor(fmi: str, tmp_path: Path) -> Fmu:
    return unpack(bough.Mechanism(ROTOR), fmi, tmp_path)


def told(it: Instance) -> list[str]:
    return [m.text for m in it.messages if (m.status, m.category) == (WARNING, "logStatusWarning")]


@pytest.mark.parametrize("logging", [False, True])
def test_co_simulation_warns_once_and_goes_on(rotor: Fmu, logging: bool) -> None:
    with Instance(rotor, logging=logging) as it:
        it.initialize({"hub.w": 4.0})
        assert it.step(0.01) == it.step(0.01) == OK
        assert len(told(it)) == 1
        assert "body 'blade' turns at 4 rad/s at t = 0 s" in told(it)[0]
        assert "Cure: geometric_stiffening: true." in told(it)[0]
        it.must("Reset")
        it.time = 0.0
        it.initialize({"hub.w": 1.0})
        assert it.step(0.01) == OK
        assert len(told(it)) == 1
        it.set({"hub.tau": 1e4})  # on the way, too
        assert it.step(0.05) == OK
        assert len(told(it)) > 1


def test_model_exchange_warns_when_a_step_is_kept(rotor: Fmu) -> None:
    with Instance(rotor, "me") as it:
        it.initialize({"hub.w": 1.0})
        it.to_continuous()
        x = it.states()
        x[list(bough.Mechanism(ROTOR).q_names).__len__()] = 4.0  # the first speed: the hub's
        it.set_states(x)
        it.rates()
        assert told(it) == []
        flags = np.zeros(2, dtype=np.intc) if not it.new else np.zeros(2, dtype=np.bool_)
        one = 1 if not it.new else True
        it.must("CompletedIntegratorStep", one, flags.ctypes.data, flags.ctypes.data + flags.itemsize)
        assert len(told(it)) == 1
