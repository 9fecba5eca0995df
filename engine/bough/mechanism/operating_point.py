"""Linear models of a model file: where it stands, what holds it there, which inputs and outputs; grids of places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import listed
from bough.mechanism.drive_block import driven, shafts
from bough.mechanism.equilibrium import force_left
from bough.mechanism.independent import independent
from bough.mechanism.linearize import StateSpace
from bough.mechanism.mechanism import Mechanism

Array: TypeAlias = NDArray[np.float64]

BALANCED = 1e-9
"""Force, N.m, N or J per unit of a mode, that is round-off."""


@dataclass(frozen=True, eq=False)
class HeldModel:
    """A minimal linear model about a position at rest.

    Attributes:
        model: The state space.
        holding: Forces that hold the position, in the order of u, N.m or N; at hinges they are the inputs' values.
        note: What a user should know: a force on modes or behind a shaft, which no input gives, holds the position; or
            friction holds a hinge, so that no input moves it. Empty if there is nothing.
    """

    model: StateSpace
    holding: Array
    note: str


def linear_model(
    system: Mechanism,
    q: ArrayLike | None = None,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
) -> HeldModel:
    """The minimal linear model about a position at rest, held there by constant forces at its hinges.

    Args:
        system: The mechanism.
        q: Positions, (nq,); the start position by default.
        inputs: Names; all by default.
        outputs: Names; all by default.
    """
    place = system.initial_state()[0] if q is None else np.asarray(q, dtype=np.float64)
    still = np.zeros(system.nu)
    holding = holding_forces(system, place)
    model = system.linearize(place, still, holding, inputs=inputs, outputs=outputs, minimal=True)
    notes = (_not_settled(system, holding), _sticking(system, place, holding))
    return HeldModel(model, holding, "; ".join(note for note in notes if note))


def holding_forces(system: Mechanism, q: Array, motors: Sequence[int] = ()) -> Array:
    """Forces that hold a position, (nu,), N.m, N or J per unit of a mode; loops and couplings carry their share.

    Args:
        system: The mechanism.
        q: Positions, (nq,).
        motors: Places in u where there are motors. With loops, if forces there alone can hold the position, the
            smallest ones; else, and by default, forces at the independent coordinates.
    """
    still = np.zeros(system.nu)
    hold = system.inverse_dynamics(q, still, still)
    if not system.closed:
        return hold
    found = independent(system, q)
    if len(motors):
        at, wanted = list(motors), found.V.T @ hold
        some = np.linalg.lstsq(found.V[at].T, wanted, rcond=1e-9)[0]
        if abs(found.V[at].T @ some - wanted).max(initial=0.0) <= 1e-9 * abs(wanted).max(initial=0.0):
            out = np.zeros(system.nu)
            out[at] = some
            return out
    hold = found.forces(hold)
    _pass_rigid_gears(system, hold)
    return hold


def _pass_rigid_gears(system: Mechanism, holding: Array) -> None:
    """Move the force at a hinge behind a rigid gear to the rotor, where its input is: the coupling makes them equal."""
    speed = {c.owner: c.index for c in system.u_table if not c.modal}
    gears = {b.hinge.name: b.hinge.gear for b in system.model.bodies}
    for body in system.model.bodies:
        gear = gears.get(body.hinge.drives)
        if gear is not None and gear.stiffness is None:
            rotor, hinge = speed[body.hinge.name], speed[body.hinge.drives]
            holding[rotor] += holding[hinge] / gear.ratio
            holding[hinge] = 0.0


def _not_settled(system: Mechanism, holding: Array) -> str:
    """A force on a mode, or on a hinge whose motor sits behind an elastic shaft: the largest one."""
    geared = {body.hinge.name for _, _, body in shafts(system.model)}
    mine = [abs(holding[c.index]) if c.modal or c.owner in geared else 0.0 for c in system.u_table]
    worst = int(np.argmax(mine)) if mine else 0
    if not mine or mine[worst] <= BALANCED:
        return ""
    left, what = force_left(system, worst, float(holding[worst])), "the bodies are not bent"
    if not system.u_table[worst].modal:
        what = f"the shaft of the gear at hinge '{system.u_table[worst].owner}' is not wound up"
    return (
        f"{what} by their load here: holding the position takes {left}, which no input gives; settle first (--settle)"
    )


def _sticking(system: Mechanism, q: Array, holding: Array) -> str:
    """Hinges that friction holds."""
    drives = list(driven(system.model))
    if not any(d.friction is not None for d in drives):
        return ""
    held = np.zeros(len(drives))
    system._data.evaluate({"q": q, "u": np.zeros(system.nu), "tau": holding}, {"sticking": held})
    names = [f"'{d.body.hinge.name}'" for d, sticks in zip(drives, held, strict=True) if sticks]
    if not names:
        return ""
    which = f"hinge {names[0]} sticks" if len(names) == 1 else f"hinges {listed(names)} stick"
    return f"{which} in dry friction here, and no small input moves that: leave `friction` out to design a controller"


def grid_rows(axes: Mapping[str, Sequence[float]]) -> list[dict[str, float]]:
    """Every combination of values, the last name fastest."""
    rows: list[dict[str, float]] = [{}]
    for name, values in axes.items():
        rows = [{**row, name: float(value)} for row in rows for value in values]
    return rows
