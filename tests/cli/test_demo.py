"""The demonstration leaves what it promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import bough
from bough.cli import app
from bough.demo import MODEL, simulate_arm


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    done = CliRunner().invoke(app, ["demo", "-o", str(folder)])
    assert done.exit_code == 0, done.output
    for path in folder.iterdir():
        assert path.name in done.stdout, "the user is told of every file"
    return folder


def test_demo_leaves_model_result_pictures_and_report(folder: Path) -> None:
    pictures = {"overview", "joint_angles", "tip_deflection", "modal_amplitudes", "energy_balance"}
    names = {f"{p}.png" for p in pictures} | {"model.yaml", "torques.csv", "run.csv", "run.html"}
    assert {p.name for p in folder.iterdir()} == names
    for picture in pictures:
        assert (folder / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "model.yaml").read_text(encoding="utf-8") == MODEL.read_text(encoding="utf-8")


def test_demo_can_be_repeated_by_hand(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "again.csv"
    arguments = ["run", folder / "model.yaml", "--stop", 4, "--input", folder / "torques.csv", "-o", target]
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    again, first = bough.Result.from_csv(target), bough.Result.from_csv(folder / "run.csv")
    for name in ("shoulder.phi", "elbow.phi", "payload.origin.r[1]"):
        # Torques are linear between the table's rows, 5 ms apart: off by tau'' h^2 / 8 = 3e-4 N.m on 2 kg.m^2
        assert np.interp(3.0, again.t, again[name]) == pytest.approx(np.interp(3.0, first.t, first[name]), abs=1e-3)


def test_energy_of_the_arm_is_the_work_done_on_it() -> None:
    run = simulate_arm()
    # The account is kept by splines through rows 2 ms apart, whose error at 70 Hz is 1e-8 of the power.
    assert run.balance_error < 1e-7 * run.work.max()
    assert 0.05 < max(abs(series).max() for series in run.deflection.values()) < 0.2, "the deflection is visible"
