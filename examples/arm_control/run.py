"""A flexible arm under two controllers: one for each joint, and one with a model of the arm inside."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import bough
from bough.demo import MODEL_SYSTEM, SYSTEM, DriveRun, pack_drive, run_drive
from bough.report import Curve, Panel, draw_panels
from bough.report.scenes import animate

HERE = Path(__file__).resolve().parent


def drive() -> tuple[DriveRun, DriveRun]:
    """The same slew by both, each three FMUs: arm, motors and controller."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for source, target in ((HERE / "model.yaml", "model"), (SYSTEM, "system"), (MODEL_SYSTEM, "system_model")):
            shutil.copyfile(source, folder / f"{target}.yaml")
        pack_drive(folder, platforms="native")
        joint, model = (run_drive(folder / f"arm_drive{end}.ssp", folder / "model.yaml") for end in ("", "_model"))
    return joint, model


def simulate() -> bough.Result:
    """Both runs in one table, `joint.` and `model.` before the names of the variables."""
    runs = dict(zip(("joint", "model"), drive(), strict=True))
    columns = {f"{key}.{name}": run.whole[name] for key, run in runs.items() for name in run.whole.names}
    return bough.Result(runs["joint"].whole.t, columns)


def main(folder: Path = HERE) -> None:
    """Run, compare, draw."""
    joint, model = drive()
    ratio = joint.vibration / model.vibration
    print(f"after the move the payload swings by {1e3 * joint.vibration:.0f} mm with a controller for each joint,")
    print(f"and by {1e3 * model.vibration:.1f} mm with a model inside: {ratio:.0f} times less, in the same time")
    largest = [max(abs(run.whole[f"motor.tau[{i}]"]).max() for i in (1, 2)) for run in (joint, model)]
    print(f"largest torque: {largest[0]:.1f} N.m and {largest[1]:.1f} N.m")
    both = (("joint", joint), ("model", model))
    panels = [
        Panel("Distance of the payload from its goal", "m", [Curve(name, run.miss) for name, run in both]),
        Panel("Angle of the shoulder", "rad", [Curve(name, run.result["shoulder.phi"]) for name, run in both]),
        Panel("Torque of the shoulder", "N.m", [Curve(name, run.whole["motor.tau[1]"]) for name, run in both]),
        Panel("Deflection of the lower link", "mm", [Curve(name, 1e3 * run.deflection["lower"]) for name, run in both]),
    ]
    motion = animate(model.system, model.result, title="With the model inside,")
    draw_panels(joint.result.t, panels, folder / "arm_control.png", motion)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
