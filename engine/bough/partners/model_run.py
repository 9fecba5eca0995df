"""The controller with a model inside, at work; `fmu_src/partners/model_controller.c` is the same, line by line.

x = (q, u) is the model's state. At t_k = start + k sample:

    predict   x from the last sample on, by the model, with the torques that were applied then; a prediction that is
              LOST, or that the model cannot make, is forgotten: x begins anew at rest in the desired shape, hinges as
              measured
    correct   x += L ((phi, w) measured - (phi, w) predicted)
    desire    rigid motion theta(t); eta, the deflection that its inertia and gravity ask for; and the hinges' part in a
              deflection that leaves the rigid motion alone, -M_hh^-1 M_he eta: together x_d
    torque    tau = inverse dynamics of the desired motion + tau_ff - K (x - x_d), at most tau_max either way

Between samples everything is held.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError
from bough.mechanism import kernel
from bough.partners.partner_run import PartnerRun
from bough.partners.shapes import SAMPLE_SLACK, SAMPLES_MOST, clamp, quintic

Array: TypeAlias = NDArray[np.float64]
LOST = 0.5
"""Difference of measured and predicted angles, rad."""
_SHOWN = ("tau", "u", "phi_ref", "w_ref", "a_ref", "e", "phi_pred")


class ModelRun(PartnerRun):
    """The controller at work. Memory: the number of the next sample, x, and what is shown."""

    def __init__(self, value: dict[str, list[float]], axes: int, table: Sequence[float], block: bytes,
                 bodies: Sequence[tuple[str, str]]) -> None:  # fmt: skip
        """Begin before the first sample."""
        sample, substeps, dofs, modes = table[:4]
        self.sample, self.substeps, self.n, m = sample, int(substeps), int(dofs), int(modes)
        super().__init__(value, axes, [0.0] * (1 + 2 * self.n + len(_SHOWN) * axes))
        self.bodies = tuple(bodies)
        self._model = kernel.KernelModel(block)
        self._data = kernel.KernelData(self._model, lanes=0)
        self.axis, self.mode = [int(x) for x in table[4 : 4 + axes]], [int(x) for x in table[4 + axes : 4 + self.n]]
        rest, width = list(table[4 + self.n :]), 2 * self.n
        self.flexibility, rest = _rows(rest[: m * m], m), rest[m * m :]
        self.K, self.L = _rows(rest[: axes * width], width), _rows(rest[axes * width :], 2 * axes)

    # ---- the law

    def rigid(self, a: int, t: float, t_k: float) -> tuple[float, float, float]:
        """Rigid motion that is asked for at time t, s; commands of the sample at t_k are carried on."""
        v = self.value
        start, way, dt = v["phi_start"][a], v["phi_end"][a] - v["phi_start"][a], t - t_k
        w_cmd, a_cmd = v["w_cmd"][a], v["a_cmd"][a]
        s = quintic(t - v["t_start"][a], v["t_move"][a])
        return (
            start + way * s[0] + (v["phi_cmd"][a] + dt * (w_cmd + 0.5 * dt * a_cmd)),
            way * s[1] + (w_cmd + dt * a_cmd),
            way * s[2] + a_cmd,
        )

    def _inverse(self, q: Array, u: Array, udot: Array) -> Array:
        tau = np.empty((1, self.n))
        self._data.inverse(q.reshape(1, -1), u.reshape(1, -1), udot.reshape(1, -1), None, tau)
        out: Array = tau[0]
        return out

    def _deflect(self, force: Array, out: Array) -> None:
        """Out -= K_ee^-1 force, of the modes."""
        given = [float(force[j]) for j in self.mode]
        for i, row in zip(self.mode, self.flexibility, strict=True):
            out[i] -= _dot(row, given)

    def desire(self, t: float, t_k: float) -> tuple[Array, Array]:
        """Positions that are asked for at time t, s, and the torques for it."""
        d, u, a, bend = np.zeros((4, self.n))
        motion = [self.rigid(i, t, t_k) for i in range(self.axes)]
        d[self.axis] = [r[0] for r in motion]
        self._deflect(self._inverse(d, u, a), d)  # at rest: the sag
        u[self.axis], a[self.axis] = [r[1] for r in motion], [r[2] for r in motion]
        tau = self._inverse(d, u, a)
        M = self._data.mass_matrix(d.reshape(1, -1))[0]
        self._deflect(tau, bend)
        d[self.mode] += bend[self.mode]
        given = [float(bend[j]) for j in self.mode]
        c = [_dot([float(M[i, j]) for j in self.mode], given) for i in self.axis]
        d[self.axis] -= _solve([[float(M[i, j]) for j in self.axis] for i in self.axis], c)
        return d, tau

    def _predict(self, x: Array, tau: Array) -> Array:
        """X one sample on with the torques applied, by RK4."""
        n, h = self.n, self.sample / self.substeps
        share, weight = (0.5 * h, 0.5 * h, h), (1.0, 2.0, 2.0, 1.0)
        for _ in range(self.substeps):
            y, total = x, np.zeros(0)
            for stage in range(4):
                udot = np.empty(n)
                self._data.forward(np.ascontiguousarray(y[:n]), np.ascontiguousarray(y[n:]), tau, None, None, udot)
                k = np.concatenate([y[n:], udot])
                total = k if stage == 0 else total + weight[stage] * k
                if stage < 3:
                    y = x + share[stage] * k
            x = x + h / 6.0 * total
        return x

    def _predicted(self) -> Array | None:
        """The prediction, if there is one and it is near what is measured."""
        n, memory, applied = self.n, self.memory, np.zeros(self.n)
        if memory[0] == 0.0:
            return None
        applied[self.axis] = memory[1 + 2 * n : 1 + 2 * n + self.axes]
        try:
            x = self._predict(np.array(memory[1 : 1 + 2 * n]), applied)
        except kernel.KernelError:
            return None
        near = all(-LOST < self.value["phi"][a] - float(x[j]) < LOST for a, j in enumerate(self.axis))
        return x if near else None

    def _take(self, t: float) -> list[float]:
        """Memory after a sample at time t, s."""
        v, n, H, memory = self.value, self.n, self.axes, self.memory
        shown = {name: [0.0] * H for name in _SHOWN}
        d, tau = self.desire(t, t)
        before, after = self.desire(t - self.sample, t)[0], self.desire(t + self.sample, t)[0]
        x = self._predicted()
        if x is None:
            x = np.concatenate([d, np.zeros(n)])
            for a, j in enumerate(self.axis):
                x[j], x[n + j] = v["phi"][a], v["w"][a]
        shown["phi_pred"] = [float(x[j]) for j in self.axis]
        error = [v["phi"][a] - float(x[j]) for a, j in enumerate(self.axis)]
        error += [v["w"][a] - float(x[n + j]) for a, j in enumerate(self.axis)]
        x += [_dot(row, error) for row in self.L]
        away = np.concatenate([x[:n] - d, x[n:] - (after - before) / (2.0 * self.sample)]).tolist()
        for a, j in enumerate(self.axis):
            limit, r = v["tau_max"][a], self.rigid(a, t, t)
            torque = clamp(float(tau[j]) + v["tau_ff"][a] - _dot(self.K[a], away), -limit, limit)
            shown["tau"][a], shown["u"][a] = torque, v["ku"][a] * torque + v["kw"][a] * v["w"][a]
            shown["phi_ref"][a], shown["w_ref"][a], shown["a_ref"][a] = r
            shown["e"][a] = r[0] - v["phi"][a]
        return [memory[0], *x.tolist(), *(number for name in _SHOWN for number in shown[name])]

    def _try(self, t: float) -> list[float]:
        try:
            return self._take(t)
        except kernel.KernelError as error:
            known = 0 <= error.body < len(self.bodies)
            where = f" (body '{self.bodies[error.body][0]}')" if known else ""
            raise SimulationError(
                f"the model inside cannot be evaluated at t = {self.time:.9g} s: {error}{where}. Cure: look at phi and "
                "w, which come from the mechanism, or lower tau_max."
            ) from None

    # ---- as a partner

    def _next(self) -> float:
        return self.start_time + self.memory[0] * self.sample

    def evaluate(self) -> None:
        """See `PartnerRun`."""
        t, n = self._next(), self.n
        due = self.touched and t <= self.time + SAMPLE_SLACK * self.sample
        m = self._try(t) if due else self.memory
        for i, name in enumerate(_SHOWN):
            at = 1 + 2 * n + i * self.axes
            self.value[name][:] = m[at : at + self.axes]
        if self.mode:
            self.value["eta"][:] = [m[1 + j] for j in self.mode]
            self.value["eta_dot"][:] = [m[1 + n + j] for j in self.mode]

    def advance(self, end: float) -> None:
        """See `PartnerRun`."""
        most = SAMPLES_MOST // self.substeps  # a substep costs as much as a sample elsewhere
        self.check_samples(end, self.sample, most)
        while (t := self._next()) < end - SAMPLE_SLACK * self.sample:
            self.memory[:] = self._try(t)
            self.memory[0] += 1.0


def _rows(numbers: Sequence[float], width: int) -> list[list[float]]:
    return [list(numbers[i : i + width]) for i in range(0, len(numbers), width)] if width else []


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    """Sum of products, one after the other, as the library sums them."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def _solve(M: list[list[float]], c: list[float]) -> list[float]:
    """M^-1 c for a positive definite M, by L D L'."""
    H = len(c)
    for i in range(H):
        for j in range(i + 1):
            total = M[i][j]
            for k in range(j):
                total -= M[i][k] * M[j][k] * M[k][k]
            M[i][j] = total / M[j][j] if j < i else total
    for i in range(H):
        for k in range(i):
            c[i] -= M[i][k] * c[k]
    c = [x / M[i][i] for i, x in enumerate(c)]
    for i in range(H - 1, -1, -1):
        for k in range(i + 1, H):
            c[i] -= M[k][i] * c[k]
    return c
