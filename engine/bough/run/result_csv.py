"""Results as CSV: a line of names, a line of numbers for each time, and the units in a file beside it.

FMPy, pandas and spreadsheets take every line after the first one for numbers, so units have no place among them. They
are in `run.csv-metadata.json`, where the W3C recommendation "Metadata Vocabulary for Tabular Data" (CSV on the Web,
2015) has a reader look for what is known of `run.csv`; many tables of one folder share `csv-metadata.json`.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError
from bough.files import TEXT_BYTES, binary_file, open_file

Array: TypeAlias = NDArray[np.float64]

BESIDE = "-metadata.json"
"""What the name of a CSV file is followed by in that of its metadata."""
OF_FOLDER = "csv-metadata.json"
"""Metadata of the tables of a folder."""
CONTEXT = "http://www.w3.org/ns/csvw"
UNIT = "schema:unitText"
"""Property of a column that holds its unit; `schema` is a prefix that the recommendation defines."""
TITLE = "dc:title"
"""Property of a table that holds the name of the model."""
UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What reading metadata that others wrote may raise."""
BLOCK = 100_000
"""Numbers that are made text at a time."""


def rows_text(names: Sequence[str], columns: Sequence[Array]) -> Iterator[str]:
    """A table as text, piece by piece; numbers read back the same."""
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(names)
    yield header.getvalue()
    count = columns[0].size
    size = max(1, BLOCK // len(columns))
    for begin in range(0, count, size):
        yield _block_text(np.column_stack([column[begin : begin + size] for column in columns]))


def _block_text(block: Array) -> str:
    """Rows with the shortest digits that read back the same."""
    if np.isfinite(block).all():
        with contextlib.suppress(ImportError):
            import orjson

            # [[1.0,2.0],[3.0,4.0]]: ten times as fast as `repr`
            text = orjson.dumps(np.ascontiguousarray(block, dtype=np.float64), option=orjson.OPT_SERIALIZE_NUMPY)
            return text[2:-2].replace(b"],[", b"\n").decode("ascii") + "\n"
    return "".join(",".join(map(repr, row)) + "\n" for row in block.tolist())


def write_table(
    path: str | os.PathLike[str],
    pieces: Iterable[str],
    names: Sequence[str],
    units: Mapping[str, str],
    model_name: str = "",
) -> None:
    """Write a table and its units, each file whole or not at all; devices and pipes get the table alone.

    Args:
        path: Of the table.
        pieces: Its text, as `rows_text` makes it.
        names: Its columns.
        units: By column; without any there is no file beside the table.
        model_name: What the numbers are of.

    Raises:
        OutputError: A file cannot be written; what was there is still there.
    """
    if not _is_file(path):
        with binary_file(path, stream=True) as file:
            _write(file, pieces)
        return
    about = metadata_path(path)
    if not units:
        with binary_file(path) as file:
            _write(file, pieces)
        with contextlib.suppress(OSError):  # what it says was said of other numbers
            os.unlink(about)
        return
    text = json.dumps({"@context": CONTEXT, "url": Path(path).name, **_about(names, units, model_name)}, indent=1)
    # The stack unwinds from its end: the numbers take their name first.
    with binary_file(about) as beside, binary_file(path) as file:
        beside.write(text.encode() + b"\n")
        _write(file, pieces)


def folder_metadata(
    folder: Path, tables: set[str], names: Sequence[str], units: Mapping[str, str], model_name: str
) -> str:
    """Metadata of tables of one folder that have the same columns; other tables that are in it keep what is known."""
    about = _about(names, units, model_name)
    entries: dict[str, dict[str, Any]] = {name: {} for name in tables}
    with contextlib.suppress(*UNREADABLE):  # nothing is known of the others
        for name, known in _tables(_load(folder / OF_FOLDER)).items():
            if name not in entries and (folder / name).is_file():
                entries[name] = {} if known == about else known
    listed = [{"url": name, **entries[name]} for name in sorted(entries)]
    return json.dumps({"@context": CONTEXT, "tables": listed, **about}, indent=1) + "\n"


def metadata_path(path: str | os.PathLike[str]) -> Path:
    """The file with the units of a CSV file."""
    return Path(os.fspath(path) + BESIDE)


def _about(names: Sequence[str], units: Mapping[str, str], model_name: str) -> dict[str, Any]:
    columns = [{"titles": name, "datatype": "double", UNIT: units[name]} for name in names if units.get(name)]
    title = {TITLE: model_name} if model_name else {}
    return {**title, "tableSchema": {"columns": columns}}


def _is_file(path: str | os.PathLike[str]) -> bool:
    """Whether a regular file is, or will be, there."""
    return os.path.isfile(path) or not os.path.lexists(path)


def _write(file: IO[bytes], pieces: Iterable[str]) -> None:
    for piece in pieces:
        file.write(piece.encode())


# ---- reading


def read_table(path: str | os.PathLike[str]) -> tuple[list[str], Array]:
    """Names and numbers, (rows, columns), of what bough or any tool with a `time` column has written.

    Raises:
        SimulationError: The file cannot be read; or a line is wrong, with its number.
    """
    try:
        with open_file(path, "r", newline="", encoding="utf-8-sig") as stream:
            names = [name.strip() for name in next(csv.reader(stream), [])]
            rest = stream.read()
    except FileNotFoundError:
        raise SimulationError(f"cannot read {path}: there is no such file") from None
    except OSError as error:
        raise SimulationError(f"cannot read {path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error):
        raise SimulationError(f"cannot read {path}: expected a CSV file, which is text, found other data") from None
    if not names or names[0] not in ("time", "t"):
        found = repr(",".join(names)[:60]) if names else "an empty file"
        raise SimulationError(
            f"{path}:1: expected a header that begins with 'time', found {found}; "
            "give a result as `bough run` writes it: a line of names, then a line of numbers for each time"
        )
    return names, _numbers(path, rest, len(names))


def _numbers(path: str | os.PathLike[str], text: str, width: int) -> Array:
    if not text.strip():
        return np.empty((0, width))
    with contextlib.suppress(ValueError):
        data: Array = np.loadtxt(io.StringIO(text), delimiter=",", comments=None, ndmin=2)
        if data.shape[1] == width:
            return data
    rows: list[list[float]] = []
    lines = csv.reader(io.StringIO(text, newline=None))
    try:
        for row in lines:
            try:
                numbers = [float(x) for x in row]
            except ValueError:
                numbers = []
            if len(numbers) != width:
                raise SimulationError(f"{path}:{lines.line_num + 1}: expected {width} numbers, found {row}")
            rows.append(numbers)
    except csv.Error as error:
        raise SimulationError(f"{path}:{lines.line_num + 1}: expected {width} numbers, found {error}") from None
    return np.array(rows)


def read_metadata(path: str | os.PathLike[str]) -> tuple[dict[str, str], str]:
    """Units by column, and name of the model, of a CSV file; empty where nothing is said of it.

    Raises:
        SimulationError: The file that should say it cannot be understood.
    """
    table = Path(path)
    for about in (metadata_path(table), table.with_name(OF_FOLDER)):
        try:
            data = _load(about)
            known = _tables(data).get(table.name) if about.name == OF_FOLDER else data
            if known is None:
                continue
            columns = known.get("tableSchema", {}).get("columns", [])
            units = {_title(column): str(column[UNIT]) for column in columns if UNIT in column}
            return units, str(known.get(TITLE, ""))
        except FileNotFoundError:
            continue
        except UNREADABLE as error:
            told = f"cannot read {about}, which holds the units of {table.name}: {error}; remove it to go without units"
            raise SimulationError(told) from None
    return {}, ""


def _load(path: Path) -> Any:
    with open_file(path, "r", most=TEXT_BYTES, encoding="utf-8") as stream:
        return json.load(stream)


def _tables(data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What is known of each table of a folder: its own words, or those for all."""
    common = {key: data[key] for key in (TITLE, "tableSchema") if key in data}
    tables = [dict(each) for each in data.get("tables", [])]
    return {str(each.pop("url")): each or common for each in tables}


def _title(column: Mapping[str, Any]) -> str:
    """Title of a column; the recommendation allows several."""
    titles = column["titles"]
    return str(titles if isinstance(titles, str) else titles[0])
