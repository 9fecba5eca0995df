"""Compiles the programs of tests/fuzz/c with ninja, once for the present sources, in build/out/fuzz.

With clang and its libFuzzer the targets are guided by coverage. Elsewhere the compiler at hand links them with
c/standalone.c, which mutates blindly: the targets run everywhere.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import fmpy
from house.tools import KERNEL, ROOT, kernel_objects
from kernel.make_blocks import blocks_header

SOURCES = Path(__file__).parent / "c"
FOLDER = ROOT / "build" / "out" / "fuzz"
_FMU = ROOT / "fmu_src"
_INCLUDE = [
    f"-I{FOLDER}",
    f"-I{KERNEL / 'include'}",
    f"-I{_FMU / 'common'}",
    "-isystem",
    str(Path(fmpy.__file__).parent / "c-code"),
]
_ADDRESS = ["-O1", "-g1", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all"]
_UNDEFINED = "-fsanitize=address,undefined"
_KERNEL_UNDEFINED = "-fsanitize=address,signed-integer-overflow,shift,bounds,float-cast-overflow,integer-divide-by-zero"
"""What hostile numbers can do. All checks take forty times as long to compile; tests/house has them for the kernel."""
_SHORT = ["-DBOUGH_MOST_ATTEMPTS=20000"]
"""Attempts before a step is given up: under the sanitizers a million take minutes, and nothing new happens in them."""
_ALLOCATORS = ("malloc", "calloc", "realloc")


@dataclass(frozen=True)
class Program:
    """One program: `source` of tests/fuzz/c, linked with a mechanism or a partner and an FMI adapter, or the kernel."""

    source: str
    fmi: str = ""
    partner: bool = False
    sanitizer: str = "address"
    target: bool = True
    wrap: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.source + ("_partner" if self.partner else "") + self.fmi


BLOCK = Program("block")
CALLS = [Program("calls", fmi, partner) for partner in (False, True) for fmi in "23"]
STATES = [Program("state", fmi, partner) for partner in (False, True) for fmi in "23"]
RESOURCES = [Program("resource", "3", partner, wrap=("fmu_read_file",)) for partner in (False, True)]
ALLOCATIONS = [
    Program("allocations", fmi, partner, target=False, wrap=_ALLOCATORS) for partner in (False, True) for fmi in "23"
]
THREADS = [Program("threads", "3", partner, sanitizer="thread", target=False) for partner in (False, True)]
STEPS = [Program("steps", "2", partner, sanitizer="", target=False, wrap=_ALLOCATORS) for partner in (False, True)]
PROGRAMS = [BLOCK, *CALLS, *STATES, *RESOURCES, *ALLOCATIONS, *THREADS, *STEPS]


def _links(command: list[str]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "t.c"
        source.write_text("int LLVMFuzzerTestOneInput(const char *p, long n) { return p && n > 9 && *p ? 0 : 0; }\n")
        done = subprocess.run([*command, str(source), "-o", f"{folder}/t"], capture_output=True, check=False)
        return done.returncode == 0


@cache
def coverage_guided() -> bool:
    """Whether clang is here with libFuzzer."""
    clang = shutil.which("clang")
    return clang is not None and _links([clang, "-fsanitize=fuzzer,address,undefined"])


@cache
def compiler() -> str | None:
    """Clang with libFuzzer, or gcc, or another clang, each with its sanitizers; null where none of them is."""
    if coverage_guided():
        return shutil.which("clang")
    return next((path for path in map(shutil.which, ("gcc", "clang")) if path), None)


def _flags(sanitizer: str, undefined: str = _UNDEFINED) -> list[str]:
    if sanitizer == "address":
        return [*_ADDRESS, undefined, *(["-fsanitize=fuzzer-no-link"] if coverage_guided() else [])]
    return ["-O1", "-g1", "-fsanitize=thread"] if sanitizer == "thread" else ["-O2"]


class _Rules:
    """The text of build.ninja."""

    def __init__(self) -> None:
        self.lines = [
            "rule cc",
            "  command = $cc -MMD -MF $out.d -c $in -o $out",
            "  depfile = $out.d",
            "rule link",
            "  command = $cc $in -o $out $libraries",
        ]
        self.known: set[str] = set()

    def compile(self, command: list[str], source: Path, out: str) -> str:
        if out not in self.known:
            self.known.add(out)
            self.lines += [f"build {out}: cc {source}", f"  cc = {' '.join(command)}"]
        return out

    def program(self, program: Program) -> None:
        cc, kind = str(compiler()), program.sanitizer or "plain"
        flags = _flags(program.sanitizer)
        objects = []
        kernel = _flags(program.sanitizer, _KERNEL_UNDEFINED) + (_SHORT if program.sanitizer else [])
        for command in kernel_objects([cc, *kernel, "-DBOUGH_NO_BATCH"], Path(kind)):
            *compile_, _, source, _, out = command
            if not source.endswith("lanes_four.c"):
                objects.append(self.compile(compile_, Path(source), out))
        for source, define in _own_sources(program):
            out = f"{kind}/{program.name if define else 'shared'}_{source.parent.name}_{source.stem}.o"
            objects.append(self.compile([cc, *flags, *_SHORT, "-std=c11", *define, *_INCLUDE], source, out))
        link = [f for f in flags if f.startswith("-fsanitize=") and "no-link" not in f]
        if program.target and coverage_guided():
            link.append("-fsanitize=fuzzer")
        elif program.target:
            objects.append(self.compile([cc, *flags], SOURCES / "standalone.c", f"{kind}/standalone.o"))
        libraries = ["-lm", "-lpthread", *(f"-Wl,--wrap={name}" for name in program.wrap)]
        self.lines += [f"build {program.name}: link {' '.join(objects)}", f"  cc = {' '.join([cc, *link])}"]
        self.lines.append(f"  libraries = {' '.join(libraries)}")


def _own_sources(program: Program) -> list[tuple[Path, list[str]]]:
    """What is compiled beside the kernel, and with what definitions."""
    define = [f"-DFMI_VERSION={program.fmi}"] if program.fmi else ["-DNO_FMI"]
    own = [(SOURCES / f"{program.source}.c", define + (["-DPARTNER"] if program.partner else []))]
    if not program.fmi:
        return own
    files = [file for part in ("common", f"fmi{program.fmi}") for file in sorted((_FMU / part).glob("*.c"))]
    return own + [(file, []) for file in files]


def build(*programs: Program, jobs: int = 2) -> Path:
    """Bring programs up to date, also when several workers ask at once; return the folder they are in."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    rules = _Rules()
    for program in PROGRAMS:
        rules.program(program)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        blocks_header(FOLDER)
        (FOLDER / "build.ninja").write_text("\n".join([*rules.lines, ""]), encoding="utf-8")
        ninja = Path(sys.executable).parent / "ninja"
        command = [str(ninja), "-C", str(FOLDER), "-j", str(jobs), "--quiet", *(p.name for p in programs)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return FOLDER
