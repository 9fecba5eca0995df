"""The whole demonstration in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from bough.demo.arm import MODEL
from bough.demo.drive import MODEL_PACKAGE, MODEL_SYSTEM, PACKAGE, SYSTEM, DriveRun, pack_drive, run_drive
from bough.demo.pictures import CONTROLLERS, draw_all
from bough.errors import OutputError
from bough.files import check_output, make_folder, write_bytes
from bough.report import Series, write_page
from bough.report.retrace import energy_series
from bough.report.scenes import animate

SOURCES = {"model": MODEL, "system": SYSTEM, "system_model": MODEL_SYSTEM}
WRITTEN = {
    "model.yaml": "the arm, yours to edit",
    "system.yaml": "the system: arm, motors, controller",
    "arm.fmu": "the arm for any tool with FMI 2; Linux, Windows, macOS",
    "motor.fmu": "amplifiers and motors",
    "controller.fmu": "the controller",
    PACKAGE: "all three, connected, for any tool with SSP",
    "system_model.yaml": "the same with a controller that has a model of the arm inside",
    MODEL_PACKAGE: "these three, connected",
    "run.csv": "every variable over time",
    "run.csv-metadata.json": "units of run.csv",
    "run_model.csv": "the same, with the model inside the controller",
    "run_model.csv-metadata.json": "units of run_model.csv",
    "run.html": "the report with the arm in motion, for a browser",
}
"""Files of the demonstration but its pictures, and what they are."""
BUILT, RUN, PICTURE = 0.06, 0.55, 0.06
"""Shares of the time: until the FMUs are built, until both runs are done, and each picture."""
NOTES = {
    "controller: angle, reference and actual": "Angles are in rad here, as in run.csv (0.1 rad is 5.7 deg); "
    "the pictures show degrees.",
    "Hinge angular accelerations": "The fine steps are real: the controller sees the joints through "
    "encoders of 65536 counts a turn, and each count is a step of its command.",
}
"""What a reader of the charts may wonder about."""


def run_demo(
    folder: str | os.PathLike[str],
    progress: Callable[[float], None] | None = None,
    warn: Callable[[str], None] | None = None,
) -> tuple[DriveRun, DriveRun, dict[Path, str]]:
    """Build the arm, its motors and two controllers as FMUs, run them, and leave everything in a folder.

    Args:
        folder: Made if it is not there.
        progress: Called now and then with the fraction of the simulation done.
        warn: Called with each warning of the runs; None: Python's `warnings`.

    Returns:
        The run with a controller for each joint, that with the model inside, and what each file written is.

    Raises:
        SimulationError: The folder or a file in it cannot be written, a model or system file in it was edited, or FMPy
            is missing.
    """
    target = Path(folder)
    _lay_out(target)
    pack_drive(target)
    told = Progress(progress)
    told.reach(BUILT)
    run = run_drive(target / PACKAGE, target / "model.yaml", told.part(BUILT, 0.5 * (BUILT + RUN)), warn)
    calm = run_drive(target / MODEL_PACKAGE, target / "model.yaml", told.part(0.5 * (BUILT + RUN), RUN), warn)
    run.whole.to_csv(target / "run.csv")
    calm.whole.to_csv(target / "run_model.csv")
    told.reach(RUN + PICTURE)
    pictures = draw_all(run, calm, target, lambda: told.add(PICTURE))
    scene = animate(run.system, run.whole, prefix="arm.", trails=["payload.origin"], title="The arm in motion")
    title = "Two-link flexible arm on its motors"
    write_page(run.whole, target / "run.html", title, scene, _series(run, calm), source="run.csv", notes=NOTES)
    told.reach(1.0)
    written = {target / name: meaning for name, meaning in WRITTEN.items()}
    return run, calm, written | pictures


def _lay_out(target: Path) -> None:
    """Make the folder and put model and system files into it.

    Raises:
        OutputError: A file cannot be written, or one of these is somebody's own.
    """
    own = {target / f"{name}.yaml": source.read_bytes() for name, source in SOURCES.items()}
    make_folder(target)
    for path, data in own.items():
        if path.is_file() and path.read_bytes() != data:
            raise OutputError(f"{path} is there and is not the demonstration's: choose another folder, or move it")
    for name in WRITTEN:
        check_output(target / name)
    for path, data in own.items():
        write_bytes(path, data)


class Progress:
    """How much of the demonstration is done: building, running and drawing all count."""

    def __init__(self, tell: Callable[[float], None] | None) -> None:
        """Begin at zero; without anybody to tell, say nothing."""
        self._tell, self._done = tell, 0.0

    def reach(self, fraction: float) -> None:
        """So much is done."""
        self._done = fraction
        if self._tell is not None:
            self._tell(fraction)

    def add(self, fraction: float) -> None:
        """So much more is done."""
        self.reach(self._done + fraction)

    def part(self, begin: float, end: float) -> Callable[[float], None]:
        """For work that counts from 0 to 1 and is one part of the whole."""
        return lambda fraction: self.reach(begin + (end - begin) * fraction)


def _missed(run: DriveRun, calm: DriveRun) -> Series:
    late = run.result.t >= run.move[1]
    missed = {name: 1e3 * each.miss[late] for name, each in zip(CONTROLLERS, (run, calm), strict=True)}
    swing = f"From side to side: {1e3 * run.vibration:.3g} mm, and {1e3 * calm.vibration:.2g} mm with a model inside."
    title = "Payload after the move: how far from where it is to rest"
    return Series(title, "mm", missed, run.result.t[late], swing)


def _series(run: DriveRun, calm: DriveRun) -> list[Series]:
    """Both controllers compared; energy and deflections of the run that is shown, for the report."""
    energy = energy_series(run.system, run.result)
    bends = {f"{link} link": 1e3 * run.deflection[link] for link in run.deflection}
    return [
        _missed(run, calm),
        Series("Tip deflection of each link", "mm", bends),
        Series(energy.title, energy.unit, {**energy.curves, "work of the motors": run.work, "lost": run.loss}),
    ]
