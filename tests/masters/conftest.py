from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fmu.models import VERSIONS, system

from bough import build_fmu

Builder = Callable[[str, str], Path]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    """FMU files for this machine by model and FMI version, each built once."""
    folder = tmp_path_factory.mktemp("built")

    def build(model: str, fmi: str) -> Path:
        path = folder / f"{model}{fmi[0]}.fmu"
        return path if path.exists() else build_fmu(system(model), path, fmi=fmi, platforms="native")

    return build


@pytest.fixture(params=VERSIONS, ids=["fmi2", "fmi3"])
def fmi(request: pytest.FixtureRequest) -> str:
    return str(request.param)
