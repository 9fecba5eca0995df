"""What the documents show works as they show it."""

from __future__ import annotations

import re
import shlex
import shutil
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


COMMAND = re.compile(r"^(?:\.venv/bin/)?(bough|cp) (.*?)(?:\s+#.*)?$", re.M)
"""A command of a fenced block, without its comment."""
OTHER_ARM = {"partners.md": ROOT / "examples" / "two_link_arm" / "model.yaml"}
"""Documents whose `arm.yaml` has more hinges than that of the README."""
NOT_HERE = {"bough check somewhere/model.yaml": "its files are made by a script that needs an FE program"}


def told(path: Path) -> dict[str, str]:
    """Files that a document shows, by the name that it tells the reader to give them: the last one before the text."""
    text = path.read_text(encoding="utf-8")
    return dict(re.findall(r"`([\w-]+\.ya?ml)`:\n```ya?ml\n(.*?)^```$", text, re.M | re.S))


def commands(path: Path) -> list[tuple[str, str]]:
    """Program and arguments of every command that a document shows in a fenced block without a language."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S)
    return [command for kind, text in fenced if not kind for command in COMMAND.findall(text)]


@pytest.mark.parametrize(
    "path", [p for p in DOCUMENTS[1:] if commands(p)], ids=lambda p: str(p.relative_to(ROOT)).replace("/", "-")
)
def test_commands_of_a_document_run_one_after_the_other(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the files of the README and its own, beside the examples: what a reader has."""
    for name, text in (told(DOCUMENTS[0]) | told(path)).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    if path.name in OTHER_ARM:
        shutil.copy(OTHER_ARM[path.name], tmp_path / "arm.yaml")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for program, arguments in commands(path):
        if f"{program} {arguments}" in NOT_HERE:
            continue
        if program == "cp":
            source, target = shlex.split(arguments)
            shutil.copy(source, target)
            continue
        done = CliRunner().invoke(app, shlex.split(arguments))
        assert done.exit_code == 0, f"{program} {arguments}: {done.output}"


def test_files_that_documents_write_are_not_written_twice() -> None:
    """A command that overwrites the FMU of the one before leaves the reader with another FMU than the text has."""
    for path in DOCUMENTS:
        written = [name for _, line in commands(path) for name in re.findall(r"-o ([\w./-]+\.fmu)", line)]
        assert len(written) == len(set(written)), f"{path.name}: {written}"


def test_python_of_the_interface_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "arm.yaml").write_text(told(DOCUMENTS[0])["arm.yaml"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "python-api.md").read_text(encoding="utf-8")
    left: dict[str, object] = {}
    for program in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        exec(compile(program, "python-api.md", "exec"), left)
    assert {"result", "scene", "other", "done"} <= set(left)
    assert {"run.csv", "run.html"} <= {p.name for p in tmp_path.iterdir()}


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
    units = {"run.csv-metadata.json", "drive.csv-metadata.json"}
    assert {p.name for p in tmp_path.iterdir()} == arm | drive | units


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
