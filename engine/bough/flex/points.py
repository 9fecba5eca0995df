"""Points that carry a body's inertia: what its modal integrals are summed over."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

ROTATION = slice(0, 3)
"""Rows of a shape that hold the modal rotation, Lam, in rad per unit of eta."""
TRANSLATION = slice(3, 6)
"""Rows of a shape that hold the modal translation, Gam, in m per unit of eta."""


def freeze(holder: Any) -> None:
    """Put read-only private copies in place of the arrays of a dataclass."""
    for field in fields(holder):
        value = getattr(holder, field.name)
        if isinstance(value, np.ndarray):
            frozen = np.array(value, dtype=np.float64)
            frozen.setflags(write=False)
            object.__setattr__(holder, field.name, frozen)


def require_shapes(holder: Any, sizes: dict[str, tuple[int, ...]]) -> None:
    """ValueError unless the named arrays have these shapes."""
    for name, size in sizes.items():
        if getattr(holder, name).shape != size:
            raise ValueError(f"{type(holder).__name__}.{name} has shape {getattr(holder, name).shape}, not {size}")


@dataclass(frozen=True, eq=False)
class Points:
    """np points with inertia and their motion in nm modes; the user's body axes, from the user's body origin, SI.

    A shape has six rows, rotation first, and one column per mode: `u = shape @ eta` is the small motion of a point.

    Attributes:
        positions: Undeformed positions, m, (np, 3).
        masses: kg, (np,).
        inertias: Rotary inertias of the points about themselves, kg.m^2, (np, 3, 3).
        shapes: Modal motion, rad and m per unit eta, (np, 6, nm).
    """

    positions: Array
    masses: Array
    inertias: Array
    shapes: Array

    def __post_init__(self) -> None:
        """Freeze private copies of the arrays, and check that their sizes belong together."""
        freeze(self)
        n = self.masses.size
        shapes = (n, 6, self.shapes.shape[-1])
        require_shapes(self, {"positions": (n, 3), "masses": (n,), "inertias": (n, 3, 3), "shapes": shapes})

    @property
    def modal_mass(self) -> Array:
        """Sum of m Gam' Gam + Lam' J Lam, (nm, nm)."""
        lam, gam = self.shapes[:, ROTATION], self.shapes[:, TRANSLATION]
        mass: Array = np.einsum("p,pir,pis->rs", self.masses, gam, gam, optimize=True)
        mass += np.einsum("pir,pij,pjs->rs", lam, self.inertias, lam, optimize=True)
        symmetric: Array = 0.5 * (mass + mass.T)
        return symmetric
