"""The C test programs: their blocks are of the present layout, they call everything, and evaluation allocates nothing.

tests/house/test_kernel_memory.py runs the programs as built, under the sanitizers and under valgrind.
"""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

from house.tools import KERNEL, kernel_objects, require_tool
from kernel.make_blocks import HEADER, blocks

PROGRAMS = HEADER.parent


def committed_blocks() -> dict[str, bytes]:
    out = {}
    for name, body in re.findall(r"block_(\w+)\[\] = \{(.*?)\};", HEADER.read_text(encoding="utf-8"), re.DOTALL):
        words = [int(w, 16) for w in re.findall(r"0x([0-9a-f]+)u", body)]
        out[name] = struct.pack(f"<{len(words)}Q", *words)
    return out


def test_blocks_of_the_c_programs_have_the_present_layout() -> None:
    """Sizes and whole numbers must be equal; reals may differ in the signs of modes and by rounding."""
    committed, present = committed_blocks(), blocks()
    cure = "run `python tests/kernel/make_blocks.py`"
    assert committed.keys() == present.keys(), cure
    for name, block in present.items():
        (ints,) = struct.unpack_from("<q", block, 32)
        first, last = slice(0, 16), slice(32, 64 + 4 * ints)
        old = committed[name]
        assert len(old) == len(block) and old[first] == block[first] and old[last] == block[last], cure


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
    source = [f"-I{KERNEL / 'include'}", "-DCOUNT_ALLOCATIONS", str(PROGRAMS / "evaluate.c")]
    objects = [command[-1] for command in commands]
    subprocess.run([*gcc, "-std=c99", *source, *objects, wrap, "-lm", "-o", program], check=True)
    subprocess.run([program], check=True)
