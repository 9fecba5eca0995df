"""The C test programs run clean: as they are, under the sanitizers, and under valgrind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from house.tools import KERNEL, ROOT, kernel_objects, require_tool

PROGRAMS = sorted((ROOT / "tests" / "kernel" / "c").glob("*.c"))


def run(command: Sequence[str], **kwargs: object) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **kwargs)  # type: ignore[call-overload]
    if done.returncode:
        pytest.fail(
            f"{' '.join(command)}\nended with {done.returncode}\n{done.stdout}{done.stderr}", pytrace=False
        )


def build(compile_: Sequence[str], folder: Path, v3: str = "-march=x86-64-v3") -> list[Path]:
    """Compile the kernel and link each test program with it; return the programs."""
    assert PROGRAMS, "tests/kernel/c holds no program"
    commands = kernel_objects(compile_, folder, v3)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, commands))
    objects = [c[-1] for c in commands]
    programs = [folder / p.stem for p in PROGRAMS]
    include = [f"-I{KERNEL / 'include'}", f"-I{KERNEL / 'src'}"]
    for source, program in zip(PROGRAMS, programs, strict=True):
        run([*compile_, "-std=c99", *include, str(source), *objects, "-lm", "-o", str(program)])
    return programs


def test_kernel_programs_pass_as_the_package_is_built(tmp_path: Path) -> None:
    for program in build([sys.executable, "-m", "ziglang", "cc", "-O2"], tmp_path, "-mcpu=x86_64_v3"):
        run([str(program)])


def test_kernel_is_clean_under_sanitizers(tmp_path: Path) -> None:
    gcc = require_tool("gcc")
    flags = [
        "-g",
        "-O1",
        "-fno-omit-frame-pointer",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ]
    for program in build([gcc, *flags], tmp_path):
        run([str(program)])


def test_kernel_is_clean_under_valgrind(tmp_path: Path) -> None:
    valgrind, gcc = require_tool("valgrind"), require_tool("gcc")
    options = ["--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=all", "--quiet"]
    for program in build([gcc, "-g", "-O1"], tmp_path):
        run([valgrind, *options, str(program)])
