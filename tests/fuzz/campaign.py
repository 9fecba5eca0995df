"""Runs one target on one subject: regressions first, then so many mutations, with a fixed seed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from fuzz.programs import FOLDER, Program, build
from fuzz.subjects import ASAN, REGRESSIONS, Subject, subject, write_seeds

SECONDS_OF_AN_INPUT = 60
"""For a machine that is busy; an input takes milliseconds."""
FINDINGS = FOLDER / "findings"


@dataclass(frozen=True)
class Outcome:
    """What came of a run: executions, edges or lines reached, calls (of `calls` targets), and the end of its output."""

    executions: int
    edges: int
    calls: int
    failed: bool
    said: str


def _last(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def _outcome(command: list[str], environment: dict[str, str], timeout: float | None) -> Outcome:
    FINDINGS.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(command, capture_output=True, env=environment, timeout=timeout, check=False)
        text, failed = (done.stdout + done.stderr).decode("utf-8", "replace"), done.returncode != 0
    except subprocess.TimeoutExpired as error:
        text, failed = f"{(error.stderr or b'').decode('utf-8', 'replace')}\nno end after {timeout} s", True
    return Outcome(
        _last(r"stat::number_of_executed_units: (\d+)", text),
        _last(r"\bcov: (\d+)", text),
        _last(r"(\d+) calls", text),
        failed,
        text[-6000:],
    )


@dataclass(frozen=True)
class Attack:
    """A target of tests/fuzz/c with its subject unpacked and its seeds written."""

    program: Program
    name: str
    folder: Path
    subject: Subject | None

    @classmethod
    def prepare(cls, program: Program, name: str, folder: Path) -> Attack:
        """Compile the target; unpack and write into the folder."""
        build(program)
        of = subject(name, program.fmi, folder / "fmu") if program.fmi else None
        write_seeds(program, name, of, folder / "seeds", FOLDER)
        (folder / "corpus").mkdir(exist_ok=True)
        return cls(program, name, folder, of)

    @property
    def environment(self) -> dict[str, str]:
        """Of the program."""
        return self.subject.environment if self.subject else {**os.environ, "ASAN_OPTIONS": ASAN}

    def _command(self, *arguments: str) -> list[str]:
        prefix = f"-artifact_prefix={FINDINGS / self.program.name}-{self.name}-"
        limits = [f"-timeout={SECONDS_OF_AN_INPUT}", "-rss_limit_mb=4000", "-verbosity=1", "-print_final_stats=1"]
        return [str(FOLDER / self.program.name), *arguments, prefix, *limits]

    def replay(self, *paths: Path, timeout: float | None = None) -> Outcome:
        """Run files, or all files of folders, once."""
        files = sorted(f for path in paths for f in ([path] if path.is_file() else path.iterdir()))
        return _outcome(self._command(*map(str, files)), self.environment, timeout)

    def regressions(self) -> list[Path]:
        """Stored inputs that once found something."""
        return sorted((REGRESSIONS / self.program.source).glob("*"))

    def run(self, runs: int, seed: int, timeout: float | None = None) -> Outcome:
        """So many executions; what reaches new code stays in the corpus for the next run."""
        known = [str(self.folder / "corpus"), str(self.folder / "seeds")]
        # sequences of calls are long from the start
        more = ["-max_len=900", "-len_control=0"] if self.program.source == "calls" else []
        command = self._command(*known, f"-runs={runs}", f"-seed={seed}", *more)
        return _outcome(command, self.environment, timeout)


def run_closures(runs: int, seed: int, timeout: float | None = None) -> Outcome:
    """So many mutated closures of closures.py."""
    script = Path(__file__).with_name("closures.py")
    return _outcome([sys.executable, str(script), f"-runs={runs}", f"-seed={seed}"], dict(os.environ), timeout)


def run_files(target: str, runs: int, seed: int, timeout: float | None = None) -> Outcome:
    """So many spoilt files of a target of files.py."""
    script = Path(__file__).with_name("files.py")
    command = [sys.executable, str(script), target, f"-runs={runs}", f"-seed={seed}", f"-artifact_prefix={FINDINGS}/"]
    return _outcome(command, dict(os.environ), timeout)
