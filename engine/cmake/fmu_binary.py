"""Build the FMU binaries of one platform with zig: one for FMI 2 and one for FMI 3.

    python fmu_binary.py --zig ZIG --platform x86_64-windows --root REPOSITORY --headers FMI_HEADERS --out FOLDER

Called by CMake when the package is built, once for each of five platforms. Each serves mechanisms
and partners (motor, controller): the resource says which. Sources compile to objects; ELF and
Mach-O files are linked by zig cc. For Windows the object files are linked with lld against an import library of
ucrtbase.dll made here: zig's own mingw runtime would take minutes to compile and is not needed.
What was built is checked before it is handed on: it exists, is not empty, and exports the FMI functions.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TARGETS = {
    "x86_64-linux": "x86_64-linux-gnu.2.17",
    "aarch64-linux": "aarch64-linux-gnu.2.17",
    "x86_64-windows": "x86_64-windows-gnu",
    "x86_64-darwin": "x86_64-macos.11.0",
    "aarch64-darwin": "aarch64-macos.11.0",
}
EXTENSIONS = {"linux": ".so", "windows": ".dll", "darwin": ".dylib"}
FLAGS = [
    "-std=c99",
    "-O2",
    "-DNDEBUG",
    "-DBOUGH_API=",
    "-DBOUGH_NO_BATCH",
    "-fvisibility=hidden",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fcx-limited-range",
    "-ffunction-sections",
    "-fno-asynchronous-unwind-tables",
    "-g0",
]
WINDOWS_ENTRY = """\
/* The entry point that Windows calls, and the two symbols that the compiler expects of a runtime: the mark of floating
 * point, and the probe that touches every page of a large stack frame (size in rax, all registers kept). */
int _fltused = 0;
__asm__(".globl ___chkstk_ms\\n___chkstk_ms:\\n"
        "pushq %rcx\\n pushq %rax\\n leaq 24(%rsp), %rcx\\n"
        "1: cmpq $0x1000, %rax\\n jb 2f\\n subq $0x1000, %rcx\\n orq $0, (%rcx)\\n subq $0x1000, %rax\\n jmp 1b\\n"
        "2: subq %rax, %rcx\\n orq $0, (%rcx)\\n popq %rax\\n popq %rcx\\n ret\\n");
int DllMain(void *instance, unsigned reason, void *reserved);
int DllMain(void *instance, unsigned reason, void *reserved) {
  (void)instance, (void)reason, (void)reserved;
  return 1;
}
"""


UCRT = frozenset(
    "_wfopen atan2 calloc ceil exp fclose floor fread free frexp fseek ftell ldexp log malloc "
    "memcmp memcpy memmove memset pow realloc strcmp strlen strncmp".split()
)
"""What the library may ask of ucrtbase.dll; anything else is a mistake that only a user's machine would show."""


