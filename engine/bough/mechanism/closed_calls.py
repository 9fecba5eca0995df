"""What a mechanism answers about its loops and couplings: assembly, freedoms, what is open, reactions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import SimulationError, listed
from bough.mechanism.kernel_calls import Array
from bough.mechanism.loops import Assembly, ClosureError, Freedom, Loops

if TYPE_CHECKING:
    from bough.mechanism import kernel
    from bough.model import Model


class ClosedCalls:
    """Calls of a Mechanism that concern its loops and couplings."""

    model: Model
    _loops: Loops | None
    _held: NDArray[np.bool_]

    if TYPE_CHECKING:  # what the Mechanism brings

        @property
        def nu(self) -> int: ...  # noqa: D102
        @property
        def _data(self) -> kernel.KernelData: ...
        def _rows(self, **given: ArrayLike) -> tuple[list[Array], bool]: ...
        def _errors(self) -> AbstractContextManager[Any]: ...

    def assemble(self, q: ArrayLike, keep: Sequence[str] = ()) -> Assembly:
        """Positions near q that close loops and couplings.

        Args:
            q: Positions, (nq,).
            keep: Coordinates (`crank.phi`), hinges or bodies that stay where they are, if it closes with them.

        Returns:
            The positions and what moved, which unpack as `q, moved`.

        Raises:
            ModelError: It cannot be closed; the message names the loop and what is left, m or rad.
            ArgumentError: An argument has the wrong shape, or `keep` names what is not there.
        """
        (q_,), _ = self._rows(q=q)
        if self._loops is None:
            return Assembly(q_[0].copy(), ())
        return self._loops.assemble(q_[0], self._loops.keep_mask(keep))

    def assemble_speeds(self, q: ArrayLike, u: ArrayLike, keep: Sequence[str] = ()) -> Array:
        """Speeds near u with which loops and couplings stay closed at closed positions q.

        Args:
            q: Positions, (nq,), closed: see `assemble`.
            u: Speeds, (nu,).
            keep: Speeds (`crank.w`), hinges or bodies that stay as they are, if it stays closed with them.

        Raises:
            ModelError: There are none; the message names the loop and what is left, m/s or rad/s.
            ArgumentError: An argument has the wrong shape, or `keep` names what is not there.
        """
        (q_, u_), _ = self._rows(q=q, u=u)
        return u_[0].copy() if self._loops is None else self._loops.speeds(q_[0], u_[0], self._loops.keep_mask(keep))

    def freedom(self, q: ArrayLike) -> Freedom:
        """Number of freedoms that loops and couplings leave at positions q, and equations that are redundant there."""
        (q_,), _ = self._rows(q=q)
        if self._loops is None:
            return Freedom(self.nu - int(self._held.sum()), 0, 0, {})
        with self._errors():
            return self._loops.freedom(q_[0])

    def closure_error(self, q: ArrayLike, u: ArrayLike) -> dict[str, ClosureError]:
        """How far every loop and coupling is from closed: m, rad, and per second; by its name."""
        (q_, u_), _ = self._rows(q=q, u=u)
        return {} if self._loops is None else self._loops.errors(q_[0], u_[0])

    @property
    def closed(self) -> bool:
        """Whether there are loops or couplings."""
        return self._loops is not None

    def refuse_loops(self, what: str) -> None:
        """Raise for something that is not made for loops and couplings yet: a wrong answer would be worse."""
        if self._loops is not None:
            names = listed(self._loops.names)
            raise SimulationError(f"{what} does not take loops and couplings yet, and the model has {names}")

    def refuse_open(self, q: Array, u: Array) -> None:
        """Raise where loops or couplings are open by more than 1e-6 m, rad, or that part of the largest speed."""
        open_by = {name: max(vars(e).values()) for name, e in self.closure_error(q, u).items()}
        worst = max(open_by, key=lambda name: open_by[name], default="")
        if open_by and open_by[worst] > 1e-6 * max(1.0, float(np.abs(u).max(initial=0.0))):
            raise SimulationError(
                f"{worst!r} is open at this state, by {open_by[worst]:.3g} m, rad, or per second: close it with "
                "Mechanism.assemble(q), and Mechanism.assemble_speeds(q, u)"
            )

    def written_speeds(self) -> NDArray[np.bool_]:
        """Speeds whose positions the model file writes (`initial:`)."""
        return np.zeros(self.nu, dtype=bool) if self._loops is None else self._loops.written

    def reactions(self, q: ArrayLike, u: ArrayLike, tau: ArrayLike) -> dict[str, Array]:
        """What loops and couplings exert: torque and force (6,) of each loop, the multiplier (1,) of each coupling.

        The first side of a loop exerts it on the second, at the origin and in the axes of the second frame, N.m and N.
        Of redundant equations each takes the smallest share.
        """
        (q_, u_, tau_), _ = self._rows(q=q, u=u, tau=tau)
        m = self.model
        closure, coupling = np.zeros((len(m.loops), 6)), np.zeros(len(m.couplings))
        with self._errors():
            at = {"q": q_[0], "u": u_[0], "tau": tau_[0]}
            self._data.evaluate(at, {"closure": closure, "coupling": coupling})
        found = {loop.name: closure[i] for i, loop in enumerate(m.loops)}
        return found | {c.name: coupling[i : i + 1] for i, c in enumerate(m.couplings)}
