"""From a system file to components and links, with everything that is wrong reported at once."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bough.coupling.assembly import Assembly, Component, Master
from bough.coupling.component import Builder
from bough.coupling.connect import check_links
from bough.coupling.fmu_interface import fmpy
from bough.coupling.recognize import read_system
from bough.coupling.system_file import HeaderFile, MasterFile, SystemFile
from bough.coupling.values import with_values
from bough.coupling.warned import loose_inputs
from bough.model.synonyms import MODEL_WORDS
from bough.text.kinds import NAME_PATTERN
from bough.text.problems import Report, describe, one_of
from bough.text.translate import check


def gather(
    source: str | os.PathLike[str] | Mapping[str, Any],
    folder: Path,
    fmi: str = "2.0",
    platforms: str | Sequence[str] = "native",
) -> Assembly:
    """Read and check a system file; copy and build its FMUs.

    Args:
        source: The file, or its content.
        folder: Where the FMUs go: `<component>.fmu`.
        fmi: Version of the FMUs that are built, where the file does not say.
        platforms: Of the FMUs that are built.

    Raises:
        ModelError: Anything is wrong in the file, with its line.
        BuildError: An FMU cannot be built for a reason that is not in the file.
        SimulationError: FMPy is missing.
    """
    fmpy()
    read_source = read_system(source)
    report = Report(read_source.file, read_source.line_of, read_source.folder, MODEL_WORDS)
    data = dict(read_source.data)
    listed, wires = data.pop("components", None), data.pop("connections", None)
    header = check(HeaderFile, data, (), report, whole=SystemFile)
    builder = Builder(folder, read_source, fmi, platforms)
    components = _components(listed, report, builder)
    if isinstance(listed, dict) and len(components) < len(listed):
        report.fail_if_any()  # without one of them, what is said of connections would only be noise
    for key in ("set", "start"):
        if isinstance(data.get(key), dict):
            components = with_values(components, data[key], key, report)
    links, carried, warnings = check_links(wires, components, report)
    report.fail_if_any()
    master = _master(header.master or MasterFile(), [c.name for c in components], report)
    report.fail_if_any()
    empty = Assembly(header.name, tuple(components), (), master, carried=tuple(carried), models=builder.models)
    assembly = empty.with_links(links)
    return replace(assembly, warnings=tuple(warnings), loose=tuple(loose_inputs(assembly)))


def _master(file: MasterFile, names: list[str], report: Report) -> Master:
    if file.sequence is not None and sorted(file.sequence) != sorted(names):
        found = ", ".join(file.sequence) or "nothing"
        report.add(("master", "sequence"), f"each of {one_of(names)} once", found, "list all components")
    default = Master()
    return Master(
        file.step or default.step,
        file.stop or default.stop,
        default.start,
        file.order,
        tuple(file.sequence or ()),
        file.extrapolation,
        file.tolerance,
    )


def _components(listed: Any, report: Report, builder: Builder) -> list[Component]:
    expected = "a mapping of names to FMUs, model files or partners, `arm: arm.fmu`"
    if not isinstance(listed, dict) or not listed:
        found = "no such key" if listed is None else describe(listed)
        report.add(("components",), expected, found, "add `components:` and under it `arm: arm.fmu`")
        return []
    out = []
    for name, entry in listed.items():
        if not re.match(NAME_PATTERN, name):
            cure = "use letters, digits and underscores only, and begin with a letter"
            report.add(("components", name), "a name of letters, digits and underscores", describe(name), cure)
            continue
        component = builder.component(name, entry, report)
        if component is not None:
            out.append(component)
    return out
