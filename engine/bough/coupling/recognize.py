"""Which kind of file is it? A system file and a model file look alike, and are easily taken for one another."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bough.errors import ModelError, Problem
from bough.files import open_file
from bough.text.source import MAX_BYTES, Source, read

KEY = "bough_system"
MODELS = (".yaml", ".yml", ".json")
_AT_LINE = re.compile(rf"^[\s{{]*[\"']?{KEY}[\"']?\s*:", re.M)
_INDEXED = re.compile(r"(?<![\w\"'.])[A-Za-z_][\w.]*\[\d+\](?:\.\w+)?")
"""A name with an index that no quotes begin."""


def is_system_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a system file: YAML or JSON with the key `bough_system` at its top."""
    file = Path(path)
    if file.suffix.lower() not in MODELS:
        return False
    try:
        with open_file(file) as stream:
            text = stream.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return False
    if KEY not in text:  # large model files are not read twice
        return False
    try:
        return KEY in read(file).data
    except ModelError:  # no YAML: whoever reads it as what it is meant to be says why
        return _AT_LINE.search(text) is not None


def read_system(source: str | os.PathLike[str] | Mapping[str, Any]) -> Source:
    """Read a system file, unchecked.

    Raises:
        ModelError: It cannot be read, or is a model file.
    """
    try:
        found = read(source)
    except ModelError as error:
        raise ModelError([_with_quotes(problem) for problem in error.problems] or str(error)) from None
    key = next((key for key in ("bodies", "bough") if key in found.data), None)
    if KEY not in found.data and key is not None:
        raise ModelError(_taken_for_a_system(found, key))
    return found


def _taken_for_a_system(source: Source, key: str) -> Problem:
    """What is told where a model file is taken for a system file: as one, every key of it would be unknown."""
    expected = f"a system file: it has {KEY}, components, connections; see docs/systems.md"
    found = f"a model file (it has {key!r}), not a system file"
    name = Path(source.file).name
    cure = f"name it under `components:` of a system file, `arm: {name}`; by itself `bough run {name}` runs it"
    return Problem(source.file, source.line_of((key,)), "", expected, found, cure)


def _with_quotes(problem: Problem) -> Problem:
    """A mistake in YAML, with the cure for the one that everybody makes: `{from: motor.tau[1], ...}`."""
    if problem.line is None or not Path(problem.file).is_file():
        return problem
    lines = Path(problem.file).read_text(encoding="utf-8", errors="replace").splitlines()
    line = lines[problem.line - 1] if problem.line <= len(lines) else ""
    names = _INDEXED.findall(line.partition("{")[2].partition("#")[0])
    if not names:
        return problem
    found = f"{names[0]} inside braces, where a bracket begins a list"
    return replace(
        problem, expected="names with an index in quotes", found=found, cure=f'put it in quotes: write "{names[0]}"'
    )
