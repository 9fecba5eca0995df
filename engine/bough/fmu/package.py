"""FMUs: description, binaries and model in one zip file."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.resources
import io
import os
import platform as host
import sys
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from bough._build_info import VERSION
from bough.errors import BuildError
from bough.files import write_bytes
from bough.fmu import fmi2, fmi3
from bough.fmu.common_xml import NO_DATE
from bough.fmu.description import Description, describe
from bough.fmu.fmu_page import documentation
from bough.fmu.picture import png, shapes, svg
from bough.fmu.python_runtime import python_files, python_platforms
from bough.fmu.source_runtime import source_files, source_names
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.resource import resource
from bough.model import Model
from bough.model.named_files import check_target

VERSIONS = ("2.0", "3.0")
RUNTIMES = ("native", "python", "source")
EXTENSIONS = {"linux": ".so", "windows": ".dll", "darwin": ".dylib"}
FOLDERS = {
    "x86_64-linux": "linux64",
    "aarch64-linux": "aarch64-linux",
    "x86_64-windows": "win64",
    "x86_64-darwin": "darwin64",
    "aarch64-darwin": "aarch64-darwin",
}
"""Platforms by their FMI 3 tuple, and FMI 2's name of the folder."""
NARROW = ("win32", "linux32", "x86-windows", "x86-linux")
"""Platforms of 32 bits, as FMI 2 and 3 call them: there are no binaries for them."""
NO_TOKEN = "{00000000-0000-0000-0000-000000000000}"
"""Stands in for a token that is made from the content."""
_EPOCH = (1980, 1, 1, 0, 0, 0)


def build_fmu(
    model: Model | Mechanism | str | os.PathLike[str] | Mapping[str, Any],
    path: str | os.PathLike[str],
    fmi: str = "2.0",
    platforms: str | Sequence[str] = "all",
    runtime: str = "native",
    arrays: bool = False,
    *,
    author: str = "",
    version: str = "",
    sources: bool = False,
) -> Path:
    """Write a model as an FMU for Co-Simulation and Model Exchange.

    The same model gives the same bytes, but for the date of writing; where the environment variable SOURCE_DATE_EPOCH
    is set, that is the date. A file that is there is replaced in one move; if anything fails it stays.

    Args:
        model: A model, or what `bough.load` takes, or a Mechanism.
        path: Of the FMU; its folder must exist.
        fmi: "2.0" or "3.0".
        platforms: "all"; "native", this machine's; or tuples such as "x86_64-linux", one or a list.
        runtime: "native": compiled code, nothing else needed on the user's machine. "python": a pythonfmu slave that
            imports bough, to be changed; FMI 2.0 for Co-Simulation only. "source": C99 sources, for targets without a
            file system; platforms does not apply.
        arrays: FMI 3 only: `h.w[1]`, `h.w[2]`... become one array `h.w`.
        author: Who has made the model, for the description.
        version: Of the model, for the description.
        sources: Whether the C sources go along with the binaries, for platforms that have none.

    Returns:
        The path.

    Raises:
        ModelError: The model is wrong.
        BuildError: An option is unknown, this installation lacks a platform's binary, or the file cannot be written.
    """
    _check(fmi, runtime, arrays)
    tuples = platform_tuples(platforms, runtime)
    if sources and runtime == "python":
        raise BuildError("runtime='python' has no C sources: leave sources out, or build a native FMU")
    if runtime == "source" and platforms != "all":
        raise BuildError("runtime='source' is for any platform: leave platforms out")
    target = Path(path)
    check_target(target, model)
    binaries = {name: find_binary(name, fmi) for name in tuples} if runtime == "native" else {}
    system = model if isinstance(model, Mechanism) else Mechanism(model)
    files = fmu_files(system, fmi, arrays, "source" if sources else runtime, author, version)
    files |= placed(binaries, system.model.name, fmi)
    if runtime == "python":
        files = python_files(files, system.model.name, tuples)
    elif runtime == "source" or sources:
        files = source_files(files, system.model.name, fmi, keep=sources and runtime == "native")
    write_fmu(target, files)
    return target


def platform_tuples(platforms: str | Sequence[str], runtime: str) -> list[str]:
    """Platforms as `build_fmu` takes them, as tuples that the runtime has."""
    tuples = _platforms(platforms)
    return python_platforms(tuples, platforms == "all") if runtime == "python" else tuples


def placed(binaries: Mapping[str, bytes], model: str, fmi: str) -> dict[str, bytes]:
    """Binaries by platform tuple as files of an FMU."""
    return {
        f"binaries/{FOLDERS[name] if fmi == '2.0' else name}/{model}{_extension(name)}": data
        for name, data in binaries.items()
    }


def write_fmu(target: Path, files: Mapping[str, bytes]) -> None:
    """Files by path as one zip file; all or nothing."""
    write_bytes(target, _zip(files))


