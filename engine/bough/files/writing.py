"""Files are written whole or not at all: every writer of the package goes through this module.

The new content goes into a file of its own beside the target, `run.csv.3f9ac201.part`, reaches the disk, and takes the
target's name in one move. Whoever reads the target sees the old content or the new one. A process that is killed may
leave its `.part` file, which nobody reads and which can be removed.

A character device or a pipe (`/dev/null`, `/dev/stdout`, `>(gzip > run.csv.gz)`) has no content to keep: it is written
to as it is, where the output is text.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TextIO, TypeAlias

from bough.errors import OutputError

Name: TypeAlias = str | os.PathLike[str]

SHOWN = 40
"""Characters of the target's name that its temporary file shows: the whole fits where the target's name does."""
ELSEWHERE = "choose another output"
_OPEN_FILE = re.compile(r"(/dev|/proc/self)/(?P<name>stdout|stderr|fd/\d+)")
"""Names of files that the process has open: there is nothing beside them, and nothing to replace."""
_REFUSED = {
    stat.S_IFDIR: "it is a directory; name a file in it",
    stat.S_IFBLK: "it is a block device; name a file",
    stat.S_IFSOCK: "it is a socket; name a file",
}


def check_output(path: Name, inputs: Iterable[Name] = (), *, stream: bool = False) -> None:
    """Refuse, before any work, an output that cannot be written or that would destroy an input.

    Args:
        path: The output.
        inputs: Files that the work reads. The output may not be one of them under any name: links are followed.
        stream: Whether a character device or a pipe will do.

    Raises:
        OutputError: With the reason and the cure.
    """
    target = Path(path)
    found = _status(target)
    if found is not None:
        if _streams(target, found, stream):
            return
        for each in inputs:
            if _same(each, found):
                raise OutputError(f"cannot write {target}: it is {_called(each, target)}, which is read; {ELSEWHERE}")
    with _told(target):
        _check_folder(target, found)


def check_different(*paths: Name | None) -> None:
    """Refuse outputs of one command that are the same file.

    Raises:
        OutputError: With both names.
    """
    seen: dict[str, Name] = {}
    for path in paths:
        if path is not None:
            first = seen.setdefault(os.path.realpath(path), path)
            if first is not path:
                raise OutputError(f"cannot write both {first} and {path}: they are one file; {ELSEWHERE}")


def make_folder(path: Name) -> None:
    """Make a folder for outputs, with those above it; one that is there will do.

    Raises:
        OutputError: It cannot be made.
    """
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write to {os.fspath(path)}: {error.strerror}; choose another folder") from None


def write_text(path: Name, text: str, *, stream: bool = False) -> None:
    """Write a text file in UTF-8, whole or not at all.

    Raises:
        OutputError: It cannot be written; what was there is still there.
    """
    with text_file(path, stream=stream) as file:
        file.write(text)


def write_bytes(path: Name, data: bytes) -> None:
    """Write a file, whole or not at all.

    Raises:
        OutputError: It cannot be written; what was there is still there.
    """
    with binary_file(path) as file:
        file.write(data)


def write_together(contents: Mapping[Path, bytes]) -> None:
    """Write files that belong together: all are on the disk before the first takes its name; the last one is the mark.

    Raises:
        OutputError: One of them cannot be written. The mark is still that of the old files.
    """
    with contextlib.ExitStack() as stack:
        # The stack unwinds from its end: what is entered first is replaced last.
        for path, data in reversed(list(contents.items())):
            file = stack.enter_context(binary_file(path))
            file.write(data)
            _flush(path, file)


@contextlib.contextmanager
def text_file(path: Name, *, stream: bool = False) -> Iterator[TextIO]:
    """A file to be written in UTF-8 with lines that end as they are given; it appears when the block ends well."""
    with binary_file(path, stream=stream) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
        try:
            yield text
            text.flush()
        finally:
            with contextlib.suppress(OSError, ValueError):
                text.detach()


@contextlib.contextmanager
def binary_file(path: Name, *, stream: bool = False) -> Iterator[IO[bytes]]:
    """A file to be written; it appears under its name when the block ends well, and not at all otherwise.

    Args:
        path: Its name; a link is followed, and the file behind it is replaced. Permissions of a file that is there
            stay.
        stream: Whether a character device or a pipe is written to.

    Raises:
        OutputError: It cannot be written; what was there is still there.
    """
    target = Path(path)
    found = _status(target)
    if found is not None and _streams(target, found, stream):
        with _told(target), _opened(target) as file:
            yield file
        return
    real = os.path.realpath(target)
    beside = os.path.join(os.path.dirname(real), f"{os.path.basename(real)[:SHOWN]}.{secrets.token_hex(4)}.part")
    with _told(target):
        file = open(beside, "xb")
        try:
            with file:
                yield file
                if found is not None:
                    _take_over(file.fileno(), found)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, real)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise
    _sync_folder(os.path.dirname(real))


def _refusal(path: Name, error: OSError) -> OutputError:
    """What a failed write is told as."""
    reason = error.strerror or str(error)
    cure = {
        errno.ENOSPC: "make room, or choose another disk",
        errno.EDQUOT: "make room, or choose another disk",
        errno.ENOENT: "choose a folder that exists",
        errno.EACCES: "choose a file and a folder that can be written to",
        errno.EROFS: "choose a folder that can be written to",
        errno.ENAMETOOLONG: "choose a shorter name",
    }.get(error.errno or 0)
    return OutputError(f"cannot write {os.fspath(path)}: {reason}" + (f"; {cure}" if cure else ""))


@contextlib.contextmanager
def _told(target: Path) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # whoever read the pipe has seen enough
    except OSError as error:
        raise _refusal(target, error) from None


def _flush(path: Path, file: IO[bytes]) -> None:
    with _told(path):
        file.flush()
        os.fsync(file.fileno())


def _status(target: Path) -> os.stat_result | None:
    """What is there under this name; None if nothing is."""
    try:
        return os.stat(target)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _refusal(target, error if isinstance(error, OSError) else OSError(errno.EINVAL, str(error))) from None


def _streams(target: Path, found: os.stat_result, allowed: bool) -> bool:
    """Whether the target is written to as it is; what can neither be written to nor replaced is refused."""
    kind = stat.S_IFMT(found.st_mode)
    if kind in _REFUSED:
        raise OutputError(f"cannot write {target}: {_REFUSED[kind]}")
    opened = _OPEN_FILE.fullmatch(os.path.abspath(target)) is not None
    if kind == stat.S_IFREG and not opened:
        return False
    if not allowed:
        raise OutputError(f"cannot write {target}: it is a device or a pipe; name a file")
    return True


def _opened(target: Path) -> IO[bytes]:
    """A device, a pipe, or what the process has open under this name: to go on writing where it is."""
    match = _OPEN_FILE.fullmatch(os.path.abspath(target))
    word = "" if match is None else match["name"]
    if not word:
        return target.open("wb")
    number = {"stdout": 1, "stderr": 2}.get(word)
    if number == 1:
        sys.stdout.flush()
    return open(os.dup(int(word.rpartition("/")[2]) if number is None else number), "wb")


def _called(name: Name, target: Path) -> str:
    """An input for a message: by its name where that is not the target's."""
    return "an input" if os.path.abspath(name) == os.path.abspath(target) else os.fspath(name)