class Build:
    """One binary in the making."""

    def __init__(self, arguments: argparse.Namespace, fmi: str) -> None:
        """Collect paths and flags."""
        self.zig, self.platform, self.fmi = arguments.zig, arguments.platform, fmi
        self.root = Path(arguments.root)
        self.name = "bough_fmi"
        self.out = Path(arguments.out) / f"{self.name}{fmi}{EXTENSIONS[self.platform.rpartition('-')[2]]}"
        self.work = Path(arguments.out) / "objects"
        kernel = self.root / "engine" / "kernel"
        common, adapter = self.root / "fmu_src" / "common", self.root / "fmu_src" / f"fmi{self.fmi}"
        self.sources = [p for p in sorted((kernel / "src").rglob("*.c")) if p.name != "lanes_four.c"]
        self.adapters = [*sorted(common.glob("*.c")), *sorted(adapter.glob("*.c"))]
        folders = [kernel / "include", kernel / "src", common, Path(arguments.headers)]
        self.includes = [f"-I{folder}" for folder in folders[:-1]] + ["-isystem", str(folders[-1])]

    def run(self, *command: str) -> None:
        """Run zig, and say what failed."""
        done = subprocess.run([self.zig, *command], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{self.platform}: zig {' '.join(command)}\n{done.stdout}{done.stderr}")

    def compile(self, source: Path, name: str, *extra: str) -> Path:
        """One source to one object, unless it is there and newer than every source it may include."""
        made = self.work / f"{name}.o"
        newest = max(p.stat().st_mtime for p in self._inputs(source))
        if not made.exists() or made.stat().st_mtime < newest:
            target = ["-target", TARGETS[self.platform]]
            pic = [] if "windows" in self.platform else ["-fPIC"]
            self.run("cc", *target, *FLAGS, *pic, *self.includes, *extra, "-c", str(source), "-o", str(made))
        return made

    def _inputs(self, source: Path) -> list[Path]:
        kernel = self.root / "engine" / "kernel"
        found = [Path(__file__)]
        own = kernel / "src" if kernel / "src" in source.parents else self.root / "fmu_src"
        for folder in (kernel / "include", own):
            found += [p for p in folder.rglob("*") if p.suffix in (".c", ".h", ".inl", ".def")]
        return found

    def objects(self) -> list[Path]:
        """Every object; the kernel's are shared by all libraries. x86-64 gets the sweeps for AVX2 too."""
        self.work.mkdir(parents=True, exist_ok=True)
        jobs: list[tuple[Path, str, list[str]]] = []
        for source in self.sources:
            if not source.name.startswith("lanes_"):
                small = [] if source.name == "dopri5.c" else ["-Os"]  # time goes into the sweeps and the default's sums
                # x86-64 has no fused multiply-add outside the v3 sweeps: leave it out here on every CPU, so that all
                # platforms compute the same digits
                jobs.append((source, source.stem, [*small, "-ffp-contract=off"]))
                continue
            if not self.platform.startswith("x86_64"):
                jobs.append((source, f"{source.stem}_base", ["-DBOUGH_ISA=base"]))
                continue
            # CPUs without AVX2 are old: what they run is small rather than fast
            jobs.append((source, f"{source.stem}_base", ["-DBOUGH_ISA=base", "-DBOUGH_SMALL", "-Os"]))
            jobs.append((source, f"{source.stem}_v3", ["-DBOUGH_ISA=v3", "-mcpu=x86_64_v3"]))
        plain = ["-Os", "-ffp-contract=off"]
        jobs += [(source, f"fmi{self.fmi}_{source.stem}", plain) for source in self.adapters]
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            return list(pool.map(lambda job: self.compile(job[0], job[1], *job[2]), jobs))

    def link(self, objects: list[Path]) -> None:
        """The shared library."""
        if "windows" in self.platform:
            self.link_windows(objects)
            return
        target = TARGETS[self.platform]
        strip = ["-s"] if "linux" in self.platform else ["-Wl,-S", "-Wl,-x"]
        extra = ["-Wl,--gc-sections", "-Wl,--build-id=none"]
        if "linux" not in self.platform:  # a name to be found under, instead of the path of this build
            extra = ["-Wl,-dead_strip", f"-Wl,-install_name,@rpath/{self.out.name}"]
        files = [str(o) for o in objects]
        self.run("cc", "-target", target, "-shared", "-o", str(self.out), *files, *strip, *extra, "-lm")

    def link_windows(self, objects: list[Path]) -> None:
        """With lld, an import library of the C runtime and an entry point of our own."""
        entry = self.work / "entry.c"
        entry.write_text(WINDOWS_ENTRY, encoding="utf-8")
        objects = [*objects, self.compile(entry, "entry")]
        needed = self.undefined(objects)
        definition, library = (self.work / f"ucrt_{self.name}{self.fmi}{end}" for end in (".def", ".lib"))
        definition.write_text("LIBRARY ucrtbase.dll\nEXPORTS\n" + "".join(f"  {n}\n" for n in needed), encoding="utf-8")
        self.run("dlltool", "-m", "i386:x86-64", "-d", str(definition), "-l", str(library))
        files = [str(o) for o in objects]
        options = [
            "/dll",
            "/entry:DllMain",
            "/nodefaultlib",
            "/opt:ref",
            "/brepro",
            f"/out:{self.out}",
            f"/implib:{self.work / 'own.lib'}",
        ]
        self.run("lld-link", *options, *files, str(library))

    def undefined(self, objects: list[Path]) -> list[str]:
        """Names that the objects leave to the C runtime."""
        sys.path.insert(0, str(Path(__file__).parent))
        from coff import symbols

        defined: set[str] = set()
        undefined: set[str] = set()
        for o in objects:
            here, there = symbols(o.read_bytes())
            defined |= here
            undefined |= there
        needed = {name.removeprefix("__imp_") for name in undefined} - defined
        if strange := needed - UCRT:
            sys.exit(f"{self.platform}: not in ucrtbase.dll, or not known to be: {', '.join(sorted(strange))}")
        return sorted(needed)

    def check(self) -> None:
        """It is there, it is not empty, and it has the functions of the FMI."""
        data = self.out.read_bytes() if self.out.exists() else b""
        wanted = b"fmi2DoStep" if self.fmi == "2" else b"fmi3DoStep"
        if len(data) < 10000 or wanted not in data:
            sys.exit(f"{self.platform}: {self.out} has {len(data)} bytes and does not export {wanted.decode()}")


def main() -> None:
    """Build, link and check."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("zig", "platform", "root", "headers", "out"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    for fmi in ("2", "3"):
        build = Build(arguments, fmi)
        build.link(build.objects())
        build.check()


if __name__ == "__main__":
    main()
