"""What stress stiffness needs to know of the elements of an FE model: who they are made of, and of what."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import sparse

from bough.flex.fe.fe_model import Array, FeModel, Integers, Sparse
from bough.model import FeUnits

Kind = Literal["line", "triangle", "square", "tetra", "wedge", "brick"]
Rule = Literal["full", "reduced", "incompatible"]


@dataclass(frozen=True, eq=False)
class BeamSection:
    """Of bars and beams; local axes: 1 along the bar, 2 and 3 across.

    Attributes:
        A: Area, m^2.
        I2: Second moment for bending about axis 2, m^4.
        I3: About axis 3.
        J: Torsion constant, m^4.
        shear: Areas for shear along 2 and 3 over A; inf: no shear flexibility.
        axis2: A direction that, with the bar, spans the plane of axes 1 and 2, for every element, (ne, 3).
        hermite: Whether the deflection is a cubic of the ends' motions (CBAR, B33), else interpolated (B31, B32).
        slender: Number c; a program lowers the shear stiffness of slender elements to 1 / (1 + c A L^2 / 12 I) of it.
    """

    A: float
    I2: float
    I3: float
    J: float
    shear: tuple[float, float]
    axis2: Array
    hermite: bool
    slender: float = 0.0


def rectangle_torsion(a: float, b: float) -> float:
    """Torsion constant of a rectangle, m^4 (Timoshenko and Goodier, Theory of Elasticity, 1970, section 109)."""
    long, short = max(a, b), min(a, b)
    terms = sum(math.tanh(0.5 * n * math.pi * long / short) / n**5 for n in range(1, 40, 2))
    return long * short**3 / 3.0 * (1.0 - 192.0 / math.pi**5 * short / long * terms)


@dataclass(frozen=True, eq=False)
class Part:
    """Elements of one kind, material and section.

    Attributes:
        name: For messages, such as `C3D8R in ELSET ARM`.
        kind: Shape.
        nodes: Node numbers, in the order of `shapes`, (ne, n).
        E: Young's modulus, Pa.
        nu: Poisson's ratio.
        rule: How the program integrates it.
        thickness: Of a shell, m; None for others.
        beam: Section of a bar or beam; None for others.
    """

    name: str
    kind: Kind
    nodes: Integers
    E: float
    nu: float
    rule: Rule = "full"
    thickness: float | None = None
    beam: BeamSection | None = None

    def in_si(self, units: FeUnits) -> Part:
        """From the units of the files: pressure is mass / (length time^2)."""
        L = units.length
        beam = self.beam
        if beam is not None:
            beam = replace(beam, A=beam.A * L**2, I2=beam.I2 * L**4, I3=beam.I3 * L**4, J=beam.J * L**4)
        return replace(
            self,
            E=self.E * units.mass / (L * units.time**2),
            thickness=None if self.thickness is None else self.thickness * L,
            beam=beam,
        )


def scattered(model: FeModel, dofs: Integers, blocks: Array) -> Sparse:
    """The sum of element matrices; rows of degrees of freedom that the model lacks (-1) are left out.

    Args:
        model: The whole.
        dofs: Of every element, (ne, nd).
        blocks: (ne, nd, nd).
    """
    nd = dofs.shape[1]
    rows, columns = np.repeat(dofs, nd, axis=1).ravel(), np.tile(dofs, (1, nd)).ravel()
    there = (rows >= 0) & (columns >= 0)
    where = (rows[there], columns[there])
    return sparse.csr_array((blocks.ravel()[there], where), shape=(model.ndof, model.ndof))