def _same(name: Name, found: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(name), found)
    except (OSError, ValueError):
        return False


def _check_folder(target: Path, found: os.stat_result | None) -> None:
    """Refuse a target that is write-protected, or whose folder is."""
    folder = Path(os.path.dirname(os.path.realpath(target)))
    if not folder.is_dir():
        raise OutputError(f"cannot write {target}: there is no directory {folder}; choose one that exists")
    if found is not None and not os.access(target, os.W_OK):
        raise OutputError(f"cannot write {target}: the file is write-protected; choose another, or change its mode")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"cannot write {target}: the directory {folder} is write-protected; choose another")
    if found is not None and hasattr(os, "geteuid"):
        owners, me = (found.st_uid, (about := folder.stat()).st_uid), os.geteuid()
        if about.st_mode & stat.S_ISVTX and me and me not in owners:
            raise OutputError(f"cannot write {target}: in {folder} only its owner may replace it; choose another name")


def _take_over(file: int, old: os.stat_result) -> None:
    """Give the new file owner and permissions of the old one, as far as this user may."""
    if hasattr(os, "fchown"):
        new = os.fstat(file)
        with contextlib.suppress(OSError):
            if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
                os.fchown(file, old.st_uid, old.st_gid)
        with contextlib.suppress(OSError):
            os.fchmod(file, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: str) -> None:
    """Make the new name last. Not every system can; the file is whole anyway."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
