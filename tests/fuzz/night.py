"""Attacks everything until the counts are reached, and on until the time is over: `make fuzz FUZZ_MINUTES=480`.

Prints for each target what it did; leaves the inputs that found something in build/out/fuzz/findings, and returns 1 if
there are any. A finding is mended at its root, and its input goes into tests/fuzz/regressions.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.campaign import FINDINGS, Attack, Outcome, run_closures, run_files
from fuzz.files import FE_TARGETS, TARGETS
from fuzz.programs import (
    ALLOCATIONS,
    BLOCK,
    CALLS,
    PROGRAMS,
    RESOURCES,
    STATES,
    STEPS,
    THREADS,
    Program,
    build,
    coverage_guided,
)
from fuzz.subjects import subject, subjects_of

WANTED = {"block": 120_000, "resource": 25_000, "state": 13_000, "calls": 330_000}
"""Executions (calls: FMI calls) on each subject: 245,000 blocks and resources, 130,000 states, 3.3 million calls."""
FE_FILES, OTHER_FILES = 7_700, 2_000
CLOSURES = 1_000
STEPS_WANTED = 10_000_000
CHUNK = {"block": 20_000, "resource": 5_000, "state": 5_000, "calls": 4_000, "files": 2_000, "closures": 250}


@dataclass
class Job:
    """A target on a subject: `again(seed)` runs a chunk of it."""

    label: str
    wanted: int
    counted: str
    again: Callable[[int], Outcome]
    done: int = 0
    executions: int = 0
    edges: int = 0
    seconds: float = 0.0
    failed: str = ""

    def work(self, first_seed: int, until: float) -> None:
        """Chunks until the count is reached and the time is over, or something is found."""
        for seed in count(first_seed):
            if self.failed or (self.done >= self.wanted and time.monotonic() >= until):
                return
            began = time.monotonic()
            outcome = self.again(seed)
            self.seconds += time.monotonic() - began
            self.executions += outcome.executions
            self.done += outcome.calls if self.counted == "calls" else outcome.executions
            self.edges = max(self.edges, outcome.edges)
            self.failed = outcome.said if outcome.failed else ""
            print(f"  {self}", flush=True)
            if until == 0.0 and self.done >= self.wanted:
                return

    def __str__(self) -> str:
        calls = f"{self.done:9d} calls " if self.counted == "calls" else ""
        end = "FOUND" if self.failed else "ok"
        return (
            f"{self.label:32s} {self.executions:9d} executions {calls:>16s}{self.edges:6d} edges "
            f"{self.seconds:7.0f} s  {end}"
        )


def _once(program: Program, name: str, folder: Path, seed: int, **environment: str) -> Outcome:
    """A program that runs to its end by itself."""
    own = subject(name, program.fmi, folder).environment | environment
    done = subprocess.run([str(build(program) / program.name)], env=own, capture_output=True, text=True, check=False)
    return Outcome(int(done.stdout.split()[0]) if done.stdout else 0, 0, 0, done.returncode != 0, done.stderr[-6000:])


def jobs(folder: Path, only: str) -> list[Job]:
    """Everything there is to attack whose label has `only` in it."""
    out = []
    for program in (BLOCK, *RESOURCES, *STATES, *CALLS):
        for name in subjects_of(program):
            label = f"{program.name} {name}".strip()
            if only not in label:
                continue
            attack = Attack.prepare(program, name, folder / label.replace(" ", "_"))
            stored = attack.regressions()
            replayed = attack.replay(*stored) if stored else None
            counted = "calls" if program.source == "calls" else "executions"
            job = Job(label, WANTED[program.source], counted, partial(attack.run, CHUNK[program.source]))
            job.failed = replayed.said if replayed and replayed.failed else ""
            out.append(job)
    for target in TARGETS:
        wanted = FE_FILES if target in FE_TARGETS else OTHER_FILES
        out.append(Job(f"files {target}", wanted, "executions", partial(run_files, target, CHUNK["files"])))
    out.append(Job("closures", CLOSURES, "executions", partial(run_closures, CHUNK["closures"])))
    for program in (*ALLOCATIONS, *THREADS, *STEPS):
        for name in subjects_of(program) if program.partner else subjects_of(program)[:1]:
            where = folder / f"{program.name}_{name}"
            steps = {"BOUGH_STEPS": str(STEPS_WANTED)} if program.source == "steps" else {}
            out.append(Job(f"{program.name} {name}", 1, "executions", partial(_once, program, name, where, **steps)))
    return [job for job in out if only in job.label]


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=0.0, help="go on for so long after the counts are reached")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="targets whose name has this in it")
    options = parser.parse_args()
    began = time.monotonic()
    print(f"guided by coverage: {'yes, libFuzzer' if coverage_guided() else 'no, clang with libFuzzer is not here'}")
    build(*PROGRAMS, jobs=options.jobs)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        every = jobs(Path(folder), options.only)
        list(pool.map(lambda job: job.work(options.seed, 0.0), every))
        left = 60 * options.minutes - (time.monotonic() - began)
        endless = [job for job in every if not job.failed and job.wanted > 1]
        share = left * options.jobs / max(len(endless), 1)  # the rest of the night, in equal parts
        if share > 0:
            list(pool.map(lambda job: job.work(options.seed + 1000, time.monotonic() + share), endless))
    print(f"\n{time.monotonic() - began:.0f} s in all")
    for job in every:
        print(job)
    found = [job for job in every if job.failed]
    for job in found:
        print(f"\n{job.label} found something; its input is in {FINDINGS}:\n{job.failed}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
