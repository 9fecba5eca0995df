"""What is attacked: FMUs unpacked, with the environment that the C programs want, and the seeds of each target."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from fmu.models import system, unpack
from fuzz.programs import Program
from kernel.make_blocks import blocks
from partners import built

from bough.partners import KINDS
from bough.partners.quantity import variable_table

REGRESSIONS = Path(__file__).parent / "regressions"
MECHANISMS = ("arm", "flyer")
ASAN = "detect_leaks=1:allocator_may_return_null=1"


@dataclass(frozen=True)
class Subject:
    """An FMU unpacked for one FMI version, as the environment of the C programs."""

    resources: Path
    environment: dict[str, str]


def subject(name: str, fmi: str, folder: Path) -> Subject:
    """Unpack a mechanism of tests/fmu or a kind of partner, for FMI "2" or "3"."""
    folder.mkdir(parents=True, exist_ok=True)
    states = 0
    if name in KINDS:
        partner = built.described(name)
        fmu = built.unpack(partner, f"{fmi}.0", folder)
        inputs = [v.causality == "input" for v in variable_table(partner)]
    else:
        fmu = unpack(system(name), f"{fmi}.0", folder)
        known = {v.name for v in system(name).variables if v.causality == "input"}
        inputs = [n in known for n in fmu.references]
        states = sum(n.startswith("der(") for n in fmu.references)
    own = {
        "BOUGH_RESOURCES": str(fmu.resources),
        "BOUGH_TOKEN": fmu.token,
        "BOUGH_STATES": str(states),
        "BOUGH_INPUTS": "".join("01"[i] for i in inputs),
        "ASAN_OPTIONS": ASAN,
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    return Subject(fmu.resources, {**os.environ, **own})


def subjects_of(program: Program) -> tuple[str, ...]:
    """Names of the FMUs that a program can be run on."""
    return tuple(KINDS) if program.partner else MECHANISMS if program.fmi else ("",)


def write_seeds(program: Program, name: str, of: Subject | None, folder: Path, programs: Path) -> Path:
    """Inputs to begin with, made from models as they are written today: no stored file grows old with the format."""
    folder.mkdir(parents=True, exist_ok=True)
    if program.source == "block":
        for model, data in blocks().items():
            (folder / model).write_bytes(data)
    elif program.source == "resource" and of is not None:
        (folder / name).write_bytes((of.resources / "model.bough").read_bytes())
    elif program.source == "state" and of is not None:
        environment = of.environment | {"BOUGH_SEEDS": str(folder)}
        subprocess.run([str(programs / program.name)], env=environment, check=True, capture_output=True)
    elif program.source == "calls":
        # forward to a run, a step, values, a snapshot there and back; a life until its end; event handling
        lives = [
            [28, 0, 0, 13, 3, 1, 2, 3],
            [28, 24, 0, 0, 0, 1, 0, 2, 24, 1, 0],
            [28, 6, 7, 4, 0],
            [4, 0, 0, 5, 8, 9, 10],
        ]
        for i, life in enumerate(lives):
            (folder / str(i)).write_bytes(bytes([29, 0, 59, 2, *life * 3]))
    return folder
