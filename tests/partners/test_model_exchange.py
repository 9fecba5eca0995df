"""Controllers in Model Exchange: samples are time events; with CVODE a mechanism moves as in Co-Simulation."""

from __future__ import annotations

import ctypes as c
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.sundials import CVodeSolver
from fmpy.validation import validate_fmu
from fmu import models
from fmu.fmi import DISCARD, ERROR, OK, EventInfo2, Instance, pointer
from partners.built import VERSIONS, described, unpack

import bough
from bough.partners import build_partner

SAMPLE = 0.01
GAINS = {"output": "torque", "kp": 40.0, "ki": 15.0, "kd": 6.0, "sample": SAMPLE, "tacho": 1, "u_max": 60.0}
MOVE = {"phi_end": 1.0, "t_move": 0.3}
ARM: dict[str, Any] = {
    "bough": 1,
    "name": "arm",
    "gravity": [0, -9.81, 0],
    "bodies": [
        {
            "name": "upper",
            "parent": "ground",
            "hinge": {"name": "shoulder", "type": "revolute", "axis": [0, 0, 1]},
            "rigid": {"mass": 2.0, "com": [0.3, 0, 0], "inertia": [0.01, 0.06, 0.06, 0, 0, 0]},
        }
    ],
}


def update(it: Instance) -> float | None:
    """Event iteration; when the next event is, s."""
    if it.new:
        flags, time = (c.c_bool * 5)(), c.c_double(-1.0)
        it.must("UpdateDiscreteStates", *(c.addressof(flags) + i for i in range(5)), c.addressof(time))
        assert not flags[0] and not flags[1]
        return time.value if flags[4] else None
    info = EventInfo2()
    it.must("NewDiscreteStates", c.addressof(info))
    assert not info.again and not info.terminate
    return float(info.time) if info.defined else None


def started(it: Instance) -> Instance:
    """In event mode."""
    return it.initialize()


def integrate(plant: Instance, begin: float, end: float) -> None:
    """The plant's states by CVODE, from one event to the next."""
    x = plant.states()
    n = x.size

    def get_x(px: Any, count: int) -> None:
        np.ctypeslib.as_array(px, (count,))[:] = plant.states()

    def set_x(px: Any, count: int) -> None:
        plant.set_states(np.ctypeslib.as_array(px, (count,)).copy())

    def get_dx(pdx: Any, count: int) -> None:
        np.ctypeslib.as_array(pdx, (count,))[:] = plant.rates()

    def nominals(p: Any, count: int) -> None:
        np.ctypeslib.as_array(p, (count,))[:] = 1.0

    class Still:
        def apply(self, time: float, **_: Any) -> None:
            """Torques are held."""

    def set_time(time: float) -> None:
        plant.must("SetTime", time)

    solver = CVodeSolver(
        n, 0, get_x, set_x, get_dx, lambda *_: None, nominals, set_time, Still(), begin, relativeTolerance=1e-10
    )
    solver.step(begin, end)
    set_time(end)
    plant.must("CompletedIntegratorStep", *_completed(plant))


def _completed(plant: Instance) -> list[Any]:
    flags = (c.c_int * 2)()
    return [1, c.addressof(flags), c.addressof(flags) + 4]


@pytest.mark.parametrize("fmi", VERSIONS)
def test_a_coupled_run_with_cvode_equals_that_of_cosimulation(fmi: str, tmp_path: Path) -> None:
    """CVODE lands on every sample because the controller says when it is; Co-Simulation steps from sample to sample."""
    system, controller = bough.Mechanism(ARM), described("controller", **GAINS, **MOVE)
    (tmp_path / "plant").mkdir()
    plants, laws = models.unpack(system, fmi, tmp_path / "plant"), unpack(controller, fmi, tmp_path / "law")
    names, count = ["shoulder.phi", "shoulder.w"], 60
    seen: dict[str, list[list[float]]] = {"me": [], "cs": []}
    with Instance(plants, "me") as plant, Instance(laws, "me") as law:
        started(plant), started(law)
        update(plant)
        plant.must("EnterContinuousTimeMode")
        time = 0.0
        for _ in range(count):
            phi, w = plant.get(names)
            law.set({"phi": phi, "w": w})
            after = update(law)
            assert after == pytest.approx(time + SAMPLE, rel=1e-12)
            assert after is not None
            torque = float(law.get(["u"])[0])
            law.must("EnterContinuousTimeMode")
            plant.set({"shoulder.tau": torque})
            seen["me"].append([phi, w, torque])
            integrate(plant, time, after)
            law.must("SetTime", after)
            assert law.get(["u"])[0] == torque  # held
            law.must("EnterEventMode")
            time = after
    with Instance(plants) as plant, Instance(laws) as law:
        plant.set({"solver.tolerance": 1e-10})
        started(plant), started(law)
        for _ in range(count):
            phi, w = plant.get(names)
            law.set({"phi": phi, "w": w})
            torque = float(law.get(["u"])[0])
            plant.set({"shoulder.tau": torque})
            seen["cs"].append([phi, w, torque])
            assert plant.step(SAMPLE) == OK and law.step(SAMPLE) == OK
    exchange, cosimulation = np.array(seen["me"]), np.array(seen["cs"])
    assert cosimulation[:, 0].max() > 0.5
    assert abs(exchange - cosimulation).max() < 1e-6 * abs(cosimulation).max()  # CVODE at 1e-10 each, sixty starts


