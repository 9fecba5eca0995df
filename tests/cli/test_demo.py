"""The demonstration leaves what it promises."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np
import pytest
from house.chromium import open_page
from typer.testing import CliRunner

import bough
from bough.cli import app
from bough.demo import MODEL, SYSTEM, run_demo, run_drive, simulate_arm
from bough.demo.arm import LINKS
from bough.demo.pictures import ENERGIES, energy_panels, mode_panels, vibration_panels


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    done = CliRunner().invoke(app, ["demo", "-o", str(folder)])
    assert done.exit_code == 0, done.output
    told = [line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith("  ")]
    meanings = {words[0]: words[1] for words in told if len(words) == 2}
    names = [path.name for path in folder.iterdir()]
    assert set(names) <= set(meanings), "the user is told of every file"
    assert len({meanings[name] for name in names}) == len(names), "and what each of them is"
    return folder


def test_demo_leaves_models_fmus_result_pictures_and_report(folder: Path) -> None:
    pictures = {
        "overview",
        "joint_angles",
        "tip_deflection",
        "modal_amplitudes",
        "energy_balance",
        "residual_vibration",
    }
    names = {f"{p}.png" for p in pictures} | {"model.yaml", "system.yaml", "run.csv", "run.html"}
    names |= {"arm.fmu", "motor.fmu", "controller.fmu", "arm_drive.ssp"}
    names |= {"system_model.yaml", "arm_drive_model.ssp", "run_model.csv"}
    names |= {"run.csv-metadata.json", "run_model.csv-metadata.json"}
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


def test_report_of_the_demo_says_each_thing_once(folder: Path) -> None:
    page = (folder / "run.html").read_text(encoding="utf-8")
    headings = [each.strip() for each in re.findall(r"<h2>([^<]*)", page)]
    assert len(headings) == len(set(headings))
    assert headings[:4] == [
        "The arm in motion",
        "controller: angle, reference and actual",
        "controller: error, reference minus measured",
        "controller: angular speed, reference and actual",
    ]
    assert {"Power", "Hinge torques", "Modal amplitudes"} <= set(headings)
    assert not {"Torques", "Other variables", "Joint errors", "Inertias"} & set(headings), "repeats, or no news"
    units = dict(re.findall(r"<h2>([^<]*) <small>([^<]*)", page))
    assert "deg" not in units.values(), "angles have one unit in the whole page"
    captions = re.findall(r'<p class="caption">([^<]*)', page)
    assert any("65536 counts" in caption for caption in captions), "why the accelerations look rough"


def test_pictures_of_the_demo_fill_a_slide(folder: Path) -> None:
    for path in folder.glob("*.png"):
        width, height = struct.unpack(">II", path.read_bytes()[16:24])
        assert width >= 1600, path.name
        assert height >= 600, path.name


def test_drawing_counts_as_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []
    seen: list[float] = []
    monkeypatch.setattr("bough.demo.show.write_page", lambda *a, **k: seen.append(told[-1]))
    run_demo(tmp_path, told.append)
    assert told == sorted(told)
    assert 0.8 < seen[0] < 0.98, "the report is still to be drawn"
    assert told[-1] == 1.0


def test_picture_of_the_headline_shows_both_controllers(folder: Path) -> None:
    runs = [run_drive(folder / name, folder / "model.yaml") for name in ("arm_drive.ssp", "arm_drive_model.ssp")]
    panel = vibration_panels(*runs)[0]
    assert [curve.label for curve in panel.curves] == [
        f"{name}: {1e3 * run.vibration:.3g} mm"
        for name, run in zip(("a controller for each joint", "a model of the arm inside"), runs, strict=True)
    ]
    for curve, run in zip(panel.curves, runs, strict=True):
        assert np.array_equal(curve.y, 1e3 * run.miss)


def test_modes_in_the_picture_add_up_to_the_deflection() -> None:
    run = simulate_arm()
    for link in LINKS:
        panels = mode_panels(run, link)
        total = sum(curve.y for panel in panels for curve in panel.curves)
        assert total == pytest.approx(1e3 * run.deflection[link], abs=1e-9)
        assert [len(panel.curves) for panel in panels] == [1, 2], "the small ones have an axis of their own"


def test_error_of_the_energy_has_a_unit_that_suits_it() -> None:
    run = simulate_arm()
    label, curve = (panel := energy_panels(run)[1]).label, panel.curves[0]
    scale = dict(ENERGIES)[label.removeprefix("error, ")]
    assert abs(curve.y).max() == pytest.approx(scale * run.balance_error)
    assert 1.0 <= abs(curve.y).max() < 1000.0
    assert panel.caption


def test_energy_of_the_arm_is_the_work_done_on_it() -> None:
    run = simulate_arm()
    # The account is kept by splines through rows 2 ms apart, whose error at 70 Hz is 1e-8 of the power.
    assert run.balance_error < 1e-7 * run.work.max()
    assert 0.05 < max(abs(series).max() for series in run.deflection.values()) < 0.2, "the deflection is visible"
