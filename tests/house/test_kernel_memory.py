"""The C test programs run clean: as the package is built, under the sanitizers, and under valgrind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from house.tools import KERNEL, ROOT, kernel_objects, require_tool
from kernel.make_blocks import blocks_header

PROGRAMS = sorted((ROOT / "tests" / "kernel" / "c").glob("*.c"))


def run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = f"{' '.join(command)}\nended with {done.returncode}\n{done.stdout}{done.stderr}"
        pytest.fail(said, pytrace=False)


def compile_kernel(compile_: Sequence[str], folder: Path) -> list[str]:
    """Compile every kernel source; return the objects."""
    commands = kernel_objects(compile_, folder)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, commands))
    return [command[-1] for command in commands]


def link_programs(compile_: Sequence[str], objects: Sequence[str], folder: Path) -> list[str]:
    """Compile each test program and link it with the kernel; return the programs."""
    assert PROGRAMS, "tests/kernel/c holds no program"
    programs = [str(folder / source.stem) for source in PROGRAMS]
    include = [f"-I{KERNEL / 'include'}", f"-I{KERNEL / 'src'}", blocks_header(folder)]
    for source, program in zip(PROGRAMS, programs, strict=True):
        run([*compile_, "-std=c99", *include, str(source), *objects, "-lm", "-o", program])
    return programs


def test_kernel_programs_pass_as_the_package_is_built(tmp_path: Path) -> None:
    objects = [str(p) for p in (ROOT / "build" / "out").glob("py3-none-*/editable/**/kernel/src/**/*.o")]
    assert objects, "the kernel is not built here; run `make setup`"
    for program in link_programs([sys.executable, "-m", "ziglang", "cc", "-O2"], objects, tmp_path):
        run([program])


def test_kernel_is_clean_under_sanitizers(tmp_path: Path) -> None:
    # Not optimized: the sweeps are inlined whole, and at -O1 gcc takes three times as long to instrument them
    gcc = [require_tool("gcc"), "-g", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    for program in link_programs(gcc, compile_kernel(gcc, tmp_path), tmp_path):
        run([program])


def test_kernel_is_clean_under_valgrind(tmp_path: Path) -> None:
    valgrind = [require_tool("valgrind"), "--quiet", "--error-exitcode=9"]
    valgrind += ["--leak-check=full", "--errors-for-leak-kinds=all"]
    gcc = [require_tool("gcc"), "-g", "-O1"]
    for program in link_programs(gcc, compile_kernel(gcc, tmp_path), tmp_path):
        run([*valgrind, program])
