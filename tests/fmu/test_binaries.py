"""What the shipped libraries export, need and accept, read from the files themselves on all five platforms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import fmpy
import lief
import pytest
from fmu.models import VERSIONS
from fmu.signatures import SIGNATURES

from bough.fmu.package import FOLDERS, find_binary

HEADERS = Path(fmpy.__file__).parent / "c-code"
LIMIT = 700_000
"""Bytes. One library serves mechanisms, with loops, forces and inertia summed over points, and partners."""
LINKER = {"__dso_handle", "_mh_dylib_header"}
"""Marks of the file's own beginning that zig's linker exports from every Mach-O library, whatever it is told."""


def fmi_functions(fmi: str) -> set[str]:
    """Every function of the standard, from its header."""
    text = (HEADERS / f"fmi{fmi[0]}Functions.h").read_text(encoding="utf-8")
    return set(re.findall(rf"^\s*FMI{fmi[0]}_Export\s+\w+\s+(fmi{fmi[0]}\w+);", text, re.MULTILINE))


def parsed(platform: str, fmi: str) -> Any:
    binary = lief.parse(find_binary(platform, fmi))
    assert binary is not None
    return binary


def needed(binary: Any) -> set[str]:
    return {str(name) for name in binary.libraries}


def test_headers_list_the_functions_that_these_tests_call() -> None:
    extra = {
        "2.0": {"GetTypesPlatform", "GetVersion", "Instantiate", "FreeInstance"},
        "3.0": {"GetVersion", "FreeInstance"}
        | {f"Instantiate{kind}" for kind in ("CoSimulation", "ModelExchange", "ScheduledExecution")},
    }
    for fmi in VERSIONS:
        assert fmi_functions(fmi) == {f"fmi{fmi[0]}{name}" for name in {*SIGNATURES[fmi], *extra[fmi]}}


@pytest.mark.parametrize("fmi", VERSIONS)
@pytest.mark.parametrize("platform", ["x86_64-linux", "aarch64-linux"])
def test_linux_library_exports_the_fmi_needs_libc_and_libm_and_runs_on_glibc_2_17(platform: str, fmi: str) -> None:
    binary = parsed(platform, fmi)
    machine = lief.ELF.ARCH.X86_64 if platform.startswith("x86_64") else lief.ELF.ARCH.AARCH64
    assert binary.header.machine_type == machine
    assert {str(s.name) for s in binary.exported_symbols} == fmi_functions(fmi)
    assert needed(binary) <= {"libc.so.6", "libm.so.6"}
    versions = [str(x.name) for r in binary.symbols_version_requirement for x in r.get_auxiliary_symbols()]
    assert versions and all(v.startswith("GLIBC_2.") and int(v.split(".")[1]) <= 17 for v in versions), versions
    stack = [s for s in binary.segments if s.type == lief.ELF.Segment.TYPE.GNU_STACK]
    assert stack and not (int(stack[0].flags) & 1)  # no executable stack
    assert not any(str(e.tag).endswith(("RPATH", "RUNPATH", "TEXTREL")) for e in binary.dynamic_entries)


@pytest.mark.parametrize("fmi", VERSIONS)
def test_windows_library_exports_the_fmi_and_imports_ucrtbase_only(fmi: str) -> None:
    binary = parsed("x86_64-windows", fmi)
    assert binary.header.machine == lief.PE.Header.MACHINE_TYPES.AMD64
    assert {str(e.name) for e in binary.get_export().entries} == fmi_functions(fmi)
    assert {name.lower() for name in needed(binary)} == {"ucrtbase.dll"}


@pytest.mark.parametrize("fmi", VERSIONS)
@pytest.mark.parametrize("platform", ["x86_64-darwin", "aarch64-darwin"])
def test_macos_library_exports_the_fmi_needs_libsystem_only_and_runs_on_macos_11(platform: str, fmi: str) -> None:
    fat = lief.MachO.parse(list(find_binary(platform, fmi)))
    assert fat is not None and fat.size == 1
    binary: Any = fat.at(0)
    cpu = lief.MachO.Header.CPU_TYPE.X86_64 if platform.startswith("x86_64") else lief.MachO.Header.CPU_TYPE.ARM64
    assert binary.header.cpu_type == cpu
    exported = {str(export.symbol.name).removeprefix("_") for export in binary.dyld_info.exports}
    assert exported - LINKER == fmi_functions(fmi)
    own = str(binary.get(lief.MachO.LoadCommand.TYPE.ID_DYLIB).name)
    assert own == f"@rpath/bough_fmi{fmi[0]}.dylib"
    assert {str(library.name) for library in binary.libraries} - {own} == {"/usr/lib/libSystem.B.dylib"}
    assert list(binary.build_version.minos)[:2] == [11, 0]
    if platform.startswith("aarch64"):
        assert binary.has_code_signature  # macOS on ARM loads nothing unsigned


@pytest.mark.parametrize("fmi", VERSIONS)
def test_libraries_are_small_and_say_nothing_of_the_machine_they_were_built_on(fmi: str) -> None:
    for platform in FOLDERS:
        data = find_binary(platform, fmi)
        assert 10_000 < len(data) < LIMIT, platform
        for word in (str(Path.home()).encode() + b"/", b"/tmp/", str(Path(__file__).parents[2]).encode()):
            assert word not in data, (platform, word)
