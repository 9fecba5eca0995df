"""Files that the package carries for FMUs: C sources, headers, the Python slave."""

from __future__ import annotations

import importlib.resources
import sys
from collections.abc import Iterator

from bough.errors import BuildError

if sys.version_info >= (3, 11):
    from importlib.resources.abc import Traversable
else:
    from importlib.abc import Traversable

__all__ = ["Traversable", "source_folder"]


def source_folder(*parts: str) -> Traversable:
    """A folder of `bough/_src`.

    Raises:
        BuildError: It is not there.
    """
    folder = importlib.resources.files("bough").joinpath("_src", *parts)
    if not folder.is_dir():
        raise BuildError(
            f"this installation of bough lacks bough/_src/{'/'.join(parts)}. Install a released wheel, which has all "
            "sources."
        )
    return folder


def all_files(folder: Traversable) -> Iterator[Traversable]:
    """Files of a folder and of the folders in it."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from all_files(entry)
        else:
            yield entry
