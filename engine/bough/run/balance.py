"""Where the energy of a run came from and went: work of every input, losses of every element, and what is left over."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from bough.errors import SimulationError
from bough.mechanism.along import force_values_along, nodes_along
from bough.mechanism.drive_block import driven
from bough.mechanism.element_block import force_values
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.variables import Variable
from bough.model import Model
from bough.run.between_rows import POINTS, WEIGHTS, Between
from bough.run.losses import Losses
from bough.run.recalled import find_prefix, positions, speeds
from bough.run.result import Result

Array: TypeAlias = NDArray[np.float64]

BETWEEN: Mapping[str, str] = {
    "held after": "held from each row to the next",
    "held before": "held up to each row",
    "straight": "straight lines between rows",
    "smooth": "smooth curves through the rows",
}
"""How inputs may run between the rows of a result, which does not tell it."""
IMPACTS = "impacts"
"""Name of what rigid stops and latches take."""


@dataclass(frozen=True, eq=False)
class EnergyBalance:
    """Energy of a run in every row, counted from the first one, J.

    Attributes:
        t: Times of the rows, s.
        parts: Kinetic, gravitational, elastic and spring energy, (rows, 4).
        work: What each input has put in, by the input's name.
        loss: What each element has taken, by a name such as `friction of shoulder`. `impacts` is the energy that went
            between two rows near a rigid stop or a latch: it is found by difference.
        between: How inputs are taken to run between rows: a key of `BETWEEN`, the one that leaves the least.
        missing: Inputs that the result does not hold; their work is not counted.
    """

    t: Array
    parts: Array
    work: Mapping[str, Array]
    loss: Mapping[str, Array]
    between: str = "straight"
    missing: tuple[str, ...] = field(default=())

    @property
    def gained(self) -> Array:
        """Energy less that of the first row, J."""
        whole = self.parts.sum(axis=1)
        out: Array = whole - whole[0]
        return out

    @property
    def residual(self) -> Array:
        """Energy gained, less work, plus losses, J: zero but for errors of the run and of the rows between."""
        none = np.zeros_like(self.t)
        left: Array = self.gained - sum(self.work.values(), none) + sum(self.loss.values(), none)
        return left

    @property
    def exchanged(self) -> float:
        """The largest change of any part of the energy, work or loss, J: what the residual is measured by."""
        curves = [*self.parts.T, *self.work.values(), *self.loss.values()]
        return max((float(np.ptp(y)) for y in curves), default=0.0)

    @property
    def error(self) -> float:
        """Largest residual over the energy exchanged."""
        largest = float(abs(self.residual).max(initial=0.0))
        return largest / self.exchanged if self.exchanged > 0.0 else 0.0


def energy_balance(
    result: Result, model: Mechanism | Model | str | os.PathLike[str] | Mapping[str, Any], prefix: str | None = None
) -> EnergyBalance:
    """Where the energy of a run came from and went.

    Energy gained equals work done less losses. Both are power summed up between rows, where states follow from
    positions and speeds of the rows: with smooth motion the error falls with the fourth power of their distance.
    The laws of dampers, friction, stops, shafts and contacts are written anew for it, so that it checks the run.

    Args:
        result: A run with all coordinates of the model.
        model: The model of the run.
        prefix: What its variables begin with in the result of a coupled system; by default it is looked for.

    Raises:
        SimulationError: A coordinate is missing in the result, or it has less than two finite rows.

    Example:
        >>> import bough
        >>> cart = {"bough": 1, "name": "cart", "bodies": [{"name": "box", "parent": "ground", "rigid": {"mass": 2.0},
        ...     "hinge": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0], "damping": 1.0}}]}
        >>> run = bough.simulate(cart, stop=1.0, inputs={"rail.f": 4.0}, step=0.01)
        >>> found = bough.energy_balance(run, cart)
        >>> [f"{name} {y[-1]:.6f}" for name, y in (*found.work.items(), *found.loss.items())]
        ['rail.f 3.408491', 'damping of rail 2.170107']
        >>> bool(found.error < 1e-8)
        True
    """
    system = model if isinstance(model, Mechanism) else Mechanism(model)
    prefix = find_prefix(system, result) if prefix is None else prefix
    q, u = positions(system, result, prefix), speeds(system, result, prefix)
    good = np.all(np.isfinite(q), axis=1) & np.all(np.isfinite(u), axis=1)
    if good.sum() < 2 or not good.all():
        raise SimulationError("the energy balance needs at least two rows, all of them finite")
    parts = np.asarray(system.energy_parts(q, u))
    between = Between(system, result.t, q, u)
    losses = {name: _cumulated(y) for name, y in between.integrals(Losses(system).power).items()}
    inputs = _Inputs(system, result, prefix, between)
    met = _met_stops(system, result.t, q, u)
    found = []
    for way in BETWEEN if inputs.vary else ("straight",):
        work = inputs.work(way)
        plain = EnergyBalance(result.t, parts, work, losses, way, inputs.missing)
        found.append(_with_impacts(plain, met) if met.any() else plain)
    return min(found, key=lambda balance: balance.error)


def _cumulated(steps: Array) -> Array:
    return np.concatenate([[0.0], np.cumsum(steps)])


class _Inputs:
    """Inputs of a run, each with the speed that it works along."""

    def __init__(self, system: Mechanism, result: Result, prefix: str, between: Between) -> None:
        self.system, self.between, self.t = system, between, result.t
        effort = {v.index: v.name for v in system.variables if v.kind == "force"}
        self.given: list[tuple[Variable, str, Array]] = []
        missing = []
        for v in system.variables:
            if v.causality != "input":
                continue
            name = effort[v.index] if v.kind == "motion" else v.name
            if prefix + name not in result:
                missing.append(prefix + name)
            elif np.any(result[prefix + name]):
                self.given.append((v, name, result[prefix + name]))
        self.missing = tuple(missing)
        self.vary = any(np.ptp(column) > 0.0 for _, _, column in self.given)
        rows = np.arange(len(between.h), dtype=np.intp)
        self.speeds = [self._speeds(*between.states(rows, np.full(len(rows), x))) for x in POINTS]

    def work(self, way: str) -> dict[str, Array]:
        """Work of every input, J, if inputs run so between rows."""
        out: dict[str, Array] = {}
        for i, (_, name, column) in enumerate(self.given):
            at = _WAYS[way](self.t, column)
            power = sum(w * at(x) * s[i] for x, w, s in zip(POINTS, WEIGHTS, self.speeds, strict=True))
            out[name] = _cumulated(self.between.h * power)
        return out

    def _speeds(self, q: Array, u: Array) -> list[Array]:
        """The speed that each input works along."""
        rows: dict[str, tuple[Array, Array]] = {}
        told: Array | None = None
        place = {f"{f.name}.f": i for f, key, _, i in force_values(self.system.model) if key == "v"}
        out = []
        for v, _, _ in self.given:
            if v.kind != "loads":
                out.append(u[:, v.index])
            elif v.name in place:  # an actuator works along its line
                told = force_values_along(self.system, q, u) if told is None else told
                out.append(told[:, place[v.name]])
            else:
                node, _, key = v.name.partition("[")[0].rpartition(".")
                if node not in rows:
                    pose, velocity = nodes_along(self.system, q, u, [node])
                    rows[node] = (Rotation.from_quat(pose[:, 0, 3:]).as_matrix(), velocity[:, 0])
                axes, velocity = rows[node]
                part = velocity[:, 3:] if key.endswith("force") else velocity[:, :3]
                own = np.einsum("rji,rj->ri", axes, part) if key.startswith("local_") else part
                out.append(own[:, v.index % 3])
        return out


def _smooth(t: Array, y: Array) -> Callable[[float], Array]:
    if np.any(np.diff(t) <= 0.0):
        return _WAYS["straight"](t, y)
    spline = CubicSpline(t, y) if t.size > 3 else None
    return lambda x: _line(y, x) if spline is None else np.asarray(spline(t[:-1] + x * np.diff(t)))


def _line(y: Array, x: float) -> Array:
    return (1.0 - x) * y[:-1] + x * y[1:]


_WAYS: Mapping[str, Callable[[Array, Array], Callable[[float], Array]]] = {
    "held after": lambda t, y: lambda x: y[:-1],
    "held before": lambda t, y: lambda x: y[1:],
    "straight": lambda t, y: lambda x: _line(y, x),
    "smooth": _smooth,
}
"""Values at x of every interval, 0 to 1, by how inputs run."""


def _with_impacts(found: EnergyBalance, met: NDArray[np.bool_]) -> EnergyBalance:
    """The same, where what went between two rows that met a rigid stop or a latch is a loss of its own."""
    loss = {**found.loss, IMPACTS: _cumulated(np.where(met, -np.diff(found.residual), 0.0))}
    return replace(found, loss=loss)


def _met_stops(system: Mechanism, t: Array, q: Array, u: Array) -> NDArray[np.bool_]:
    """Intervals in which a hinge may have met a stop that does not give: it is no farther from it than it can go."""
    met = np.zeros(len(t) - 1, dtype=bool)
    h = np.diff(t)
    for d in driven(system.model):
        if d.limits is None or d.limits.kind == "gives":
            continue
        i = min(c.index for c in system.q_table if c.body == d.body.name) + d.dof
        j = min(c.index for c in system.u_table if c.body == d.body.name) + d.dof
        away = np.minimum(abs(q[:, i] - d.limits.lower), abs(q[:, i] - d.limits.upper))
        speed = np.maximum(abs(u[:-1, j]), abs(u[1:, j]))
        met |= (np.minimum(away[:-1], away[1:]) <= 2.0 * speed * h) & (speed > 0.0)
    return met
