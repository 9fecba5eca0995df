"""Files from outside: regular ones of a bounded size are opened, archives of a bounded content are unpacked.

A named pipe or a device would keep a program waiting for ever, or feed it for ever. What is refused here raises an
OSError whose `strerror` says why and what to do: whoever reads a file tells the user as for any other one that cannot
be read.
"""

from __future__ import annotations

import errno
import os
import stat
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal, TextIO, overload

FILE_BYTES = 8 * 2**30
"""Of a file with matrices or results."""
TEXT_BYTES = 2**30
"""Of a table of inputs and of a SID file, which are held in memory as a whole."""
LINE_CHARACTERS = 2**20
"""Of one line of a text file; a line of a mesh has some hundred."""
ARCHIVE_BYTES = 4 * 2**30
"""Of everything in an FMU, an SSP package or a NumPy archive, unpacked."""
SYSTEM_BYTES = 16 * 2**30
"""Of all FMUs of a system together, unpacked."""
ARCHIVE_ENTRIES = 20_000
"""Files in an archive; an FMU with an interpreter in it has some thousand."""

_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class RefusedFileError(OSError):
    """A file that is not read; `strerror` says why, with the cure."""

    def __str__(self) -> str:
        """The reason alone."""
        return str(self.strerror)


def _check(found: os.stat_result, path: str, most: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(found.st_mode)), "something else")
        reason = f"{kind}, where a regular file is expected; write its content to a file and name that one"
        raise RefusedFileError(errno.EINVAL, reason, path)
    if found.st_size > most:
        reason = f"it has {found.st_size} bytes, and at most {size_text(most)} are read; write less into it"
        raise RefusedFileError(errno.EFBIG, reason, path)


def size_text(size: int) -> str:
    """A size in the unit that suits it."""
    return f"{size / 2**30:g} GiB" if size >= 2**30 else f"{size / 2**20:g} MiB"


@overload
def open_file(path: str | os.PathLike[str], mode: Literal["rb"] = ..., *, most: int = ...) -> BinaryIO: ...
@overload
def open_file(path: str | os.PathLike[str], mode: Literal["r"], *, most: int = ..., **options: str) -> TextIO: ...
def open_file(path: str | os.PathLike[str], mode: str = "rb", *, most: int = FILE_BYTES, **options: Any) -> Any:
    """Open a regular file for reading; `options` are those of `open`.

    Args:
        path: Of the file.
        mode: "rb" or "r".
        most: Bytes that the file may have.
        **options: Encoding, newline, errors.

    Raises:
        OSError: It cannot be opened, is no regular file, or is too large; `strerror` says which.
    """
    name = os.fspath(path)
    _check(os.stat(name), name, most)  # before it is opened: opening a device may do something
    # What it is may change in between: opening does not wait, and the open file is looked at again.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(name, flags)
    try:
        _check(os.fstat(descriptor), name, most)
        return open(descriptor, mode, **options)
    except BaseException:
        os.close(descriptor)
        raise


def lines_in(stream: TextIO) -> Iterator[tuple[int, str]]:
    """Number and text of every line of a text file, with its end.

    Raises:
        OSError: A line is longer than any that is written on purpose.
    """
    number = 0
    while line := stream.readline(LINE_CHARACTERS + 1):
        number += 1
        if len(line) > LINE_CHARACTERS:
            reason = f"line {number} has more than {LINE_CHARACTERS} characters: this is not a text file of this kind"
            raise RefusedFileError(errno.EFBIG, reason)
        yield number, line


def check_archive(archive: zipfile.ZipFile) -> None:
    """Refuse a zip file that holds too much, or names what lies outside of it.

    Sizes are those that the archive states; no more than stated is ever unpacked.

    Raises:
        OSError: `strerror` says why, with the cure.
    """
    entries = archive.infolist()
    if len(entries) > ARCHIVE_ENTRIES:
        raise _refused(f"it has {len(entries)} files in it, and at most {ARCHIVE_ENTRIES} are unpacked; pack fewer")
    total = sum(entry.file_size for entry in entries)
    if total > ARCHIVE_BYTES:
        reason = f"it has {size_text(total)} in it, and at most {size_text(ARCHIVE_BYTES)} are unpacked; pack less"
        raise _refused(reason)
    for entry in entries:
        name = entry.filename
        outside = name.startswith(("/", "\\")) or ":" in name[:2] or ".." in name.replace("\\", "/").split("/")
        if outside or stat.S_ISLNK(entry.external_attr >> 16):
            what = "lies outside of it" if outside else "is a link"
            raise _refused(f"its entry {name!r} {what}; pack plain files with relative names")


def check_archives(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse zip files that hold too much together; one that is named twice is unpacked twice.

    Raises:
        OSError: `strerror` says why, with the cure.
        zipfile.BadZipFile: One is no zip file, or a damaged one.
    """
    total = 0
    for path in paths:
        with open_file(path) as stream, zipfile.ZipFile(stream) as archive:
            check_archive(archive)
            total += sum(entry.file_size for entry in archive.infolist())
    if total > SYSTEM_BYTES:
        reason = f"they hold {size_text(total)} together, and at most {size_text(SYSTEM_BYTES)} are unpacked"
        raise _refused(f"{reason}; take smaller ones, or fewer")


def _refused(reason: str) -> RefusedFileError:
    return RefusedFileError(errno.EINVAL, reason)


def unpack(path: str | os.PathLike[str], folder: Path) -> None:
    """Unpack a zip file into a folder, after `check_archive`.

    Raises:
        OSError: It cannot be read or is refused.
        zipfile.BadZipFile: It is no zip file, or a damaged one.
    """
    with open_file(path) as stream, zipfile.ZipFile(stream) as archive:
        check_archive(archive)
        archive.extractall(folder)
