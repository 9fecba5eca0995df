"""Integrations over time in the kernel: its methods, inputs between knots, and runs that Python can stop."""

from __future__ import annotations

import ctypes as c
import itertools
import time as clock
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError
from bough.mechanism.kernel import OK, PAUSED, KernelData, KernelError
from bough.mechanism.kernel_calls import (
    _P,
    INPUT_FN,
    VALUES,
    Array,
    Nodes,
    _address,
    _lib,
    _Options,
    _place,
    _ptr,
    _Rows,
    _Values,
    status_text,
)

INPUT_ORDERS = 3
"""Highest derivative of an input that the kernel takes."""
_CHUNK = 0.05
"""Rows are recorded for about so long between two looks at the outside world, s."""
_PAUSE = 100_000
"""Attempts at a step, times speeds, between two looks at the outside world: a fraction of a second."""


@dataclass(frozen=True)
class Method:
    """An integrator: its number in the kernel, what it is for, and what a given step means to it (STEP_...)."""

    number: int
    note: str
    stepping: int


def _methods() -> Iterator[tuple[str, Method]]:
    for number in itertools.count():
        found = _lib.bough_method_about(number)
        if not found:
            return
        facts = found.contents
        yield facts.name.decode(), Method(number, facts.note.decode(), facts.stepping)


METHODS = dict(_methods())
"""The kernel's integrators by their names."""


InputFunction: TypeAlias = Callable[[float, Array, Array, Array, Array, Array], None]
"""Changes tau (nu,), motion (nu,) and loads (n, 6) for a time in s and the state q (nq,), u (nu,) of a stage."""


@dataclass(frozen=True, eq=False)
class LinearInputs:
    """Inputs that are linear from one knot to the next.

    Attributes:
        knots: Start of each piece, s; the last is the end of the run.
        places: Where the inputs are among tau (nu,), motion (nu,) and loads (6n,).
        values: (inputs, knots), just after each knot.
        slopes: (inputs, knots), from there on.
    """

    knots: Array
    places: NDArray[np.intc]
    values: Array
    slopes: Array


