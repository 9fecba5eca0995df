"""A result seen with its model again: coordinates of every row, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError
from bough.mechanism.mechanism import Mechanism
from bough.report import Series
from bough.run.result import Result

Array: TypeAlias = NDArray[np.float64]

NAMED = 4
"""Modes that a caption explains."""


def positions(system: Mechanism, result: Result, prefix: str = "") -> Array:
    """Positions q of every row, (rows, nq), from a result that holds them by name.

    Args:
        system: The mechanism.
        result: A run of it: from `bough.simulate`, an FMU, or a CSV file.
        prefix: What its variables begin with in the result of a system of several parts, such as `arm.`.

    Raises:
        SimulationError: A coordinate is missing: the result is another model's, or holds a choice of variables.
    """
    return _columns(system.q_names, system, result, prefix)


def speeds(system: Mechanism, result: Result, prefix: str = "") -> Array:
    """Speeds u of every row, (rows, nu); arguments and errors as in `positions`."""
    return _columns(system.u_names, system, result, prefix)


def find_prefix(system: Mechanism, result: Result) -> str:
    """What the mechanism's variables begin with in a result: nothing, or the name of a component and a dot.

    Raises:
        SimulationError: Several components have all of its coordinates.
    """
    names = system.q_names
    if not names or names[0] in result:
        return ""
    ends = [name[: -len(names[0])] for name in result.names if name.endswith("." + names[0])]
    fitting = [prefix for prefix in ends if all(prefix + name in result for name in names)]
    if len(fitting) > 1:
        raise SimulationError(f"several parts of the result fit the model: {', '.join(fitting)}; name one as prefix")
    return fitting[0] if fitting else ""


def energy_series(system: Mechanism, result: Result, prefix: str = "") -> Series:
    """Kinetic, gravitational, elastic and spring energy and their sum, J, for the report.

    Parts that stay zero are left out. That of gravity counts from the first row.

    Raises:
        SimulationError: A coordinate is missing in the result.
    """
    q, u = positions(system, result, prefix), speeds(system, result, prefix)
    good = np.all(np.isfinite(q), axis=1) & np.all(np.isfinite(u), axis=1)
    parts = np.full((len(result), 4), np.nan)
    parts[good] = system.energy_parts(q[good], u[good])
    parts[:, 1] -= parts[good][0, 1] if good.any() else 0.0
    curves = {"sum": parts.sum(axis=1)}
    for name, y in zip(("kinetic", "gravity, from the start", "elastic", "springs"), parts.T, strict=True):
        if np.nanmax(abs(y), initial=0.0) > 0.0:
            curves[name] = y
    return Series("Energy", "J", curves)


def known_units(system: Mechanism, result: Result, prefix: str = "") -> Result:
    """The result with the units of the mechanism's variables where it has none, as a bare CSV file has not."""
    own = {prefix + v.name: v.unit for v in system.variables if v.unit and prefix + v.name in result}
    columns = {name: result[name] for name in result.names}
    return Result(result.t, columns, {**own, **result.units}, result.model_name, result.statistics)


@dataclass(frozen=True)
class _Reach:
    """What one modal coordinate does: its name, the node that moves most, `body.node`, and how far, m per unit."""

    name: str
    node: str
    scale: float


def _reaches(system: Mechanism) -> list[_Reach]:
    """Of every mode that moves a node of its body against the body's own hinge.

    With all speeds zero but one modal rate, the body's hinge stands still: velocities of its nodes are the shape.
    """
    q, _ = system.initial_state()
    q[[c.index for c in system.q_table if c.modal]] = 0.0
    modal = [c for c in system.u_table if c.modal]
    nodes = {b.name: [b.address(node) for node in b.node_names] for b in system.model.bodies}
    names = {c.index: p.name for c, p in zip(modal, (c for c in system.q_table if c.modal), strict=True)}
    out = []
    for c in modal:
        own = nodes[c.body]
        _, velocity, _ = system.node_motion(q, np.eye(system.nu)[c.index], None, own)
        size = np.linalg.norm(velocity[:, 3:], axis=1)
        most = int(np.argmax(size))
        if size[most] > 0.0:
            out.append(_Reach(names[c.index], own[most], float(size[most])))
    return out


def deflection_series(system: Mechanism, result: Result, prefix: str = "") -> list[Series]:
    """What each mode adds to the deflection of its body, mm: modal amplitude times the largest entry of its shape."""
    curves = {
        f"{prefix}{reach.name} at {reach.node}": 1e3 * reach.scale * result[prefix + reach.name]
        for reach in _reaches(system)
        if prefix + reach.name in result
    }
    told = "Share of each mode in the deflection, at the node that it moves most, as seen from the body's own hinge."
    return [Series("Deflections by mode", "mm", curves, caption=told)] if curves else []


def deflection_notes(system: Mechanism, prefix: str = "") -> dict[str, str]:
    """A caption for the chart of modal amplitudes: what one unit of them is in metres."""
    told = [f"{prefix}{reach.name} = 1 is {reach.scale:.3g} m at {reach.node}" for reach in _reaches(system)]
    if not told:
        return {}
    more = f" and {len(told) - NAMED} more" if len(told) > NAMED else ""
    return {"Modal amplitudes": f"{', '.join(told[:NAMED])}{more}."}


def _columns(names: list[str], system: Mechanism, result: Result, prefix: str) -> Array:
    missing = [prefix + name for name in names if prefix + name not in result]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise SimulationError(
            f"the result does not hold {missing[0]!r}{more}, coordinates of the model {system.model.name!r}: "
            "give the model that the result was made with, and a result with all of its variables"
        )
    columns = [result[prefix + name] for name in names]
    return np.column_stack(columns) if columns else np.zeros((len(result), 0))
