"""Where a model comes from: a file or a mapping, read into plain data that knows its lines."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np

from bough.errors import ModelError, Problem
from bough.files import open_file
from bough.text.compose import MAX_DEPTH, ComposeError, Data, Document, compose
from bough.text.problems import Foreign, Path, describe, key_path

MAX_BYTES = 64 * 1024 * 1024
"""Largest model file, bytes."""
MAX_VALUES = 20_000_000
"""Most values of a model given as a mapping."""

ModelSource: TypeAlias = str | os.PathLike[str] | Mapping[str, Any]


@dataclass(frozen=True)
class Source:
    """A model as plain data.

    Attributes:
        file: Name for messages.
        data: The top of the model, a dict.
        line_of: Line of a key path, or of the nearest value above it; None for a mapping.
        folder: Where paths in the model start from; empty for the current folder.
    """

    file: str
    data: dict[str, Data]
    line_of: Callable[[Path], int | None]
    folder: str = ""


def read(source: ModelSource) -> Source:
    """Read a file or take a mapping; ModelError if it is neither, or cannot be read."""
    if isinstance(source, Mapping):
        return Source("<dict>", _plain_mapping(source), lambda path: None)
    if not isinstance(source, (str, os.PathLike)):
        found = describe(Foreign(source))
        _refuse("<model>", None, "the path of a model file, or a mapping", found, "pass a path or a dict")
    try:
        path = os.fsdecode(source)
    except (TypeError, ValueError) as error:
        _refuse("<model>", None, "the path of a model file", str(error), "pass a path or a dict")
    # What cannot be printed (a stray byte, a line break) is escaped: a message has to survive any terminal.
    file = path if path.isprintable() else repr(path)
    text, folder = _decode(_read_bytes(path, file), file), os.path.dirname(path)
    data = _json(text)
    if data is not None:
        return Source(file, data, _lazy_lines(text, file), folder)
    try:
        document = compose(text, file)
    except ComposeError as error:
        raise ModelError(error.problems) from None
    if not isinstance(document.data, dict):
        found = describe(document.data)
        _refuse(file, document.line_of(()), "a mapping of keys such as `bough: 1`", found, "begin with `bough: 1`")
    return Source(file, document.data, document.line_of, folder)


def _refuse(file: str, line: int | None, expected: str, found: str, cure: str) -> NoReturn:
    raise ModelError(Problem(file, line, "", expected, found, cure))


def _read_bytes(path: str, file: str) -> bytes:
    expected = "a readable model file"
    try:
        with open_file(path) as stream:
            raw = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        cure = "give the path of a file, not its text" if "\n" in path else "check name and current directory"
        _refuse(file, None, expected, "no such file", cure)
    except IsADirectoryError:
        _refuse(file, None, expected, "a directory", "name the model file in it")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        cure = "check the path and its permissions"
        _refuse(file, None, expected, reason, cure)
    if len(raw) > MAX_BYTES:
        expected = f"at most {MAX_BYTES // 2**20} MiB"
        _refuse(file, 1, expected, "a larger file", "pass large mode shapes from Python, in a dict")
    return raw


def _decode(raw: bytes, file: str) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        found = f"the byte 0x{raw[error.start]:02x} at offset {error.start}, which is not UTF-8"
        _refuse(file, line, "UTF-8 text", found, "save the file as UTF-8; a binary file is not a model")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        _refuse(file, line, "UTF-8 text", "a binary file (it has a zero byte)", "give the YAML model file")
    if text.lstrip().startswith("<"):
        _refuse(file, 1, "a file in YAML or JSON", *_markup(text))
    return text


def _markup(text: str) -> tuple[str, str]:
    """What an XML file is, by its first element, and what to do with it."""
    match = re.search(r"<([A-Za-z_][\w:.-]*)", re.sub(r"(?s)<!--.*?-->", "", text[:100_000]))
    name = match[1] if match else ""
    if name == "robot":
        cure = "write it as a model file: each link is a body, with its joint as the hinge to its parent"
        return "XML of a robot (URDF)", cure
    if name in ("mujoco", "sdf", "fmiModelDescription"):
        told = {"mujoco": "a MuJoCo model", "sdf": "an SDF world", "fmiModelDescription": "the description of an FMU"}
        cure = (
            "`bough run` takes the whole .fmu"
            if name.startswith("fmi")
            else "write its bodies and joints as a model file"
        )
        return f"XML: {told[name]}", cure
    return f"XML, beginning with <{name}>" if name else "XML", "give the YAML model file"


def _json(text: str) -> dict[str, Data] | None:
    """The data of a file that is plain JSON, by the fast parser; None if YAML has to look at it."""

    def unique(pairs: list[tuple[str, Data]]) -> dict[str, Data]:
        mapping = dict(pairs)
        if len(mapping) != len(pairs):
            raise ValueError("duplicate key")
        return mapping

    if not text.lstrip().startswith("{"):
        return None
    try:
        data = json.loads(text, object_pairs_hook=unique)
        # Same limits for JSON as for the rest: depth, and numbers that Python can hold.
        return _plain_mapping(data)
    except (ValueError, RecursionError, ModelError):
        return None


def _lazy_lines(text: str, file: str) -> Callable[[Path], int | None]:
    """Lines of a JSON file, found only when there is something to report."""
    documents: list[Document | None] = []

    def line_of(path: Path) -> int:
        if not documents:
            try:
                # JSON may be indented with tabs, which YAML dislikes; inside strings JSON has none.
                documents.append(compose(text.replace("\t", " "), file))
            except ComposeError:
                documents.append(None)
        return 1 if documents[0] is None else documents[0].line_of(path)

    return line_of


def _plain_mapping(source: Mapping[str, Any]) -> dict[str, Data]:
    plain = _Plain().value(source, ())
    if not isinstance(plain, dict):
        _refuse("<dict>", None, "a mapping", describe(plain), "pass a dict")
    return plain


class _Plain:
    """Turns what Python programs hold (tuples, numpy arrays and scalars) into plain data."""

    def __init__(self) -> None:
        self.count = 0

    def value(self, value: object, path: Path) -> Data:
        self.count += 1
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, float):
            return float(value)
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return _bounded(int(value))
        if isinstance(value, (np.ndarray, np.generic)):
            self.count += value.size
            if value.dtype.kind == "f":
                return value.astype(np.float64).tolist()
            return Foreign(value) if value.dtype.kind in "cmMVS" else self.value(value.tolist(), path)
        if isinstance(value, (Mapping, list, tuple)):
            return self._container(value, path)
        return Foreign(value)

    def _container(self, value: Mapping[Any, Any] | list[Any] | tuple[Any, ...], path: Path) -> Data:
        if len(path) >= MAX_DEPTH:
            found = "more levels, or a value that contains itself"
            self._stop(path, f"at most {MAX_DEPTH} levels of nesting", found, "check how the dict is made")
        if self.count > MAX_VALUES:
            self._stop(path, f"at most {MAX_VALUES} values", "more", "use fewer nodes or modes")
        if not isinstance(value, Mapping):
            return [self.value(item, (*path, index)) for index, item in enumerate(value)]
        plain: dict[str, Data] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                self._stop(path, "text as every key", f"a key of type {type(key).__name__}", "use str keys")
            name = str.__str__(key)
            plain[name] = self.value(item, (*path, name))
        return plain

    @staticmethod
    def _stop(path: Path, expected: str, found: str, cure: str) -> NoReturn:
        raise ModelError(Problem("<dict>", None, key_path(path), expected, found, cure))


def _bounded(number: int) -> int | float:
    """The number itself, or an infinity of its sign where a float cannot hold it."""
    if abs(number) < 2**1000:
        return number
    return float("inf") if number > 0 else float("-inf")
