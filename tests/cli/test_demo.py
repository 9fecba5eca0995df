"""The demonstration leaves what it promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from house.chromium import open_page
from typer.testing import CliRunner

import bough
from bough.cli import app
from bough.demo import MODEL, SYSTEM, run_drive, simulate_arm


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    done = CliRunner().invoke(app, ["demo", "-o", str(folder)])
    assert done.exit_code == 0, done.output
    for path in folder.iterdir():
        assert path.name in done.stdout, "the user is told of every file"
    return folder


def test_demo_leaves_models_fmus_result_pictures_and_report(folder: Path) -> None:
    pictures = {"overview", "joint_angles", "tip_deflection", "modal_amplitudes", "energy_balance"}
    names = {f"{p}.png" for p in pictures} | {"model.yaml", "system.yaml", "run.csv", "run.html"}
    names |= {"arm.fmu", "motor.fmu", "controller.fmu", "arm_drive.ssp"}
    names |= {"system_model.yaml", "arm_drive_model.ssp", "run_model.csv"}
    assert {p.name for p in folder.iterdir()} == names
    for picture in pictures:
        assert (folder / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "model.yaml").read_text(encoding="utf-8") == MODEL.read_text(encoding="utf-8")
    assert (folder / "system.yaml").read_text(encoding="utf-8") == SYSTEM.read_text(encoding="utf-8")


def test_demo_can_be_repeated_by_hand(folder: Path, tmp_path: Path) -> None:
    package, target = tmp_path / "again.ssp", tmp_path / "again.csv"
    for arguments in (["couple", folder / "system.yaml", "-o", package], ["run", package, "-o", target]):
        done = CliRunner().invoke(app, [str(a) for a in arguments])
        assert done.exit_code == 0, done.output
    again, first = bough.Result.from_csv(target), bough.Result.from_csv(folder / "run.csv")
    for name in ("arm.shoulder.phi", "arm.elbow.phi", "arm.payload.origin.r[1]", "motor.i[1]", "controller.u[2]"):
        assert np.array_equal(again[name], first[name]), "the same FMUs, the same steps"


def test_the_driven_arm_follows_its_reference_and_its_energy_balances(folder: Path) -> None:
    run = run_drive(folder / "arm_drive.ssp", folder / "model.yaml")
    for joint, plan in run.plan.items():
        error = np.abs(run.result[f"{joint}.phi"] - plan)
        assert 0.01 < error.max() < 0.2, "it gives way while it moves"
        assert error[-1] < 0.02
    # The torque that is listed is the one that was held; what is left is the tolerance of the arm's solver, 1e-6.
    assert run.balance_error < 1e-5 * run.work.max()
    assert 0.05 < max(abs(series).max() for series in run.deflection.values()) < 0.2, "the deflection is visible"
    assert run.vibration > 0.5, "the arm swings"
    calm = run_drive(folder / "arm_drive_model.ssp", folder / "model.yaml")
    assert run.vibration > 5.0 * calm.vibration, "at the same slew time"
    assert calm.balance_error < 1e-5 * calm.work.max()


def test_page_of_the_demo_draws_and_plays(folder: Path) -> None:
    """In a browser: the animation moves when it is played, every chart is drawn, nothing is complained of."""
    with open_page(folder / "run.html") as page:
        page.wait("document.getElementById('scene').dataset.frame === '0'")
        page.wait("document.querySelectorAll('.main-svg').length > 10")
        page.evaluate("document.getElementById('scene-play').click()")
        page.wait("Number(document.getElementById('scene').dataset.frame) > 20")
        assert page.errors == []


def test_energy_of_the_arm_is_the_work_done_on_it() -> None:
    run = simulate_arm()
    # The account is kept by splines through rows 2 ms apart, whose error at 70 Hz is 1e-8 of the power.
    assert run.balance_error < 1e-7 * run.work.max()
    assert 0.05 < max(abs(series).max() for series in run.deflection.values()) < 0.2, "the deflection is visible"
