"""From a body of the model to its flexible-body data."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bough.errors import ModelError, Problem
from bough.flex.beam import Rayleigh, beam_flex
from bough.flex.body import FlexBody
from bough.flex.line import RX, RZ, BeamProperties
from bough.flex.modes import ALL_MOTIONS, Selection
from bough.flex.nodal import nodal_body
from bough.model import Beam, Body, Hinge

ALIGNED = 1e-6
"""How far, in rad, a hinge axis may be from a body axis and still count as that axis."""


def flex_body(body: Body) -> FlexBody:
    """The data of a nodal body or a beam.

    Raises:
        ModelError: The beam has fewer modes than asked for, its pin is not about a body axis, or its numbers
            are beyond floating point.
    """
    if body.nodal is not None:
        return nodal_body(body.nodal)
    if body.beam is None:
        raise ValueError(f"body {body.name!r} is rigid: it has no flexible-body data")
    try:
        # Absurd numbers overflow quietly here: the modes are refused when they are not finite.
        with np.errstate(all="ignore"):
            return _beam_body(body.beam, body.hinge)
    except ModelError as error:
        where = f"body {body.name!r}"
        raise ModelError([replace(problem, file=where) for problem in error.problems]) from None


def beam_properties(beam: Beam) -> BeamProperties:
    """Rigidities and inertias per length from section and material."""
    section, material = beam.section, beam.material
    shear_areas = (section.shear_area_y, section.shear_area_z)
    shear = [math.inf if area is None else material.G * area for area in shear_areas]
    return BeamProperties(
        length=beam.length,
        elements=beam.elements,
        EA=material.E * section.area,
        GJ=material.G * section.J,
        EIy=material.E * section.Iy,
        EIz=material.E * section.Iz,
        rho_A=material.rho * section.area,
        rho_Iy=material.rho * section.Iy,
        rho_Iz=material.rho * section.Iz,
        kGAy=shear[0],
        kGAz=shear[1],
    )


def _beam_body(beam: Beam, hinge: Hinge) -> FlexBody:
    modes = beam.modes
    released: frozenset[int] = frozenset()
    if modes.boundary == "free":
        released = ALL_MOTIONS
    elif modes.boundary == "pinned":
        released = pinned_rotations(hinge)
    return beam_flex(
        beam_properties(beam),
        Selection(count=modes.count, per_family=None if modes.count is not None else modes.families),
        released,
        interface=(beam.elements,) if modes.boundary == "craig-bampton" else (),
        damping=Rayleigh(*beam.damping.rayleigh) if beam.damping.rayleigh else beam.damping.ratios or 0.0,
    )


def pinned_rotations(hinge: Hinge) -> frozenset[int]:
    """Root rotations (rows of a shape) that 'pinned' modes release: those that the body's own hinge has.

    Axes must lie along body axes, or the families would couple. A hinge that does not turn pins about z.
    """
    if hinge.kind.quaternion:
        return frozenset(range(RX, RZ + 1))
    if hinge.kind.n_rot == 0:
        return frozenset({RZ})
    axes = np.array(hinge.axes)
    if hinge.type == "planar":
        axes = np.cross(axes[:1], axes[1:])
    released = frozenset(int(row) for row in np.argmax(np.abs(axes), axis=1) + RX)
    if np.any(np.sort(np.abs(axes), axis=1)[:, :2] > ALIGNED):
        raise ModelError(
            Problem(
                file="beam",
                line=None,
                key="beam.modes.boundary",
                expected="a hinge that turns about x, y or z of the beam, as pinned modes are made about it",
                found=f"pinned modes on a hinge with axes {axes.tolist()}",
                cure="turn the section instead of the axis, or use boundary: free, which suits any hinge",
            )
        )
    return released
