"""Systems of FMUs: coupled by a system file, packed as SSP, run by a master of our own."""

from bough.systems.couple import couple
from bough.systems.gather import gather
from bough.systems.package import open_package
from bough.systems.run import run
from bough.systems.structure import Assembly, Component, Link, Master

__all__ = ["Assembly", "Component", "Link", "Master", "couple", "gather", "open_package", "run"]