@pytest.mark.parametrize("fmi", VERSIONS)
@pytest.mark.parametrize("kind", ["controller", "model-controller"])
def test_descriptions_offer_model_exchange_without_states_and_are_valid(kind: str, fmi: str, tmp_path: Path) -> None:
    model = ARM if kind == "model-controller" else None
    values = {} if model else GAINS
    path = build_partner(kind, tmp_path / "c.fmu", values=values, model=model, fmi=fmi, platforms="native")
    assert validate_fmu(str(path)) == []
    about = fmpy.read_model_description(str(path))
    assert about.modelExchange is not None and about.numberOfContinuousStates == 0
    assert not about.modelExchange.providesDirectionalDerivative
    run = fmpy.simulate_fmu(str(path), fmi_type="ModelExchange", stop_time=0.1, output_interval=0.01)
    assert len(run) >= 11
    with pytest.raises(Exception, match=r"(?i)model.?exchange"):
        motor = build_partner("motor", tmp_path / "m.fmu", fmi=fmi, platforms="native")
        fmpy.simulate_fmu(str(motor), fmi_type="ModelExchange", stop_time=0.1)


@pytest.mark.parametrize("fmi", VERSIONS)
def test_samples_are_shown_when_inputs_are_there_and_taken_once(fmi: str, tmp_path: Path) -> None:
    """Outputs of event mode follow its inputs until the update, and are held afterwards whatever the inputs do."""
    with Instance(unpack(described("controller", **GAINS, **MOVE), fmi, tmp_path), "me") as law:
        started(law)
        law.set({"phi": 0.1})
        first = law.get(["u"])[0]
        law.set({"phi": -0.2})
        assert law.get(["u"])[0] != first
        second = law.get(["u"])[0]
        saved = law.state_bytes()
        assert update(law) == pytest.approx(SAMPLE) and law.get(["u"])[0] == second
        law.set({"phi": 0.3})
        assert update(law) == pytest.approx(SAMPLE) and law.get(["u"])[0] == second  # nothing is due
        law.must("EnterContinuousTimeMode")
        law.must("SetTime", 1.3 * SAMPLE)  # a solver looks ahead, and goes back
        ahead = law.state_bytes()
        assert law.resume(ahead) == OK and law.get(["u"])[0] == second
        law.must("SetTime", SAMPLE)
        law.must("EnterEventMode")
        assert update(law) == pytest.approx(2 * SAMPLE) and law.get(["u"])[0] != second
        assert law.resume(saved) == OK and law.get(["u"])[0] == second


@pytest.mark.parametrize("fmi", VERSIONS)
def test_calls_that_do_not_fit_are_refused(fmi: str, tmp_path: Path) -> None:
    nothing, one = np.zeros(0), np.zeros(1)
    with Instance(unpack(described("controller", **GAINS), fmi, tmp_path), "me") as law:
        started(law)
        rates = "GetContinuousStateDerivatives" if law.new else "GetDerivatives"
        assert law.call("GetContinuousStates", pointer(nothing), 0) == OK
        assert law.call(rates, pointer(nothing), 0) == OK and law.call(rates, pointer(one), 1) == ERROR
        assert law.call("GetEventIndicators", pointer(nothing), 0) == OK
        if law.new:
            assert law.call("EnterStepMode") == ERROR
        assert law.step(SAMPLE) == ERROR
        update(law)
        law.must("EnterContinuousTimeMode")
        assert law.try_set({"kp": 1.0}) == ERROR and law.try_set({"phi": float("nan")}) == DISCARD
        assert law.call("SetContinuousStates", pointer(nothing), 0) == OK
