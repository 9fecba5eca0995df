"""From the units of a file to SI."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from bough.flex.fe.fe_model import FeModel, Geometric, Sparse
from bough.model import FeUnits


def in_si(model: FeModel, units: FeUnits) -> FeModel:
    """The model in SI: lengths times L, masses times m, times times t.

    With S = 1 for a translation and L for a rotation or a generalized coordinate, whose numbers stay as they are:
    M -> m S M S, D -> m/t S D S, K -> m/t^2 S K S; geometric stiffness besides over the load's unit.
    """
    if units.is_si:
        return model
    L, m, t = units.length, units.mass, units.time
    turns = (model.dof_component < 0) | (model.dof_component > 2)
    S = sparse.diags_array(np.where(turns, L, 1.0))

    def scaled(matrix: Sparse, factor: float) -> Sparse:
        return factor * (S @ matrix @ S)

    geometric = model.geometric
    if geometric is not None:
        geometric = Geometric(
            tuple(scaled(matrix, m / L) for matrix in geometric.acceleration),
            tuple(scaled(matrix, m) for matrix in geometric.angular),
            tuple(scaled(matrix, m) for matrix in geometric.spin),
            {name: tuple(scaled(g, 1.0 / L) for g in matrices) for name, matrices in geometric.forces.items()},
        )
    return replace(
        model,
        positions=L * model.positions,
        K=scaled(model.K, m / t**2),
        M=scaled(model.M, m),
        D=None if model.D is None else scaled(model.D, m / t),
        geometric=geometric,
    )
