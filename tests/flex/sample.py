"""Beams that several tests use."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bough.flex.beam.frame import Frame, Section, straight
from bough.flex.beam.line import Line, families


def slender(elements: int = 40, **changes: Any) -> Frame:
    """A square bar, 1.3 m long, so thin that rotary inertia does not show: Iy = Iz."""
    return rectangular(1.3, elements, 1e-5, 1e-5, **changes)


def rectangular(
    length: float, elements: int, height: float, width: float, kappa: float = math.inf, **changes: Any
) -> Frame:
    """An aluminium bar, `height` along z and `width` along y (m), with shear coefficient kappa."""
    return straight(length, elements, bar(height, width, kappa, **changes))


def bar(height: float, width: float, kappa: float = math.inf, **changes: Any) -> Section:
    """The section of an aluminium bar."""
    e, g, rho = 70e9, 26e9, 2700.0
    area, iy, iz = height * width, width * height**3 / 12.0, height * width**3 / 12.0
    values: dict[str, Any] = {
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
    return Section(**{**values, **changes})


def family(beam: Frame, name: str) -> Line:
    """One family of a beam."""
    return next(line for line in families(beam) if line.name == name)


def motions(*rows: int) -> np.ndarray:
    """Unit motions of the root, (6, number of rows)."""
    return np.eye(6)[:, list(rows)]
