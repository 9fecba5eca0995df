"""What is installed: the kernel and the code that it runs on this machine, FMU binaries, other packages, tools."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import sys
from typing import Any

from bough._build_info import COMPILER, ISAS, TARGET, VERSION
from bough.errors import BuildError
from bough.fmu.package import FOLDERS, find_binary, native_platform
from bough.mechanism.mechanism import Mechanism

NEEDED = ("fmpy", "matplotlib", "numpy", "orjson", "pandas", "pillow", "plotly", "pydantic", "rich", "ruamel.yaml",
          "scipy", "typer")  # fmt: skip
"""Packages that come with bough."""
OPTIONAL = {
    "pyarrow": "results as .parquet",
    "pythonfmu": "FMUs with --runtime python",
    "pyNastran": "Nastran's .op2 files",
    "gmsh": "meshes of the finite-element example",
    "fmu-manipulation-toolbox": "`bough couple --container`",
    "casadi": "optimal control with FMUs",
}
"""Packages that some things need, and which."""
TOOLS = {"ccx": "CalculiX, to make finite-element data", "cc": "a C compiler, for --runtime source"}
"""Programs that go well with bough."""
_PROBE = {"bough": 1, "name": "probe", "bodies": [{"name": "box", "parent": "ground", "hinge": {"type": "free"},
          "rigid": {"mass": 1.0, "inertia": [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]}}]}  # fmt: skip


def doctor() -> dict[str, Any]:
    """What is installed and what is missing, as `bough doctor --json` writes it.

    Returns:
        `ok`: whether everything that bough needs is there. `bough`, `python`, `machine`; `kernel` with its compiler and
        the instruction set that runs on this CPU; `fmu` with the platforms whose binaries are there, for each FMI
        version; `packages` and `optional` with their versions, None if missing; `tools` with their places, None if
        missing.

    Example:
        >>> import bough
        >>> bough.doctor()["kernel"]["runs"] in ("base", "v3")
        True
    """
    isa = ISAS[Mechanism(_PROBE)._data.isa]
    packages = {name: _version(name) for name in NEEDED}
    binaries = {fmi: [name for name in FOLDERS if _has_binary(name, fmi)] for fmi in ("2.0", "3.0")}
    return {
        "ok": None not in packages.values() and all(_native() in names for names in binaries.values()),
        "bough": VERSION,
        "python": platform.python_version(),
        "executable": sys.executable,
        "machine": _native() or f"{platform.machine()}-{platform.system().lower()}",
        "kernel": {"compiler": COMPILER, "target": TARGET, "builds": list(ISAS), "runs": isa},
        "fmu": {"platforms": binaries, "missing": sorted({*FOLDERS} - ({*binaries["2.0"]} & {*binaries["3.0"]}))},
        "packages": packages,
        "optional": {name: {"version": _version(name), "for": why} for name, why in OPTIONAL.items()},
        "tools": {name: {"path": shutil.which(name), "for": why} for name, why in TOOLS.items()},
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _native() -> str:
    """The platform tuple of this machine; empty if there are no binaries for its kind."""
    try:
        return native_platform()
    except BuildError:
        return ""


def _has_binary(name: str, fmi: str) -> bool:
    try:
        return bool(find_binary(name, fmi))
    except BuildError:
        return False
