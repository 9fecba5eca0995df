"""SSP packages: a zip file with SystemStructure.ssd, the FMUs and their parameter values."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from urllib.parse import unquote
from xml.etree import ElementTree

from bough._build_info import VERSION
from bough.coupling.assembly import Assembly
from bough.coupling.container import CONTAINER, container_text, scaled
from bough.coupling.ssd import parameter_set, structure
from bough.coupling.ssd_read import Reader
from bough.errors import SimulationError
from bough.files import check_archive, open_file, write_bytes

STRUCTURE = "SystemStructure.ssd"
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_package(assembly: Assembly, target: Path) -> None:
    """Write a system as an SSP 1.0 package; a file that is there is replaced in one move.

    Raises:
        OutputError: It cannot be written.
    """
    files: dict[str, bytes] = {STRUCTURE: structure(assembly, f"bough {VERSION}").encode()}
    for c in assembly.components:
        files[f"resources/{c.name}.fmu"] = c.fmu.read_bytes()
        if c.values:
            files[f"resources/{c.name}.ssv"] = parameter_set(c).encode()
    if not scaled(assembly):
        files[CONTAINER] = container_text(assembly).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            # FMUs are zip files: there is nothing left to compress.
            info.compress_type = zipfile.ZIP_STORED if name.endswith(".fmu") else zipfile.ZIP_DEFLATED
            info.create_system, info.external_attr = 3, 0o100644 << 16
            archive.writestr(info, data)
    write_bytes(target, out.getvalue())


def open_package(path: Path, folder: Path) -> Assembly:
    """Read an SSP package.

    Args:
        path: The package.
        folder: Where it is unpacked.

    Raises:
        SimulationError: It is not an SSP package, or has something in it that is not known here.
    """
    root = folder / "ssp"
    try:
        with open_file(path) as stream, zipfile.ZipFile(stream) as archive:
            if STRUCTURE not in archive.namelist():
                raise SimulationError(f"{path} is not an SSP package: it has no {STRUCTURE}")
            check_archive(archive)
            archive.extractall(root)
        tree = ElementTree.parse(root / STRUCTURE)
    except FileNotFoundError:
        raise SimulationError(f"cannot read {path}: no such file") from None
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise SimulationError(f"{path} is not an SSP package: it is not a zip file, or it is damaged") from None
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # the latter two: of its encoding
        raise SimulationError(f"{path}: {STRUCTURE} is not XML: {error}") from None
    except (OSError, RuntimeError) as error:  # zipfile raises the latter for what is encrypted
        raise SimulationError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None

    def locate(source: str) -> Path:
        """A file of the package; never one outside of it."""
        relative = PurePosixPath(unquote(source))
        if "://" in source or relative.is_absolute() or ".." in relative.parts:
            raise SimulationError(f"{path}: {source!r} is outside of the package; only files in it are read")
        if not (root / relative).is_file():
            raise SimulationError(f"{path}: {source} is missing in the package")
        return root / relative

    return Reader(str(path), locate).read(tree.getroot())
