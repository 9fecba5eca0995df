"""The arm's manoeuvre: torques that would move a rigid arm from rest to rest, applied to one that bends.

The joints are to follow `phi(t) = phi0 + dphi s(t/T)` with `s(x) = 10 x^3 - 15 x^4 + 6 x^5`, which begins and ends
without speed and acceleration. Inverse dynamics with the modes at zero gives the torques of an arm with stiff links.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from bough.flex import flex_body, load
from bough.mechanism.mechanism import Mechanism
from bough.run.result import Result
from bough.run.simulate import simulate

Array: TypeAlias = NDArray[np.float64]

MODEL = Path(str(files("bough.demo").joinpath("two_link_arm.yaml")))
"""The model file of the arm."""
JOINTS = ("shoulder", "elbow")
LINKS = ("upper", "lower")
TURN = {"shoulder": 1.8, "elbow": -1.5}
"""How far each joint is to turn, rad."""
MOVE_TIME = 1.5
"""Duration of the manoeuvre, s."""
STOP = 4.0
"""End of the run, s."""


@dataclass(frozen=True, eq=False)
class ArmRun:
    """A run of the arm and what the pictures need besides.

    Attributes:
        system: The arm.
        result: The run.
        plan: Planned joint angles at the times of the result, rad, by joint.
        torques: Times (s) and torques (N.m) by joint: the inputs of the run.
        deflection: Sideways motion of each link's tip against its root, m, by link.
        energy: Kinetic, gravitational, elastic and spring energy, J, (n, 4).
        work: Done by the joint torques since the start, J, (n,).
        loss: Energy that joints and links have dissipated since the start, J, (n,).
    """

    system: Mechanism
    result: Result
    plan: dict[str, Array]
    torques: tuple[Array, dict[str, Array]]
    deflection: dict[str, Array]
    energy: Array
    work: Array
    loss: Array

    plan_name = "stiff links"
    move = (0.0, MOVE_TIME)

    @property
    def balance_error(self) -> float:
        """Largest gap between energy gained and work minus loss, J."""
        gained = self.energy.sum(axis=1) - self.energy[0].sum()
        return float(abs(gained - (self.work - self.loss)).max())


def simulate_arm(step: float = 0.002, rtol: float = 1e-8, progress: Callable[[float], None] | None = None) -> ArmRun:
    """Simulate the manoeuvre.

    Args:
        step: Distance of output times, s.
        rtol: Relative tolerance.
        progress: Called now and then with the fraction done.
    """
    system = Mechanism(load(MODEL))
    times = np.linspace(0.0, MOVE_TIME, 301)
    torques = rigid_torques(system, times)
    inputs = {f"{joint}.tau": _smooth(times, series) for joint, series in torques.items()}
    result = simulate(system, STOP, inputs, step, rtol=rtol, progress=progress)
    q = np.column_stack([result[name] for name in system.q_names])
    u = np.column_stack([result[name] for name in system.u_names])
    plan = {joint: result[f"{joint}.phi"][0] + TURN[joint] * _path(result.t)[0] for joint in JOINTS}
    work, loss = _account(system, result, u)
    deflection = {link: tip_deflection(system, result, link) for link in LINKS}
    energy = system.energy_parts(q, u)
    return ArmRun(system, result, plan, (times, torques), deflection, energy, work, loss)


def rigid_torques(system: Mechanism, times: Array) -> dict[str, Array]:
    """Joint torques, N.m, that would move the arm along the planned path if its links were rigid."""
    q0, u0 = system.initial_state()
    q, u, udot = (np.tile(x, (times.size, 1)) for x in (q0, u0, u0))
    s, s_dot, s_ddot = _path(times)
    column = {joint: system.u_names.index(f"{joint}.w") for joint in JOINTS}
    for joint, j in column.items():
        # Hinges with one degree of freedom and modes have one position per speed: q and u share their columns.
        q[:, j] += TURN[joint] * s
        u[:, j] = TURN[joint] * s_dot
        udot[:, j] = TURN[joint] * s_ddot
    tau = system.inverse_dynamics(q, u, udot)
    return {joint: tau[:, j] for joint, j in column.items()}


def _smooth(times: Array, torque: Array) -> Callable[[float], float]:
    """The torque between its samples as a spline, so that its work can be summed up closely; zero afterwards."""
    spline = CubicSpline(times, torque)
    return lambda t: float(spline(t)) if t < MOVE_TIME else 0.0


def _path(t: Array) -> tuple[Array, Array, Array]:
    """The path s from 0 to 1 and its first two derivatives in time."""
    x = np.clip(t / MOVE_TIME, 0.0, 1.0)
    s: Array = x**3 * (10 - 15 * x + 6 * x**2)
    s_dot: Array = 30 * x**2 * (1 - x) ** 2 / MOVE_TIME
    s_ddot: Array = 60 * x * (1 - x) * (1 - 2 * x) / MOVE_TIME**2
    return s, s_dot, s_ddot


def tip_deflection(system: Mechanism, result: Result, link: str) -> Array:
    """Sideways motion of a link's tip against its root, m, (n,)."""
    body = next(b for b in system.model.bodies if b.name == link)
    flex = flex_body(body)
    along_y = flex.node_shapes[flex.node("tip"), 4]
    eta = np.column_stack([result[f"{link}.eta[{i + 1}]"] for i in range(flex.nm)])
    sideways: Array = eta @ along_y
    return sideways


def _account(system: Mechanism, result: Result, u: Array) -> tuple[Array, Array]:
    """Work of the joint torques and energy lost in dampers since the start, J."""
    power, lost = np.zeros(len(result)), np.zeros(len(result))
    j = 0
    for body in system.model.bodies:
        h, nu, nm = body.hinge, body.hinge.kind.nu, body.mode_count
        if h.name in JOINTS:
            power += result[f"{h.name}.tau"] * u[:, j]
        lost += (u[:, j : j + nu] ** 2) @ np.array(h.damping)
        j += nu
        if nm:
            rate = u[:, j : j + nm]
            lost += np.einsum("ti,ij,tj->t", rate, flex_body(body).damping, rate)
            j += nm
    return _integral(result.t, power), _integral(result.t, lost)


def _integral(t: Array, y: Array) -> Array:
    """Integral from the first time on, by splines on both sides of the torque's kink at the end of the move."""
    out = np.zeros(t.size)
    for part in (t <= MOVE_TIME + 1e-9, t >= MOVE_TIME - 1e-9):
        rows = np.flatnonzero(part)
        if rows.size > 1:
            antiderivative = CubicSpline(t[rows], y[rows]).antiderivative()
            out[rows] = out[rows[0]] + np.asarray(antiderivative(t[rows]), dtype=np.float64)
    return out
