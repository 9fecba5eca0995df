"""What the documents show works as they show it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from house.tools import ROOT
from typer.testing import CliRunner

import bough
from bough.cli import app

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
MODELS = [
    pytest.param(text, id=f"{path.name}-{number}")
    for path in DOCUMENTS
    for number, text in enumerate(re.findall(r"^```yaml\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S), 1)
]


@pytest.mark.parametrize("text", MODELS)
def test_model_in_a_document_can_be_simulated(text: str, tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(text, encoding="utf-8")
    result = bough.simulate(bough.load(path), stop=0.01, step=0.005)
    assert len(result.t) == 3


def test_readme_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (model,) = re.findall(r"^```yaml\n(.*?)^```", readme, re.M | re.S)
    (program,) = re.findall(r"^```python\n(.*?)^```", readme, re.M | re.S)
    (tmp_path / "arm.yaml").write_text(model, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "README.md", "exec"), {})
    assert (tmp_path / "run.csv").stat().st_size > 0


def test_readme_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (model,) = re.findall(r"^```yaml\n(.*?)^```", readme, re.M | re.S)
    (system,) = re.findall(r"^```yml\n(.*?)^```", readme, re.M | re.S)
    (tmp_path / "arm.yaml").write_text(model, encoding="utf-8")
    (tmp_path / "drive.yaml").write_text(system, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    blocks = "".join(text for kind, text in re.findall(r"^```(\w*)\n(.*?)^```$", readme, re.M | re.S) if not kind)
    commands = re.findall(r"^bough (.*?)(?:#.*)?$", blocks, re.M)
    assert commands
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command))
        assert done.exit_code == 0, f"{command}: {done.output}"
    arm = {"arm.yaml", "arm_modes.png", "run.csv", "run.html", "arm.fmu", "arm.reference.csv", "arm.reference.json"}
    drive = {"drive.yaml", "drive.ssp", "drive.csv", "drive.html"}
    assert {p.name for p in tmp_path.iterdir()} == arm | drive


def test_check_prints_what_its_documentation_shows(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (model,) = re.findall(r"^```yaml\n(.*?)^```", readme, re.M | re.S)
    (tmp_path / "arm.yaml").write_text(model, encoding="utf-8")
    shown = CliRunner().invoke(app, ["check", str(tmp_path / "arm.yaml")]).stdout
    assert shown
    assert shown in (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^## `bough (\w+)", text, re.M))
    assert documented == {command.name or command.callback.__name__ for command in app.registered_commands}


def test_tests_that_documents_name_exist() -> None:
    named = {(p, t) for p in DOCUMENTS for t in re.findall(r"`(tests/[\w/.]+)`", p.read_text(encoding="utf-8"))}
    assert not [f"{p.name}: {t}" for p, t in named if not (ROOT / t).exists()]


def test_links_between_documents_lead_somewhere() -> None:
    broken = []
    for path in [*DOCUMENTS, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8")):
            if not (path.parent / target).exists():
                broken.append(f"{path.name}: {target}")
    assert not broken, broken
