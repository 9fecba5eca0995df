"""Formats of results, by the ending of the file's name."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bough.errors import OutputError
from bough.run.result_binary import (
    Content,
    arrow_missing,
    read_mat,
    read_netcdf,
    read_parquet,
    write_mat,
    write_netcdf,
    write_parquet,
)

if TYPE_CHECKING:
    from bough.run.result import Result

Name: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True)
class Format:
    """A binary format: how a result is written and read, and why it cannot be here, if so."""

    write: Callable[[Result, Name], None]
    read: Callable[[Name], Content]
    missing: Callable[[], str] = str


CSV = ".csv"
BINARY = {
    ".mat": Format(write_mat, read_mat),
    ".nc": Format(write_netcdf, read_netcdf),
    ".parquet": Format(write_parquet, read_parquet, arrow_missing),
}
ENDINGS = (CSV, *BINARY)
"""What the name of a result may end in."""


def check_result_name(path: Name) -> None:
    """Refuse, before any work, a name for a result whose ending says none of the formats.

    Raises:
        OutputError: With the endings, or with what is not installed.
    """
    if is_stream(path):
        return
    check_ending(path, ENDINGS)
    form = BINARY.get(Path(path).suffix.lower())
    if form is not None and form.missing():
        raise OutputError(f"cannot write {os.fspath(path)}: {form.missing()}")


def check_ending(path: Name, endings: Sequence[str]) -> str:
    """The ending of an output, in lower case; it says what is written.

    Raises:
        OutputError: It is none of these.
    """
    ending = Path(path).suffix.lower()
    if ending not in endings:
        found = f"a name that ends in {ending}" if ending else "a name without an ending"
        expected = f"{', '.join(endings[:-1])} or {endings[-1]}" if len(endings) > 1 else endings[0]
        raise OutputError(f"cannot write {os.fspath(path)}: expected a name that ends in {expected}, found {found}")
    return ending


def is_stream(path: Name) -> bool:
    """Whether a device or a pipe has this name: it takes CSV, whatever its name ends in."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path)
    except (OSError, ValueError):
        return False
