"""Values that a run is given: one for all elements of a name, and parameters that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coupling.conftest import drive
from coupling.parts import MOTOR
from coupling.test_commands import invoke

import bough
from bough.coupling import couple, run

Writer = Callable[[dict[str, Any]], Path]


@pytest.mark.parametrize("packed", [True, False], ids=["package", "system file"])
def test_parameter_of_a_connection_follows_what_the_run_sets(
    parts: Path, written: Writer, tmp_path: Path, packed: bool
) -> None:
    """J and N of the motor make another armature, and the run is that of a motor built with them."""
    path = written(drive(parts))
    if packed:
        couple(path, tmp_path / "drive.ssp")
        path = tmp_path / "drive.ssp"
    changed = {"motor.J": 0.01, "motor.N": 3.0}
    found = run(path, 0.2, values=changed)
    armature = 0.01 * 3.0**2
    expected = run(path, 0.2, values={**changed, "arm.shoulder.armature": armature})
    assert found["motor.armature"][0] == pytest.approx(armature)
    np.testing.assert_allclose(found["arm.shoulder.w"], expected["arm.shoulder.w"], rtol=1e-12)
    kept = run(path, 0.2, values={**changed, "arm.shoulder.armature": MOTOR["J"] * MOTOR["N"] ** 2})
    assert np.abs(found["arm.shoulder.w"] - kept["arm.shoulder.w"]).max() > 0.01


def test_parameter_of_a_scaled_connection_follows_with_its_factor(parts: Path, tmp_path: Path) -> None:
    wires: list[Any] = drive(parts)["connections"][:2]
    wires.append({"from": "motor.armature", "to": "arm.shoulder.armature", "factor": 4.0, "offset": 0.5})
    couple(drive(parts, connections=wires), tmp_path / "x.ssp")
    found = run(tmp_path / "x.ssp", 0.2, values={"motor.J": 0.01})
    given = {"motor.J": 0.01, "arm.shoulder.armature": 4.0 * 0.01 * MOTOR["N"] ** 2 + 0.5}
    expected = run(tmp_path / "x.ssp", 0.2, values=given)
    np.testing.assert_allclose(found["arm.shoulder.w"], expected["arm.shoulder.w"], rtol=1e-12)


@pytest.fixture(scope="module")
def motors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two motors in one component, the second of them at a voltage."""
    path = tmp_path_factory.mktemp("motors") / "motors.ssp"
    values = {"L": 0, "Kb": 0, "R": 0.5, "u": 1}
    parts = {"motor": {"partner": "motor", "axes": 2, "set": values}}
    couple({"bough_system": 1, "name": "motors", "components": parts}, path, platforms="native")
    return path


@pytest.mark.parametrize(
    ("values", "currents"),
    [
        ({"motor.R": 0.25}, [4.0, 4.0]),
        ({"motor.R": 0.25, "motor.R[2]": 1.0}, [4.0, 1.0]),
        ({"motor.R[2]": 1.0, "motor.R": 0.25}, [4.0, 1.0]),
        ({"motor.u": 2.0}, [4.0, 4.0]),
    ],
)
def test_value_without_an_index_sets_all_elements_but_those_with_their_own(
    motors: Path, tmp_path: Path, values: dict[str, float], currents: list[float]
) -> None:
    found = run(motors, 1e-3, values=values)
    assert [found[f"motor.i[{i}]"][0] for i in (1, 2)] == currents
    settings = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
    done = invoke("run", motors, "--stop", 1e-3, "-o", tmp_path / "run.csv", *settings)
    assert done.exit_code == 0, done.stderr
    told = bough.Result.from_csv(tmp_path / "run.csv")
    assert [told[f"motor.i[{i}]"][0] for i in (1, 2)] == currents


def test_wrong_index_is_told_with_those_there_are(motors: Path) -> None:
    with pytest.raises(bough.SimulationError, match=r"has no 'R\[3\]'; it has elements: motor\.R\[1\], motor\.R\[2\]"):
        run(motors, values={"motor.R[3]": 1.0})
    with pytest.raises(bough.SimulationError, match=r"motor\.R is -1.0; expected at least 1e-06 Ohm"):
        run(motors, values={"motor.R": -1.0})


def test_index_of_what_has_none_is_told(driven: Path) -> None:
    with pytest.raises(bough.SimulationError, match=r"has no 'R\[1\]'; it has no index: motor\.R"):
        run(driven, values={"motor.R[1]": 1.0})


def test_input_from_a_file_and_a_value_for_all_elements_are_given_twice(motors: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("time,motor.u[2]\n0,0\n1,3\n", encoding="utf-8")
    done = invoke("run", motors, "--input", tmp_path / "in.csv", "--set", "motor.u=1", "-o", tmp_path / "run.csv")
    assert done.exit_code == 2 and "motor.u[2] is given twice" in done.stderr
