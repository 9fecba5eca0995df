"""The demonstration: a two-link flexible arm on its motors, three FMUs from model file to moving pictures."""

from bough.demo.arm import MODEL, ArmRun, simulate_arm
from bough.demo.drive import SYSTEM, DriveRun, run_drive
from bough.demo.pictures import draw_overview
from bough.demo.show import run_demo

__all__ = ["MODEL", "SYSTEM", "ArmRun", "DriveRun", "draw_overview", "run_demo", "run_drive", "simulate_arm"]
