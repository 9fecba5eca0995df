"""Equilibrium: a position at which nothing begins to move, or moves on steadily while some hinges spin.

With x a small motion in the directions of the free speeds, the forces that hold a position are

    r(q) = inverse_dynamics(q, u, 0) - tau,     dr/dx = K(q).                                      (1)

At rest u is zero; in steady motion it holds the constant speeds of hinges that spin, and centrifugal forces are in r
and in K. A steady motion is one about which nothing changes with time: r may not depend on the angle of a hinge that
spins, or else there is none, and that is said.

K follows from exact directional derivatives of the inverse dynamics: nothing is divided by an inertia, which may be
singular. In the coordinates y of the eigenvectors of K in the metric of M a step is `dy = -r_y / |w|`: Newton's where
the stiffness w is positive, downhill where it is negative, so that a pendulum ends up hanging and not standing. M only
says what a small motion is; where it is not positive, `_metric` has one that is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh

from bough.errors import ArgumentError, SimulationError, choices
from bough.mechanism import kernel, kernel_loops
from bough.mechanism.drive_block import shafts
from bough.mechanism.independent import independent
from bough.mechanism.mechanism import Mechanism
from bough.model import Model

Array: TypeAlias = NDArray[np.float64]
Hinges: TypeAlias = Literal["held", "free"]

STEPS = 100
"""Newton steps; a few are enough unless hinges have a long way to go."""
EXACT = 1e-12
"""Forces that are left, over the weight, at which there is nothing more to do."""
ROUND_OFF = 1e-8
"""Forces that are left, over the weight, that may be round-off if a step does not reduce them."""
FLAT = 1e-13
"""Stiffness over the largest one that may be round-off."""
MASSLESS = 1e-10
"""Mass of a motion over the largest one below which the metric takes another one for it."""
TURN = 0.5
"""Largest rotation of a hinge in one step, rad: within it a cosine is near to its tangent."""
SLIDE = 1.0
"""Largest translation of a hinge in one step where a motion without stiffness takes part, m."""
HALVINGS = 30
STEADY = 1e-7
"""Change of a force per radian that a spinning hinge turns, over the forces there, that may be round-off."""


def equilibrium(
    model: Model | Mechanism | str | os.PathLike[str] | Mapping[str, Any],
    hinges: Hinges = "held",
    *,
    q: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    loads: Mapping[str, ArrayLike] | None = None,
    spin: Mapping[str, float] | None = None,
) -> tuple[Array, Array]:
    """Positions in equilibrium under gravity and constant forces, at rest or in steady rotation, to start a run from.

    Args:
        model: A model, or what `bough.load` takes, or a Mechanism.
        hinges: "held": hinges stay where they start and flexible bodies bend under their load; in loops as many hinges
            stay as are independent, those whose start position the file writes first, and the others follow. Rotors of
            elastic gears wind their shafts up until these carry the load of the hinge. "free": hinges with
            `drive: torque` move too, down to where springs, weight and tau balance.
        q: Where to start from, (nq,); by default the start position of the model.
        tau: Applied forces in the order of u, N.m or N; zero if not given.
        loads: Node loads by name, `{"upper.tip.force": [fx, fy, fz]}`, inertial frame.
        spin: Speeds of hinges that turn steadily, `{"hub": 52.4}`, rad/s: everything else rests relative to them, bent
            by the centrifugal forces. Without it all is at rest, whatever start speeds the model has.

    Returns:
        q, and u: the speeds of `spin`; without it zero but for those that the model gives to hinges that are held.

    Raises:
        ArgumentError: `spin` names no hinge that turns about one axis.
        SimulationError: There is no equilibrium near by; the message names where the largest force is left. Or the
            forces change as the hinge turns, so that there is no steady motion.

    Example:
        >>> import bough
        >>> scale = {"bough": 1, "name": "scale", "gravity": [0, 0, -10], "bodies": [{"name": "pan",
        ...     "parent": "ground", "hinge": {"name": "spring", "type": "prismatic", "axis": [0, 0, 1],
        ...     "stiffness": 100}, "rigid": {"mass": 2.0}}]}
        >>> q, u = bough.equilibrium(scale, hinges="free")
        >>> q.round(12)
        array([-0.2])
    """
    if hinges not in ("held", "free"):
        raise ArgumentError(f"hinges is {hinges!r}; expected 'held' or 'free'")
    system = model if isinstance(model, Mechanism) else Mechanism(model)
    if spin:
        system.refuse_loops("steady rotation")
    start, speeds = system.initial_state()
    place = start if q is None else np.array(q, dtype=np.float64)
    applied = np.zeros(system.nu) if tau is None else np.array(tau, dtype=np.float64)
    for name, array, size in (("q", place, system.nq), ("tau", applied, system.nu)):
        if array.shape != (size,):
            raise ArgumentError(f"{name}: expected an array of shape ({size},), found {array.shape}")
    modal = np.array([c.modal for c in system.u_table], dtype=bool)
    turning = spinning(system, spin or {})
    free = (modal if hinges == "held" else ~system._held) & (turning == 0.0)
    if system.closed:
        closed = _closed_equilibrium(system, hinges, place, applied, loads)
        return _wound(system, closed, applied, loads) if hinges == "held" else closed, np.zeros(system.nu)
    balance = _Balance(system, np.flatnonzero(free), applied, loads, turning)
    found = balance.found_from(place)
    if not spin:
        found = _wound(system, found, applied, loads) if hinges == "held" else found
        return found, np.where(modal | (hinges == "free"), 0.0, speeds)
    if turning.any():
        balance.check_steady(found)
    return found, turning


def _wound(system: Mechanism, q: Array, tau: Array, loads: Mapping[str, ArrayLike] | None) -> Array:
    """The position q with rotors of elastic gears turned until their shafts hold the hinges.

    A shaft pushes its hinge by k (rotor/ratio - hinge), beyond half the play where there is any. It hangs on these two
    coordinates alone, so that winding it changes the balance of nothing else.
    """
    gears = [(system.model.bodies[k].hinge, body.hinge.gear) for k, _, body in shafts(system.model)]
    if not gears:
        return q
    place = {c.name: c.index for c in system.q_table}
    speed = {c.owner: c.index for c in system.u_table if not c.modal}
    wound, still = q.copy(), np.zeros(system.nu)
    for rotor, gear in gears:
        if gear is None or gear.stiffness is None:
            continue
        turned = place[f"{rotor.name}.phi"]
        hinge = next(c.index for c in system.q_table if c.owner == rotor.drives)
        wound[turned] = gear.ratio * wound[hinge]  # the shaft without load, within its play
    hold = system.inverse_dynamics(wound, still, still, loads=loads) - tau
    if system.closed:
        hold = independent(system, wound).forces(hold)
    for rotor, gear in gears:
        if gear is not None and gear.stiffness is not None:
            load = float(hold[speed[rotor.drives]])
            twist = load / gear.stiffness + 0.5 * gear.backlash * np.sign(load)
            wound[place[f"{rotor.name}.phi"]] += gear.ratio * twist
    return np.asarray(wound)


def spinning(system: Mechanism, spin: Mapping[str, float]) -> Array:
    """Speeds u, (nu,), that are zero but for hinges that spin, by name of the hinge or of its speed, rad/s.

    Raises:
        ArgumentError: There is no such hinge, it does not turn about one axis, or a speed is not finite.
    """
    u = np.zeros(system.nu)
    axes = [c for c in system.u_table if c.kind == "rotation" and not system.hinge_has_quaternion(c.owner)]
    names = [name for c in axes for name in (c.name, c.owner)]
    for name, speed in spin.items():
        hits = [c for c in axes if name in (c.name, c.owner)]
        if len(hits) != 1:
            known = [c.owner for c in axes if names.count(c.owner) == 1]
            told = "turns about several axes: name a speed" if hits else "is not a hinge that turns about one axis"
            raise ArgumentError(f"spin: {name!r} {told}{choices(name, [c.name for c in hits] or known)}")
        try:
            u[hits[0].index] = float(speed)
        except (TypeError, ValueError):
            raise ArgumentError(f"spin[{name!r}]: expected a number, rad/s, found {speed!r}") from None
    if not np.all(np.isfinite(u)):
        raise ArgumentError("spin: expected finite speeds, rad/s")
    return u


def force_left(system: Mechanism, index: int, force: float) -> str:
    """A generalized force for a message: `3.2 N.m at hinge 'shoulder' (shoulder.w)`."""
    c = system.u_table[index]
    if c.modal:
        return f"{force:.4g} J per unit of {c.body}.eta[{c.number}], on mode {c.number} of body '{c.body}'"
    return f"{force:.4g} {'N.m' if c.kind == 'rotation' else 'N'} at hinge '{c.owner}' ({c.name})"


def _metric(M: Array) -> Array:
    """M, (n, n), with every motion's mass made positive: |eigenvalues| of the scaled M, and a floor."""
    size = np.sqrt(abs(np.diag(M)))
    size[size == 0.0] = 1.0
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    if values.min() > MASSLESS * values.max():
        return M
    positive = np.maximum(abs(values), MASSLESS * abs(values).max() or 1.0)
    metric = (vectors * positive) @ vectors.T * np.outer(size, size)
    symmetric: Array = 0.5 * (metric + metric.T)
    return symmetric


