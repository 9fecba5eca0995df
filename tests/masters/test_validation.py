"""What validators say of every example's FMU: nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fmpy.validation import validate_fmu
from fmu.models import VERSIONS

from bough import build_fmu

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/model.yaml"))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("fmi", VERSIONS)
@pytest.mark.parametrize("model", EXAMPLES, ids=[p.parent.name for p in EXAMPLES])
def test_validators_find_nothing(model: Path, fmi: str, tmp_path: Path) -> None:
    path = build_fmu(model, tmp_path / "it.fmu", fmi=fmi)
    assert validate_fmu(str(path)) == []
    program = Path(sys.executable).with_name("fmutool")
    done = subprocess.run([str(program), "-input", str(path), "-check"], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and "compliant with FMI-" in said and "No semantic error" in said, said
    assert "ERROR" not in said and "WARNING" not in said and "FATAL" not in said, said


def test_validators_find_nothing_in_an_fmu_with_arrays(tmp_path: Path) -> None:
    for model in EXAMPLES:
        assert validate_fmu(str(build_fmu(model, tmp_path / "it.fmu", fmi="3.0", arrays=True))) == []
