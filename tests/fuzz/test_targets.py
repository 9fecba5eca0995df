"""A slice of what `make fuzz` does all night: fixed numbers of executions from fixed seeds, regressions first."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fuzz.campaign import FINDINGS, Attack, run_files
from fuzz.files import TARGETS
from fuzz.programs import ALLOCATIONS, BLOCK, RESOURCES, STATES, STEPS, THREADS, Program, build, compiler
from fuzz.subjects import subject, subjects_of
from house.tools import require_tool

PATIENCE = 900
"""Seconds after which a run is taken for one without end."""
RUNS = {"block": 6000, "resource": 1500, "state": 1500}
FILES = 120


def pairs(*programs: Program) -> list[tuple[Program, str]]:
    """Each program with each of its subjects; of mechanisms the first one is enough here."""
    return [(p, n) for p in programs for n in (subjects_of(p) if p.partner else subjects_of(p)[:1])]


def named(value: object) -> str:
    return value.name if isinstance(value, Program) else str(value) or "-"


def need_compiler() -> None:
    if compiler() is None:
        require_tool("gcc")


@pytest.mark.parametrize(("program", "name"), pairs(BLOCK, *RESOURCES, *STATES), ids=named)
def test_mutations_behind_a_right_checksum_do_no_harm(program: Program, name: str, tmp_path: Path) -> None:
    need_compiler()
    attack = Attack.prepare(program, name, tmp_path)
    stored = attack.regressions()
    if stored:
        replayed = attack.replay(*stored, timeout=PATIENCE)
        assert not replayed.failed, replayed.said
    runs = RUNS[program.source]
    done = attack.run(runs, seed=1, timeout=PATIENCE)
    assert not done.failed, f"{done.said}\nthe input is in {FINDINGS}"
    assert done.executions >= runs


@pytest.mark.parametrize("target", TARGETS)
def test_spoilt_files_are_read_or_refused(target: str) -> None:
    done = run_files(target, FILES, seed=1, timeout=PATIENCE)
    assert not done.failed, f"{done.said}\nthe file is in {FINDINGS}"
    assert done.executions > FILES


def run(program: Program, name: str, folder: Path, **environment: str) -> str:
    need_compiler()
    command = [str(build(program) / program.name)]
    own = subject(name, program.fmi, folder).environment | environment
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr[-6000:]
    return done.stdout


@pytest.mark.parametrize(("program", "name"), pairs(*ALLOCATIONS), ids=named)
def test_every_allocation_may_fail_once(program: Program, name: str, tmp_path: Path) -> None:
    """A message, an error, nothing leaked, and the instance works as before; see c/allocations.c."""
    words = run(program, name, tmp_path).split()
    least = 10 if program.partner else 30
    assert int(words[0]) >= least, words
    assert program.partner or int(words[3]) >= 28, words  # four creations for each of the kernel's seven blocks


@pytest.mark.parametrize(("program", "name"), pairs(*THREADS), ids=named)
def test_thirty_two_instances_on_eight_threads_share_nothing(program: Program, name: str, tmp_path: Path) -> None:
    assert run(program, name, tmp_path).startswith("32 instances, 8 threads")


@pytest.mark.parametrize(("program", "name"), pairs(*STEPS), ids=named)
def test_many_steps_neither_drift_nor_allocate(program: Program, name: str, tmp_path: Path) -> None:
    assert run(program, name, tmp_path, BOUGH_STEPS="50000") == "50000 steps\n"
