"""Systems of FMUs: coupled by a system file, packed as SSP, run by a master of our own."""

from bough.result import Interrupted
from bough.systems.couple import couple
from bough.systems.file import system_schema
from bough.systems.gather import gather
from bough.systems.package import open_package
from bough.systems.recognize import is_system_file
from bough.systems.run import open_system, run
from bough.systems.structure import Assembly, Component, Link, Master

__all__ = [
    "Assembly",
    "Component",
    "Interrupted",
    "Link",
    "Master",
    "couple",
    "gather",
    "is_system_file",
    "open_package",
    "open_system",
    "run",
    "system_schema",
]
