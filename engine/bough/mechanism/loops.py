"""Loops and couplings of a mechanism: assembly, freedoms, residuals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from bough.errors import ArgumentError, ModelError, SimulationError, choices
from bough.mechanism import kernel, kernel_loops
from bough.mechanism.closing import CLOSED, Mask, close_positions, close_speeds
from bough.mechanism.kernel_calls import Array

if TYPE_CHECKING:
    from bough.mechanism.mechanism import Mechanism


@dataclass(frozen=True)
class Moved:
    """A coordinate that assembly moved: its name, where it was drawn and where it closes, rad, m or a mode's unit."""

    name: str
    drawn: float
    closed: float


@dataclass(frozen=True, eq=False)
class Assembly:
    """Positions that close loops and couplings.

    It unpacks as `q, moved`.

    Attributes:
        q: Positions, (nq,).
        moved: Coordinates that moved by more than rounding.
    """

    q: Array
    moved: tuple[Moved, ...]

    def __iter__(self) -> Iterator[Any]:
        """Positions, then what moved."""
        return iter((self.q, self.moved))


@dataclass(frozen=True)
class Freedom:
    """How many freedoms loops and couplings leave.

    Attributes:
        freedoms: DOFs that can move, held ones not counted.
        equations: Of loops and couplings.
        redundant: Equations that say nothing new here.
        loops: Names of loops and couplings with redundant equations, and how many each.
    """

    freedoms: int
    equations: int
    redundant: int
    loops: dict[str, int]


@dataclass(frozen=True)
class ClosureError:
    """What is left of a loop or coupling, the largest of its equations.

    Attributes:
        m: Distance, m (and coupled translations).
        rad: Angle, rad.
        m_per_s: Speed, m/s.
        rad_per_s: Angular speed, rad/s.
    """

    m: float
    rad: float
    m_per_s: float
    rad_per_s: float


CONTRADICTED = 1e-4
"""Part of the accelerations in an equation that may be left open. Rows count as dependent from a sine of 3e-6 on, and a
state that is closed to 1e-9 leaves as little; what contradicts leaves the whole."""


