"""What the rest of bough knows of a flexible body: inertia points, named nodes and modal matrices."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

ROTATION = slice(0, 3)
"""Rows of a shape that hold the modal rotation, Lam, in rad per unit of eta."""
TRANSLATION = slice(3, 6)
"""Rows of a shape that hold the modal translation, Gam, in m per unit of eta."""


@dataclass(frozen=True, eq=False)
class FlexBody:
    """A flexible body before the run: np points that carry inertia, nn named nodes, nm modes.

    Everything is given in the user's body axes, from the user's body origin, in SI units. A shape has
    six rows, rotation first, and one column per mode: `u = shape @ eta` is the small motion of a point.
    The arrays are read-only.

    Attributes:
        positions: Undeformed positions of the inertia points, m, (np, 3).
        masses: Their masses, kg, (np,).
        inertias: Their rotary inertias about themselves, kg.m^2, (np, 3, 3).
        shapes: Modal motion of the inertia points, rad and m per unit eta, (np, 6, nm).
        node_names: Names of the nodes that ports, loads and sensors use.
        node_positions: Undeformed positions of the nodes, m, (nn, 3).
        node_shapes: Modal motion of the nodes, rad and m per unit eta, (nn, 6, nm).
        attach: Index of the node that carries the body's own hinge.
        stiffness: Modal stiffness, (nm, nm), symmetric.
        damping: Modal damping, (nm, nm), symmetric.
        frequencies: Of each mode on its own, undamped, under the boundary conditions it was made with,
            rad/s; nan for a shape that moves no mass, (nm,).
        mode_names: One label per mode, such as 'bending_y 1'; empty if the modes have none.
    """

    positions: Array
    masses: Array
    inertias: Array
    shapes: Array
    node_names: tuple[str, ...]
    node_positions: Array
    node_shapes: Array
    attach: int
    stiffness: Array
    damping: Array
    frequencies: Array
    mode_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Freeze private copies of the arrays, and check that their sizes belong together."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                frozen = np.array(value, dtype=np.float64)
                frozen.setflags(write=False)
                object.__setattr__(self, field.name, frozen)
        np_, nn, nm = self.masses.size, len(self.node_names), self.frequencies.size
        sizes = {
            "positions": (np_, 3),
            "masses": (np_,),
            "inertias": (np_, 3, 3),
            "shapes": (np_, 6, nm),
            "node_positions": (nn, 3),
            "node_shapes": (nn, 6, nm),
            "stiffness": (nm, nm),
            "damping": (nm, nm),
            "frequencies": (nm,),
        }
        for name, size in sizes.items():
            if getattr(self, name).shape != size:
                raise ValueError(f"FlexBody.{name} has shape {getattr(self, name).shape}, not {size}")
        if not 0 <= self.attach < nn:
            raise ValueError(f"FlexBody.attach is {self.attach}, but there are {nn} nodes")

    @property
    def nm(self) -> int:
        """Number of modes."""
        return self.frequencies.size

    @property
    def np_(self) -> int:
        """Number of points that carry inertia."""
        return self.masses.size

    @property
    def nn(self) -> int:
        """Number of named nodes."""
        return len(self.node_names)

    @property
    def mass(self) -> float:
        """Total mass, kg."""
        return float(self.masses.sum())

    @property
    def modal_mass(self) -> Array:
        """Modal mass at zero deflection with the body frame held, (nm, nm): the block Me of eq (23)."""
        return modal_mass(self.masses, self.inertias, self.shapes)

    def node(self, name: str) -> int:
        """Index of a named node; KeyError if there is none."""
        try:
            return self.node_names.index(name)
        except ValueError:
            raise KeyError(name) from None


def modal_mass(masses: Array, inertias: Array, shapes: Array) -> Array:
    """Sum over the points of m Gam' Gam + Lam' J Lam, (nm, nm).

    Args:
        masses: kg, (np,).
        inertias: About each point, kg.m^2, (np, 3, 3).
        shapes: Rotation and translation per unit eta, (np, 6, nm).
    """
    lam, gam = shapes[:, ROTATION], shapes[:, TRANSLATION]
    mass: Array = np.einsum("p,pir,pis->rs", masses, gam, gam, optimize=True)
    mass += np.einsum("pir,pij,pjs->rs", lam, inertias, lam, optimize=True)
    symmetric: Array = 0.5 * (mass + mass.T)
    return symmetric
