"""A finite element model as every reader gives it: nodes, degrees of freedom, sparse matrices, in SI units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Sparse: TypeAlias = Any
"""A scipy.sparse matrix or array; made CSC by FeModel."""


@dataclass(frozen=True, eq=False)
class Geometric:
    """Geometric stiffness matrices, each belonging to a load: Kg(load) = sum over loads of factor Kg.

    Each matrix is (ndof, ndof) and is the second derivative of the stress field's work: with the load
    applied, the restoring force is (K + Kg) u; tension makes Kg positive.

    Attributes:
        acceleration: Three: of the stress that balances the inertia forces -M a of a unit translational
            acceleration of the body along x, y, z (1 m/s^2), attach interface held. Empty if not given.
        angular: Three: likewise for a unit angular acceleration about x, y, z through the attach interface
            (1 rad/s^2).
        spin: Six: likewise for the centrifugal forces -M (w x (w x l)) about the attach interface, coefficients on
            w2 = (wx^2, wy^2, wz^2, wx wy, wx wz, wy wz) (1 rad^2/s^2).
        forces: For an interface's name, three: of a unit force (1 N) on it along x, y, z.
    """

    acceleration: tuple[Sparse, ...] = ()
    angular: tuple[Sparse, ...] = ()
    spin: tuple[Sparse, ...] = ()
    forces: Mapping[str, tuple[Sparse, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FeModel:
    """n nodes and ndof degrees of freedom, unconstrained.

    Attributes:
        node_ids: Numbers of the nodes in the FE program, (n,).
        positions: m, (n, 3).
        dof_node: Index into the nodes of each degree of freedom, -1 for a generalized one, (ndof,).
        dof_component: 0 1 2 translation x y z, 3 4 5 rotation x y z, -1 generalized, (ndof,).
        K: Stiffness, N/m, N, N.m, (ndof, ndof), symmetric.
        M: Mass, kg, kg.m, kg.m^2, (ndof, ndof), symmetric.
        D: Damping, (ndof, ndof), symmetric; None if the file has none.
        sets: Node numbers of each named set.
        geometric: Geometric stiffness; None if the file has none.
        source: What was read, for messages.
    """

    node_ids: Integers
    positions: Array
    dof_node: Integers
    dof_component: Integers
    K: Sparse
    M: Sparse
    D: Sparse | None = None
    sets: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    geometric: Geometric | None = None
    source: str = ""

    def __post_init__(self) -> None:
        """Bring arrays and matrices to one type each, and check that their sizes belong together."""
        for name in ("node_ids", "dof_node", "dof_component"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.int64))
        object.__setattr__(self, "positions", np.asarray(self.positions, dtype=np.float64))
        for name in ("K", "M", "D"):
            matrix = getattr(self, name)
            if matrix is not None:
                object.__setattr__(self, name, sparse.csc_array(matrix, dtype=np.float64))
        n, ndof = self.node_ids.size, self.dof_node.size
        sizes = {"positions": (n, 3), "dof_component": (ndof,), "K": (ndof, ndof), "M": (ndof, ndof)}
        for name, size in sizes.items():
            if getattr(self, name).shape != size:
                raise ValueError(f"FeModel.{name} has shape {getattr(self, name).shape}, not {size}")
        if self.D is not None and self.D.shape != (ndof, ndof):
            raise ValueError(f"FeModel.D has shape {self.D.shape}, not {(ndof, ndof)}")

    @property
    def ndof(self) -> int:
        """Number of degrees of freedom."""
        return int(self.dof_node.size)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.node_ids.size)
