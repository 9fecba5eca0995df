"""The worked examples of the guides run, and give what the guides say."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy.validation import validate_fmu
from house.tools import ROOT
from typer.testing import CliRunner

import bough
from bough.cli import app
from bough.mechanism.variable_table import scalar_table

GUIDES = sorted((ROOT / "docs").glob("fmu*.md"))


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with pendulum.yaml, as the guides have it."""
    shutil.copy(ROOT / "examples" / "pendulum" / "model.yaml", tmp_path / "pendulum.yaml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def example(name: str) -> dict[str, Any]:
    """Run the Python program of a guide; what it leaves."""
    (program,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / name).read_text(encoding="utf-8"), re.M | re.S)
    left: dict[str, Any] = {}
    exec(compile(program, name, "exec"), left)
    return left


def test_the_example_for_fmpy_runs(there: Path) -> None:
    left = example("fmu-fmpy.md")
    assert validate_fmu(str(there / "pendulum.fmu")) == []
    assert left["result"].dtype.names[1:4] == ("pivot.phi", "pivot.w", "pivot.a") and len(left["result"]) == 201
    # without inputs both kinds, and another solver, give the trajectory of bough.simulate
    run = bough.simulate("pendulum.yaml", stop=2.0, step=0.01, rtol=1e-9)
    np.testing.assert_allclose(left["fixed"]["pivot.phi"], run["pivot.phi"], atol=1e-7)
    exchange = left["exchange"]
    at = np.searchsorted(exchange["time"], run.t - 1e-9)
    np.testing.assert_allclose(exchange["pivot.phi"][at], run["pivot.phi"], atol=1e-5)
    assert abs(left["driven"]["pivot.phi"][-1] - run["pivot.phi"][-1]) > 1e-3


def test_the_example_for_casadi_runs(there: Path) -> None:
    left = example("fmu-casadi.md")
    run = left["run"]
    assert abs(run["pivot.phi"][-1]) < 1e-4 and abs(run["pivot.w"][-1]) < 1e-4
    jacobian = left["f"].jacobian()(left["start"], [0.0], 0)[0]
    expected = bough.Mechanism("pendulum.yaml").linearize([left["start"][0]], [0.0], [0.0]).A
    np.testing.assert_allclose(np.array(jacobian), expected, rtol=1e-12, atol=1e-12)


def test_casadi_takes_fmi_3_too(there: Path) -> None:
    casadi, zipfile = pytest.importorskip("casadi"), pytest.importorskip("zipfile")
    zipfile.ZipFile(bough.build_fmu("pendulum.yaml", "new.fmu", "3.0", platforms="native")).extractall("new")
    f = casadi.DaeBuilder("pendulum", "new").create("f", ["x", "u"], ["ode"])
    found = np.array(f([1.0, 0.5], [0.3])).ravel()
    expected = bough.Mechanism("pendulum.yaml").forward_dynamics([1.0], [0.5], [0.3])
    np.testing.assert_allclose(found, [0.5, *expected], rtol=1e-12)


def test_the_simulink_example_has_the_numbers_that_it_tells(there: Path) -> None:
    run = bough.Run("pendulum.yaml", {"pivot.damping": 0.05})
    lowest = 0.0
    for _ in range(3000):
        run.set("pivot.tau", float(np.clip(-40.0 * run["pivot.phi"] - 8.0 * run["pivot.w"], -10.0, 10.0)))
        run.step(1e-3)
        lowest = min(lowest, run["pivot.phi"])
    assert abs(lowest + 0.143) < 5e-4 and abs(run["pivot.phi"]) < 1e-6


def test_commands_in_the_guides_run(there: Path) -> None:
    shutil.copy("pendulum.yaml", "arm.yaml")
    commands = [
        command
        for guide in GUIDES
        for block in re.findall(r"^```\n(.*?)^```$", guide.read_text(encoding="utf-8"), re.M | re.S)
        for command in re.findall(r"^bough (.*?)(?:\s+#.*)?$", block, re.M)
    ]
    assert len(commands) >= 7
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command))
        assert done.exit_code == 0, f"{command}: {done.output}"


def test_variables_that_the_guides_name_exist(there: Path) -> None:
    names = {v.name for v in scalar_table(bough.Mechanism("pendulum.yaml"))}
    for guide in GUIDES:
        if guide.name == "fmu.md":
            continue
        text = guide.read_text(encoding="utf-8")
        told = {
            name.strip('"')
            for name in re.findall(r'[`"](?:pivot|rod|gravity|solver)[.\[][^`" ]*[`"]', text.replace("`", '"'))
        }
        assert told and told <= names, told - names