def fmu_files(
    system: Mechanism, fmi: str, arrays: bool = False, runtime: str = "native", author: str = "", version: str = ""
) -> dict[str, bytes]:
    """Everything in an FMU of any runtime but its binaries and sources, by path.

    Args:
        system: The model, compiled.
        fmi: "2.0" or "3.0".
        arrays: FMI 3 only: whether indexed names become arrays.
        runtime: What the description is for.
        author: Who has made the model.
        version: Of the model.
    """
    model, new = system.model, fmi == "3.0"
    d = describe(system, f"bough {VERSION}", arrays=arrays, parameters=new)
    d = replace(d, author=author, version=version)
    if new:
        text = fmi3.model_description(d, NO_TOKEN)
    else:
        sources = source_names(fmi) if runtime == "source" else ()
        text = fmi2.model_description(d, NO_TOKEN, runtime == "python", sources)
    token = content_token(resource(system, d.variables, NO_TOKEN), text.encode())
    drawn = shapes(system)
    icon = png(drawn)
    files = {
        "modelDescription.xml": finished(text, token),
        "resources/model.bough": resource(system, d.variables, token),
        "documentation/index.html": documentation(model, d, svg(drawn), fmi).encode(),
        "documentation/licenses/license.txt" if new else "licenses/license.txt": licence().encode(),
    }
    return files | (_decoration3(model, d, icon) if new else {"model.png": icon})


def _decoration3(model: Model, d: Description, icon: bytes) -> dict[str, bytes]:
    terminals = fmi3.terminals_and_icons(model, d).encode()
    return {"terminalsAndIcons/terminalsAndIcons.xml": terminals, "terminalsAndIcons/icon.png": icon}


def find_binary(name: str, fmi: str) -> bytes:
    """The installed binary of a platform, for mechanisms and partners.

    Raises:
        BuildError: It is not there.
    """
    file = f"bough_fmi{fmi[0]}{_extension(name)}"
    found = importlib.resources.files("bough") / "_fmu" / name / file
    if not found.is_file():
        raise BuildError(
            f"this installation of bough has no FMI {fmi} binary for {name} (bough/_fmu/{name}/{file}). Install a "
            "released wheel, which has all of them, or ask for fewer platforms: platforms='native'."
        )
    return found.read_bytes()


def narrow_cure(option: str) -> str:
    """What helps on 32 bits."""
    return f"bough builds for 64 bits. {option} puts the C sources beside the binaries, for a compiler of 32 bits"


def native_platform() -> str:
    """Tuple of this machine.

    Raises:
        BuildError: There is no binary for machines of its kind.
    """
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(host.machine().lower(), host.machine().lower())
    name = f"{machine}-{ {'win32': 'windows'}.get(sys.platform, sys.platform) }"
    if name not in FOLDERS:
        raise BuildError(
            f"there are no FMU binaries for this machine ({name}). Name the platforms that the FMU is for: "
            f"platforms='all', or some of {', '.join(FOLDERS)}."
        )
    return name


# ---- checks


def _check(fmi: str, runtime: str, arrays: bool) -> None:
    if fmi not in VERSIONS:
        raise BuildError(f"fmi is {fmi!r}; expected '2.0' or '3.0'")
    if runtime not in RUNTIMES:
        raise BuildError(f"runtime is {runtime!r}; expected 'native', 'python' or 'source'")
    if runtime == "python" and fmi != "2.0":
        raise BuildError("runtime='python' is for FMI 2.0 only: ask for fmi='2.0', or for runtime='native'")
    if arrays and fmi != "3.0":
        raise BuildError("FMI 2.0 has no arrays: leave arrays out, or ask for fmi='3.0'")


def _platforms(platforms: str | Iterable[str]) -> list[str]:
    if platforms == "all":
        return list(FOLDERS)
    if platforms == "native":
        return [native_platform()]
    asked = [platforms] if isinstance(platforms, str) else list(platforms)
    for name in asked:
        if name in NARROW:
            raise BuildError(f"there are no binaries for {name!r}: {narrow_cure('sources=True')}")
        if name not in FOLDERS:
            raise BuildError(
                f"there is no platform {name!r}; expected 'all', 'native', or some of {', '.join(FOLDERS)}"
            )
    if not asked:
        raise BuildError(f"platforms is empty; expected 'all', 'native', or some of {', '.join(FOLDERS)}")
    return [name for name in FOLDERS if name in asked]


def _extension(name: str) -> str:
    return EXTENSIONS[name.split("-")[1]]


# ---- content


def content_token(*parts: bytes) -> str:
    """A GUID of the content, so that XML and resource of different models never fit together."""
    digest = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    return f"{{{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}}}"


def finished(text: str, token: str) -> bytes:
    """A description with its token and the date of writing.

    Raises:
        BuildError: SOURCE_DATE_EPOCH is no number of seconds.
    """
    return text.replace(NO_TOKEN, token, 1).replace(NO_DATE, _written(), 1).encode()


def _written() -> str:
    """Now, or when SOURCE_DATE_EPOCH says, so that builds can be repeated bit by bit."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        moment = datetime.fromtimestamp(int(given), timezone.utc) if given else datetime.now(timezone.utc)
    except (ValueError, OverflowError, OSError):
        raise BuildError(
            f"SOURCE_DATE_EPOCH is {given!r}; expected seconds since 1970, such as 1700000000. Unset it, or mend it"
        ) from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def licence() -> str:
    """The licence of the binaries, from the installed package."""
    for file in importlib.metadata.files("bough") or []:
        if file.name == "LICENSE":
            return file.read_text(encoding="utf-8")
    raise BuildError("this installation of bough has no LICENSE file: install it anew")


def _zip(files: Mapping[str, bytes]) -> bytes:
    """A zip file; the same bytes for the same files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in sorted(files, key=lambda n: (n != "modelDescription.xml", n)):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
            info.external_attr = (0o100755 if name.startswith("binaries/") else 0o100644) << 16
            archive.writestr(info, files[name])
    return out.getvalue()