@dataclass(frozen=True, eq=False)
class _Stiffness:
    """K of the free speeds at a position, its eigenvalues w, 1/s2, and vectors in the metric of M."""

    K: Array
    w: Array
    vectors: Array

    def newton(self, r: Array) -> Array | None:
        """Newton's step, if the position is stable."""
        if self.w.min() <= FLAT * self.w.max():
            return None
        return np.asarray(np.linalg.solve(self.K, -r), dtype=np.float64)

    def downhill(self, r: Array, negligible: float) -> Array:
        """Steps along the eigenvectors, its columns; none where no force acts."""
        force = self.vectors.T @ r
        force[abs(force) <= negligible] = 0.0
        softest = FLAT * float(abs(self.w).max()) or float(abs(force).max()) or 1.0
        steps: Array = self.vectors * (-force / np.maximum(abs(self.w), softest))
        return steps


class _Balance:
    """The forces along the free speeds of a system, and the way to where they vanish."""

    def __init__(
        self,
        system: Mechanism,
        free: NDArray[np.intp],
        tau: Array,
        loads: Mapping[str, ArrayLike] | None,
        speeds: Array,
    ) -> None:
        self.system, self.free, self.tau, self.loads = system, free, tau, loads
        self.still, self.speeds = np.zeros(system.nu), speeds
        self._tangent = kernel.KernelData(system._kernel_model, kernel.LANES_TANGENT)
        kinds = [system.u_table[i].kind for i in free]
        self._turns = np.array([kind == "rotation" for kind in kinds], dtype=bool)
        self._slides = np.array([kind == "translation" for kind in kinds], dtype=bool)

    def found_from(self, q: Array) -> Array:
        """The equilibrium that is reached from a position."""
        q = self._moved(q, np.zeros(self.free.size))
        if not self.free.size:
            return q
        before = np.inf
        weight = self._weight(q)
        for _ in range(STEPS):
            r = self.residual(q)
            stiffness = self._stiffness(q)
            left = float(abs(stiffness.vectors.T @ r).max())
            weight = max(weight, left) if before == np.inf else weight
            if left <= EXACT * weight or (left <= ROUND_OFF * weight and left > 0.5 * before):
                return q
            before = left
            moved = self._searched(q, r, self._step(r, stiffness, EXACT * weight))
            if moved is None:
                break
            q = moved
        raise self._failure(q)

    def residual(self, q: Array) -> Array:
        """Forces that hold the free speeds, beyond those applied, N.m, N or J."""
        hold = self.system.inverse_dynamics(q, self.speeds, self.still, loads=self.loads)
        return hold[self.free] - self.tau[self.free]

    def _weight(self, q: Array) -> float:
        """Upper bound of what gravity does along a motion of unit modal mass: |g| sqrt(m), N / sqrt(kg).

        By Schwarz's inequality; the mass is what the ground carries if nothing moves.
        """
        model = self.system.model
        names = [b.hinge.name for b in model.bodies if b.hinge.kind.nu] + [
            b.label for b in model.bodies if b.mode_count
        ]
        carried = self.system.hybrid_dynamics(q, self.still, self.still, held=names).reactions
        forces = [carried[i, 3:] for i, body in enumerate(model.bodies) if body.parent == "ground"]
        return float(np.sqrt(np.linalg.norm(model.gravity) * sum(np.linalg.norm(force) for force in forces)))

    def _stiffness(self, q: Array) -> _Stiffness:
        system, mine = self.system, self.free
        K = self._slopes(q, mine)[mine]
        M = _metric(system.mass_matrix(q)[np.ix_(mine, mine)])
        w, vectors = eigh(0.5 * (K + K.T), M)
        return _Stiffness(K, w, vectors)

    def _slopes(self, q: Array, along: NDArray[np.intp]) -> Array:
        """Derivatives of the forces that hold all speeds along motions of some, (nu, n)."""
        system = self.system
        at = {"q": q, "u": self.speeds, "udot": self.still}
        loads = system._loads(self.loads)
        if loads is not None:
            at["loads"] = loads.reshape(-1)
        out = np.empty((system.nu, along.size))
        with system._errors():
            for j, index in enumerate(along):
                rates = system.position_rates(q, np.eye(1, system.nu, index)[0])
                out[:, j] = self._tangent.inverse_directional(at, {"q": rates})
        return out

    def check_steady(self, q: Array) -> None:
        """Refuse a motion whose forces change as the hinges turn.

        Raises:
            SimulationError: They do; the message names the hinge that spins and the force that changes most.
        """
        turning = np.flatnonzero(self.speeds)
        change = self._slopes(q, turning)
        rows = np.union1d(self.free, turning)
        scale = np.sqrt(np.diag(_metric(self.system.mass_matrix(q)[np.ix_(rows, rows)])))
        hold = self.system.inverse_dynamics(q, self.speeds, self.still, loads=self.loads)
        size = max(self._weight(q), float(abs(hold[rows] / scale).max(initial=0.0)), np.finfo(float).tiny)
        share = abs(change[rows]) / scale[:, None] / size
        i, j = np.unravel_index(int(share.argmax()), share.shape)
        if share[i, j] <= STEADY:
            return
        spins, row = self.system.u_table[turning[j]].owner, int(rows[i])
        told = force_left(self.system, row, float(change[row, j]))
        raise SimulationError(
            f"no steady motion: as hinge '{spins}' turns, the forces change, by {told} for each radian. Gravity and "
            "loads must lie along the axis, or turn with it; take gravity out, or follow the motion with `bough run`"
        )

    def _step(self, r: Array, stiffness: _Stiffness, negligible: float) -> Array:
        """Newton's step where it is a short one; else one downhill, each part of it shortened by itself.

        A long part is one along which there is hardly any stiffness; it may not hold up the others.
        """
        step = stiffness.newton(r)
        if step is not None and self._excess(step[:, None])[0] <= 1.0:
            return step
        parts = stiffness.downhill(r, negligible)
        whole: Array = (parts / np.maximum(1.0, self._excess(parts, SLIDE))).sum(axis=1)
        whole /= max(1.0, float(self._excess(whole[:, None], SLIDE)[0]))
        return whole

    def _excess(self, steps: Array, slide: float = np.inf) -> Array:
        """How much further hinges move in each step, (n, steps), than they may."""
        turned = abs(steps[self._turns]).max(axis=0, initial=0.0) / TURN
        slid = abs(steps[self._slides]).max(axis=0, initial=0.0) / slide
        excess: Array = np.maximum(turned, slid)
        return excess

    def _searched(self, q: Array, r: Array, step: Array) -> Array | None:
        """The position after the step, or after a part of it: the force along it may not have turned against it."""
        drive = abs(float(r @ step))
        for k in range(HALVINGS):
            moved = self._moved(q, step / 2.0**k)
            against = float(self.residual(moved) @ step)
            if np.isfinite(against) and against <= 0.5 * drive:
                return moved
        return None

    def _moved(self, q: Array, step: Array) -> Array:
        """The position moved along the free speeds, its quaternions of unit length."""
        motion = self.still.copy()
        motion[self.free] = step
        moved = q + self.system.position_rates(q, motion)
        for c in self.system.q_table:
            if c.kind == "quaternion" and c.number == 1:
                moved[c.index : c.index + 4] /= np.linalg.norm(moved[c.index : c.index + 4])
        return moved

    def _failure(self, q: Array) -> SimulationError:
        r = self.residual(q)
        scale = np.sqrt(np.diag(_metric(self.system.mass_matrix(q)[np.ix_(self.free, self.free)])))
        worst = int(np.argmax(abs(r) / scale))
        modal = not (self._turns[worst] or self._slides[worst])
        left = force_left(self.system, int(self.free[worst]), float(r[worst]))
        cure = "check stiffness, loads and units" if modal else "give the hinge a spring, or hold the hinges"
        what = "steady motion" if self.speeds.any() else "static equilibrium"
        return SimulationError(f"no {what} found: holding the last position still takes {left}; {cure}")


