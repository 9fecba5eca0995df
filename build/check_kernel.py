"""Check the C code: no warning from gcc and clang; in the kernel, no forbidden symbol and no writable global.

The kernel runs inside hosts with other people's code. It may call libm and the memory functions of libc, and
nothing else: no stdio, no exit, no abort. It holds no state outside the objects it is handed. All its symbols
start with `bough_`. The objects are looked at before linking, where every call to the outside is
still visible.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNEL = ROOT / "engine" / "kernel"
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
# Hardening of the distribution would add symbols that are not ours.
FLAGS = ["-O2", "-fPIC", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-fno-math-errno"]

LIBM = """
acos asin atan atan2 cbrt ceil copysign cos cosh exp exp2 expm1 fabs floor fma fmax fmin fmod frexp hypot
ldexp log log1p log2 nextafter pow remainder round scalbn sin sincos sinh sqrt tan tanh trunc
"""
MEMORY = "calloc free malloc memcmp memcpy memmove memset realloc strcmp strlen strncmp"
# What compilers put in by themselves: the table of addresses, and the complex product (part of the library).
COMPILER = "_GLOBAL_OFFSET_TABLE_ __divdc3 __muldc3"
ALLOWED = frozenset(LIBM.split()) | frozenset(MEMORY.split()) | frozenset(COMPILER.split())


@dataclass(frozen=True)
class Compiler:
    """A C compiler: the name shown, the command, and its flag for each CPU build."""

    name: str
    command: tuple[str, ...]
    isas: dict[str, list[str]]


@dataclass(frozen=True)
class Symbol:
    """One line of `nm`: the letter for its kind (capital: global), and the section it lives in."""

    file: str
    name: str
    kind: str
    section: str

    @property
    def writable(self) -> bool:
        """Whether it is a variable. Only the loader writes constant tables of pointers (.data.rel.ro)."""
        return self.section.startswith((".data", ".bss", ".tdata", ".tbss", "*COM*")) and not (
            self.section.startswith(".data.rel.ro")
        )


def isas(v3: str) -> dict[str, list[str]]:
    """Return the CPU builds of this machine with their flags."""
    machine = os.uname().machine if hasattr(os, "uname") else ""
    return {"base": [], "v3": [v3]} if machine in ("x86_64", "amd64") else {"base": []}


def compilers() -> list[Compiler]:
    """Return gcc and clang as far as they are here; the ziglang package stands in for a missing clang.

    Raises:
        SystemExit: in CI, where a check must not be left out unseen.
    """
    found = []
    for name in ("gcc", "clang"):
        if path := shutil.which(name):
            found.append(Compiler(name, (path,), isas("-march=x86-64-v3")))
        elif os.environ.get("CI") == "true":
            sys.exit(f"check_kernel: {name} is missing, and CI must not skip a check")
        elif name == "clang":
            zig = (sys.executable, "-m", "ziglang", "cc")
            found.append(Compiler("clang (ziglang)", zig, isas("-mcpu=x86_64_v3")))
        else:
            print(f"check_kernel: {name} is not installed, its warnings are not checked")
    return found


def jobs(compiler: Compiler, sources: list[Path], folder: Path) -> list[list[str]]:
    """Return the compile commands; files named lanes_* are built once per CPU, all others once."""
    commands = []
    for source in sources:
        for isa, flags in compiler.isas.items() if source.name.startswith("lanes_") else [("", [])]:
            out = folder / f"{source.stem}{isa and '.' + isa}.o"
            define = [f"-DBOUGH_ISA={isa}"] if isa else []
            include = [f"-I{KERNEL / 'include'}", f"-I{KERNEL / 'src'}"]
            command = [*compiler.command, *WARNINGS, *FLAGS, *flags, *define, *include]
            commands.append([*command, "-c", str(source), "-o", str(out)])
    return commands


def adapter_jobs(compiler: Compiler, folder: Path) -> list[list[str]]:
    """Return the commands that compile the FMU adapters; their FMI headers come with the package fmpy."""
    spec = importlib.util.find_spec("fmpy")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("check_kernel: the FMI headers are missing: install the package fmpy (make setup)")
    headers = ["-isystem", str(Path(spec.submodule_search_locations[0]) / "c-code")]
    include = [f"-I{KERNEL / 'include'}", f"-I{ROOT / 'fmu_src' / 'common'}", *headers]
    return [
        [*compiler.command, *WARNINGS, *FLAGS, *include, "-c", str(source), "-o", str(folder / f"{source.stem}.o")]
        for source in sorted((ROOT / "fmu_src").rglob("*.c"))
    ]


def binding_jobs(compiler: Compiler, folder: Path) -> list[list[str]]:
    """Return the command that compiles the extension module; it brings its own declarations of Python's functions."""
    source, include = ROOT / "engine" / "binding" / "binding.c", f"-I{KERNEL / 'include'}"
    return [[*compiler.command, *WARNINGS, *FLAGS, include, "-c", str(source), "-o", str(folder / "binding.o")]]


def compile_all(compiler: Compiler, commands: list[list[str]]) -> list[str]:
    """Run compile commands; return the messages of those that fail."""
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda c: subprocess.run(c, capture_output=True, text=True, check=False), commands)
    return [f"{compiler.name}:\n{d.stderr}" for d in done if d.returncode]


def symbols(folder: Path) -> list[Symbol]:
    """Return every symbol of the objects in a folder."""
    found = []
    for file in sorted(folder.glob("*.o")):
        command = ["nm", "--format=sysv", str(file)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for line in out.splitlines():
            fields = [field.strip() for field in line.split("|")]
            if len(fields) == 7 and fields[0] != "Name":
                found.append(Symbol(file.stem, fields[0], fields[2], fields[6]))
    return found


def symbol_faults(table: list[Symbol]) -> list[str]:
    """Return what the symbols of the kernel say against the rules."""
    defined = {s.name for s in table if s.kind not in "Uw"}
    faults = []
    for s in table:
        if s.kind in "Uw" and s.name not in defined | ALLOWED:
            faults.append(f"{s.file}.c calls {s.name}: the kernel may use libm and memory functions only")
        if s.writable:
            faults.append(f"{s.file}.c holds the writable global {s.name}: put it into the model or data object")
        if s.kind in "TRDBCW" and not s.name.startswith("bough_"):
            faults.append(f"{s.file}.c defines {s.name} for all to see: make it static or name it bough_...")
    return faults


def main() -> None:
    """Run all checks; end with code 1 and the list of faults when there are any."""
    sources = sorted((KERNEL / "src").rglob("*.c"))
    if not sources:
        sys.exit(f"check_kernel: no C source in {(KERNEL / 'src').relative_to(ROOT)}")
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        used = compilers()
        for number, compiler in enumerate(used):
            folder, adapters = Path(temporary) / str(number), Path(temporary) / f"fmu{number}"
            folder.mkdir()
            adapters.mkdir()
            failed = compile_all(compiler, jobs(compiler, sources, folder))
            others = [*adapter_jobs(compiler, adapters), *binding_jobs(compiler, adapters)]
            faults += failed + compile_all(compiler, others)
            if failed:
                continue
            if shutil.which("nm"):
                faults += symbol_faults(symbols(folder))
            elif os.environ.get("CI") == "true":
                faults.append("nm (binutils) is missing, and CI must not skip a check")
            else:
                print("check_kernel: nm is not installed, the symbols are not checked")
    if faults:
        sys.exit("\n".join(dict.fromkeys(faults)))
    names = ", ".join(c.name for c in used)
    print(f"check_kernel: {len(sources)} kernel files, the adapters and the binding clean with {names}")


if __name__ == "__main__":
    main()
