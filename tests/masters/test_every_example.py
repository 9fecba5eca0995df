"""FMPy, ecos, libcosim and fmucontainer run every example's FMU to where `simulate` gets."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest
from house.tools import IN_CI
from metamorphic.examples import NAMES, model_of

SCRIPT = Path(__file__).parents[2] / "build" / "outside_tools.py"
CI_TOOLS = ("fmpy", "ecos", "libcosim", "fmucontainer")


@pytest.fixture(scope="session")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("outside_tools", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["outside_tools"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def jobs(script: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return script.jobs_of({name: model_of(name) for name in NAMES}, tmp_path_factory.mktemp("examples"))


@pytest.mark.parametrize("tool", CI_TOOLS)
def test_every_example_runs_there(script: Any, jobs: Any, tool: str) -> None:
    found = script.run_tool(tool, jobs)
    if any("libtbb" in text for text in found.values()) and not IN_CI:
        pytest.skip("ecospy needs libtbb12")
    assert len(found) == len(NAMES) * len(script.TOOLS[tool].versions)
    assert {path: text for path, text in found.items() if text != "ok"} == {}


def test_a_wrong_end_is_told(script: Any, jobs: Any) -> None:
    """The judge itself: an expectation that is off by a millionth of the largest position."""
    from dataclasses import replace

    job = jobs[0]
    largest = max(job.expected, key=lambda name: abs(job.expected[name]))
    wrong = replace(job, expected={**job.expected, largest: job.expected[largest] * (1 + 1e-6)})
    assert "positions differ" in script.run_tool("fmpy", [wrong])[wrong.path]
