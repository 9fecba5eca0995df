"""What docs/systems.md shows works as it shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from house.tools import ROOT
from systems.parts import RIGID
from typer.testing import CliRunner

import bough
from bough.cli import app

TEXT = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")


def test_system_file_commands_and_program_of_the_document_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (file,) = re.findall(r"^```\n(bough_system.*?)^```", TEXT, re.M | re.S)
    (program,) = re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)
    Path("drive.yaml").write_text(file, encoding="utf-8")
    Path("arm.yaml").write_text(repr(RIGID).replace("'", '"'), encoding="utf-8")
    commands = [line.split()[1:] for line in TEXT.splitlines() if line.startswith("bough ")]
    assert [command[0] for command in commands] == ["couple", "run", "report"]
    for command in commands[:2]:
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
    assert bough.Result.from_csv("run.csv").t[-1] == 2.0
    exec(compile(program, "systems.md", "exec"), {})
