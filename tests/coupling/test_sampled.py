"""Error control and samples: steps end where a sample is taken, and its jump is no error."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from coupling.parts import DRIVEN, RIGID

from bough.coupling import couple, run

SAMPLE = 0.004


@pytest.fixture
def sampled(tmp_path: Path) -> Path:
    """Arm, motor and a controller that samples every 4 ms; its motion takes 0.2 s."""
    (tmp_path / "arm.yaml").write_text(json.dumps(RIGID), encoding="utf-8")
    data = {
        "bough_system": 1,
        "name": "drive",
        "components": {
            "arm": {"model": str(tmp_path / "arm.yaml"), "set": {"solver.tolerance": 1e-9}},
            "motor": {"partner": "motor", "set": {"L": 0.002}},
            "controller": {"partner": "controller", "set": {"sample": SAMPLE, "kp": 20, "kd": 1, "phi_end": 0.5}},
        },
        "connections": [
            *DRIVEN,
            "motor.armature -> arm.shoulder.armature",
        ],
        "master": {"step": SAMPLE, "stop": 0.2},
    }
    couple(data, tmp_path / "drive.ssp", platforms="native")
    return tmp_path / "drive.ssp"


def test_error_control_lands_on_the_samples(sampled: Path) -> None:
    """Few steps are taken back, and the error of the angle is below what was asked for.

    Across a sample the whole step and its halves would see different commands. The control would then look for the
    jump: a third of the steps taken back, and a hundred times the error, 1.3e-3.
    """
    fine = run(sampled, step=SAMPLE / 64, every=640, extrapolation="linear")
    result = run(sampled, step=0.04, tolerance=1e-4, extrapolation="linear")
    assert result.t.tolist() == fine.t.tolist()
    phi, expected = result["arm.shoulder.phi"], fine["arm.shoulder.phi"]
    assert np.abs(phi - expected).max() < 1e-4 * np.abs(expected).max()
    assert result.statistics["rejected"] < 0.1 * result.statistics["steps"]
    assert result.statistics["steps"] < 10 * 0.2 / SAMPLE


def test_communication_steps_longer_than_a_sample_do_not_matter_to_error_control(sampled: Path) -> None:
    """Steps end at the samples whatever the grid of the result: they are the same ones, to rounding."""
    one = run(sampled, step=0.04, tolerance=1e-5, extrapolation="linear")
    two = run(sampled, step=SAMPLE, tolerance=1e-5, extrapolation="linear", every=10)
    np.testing.assert_allclose(one["controller.u"], two["controller.u"], atol=1e-9 * np.abs(two["controller.u"]).max())
