"""`bough build`: a model as an FMU."""

from __future__ import annotations

import time
import zipfile
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from bough.cli.console import answer, guarded, say
from bough.cli.options import Fmi, FmiVersion, Json, ModelFile, Platform
from bough.cli.summary import warn_of_oddities
from bough.errors import BoughError
from bough.flex import load
from bough.fmu import build_fmu
from bough.fmu.package import FOLDERS, NARROW, narrow_cure, native_platform
from bough.model.named_files import check_target


class Runtime(str, Enum):
    """What an FMU computes with."""

    native = "native"
    python = "python"
    source = "source"


@guarded
def build(
    model: ModelFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="X.fmu", help="The FMU; .fmu is added if missing.", show_default="NAME.fmu here"
        ),
    ] = None,
    fmi: FmiVersion = Fmi.two,
    platform: Platform = None,
    runtime: Annotated[
        Runtime, typer.Option("--runtime", help="Compiled code, a Python slave, or C sources.")
    ] = Runtime.native,
    arrays: Annotated[bool, typer.Option("--arrays", help="FMI 3.0: h.w[1], h.w[2]... become one array h.w.")] = False,
    sources: Annotated[bool, typer.Option("--sources", help="C sources beside the binaries.")] = False,
    author: Annotated[str, typer.Option("--author", help="Who made the model.", show_default=False)] = "",
    model_version: Annotated[
        str, typer.Option("--model-version", help="Version of the model.", show_default=False)
    ] = "",
    as_json: Json = False,
) -> None:
    """Write a model as an FMU, for Co-Simulation and Model Exchange."""
    began = time.perf_counter()
    if arrays and fmi is Fmi.two:
        raise typer.BadParameter("FMI 2.0 has no arrays; add --fmi 3.0", param_hint="--arrays")
    if runtime is Runtime.python and fmi is Fmi.three:
        raise typer.BadParameter("the Python runtime is for FMI 2.0 only", param_hint="--runtime")
    if runtime is Runtime.python and sources:
        raise typer.BadParameter("the Python runtime has no C sources", param_hint="--sources")
    platforms = asked_platforms(platform)
    try:
        checked = load(model)
        warn_of_oddities(checked, model)
        target = Path(f"{checked.name}.fmu") if output is None else fmu_path(output)
        check_target(target, model)
        made = {"author": author, "version": model_version}
        build_fmu(checked, target, fmi.value, platforms, runtime.value, arrays, **made, sources=sources)
    except BoughError as error:
        if as_json:
            answer({"ok": False, "error": str(error)})
        raise
    seconds = time.perf_counter() - began
    folders, size = packed(target)
    if as_json:
        about = {"ok": True, "output": str(target), "fmi": fmi.value, "runtime": runtime.value}
        answer({**about, "platforms": folders, "bytes": size, "seconds": seconds})
    what = ", ".join(folders) or "C sources"
    say(f"{target}: FMI {fmi.value}, {what}; {size / 1000:.0f} kB in {seconds:.2f} s")


def packed(fmu: Path) -> tuple[list[str], int]:
    """Platforms of an FMU's binaries, and its size in bytes."""
    with zipfile.ZipFile(fmu) as archive:
        folders = sorted({name.split("/")[1] for name in archive.namelist() if name.startswith("binaries/")})
    return folders, fmu.stat().st_size


def fmu_path(path: Path) -> Path:
    """Where an FMU goes: hosts know it by its ending, so that a name without one gets it."""
    return path if path.suffix.lower() == ".fmu" else path.with_name(f"{path.name}.fmu")


def asked_platforms(asked: list[str] | None) -> str | list[str]:
    """As `build_fmu` takes them."""
    known = ("all", "native", *FOLDERS)
    for name in asked or ():
        if name in NARROW:
            text = f"there are no binaries for {name!r}: {narrow_cure('--sources')}"
            raise typer.BadParameter(text, param_hint="--platform")
        if name not in known:
            raise typer.BadParameter(f"there is no platform {name!r}; {', '.join(known)}", param_hint="--platform")
    if not asked or "all" in asked:
        return "all"
    return [native_platform() if name == "native" else name for name in asked]
