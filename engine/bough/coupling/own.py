"""Which FMUs run bough's own code: only these share the process of their master unless asked to."""

from __future__ import annotations

from pathlib import Path

from bough.coupling.assembly import Interface
from bough.coupling.fmu_interface import fmpy
from bough.errors import BuildError
from bough.fmu.package import find_binary, native_platform


def library(folder: Path, interface: Interface) -> Path:
    """The file that FMPy loads, of an FMU unpacked to a folder."""
    package = fmpy()
    place = package.platform if interface.fmi == 2 else package.platform_tuple
    return folder / "binaries" / str(place) / (interface.identifier + str(package.sharedLibraryExtension))


def is_own(folder: Path, interface: Interface) -> bool:
    """Whether the binary of an unpacked FMU is, byte for byte, one that this installation of bough puts into FMUs.

    What the FMU says of itself does not count: anybody can write the name of a tool.
    """
    try:
        found = library(folder, interface).read_bytes()
        return found == find_binary(native_platform(), f"{interface.fmi}.0")
    except (OSError, BuildError):
        return False
