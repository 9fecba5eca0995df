"""Reference runs inside of FMUs, as the layered standard fmi-ls-ref (1.0.0-alpha.1) has it: they travel along."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from bough.errors import OutputError, SimulationError
from bough.files import check_archive, open_file, write_bytes
from bough.fmu.markup import Lines, document, element

FOLDER = "extra/org.fmi-standard.fmi-ls-ref/"
MANIFEST, EXPERIMENTS = f"{FOLDER}fmi-ls-manifest.xml", f"{FOLDER}experiments.xml"
_SPACE = "http://fmi-standard.org/fmi-ls-manifest"
_SSV = "http://ssp-standard.org/SSP1/SystemStructureParameterValues"
_SSV_TYPE = "application/x-ssp-parameter-set"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_CHILDREN = ("Parameters", "Stimuli", "References")
"""Elements of an experiment in their order."""


def embed(
    fmu: Path,
    name: str,
    rows: bytes,
    *,
    stop: float,
    step: float,
    inputs: bytes | None = None,
    values: Mapping[str, float] | None = None,
    text: str = "",
) -> None:
    """Put a reference run into an FMU: rows, inputs and parameters as an experiment of fmi-ls-ref.

    One of the same name is replaced; everything else in the FMU stays as it is.

    Args:
        fmu: The file; it is replaced in one move.
        name: Of the experiment.
        rows: The run, CSV.
        stop: End of the run, s.
        step: Communication step, s.
        inputs: Inputs over time, CSV.
        values: Constant inputs, parameters and start values.
        text: One line on the run.

    Raises:
        SimulationError: It is no zip file, or its experiments cannot be read.
        OutputError: It cannot be written.
    """
    here = f"{FOLDER}{_safe(name)}"
    files = {"References": (f"{here}.reference.csv", rows)}
    if inputs is not None:
        files["Stimuli"] = f"{here}.inputs.csv", inputs
    if values:
        files["Parameters"] = f"{here}.parameters.ssv", _parameters(name, values).encode()
    attributes = {"name": name, "description": text or None, "startTime": 0.0, "stopTime": stop, "stepSize": step}
    try:
        with open_file(fmu) as stream, zipfile.ZipFile(stream) as archive:
            check_archive(archive)
            old = _experiments(archive, fmu)
            others = {key: lines for key, lines in old.items() if key != name}
            inside = [
                line
                for tag in _CHILDREN
                if tag in files
                for line in element(tag, {"source": files[tag][0].removeprefix(FOLDER)})
            ]
            experiments = {**others, name: element("Experiment", attributes, inside)}
            new = {path: data for path, data in files.values()}
            new[EXPERIMENTS] = document(
                element("Experiments", {}, [line for lines in experiments.values() for line in lines])
            ).encode()
            new[MANIFEST] = _manifest(experiments, {**_kept(archive, here), **new}).encode()
            data = _with(archive, new, here)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise SimulationError(f"{fmu} is not a readable FMU: {error}") from None
    except OSError as error:
        raise OutputError(f"cannot read {fmu}: {error.strerror or error}") from None
    write_bytes(fmu, data)


def content_digest(fmu: Path) -> str:
    """SHA-256 of what an FMU holds, reference runs apart; empty if it cannot be read."""
    try:
        with open_file(fmu) as stream, zipfile.ZipFile(stream) as archive:
            check_archive(archive)
            digest = hashlib.sha256()
            for name in sorted(n for n in archive.namelist() if not n.startswith(FOLDER)):
                digest.update(name.encode() + b"\0" + hashlib.sha256(archive.read(name)).digest())
            return digest.hexdigest()
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError):
        return ""


def experiments_of(fmu: Path) -> dict[str, dict[str, str]]:
    """Experiments in an FMU by their names, each with its attributes, and the paths of its files in the archive.

    Raises:
        SimulationError: It is no readable FMU.
    """
    try:
        with open_file(fmu) as stream, zipfile.ZipFile(stream) as archive:
            check_archive(archive)
            if EXPERIMENTS not in archive.namelist():
                return {}
            root = ElementTree.fromstring(archive.read(EXPERIMENTS))
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, ElementTree.ParseError) as error:
        raise SimulationError(f"{fmu}: its reference runs cannot be read: {error}") from None
    return {
        e.get("name", ""): {**e.attrib, **{child.tag: FOLDER + child.get("source", "") for child in e}} for e in root
    }


def _safe(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name) or "run"


def _parameters(name: str, values: Mapping[str, float]) -> str:
    lines = [
        line
        for key, value in values.items()
        for line in element("ssv:Parameter", {"name": key}, element("ssv:Real", {"value": float(value)}))
    ]
    head = {"xmlns:ssv": _SSV, "version": "1.0", "name": name}
    return document(element("ssv:ParameterSet", head, element("ssv:Parameters", {}, lines)))


def _experiments(archive: zipfile.ZipFile, fmu: Path) -> dict[str, Lines]:
    """Experiments that are there, by their names, as lines of XML."""
    if EXPERIMENTS not in archive.namelist():
        return {}
    try:
        root = ElementTree.fromstring(archive.read(EXPERIMENTS))
    except ElementTree.ParseError as error:
        raise SimulationError(f"{fmu}: {EXPERIMENTS} is not XML: {error}") from None
    return {e.get("name", ""): _lines(e) for e in root}


def _lines(e: ElementTree.Element) -> Lines:
    return element(e.tag, dict(e.attrib), [line for child in e for line in _lines(child)])


def _kept(archive: zipfile.ZipFile, here: str) -> dict[str, bytes]:
    """Files of other experiments."""
    return {
        name: archive.read(name)
        for name in archive.namelist()
        if name.startswith(FOLDER) and name not in (MANIFEST, EXPERIMENTS) and not name.startswith(f"{here}.")
    }


def _manifest(experiments: Mapping[str, Lines], files: Mapping[str, bytes]) -> str:
    rows: list[tuple[str, str, str, str]] = [
        ("application/xml", EXPERIMENTS, "experiment/smoke-test", f"Reference runs: {', '.join(experiments)}")
    ]
    roles = {".ssv": (_SSV_TYPE, "parameter", "Parameters and start values"),
             ".inputs.csv": ("text/csv", "other", "Inputs over time"),
             ".reference.csv": ("text/csv", "result", "What the run gave")}  # fmt: skip
    for path in sorted(files):
        found = next((about for ending, about in roles.items() if path.endswith(ending)), None)
        if found is not None:
            rows.append((found[0], path, found[1], found[2]))
    related = []
    for kind, path, role, text in rows:
        source = path.removeprefix(FOLDER)
        sha = hashlib.sha3_256(files[path]).hexdigest()
        attributes = {"type": kind, "source": source, "role": role, "description": text, "checksum": sha}
        related += element("Related", attributes)
    head = {
        "xmlns:fmi-ls": _SPACE,
        "fmi-ls:fmi-ls-name": "org.fmi-standard.fmi-ls-ref",
        "fmi-ls:fmi-ls-version": "1.0.0-alpha.1",
        "fmi-ls:fmi-ls-description": "Layered Standard providing information on related files included in an FMU.",
    }
    return document(element("fmiReferences", head, related))


def _with(archive: zipfile.ZipFile, new: Mapping[str, bytes], here: str) -> bytes:
    """The archive with some files more, or in place of those of the same name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for info in archive.infolist():
            stale = info.filename.startswith(f"{here}.")
            if info.filename not in new and not stale and not info.is_dir():
                target.writestr(info, archive.read(info.filename), info.compress_type)
        for path, data in new.items():
            info = zipfile.ZipInfo(path, _EPOCH)
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o100644 << 16
            target.writestr(info, data)
    return out.getvalue()
