"""FMUs that run in Python: pythonfmu's binary, and a slave over `bough` that users may change."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from pathlib import Path

from bough._build_info import VERSION
from bough.errors import BuildError
from bough.fmu.installed import source_folder

BINARIES = {
    "x86_64-linux": ("linux64/libpythonfmu-export.so", "linux64", ".so"),
    "x86_64-windows": ("win64/pythonfmu-export.dll", "win64", ".dll"),
}
"""What pythonfmu has, by platform tuple: its file, and folder and extension in the FMU."""


NEEDS = """\
What this FMU needs on the machine that runs it
===============================================

- A host program that runs Python itself, such as FMPy. The FMU's library takes the functions of Python from its host;
  other hosts cannot load it.
- In that Python: the package bough, version {version} or a later one that reads its model ("pip install bough"), which
  brings numpy and scipy.
- Linux or Windows on x86-64, where the library of pythonfmu is at home.

The package pythonfmu itself is not needed: its Python files travel in resources/pythonfmu.
"""
"""documentation/externalDependencies.txt, which the standards ask for where an FMU does not stand alone."""


def python_platforms(platforms: Sequence[str], all_of_them: bool) -> list[str]:
    """Platforms of an FMU in Python.

    Args:
        platforms: Tuples that were asked for.
        all_of_them: Whether they came by "all": then those that pythonfmu has.

    Raises:
        BuildError: One was asked for that pythonfmu does not have.
    """
    for name in platforms:
        if name not in BINARIES and not all_of_them:
            raise BuildError(
                f"runtime='python' runs on {' and '.join(BINARIES)} only, where pythonfmu has binaries, not on {name}. "
                "Leave that platform out, or build a native FMU: runtime='native'."
            )
    return [name for name in BINARIES if name in platforms]


def python_files(
    files: Mapping[str, bytes], model: str, platforms: Sequence[str], source: str = "slave.py"
) -> dict[str, bytes]:
    """The files of a native FMU, binaries left out, made into one that runs in Python.

    Args:
        files: As `fmu_files` gives them, with a modelDescription.xml for Python.
        model: The model's name.
        platforms: Tuples, keys of `BINARIES`.
        source: File of the slave, in `fmu_src/python`.

    Raises:
        BuildError: pythonfmu is missing, or has another layout than the one known here.
    """
    package = _pythonfmu()
    out = dict(files)
    module = f"{model}_slave"
    slave = source_folder("python") / source
    out[f"resources/{module}.py"] = slave.read_bytes()
    out["resources/slavemodule.txt"] = module.encode()
    # The slave's base class travels along: the host needs bough, not pythonfmu.
    for file in sorted(package.glob("*.py")):
        out[f"resources/pythonfmu/{file.name}"] = file.read_bytes()
    out["licenses/pythonfmu.txt"] = _licence()
    out["documentation/externalDependencies.txt"] = NEEDS.format(version=VERSION).encode()
    for name in platforms:
        file_, folder, extension = BINARIES[name]
        binary = package / "resources" / "binaries" / file_
        if not binary.is_file():
            raise BuildError(f"pythonfmu has no {file_}: install a later one: pip install --upgrade 'pythonfmu>=0.7'")
        out[f"binaries/{folder}/{model}{extension}"] = binary.read_bytes()
    return out


def _pythonfmu() -> Path:
    """The folder of the installed package; not of a copy that an FMU in this process has brought along."""
    try:
        folder = Path(str(importlib.metadata.distribution("pythonfmu").locate_file("pythonfmu")))
    except importlib.metadata.PackageNotFoundError:
        raise BuildError("runtime='python' needs the package pythonfmu. Install it: pip install pythonfmu") from None
    return folder


def _licence() -> bytes:
    for file in importlib.metadata.files("pythonfmu") or []:
        if file.name == "LICENSE":
            return file.read_text(encoding="utf-8").encode()
    raise BuildError(
        "pythonfmu is installed without its LICENSE file: install it anew: pip install --force-reinstall pythonfmu"
    )
