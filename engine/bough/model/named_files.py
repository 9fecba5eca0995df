"""Files that a model or system file stands for: itself, and what it names, directly or through other files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bough.errors import ModelError
from bough.files import check_output
from bough.text.source import MAX_BYTES, read

_MODELS = (".yaml", ".yml", ".json")
_INCLUDING = (".bdf", ".dat", ".nas", ".asm", ".pch", ".inp")
_FE = (*_INCLUDING, ".sti", ".mas", ".dof", ".frd", ".mtx", ".op2", ".op4")
"""What FE programs write of one body, under one name; Abaqus (.mtx) adds a word to it."""
_INCLUDE = re.compile(rb"^\s*\*?INCLUDE\s*,?\s*(?:INPUT\s*=)?\s*['\"]?([^'\"\r\n]+)", re.IGNORECASE | re.MULTILINE)
"""How FE programs name another file: `INCLUDE 'wing.bdf'`, `*INCLUDE, INPUT=mesh.inp`."""


def check_target(path: str | os.PathLike[str], *inputs: Any, stream: bool = False) -> None:
    """Refuse, before the work begins, an output that cannot be written, or that is an input or a file named in one.

    Args:
        path: The output.
        inputs: What the work is given; names of files count, anything else does not.
        stream: Whether a device or a pipe will do.

    Raises:
        OutputError: With the reason and the cure.
    """
    # What is not there is no input: then the inputs need not be looked into.
    given = [each for each in inputs if isinstance(each, (str, os.PathLike))] if os.path.isfile(path) else []
    check_output(path, (file for each in given for file in named_files(each)), stream=stream)


def named_files(path: str | os.PathLike[str]) -> list[Path]:
    """Every file that a run of this file may read, the file itself first.

    Which keys hold names of files does not matter here: any text in the file that is the name of another file counts.
    Of FE files those that belong to them count too, by their ending or by an INCLUDE.
    """
    found: dict[Path, None] = {}
    waiting = [Path(path)]
    while waiting:
        file = waiting.pop()
        if file not in found and file.is_file():
            found[file] = None
            waiting += _below(file)
    return list(found)


def _below(file: Path) -> list[Path]:
    """Files that a file names."""
    ending = file.suffix.lower()
    if ending not in _MODELS:
        beside = [file.with_suffix(other) for other in _FE] if ending in _FE else []
        if ending == ".mtx":
            beside += [each for each in file.parent.iterdir() if each.suffix.lower() in (".mtx", ".inp", ".frd")]
        return [*beside, *(_included(file) if ending in _INCLUDING else ())]
    try:
        source = read(file)
    except ModelError:  # whoever reads it as what it is meant to be says why
        return []
    return [Path(source.folder) / text for text in _texts(source.data) if _is_file(Path(source.folder), text)]


def _included(file: Path) -> list[Path]:
    try:
        with file.open("rb") as stream:
            names = _INCLUDE.findall(stream.read(MAX_BYTES))
    except OSError:
        return []
    texts = [os.fsdecode(name).strip() for name in names]
    return [file.parent / text for text in texts if _is_file(file.parent, text)]


def _is_file(folder: Path, text: str) -> bool:
    try:
        return 0 < len(text) < 4096 and (folder / text).is_file()
    except (OSError, ValueError):
        return False


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for value in data.values():
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)
