"""Make or refresh the virtual environment of this checkout. Needs Python 3.10+ and nothing else.

    python3 build/setup_venv.py [--extras dev,bench] [--venv .venv]

The compiler (ziglang), cmake and ninja are packages from PyPI, installed into the environment itself: the
editable install is made without build isolation, so that `make kernel` can rebuild the library with the same
tools later. A stamp file keeps the digest of everything that decides what is installed; nothing is done when
it still matches.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD_TOOLS = ["fmpy>=0.3.20", "scikit-build-core>=1.0", "ziglang==0.17.*", "cmake>=3.21", "ninja>=1.10"]
WITHOUT_DEPENDENCIES = ["pyNastran>=1.4", "cpylog"]
# Editing one of these changes what is installed. C sources are not among them: `make kernel` compiles those.
INPUTS = ["pyproject.toml", "build/setup_venv.py", "engine/CMakeLists.txt", "engine/cmake"]

NO_VENV = """\
{python} cannot make a virtual environment (the venv module or ensurepip is missing). Any one of these helps:
  Debian, Ubuntu:  sudo apt-get install python3-venv
  any system:      {python} -m pip install --user virtualenv
  another Python:  make setup PYTHON=/path/to/python3
"""


def digest(extras: set[str]) -> str:
    """Return a digest of the files and options that decide what is installed."""
    h = hashlib.sha256(json.dumps([str(ROOT), sorted(extras), os.environ.get("BOUGH_CC", "")]).encode())
    for name in INPUTS:
        path = ROOT / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                h.update(file.read_bytes())
    return h.hexdigest()


def python_of(venv: Path) -> Path:
    """Return the interpreter inside a virtual environment."""
    return venv / "Scripts" / "python.exe" if os.name == "nt" else venv / "bin" / "python"


def quiet(*command: str) -> bool:
    """Run a command without showing its output; return whether it succeeded."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def works(venv: Path) -> bool:
    """Return whether the environment has a Python that runs and has pip."""
    return python_of(venv).exists() and quiet(str(python_of(venv)), "-m", "pip", "--version")


def make_venv(venv: Path) -> None:
    """Create the environment by the first way that this machine offers."""
    for maker in (["venv"], ["virtualenv"]):
        if quiet(sys.executable, "-m", *maker, str(venv)) and works(venv):
            return
    # In CI the machine is ours to complete; on a user's machine we only say what is missing.
    if os.environ.get("CI") == "true" and os.name == "posix" and os.geteuid() == 0:
        quiet("apt-get", "update", "-q")
        quiet("apt-get", "install", "-y", "-q", "--no-install-recommends", "python3-venv")
        if quiet(sys.executable, "-m", "venv", str(venv)) and works(venv):
            return
    sys.exit(NO_VENV.format(python=sys.executable))


def pip_install(venv: Path, *arguments: str) -> None:
    """Install with the environment's own pip; end with its exit code when it fails."""
    command = [
        str(python_of(venv)),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        *arguments,
    ]
    env = dict(os.environ)
    # scikit-build-core looks for cmake and ninja on the path.
    env["PATH"] = f"{python_of(venv).parent}{os.pathsep}{env.get('PATH', '')}"
    status = subprocess.run(command, cwd=ROOT, env=env, check=False).returncode
    if status:
        sys.exit(f"pip failed ({status}). If the network is the cause, run the same command again.")


class Before:
    """What is installed of bough, kept aside while it is installed anew: pip takes the old one away first.

    If the installation fails or is interrupted, what is missing comes back. After a kill the next call brings it back.
    """

    def __init__(self, venv: Path) -> None:
        """Bring back what a killed installation has left aside."""
        self.venv, self.kept = venv, venv / ".bough-before"
        if self.kept.is_dir():
            self.restore()

    def files(self) -> list[Path]:
        """Files of the installed package, from its list of them, relative to the environment; caches are left out."""
        lists = [*self.venv.glob("lib/python*/site-packages/bough-*.dist-info/RECORD")]
        lists += self.venv.glob("Lib/site-packages/bough-*.dist-info/RECORD")
        named = [r.parents[1] / line.split(",")[0] for r in lists for line in r.read_text().splitlines()]
        return [Path(os.path.relpath(file, self.venv)) for file in named if file.suffix != ".pyc"]

    def whole(self) -> bool:
        """Whether bough is installed, with all of its files."""
        files = self.files()
        return bool(files) and all((self.venv / file).is_file() for file in files)

    def __enter__(self) -> None:
        """Keep a copy."""
        for file in self.files() if self.whole() else []:
            (self.kept / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.venv / file, self.kept / file)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Leave the new one, or bring the old one back."""
        if kind is None:
            shutil.rmtree(self.kept, ignore_errors=True)
        else:
            self.restore()

    def restore(self) -> None:
        """Bring back what was there, unless all of bough is there."""
        if not self.whole():
            for file in self.kept.rglob("*"):
                if file.is_file():
                    place = self.venv / file.relative_to(self.kept)
                    place.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(file, place)
        shutil.rmtree(self.kept, ignore_errors=True)


def main() -> None:
    """Bring the environment up to date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extras", default="", help="comma-separated: dev, bench")
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv")
    options = parser.parse_args()
    if sys.version_info < (3, 10):  # noqa: UP036 - this script runs before any version is enforced
        found = sys.version.split()[0]
        sys.exit(f"bough needs Python 3.10 or newer, this is {found}: make setup PYTHON=/path/to/python3")

    options.venv = options.venv.absolute()
    stamp = options.venv / ".bough-setup.json"
    installed = json.loads(stamp.read_text()) if stamp.exists() else {"extras": [], "digest": ""}
    # Extras add up: `make demo` after `make test` must not reinstall without the development tools.
    extras = {e for e in options.extras.split(",") if e} | set(installed["extras"])
    wanted = {"extras": sorted(extras), "digest": digest(extras)}
    before = Before(options.venv)
    if installed == wanted and works(options.venv) and before.whole():
        return

    if not works(options.venv):
        print(f"making {options.venv.name} with {sys.executable}", flush=True)
        make_venv(options.venv)
    print("installing the build tools (zig, cmake, ninja)", flush=True)
    pip_install(options.venv, *BUILD_TOOLS)
    print("installing bough" + (f" with {', '.join(sorted(extras))}" if extras else ""), flush=True)
    if stamp.exists():  # An interrupted installation is no installation, even if the sources go back to what they were.
        stamp.write_text(json.dumps({**installed, "digest": ""}))
    with before:
        what = f".[{','.join(sorted(extras))}]" if extras else "."
        pip_install(options.venv, "--no-build-isolation", "--editable", what)
    if "dev" in extras:
        # pyNastran asks for an old numpy that it runs without: not let it pull everything else down.
        pip_install(options.venv, "--no-deps", *WITHOUT_DEPENDENCIES)
    stamp.write_text(json.dumps(wanted))


if __name__ == "__main__":
    main()
