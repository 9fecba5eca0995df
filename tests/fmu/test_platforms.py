"""The same model on other platforms: Windows under wine, aarch64 Linux under qemu, both against this machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import fmpy
import numpy as np
import pytest
from fmu.fmi import Array
from fmu.models import VERSIONS, references, system, unpack
from house.tools import IN_CI, require_tool

HOST = Path(__file__).parent / "c" / "host.c"
HEADERS = Path(fmpy.__file__).parent / "c-code"
ARM64 = Path("/usr/aarch64-linux-gnu")
STRANGE = "Größe 日本 100% #1"
"""A folder whose name needs encoding, and UTF-16 on Windows."""


def zig() -> str:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        if IN_CI:
            pytest.fail("ziglang is not installed, and CI must not skip a test")
        pytest.skip("ziglang is not installed")
    return str(Path(spec.submodule_search_locations[0]) / "zig")


def zig_run(*arguments: str) -> None:
    done = subprocess.run([zig(), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def host_program(folder: Path, platform: str) -> Path:
    """The master, compiled for a platform; for Windows without zig's C runtime, which takes minutes to build."""
    folder.mkdir()
    flags = ["-std=c99", "-O1", "-isystem", str(HEADERS)]
    if platform != "x86_64-windows":
        target = f"{platform.split('-')[0]}-linux-gnu.2.17"
        zig_run("cc", "-target", target, *flags, str(HOST), "-ldl", "-o", str(folder / "host"))
        return folder / "host"
    zig_run(
        "cc",
        "-target",
        "x86_64-windows-gnu",
        *flags,
        "-mno-stack-arg-probe",
        "-c",
        str(HOST),
        "-o",
        str(folder / "host.o"),
    )
    libraries = []
    for dll, names in (("kernel32", "LoadLibraryA GetProcAddress ExitProcess"), ("ucrtbase", "getenv puts")):
        definition, library = folder / f"{dll}.def", folder / f"{dll}.lib"
        definition.write_text(f"LIBRARY {dll}.dll\nEXPORTS\n" + "\n".join(names.split()) + "\n", encoding="utf-8")
        zig_run("dlltool", "-m", "i386:x86-64", "-d", str(definition), "-l", str(library))
        libraries.append(str(library))
    options = ["/entry:start", "/subsystem:console", "/nodefaultlib", f"/out:{folder / 'host.exe'}"]
    zig_run("lld-link", *options, str(folder / "host.o"), *libraries)
    return folder / "host.exe"


def run(command: list[str], fmi: str, platform: str, folder: Path, location: str, **extra: str) -> Array:
    """Run a host on the platform's FMU; the outputs it printed, of the fixed-step and of the adaptive run."""
    of = system("arm")
    refs = references(of)
    fmu = unpack(of, fmi, folder / STRANGE, platform)
    library = shutil.copy(fmu.library, folder / f"fmu{fmu.library.suffix}")  # loaders are not what is tested here
    outputs = [str(refs[v.name]) for v in of.variables if v.causality == "output"]
    environment = {
        **os.environ,
        **extra,
        "FMU_LIBRARY": f".\\{Path(library).name}" if "windows" in platform else str(library),
        "FMU_TOKEN": fmu.token,
        "FMU_LOCATION": location.format(path=quote(str(fmu.resources))),
        "FMU_NUMBERS": " ".join(str(refs[n]) for n in ("shoulder.tau", "solver.method", "solver.step")),
        "FMU_OUTPUTS": " ".join(outputs),
    }
    done = subprocess.run(
        command, capture_output=True, check=False, env=environment, cwd=folder, timeout=150, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    lines = done.stdout.decode().split()
    assert len(lines) == 2 * len(outputs)
    return np.array([struct.unpack(">d", bytes.fromhex(line))[0] for line in lines]).reshape(2, -1)


def native(fmi: str, folder: Path) -> Array:
    folder.mkdir()
    host = host_program(folder / "build", "x86_64-linux")
    return run([str(host)], fmi, "x86_64-linux", folder, "file://{path}" if fmi == "2.0" else "{path}/")


def agree(there: Array, here: Array) -> None:
    """Relative to each number, or to a thousandth of the largest for those that are sums of cancelling terms.

    Where the CPU has AVX2, or is an aarch64, all platforms fuse the same products and use no mathematics of the
    system's library: the numbers are the same to the last bit or nearly so, adaptive steps included. (A change in the
    last digit would not stay small with dopri5: its steps follow from error estimates, and a start angle changed in its
    last digit moves the results of this run by 1e-11.)
    """
    scale = np.maximum(np.abs(here), 1e-3 * np.abs(here).max())
    fixed, adaptive = np.abs((there - here) / scale).max(axis=1)
    assert fixed < 1e-12
    assert adaptive < 1e-12


@pytest.fixture(scope="session")
def wine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A Windows of our own, thrown away afterwards: half a gigabyte."""
    program = shutil.which("wine64") or shutil.which("wine") or "/usr/lib/wine/wine64"
    if not Path(program).exists():
        program = require_tool("wine64")
    prefix = tmp_path_factory.mktemp("wine") / "prefix"
    settings = {
        "WINEPREFIX": str(prefix),
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml=",
        "LANG": "C.UTF-8",
    }
    yield {**settings, "program": program}
    server = next((p for p in ("/usr/lib/wine/wineserver64", "/usr/lib/wine/wineserver") if Path(p).exists()), None)
    if server is not None:
        subprocess.run([server, "-k"], env={**os.environ, **settings}, check=False, capture_output=True)
    shutil.rmtree(prefix, ignore_errors=True)


@pytest.mark.slow
def test_windows_library_gives_the_numbers_of_linux(wine: dict[str, str], tmp_path: Path) -> None:
    extra = {k: v for k, v in wine.items() if k != "program"}
    host = host_program(tmp_path / "build", "x86_64-windows")
    for fmi in VERSIONS:
        expected = native(fmi, tmp_path / f"native{fmi[0]}")
        locations = ["file:///Z:{path}", "file:/Z:{path}/"] if fmi == "2.0" else ["Z:{path}", "Z:{path}\\"]
        for i, location in enumerate(locations):
            folder = tmp_path / f"windows{fmi[0]}{i}"
            folder.mkdir()
            got = run([wine["program"], str(host)], fmi, "x86_64-windows", folder, location, **extra)
            agree(got, expected)


@pytest.mark.parametrize("fmi", VERSIONS)
def test_aarch64_library_gives_the_numbers_of_x86(fmi: str, tmp_path: Path) -> None:
    qemu = require_tool("qemu-aarch64")
    if not ARM64.exists():
        if IN_CI:
            pytest.fail("libc6-arm64-cross is not installed, and CI must not skip a test")
        pytest.skip("libc6-arm64-cross is not installed")
    host = host_program(tmp_path / "build", "aarch64-linux")
    (tmp_path / "arm64").mkdir()
    location = "file:{path}" if fmi == "2.0" else "{path}"
    got = run([qemu, "-L", str(ARM64), str(host)], fmi, "aarch64-linux", tmp_path / "arm64", location)
    agree(got, native(fmi, tmp_path / "native"))
