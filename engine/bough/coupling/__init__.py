"""Systems of FMUs: coupled by a system file, packed as SSP, run by a master of our own."""

from bough.coupling.assembly import Assembly, Component, Link, Master
from bough.coupling.couple import couple
from bough.coupling.gather import gather
from bough.coupling.planned import Plan, plan
from bough.coupling.recognize import is_system_file
from bough.coupling.run_system import open_system, run
from bough.coupling.ssp import open_package
from bough.coupling.system_file import system_schema
from bough.coupling.system_sweep import sweep_system
from bough.run.result import Interrupted

__all__ = [
    "Assembly",
    "Component",
    "Interrupted",
    "Link",
    "Master",
    "Plan",
    "couple",
    "gather",
    "is_system_file",
    "open_package",
    "open_system",
    "plan",
    "run",
    "sweep_system",
    "system_schema",
]
