"""OUTPUT4 files of Nastran: named matrices, ASCII or binary, dense or sparse, 4- or 8-byte words.

A file holds matrices one after another. A matrix has a header (columns, rows, form, type, name), then one record for
each column that is not zero, then a dummy record for column ncols + 1. A record tells column, first row and number of
words. First row 0 means sparse: the record holds strings of consecutive rows, each headed by

    BIGMAT (rows negative in the header)    two words: length + 1, first row
    otherwise                               one word: (length + 1) 65536 + first row

with lengths in words of the type: a double takes two words where words have four bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, TextIO

import numpy as np
from scipy import sparse

from bough.files import open_file
from bough.flex.fe.fe_model import Array, Integers, Sparse
from bough.flex.fe.problem import name_of, refuse

_TYPES = (1, 2, 3, 4)
"""Real single, real double, complex single, complex double."""
_REAL = (1, 2)
_STRING = 65536


class _DamagedError(Exception):
    """The file ends too early, or holds what an OUTPUT4 file cannot."""


@dataclass(frozen=True)
class _Header:
    name: str
    rows: int
    columns: int
    type: int
    big: bool

    @property
    def real(self) -> bool:
        return self.type in _REAL


@dataclass
class _Entries:
    """Values of one matrix as they come in, column by column."""

    rows: list[Integers]
    columns: list[Integers]
    values: list[Array]

    def add(self, header: _Header, column: int, row: int, values: Array) -> None:
        """A string of values from (row, column), both counted from 1, downwards."""
        if row < 1 or row - 1 + values.size > header.rows:
            raise _DamagedError(f"rows {row} to {row - 1 + values.size} in matrix {header.name} of {header.rows} rows")
        self.rows.append(np.arange(row - 1, row - 1 + values.size, dtype=np.int64))
        self.columns.append(np.full(values.size, column - 1, dtype=np.int64))
        self.values.append(values)

    def matrix(self, header: _Header) -> Sparse:
        """The sparse matrix; zeros that a dense record brings are not stored."""
        shape = (header.rows, header.columns)
        if not self.values:
            return sparse.csc_array(shape, dtype=np.float64)
        entries = (np.concatenate(self.rows), np.concatenate(self.columns))
        matrix = sparse.csc_array((np.concatenate(self.values), entries), shape=shape)
        matrix.eliminate_zeros()
        return matrix


def read_op4(path: str, key: str) -> dict[str, Sparse]:
    """All real matrices of a file by their names; complex ones are passed over.

    Args:
        path: The file.
        key: Key of `fe:` that names it, for messages.

    Raises:
        ModelError: It is no OUTPUT4 file, or it is cut off.
    """
    try:
        with open_file(path) as stream:
            if _is_text(stream.read(64)):
                with open_file(path, "r", encoding="latin-1") as text:
                    return dict(_unique(_read_ascii(text)))
            stream.seek(0)
            return dict(_unique(_read_binary(stream)))
    except OSError as error:
        refuse(key, "a file that can be read", f"{name_of(path)}: {error.strerror}", "check the path")
    except _DamagedError as error:
        refuse(
            key,
            "a whole OUTPUT4 file of Nastran",
            f"{error} in {name_of(path)}",
            "write it again (ASSIGN OUTPUT4='...', FORM=FORMATTED is the safe way); copy unformatted files as binary",
        )


def _is_text(head: bytes) -> bool:
    return bool(head.strip(b"\0")) and all(byte in b"\0\t\r\n" or 32 <= byte < 127 for byte in head)


def _unique(matrices: Iterator[tuple[_Header, _Entries]]) -> Iterator[tuple[str, Sparse]]:
    """The first matrix of each name."""
    seen: set[str] = set()
    for header, entries in matrices:
        if header.real and header.name not in seen:
            seen.add(header.name)
            yield header.name, entries.matrix(header)
    if not seen:
        raise _DamagedError("a file without a real matrix")


def _checked(columns: int, rows: int, kind: int, name: str) -> _Header:
    name = name.strip("\0 ").upper()
    if kind not in _TYPES or columns < 0 or not name.isprintable() or not name:
        raise _DamagedError(f"a matrix header that reads {columns} columns, {rows} rows, type {kind}, name {name!r}")
    return _Header(name, abs(rows), columns, kind, big=rows < 0)


def _records(
    header: _Header, record: Callable[[], tuple[int, int]], strings: Callable[[int, int, Callable[..., None]], None]
) -> _Entries:
    """Take the columns of one matrix: `record` gives column and first row, `strings` hands over its values."""
    entries = _Entries([], [], [])
    previous = 0
    while True:
        column, row = record()
        if not previous < column <= header.columns + 1:
            raise _DamagedError(f"column {column} after column {previous} in matrix {header.name}")
        if column > header.columns:
            strings(column, row, lambda *_: None)
            return entries
        strings(column, row, lambda first, values, at=column: entries.add(header, at, first, values))
        previous = column


# --- ASCII ------------------------------------------------------------------------------------------------------


_FORMAT = re.compile(r"(\d+)[EDFG](\d+)\.\d+", re.IGNORECASE)


class _Text:
    """Lines of a formatted file, with numbers in columns of fixed width that may touch each other."""

    def __init__(self, stream: TextIO) -> None:
        self._lines = enumerate(stream, start=1)
        self.number = 0

    def line(self) -> str | None:
        self.number, line = next(self._lines, (self.number, None))
        return None if line is None else line.rstrip("\r\n")

    def required(self) -> str:
        line = self.line()
        if line is None:
            raise _DamagedError(f"the end of the file after line {self.number}, in the middle of a matrix")
        return line

    def integers(self, count: int) -> list[int]:
        line = self.required()
        fields = line.split()
        if len(fields) != count:
            fields = [line[i : i + 8] for i in range(0, len(line.rstrip()), 8)]
        try:
            if len(fields) != count:
                raise ValueError
            return [int(field) for field in fields]
        except ValueError:
            found = f"line {self.number}, {line[:40]!r}, where {count} whole numbers are due"
            raise _DamagedError(found) from None

    def reals(self, count: int, width: int) -> Array:
        values: list[str] = []
        while len(values) < count:
            line = self.required()
            values += [line[i : i + width] for i in range(0, len(line.rstrip()), width)]
        try:
            if len(values) > count:
                raise ValueError
            return np.array([float(value.replace("D", "E").replace("d", "e")) for value in values])
        except ValueError:
            raise _DamagedError(f"line {self.number}, where {count} numbers of width {width} end") from None


def _read_ascii(stream: TextIO) -> Iterator[tuple[_Header, _Entries]]:
    text = _Text(stream)
    while (line := text.line()) is not None:
        if not line.strip():
            continue
        header, width = _ascii_header(line, text.number)
        yield header, _ascii_matrix(text, header, width)


def _ascii_header(line: str, number: int) -> tuple[_Header, int]:
    form = _FORMAT.search(line)
    for wide in (8, 16):
        ends = np.cumsum([0, wide, wide, 8, 8])
        fields = [line[a:b] for a, b in zip(ends, ends[1:], strict=False)]
        if all(re.fullmatch(r" *-?\d+", field) for field in fields):
            columns, rows, _, kind = map(int, fields)
            width = 16 if form is None else int(form.group(2))
            return _checked(columns, rows, kind, line[ends[-1] : ends[-1] + 8]), width
    raise _DamagedError(f"line {number}, {line[:60]!r}, where the header of a matrix is due")


def _ascii_matrix(text: _Text, header: _Header, width: int) -> _Entries:
    words = 2 if header.type in (2, 4) else 1
    per_row = 1 if header.real else 2
    left = 0

    def record() -> tuple[int, int]:
        nonlocal left
        column, row, left = text.integers(3)
        return column, row

    def strings(column: int, row: int, take: Callable[..., None]) -> None:
        if column > header.columns:
            text.required()
            return
        if row > 0:
            take(row, text.reals(left, width)[::per_row])
            return
        words_left = left
        while words_left > 0:
            fields = text.integers(2 if header.big else 1)
            length, first = (fields[0] - 1, fields[1]) if header.big else _unpacked(fields[0])
            words_left -= len(fields) + length
            take(first, text.reals(length // words, width)[::per_row])

    return _records(header, record, strings)


def _unpacked(head: int) -> tuple[int, int]:
    """Length in words and first row of a string that is not BIGMAT."""
    return head // _STRING - 1, head % _STRING


# --- binary -----------------------------------------------------------------------------------------------------


class _Blocks:
    """Fortran records: their length in bytes before and after each."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        head = stream.read(4)
        stream.seek(0)
        lengths = {"<": int.from_bytes(head, "little"), ">": int.from_bytes(head, "big")}
        orders = [order for order, length in lengths.items() if length in (24, 48)]
        if not orders:
            raise _DamagedError("neither the text nor the record of a matrix header at the beginning")
        self._order = orders[0]
        self.word = lengths[self._order] // 6
        self.integer = np.dtype(f"{self._order}i{self.word}")

    def real(self, kind: int) -> np.dtype[np.float64]:
        return np.dtype(f"{self._order}f{8 if self.word == 8 or kind in (2, 4) else 4}")

    def next(self) -> bytes | None:
        """The next record; None at the end of the file."""
        marker = np.dtype(f"{self._order}i4")
        head = self._stream.read(4)
        if not head:
            return None
        length = int(np.frombuffer(head, marker)[0]) if len(head) == 4 else -1
        data = self._stream.read(length) if length >= 0 else b""
        if length < 0 or len(data) < length or self._stream.read(4) != head:
            raise _DamagedError(f"a record that breaks off at byte {self._stream.tell()}")
        return data


