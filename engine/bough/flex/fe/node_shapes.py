"""Mode shapes of an FE body at all of its nodes, for pictures; the body itself keeps those of its interfaces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bough.flex.fe import reduce
from bough.flex.fe.fe_body import read_fe
from bough.flex.fe.fe_model import Array, FeModel
from bough.flex.fe.interface import couple, select
from bough.flex.fe.solve import Floating
from bough.model import Fe, FeInterface, FeModes

EVERYWHERE = ((-1e9, -1e9, -1e9), (1e9, 1e9, 1e9))
FREE_MODES = 8
"""Modes of a body that is looked at without a model."""


def free_entry(path: str, kind: str) -> Fe:
    """An entry for a file by itself: free-free modes, and a node that moves as the body does on average."""
    whole = FeInterface(name="body", box=EVERYWHERE, coupling="average")
    return Fe.model_validate(
        {"file": path, "format": kind, "interfaces": (whole,), "attach": "body", "modes": FeModes(boundary="free")}
    )


def counted_entry(fe: Fe, model: FeModel) -> Fe:
    """The entry with as many modes as are shown of a body that has so many."""
    return fe.model_copy(update={"modes": FeModes(boundary="free", count=min(FREE_MODES, model.ndof - 6))})


def all_shapes(fe: Fe) -> tuple[Array, Array, NDArray[np.intp]]:
    """Positions (n, 3), shapes (n, 6, nm) and pairs of nodes that stiffness joins, (m, 2), of the body's modes.

    Raises:
        ModelError: As `fe_body`.
    """
    model = read_fe(fe)
    coupled = couple(model, select(model, fe), fe.node_names.index(fe.attach))
    squares, y = reduce._modes(Floating(model, coupled), coupled, fe.modes)
    y = reduce._signed(model, coupled, reduce._separated(squares, y))
    moved = coupled.T @ y
    shapes = np.zeros((model.n, 6, squares.size))
    real = model.dof_node >= 0
    # Translations come first in a component, rotations first in a shape.
    shapes[model.dof_node[real], (model.dof_component[real] + 3) % 6] = moved[real]
    return model.positions, shapes, _joined(model)


def _joined(model: FeModel) -> NDArray[np.intp]:
    """Pairs of nodes with stiffness between them, each once."""
    real = np.flatnonzero(model.dof_node >= 0)
    ones = np.ones(real.size)
    owner = sparse.csr_array((ones, (model.dof_node[real], real)), shape=(model.n, model.ndof))
    graph = sparse.triu(owner @ abs(model.K) @ owner.T, k=1).tocoo()
    return np.column_stack([graph.row, graph.col]).astype(np.intp)
