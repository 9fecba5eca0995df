"""Reinstalling never leaves the environment without bough."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest
from house.tools import ROOT

FILES = {"bin/bough": "script", "lib/python3.11/site-packages/bough/_lib/kernel.so": "library"}


@pytest.fixture(scope="module")
def setup() -> ModuleType:
    spec = importlib.util.spec_from_file_location("setup_venv", ROOT / "build" / "setup_venv.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """An environment with an installed package, as pip lists it."""
    site = tmp_path / "lib/python3.11/site-packages"
    record = site / "bough-1.dist-info" / "RECORD"
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    record.parent.mkdir(parents=True)
    lines = ["../../../bin/bough", "bough/_lib/kernel.so", "bough/__pycache__/x.pyc", "bough-1.dist-info/RECORD"]
    record.write_text("".join(f"{line},,\n" for line in lines))
    return tmp_path


def _take_away(venv: Path) -> None:
    """As pip does before it puts the new one there; the new list of files comes last."""
    (venv / "bin/bough").unlink()
    shutil.rmtree(venv / "lib/python3.11/site-packages/bough-1.dist-info")


def _holds(venv: Path) -> bool:
    return all((venv / name).is_file() and (venv / name).read_text() == text for name, text in FILES.items())


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_interrupted_installation_brings_the_old_one_back(
    setup: ModuleType, venv: Path, error: type[BaseException]
) -> None:
    with pytest.raises(error), setup.Before(venv):
        _take_away(venv)
        assert not setup.Before(venv.parent / "none").whole()
        raise error
    assert _holds(venv) and not (venv / ".bough-before").exists()


def test_killed_installation_is_brought_back_by_the_next_call(setup: ModuleType, venv: Path) -> None:
    setup.Before(venv).__enter__()
    _take_away(venv)
    assert setup.Before(venv).whole() and _holds(venv)


def test_installation_that_ends_well_stays(setup: ModuleType, venv: Path) -> None:
    with setup.Before(venv):
        (venv / "bin/bough").write_text("new")
    assert (venv / "bin/bough").read_text() == "new" and not (venv / ".bough-before").exists()
