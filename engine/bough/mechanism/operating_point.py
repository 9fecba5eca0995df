"""Linear models of a model file: where it stands, what holds it there, which inputs and outputs; grids of places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
        note: What a user should know: a force on modes, which no input gives, holds the position; empty if none does.
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
    holding = system.inverse_dynamics(place, still, still)
    if system.closed:  # loops carry their share
        holding = independent(system, place).forces(holding)
    model = system.linearize(place, still, holding, inputs=inputs, outputs=outputs, minimal=True)
    modal = np.array([abs(holding[c.index]) if c.modal else 0.0 for c in system.u_table])
    worst = int(np.argmax(modal)) if modal.size else 0
    note = ""
    if modal.size and modal[worst] > BALANCED:
        left = force_left(system, worst, float(holding[worst]))
        note = f"the bodies are not bent by their load here: holding the position takes {left}; settle the modes first"
    return HeldModel(model, holding, note)


def grid_rows(axes: Mapping[str, Sequence[float]]) -> list[dict[str, float]]:
    """Every combination of values, the last name fastest."""
    rows: list[dict[str, float]] = [{}]
    for name, values in axes.items():
        rows = [{**row, name: float(value)} for row in rows for value in values]
    return rows
