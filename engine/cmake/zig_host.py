"""Print `path-to-zig;target` for this machine: what the kernel library is compiled with and for.

A target is always named, even for the machine at hand: without one zig compiles for the very CPU and
C library it runs on, and the result would not run on an older machine.
"""

import os
import platform
import sys

import ziglang

ARCHITECTURES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
# Oldest systems served: the C library of manylinux2014, and macOS 11 (the first on arm64).
SYSTEMS = {"Linux": "linux-gnu.2.17", "Darwin": "macos.11.0", "Windows": "windows-gnu"}


def target() -> str:
    """Return the zig target triple of this machine, for the oldest system we serve."""
    system, machine = platform.system(), platform.machine().lower()
    if system not in SYSTEMS or machine not in ARCHITECTURES:
        sys.exit(f"no zig target is known for {system} on {machine}: set BOUGH_CC to a C compiler of this machine")
    abi = SYSTEMS[system]
    if system == "Linux" and platform.libc_ver()[0] != "glibc":
        abi = "linux-musl"
    return f"{ARCHITECTURES[machine]}-{abi}"


def zig() -> str:
    """Return the path of the zig program inside the ziglang package."""
    folder = os.path.dirname(os.path.abspath(ziglang.__file__))
    return os.path.join(folder, "zig.exe" if os.name == "nt" else "zig").replace(os.sep, "/")


if __name__ == "__main__":
    sys.stdout.write(f"{zig()};{target()}")
