"""The demonstration: a two-link flexible arm, from its model file to pictures."""

from bough.demo.arm import MODEL, ArmRun, simulate_arm
from bough.demo.pictures import draw_overview
from bough.demo.show import run_demo

__all__ = ["MODEL", "ArmRun", "draw_overview", "run_demo", "simulate_arm"]
