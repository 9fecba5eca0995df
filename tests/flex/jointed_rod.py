"""A clamped rod under its own weight as a chain of rigid pieces with springs between them: no modes, no elements.

Every piece has an attitude R = exp(theta~), absolute; positions follow by adding the pieces up, springs by the rotation
between neighbours. Energies are written down and differentiated by CasADi: equilibrium, stiffness and mass there.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from scipy.linalg import eigh

GRAVITY = 9.81


def torsion_frequency(
    length: float, side: float, young: float, poisson: float, density: float, pieces: int
) -> tuple[float, float]:
    """Frequency of the first torsion of a square rod about its settled position, Hz, and the sag of its tip, m."""
    h, area, second = length / pieces, side**2, side**4 / 12.0
    bending, torsion = young * second, young / (2.0 * (1.0 + poisson)) * 0.140577 * side**4
    theta, rate = ca.SX.sym("theta", 3 * pieces), ca.SX.sym("rate", 3 * pieces)
    mass = density * area * h
    about = density * h * np.array([2.0 * second, second + area * h**2 / 12.0, second + area * h**2 / 12.0])
    rigidity = ca.DM([torsion, bending, bending]) / h
    potential, kinetic = ca.SX(0), ca.SX(0)
    before, end = ca.SX.eye(3), ca.SX.zeros(3)
    for i in range(pieces):
        R = _attitude(theta[3 * i : 3 * i + 3])
        turn = before.T @ R
        bend = 0.5 * ca.vertcat(turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1])
        # The spring at the clamp belongs to half a piece.
        potential += 0.5 * (2.0 if i == 0 else 1.0) * ca.dot(rigidity * bend, bend)
        middle = end + 0.5 * h * R[:, 0]
        end = end + h * R[:, 0]
        potential += mass * GRAVITY * middle[2]
        speed = ca.jtimes(middle, theta, rate)
        dR = ca.reshape(ca.jtimes(ca.reshape(R, 9, 1), theta, rate), 3, 3)
        spin = R.T @ dR
        omega = ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])
        kinetic += 0.5 * mass * ca.dot(speed, speed) + 0.5 * ca.dot(ca.DM(about) * omega, omega)
        before = R
    gradient = ca.gradient(potential, theta)
    stiffness = ca.Function("K", [theta], [ca.jacobian(gradient, theta), gradient])
    inertia = ca.Function("M", [theta], [ca.hessian(kinetic, rate)[0]])
    at = np.zeros(3 * pieces)
    for _ in range(20):
        K, g = (np.array(part) for part in stiffness(at))
        at = at - np.linalg.solve(K, g.ravel())
    K, g = (np.array(part) for part in stiffness(at))
    assert abs(g).max() < 1e-9
    squares, shapes = eigh(K, np.array(inertia(at)))
    twist = np.abs(shapes[0::3] - 0.0).sum(axis=0) / np.abs(shapes).sum(axis=0)
    first = int(np.flatnonzero(twist > 0.5)[0])
    return float(np.sqrt(squares[first]) / (2.0 * np.pi)), float(ca.Function("z", [theta], [end[2]])(at))


def _attitude(x: ca.SX) -> ca.SX:
    """exp(x~) by its series; rotations here are below one radian."""
    t = ca.dot(x, x)
    a, b = ca.SX(0), ca.SX(0)
    for n in reversed(range(9)):
        a = 1.0 - a * t / ((2 * n + 2) * (2 * n + 3))
        b = 1.0 - b * t / ((2 * n + 3) * (2 * n + 4))
    X = ca.skew(x)
    return ca.SX.eye(3) + a * X + 0.5 * b * (X @ X)
