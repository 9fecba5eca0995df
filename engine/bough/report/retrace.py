"""A result seen with its model again: coordinates of every row, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import listed
from bough.mechanism.mechanism import Mechanism
from bough.report import Series
from bough.run.balance import BETWEEN, IMPACTS, EnergyBalance, energy_balance
from bough.run.recalled import find_prefix, positions, speeds
from bough.run.result import Result

Array: TypeAlias = NDArray[np.float64]

__all__ = [
    "balance_series",
    "balance_text",
    "deflection_notes",
    "deflection_series",
    "energy_series",
    "find_prefix",
    "known_units",
    "positions",
    "speeds",
]

NAMED = 4
"""Modes that a caption explains."""
MOST_BALANCED = 8
"""Inputs, and elements with losses, that have a curve of their own in the balance of energy."""
DOUBTFUL = 1e-2
"""Residual of the balance, of the energy exchanged, that is more than distant rows usually leave."""


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


def balance_series(system: Mechanism, result: Result, prefix: str = "") -> list[Series]:
    """Energy gained, work of each input, loss of each element and what is left over, J; of a finite result.

    The caption states the residual and what it is measured by. Small contributions are summed up.
    """
    if not np.all(np.isfinite(np.hstack([positions(system, result, prefix), speeds(system, result, prefix)]))):
        return []
    if len(result) < 2 or np.any(np.diff(result.t) < 0.0):
        return []
    found = energy_balance(result, system, prefix)
    works = _largest({f"work of {name}": y for name, y in found.work.items()}, "work of {} other inputs")
    losses = _largest({f"lost in {name}": y for name, y in found.loss.items()}, "lost in {} others")
    curves = {"energy gained": found.gained, **works, **losses, "residual": found.residual}
    return [Series("Energy balance", "J", curves, caption=balance_text(found))]


def balance_text(found: EnergyBalance) -> str:
    """What the balance of energy leaves, in words."""
    left = float(abs(found.residual).max())
    told = (
        f"Energy gained less work plus losses leaves {left:.2g} J at most, {found.error:.1g} of the "
        f"{found.exchanged:.3g} J that the largest of them changes by."
    )
    if found.work and found.between != "straight":
        told += f" Inputs are taken as {BETWEEN[found.between]}."
    if IMPACTS in found.loss:
        told += " What impacts take is found by difference, between the rows that meet a rigid stop or a latch."
    if found.missing:
        told += f" The result does not hold {listed(list(found.missing))}: that work is missing."
    if found.error > DOUBTFUL:
        told += (
            " That is much: the rows are too far apart to follow the motion, or something acted that the result does "
            "not hold, such as a parameter that was changed during the run."
        )
    return told


def _largest(curves: dict[str, Array], others: str) -> dict[str, Array]:
    """The largest of some curves, and the sum of the rest."""
    sizes = {name: float(abs(y).max()) for name, y in curves.items()}
    kept = [name for name in sorted(sizes, key=lambda name: -sizes[name])[:MOST_BALANCED] if sizes[name] > 0.0]
    out = {name: y for name, y in curves.items() if name in kept}
    rest = [y for name, y in curves.items() if name not in kept and sizes[name] > 0.0]
    return {**out, others.format(len(rest)): np.sum(rest, axis=0)} if rest else out


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
