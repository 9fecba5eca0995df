"""The demonstration: a two-link flexible arm on its motors, three FMUs from model file to moving pictures."""

from bough.demo.arm import MODEL, ArmRun, simulate_arm
from bough.demo.drive import MODEL_SYSTEM, SYSTEM, DriveRun, pack_drive, run_drive
from bough.demo.pictures import draw_overview
from bough.demo.show import run_demo

__all__ = [
    "MODEL",
    "MODEL_SYSTEM",
    "SYSTEM",
    "ArmRun",
    "DriveRun",
    "draw_overview",
    "pack_drive",
    "run_demo",
    "run_drive",
    "simulate_arm",
]