class KernelSim:
    """A time integration in progress."""

    def __init__(
        self, data: KernelData, loads: int, method: str, rtol: float, atol: float, step: float, step_max: float
    ) -> None:
        """Make the integrator's workspace.

        Args:
            data: Parameters, and the workspace of evaluations; must not be used elsewhere during the run.
            loads: Number of nodes that take a load.
            method: A key of METHODS.
            rtol: Relative tolerance.
            atol: Absolute tolerance of positions; 0: each coordinate is judged by its own motion.
            step: Fixed step, or the first of an adaptive method (0: chosen), s.
            step_max: Longest step, s; 0: no bound.
        """
        self.data, self._loads = data, loads
        self.handle = _P()
        model = data.model
        pause = max(4, _PAUSE // (model.nu + 1))
        options = _Options(METHODS[method].number, rtol, atol, step, step_max, pause)
        status = _lib.bough_sim_create(model.handle, data.handle, c.byref(options), c.byref(self.handle))
        if status != OK:
            raise SimulationError(f"the integrator cannot start: {status_text(status)}")
        self.q, self.u = np.empty(model.nq), np.empty(model.nu)
        self.failure: BaseException | None = None
        self.paused: Callable[[], None] | None = None
        self._callback = INPUT_FN(0)

    def __del__(self) -> None:
        """Free the kernel's memory."""
        if getattr(self, "handle", None) and _lib is not None:
            _lib.bough_sim_free(self.handle)

    def start(self, t: float, q: Array, u: Array, stop: float = float("inf")) -> None:
        """Begin at time t; no step looks beyond `stop`."""
        self.set_stop(stop)
        status = _lib.bough_sim_start(self.handle, t, _ptr(q), _ptr(u))
        if status != OK:
            raise KernelError(status, -1, t)

    def set_stop(self, t: float) -> None:
        """No step looks beyond time t, s, from now on."""
        _lib.bough_sim_set_stop(self.handle, t)

    def disturb(self) -> None:
        """Inputs or parameters have jumped."""
        _lib.bough_sim_disturb(self.handle)

    def set_inputs(self, t: float, values: Array) -> None:
        """Inputs from now on as polynomials in the time since t.

        Args:
            t: s.
            values: (order + 1, 2 nu + 6 loads): tau, motion and loads at time t, then their derivatives.
        """
        if values.shape[1] != 2 * self.data.model.nu + 6 * self._loads or not values.flags.c_contiguous:
            raise ValueError(f"inputs of shape {values.shape}")
        status = _lib.bough_sim_set_inputs(self.handle, t, values.shape[0] - 1, _address(values))
        if status != OK:
            raise KernelError(status, -1, t)

    def set_input(self, function: InputFunction | None) -> None:
        """A function that changes inputs at every stage; an exception in it stops the run and is kept in `failure`."""
        if function is None:
            self._callback = INPUT_FN(0)
            return
        nq, nu, loads = self.data.model.nq, self.data.model.nu, self._loads
        view = np.ctypeslib.as_array

        def call(_: Any, t: float, q: Any, u: Any, tau: Any, motion: Any, load: Any) -> int:
            try:
                state = view(q, (nq,)), view(u, (nu,))
                forces = view(load, (loads, 6)) if loads else np.empty((0, 6))
                function(t, *state, view(tau, (nu,)), view(motion, (nu,)), forces)
            except BaseException as error:  # every error must cross the C frames as a status
                self.failure = error
                return 1
            return 0

        self._callback = INPUT_FN(call)

    def advance(self, t: float, exact: bool = False) -> None:
        """Advance to time t, s; `q` and `u` hold the state there, or the last good one.

        The kernel comes back for a moment every fraction of a second, so that signals are handled; `paused` is called
        then.
        """
        while True:
            state = _ptr(self.q), _ptr(self.u)
            status = _lib.bough_sim_advance(self.handle, t, int(exact), self._callback, None, *state)
            if status == OK:
                return
            if status != PAUSED:
                where = _lib.bough_sim_where(self.handle)
                raise KernelError(status, where.body, where.time, where.constraint - 1)
            if self.paused is not None:
                self.paused()

    def record(
        self, times: Array, inputs: LinearInputs, nodes: Nodes, store: Mapping[str, Array], told: Callable[[int], None]
    ) -> None:
        """Run through all times and fill the rows of `store`, the loop in C.

        Python looks at the outside world every fraction of a second: signals are handled, and `told` is called with the
        number of rows that are there.
        """
        work = np.zeros((2, 2 * self.data.model.nu + 6 * self._loads))
        values = _Values(**{name: _place(store[name]) for name in VALUES if name in store and store[name].size})
        rows = _Rows(
            _place(times), inputs.knots.size, _place(inputs.knots), inputs.places.size, _place(inputs.places),
            _place(inputs.values), _place(inputs.slopes), _place(work), nodes.size, _place(nodes),
            *(_place(store[name]) for name in ("q", "u", "motion", "loads")), values,
        )  # fmt: skip
        row, piece, chunk = c.c_int(0), c.c_int(-1), 8
        while row.value < times.size:
            began = clock.perf_counter()
            end = min(row.value + chunk, times.size)
            status = _lib.bough_sim_record(self.handle, rows, end, row, piece)
            told(row.value)
            if status not in (OK, PAUSED):
                where = _lib.bough_sim_where(self.handle)
                raise KernelError(status, where.body, where.time, where.constraint - 1)
            took = clock.perf_counter() - began
            chunk = min(2 * chunk, 100_000) if took < _CHUNK else max(1, chunk // 2)

    @property
    def excursion(self) -> tuple[Array, Array]:
        """Of every coordinate, q then u: largest distance from its start value, and absolute tolerance."""
        size, floor = (np.empty(self.data.model.nq + self.data.model.nu) for _ in range(2))
        _lib.bough_sim_excursion(self.handle, _ptr(size), _ptr(floor))
        return size, floor

    @property
    def time(self) -> float:
        """Time that the integrator has reached, s."""
        return float(_lib.bough_sim_time(self.handle))

    @property
    def counts(self) -> tuple[int, int, int]:
        """Steps, rejected steps, evaluations."""
        n = _lib.bough_sim_get_counts(self.handle)
        return n.steps, n.rejected, n.evaluations
