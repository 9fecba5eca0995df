"""The C test programs call everything, and evaluation allocates nothing.

tests/house/test_kernel_memory.py runs the programs as built, under the sanitizers and under valgrind.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from house.tools import KERNEL, ROOT, kernel_objects, require_tool
from kernel.make_blocks import blocks_header

PROGRAMS = ROOT / "tests" / "kernel" / "c"


def test_c_programs_call_every_public_function() -> None:
    text = (KERNEL / "include" / "bough.h").read_text(encoding="utf-8")
    public = re.findall(r"^BOUGH_API [^;]*?\b(bough_\w+)\(", text, re.MULTILINE)
    called = "".join(source.read_text(encoding="utf-8") for source in PROGRAMS.glob("*.[ch]"))
    assert len(public) > 30
    assert [name for name in public if not re.search(rf"\b{name}\(", called)] == []


def test_no_allocation_during_evaluation_or_stepping(tmp_path: Path) -> None:
    """The linker puts counting wrappers before malloc, calloc, realloc and free, for kernel and program alike."""
    gcc = [require_tool("gcc"), "-O0"]
    commands = kernel_objects(gcc, tmp_path)
    for command in commands:
        subprocess.run(command, check=True)
    program = str(tmp_path / "evaluate")
    wrap = "-Wl," + ",".join(f"--wrap={name}" for name in ("malloc", "calloc", "realloc", "free"))
    source = [f"-I{KERNEL / 'include'}", blocks_header(tmp_path), "-DCOUNT_ALLOCATIONS", str(PROGRAMS / "evaluate.c")]
    objects = [command[-1] for command in commands]
    subprocess.run([*gcc, "-std=c99", *source, *objects, wrap, "-lm", "-o", program], check=True)
    subprocess.run([program], check=True)
