"""A result as a report to look at, in one call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bough.errors import ArgumentError, SimulationError
from bough.report.page import write_page
from bough.report.paper import write_paper
from bough.report.retrace import (
    balance_series,
    deflection_notes,
    deflection_series,
    energy_series,
    find_prefix,
    known_units,
)
from bough.report.scenes import FRAMES, animate, mechanism_of
from bough.run.result import Result
from bough.run.result_files import check_ending, is_stream

if TYPE_CHECKING:
    from bough.mechanism.mechanism import Mechanism
    from bough.model import Model

PAGE_ENDING = ".html"
REPORT_ENDINGS = (PAGE_ENDING, ".pdf", ".png", ".svg")
"""What the name of a report may end in."""
MAKERS = {".yaml": "a model or a system file", ".yml": "a model or a system file", ".json": "a model or a system file",
          ".fmu": "an FMU", ".ssp": "a packed system"}  # fmt: skip
"""Files that users may have in hand instead of a result, and what they are."""


def write_report(
    result: Result | str | os.PathLike[str],
    path: str | os.PathLike[str],
    model: Mechanism | Model | str | os.PathLike[str] | None = None,
    *,
    title: str = "",
    frames: int = FRAMES,
    exaggeration: float | Sequence[float] | None = None,
    trails: Sequence[str] | None = None,
) -> Result:
    """Draw a result: `.html` is an interactive page that needs no network; `.pdf`, `.png` and `.svg` are for paper.

    Args:
        result: A result, or the file of one.
        path: The report; its ending says what is written.
        model: Model of the run; adds its motion, its energy with the balance of work and losses, and the deflection of
            its flexible bodies in mm.
        title: Heading; by default the model's name, or that of the file.
        frames: Frames of the animation at most.
        exaggeration: Factor on the deflections in the animation; several give a choice in the page. By default the
            true scale and, if that shows too little, one that does.
        trails: Nodes `body.node` whose paths are drawn; by default the model's sensors, three at most.

    Returns:
        The result that was drawn.

    Raises:
        OutputError: The ending is none of these, or the file cannot be written.
        SimulationError: The result cannot be read, is empty, or is not one of this model.
        ModelError: The model is wrong.

    Example:
        >>> import bough, os, tempfile
        >>> cart = {"bough": 1, "name": "cart", "bodies": [{"name": "box", "parent": "ground",
        ...     "hinge": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0]}, "rigid": {"mass": 2.0}}]}
        >>> run = bough.simulate(cart, stop=1.0, inputs={"rail.f": 4.0})
        >>> drawn = bough.write_report(run, os.path.join(tempfile.mkdtemp(), "run.svg"), bough.load(cart))
    """
    ending = report_ending(path)
    if model is None and (exaggeration is not None or trails is not None):
        raise ArgumentError("model: the animation needs the model of the run")
    found = result if isinstance(result, Result) else read_result(result)
    if not len(found) or not found.names:
        raise SimulationError("the result has no rows or no variables: there is nothing to report")
    source = "" if isinstance(result, Result) else Path(result).name
    heading = title or found.model_name or Path(source or path).stem
    more: dict[str, Any] = {"source": source}
    if model is not None:
        system = mechanism_of(model)
        prefix = find_prefix(system, found)
        found = known_units(system, found, prefix)
        more["animation"] = animate(
            system, found, frames=frames, exaggeration=exaggeration, trails=trails, prefix=prefix
        )
        more["extra"] = [
            energy_series(system, found, prefix),
            *balance_series(system, found, prefix),
            *deflection_series(system, found, prefix),
        ]
        more["notes"] = deflection_notes(system, prefix)
        heading = title or _title(system.model.name, found, prefix)
    (write_page if ending == PAGE_ENDING else write_paper)(found, path, heading, **more)
    return found


def report_ending(path: str | os.PathLike[str]) -> str:
    """The ending of a report; a device or a pipe takes the page.

    Raises:
        OutputError: It is none of `REPORT_ENDINGS`.
    """
    return PAGE_ENDING if is_stream(path) else check_ending(path, REPORT_ENDINGS)


def read_result(path: str | os.PathLike[str]) -> Result:
    """The result in a file.

    Raises:
        SimulationError: It is not there, or no result: with what it seems to be, and what to do.
    """
    file = Path(path)
    found = MAKERS.get(file.suffix.lower(), "")
    if found and file.exists():
        raise SimulationError(
            f"{file}: expected the CSV file of a run, found {found}; run it first, `bough run {file} -o run.csv`, "
            "then `bough report run.csv`"
        )
    return Result.load(file)


def _title(name: str, result: Result, prefix: str) -> str:
    """The model, and the other components of the system that it ran in."""
    parts = dict.fromkeys(each.partition(".")[0] for each in result.names if prefix)
    others = [part for part in parts if part != prefix.removesuffix(".")]
    return f"{name} with {', '.join(others)}" if others else name
