"""What validators say of every example's FMU: nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from fmpy.validation import validate_fmu
from fmu.models import VERSIONS
from house.validators import assert_valid
from runtimes.builds import EXAMPLES, model_file

from bough import build_fmu


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("fmi", VERSIONS)
@pytest.mark.parametrize("model", EXAMPLES)
def test_validators_find_nothing(model: str, fmi: str, tmp_path: Path) -> None:
    assert_valid(build_fmu(model_file(model), tmp_path / "it.fmu", fmi=fmi))


def test_validators_find_nothing_in_an_fmu_with_arrays(tmp_path: Path) -> None:
    for model in EXAMPLES:
        assert validate_fmu(str(build_fmu(model_file(model), tmp_path / "it.fmu", fmi="3.0", arrays=True))) == []
