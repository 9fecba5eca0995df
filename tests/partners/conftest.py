from __future__ import annotations

import pytest
from partners.built import VERSIONS


@pytest.fixture(params=VERSIONS, ids=["fmi2", "fmi3"])
def fmi(request: pytest.FixtureRequest) -> str:
    return str(request.param)
