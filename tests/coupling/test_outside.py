"""Inputs from outside: what happens between two communication points is felt, and what is not given stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coupling.parts import MOTOR, J, edited

import bough
from bough.coupling import couple, run
from bough.coupling.outside import Table
from bough.coupling.single import run_fmu
from bough.regression import record

PHI, W = 0.1, 0.5
"""Angle and speed of the arm at the start, rad and rad/s."""
PULSE = (np.array([0.31, 0.31, 0.33, 0.33]), np.array([0.0, 1.0, 1.0, 0.0]))
"""1 N.m for 0.02 s, between two communication points of 0.1 s: 0.02 N.m.s about t = 0.32 s."""
PEAK = (np.array([0.31, 0.32, 0.33]), np.array([0.0, 2.0, 0.0]))
"""As much, as a triangle."""
EQUAL = ('canHandleVariableCommunicationStepSize="true"', 'canHandleVariableCommunicationStepSize="false"')
CLOSE = 1e-6
"""Tolerance of the FMU's solver."""
SHAPES = pytest.mark.parametrize("table", [PULSE, PEAK], ids=["rectangle", "triangle"])


def assert_moved(result: bough.Result, prefix: str = "") -> None:
    """The arm has got 0.02 N.m.s at t = 0.32 s, and is at t = 1 s."""
    gained = 0.02 / J
    assert result[f"{prefix}shoulder.w"][-1] == pytest.approx(W + gained, rel=CLOSE)
    assert result[f"{prefix}shoulder.phi"][-1] == pytest.approx(PHI + W + gained * 0.68, rel=CLOSE)


def system_of(fmu: Path, folder: Path) -> None:
    """Two arms; the acceleration of the one is a torque on the other."""
    wire = {"from": "arm.shoulder.a", "to": "other.shoulder.tau", "factor": 0.1}
    system = {"bough_system": 1, "name": "pair", "components": {"arm": str(fmu), "other": str(fmu)}}
    couple({**system, "connections": [wire], "master": {"step": 0.1, "stop": 1.0}}, folder / "pair.ssp")


@SHAPES
@pytest.mark.parametrize("fmu", ["arm.fmu", "arm3.fmu"])
def test_fmu_feels_a_pulse_between_two_rows(parts: Path, fmu: str, table: Any) -> None:
    result = run_fmu(parts / fmu, 1.0, 0.1, {"shoulder.tau": table})
    assert result.t.tolist() == pytest.approx(np.linspace(0.0, 1.0, 11))
    assert_moved(result)


@SHAPES
@pytest.mark.parametrize("extrapolation", ["constant", "linear"])
def test_component_feels_a_pulse_between_two_communication_points(
    parts: Path, tmp_path: Path, extrapolation: str, table: Any
) -> None:
    system_of(parts / "arm.fmu", tmp_path)
    result = run(tmp_path / "pair.ssp", extrapolation=extrapolation, inputs={"arm.shoulder.tau": table})
    assert len(result) == 11
    assert_moved(result, "arm.")


@SHAPES
def test_fmu_with_equal_steps_feels_the_impulse_and_its_user_is_warned(parts: Path, tmp_path: Path, table: Any) -> None:
    stiff = edited(parts / "arm.fmu", tmp_path / "stiff.fmu", EQUAL)
    told: list[str] = []
    result = run_fmu(stiff, 1.0, 0.1, {"shoulder.tau": table}, warn=told.append)
    assert len(told) == 1 and "equal communication steps only" in told[0] and "shoulder.tau" in told[0]
    assert result["shoulder.w"][-1] == pytest.approx(W + 0.02 / J, rel=CLOSE)
    with pytest.warns(UserWarning, match="equal communication steps only"):
        run_fmu(stiff, 1.0, 0.1, {"shoulder.tau": table})
    run_fmu(stiff, 1.0, 0.01, {"shoulder.tau": table}, warn=told.append)  # its steps end at 0.31, 0.32 and 0.33 s
    assert len(told) == 1


def test_ramp_is_followed_by_an_fmu_that_takes_slopes(parts: Path) -> None:
    """tau = 6 t: w = w0 + 3 t^2 / J, phi = phi0 + w0 t + t^3 / J, whatever the rows are."""
    result = run_fmu(parts / "arm.fmu", 1.0, 0.25, {"shoulder.tau": (np.array([0.0, 1.0]), np.array([0.0, 6.0]))})
    t = result.t
    assert result["shoulder.w"] == pytest.approx(W + 3 * t**2 / J, rel=CLOSE)
    assert result["shoulder.phi"] == pytest.approx(PHI + W * t + t**3 / J, rel=CLOSE)
    assert result["shoulder.a"] == pytest.approx(6 * t / J, rel=CLOSE, abs=CLOSE)


def test_inputs_that_a_table_does_not_name_keep_their_start_values(parts: Path, tmp_path: Path) -> None:
    table = {"w": (np.array([0.0, 1.0]), np.array([0.0, 1.0]))}
    assert set(run_fmu(parts / "motor.fmu", 1.0, 0.1, table)["u"]) == {MOTOR["u"]}
    assert set(run_fmu(parts / "motor.fmu", 1.0, 0.1, table, {"u": 3.0})["u"]) == {3.0}
    file = tmp_path / "w.csv"
    file.write_text("time,w\n0,0\n1,1\n", encoding="utf-8")
    kept = record(parts / "motor.fmu", 1.0, 0.1, path=tmp_path / "motor.reference.csv", input_file=file)
    assert set(kept.result()["u"]) == {MOTOR["u"]}


def test_table_means_what_its_values_say() -> None:
    table = Table(np.array([1.0, 2.0, 2.0, 3.0]), np.array([0.0, 2.0, 6.0, 4.0]), steps=False)
    assert [table(t) for t in (0.0, 1.5, 2.0, 2.5, 9.0)] == [0.0, 1.0, 6.0, 5.0, 4.0]
    assert table.over(1.0, 2.0, held=False) == (0.0, 2.0)  # before the jump
    assert table.over(2.0, 3.0, held=False) == (6.0, 4.0)
    assert table.over(1.5, 2.5, held=False) == (3.5, 3.5)  # 0.75 + 2.75
    assert table.knots == [1.0, 2.0, 3.0]
    switch = Table(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.0]), steps=True)
    assert [switch(t) for t in (0.0, 1.9, 2.0, 2.9, 3.0)] == [0.0, 0.0, 1.0, 1.0, 0.0]
    assert switch.over(1.5, 2.5, held=False) == (0.0, 0.0)


def test_table_that_goes_back_or_is_not_finite_is_refused(parts: Path) -> None:
    for times, values in (([0.0, 2.0, 1.0], [0.0, 1.0, 2.0]), ([0.0, 1.0], [0.0, float("nan")])):
        with pytest.raises(bough.SimulationError, match=r"shoulder\.tau: expected finite values at times"):
            run_fmu(parts / "arm.fmu", 1.0, 0.1, {"shoulder.tau": (np.array(times), np.array(values))})
