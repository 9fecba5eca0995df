"""What the documents show works as they show it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from house.tools import ROOT

import bough

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
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


def test_links_between_documents_lead_somewhere() -> None:
    broken = []
    for path in [*DOCUMENTS, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8")):
            if not (path.parent / target).exists():
                broken.append(f"{path.name}: {target}")
    assert not broken, broken
