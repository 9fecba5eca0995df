"""Fixed cost for real time: nothing is allocated after initialization, and rk4 evaluates equally often in each step."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fmu.fmi import Fmu
from house.tools import ROOT, require_tool
from partners.built import described, unpack
from partners.loop import SLEW
from runtimes.builds import unpacked

import bough
from bough.demo import MODEL
from bough.mechanism.instance import Instance
from bough.mechanism.resource import resource
from bough.mechanism.variable_table import scalar_table

sys.path.insert(0, str(ROOT))
from benchmarks import worst

SOURCE = Path(__file__).parent / "c" / "steady.c"


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("steady") / "steady"
    command = [require_tool("gcc"), "-O1", "-rdynamic", str(SOURCE), "-o", str(program), "-ldl", "-lm"]
    subprocess.run(command, check=True)
    return program


def mechanism(folder: Path) -> Fmu:
    """The two-link arm's FMU, unpacked."""
    path = bough.build_fmu(MODEL, folder / "arm.fmu", platforms="native")
    there = unpacked(path)
    library = next(there.glob("binaries/*/*.so"))
    text = (there / "modelDescription.xml").read_text(encoding="utf-8")
    guid = text.split('guid="')[1].split('"')[0]
    names = [v.name for v in scalar_table(bough.Mechanism(MODEL))]
    return Fmu("2.0", there, library, guid, {name: i for i, name in enumerate(names)})


def allocations(program: Path, fmu: Fmu, inputs: list[str], values: list[str], outputs: list[str]) -> tuple[int, float]:
    """In 2000 steps of a millisecond; and the first output at their end."""
    r = fmu.references
    words = [str(r[name]) for name in inputs] + ["--"]
    words += [f"{r[text.split('=')[0]]}={text.split('=')[1]}" for text in values] + ["--"]
    words += [str(r[name]) for name in outputs]
    location = (fmu.folder / "resources").as_uri()
    done = subprocess.run(
        [program, fmu.library, location, fmu.token, "0.001", "2000", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    number, value = done.stdout.split()
    return int(number), float(value)


@pytest.mark.parametrize("method", [0, 1, 2])
def test_mechanism_allocates_nothing_after_initialization(steady: Path, tmp_path: Path, method: int) -> None:
    """By each method: rk4 with a step of its own, dopri5, rosenbrock2."""
    values = [f"solver.method=i{method}"] + (["solver.step=r0.0005"] if method == 0 else [])
    found, moved = allocations(
        steady, mechanism(tmp_path), ["shoulder.tau", "elbow.tau"], values, ["shoulder.phi", "payload.origin.r[1]"]
    )
    assert found == 0 and moved != -0.6


@pytest.mark.parametrize("law", ["state", "acceleration"])
def test_model_controller_allocates_nothing_after_initialization(steady: Path, tmp_path: Path, law: str) -> None:
    fmu = unpack(described("model-controller", law=law, **SLEW), "2.0", tmp_path)
    found, torque = allocations(steady, fmu, ["phi[1]", "phi[2]", "w[1]", "w[2]"], [], ["tau[1]", "tau[2]"])
    assert found == 0 and torque != 0.0


def test_program_counts_allocations(steady: Path, tmp_path: Path) -> None:
    """An FMU that saved its state at each step would be found: the program counts calls of the library."""
    text = SOURCE.read_text(encoding="utf-8").replace("counting = 1;\n", "counting = 1; free(malloc(8));\n", 1)
    (tmp_path / "s.c").write_text(text, encoding="utf-8")
    command = [require_tool("gcc"), "-O0", "-rdynamic", str(tmp_path / "s.c"), "-o", str(tmp_path / "s"), "-ldl", "-lm"]
    subprocess.run(command, check=True)
    found, _ = allocations(tmp_path / "s", mechanism(tmp_path), ["shoulder.tau"], [], ["shoulder.phi"])
    assert found == 2


def test_every_step_of_rk4_evaluates_equally_often() -> None:
    """Inputs are asked at every evaluation; the arm is thrown about."""
    system = bough.Mechanism(MODEL)
    it = Instance(resource(system, scalar_table(system), "arm"), "arm")
    it.set_all({"solver.method": 0.0, "solver.step": 5e-4})
    calls = [0]

    def count(t: float, q: np.ndarray, u: np.ndarray, tau: np.ndarray, motion: np.ndarray, loads: np.ndarray) -> None:
        calls[0] += 1
        tau[:2] = 5.0 * np.sin(40.0 * t)

    it.set_input(count)
    it.initialize()
    seen = []
    for k in range(300):
        calls[0] = 0
        it.step(k * 1e-3, 1e-3)
        seen.append(calls[0])
    assert len(set(seen[1:])) == 1 and seen[1] <= 2 * 4 + 2


def test_instructions_of_every_step_of_rk4_stay_within_a_tenth(tmp_path: Path) -> None:
    """Counted by callgrind, exchange of inputs and outputs included; docs/speed.md has the table.

    Sines and cosines of large arguments take a few instructions more. The contrast, dopri5 under torques that jump,
    shows that the count sees work that is not fixed.
    """
    require_tool("valgrind")
    spread = {}
    for case in worst.cases():
        if case.title in ("7 hinges, two links of 4 modes", "the same by `dopri5`", "slider-crank, a loop"):
            folder = tmp_path / case.method / case.title[:3].strip()
            folder.mkdir(parents=True)
            counts = worst.instructions(worst.command(case, folder), 40, folder)[1:]
            assert counts.size == 39 and counts.min() > 50_000
            spread[case.title[:3], case.method] = counts.max() / counts.min()
    assert spread["7 h", "rk4"] < 1.1 and spread["sli", "rk4"] < 1.1
    assert spread["the", "dopri5"] > 1.5
