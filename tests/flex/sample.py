"""Beams that several tests use."""

from __future__ import annotations

import math
from typing import Any

from bough.flex.line import BeamProperties, Line, lines


def slender(elements: int = 40, **changes: Any) -> BeamProperties:
    """A square bar, 1.3 m long, so thin that rotary inertia does not show: Iy = Iz."""
    return rectangular(1.3, elements, 1e-5, 1e-5, **changes)


def rectangular(
    length: float, elements: int, height: float, width: float, kappa: float = math.inf, **changes: Any
) -> BeamProperties:
    """An aluminium bar, `height` along z and `width` along y (m), with shear coefficient kappa."""
    e, g, rho = 70e9, 26e9, 2700.0
    area, iy, iz = height * width, width * height**3 / 12.0, height * width**3 / 12.0
    values: dict[str, Any] = {
        "length": length,
        "elements": elements,
        "EA": e * area,
        "GJ": g * 0.8 * (iy + iz),
        "EIy": e * iy,
        "EIz": e * iz,
        "rho_A": rho * area,
        "rho_Iy": rho * iy,
        "rho_Iz": rho * iz,
        "kGAy": kappa * g * area,
        "kGAz": kappa * g * area,
    }
    return BeamProperties(**{**values, **changes})


def family(beam: BeamProperties, name: str) -> Line:
    """One family of a beam."""
    return next(line for line in lines(beam) if line.name == name)
