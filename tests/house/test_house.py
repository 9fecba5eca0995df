"""The rules of the house that a program can check."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from house.tools import KERNEL, ROOT, require_tool

TEXT = {
    ".c",
    ".h",
    ".inl",
    ".py",
    ".pyi",
    ".md",
    ".toml",
    ".yaml",
    ".yml",
    ".json",
    ".cmake",
    ".txt",
    ".sh",
    ".in",
    ".csv",
    "",
}
# A path of somebody's machine, or its name, in a tracked file works for that somebody only.
MACHINE = re.compile(
    r"(?<![\w.])/(?:home|root|Users|work|tmp|opt|mnt|private)/[\w.]"
    r"|(?<![\w.])[A-Z]:\\\\?Users"
    r"|\blocalhost:\d|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b"
)


def tracked_files() -> list[Path]:
    """Return what git tracks or would track; without git, as in an sdist, the test has nothing to say."""
    git = require_tool("git")
    listed = subprocess.run(
        [git, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("this is not a git checkout")
    return [p for name in listed.stdout.split("\0") if name and (p := ROOT / name).is_file()]


def test_no_tracked_file_names_a_machine() -> None:
    found = []
    for path in tracked_files():
        if path.suffix not in TEXT or path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if MACHINE.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not found, "\n".join(found)


def test_no_build_output_is_tracked() -> None:
    ends = {".o", ".so", ".dll", ".dylib", ".a", ".pyc", ".fmu", ".whl"}
    assert not [p for p in tracked_files() if p.suffix in ends or "out" in p.relative_to(ROOT).parts[1:2]]


def test_modules_know_only_whom_they_may() -> None:
    program = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([str(program), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_installed_kernel_is_as_new_as_its_sources() -> None:
    installed = Path(str(files("bough").joinpath("_src/kernel")))
    old = [
        str(path.relative_to(ROOT))
        for folder in ("src", "include")
        for path in sorted((KERNEL / folder).rglob("*.*"))
        if not (copy := installed / path.relative_to(KERNEL)).exists() or copy.read_bytes() != path.read_bytes()
    ]
    assert not old, f"changed after the library was installed: {', '.join(old)}; run `make kernel`"


OPTIONAL = {
    "control": "control",
    "cpylog": "nastran",
    "fmu_manipulation_toolbox": "dev",
    "pyNastran": "nastran",
    "pytest": "dev",
    "pyarrow": "parquet",
    "pythonfmu": "fmu",
}
"""Packages that the engine imports only where a user asks for what they do, and the extra that brings them."""
DISTRIBUTION = {"PIL": "pillow", "mpl_toolkits": "matplotlib", "ruamel": "ruamel.yaml"}
"""Packages whose name on PyPI is another one."""


def imported_packages() -> set[str]:
    """Packages of others that the modules of the engine import, wherever in the module."""
    names: set[str] = set()
    for path in (ROOT / "engine" / "bough").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names.add(str(node.module).split(".")[0])
    return names - set(sys.stdlib_module_names) - {"bough"}


def test_what_the_engine_imports_is_installed_with_it() -> None:
    """One `pip install` is enough for everything but what is named as optional: FMUs are run from it too."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (block,) = re.findall(r"^dependencies = \[\n(.*?)^\]", text, re.M | re.S)
    dependencies = set(re.findall(r'"([\w.-]+)', block))
    needed = {DISTRIBUTION.get(name, name) for name in imported_packages() - set(OPTIONAL)}
    assert needed <= dependencies, needed - dependencies
    assert "fmpy" in needed
