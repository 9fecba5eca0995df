"""Torques of a move, planned before it is made.

The mechanism's model and its controller run together, off line, as in figure 6 of US patent 5,546,508 with the state
that the accelerations of the last step give (claim 6). What the hinges were given is the plan: a table that drives
the mechanism again without the controller. Torques are held between samples, so every sample has two rows, before and
after it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bough.coupling.assembly import Assembly, Value
from bough.coupling.run_system import open_system, run
from bough.coupling.settings import split
from bough.errors import SimulationError
from bough.run.result import Result
from bough.run.result_csv import rows_text, write_table

TOLERANCE = 1e-10
"""Of the mechanism's solver, unless the system says another: a plan is to be played elsewhere."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Torques of a move.

    Attributes:
        component: The mechanism.
        model: Its model file, if it was built from one.
        inputs: Names of its inputs that are planned.
        motion: The run that was planned, every variable of the system.
        settings: Parameters and start values of the mechanism that differ from its file: a run of the plan needs them.
    """

    component: str
    model: Path | None
    inputs: tuple[str, ...]
    motion: Result
    settings: Mapping[str, Value]

    def table(self) -> dict[str, np.ndarray]:
        """Columns of the file: `time` in s, then the inputs, each sample but the first and last with two rows."""
        t = self.motion.t
        out = {"time": np.repeat(t, 2)[1:-1] if t.size > 1 else t}
        for name in self.inputs:
            held = np.repeat(self.motion[f"{self.component}.{name}"], 2)
            out[name] = held[:-2] if t.size > 1 else held[:1]
        return out

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table, with units beside it.

        Raises:
            OutputError: It cannot be written.
        """
        table = self.table()
        units = {name: self.motion.units.get(f"{self.component}.{name}", "") for name in self.inputs}
        write_table(Path(path), rows_text(list(table), list(table.values())), list(table), {"time": "s", **units})


def plan(
    source: str | os.PathLike[str],
    stop: float | None = None,
    *,
    component: str | None = None,
    values: Mapping[str, Value] | None = None,
    settle: bool = False,
    progress: Callable[[float], None] | None = None,
    warn: Callable[[str], None] | None = None,
) -> Plan:
    """Plan the torques of a move: run a mechanism with its controller, and keep what drove the hinges.

    Args:
        source: A system file or an SSP package with a mechanism and what drives it.
        stop: End, s; as the system says if None.
        component: The mechanism; None: the only one that others drive.
        values: Parameters and start values, by `component.variable`.
        settle: Whether it starts at rest; see `bough.coupling.run`.
        progress: Called with the fraction done.
        warn: Called with each warning; None: Python's `warnings`.

    Returns:
        The torques, to be written with `to_csv` and played with `bough run MODEL --input torques.csv`.

    Raises:
        ModelError: The system file is wrong.
        SimulationError: Nothing drives a mechanism, or the run failed.
    """
    with tempfile.TemporaryDirectory(prefix="bough-", ignore_cleanup_errors=True) as scratch:
        assembly = open_system(source, Path(scratch))
        name = _mechanism(assembly, component)
        # A table can hold values between samples, and so must the run: no extrapolation, and none that looks ahead.
        master = replace(assembly.master, order="jacobi", extrapolation="constant", tolerance=None)
        assembly = replace(assembly, master=master)
        given = dict(values or {})
        own = assembly.component(name)
        if "solver.tolerance" in own.interface.variables and "solver.tolerance" not in own.values:
            given.setdefault(f"{name}.solver.tolerance", TOLERANCE)
        motion = run(assembly, stop, values=given, settle=settle, progress=progress, warn=warn)
        set_here = split(assembly, {}, given)[0].component(name).values
    settings = {key: value for key, value in set_here.items() if not key.startswith("solver.")}
    inputs = tuple(link.target[1] for link in assembly.links if link.target[0] == name)
    return Plan(name, assembly.models.get(name), inputs, motion, settings)


def _mechanism(assembly: Assembly, wanted: str | None) -> str:
    """The component whose inputs are planned."""
    driven = [c.name for c in assembly.components if any(link.target[0] == c.name for link in assembly.links)]
    mechanisms = [name for name in driven if any(".tau" in v or v.endswith(".f") for v in _inputs(assembly, name))]
    if wanted is not None:
        if wanted not in driven:
            raise SimulationError(f"nothing drives a component {wanted!r}; driven are: {', '.join(driven) or 'none'}")
        return wanted
    if len(mechanisms) != 1:
        found = ", ".join(mechanisms) or "none"
        raise SimulationError(
            f"expected one mechanism that torques or forces drive, found {found}: name it (--component)"
        )
    return mechanisms[0]


def _inputs(assembly: Assembly, name: str) -> list[str]:
    return [link.target[1] for link in assembly.links if link.target[0] == name]
