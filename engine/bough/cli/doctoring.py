"""`bough doctor`: what is installed, and what is missing."""

from __future__ import annotations

from typing import Any

import typer

from bough.cli.console import FAILED, answer, guarded
from bough.cli.options import Json
from bough.fmu.doctor import doctor as installed

CPU = {"base": "baseline code of the platform", "v3": "AVX2 and FMA (x86-64-v3)"}
"""Builds of the kernel in words."""


@guarded
def doctor(as_json: Json = False) -> None:
    """Show what is installed: kernel and CPU build, platforms of FMUs, packages and tools, found or missing."""
    found = installed()
    if as_json:
        answer(found)
    else:
        for line in _lines(found):
            typer.echo(line)
    if not found["ok"]:
        raise typer.Exit(FAILED)


def _lines(found: dict[str, Any]) -> list[str]:
    kernel, fmu = found["kernel"], found["fmu"]
    lines = [
        f"bough {found['bough']}, Python {found['python']} on {found['machine']}: {found['executable']}",
        f"kernel    {CPU[kernel['runs']]}; built by {kernel['compiler']} for {kernel['target']}",
    ]
    for fmi, names in fmu["platforms"].items():
        lines.append(f"FMI {fmi}   {', '.join(names) or 'no binaries: `make setup` builds them'}")
    missing = [name for name, version in found["packages"].items() if version is None]
    versions = ", ".join(f"{name} {version}" for name, version in found["packages"].items() if version is not None)
    lines.append(f"packages  {versions}")
    if missing:
        lines.append(f"MISSING   {', '.join(missing)}: `pip install {' '.join(missing)}`")
    lines.append("optional")
    for name, each in found["optional"].items():
        lines.append(f"  {name:25} {each['version'] or 'not installed':15} {each['for']}")
    for name, each in found["tools"].items():
        lines.append(f"  {name:25} {each['path'] or 'not found':15} {each['for']}")
    return lines
