"""Which numbers change which: the exact dependencies of an FMU's outputs and derivatives.

An unknown depends on a known if some state, some inputs and some values of the tunable parameters exist where
changing the known changes the unknown. Mechanisms have no short rule for that (a planar arm has reactions that are
always zero, a gantry has axes that do not couple), so the kernel is asked: at a few random points, with springs,
dampers, armatures and gravity that are not zero and hinges locked and free, every known is given another value. What
does not change by more than round-off does not depend on it. Round-off is measured at each point, by changing the
last digits of everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.mechanism import kernel
from bough.mechanism.bodies import kernel_axes, rigid_inertia
from bough.mechanism.fields import Kind
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.variable_table import PARAMETER_ARRAYS, FmuVariable

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Point: TypeAlias = dict[Kind, Array]
"""Values of every known, by kind."""

ROUND_OFF = 100.0
"""A change counts if it is so many times larger than what changes of the last digits do."""
FLOOR = 1e-14
"""Least change that counts, relative to the largest number of the same kind."""
POINTS = ((0.0, False), (0.0, True), (0.5, False), (1.0, True))
"""Share of hinges that are locked, and whether deflections are large, point by point."""
LARGE = 0.1
"""Large deflection of a mode: its largest rotation (rad) or translation (m) of a node."""


def is_known(v: FmuVariable) -> bool:
    """Whether outputs and derivatives can depend on it: states, inputs and tunable parameters."""
    return v.state or v.causality == "input" or v.variability == "tunable"


def dependency_matrix(system: Mechanism, scalars: Sequence[FmuVariable], seed: int = 0) -> Mask:
    """(n, n) over the scalar variables: row depends on column.

    Rows of variables that are neither outputs nor derivatives, and columns of those that are not known, are empty.
    A state depends on itself.
    """
    n = len(scalars)
    out: Mask = np.zeros((n, n), dtype=bool)
    rows = [i for i, v in enumerate(scalars) if v.causality in ("output", "local") and not v.state]
    columns = [j for j, v in enumerate(scalars) if is_known(v)]
    found = _Probe(system, [scalars[i] for i in rows]).pattern([scalars[j] for j in columns], seed)
    out[np.ix_(rows, columns)] = found
    for i, v in enumerate(scalars):
        out[i, i] = v.state
    return out


class _Probe:
    """The kernel with parameters of its own, evaluated at random points."""

    def __init__(self, system: Mechanism, rows: Sequence[FmuVariable]) -> None:
        self.system = system
        self.model = system._kernel_model
        self.data = kernel.KernelData(self.model)
        self.last: Point = {}
        self.nodes = system._node_index(system.model.outputs)
        kinds = np.array([v.kind for v in rows], dtype=int)
        index = np.array([v.index for v in rows], dtype=int)
        self.rows = [(k, np.flatnonzero(kinds == k), index[kinds == k]) for k in Kind if (kinds == k).any()]
        self.count = len(rows)
        bodies = system.model.bodies
        self.owner = np.array(
            [k for k, b in enumerate(bodies) for _ in range(b.hinge.kind.nu + b.mode_count)], dtype=int
        )
        hinge = [[True] * b.hinge.kind.nu + [False] * b.mode_count for b in bodies]
        self.hinge: Mask = np.array([x for part in hinge for x in part], dtype=bool)
        self.driven: Mask = np.array([bodies[k].hinge.drive == "motion" for k in self.owner], dtype=bool) & self.hinge
        self.tunable = [k for k, b in enumerate(bodies) if b.rigid is not None and b.rigid.tunable]

    def pattern(self, columns: Sequence[FmuVariable], seed: int) -> Mask:
        """Rows that change with each column, over every point."""
        out: Mask = np.zeros((self.count, len(columns)), dtype=bool)
        for i, (share, large) in enumerate(POINTS):
            rng = np.random.default_rng([seed, i])
            point = self._point(rng, share, large)
            try:
                base = self._evaluate(point)
                least = self._round_off(point, base, rng)
                for j, v in enumerate(columns):
                    out[:, j] |= abs(self._evaluate(_changed(point, v, rng)) - base) > least
            except kernel.KernelError:  # a singular point says nothing: count everything as dependent
                out[:] = True
        return out

    # ---- points

    def _point(self, rng: np.random.Generator, locked: float, large: bool) -> Point:
        system, nb = self.system, len(self.system.model.bodies)
        nu, loads = system.nu, 6 * len(system.block.loads)
        out: Point = {
            Kind.Q: self._positions(rng, large),
            Kind.U: rng.uniform(0.5, 1.5, nu) * rng.choice([-1.0, 1.0], nu),
            Kind.TAU: rng.normal(size=nu),
            Kind.MOTION: rng.normal(size=nu),
            Kind.LOAD: rng.normal(size=loads),
            Kind.GRAVITY: rng.uniform(1.0, 9.0, 3),
            Kind.MODAL_DAMPING: rng.uniform(0.5, 2.0, nb),
            Kind.LOCKED: (rng.random(nb) < locked).astype(np.float64),
            Kind.RIGID: self._rigid(rng),
        }
        for kind in (Kind.DAMPING, Kind.STIFFNESS, Kind.REST, Kind.ARMATURE):
            out[kind] = np.where(self.hinge, rng.uniform(0.5, 2.0, nu), 0.0)
        return out

    def _positions(self, rng: np.random.Generator, large: bool) -> Array:
        """Angles and lengths of order one; deflections that show in the frames, or else give moderate forces."""
        parts: list[Array] = []
        for body, data in zip(self.system.model.bodies, self.system.block.bodies, strict=True):
            kind = body.hinge.kind
            angles = kind.n_lin + (0 if kind.quaternion else kind.n_rot)
            parts.append(rng.uniform(0.2, 1.2, angles) * rng.choice([-1.0, 1.0], angles))
            if kind.quaternion:
                q = rng.uniform(0.3, 1.0, 4) * rng.choice([-1.0, 1.0], 4)
                parts.append(q / np.linalg.norm(q))
            if data.nm:
                shapes = np.concatenate([x for node in data.nodes for x in (node.lam, node.gam)])
                soft = 1.0 / (1.0 + np.sqrt(data.stiffness))
                shown = abs(shapes).max(axis=0)  # zero where no node that is used moves with the mode
                size = np.where(large & (shown > 0.0), LARGE / np.where(shown > 0.0, shown, 1.0), soft)
                parts.append(data.T @ (rng.uniform(0.5, 1.5, data.nm) * size))
        return np.concatenate([*parts, np.zeros(0)])

    def _rigid(self, rng: np.random.Generator) -> Array:
        """Mass, mass centre and inertia of bodies that can be tuned; zero elsewhere."""
        out = np.zeros((len(self.system.model.bodies), 10))
        for k in self.tunable:
            out[k, 0], out[k, 1:4] = rng.uniform(1.0, 3.0), rng.uniform(0.1, 0.5, 3)
            out[k, 4:7], out[k, 7:] = rng.uniform(1.0, 1.5, 3), rng.uniform(0.05, 0.2, 3)
        return out.ravel()

    # ---- values

    def _evaluate(self, point: Point) -> Array:
        """The rows at a point."""
        system, nb = self.system, len(self.system.model.bodies)
        for kind, parameter in PARAMETER_ARRAYS.items():
            if point[kind] is not self.last.get(kind):
                self.data.set(parameter, point[kind])
        held = self.driven | (self.hinge & (point[Kind.LOCKED][self.owner] != 0.0))
        self.data.set(kernel.HELD, held.astype(np.float64))
        if self.tunable and point[Kind.RIGID] is not self.last.get(Kind.RIGID):
            self.data.set(kernel.INERTIA, self._inertias(point[Kind.RIGID].reshape(nb, 10)))
        self.last = point
        motion = np.where(self.driven, point[Kind.MOTION], 0.0)
        q, u, loads = point[Kind.Q], point[Kind.U], point[Kind.LOAD] if system.block.loads else None
        nq, nu, n = system.nq, system.nu, self.nodes.size
        sizes = (nq, nu, nu, 6 * nb, 7 * n, 6 * n, 6 * n)
        found = {name: np.empty(size) for name, size in zip(kernel.VALUES, sizes, strict=True)}
        given = {"q": q, "u": u, "tau": point[Kind.TAU], "motion": motion, "loads": loads}
        self.data.evaluate(given, found, self.nodes)
        values = {Kind[name.upper()]: value for name, value in found.items()}
        out = np.empty(self.count)
        for kind, at, index in self.rows:
            out[at] = values[kind].ravel()[index]
        return out

    def _inertias(self, rigid: Array) -> Array:
        bodies = self.system.model.bodies
        out = np.stack([d.inertia for d in self.system.block.bodies])
        for k in self.tunable:
            C = kernel_axes(bodies[k].hinge)
            xx, yy, zz, xy, xz, yz = rigid[k, 4:]
            J = C.T @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ C
            packed = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
            out[k] = rigid_inertia(float(rigid[k, 0]), C.T @ rigid[k, 1:4], packed)
        return out.ravel()

    def _round_off(self, point: Point, base: Array, rng: np.random.Generator) -> Array:
        """Change of each row that last digits can cause."""
        noise = np.zeros(self.count)
        for _ in range(3):
            near = {k: v * (1.0 + 4e-16 * rng.choice([-1.0, 0.0, 1.0], v.shape)) for k, v in point.items()}
            noise = np.maximum(noise, abs(self._evaluate(near) - base))
        for _, at, _ in self.rows:
            noise[at] = np.maximum(ROUND_OFF * noise[at], FLOOR * abs(base[at]).max())
        return noise


def _changed(point: Point, v: FmuVariable, rng: np.random.Generator) -> Point:
    """The point with another value of one known."""
    values = point[v.kind].copy()
    if v.kind == Kind.LOCKED:
        values[v.index] = 1.0 - values[v.index]
    elif v.kind == Kind.RIGID:
        values[v.index] *= 1.0 + 0.3 * rng.random()
    else:
        values[v.index] *= 1.2 + 0.5 * rng.random()
    return {**point, v.kind: values}
