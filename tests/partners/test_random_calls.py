"""Random calls, legal and illegal, on partners, with every access and every allocation watched; see tests/fmu."""

from __future__ import annotations

import fcntl
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from fmu.test_random_calls import ADDRESS, COMMON, ENVIRONMENT, HEADERS, SOURCE, UNDEFINED, once
from house.tools import KERNEL, ROOT, kernel_objects, require_tool
from partners.built import described, unpack

from bough.partners import KINDS
from bough.partners.quantity import variable_table

SHARED = ("calls", "location", "log", "open", "resource", "state")
PARTNERS = ROOT / "fmu_src" / "partners"


def compile_all(folder: Path) -> None:
    gcc = require_tool("gcc")
    kernel = kernel_objects([gcc, *ADDRESS, "-DBOUGH_NO_BATCH"], folder)
    kernel = [c for c in kernel if not c[-3].endswith("lanes_four.c")]
    headers = sorted([*KERNEL.rglob("*.[ch]"), *KERNEL.rglob("*.inl")])
    once(folder / "kernel.stamp", headers, kernel)
    include = [f"-I{KERNEL / 'include'}", f"-I{COMMON}", "-isystem", str(HEADERS)]
    programs = []
    for fmi in "23":
        own = [SOURCE, *(COMMON / f"{name}.c" for name in SHARED), *sorted(PARTNERS.glob("*.c"))]
        own += (ROOT / "fmu_src" / f"fmi{fmi}").glob("*.c")
        flags = [*UNDEFINED, "-std=c11", "-DPARTNER", f"-DFMI_VERSION={fmi}", *include]
        out = str(folder / f"partner{fmi}")
        programs.append([gcc, *flags, *map(str, own), *(c[-1] for c in kernel), "-lm", "-o", out])
    once(folder / "partner.stamp", [*headers, *sorted((ROOT / "fmu_src").rglob("*.[ch]")), SOURCE], programs)


@pytest.fixture(scope="session")
def programs() -> Path:
    """Folder with partner2 and partner3, compiled once for these sources; the kernel is that of tests/fmu."""
    folder = ROOT / "build" / "out" / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        compile_all(folder)
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_random_calls_do_no_harm(programs: Path, kind: str, fmi: str, tmp_path: Path) -> None:
    partner = described(kind)
    fmu = unpack(partner, fmi, tmp_path)
    inputs = "".join("1" if v.causality == "input" else "0" for v in variable_table(partner))
    random, file = np.random.default_rng([len(kind), int(fmi[0])]), tmp_path / "bytes"
    # variables are few: small numbers name them
    sizes = random.integers(1, 900, 300)
    sequences = [random.integers(0, 256, n, dtype=np.uint8) for n in sizes]
    sequences += [
        np.where(random.random(n) < 0.5, random.integers(0, 30, n), random.integers(0, 256, n)) for n in sizes
    ]
    packed = [s.astype(np.uint8).tobytes() for s in sequences]
    file.write_bytes(b"".join(struct.pack("<H", len(s)) + s for s in packed))
    command = [str(programs / f"partner{fmi[0]}"), str(fmu.resources), fmu.token, str(file), "0", inputs]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT, timeout=200)
    assert done.returncode == 0, done.stderr[-4000:]
    words = done.stdout.split()
    assert int(words[0]) == 600 and int(words[2]) > 20000 and int(words[4]) > 2000, done.stdout