@dataclass(frozen=True, eq=False)
class _ClosedStiffness(_Stiffness):
    """K and w of the independent motions, V their basis in the free speeds; vectors are in the free speeds."""

    V: Array

    def newton(self, r: Array) -> Array | None:
        """Newton's step along motions that stay closed, if the position is stable."""
        if self.w.min(initial=np.inf) <= FLAT * self.w.max(initial=0.0):
            return None
        return np.asarray(self.V @ np.linalg.solve(self.K, -self.V.T @ r), dtype=np.float64)


class _ClosedBalance(_Balance):
    """The same along motions that keep loops and couplings closed; multipliers carry the other forces.

    K follows from derivatives of the accelerations, with the multipliers that hold the position.
    """

    def __init__(self, system: Mechanism, free: NDArray[np.intp], tau: Array, loads: Mapping[str, ArrayLike] | None):
        super().__init__(system, free, tau, loads, np.zeros(system.nu))
        held = np.isin(np.arange(system.nu), free, invert=True).astype(np.float64)
        self._data = system._data.copy()
        for data in (self._data, self._tangent):
            data.set(kernel.HELD, held)

    def _stiffness(self, q: Array) -> _Stiffness:
        system = self.system
        found = independent(system, q, free=self.free)
        at = {"q": q, "u": self.still, "tau": self.tau}
        given = system._loads(self.loads)
        if given is not None:
            at["loads"] = given.reshape(-1)
        M = found.V.T @ system.mass_matrix(q) @ found.V
        K, nodes = np.empty(M.shape), np.zeros(0, dtype=np.intc)
        with system._errors():
            for j, motion in enumerate(found.V.T):
                along = {"q": system.position_rates(q, motion)}
                K[:, j] = -M @ self._tangent.directional(at, along, nodes, 0, ("udot",))["udot"][found.index]
        w, vectors = eigh(0.5 * (K + K.T), _metric(M))
        V = found.V[self.free]
        return _ClosedStiffness(K, w, V @ vectors, V)

    def _moved(self, q: Array, step: Array) -> Array:
        moved = super()._moved(q, step)
        with self.system._errors():
            kernel_loops.project(self._data, moved, np.zeros(self.system.nu))
        return moved

    def _searched(self, q: Array, r: Array, step: Array) -> Array | None:
        for k in range(HALVINGS):  # a long step may open loops beyond closing
            try:
                return super()._searched(q, r, step / 2.0**k)
            except SimulationError:
                continue
        return None

    def _failure(self, q: Array) -> SimulationError:
        found = independent(self.system, q, free=self.free)
        r = found.V[self.free].T @ self.residual(q)
        left = force_left(self.system, int(found.index[int(np.argmax(abs(r)))]), float(r[int(np.argmax(abs(r)))]))
        return SimulationError(
            f"no static equilibrium found: holding the last position still takes {left}, loops carrying their share; "
            "check stiffness, loads and units, or hold the hinges"
        )


def _closed_equilibrium(
    system: Mechanism, hinges: Hinges, q: Array, tau: Array, loads: Mapping[str, ArrayLike] | None
) -> Array:
    """Equilibrium with loops; hinges held are as many as are independent with the bodies rigid."""
    q = system.assemble(q).q
    free = np.flatnonzero(~system._held)
    if hinges == "held":
        rigid = np.array([i for i in free if not system.u_table[i].modal], dtype=np.intp)
        free = np.setdiff1d(free, independent(system, q, free=rigid).index)
    motions = independent(system, q, free=free).index.size
    return _ClosedBalance(system, free, tau, loads).found_from(q) if motions else q
