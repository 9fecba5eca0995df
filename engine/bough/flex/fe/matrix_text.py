"""Matrices written as text, an entry per line."""

from __future__ import annotations

import os
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from bough.files import open_file
from bough.flex.fe.fe_model import Array, Integers, Sparse
from bough.flex.fe.mesh import lines_of
from bough.flex.fe.problem import name_of, refuse
from bough.flex.numbers import real_number

_CUT = "write the file again: it is cut short, or not of this format"


def read_table(path: str, columns: int, key: str, what: str) -> Array:
    """Numbers of a text file with so many columns, (n, columns), by commas or by blanks; `*` begins a comment.

    Args:
        path: File.
        columns: Numbers per line.
        key: Key of `fe:` for messages.
        what: What a line holds, for messages.
    """
    import pandas as pd  # late: nothing else here needs it

    first = next((words for words in map(_words, lines_of(path, key)) if words), None)
    if first is None:
        refuse(key, f"lines with {what}", f"none in {name_of(path)}", _CUT)
    _check_end(path, key)
    form: dict[str, Any] = {"sep": ","} if "," in first else {"sep": r"\s+"}
    try:
        with open_file(path, "r", encoding="latin-1") as stream:
            frame = pd.read_csv(
                stream, header=None, comment="*", skipinitialspace=True, na_filter=False, dtype=np.float64, **form
            )
    except OSError as error:
        refuse(key, "a file that can be read", f"{name_of(path)}: {error.strerror}", "check the path")
    except ValueError:
        _refuse_line(path, columns, key, what)
    table: Array = frame.to_numpy(dtype=np.float64)
    if table.shape[1] != columns:
        _refuse_line(path, columns, key, what)
    if not np.isfinite(table).all():
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0]) + 1
        refuse(key, "finite numbers", f"another in entry {row} of {name_of(path)}", "run the FE program again")
    return table


def _words(line: tuple[int, str]) -> str:
    """What a line holds besides its comment."""
    return line[1].partition("*")[0].strip()


def _check_end(path: str, key: str) -> None:
    """A number cut in two is a number still: the last line has to end."""
    with open_file(path) as stream:
        stream.seek(0, os.SEEK_END)
        if stream.tell():
            stream.seek(-1, os.SEEK_END)
            if stream.read() not in b"\r\n":
                refuse(key, "a last line that ends", f"{name_of(path)}, which ends within a line", _CUT)


def _refuse_line(path: str, columns: int, key: str, what: str) -> NoReturn:
    """Say which line is the first that does not read."""
    for number, line in lines_of(path, key):
        words = _words((number, line)).replace(",", " ").split()
        if words and (len(words) != columns or any(real_number(word) is None for word in words)):
            refuse(key, f"{columns} numbers per line: {what}", f"line {number} of {name_of(path)}: {line[:60]!r}", _CUT)
    refuse(key, f"{columns} numbers per line: {what}", f"others in {name_of(path)}", _CUT)


def whole(numbers: Array, key: str, path: str) -> Integers:
    """The numbers as integers, or refused."""
    if not np.array_equal(numbers, np.round(numbers)) or np.abs(numbers).max(initial=0.0) >= 2**53:
        refuse(key, "whole numbers for nodes, directions, rows and columns", f"others in {name_of(path)}", _CUT)
    return numbers.astype(np.int64)


def symmetric(rows: Integers, columns: Integers, values: Array, ndof: int, key: str, path: str) -> Sparse:
    """The symmetric matrix of which either one triangle is given or all."""
    raw = sparse.csc_array((values, (rows, columns)), shape=(ndof, ndof))
    pattern = sparse.csc_array((np.ones(rows.size), (rows, columns)), shape=(ndof, ndof))
    if pattern.data.max(initial=1.0) > 1.0:
        refuse(key, "every entry once", f"an entry twice in {name_of(path)}", _CUT)
    off = pattern - sparse.diags_array(pattern.diagonal())
    both, all_ = off.multiply(off.T).sum(), off.sum()
    if both == 0:
        full: Sparse = raw + raw.T - sparse.diags_array(raw.diagonal())
        return full
    if both != all_:
        found = f"{name_of(path)}, where {int(all_ - both)} of {int(all_)} have none across the diagonal"
        refuse(key, "one triangle of a symmetric matrix, or both with the same entries", found, _CUT)
    return raw
