"""What independent programs say of an FMU."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from fmpy.validation import validate_fmu


def assert_valid(path: Path) -> None:
    """FMPy's validation and `fmutool -check` find nothing in an FMU."""
    assert validate_fmu(str(path)) == []
    command = [sys.executable, "-m", "fmu_manipulation_toolbox.cli.fmutool", "-input", str(path), "-check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    assert "compliant with FMI-" in told and "No semantic error" in told, told
    assert not [line for line in told.splitlines() if not line.startswith("INFO")], told
