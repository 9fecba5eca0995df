"""Models of these tests, and their FMUs unpacked for this machine."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from fmu.fmi import Fmu
from small_models import ARM, FLYER, LINKAGE

import bough
from bough.fmu.package import find_binary, fmu_files, native_platform
from bough.mechanism.variable_table import scalar_table

VERSIONS = ("2.0", "3.0")
MODELS = {"arm": ARM, "flyer": FLYER, "linkage": LINKAGE}


@cache
def system(name: str) -> bough.Mechanism:
    """A model, compiled."""
    return bough.Mechanism(MODELS[name])


def references(of: bough.Mechanism) -> dict[str, int]:
    """Value references by name."""
    return {v.name: i for i, v in enumerate(scalar_table(of))}


def unpack(of: bough.Mechanism, fmi: str, folder: Path, platform: str | None = None) -> Fmu:
    """Write a model's FMU into a folder as a master unpacks it."""
    platform = native_platform() if platform is None else platform
    files = fmu_files(of, fmi)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    library = folder / "binaries" / f"{of.model.name}{'.dll' if 'windows' in platform else '.so'}"
    library.parent.mkdir(exist_ok=True)
    library.write_bytes(find_binary(platform, fmi))
    found = re.search(r'(?:guid|instantiationToken)="([^"]+)"', files["modelDescription.xml"].decode())
    assert found is not None
    return Fmu(fmi, folder, library, found[1], references(of))
