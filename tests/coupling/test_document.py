"""What docs/systems.md shows works as it shows it."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from coupling.parts import RIGID
from house.tools import ROOT
from typer.testing import CliRunner

import bough
from bough.cli import app
from bough.coupling import couple, run
from bough.coupling.container import CONTAINER

TEXT = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")


def shown(head: str) -> str:
    """The block of the document that begins with some lines."""
    (block,) = re.findall(rf"^```\n({head}\n.*?)^```", TEXT, re.M | re.S)
    return str(block)


def test_system_file_commands_and_program_of_the_document_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)
    Path("drive.yaml").write_text(shown("bough_system: 1\nname: drive"), encoding="utf-8")
    Path("arm.yaml").write_text(repr(RIGID).replace("'", '"'), encoding="utf-8")
    commands = [line.split()[1:] for line in TEXT.splitlines() if line.startswith("bough ")]
    assert [command[0] for command in commands] == ["couple", "run", "report"]
    for command in commands[:2]:
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
    assert bough.Result.from_csv("run.csv").t[-1] == 2.0
    exec(compile(program, "systems.md", "exec"), {})


def test_linear_axis_of_the_document_moves_a_metre_and_loses_no_energy_in_the_pinion(tmp_path: Path) -> None:
    (tmp_path / "crane.yaml").write_text(shown("bough: 1\nname: crane"), encoding="utf-8")
    (tmp_path / "gantry.yaml").write_text(shown("bough_system: 1\nname: gantry"), encoding="utf-8")
    made = couple(tmp_path / "gantry.yaml", tmp_path / "gantry.ssp", platforms="native")
    assert len(made.warnings) == 1 and "fmucontainer does not scale values" in made.warnings[0]
    assert made.component("crane").values["rail.armature"] == 400 * 2e-5 * 10**2
    result = run(tmp_path / "gantry.ssp")
    s, v, f = (result[f"crane.rail.{name}"] for name in ("s", "v", "f"))
    # The swinging load drags the cart by a centimetre or two; the reference ends at 1 m.
    assert s[-1] == pytest.approx(1.0, abs=0.03) and np.abs(result["crane.rope.phi"]).max() > 0.02
    np.testing.assert_allclose(result["motor.w"], 20 * v, atol=1e-12)
    np.testing.assert_allclose(f, 20 * result["motor.tau"], atol=1e-9)
    port = "motor.tau -> crane.rail.f"
    work = float(np.sum((f[1:] * v[1:] + f[:-1] * v[:-1]) / 2 * np.diff(result.t)))
    assert result.statistics[f"energy {port}"] == pytest.approx(work, rel=1e-3)
    assert abs(result.statistics[f"residual {port}"]) < 1e-4 * abs(work)


def test_description_for_fmucontainer_is_left_out_where_values_are_scaled(tmp_path: Path) -> None:
    """Without the scaled links it would be another system."""
    (tmp_path / "crane.yaml").write_text(shown("bough: 1\nname: crane"), encoding="utf-8")
    text = shown("bough_system: 1\nname: gantry")
    for factor, there in (("20", False), ("1", True)):
        (tmp_path / "gantry.yaml").write_text(text.replace("factor: 20", f"factor: {factor}"), encoding="utf-8")
        made = couple(tmp_path / "gantry.yaml", tmp_path / "gantry.ssp", platforms="native")
        assert any("no container.json is in the package" in warning for warning in made.warnings) != there
        with zipfile.ZipFile(tmp_path / "gantry.ssp") as archive:
            assert (CONTAINER in archive.namelist()) == there
