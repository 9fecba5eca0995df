"""Deflection-dependent inertia of superelements, whose inner masses have no place: what their momenta tell.

R'MR and R'M phi are exact: mass, centre c, inertia, and the linear and angular momentum of every mode. Of all motions
of a body with these masses, the one of least energy with a mode's momenta is rigid: about the centre

    t = p / m,    theta = Jc^-1 L.

Six points of mass m/6 at c +- sqrt(3 g_k / m) e_k, with g_k and e_k the principal values and axes of the second moment
sum m l l' = 1/2 tr(Jc) 1 - Jc, have the same mass, centre and inertia; they move as t + theta x l. Their integrals
stand for those of the body. For low modes of slender or flat bodies that is near: of a straight cantilever's first mode
N0 is found within 1 %. High modes have little momentum: there it is too little, as the energy is less than the mode's.
"""

from __future__ import annotations

import numpy as np

from bough.flex.fe.fe_model import Array
from bough.flex.integrals import inertia_tensor
from bough.flex.points import ROTATION, TRANSLATION, Points


def fitted_points(inertia: Array, momentum: Array, origin: Array) -> Points:
    """Six points with a body's inertia, and its modes' momenta.

    Args:
        inertia: Mass, first moment, Jxx Jyy Jzz Jxy Jxz Jyz about the origin, (10,).
        momentum: Angular (about the origin) and linear momentum per unit of each mode's rate, (6, nm).
        origin: m, (3,).
    """
    m = float(inertia[0])
    c = inertia[1:4] / m
    Jc = inertia_tensor(inertia) - m * ((c @ c) * np.eye(3) - np.outer(c, c))
    moments, axes = np.linalg.eigh(0.5 * np.trace(Jc) * np.eye(3) - Jc)
    arms = (axes * np.sqrt(3.0 * np.maximum(moments, 0.0) / m)).T
    offsets = np.vstack([arms, -arms])
    linear = momentum[3:]
    angular = momentum[:3] - np.cross(c[:, None], linear, axis=0)
    # A body in a line has no inertia about it, nor momentum.
    theta = np.linalg.pinv(Jc, rcond=1e-9, hermitian=True) @ angular
    shapes = np.zeros((6, 6, momentum.shape[1]))
    shapes[:, ROTATION] = theta
    shapes[:, TRANSLATION] = linear / m + np.cross(theta[None], offsets[:, :, None], axis=1)
    return Points(origin + c + offsets, np.full(6, m / 6.0), np.zeros((6, 3, 3)), shapes)
