"""Every example runs as its folder shows it, and gives the numbers it always gave."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bough

from .make_golden import COLUMNS, EXAMPLES, HERE, excerpt, script

NAMES = sorted(COLUMNS)


def test_every_example_has_its_parts() -> None:
    folders = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir() and not path.name.startswith((".", "_")))
    assert folders == NAMES
    for name in NAMES:
        found = {path.name for path in (EXAMPLES / name).iterdir()}
        assert {"model.yaml", "run.py", "README.md", f"{name}.png"} <= found
        assert (EXAMPLES / name / f"{name}.png").stat().st_size < 200_000, "pictures are small"


@pytest.mark.parametrize("name", NAMES)
def test_example_gives_its_golden_numbers(name: str) -> None:
    golden = bough.Result.from_csv(HERE / "golden" / f"{name}.csv")
    result = excerpt(name, script(name).simulate())
    assert np.array_equal(result.t, golden.t)
    for column in golden.names:
        # The examples integrate with tolerances of 1e-7 and less; CPUs differ in last digits, which moves the steps
        # but keeps each result within its tolerance. Swinging chains stretch differences by about ten.
        size = abs(golden[column]).max()
        assert result[column] == pytest.approx(golden[column], rel=0, abs=2e-6 * size), column


@pytest.mark.parametrize("name", NAMES)
def test_example_script_leaves_its_picture(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / name / "run.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [p.name for p in tmp_path.iterdir()] == [f"{name}.png"]
    assert re.search(r"\d", done.stdout)


def test_pendulum_has_the_period_of_the_closed_form() -> None:
    example = script("pendulum")
    # Relative tolerance 1e-10 per step of the integrator, some hundred steps per period.
    assert example.period(example.simulate()) == pytest.approx(example.PERIOD, rel=1e-8)


def test_free_flyer_keeps_its_momentum() -> None:
    example = script("free_flyer")
    linear, angular = example.momenta(example.simulate(step=0.5))
    # Wheel and hub exchange 25 N.m.s; relative tolerance 1e-10.
    assert abs(angular - [0.0, 0.2, 0.0]).max() < 25e-9
    assert abs(linear).max() < 25e-9


def test_ruthless_error_of_the_chain_is_of_first_order_in_the_deflection() -> None:
    model = bough.load(EXAMPLES / "flexible_chain" / "model.yaml")
    apart = []
    for stiffer in (4.0, 16.0):
        bodies = tuple(
            body.model_copy(update={"beam": body.beam.model_copy(update={"material": material})})
            for body in model.bodies[:5]
            if body.beam and (material := body.beam.material.model_copy(update={"E": stiffer * body.beam.material.E}))
        )
        tips = []
        for fidelity in ("full", "ruthless"):
            chain = model.model_copy(update={"bodies": bodies, "fidelity": fidelity, "outputs": ("link5.tip",)})
            result = bough.simulate(chain, stop=0.5, step=0.05, rtol=1e-7)
            tips.append(np.column_stack([result["link5.tip.r[1]"], result["link5.tip.r[3]"]]))
        apart.append(np.linalg.norm(tips[0] - tips[1], axis=1).max())
    # Four times the stiffness, a quarter of the deflection, a quarter of the error; the rest is of second order.
    assert apart[0] / apart[1] == pytest.approx(4.0, rel=0.1)
