"""What tests need from the machine, and how they say so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KERNEL = ROOT / "engine" / "kernel"

IN_CI = os.environ.get("CI") == "true"


def require_tool(name: str) -> str:
    """Return the path of a program. Without it the test skips on a user's machine and fails in CI."""
    path = shutil.which(name)
    if path is None:
        reason = f"{name} is not installed"
        if IN_CI:
            pytest.fail(f"{reason}, and CI must not skip a test")
        pytest.skip(reason)
    return path


def kernel_objects(compile_: Iterable[str], folder: Path, v3: str = "-march=x86-64-v3") -> list[list[str]]:
    """Return the commands that compile every kernel source into `folder`, as the package build does.

    Files named lanes_*.c are compiled once per CPU build, with BOUGH_ISA set.
    """
    is_x86 = hasattr(os, "uname") and os.uname().machine in ("x86_64", "amd64")
    builds = {"base": [], "v3": [v3]} if is_x86 else {"base": []}
    commands = []
    for source in sorted((KERNEL / "src").rglob("*.c")):
        for isa, flags in builds.items() if source.name.startswith("lanes_") else [("", [])]:
            out = folder / f"{source.stem}{isa}.o"
            define = [f"-DBOUGH_ISA={isa}"] if isa else []
            include = [f"-I{KERNEL / 'include'}", f"-I{KERNEL / 'src'}"]
            commands.append(
                [
                    *compile_,
                    "-std=c99",
                    *flags,
                    *define,
                    *include,
                    "-c",
                    str(source),
                    "-o",
                    str(out),
                ]
            )
    return commands