def _read_binary(stream: BinaryIO) -> Iterator[tuple[_Header, _Entries]]:
    blocks = _Blocks(stream)
    while (head := blocks.next()) is not None:
        if len(head) != 6 * blocks.word:
            raise _DamagedError(f"a record of {len(head)} bytes where the header of a matrix is due")
        columns, rows, _, kind = (int(value) for value in np.frombuffer(head, blocks.integer, count=4))
        name = head[4 * blocks.word :].decode("latin-1")
        # With words of eight bytes the name's two halves may stand in one word each.
        name = name[:4] + name[8:12] if blocks.word == 8 and not name[4:8].strip() else name[:8]
        header = _checked(columns, rows, kind, name)
        yield header, _binary_matrix(blocks, header)


def _binary_matrix(blocks: _Blocks, header: _Header) -> _Entries:
    real, per_row = blocks.real(header.type), 1 if header.real else 2
    data = b""

    def record() -> tuple[int, int]:
        nonlocal data
        block = blocks.next()
        if block is None or len(block) < 3 * blocks.word:
            raise _DamagedError(f"the end of the file in the middle of matrix {header.name}")
        column, row, _ = (int(value) for value in np.frombuffer(block, blocks.integer, count=3))
        data = block[3 * blocks.word :]
        return column, row

    def numbers(start: int, stop: int) -> Array:
        if stop > len(data) or (stop - start) % real.itemsize:
            raise _DamagedError(f"a string that leaves its record in matrix {header.name}")
        return np.frombuffer(data[start:stop], real).astype(np.float64)[::per_row]

    def strings(column: int, row: int, take: Callable[..., None]) -> None:
        if column > header.columns:
            return
        if row > 0:
            take(row, numbers(0, len(data)))
            return
        at, heads = 0, 2 if header.big else 1
        while at < len(data):
            fields = np.frombuffer(data[at : at + heads * blocks.word], blocks.integer)
            if fields.size < heads:
                raise _DamagedError(f"a string that leaves its record in matrix {header.name}")
            length, first = (int(fields[0]) - 1, int(fields[1])) if header.big else _unpacked(int(fields[0]))
            at += heads * blocks.word
            if length < 1:
                raise _DamagedError(f"a string of {length} words in matrix {header.name}")
            take(first, numbers(at, at + length * blocks.word))
            at += length * blocks.word

    return _records(header, record, strings)
