from __future__ import annotations

from collections.abc import Callable

import pytest
from fmu.fmi import Fmu
from fmu.models import VERSIONS, system, unpack

Finder = Callable[[str, str], Fmu]


@pytest.fixture(scope="session")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> Finder:
    """Unpacked FMUs by model and FMI version, each made once."""
    made: dict[tuple[str, str], Fmu] = {}

    def find(model: str, fmi: str) -> Fmu:
        if (model, fmi) not in made:
            made[model, fmi] = unpack(system(model), fmi, tmp_path_factory.mktemp(f"{model}{fmi[0]}"))
        return made[model, fmi]

    return find


@pytest.fixture(params=VERSIONS, ids=["fmi2", "fmi3"])
def fmi(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def arm(fmus: Finder, fmi: str) -> Fmu:
    return fmus("arm", fmi)


@pytest.fixture
def flyer(fmus: Finder, fmi: str) -> Fmu:
    return fmus("flyer", fmi)
