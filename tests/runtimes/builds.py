"""Models and FMUs of these tests."""

from __future__ import annotations

import zipfile
from functools import cache
from pathlib import Path

from house.tools import ROOT
from small_models import RIG

import bough

MADE = {"fe_bracket"}
"""Examples whose script makes the files that their model names: tests/flex/fe/test_chain.py looks after them."""
EXAMPLES = sorted({path.parent.name for path in (ROOT / "examples").glob("*/model.yaml")} - MADE)


def model_file(name: str) -> Path:
    """The model of an example by its folder."""
    return ROOT / "examples" / name / "model.yaml"


@cache
def system_of(name: str) -> bough.Mechanism:
    """An example by its folder, or the rig."""
    return bough.Mechanism(RIG if name == "rig" else model_file(name))


def unpacked(path: Path) -> Path:
    """The folder that an FMU is unpacked to, beside it; once, for a loaded library must not be written over."""
    folder = path.with_suffix("")
    if not folder.is_dir():
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
    return folder
