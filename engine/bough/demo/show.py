"""The whole demonstration in a folder."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bough.demo.arm import JOINTS, MODEL, ArmRun, simulate_arm
from bough.demo.pictures import draw_all
from bough.errors import SimulationError
from bough.report.page import write_page


def run_demo(
    folder: str | os.PathLike[str], progress: Callable[[float], None] | None = None
) -> tuple[ArmRun, dict[Path, str]]:
    """Simulate the arm and leave model, inputs, results, pictures and report in a folder.

    Args:
        folder: Made if it is not there.
        progress: Called now and then with the fraction of the simulation done.

    Returns:
        The run, and what each file written is.

    Raises:
        SimulationError: The folder or a file in it cannot be written.
    """
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        (target / "model.yaml").write_text(MODEL.read_text(encoding="utf-8"), encoding="utf-8")
    except OSError as error:
        raise SimulationError(f"cannot write to {target}: {error.strerror}") from None
    run = simulate_arm(progress=progress)
    _write_torques(run, target / "torques.csv")
    run.result.to_csv(target / "run.csv")
    pictures = draw_all(run, target)
    write_page(run.result, target / "run.html", "Two-link flexible arm")
    written = {
        target / "model.yaml": "the model, yours to edit",
        target / "torques.csv": "the joint torques, as `bough run --input` takes them",
        target / "run.csv": "every variable over time",
        target / "run.html": "the report, for a browser",
    }
    return run, written | dict.fromkeys(pictures, "picture")


def _write_torques(run: ArmRun, path: Path) -> None:
    times, torques = run.torques
    try:
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["time", *(f"{joint}.tau" for joint in JOINTS)])
            for row in np.column_stack([times, *(torques[joint] for joint in JOINTS)]).tolist():
                writer.writerow([repr(x) for x in row])
    except OSError as error:
        raise SimulationError(f"cannot write {path}: {error.strerror}") from None
