"""A model that is stepped from outside, in a loop of one's own: `bough.Run`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import ArgumentError, SimulationError, TheoryWarning, did_you_mean
from bough.mechanism.instance import Instance
from bough.mechanism.kernel_sim import METHODS
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.resource import resource
from bough.mechanism.variable_table import scalar_table
from bough.model import Model
from bough.run.signals import State, input_function

Array: TypeAlias = NDArray[np.float64]


class Run:
    """A model at work: set inputs, step, read variables by the names of the FMU.

    It is the C code of the FMU for Co-Simulation, with its results. Belongs to one thread at a time.

    Attributes:
        mechanism: The mechanism that moves.

    Example:
        >>> import bough
        >>> cart = {"bough": 1, "name": "cart", "bodies": [{"name": "box", "parent": "ground",
        ...     "hinge": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0]}, "rigid": {"mass": 2.0}}]}
        >>> run = bough.Run(cart)
        >>> for _ in range(3000):  # a controller of 1 kHz that takes the cart to 1 m
        ...     run.set("rail.f", 8.0 * (1.0 - run["rail.s"]) - 8.0 * run["rail.v"])
        ...     run.step(1e-3)
        >>> round(run.time, 9), round(run["rail.s"], 3)
        (3.0, 0.983)
        >>> state = run.save()
        >>> run.step(0.5)
        >>> run.restore(state)
        >>> round(run.time, 9)
        3.0
    """

    def __init__(
        self,
        model: Model | Mechanism | str | os.PathLike[str] | Mapping[str, Any],
        settings: Mapping[str, float] | None = None,
        inputs: Mapping[str, float | Callable[..., float]] | None = None,
        *,
        start: float = 0.0,
        method: str = "dopri5",
        rtol: float = 1e-6,
        solver_step: float | None = None,
        max_step: float | None = None,
    ) -> None:
        """Start a run.

        Args:
            model: A model, or what `bough.load` takes, or a Mechanism.
            settings: Parameters and start values of states, by the names of the FMU.
            inputs: By name: a number, or a function of time in s, or of time and state, which the solver asks at every
                stage: `lambda t, state: -0.3 * state["shoulder.w"]`. Numbers can be changed by `set`.
            start: Time to start at, s.
            method: As in `bough.simulate`.
            rtol: Relative tolerance of the adaptive methods.
            solver_step: Step of the fixed-step methods, s.
            max_step: Longest step of the solver, s; no bound if not given.

        Raises:
            ModelError: The model is wrong.
            ArgumentError: The method or an input is unknown.
            SimulationError: A setting is unknown or not allowed, or the model cannot move.
        """
        system = self.mechanism = model if isinstance(model, Mechanism) else Mechanism(model)
        if method not in METHODS:
            known = tuple(METHODS)
            raise ArgumentError(
                f"method: expected one of {', '.join(known)}, found {method!r}{did_you_mean(method, known)}"
            )
        self._instance = Instance(resource(system, scalar_table(system), system.model.name), "Run")
        solver = {
            "solver.method": float(METHODS[method].number),
            "solver.step": solver_step or 0.0,
            "solver.tolerance": rtol,
            "solver.max_step": max_step or 0.0,
        }
        given = dict(inputs or {})
        functions = {name: value for name, value in given.items() if callable(value)}
        numbers = {name: float(value) for name, value in given.items() if not callable(value)}
        self._instance.set_all({**solver, **(settings or {}), **numbers})
        if functions:
            self._fill = _Fill(system, functions)
            self._instance.set_input(self._fill)
        try:
            self._instance.initialize(start)
        finally:
            self._warn()

    @property
    def time(self) -> float:
        """Where the run is, s."""
        return self._instance.time

    @property
    def names(self) -> tuple[str, ...]:
        """Every variable."""
        return tuple(v.name for v in self._instance.variables)

    def __getitem__(self, name: str) -> float:
        """The present value of a variable; Booleans are 0 or 1."""
        return self._instance.get(name)

    def values(self, *names: str) -> Array:
        """Present values of several variables."""
        return self._instance.read(self._instance.place(*names))

    def set(self, name: str | Mapping[str, float], value: float | None = None) -> None:
        """Set an input or a tunable parameter, or several by name: all, or none if one is refused.

        Raises:
            SimulationError: A name is unknown, a value is out of range, or it cannot be set during a run.
        """
        if isinstance(name, str):
            if value is None:
                raise ArgumentError(f"set: expected a value for {name!r}")
            self._instance.set(name, value)
        else:
            self._instance.set_all(name)

    def step(self, dt: float) -> None:
        """Go on by dt, s, exactly.

        Raises:
            SimulationError: The step cannot be finished; `time` says how far it got. Go back by `restore`.

        Warns:
            TheoryWarning: A flexible body leaves the limits of its modes; once per body and limit.
        """
        try:
            self._instance.step(self._instance.time, dt)
        finally:
            if self._instance.warned:
                self._warn()

    def _warn(self) -> None:
        texts = self._instance.warned.copy()
        self._instance.warned.clear()
        for text in texts:
            warnings.warn(text, TheoryWarning, stacklevel=3)

    def save(self) -> bytes:
        """Everything the run remembers: `restore` continues bit for bit, also in another process."""
        return self._instance.save()

    def restore(self, state: bytes) -> None:
        """Go back to what `save` gave, of a run of the same model.

        Raises:
            SimulationError: It is not a state of this model; nothing is changed.
        """
        self._instance.restore(state)


class _Fill:
    """Functions of time and state into the kernel's arrays of inputs."""

    def __init__(self, system: Mechanism, functions: Mapping[str, Callable[..., float]]) -> None:
        known = {v.name: v for v in system.variables if v.causality == "input"}
        self.state = State(system)
        self.rows = []
        for name, value in functions.items():
            if name not in known:
                raise ArgumentError(f"inputs: there is no input {name!r}{did_you_mean(name, list(known))}")
            self.rows.append((known[name].kind, known[name].index, input_function(value)[0]))

    def __call__(self, t: float, q: Array, u: Array, tau: Array, motion: Array, loads: Array) -> None:
        """See `bough.mechanism.instance.InputFunction`."""
        self.state.now(q, u)
        arrays = {"tau": tau, "motion": motion, "loads": loads.reshape(-1)}
        for kind, index, function in self.rows:
            try:
                arrays[kind][index] = function(t, self.state)
            except Exception as error:
                raise SimulationError(f"an input function failed at t = {t:.9g} s: {error!r}") from error
