"""What docs/partners.md shows works as it shows it, with the arm of README."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from house.tools import ROOT
from typer.testing import CliRunner

from bough.cli import app
from bough.partners import PartnerError, describe_partner

TEXT = (ROOT / "docs" / "partners.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def arm(folder: Path) -> Path:
    (model,) = re.findall(r"^```yaml\n(bough: 1\nname: arm\n.*?)^```", README, re.M | re.S)
    path = folder / "arm.yaml"
    path.write_text(model, encoding="utf-8")
    return path


def test_commands_of_the_document_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arm(tmp_path)
    commands = [line.split()[1:] for line in TEXT.splitlines() if line.startswith("bough build-partner")]
    assert [command[1] for command in commands] == ["motor", "controller", "model-controller", "--list"]
    for command in commands:
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
    assert {path.name for path in tmp_path.glob("*.fmu")} == {"motor.fmu", "controller.fmu", "brain.fmu"}


def test_one_value_is_asked_for_where_one_hinge_is_driven(tmp_path: Path) -> None:
    with pytest.raises(PartnerError, match=r"phi_end has 2 values; expected 1 value \(one hinge is driven\)"):
        describe_partner("model-controller", values={"phi_end": [1.2, 0.4]}, model=arm(tmp_path))
