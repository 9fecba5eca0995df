"""The controller with a model inside, in matrices over the public Mechanism: what the C code is held against."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import bough
from bough.partners.model_design import Gains, plant_of
from bough.partners.model_schedule import schedule

Array = np.ndarray


class Reference:
    """x = (q, u) is the model's state; h and m are the places of hinges and modes in u."""

    def __init__(self, system: bough.Mechanism, names: list[str], move: dict[str, Any], sample: float = 1e-3) -> None:
        self.system, self.sample, self.n = system, sample, system.nu
        self.start, self.way = np.array(move["phi_start"]), np.array(move["phi_end"]) - move["phi_start"]
        self.duration = move["t_move"]
        plant = plant_of(system, names)
        table = schedule(plant, lambda part: self.rigid(part * self.duration)[0], 4.0, sample)
        self.stations, self.substeps = table.stations, table.substeps
        self.h, self.m = list(plant.hinges), list(plant.modes)
        self.gains = self.stations[0]
        self.x, self.tau = np.zeros(0), np.zeros(len(names))

    def rigid(self, t: float) -> tuple[Array, Array, Array]:
        """Angles, speeds and accelerations of the built-in move: the polynomial of degree five from rest to rest."""
        s = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])
        x, T = min(max(t / self.duration, 0.0), 1.0), self.duration
        return self.start + self.way * s(x), self.way * s.deriv()(x) / T, self.way * s.deriv(2)(x) / T**2

    def gains_at(self, phi: Array) -> Gains:
        """Of the pose on the line through the stations that is nearest to a measured one."""
        poses = np.array([g.pose for g in self.stations])
        found = []
        for a, b, from_, to in zip(self.stations, self.stations[1:], poses, poses[1:], strict=False):
            s = np.clip((phi - from_) @ (to - from_) / ((to - from_) @ (to - from_)), 0.0, 1.0)
            found.append((np.linalg.norm(phi - from_ - s * (to - from_)), s, a, b))
        _, s, a, b = min(found, key=lambda item: item[0])
        names = ("flexibility", "feedback", "correction")
        return replace(a, **{name: (1.0 - s) * getattr(a, name) + s * getattr(b, name) for name in names})

    def desire(self, t: float) -> tuple[Array, Array]:
        """Positions that are asked for, and the torques for it: sag at rest, then what the motion bends."""
        h, m, F = self.h, self.m, self.gains.flexibility
        d, u, a = np.zeros((3, self.n))
        d[h] = self.rigid(t)[0]
        d[m] = -F @ self.system.inverse_dynamics(d, u, a)[m]
        _, u[h], a[h] = self.rigid(t)
        tau = self.system.inverse_dynamics(d, u, a)
        bend, M = -F @ tau[m], self.system.mass_matrix(d)
        d[m] += bend
        d[h] -= np.linalg.solve(M[np.ix_(h, h)], M[np.ix_(h, m)] @ bend)
        return d, tau[h]

    def predict(self, x: Array, tau: Array) -> Array:
        """The arm one sample on, torques held; RK4 as in every book."""
        n, step, applied = self.n, self.sample / self.substeps, np.zeros(self.n)
        applied[self.h] = tau

        def rate(y: Array) -> Array:
            return np.concatenate([y[n:], self.system.forward_dynamics(y[:n], y[n:], applied)])

        for _ in range(self.substeps):
            k1 = rate(x)
            k2 = rate(x + 0.5 * step * k1)
            k3 = rate(x + 0.5 * step * k2)
            k4 = rate(x + step * k3)
            x = x + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return x

    def take(self, t: float, phi: Array, w: Array) -> dict[str, Array]:
        """A sample at time t, s, of measured angles and speeds."""
        h, n, measured = self.h, self.n, np.concatenate([phi, w])
        places = [*h, *(n + j for j in h)]
        self.gains = self.gains_at(phi)
        d, tau = self.desire(t)
        speed = (self.desire(t + self.sample)[0] - self.desire(t - self.sample)[0]) / (2.0 * self.sample)
        if self.x.size:
            self.x = self.predict(self.x, self.tau)
        else:
            self.x = np.concatenate([d, np.zeros(n)])
            self.x[places] = measured
        predicted = self.x[h]
        self.x = self.x + self.gains.correction @ (measured - self.x[places])
        self.tau = tau - self.gains.feedback @ (self.x - np.concatenate([d, speed]))
        r = self.rigid(t)[0]
        modes = {"eta": self.x[self.m], "eta_dot": self.x[[n + j for j in self.m]]}
        return {"tau": self.tau, "phi_ref": r, "phi_pred": predicted, "e": r - phi} | modes
