"""The finite elements of a beam, told by their strains.

Along an element, xi in [0, 1] and length l, every strain is a straight line, a0 P0 + a1 P1, with the Legendre
polynomials P0 = 1 and P1 = 2 xi - 1. Integrating from the element's beginning gives its motion:

    rod        eps = u'                        u quadratic                          (stretch, twist)
    bending    kappa = s',  w' = s             w cubic, slope s quadratic           (Euler-Bernoulli)
    with shear kappa = s',  w' = s + gamma     s turns the section, gamma shears it (Timoshenko)

Bending without shear spans the Hermite cubics, so this is the textbook element with its consistent mass,
written in other coordinates. They are the better ones: rigid motions are apart, nothing locks, and with strains
c of unit energy, a = U c,

    E = 1/2 sum over elements of the integral of EI kappa^2 and alike = 1/2 c'c,

the low frequencies of fine meshes keep their digits. In all families omega^2 converges with the fourth power of l.

Kinetic energy is summed over Gauss points. Products of two cubics have degree six, so four points, exact to
degree seven, reproduce the consistent mass matrix to round-off where the section is uniform or varies linearly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bough.flex.points import Array

GAUSS_POINTS = 4


def gauss() -> tuple[Array, Array]:
    """Abscissae and weights of the Gauss points on [0, 1]; the weights sum to one."""
    x, w = np.polynomial.legendre.leggauss(GAUSS_POINTS)
    return 0.5 * (x + 1.0), 0.5 * w


def once(xi: Array, length: ArrayLike) -> Array:
    """The two strains integrated once along the element, m, (..., 2): u of eps, s of kappa, w of gamma."""
    return np.asarray(length)[..., np.newaxis] * np.stack([xi, xi**2 - xi], axis=-1)


def twice(xi: Array, length: ArrayLike) -> Array:
    """The two strains integrated twice, m^2, (..., 2): w of kappa."""
    return np.asarray(length)[..., np.newaxis] ** 2 * np.stack([xi**2 / 2.0, xi**3 / 3.0 - xi**2 / 2.0], axis=-1)


def unit_energy(begin: ArrayLike, end: ArrayLike, length: ArrayLike) -> Array:
    """Strains of the elastic energy 1/2 each, and of none together: a = U c, (..., 2, 2).

    A rigidity k = k_m + k_d P1 gives the energy a'Ga / 2 with G = l [[k_m, k_d/3], [k_d/3, k_m/3]] = L L', and
    U is the transposed inverse of L. A uniform element has U = diag(1 / sqrt(k l), 1 / sqrt(k l / 3)).

    Args:
        begin: Rigidity at the beginning of the elements: EA or kGA in N, EI or GJ in N.m^2.
        end: At their end.
        length: Of the elements, m.
    """
    begin, end, length = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (begin, end, length)))
    mean, rise = 0.5 * (begin + end), 0.5 * (end - begin)
    u = np.zeros((*mean.shape, 2, 2))
    u[..., 0, 0] = 1.0 / np.sqrt(length * mean)
    u[..., 1, 1] = 1.0 / np.sqrt(length * (mean / 3.0 - rise**2 / (9.0 * mean)))
    u[..., 0, 1] = -u[..., 1, 1] * rise / (3.0 * mean)
    return u
