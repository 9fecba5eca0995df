"""Compile what changed and put the libraries where the editable install finds them.

    python build/rebuild_kernel.py [--kernel-only]

The FMU binaries of all platforms take a minute when the kernel has changed; `--kernel-only` leaves them as they are.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from make_fields import main as make_fields

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Build and install from the folder that `make setup` configured with this Python's cmake."""
    make_fields()
    folders = sorted(p.parent for p in (ROOT / "build" / "out").glob("py3-none-*/editable/build.ninja"))
    if len(folders) != 1:
        sys.exit(f"{len(folders)} configured build folders under build/out: run `make clean setup`")
    scripts = sysconfig.get_path("scripts")
    env = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}"}
    cmake = str(Path(scripts) / "cmake")
    # installing adds files and removes none: a source that moved would be there twice
    shutil.rmtree(Path(sysconfig.get_path("platlib")) / "bough" / "_src", ignore_errors=True)
    targets = ["--target", "bough_kernel", "bough_binding"] if "--kernel-only" in sys.argv else []
    for command in (
        [cmake, "--build", str(folders[0]), *targets],
        [cmake, "--install", str(folders[0]), "--prefix", sysconfig.get_path("platlib")],
    ):
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        worked = command[1] == "--build" and "no work to do" not in done.stdout
        if worked or done.returncode:
            print(done.stdout + done.stderr, end="")
        if done.returncode:
            sys.exit(done.returncode)


if __name__ == "__main__":
    main()
