"""Worst cases for real time: time and instructions of each single communication step of FMUs.

`python -m benchmarks.worst [--steps N] [--instructions N]` prints a table of docs/speed.md. An exchange sets inputs,
takes a step of a millisecond and reads outputs. Times depend on who else uses the machine; instructions, counted by
valgrind's callgrind for each exchange by itself, do not: their spread is the spread of the work.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bough
from benchmarks.ctimer import OUT, ROOT, compiler
from benchmarks.fmu import arm
from benchmarks.report import table
from bough.fmu import build_fmu
from bough.fmu.package import native_platform

H = 1e-3
METHODS = {"rk4": 0, "dopri5": 1}


@dataclass(frozen=True)
class Case:
    """A model, how it is driven, what is read.

    Attributes:
        title: Its name in the table.
        model: The model.
        inputs: Inputs, which swing with `size`, N.m or N.
        outputs: Outputs that are read.
        size: Amplitude of the inputs.
        method: Of the solver.
        step: Of the solver, s; zero: its default.
    """

    title: str
    model: dict[str, Any] | Path
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    size: float
    method: str = "rk4"
    step: float = 5e-4


def dry_arm() -> dict[str, Any]:
    """The seven hinges with friction in each, and stops that throw back at two of them."""
    model = arm()
    for k, body in enumerate(model["bodies"]):
        body["hinge"]["friction"] = {"coulomb": 0.3, "static": 0.4, "stribeck": 0.05}
        if k in (0, 3):
            body["hinge"]["limits"] = {"lower": -0.02, "upper": 0.02, "restitution": 0.5}
    return model


def cases() -> list[Case]:
    """What the table shows."""
    hinges = tuple(f"h{k}.tau" for k in range(1, 8))
    angles = tuple(f"h{k}.phi" for k in range(1, 8))
    examples = ROOT / "examples"
    return [
        Case(
            "two-link arm",
            examples / "two_link_arm" / "model.yaml",
            ("shoulder.tau", "elbow.tau"),
            ("shoulder.phi",),
            1.0,
        ),
        Case("7 hinges, two links of 4 modes", arm(), hinges, angles, 2.0),
        Case("the same, solver's step 0.25 ms", arm(), hinges, angles, 2.0, step=2.5e-4),
        Case("the same by `dopri5`", arm(), hinges, angles, 2.0, "dopri5", 0.0),
        Case("slider-crank, a loop", examples / "slider_crank" / "model.yaml", ("main.tau",), ("main.phi",), 5.0),
        Case("7 hinges with friction, 2 stops", dry_arm(), hinges, angles, 2.0),
    ]


def program() -> Path:
    """The C program, compiled."""
    spec = importlib.util.find_spec("fmpy")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("fmpy")
    headers = Path(spec.submodule_search_locations[0]) / "c-code"
    OUT.mkdir(parents=True, exist_ok=True)
    target = OUT / "step_timer"
    source = Path(__file__).with_name("step_timer.c")
    command = [
        *compiler(),
        "-O2",
        "-g",
        "-std=gnu99",
        "-isystem",
        str(headers),
        str(source),
        "-ldl",
        "-lm",
        "-o",
        str(target),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the step timer does not compile:\n{done.stderr}")
    return target


def command(case: Case, folder: Path) -> list[str]:
    """Build the FMU of a case and tell the program what to do with it; the number of steps is the sixth word."""
    from fmpy import read_model_description

    fmu = folder / "case.fmu"
    build_fmu(bough.load(case.model), fmu, platforms="native")
    unpacked = folder / "unpacked"
    zipfile.ZipFile(fmu).extractall(unpacked)
    description = read_model_description(str(fmu))
    reference = {v.name: str(v.valueReference) for v in description.modelVariables}
    binary = next((unpacked / "binaries").glob("linux64/*" if "x86_64" in native_platform() else "*/*"))
    words = [
        str(program()),
        str(binary),
        (unpacked / "resources").as_uri(),
        description.guid,
        repr(H),
        "0",
        repr(case.size),
    ]
    words += [reference["solver.method"], str(METHODS[case.method]), reference["solver.step"], repr(case.step)]
    return [*words, *(reference[n] for n in case.inputs), "--", *(reference[n] for n in case.outputs)]


def times(words: list[str], steps: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Microseconds of every exchange: on the clock, and computed."""
    out = subprocess.run([*words[:5], str(steps), *words[6:]], capture_output=True, text=True, check=True).stdout
    both = 1e-3 * np.array(out.split(), dtype=float).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def instructions(words: list[str], steps: int, folder: Path) -> NDArray[np.int64]:
    """Instructions of every exchange, (steps,)."""
    counts = folder / "counts"
    counts.mkdir()
    valgrind = ["valgrind", "--tool=callgrind", "--toggle-collect=exchange", "--dump-after=exchange"]
    valgrind += [f"--callgrind-out-file={counts / 'c'}", "-q"]
    subprocess.run([*valgrind, *words[:5], str(steps), *words[6:]], capture_output=True, check=True)
    found = {}
    for path in counts.glob("c.*"):
        text = path.read_text(encoding="utf-8", errors="replace")
        total = re.search(r"^(?:totals|summary): (\d+)", text, re.M)
        if total and int(total[1]):
            found[int(path.suffix[1:])] = int(total[1])
    return np.array([found[k] for k in sorted(found)])[:steps]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worst")
    parser.add_argument("--steps", type=int, default=20000, help="exchanges that are timed")
    parser.add_argument("--instructions", type=int, default=400, help="exchanges whose instructions are counted")
    args = parser.parse_args()
    rows = []
    for case in cases():
        with tempfile.TemporaryDirectory() as name:
            words = command(case, Path(name))
            wall, cpu = times(words, args.steps)
            work = instructions(words, args.instructions, Path(name)) / 1000.0
        p50, p99 = np.percentile(cpu, [50, 99])
        at = [f"{x:.1f}" for x in (p50, p99, cpu.max(), wall.max())]
        rows.append(
            [case.title, case.method, *at, f"{np.median(work):.1f}", f"{work[1:].min():.1f} to {work[1:].max():.1f}"]
        )
        print(rows[-1], flush=True)
    head = ["model", "method", "p50", "p99", "worst", "worst on the clock", "thousand instructions", "least to most"]
    print(table(head, rows))


if __name__ == "__main__":
    main()
