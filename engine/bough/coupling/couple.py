"""`bough couple`: a system file becomes a package that any tool with SSP can run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bough.coupling.assembly import Assembly
from bough.coupling.container import build_container, left_out
from bough.coupling.gather import gather
from bough.coupling.settle import settled_system
from bough.coupling.ssp import write_package
from bough.coupling.warned import warnings_of
from bough.files import check_different
from bough.model.named_files import check_target


def couple(
    source: str | os.PathLike[str] | Mapping[str, Any],
    path: str | os.PathLike[str],
    fmi: str = "2.0",
    platforms: str | Sequence[str] = "all",
    container: str | os.PathLike[str] | None = None,
    settle: bool = False,
) -> Assembly:
    """Write a system as an SSP 1.0 package.

    Args:
        source: The system file, or its content.
        path: Of the package.
        fmi: Version of the FMUs that are built of models and partners.
        platforms: Of those, as `bough.build_fmu` takes them.
        container: Path of an FMU that holds the whole system, if one is wanted too.
        settle: Whether the start values in the package are those at rest; see `bough.coupling.run`.

    Returns:
        What was written; `warnings` is to be read.

    Raises:
        ModelError: The system file, or a model that it names, is wrong.
        SimulationError: FMPy is missing.
        BuildError: A file cannot be written.
    """
    check_target(path, source)
    if container is not None:
        check_target(container, source)
    check_different(path, container)
    with tempfile.TemporaryDirectory(prefix="bough-", ignore_cleanup_errors=True) as scratch:
        assembly = gather(source, Path(scratch), fmi, platforms)
        if settle:
            assembly = settled_system(assembly, assembly.models)
        assembly = replace(assembly, warnings=(*warnings_of(assembly), *left_out(assembly)))
        write_package(assembly, Path(path))
        if container is not None:
            build_container(assembly, Path(container), fmi)
    return assembly
