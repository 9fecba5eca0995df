from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coupling.parts import FILTER, GAIN, MOTOR, RIGID, SPRING, slave

from bough import build_fmu
from bough.coupling import couple
from bough.partners import build_partner

Coupler = Callable[..., Path]


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of FMUs: arm.fmu, arm3.fmu (FMI 3), motor.fmu, motor3.fmu, Spring.fmu, Gain.fmu, Filter.fmu."""
    folder = tmp_path_factory.mktemp("parts")
    build_fmu(RIGID, folder / "arm.fmu", platforms="native")
    build_fmu(RIGID, folder / "arm3.fmu", fmi="3.0", platforms="native")
    build_partner("motor", folder / "motor.fmu", values=MOTOR, platforms="native")
    build_partner("motor", folder / "motor3.fmu", values=MOTOR, fmi="3.0", platforms="native")
    for text in (SPRING, GAIN, FILTER):
        slave(text, folder)
    return folder


def drive(parts: Path, **changes: Any) -> dict[str, Any]:
    """Arm and motor at a torque/speed port."""
    data: dict[str, Any] = {
        "bough_system": 1,
        "name": "drive",
        "components": {"arm": str(parts / "arm.fmu"), "motor": str(parts / "motor.fmu")},
        "connections": [
            "motor.tau -> arm.shoulder.tau",
            "arm.shoulder.w -> motor.w",
            "motor.armature -> arm.shoulder.armature",
        ],
        "set": {"arm.solver.tolerance": 1e-11, "motor.u": 2.0},
        "master": {"step": 0.01, "stop": 0.8},
    }
    data = copy.deepcopy(data)
    data.update(changes)
    return data


@pytest.fixture
def written(tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    """A system file of some content."""

    def write(data: dict[str, Any]) -> Path:
        path = tmp_path / "system.yaml"
        path.write_text(json.dumps(data, indent=1), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def driven(parts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of arm and motor."""
    path = tmp_path_factory.mktemp("driven") / "drive.ssp"
    couple(drive(parts), path)
    return path
