"""The whole demonstration in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bough.demo.arm import JOINTS, MODEL
from bough.demo.drive import MODEL_PACKAGE, MODEL_SYSTEM, PACKAGE, SYSTEM, DriveRun, pack_drive, run_drive
from bough.demo.pictures import draw_all
from bough.errors import SimulationError
from bough.geometry import animate
from bough.report import Series, write_page
from bough.retrace import energy_series


def run_demo(
    folder: str | os.PathLike[str], progress: Callable[[float], None] | None = None
) -> tuple[DriveRun, DriveRun, dict[Path, str]]:
    """Build the arm, its motors and two controllers as FMUs, run them, and leave everything in a folder.

    Args:
        folder: Made if it is not there.
        progress: Called now and then with the fraction of the simulation done.

    Returns:
        The run with a controller for each joint, that with the model inside, and what each file written is.

    Raises:
        SimulationError: The folder or a file in it cannot be written, or FMPy is missing.
    """
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for source, name in ((MODEL, "model"), (SYSTEM, "system"), (MODEL_SYSTEM, "system_model")):
            (target / f"{name}.yaml").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
        pack_drive(target)
    except OSError as error:
        raise SimulationError(f"cannot write to {target}: {error.strerror}") from None
    halves = (None, None) if progress is None else (lambda x: progress(0.5 * x), lambda x: progress(0.5 + 0.5 * x))
    run = run_drive(target / PACKAGE, target / "model.yaml", halves[0])
    calm = run_drive(target / MODEL_PACKAGE, target / "model.yaml", halves[1])
    run.whole.to_csv(target / "run.csv")
    calm.whole.to_csv(target / "run_model.csv")
    pictures = draw_all(run, target)
    scene = animate(run.system, run.whole, prefix="arm.", trails=["payload.origin"], title="The arm in motion")
    write_page(run.whole, target / "run.html", "Two-link flexible arm on its motors", scene, _series(run, calm))
    written = {
        target / "model.yaml": "the arm, yours to edit",
        target / "system.yaml": "the system: arm, motors, controller",
        target / "arm.fmu": "the arm for any tool with FMI 2; Linux, Windows, macOS",
        target / "motor.fmu": "amplifiers and motors",
        target / "controller.fmu": "the controller",
        target / PACKAGE: "all three, connected, for any tool with SSP",
        target / "system_model.yaml": "the same with a controller that has a model of the arm inside",
        target / MODEL_PACKAGE: "these three, connected",
        target / "run.csv": "every variable over time",
        target / "run_model.csv": "the same, with the model inside the controller",
        target / "run.html": "the report with the arm in motion, for a browser",
    }
    return run, calm, written | dict.fromkeys(pictures, "picture")


def _series(run: DriveRun, calm: DriveRun) -> list[Series]:
    """Both controllers compared; energy, effort and errors of the run that is shown, for the report."""
    energy = energy_series(run.system, run.result)
    whole = run.whole
    effort = {joint: whole[f"motor.power[{i}]"] for i, joint in enumerate(JOINTS, 1)}
    errors = {joint: np.degrees(run.result[f"{joint}.phi"] - run.plan[joint]) for joint in JOINTS}
    bends = {f"{link} link": 1e3 * run.deflection[link] for link in run.deflection}
    late = run.result.t >= run.move[1]
    missed = {"a controller for each joint": 1e3 * run.miss[late], "a model inside": 1e3 * calm.miss[late]}
    return [
        Series("Payload after the move: how far from where it is to rest", "mm", missed, run.result.t[late]),
        Series("Joint errors", "deg", errors),
        Series("Tip deflection of each link", "mm", bends),
        Series(energy.title, energy.unit, {**energy.curves, "work of the motors": run.work, "lost": run.loss}),
        Series("Effort: power of the motors", "W", effort),
    ]
