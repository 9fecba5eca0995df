"""The finite elements of a straight beam, told by their strains.

Along an element, xi in [0, 1] and length l, every strain is a straight line, a0 P0 + a1 P1, with the Legendre
polynomials P0 = 1 and P1 = 2 xi - 1. Integrating from the element's beginning gives its motion:

    rod        eps = u'                        u quadratic                          (stretch, twist)
    bending    kappa = s',  w' = s             w cubic, slope s quadratic           (Euler-Bernoulli)
    with shear kappa = s',  w' = s + gamma     s turns the section, gamma shears it (Timoshenko)

Bending without shear spans the Hermite cubics, so this is the textbook element with its consistent mass,
written in other coordinates. They are the better ones: strain energy is diagonal, P0 and P1 being orthogonal,

    E = 1/2 sum over elements of  EI l (kappa0^2 + kappa1^2 / 3)  and alike,

rigid motions are apart, nothing locks, and the low frequencies of fine meshes keep their digits. In all
families omega^2 converges with the fourth power of l.

Kinetic energy is summed over Gauss points. Products of two cubics have degree six, so four points, exact to
degree seven, reproduce the consistent mass matrix to round-off.
"""

from __future__ import annotations

import numpy as np

from bough.flex.body import Array

GAUSS_POINTS = 4

STRAIN_NORMS = np.array([1.0, 1.0 / 3.0])
"""Integrals of P0^2 and P1^2 over xi in [0, 1]."""


def gauss() -> tuple[Array, Array]:
    """Abscissae and weights of the Gauss points on [0, 1]; the weights sum to one."""
    x, w = np.polynomial.legendre.leggauss(GAUSS_POINTS)
    return 0.5 * (x + 1.0), 0.5 * w


def once(xi: Array, length: float) -> Array:
    """The two strains integrated once along the element, m, (..., 2): u of eps, s of kappa, w of gamma."""
    return length * np.stack([xi, xi**2 - xi], axis=-1)


def twice(xi: Array, length: float) -> Array:
    """The two strains integrated twice, m^2, (..., 2): w of kappa."""
    return length**2 * np.stack([xi**2 / 2.0, xi**3 / 3.0 - xi**2 / 2.0], axis=-1)


def unit_energy(rigidity: float, length: float) -> Array:
    """Sizes of the two strains that each hold the elastic energy 1/2, (2,): a = 1 / sqrt(rigidity l norm).

    Args:
        rigidity: EA or kGA in N, EI or GJ in N.m^2.
        length: Of the element, m.
    """
    return 1.0 / np.sqrt(rigidity * length * STRAIN_NORMS)
