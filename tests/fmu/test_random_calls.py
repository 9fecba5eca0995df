"""Random calls, legal and illegal, with every access and every allocation watched: no crash, no leak, no lasting harm.

c/fuzz.c takes bytes for a sequence of calls and says what must hold after each. It is linked with kernel, common part
and adapter under AddressSanitizer and UBSan, outside Python: a finding is an exit code and a report, and hypothesis
shrinks the bytes that lead to it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmu.conftest import Finder
from fmu.models import system
from house.tools import KERNEL, ROOT, kernel_objects, require_tool
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HEADERS = Path(fmpy.__file__).parent / "c-code"
SOURCE = Path(__file__).parent / "c" / "fuzz.c"
ADDRESS = ["-O1", "-g1", "-fsanitize=address", "-fno-omit-frame-pointer"]
UNDEFINED = [*ADDRESS, "-fsanitize=undefined", "-fno-sanitize-recover=all"]  # the kernel has tests of its own for these
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
COMMON = ROOT / "fmu_src" / "common"
Commands = list[list[str]]


def run_all(commands: Commands) -> None:
    with ThreadPoolExecutor(2) as pool:
        for done in pool.map(lambda c: subprocess.run(c, capture_output=True, text=True, check=False), commands):
            assert done.returncode == 0, done.stderr


def once(stamp: Path, sources: list[Path], commands: Commands) -> None:
    """Run commands unless they have been run for these sources."""
    content = b"".join(p.read_bytes() for p in [*sources, Path(__file__)])
    digest = hashlib.sha256(content).hexdigest()
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != digest:
        run_all(commands)
        stamp.write_text(digest, encoding="utf-8")


def compile_all(folder: Path) -> None:
    gcc = require_tool("gcc")
    kernel = kernel_objects([gcc, *ADDRESS, "-DBOUGH_NO_BATCH"], folder)
    kernel = [c for c in kernel if not c[-3].endswith("lanes_four.c")]
    headers = sorted([*KERNEL.rglob("*.[ch]"), *KERNEL.rglob("*.inl")])
    once(folder / "kernel.stamp", headers, kernel)
    include = [f"-I{KERNEL / 'include'}", f"-I{COMMON}", "-isystem", str(HEADERS)]
    programs: Commands = []
    for fmi in "23":
        own = [SOURCE, *sorted(COMMON.glob("*.c")), *(ROOT / "fmu_src" / f"fmi{fmi}").glob("*.c")]
        flags = [*UNDEFINED, "-std=c11", f"-DFMI_VERSION={fmi}", *include]
        programs.append(
            [gcc, *flags, *map(str, own), *(c[-1] for c in kernel), "-lm", "-o", str(folder / f"fuzz{fmi}")]
        )
    once(folder / "fuzz.stamp", [*headers, *sorted((ROOT / "fmu_src").rglob("*.[ch]")), SOURCE], programs)


@pytest.fixture(scope="session")
def programs() -> Path:
    """Folder with fuzz2 and fuzz3, compiled once for these sources, also when several workers ask."""
    folder = ROOT / "build" / "out" / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        compile_all(folder)
    return folder


def run(programs: Path, fmus: Finder, fmi: str, sequences: list[bytes], file: Path) -> subprocess.CompletedProcess[str]:
    fmu = fmus("arm", fmi)
    states = sum(n.startswith("der(") for n in fmu.references)
    known = {v.name for v in system("arm").variables if v.causality == "input"}
    inputs = "".join("1" if name in known else "0" for name in fmu.references)
    file.write_bytes(b"".join(struct.pack("<H", len(s)) + s for s in sequences))
    command = [str(programs / f"fuzz{fmi[0]}"), str(fmu.resources), fmu.token, str(file), str(states), inputs]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT, timeout=100)


@pytest.mark.parametrize("seed", range(2))
def test_thousands_of_random_calls_do_no_harm(
    programs: Path, fmus: Finder, fmi: str, seed: int, tmp_path: Path
) -> None:
    random = np.random.default_rng([seed, int(fmi[0])])
    sequences = [random.integers(0, 256, int(random.integers(1, 900)), dtype=np.uint8).tobytes() for _ in range(600)]
    done = run(programs, fmus, fmi, sequences, tmp_path / "bytes")
    assert done.returncode == 0, done.stderr[-4000:]
    words = done.stdout.split()
    assert int(words[0]) == 600 and int(words[2]) > 20000 and int(words[4]) > 2000, done.stdout


def test_sequences_that_hypothesis_thinks_of_do_no_harm(programs: Path, fmus: Finder, fmi: str, tmp_path: Path) -> None:
    call = st.tuples(st.integers(0, 255), st.binary(max_size=12)).map(lambda c: bytes([c[0]]) + c[1])

    @settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.lists(call, max_size=60).map(b"".join), min_size=1, max_size=4))
    def harmless(sequences: list[bytes]) -> None:
        done = run(programs, fmus, fmi, sequences, tmp_path / "bytes")
        assert done.returncode == 0, done.stderr[-4000:]

    harmless()