class Loops:
    """Loops and couplings of one mechanism."""

    def __init__(self, system: Mechanism) -> None:
        """Know whose row each equation is."""
        self._system = system
        model = system.model
        self.names = [loop.name for loop in model.loops] + [c.name for c in model.couplings]
        self._owner, self._turns = kernel_loops.row_owners(system._kernel_model)
        phi = {
            i + len(model.loops) for i, c in enumerate(model.couplings) if all(t[0].endswith(".phi") for t in c.terms)
        }
        self._turns = self._turns | np.isin(self._owner, list(phi))

    @property
    def written(self) -> Mask:
        """Speeds whose positions the model file writes."""
        return self._written()[0]

    # ---- assembly

    def start(self, q: Array, u: Array) -> tuple[Array, Array, tuple[Moved, ...]]:
        """The start state of the file with everything closed.

        Raises:
            ModelError: It cannot be closed; the message names the loop and what is left.
        """
        written, written_speeds = self._written()
        assembled = self.assemble(q, written)
        beyond = self._beyond(assembled.q)
        if beyond:
            raise ModelError(
                f"loops close with {beyond}: move the limits, or write a start position (`initial:`) near one that "
                "closes within them"
            )
        return assembled.q, self.speeds(assembled.q, u, written_speeds), assembled.moved

    def speeds(self, q: Array, u: Array, keep: Mask) -> Array:
        """Speeds that keep everything closed, nearest to u; those marked in keep stay where that is possible.

        Raises:
            ModelError: There are none; the message names the loop and what is left.
        """
        free, modes = self._free()
        found, left = close_speeds(u, self._residuals(q, u).J, [free & ~keep & ~modes, free & ~keep, free])
        if left > 1e-9:
            name, size, unit = self._worst(self._residuals(q, found).rate)
            raise ModelError(
                f"{name!r} does not stay closed at the start speeds: {size:.3g} {unit}/s is left. Remove start speeds "
                "(v, w) that contradict it, or release a locked or driven hinge in its loop."
            )
        return found

    def assemble(self, q: Array, keep: Mask) -> Assembly:
        """Close loops and couplings from positions q; coordinates marked in keep stay where that is possible."""
        system = self._system
        free, modes = self._free()
        wishes = [[free & ~keep & ~modes, free & ~keep], [free & ~modes, free]]
        attempt = close_positions(q, wishes, self._equations, self._move, lambda at: not self._beyond(at))
        if attempt.left > CLOSED:
            self._refuse_open(attempt.q)
        closed = attempt.q
        moved = tuple(
            Moved(n, float(a), float(b)) for n, a, b in zip(system.q_names, q, closed, strict=True) if abs(a - b) > 1e-9
        )
        return Assembly(closed, moved)

    def keep_mask(self, keep: Sequence[str]) -> Mask:
        """Speeds whose coordinates are named, as `crank.phi`, or by hinge or body."""
        system = self._system
        mask = np.zeros(system.nu, dtype=bool)
        for name in keep:
            hit = np.array([name in (c.owner, c.name) for c in system.u_table], dtype=bool)
            hit |= self._mask(np.array([name == other for other in system.q_names], dtype=bool))
            if not hit.any():
                raise ArgumentError(f"keep: {name!r} names no coordinate, hinge or body{choices(name, system.q_names)}")
            mask |= hit
        return mask

    def _mask(self, given: Mask) -> Mask:
        """Speeds of the positions that are marked; all of a hinge whose attitude is a quaternion."""
        system = self._system
        mask = np.zeros(system.nu, dtype=bool)
        for i in np.flatnonzero(given):
            one = system.q_table[i]
            same = [c for c in system.q_table if c.owner == one.owner]
            speeds = [j for j, c in enumerate(system.u_table) if c.owner == one.owner]
            mask[[speeds[same.index(one)]] if len(same) == len(speeds) else speeds] = True
        return mask

    # ---- what is left

    def freedom(self, q: Array) -> Freedom:
        """Freedoms and redundant equations at positions q."""
        system = self._system
        rank, redundant = kernel_loops.freedom(system._data, q)
        held = int(system._data.get(kernel.HELD, system.nu).sum())
        owners = self._owner[redundant]
        counts = {self.names[i]: int((owners == i).sum()) for i in dict.fromkeys(owners.tolist())}
        return Freedom(system.nu - held - rank, self._owner.size, int(redundant.sum()), counts)

    def errors(self, q: Array, u: Array) -> dict[str, ClosureError]:
        """Largest residuals of every loop and coupling."""
        r = self._residuals(q, u)
        out = {}
        for i, name in enumerate(self.names):
            lin, rot = (self._owner == i) & ~self._turns, (self._owner == i) & self._turns
            parts = [float(np.abs(x[rows]).max(initial=0.0)) for x in (r.g, r.rate) for rows in (lin, rot)]
            out[name] = ClosureError(*parts)
        return out

    def check_accelerations(self, q: Array, u: Array, udot: Array) -> None:
        """Refuse accelerations that leave an equation open: those of loops that contradict each other or a held hinge.

        Raises:
            SimulationError: Some row of J udot + Jdot u = 0 does not hold; the message names its loop.
        """
        r = self._residuals(q, u)
        left = r.J @ udot + r.bias
        size = np.abs(r.J) @ np.abs(udot) + np.abs(r.bias)
        rounding = 1e-9 * (1.0 + float(np.linalg.norm(self._system.model.gravity)))
        open_rows = np.abs(left) > CONTRADICTED * (size + float(size.max(initial=0.0))) + rounding
        if open_rows.any():
            name, most, unit = self._worst(np.where(open_rows, left, 0.0))
            raise SimulationError(
                f"{name!r} cannot be kept closed: {most:.3g} {unit}/s2 is left. It contradicts other loops, couplings, "
                "or a driven or locked hinge, at this state. Remove one of them, or start from a state that closes."
            )

    # ---- helpers

    def _residuals(self, q: Array, u: Array) -> kernel_loops.Residuals:
        return kernel_loops.residuals(self._system._data, np.ascontiguousarray(q), np.ascontiguousarray(u))

    def _equations(self, q: Array) -> tuple[Array, Array]:
        r = self._residuals(q, np.zeros(self._system.nu))
        return r.g, r.J

    def _refuse_open(self, q: Array) -> NoReturn:
        name, size, unit = self._worst(self._equations(q)[0])
        raise ModelError(
            f"{name!r} cannot be closed: {size:.3g} {unit} is left at best. Check the positions of its two nodes "
            "and the lengths between them, its axes, and which hinges are locked or driven."
        )

    def _beyond(self, q: Array) -> str:
        """The first coordinate that is beyond its limits, or nothing."""
        at = 0
        for body in self._system.model.bodies:
            for j, limits in enumerate(body.hinge.limits):
                x = float(q[at + j])
                if limits is not None and not limits.lower - CLOSED <= x <= limits.upper + CLOSED:
                    name = self._system.q_names[at + j]
                    return f"{name} = {x:.6g}, beyond its limits, {limits.lower:g} to {limits.upper:g}"
            at += body.hinge.kind.nq + body.mode_count
        return ""

    def _move(self, q: Array, step: Array) -> Array:
        system = self._system
        out = q + system.position_rates(q, step)
        kernel_loops.normalize(system._kernel_model, out)
        return out

    def _free(self) -> tuple[Mask, Mask]:
        """DOFs that are not held, and modes among all."""
        system = self._system
        held = system._data.get(kernel.HELD, system.nu).astype(bool)
        return ~held, np.array([c.modal for c in system.u_table], dtype=bool)

    def _written(self) -> tuple[Mask, Mask]:
        positions: list[bool] = []
        speeds: list[bool] = []
        for b in self._system.model.bodies:
            nu = b.hinge.kind.nu
            positions += b.hinge.written or (False,) * nu
            speeds += b.hinge.written_speeds or (False,) * nu
            initial = b.modal_initial
            positions += [initial is not None and bool(initial.eta)] * b.mode_count
            speeds += [initial is not None and bool(initial.eta_dot)] * b.mode_count
        return np.array(positions, dtype=bool), np.array(speeds, dtype=bool)

    def _worst(self, residual: Array) -> tuple[str, float, str]:
        row = int(np.argmax(np.abs(residual)))
        return self.names[self._owner[row]], float(abs(residual[row])), "rad" if self._turns[row] else "m"
