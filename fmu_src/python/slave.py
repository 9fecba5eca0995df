"""A bough model as an FMU in Python (FMI 2.0 for Co-Simulation, by pythonfmu), made to be changed.

It has the variables of the native FMU and takes its steps with the same kernel: results are equal to the last bit.
Where to change what:

    inputs      forces and loads within a step: a motor, friction, a controller between `shoulder.tau` and the hinge
    do_step     what happens from one communication point to the next
    __init__    more variables: register them after the model's own, as pythonfmu's documentation shows, and add them
                to modelDescription.xml (at the end of ModelVariables; outputs also in ModelStructure)

`self.model` holds everything as numpy arrays; see `bough.run.stepping.Stepper`. What is wrong is logged, and steps are
refused until it is mended: an exception that leaves this file ends the FMU, and with pythonfmu's binary maybe its host.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pythonfmu import Boolean, Fmi2Causality, Fmi2Initial, Fmi2Slave, Fmi2Variability, Integer, Real
from pythonfmu.enums import Fmi2Status

from bough.errors import BoughError
from bough.fmu.resource import Record, Resource, read_resource
from bough.mechanism.fields import Kind
from bough.mechanism.variable_table import Role
from bough.run.stepping import Array, Stepper

ARRAYS = {
    Kind.Q: "q",
    Kind.U: "u",
    Kind.QDOT: "qdot",
    Kind.UDOT: "udot",
    Kind.TAU: "tau",
    Kind.MOTION: "motion",
    Kind.LOAD: "loads",
    Kind.FORCE: "force",
    Kind.POSE: "pose",
    Kind.VELOCITY: "velocity",
    Kind.ACCELERATION: "acceleration",
    Kind.REACTION: "reaction",
    Kind.GRAVITY: "gravity",
    Kind.DAMPING: "damping",
    Kind.STIFFNESS: "stiffness",
    Kind.REST: "rest",
    Kind.ARMATURE: "armature",
    Kind.MODAL_DAMPING: "modal",
    Kind.RIGID: "rigid",
}
"""Where a variable's number is: an array of the model, for its kind."""
COMPUTED = (Kind.QDOT, Kind.UDOT, Kind.FORCE, Kind.POSE, Kind.VELOCITY, Kind.ACCELERATION, Kind.REACTION)
NOT_NEGATIVE = (Kind.DAMPING, Kind.STIFFNESS, Kind.ARMATURE, Kind.MODAL_DAMPING)
STEPS = (Kind.SOLVER_STEP, Kind.SOLVER_MAX_STEP)
STEP_LEAST = 1e-12
"""Shorter steps drown in the rounding of the time, s."""
TOLERANCE_LEAST = 1e-14
"""What rounding lets a step meet."""
CAUSALITIES = {
    Role.FIXED: (Fmi2Causality.parameter, Fmi2Variability.fixed),
    Role.TUNABLE: (Fmi2Causality.parameter, Fmi2Variability.tunable),
    Role.INPUT: (Fmi2Causality.input, Fmi2Variability.continuous),
    Role.OUTPUT: (Fmi2Causality.output, Fmi2Variability.continuous),
    Role.LOCAL: (Fmi2Causality.local, Fmi2Variability.continuous),
    Role.INDEPENDENT: (Fmi2Causality.local, Fmi2Variability.continuous),  # pythonfmu has no independent one
}


class Slave(Fmi2Slave):  # type: ignore[misc]
    """The model of `model.bough`, beside this file."""

    def __init__(self, **kwargs: Any) -> None:
        """Open the model and register its variables in the order of their value references."""
        super().__init__(**kwargs)
        self.resource: Resource = read_resource((Path(self.resources) / "model.bough").read_bytes())
        self.modelName = self.resource.model
        self.guid = self.resource.token
        self.model = Stepper(self.resource.block, self.resource.sensors, self.resource.bodies)
        self.stop_time = math.inf
        self.entered = self.initialized = False  # initialization mode: entered, left
        self.refused: dict[str, str] = {}  # what keeps the model from stepping, by variable; 'model' for all of it
        table = self.resource.variables
        self.model.locked = {v.index: bool(v.start[0]) for v in table if v.kind == Kind.LOCKED}
        self.model.tunable = tuple(sorted({v.index // 10 for v in table if v.kind == Kind.RIGID}))
        for v in table:
            self._register(v)
            if v.role in (Role.FIXED, Role.TUNABLE, Role.INPUT) or v.kind in (Kind.Q, Kind.U):
                self._write(v, v.start[0])

    # ---- from one communication point to the next

    def inputs(self, t: float, q: Array, u: Array, tau: Array, motion: Array, loads: Array) -> None:
        """Inputs at one stage of the solver: as the master set them last.

        Args:
            t: Time of the stage, s.
            q: Positions there, in the order of `self.model.q`. A force that depends on them, or on u, belongs here and
                not in `do_step`: it then takes part in the solver's error control.
            u: Speeds there.
            tau: To be filled: force of every DOF, in the order of u.
            motion: To be filled: acceleration of driven DOFs, in the order of u.
            loads: To be filled: torque and force at every load node, (n, 6), inertial frame.
        """
        tau[:] = self.model.tau
        motion[:] = self.model.motion
        loads.reshape(-1)[:] = self.model.loads

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Integrate over one communication step; False is fmi2Discard, with a message in the log."""
        model, end = self.model, current_time + step_size
        slack = 1e-9 * (1.0 + abs(model.time))
        if not (math.isfinite(end) and step_size > 0.0 and abs(current_time - model.time) <= slack):
            step = f"step of {step_size} s from {current_time} s"
            return self._discard(f"{step}: expected a positive step from {model.time!r} s on")
        if end > self.stop_time + slack:
            return self._discard(f"the step ends at {end!r} s, beyond the stop time {self.stop_time!r} s")
        if "model" in self.refused:
            self._try(model.evaluate)
        if self.refused:
            return self._discard(f"nothing moves until this is mended: {'; '.join(self.refused.values())}")
        try:
            model.step(end, self.inputs)
        except BoughError as error:
            return self._discard(str(error))
        return True

    def setup_experiment(
        self, start_time: float, stop_time: float | None = None, tolerance: float | None = None
    ) -> None:
        """Take the start time and, if they are given, stop time and tolerance."""
        self.model.time = start_time
        self.stop_time = math.inf if stop_time is None else stop_time
        if tolerance:
            self.model.tolerance = max(tolerance, TOLERANCE_LEAST)

    def enter_initialization_mode(self) -> None:
        """From here on states are what the run starts with: quaternions of length one, locked hinges at rest."""
        self.entered = True

    def exit_initialization_mode(self) -> None:
        """Check that the model can move."""
        self._try(self.model.evaluate)
        self.model.running = self.initialized = True

    # ---- what is wrong

    def _discard(self, message: str) -> bool:
        self.log(message, Fmi2Status.discard)
        return False

    def _refuse(self, key: str, message: str) -> None:
        self.refused[key] = message
        self.log(message, Fmi2Status.error)

    def _try(self, call: Callable[[], None]) -> bool:
        """Whether the model could be evaluated."""
        try:
            call()
        except BoughError as error:
            self._refuse("model", str(error))
            return False
        self.refused.pop("model", None)
        return True

    # ---- variables

    def _register(self, v: Record) -> None:
        kind = (Real, Integer, Boolean)[v.type]
        causality, variability = CAUSALITIES[Role(v.role)]
        initial = None if v.role in (Role.INPUT, Role.INDEPENDENT) else Fmi2Initial.calculated
        if v.role in (Role.FIXED, Role.TUNABLE) or v.kind in (Kind.Q, Kind.U):
            initial = Fmi2Initial.exact
        getter, setter = self._getter(v), self._setter(v)
        attributes = {"causality": causality, "variability": variability, "initial": initial}
        self.register_variable(kind(v.name, getter=getter, setter=setter, **attributes))

    def _getter(self, v: Record) -> Callable[[], float]:
        model, kind = self.model, Kind(v.kind)
        if kind in ARRAYS:
            array, index, computed = getattr(model, ARRAYS[kind]), v.index, kind in COMPUTED

            def get() -> float:
                ready = True
                if computed:
                    ready = self._try(model.evaluate)
                elif kind in (Kind.Q, Kind.U) and self.entered:
                    ready = self._try(model.apply)
                return float(array[index]) if ready else math.nan

            return get
        others: dict[Kind, Callable[[], float]] = {
            Kind.TIME: lambda: model.time,
            Kind.LOCKED: lambda: model.locked[v.index],
            Kind.SOLVER_METHOD: lambda: model.method,
            Kind.SOLVER_STEP: lambda: model.step_size,
            Kind.SOLVER_TOLERANCE: lambda: model.tolerance,
            Kind.SOLVER_MAX_STEP: lambda: model.max_step,
        }
        return others[kind]

    def _setter(self, v: Record) -> Callable[[float], None]:
        state = v.kind in (Kind.Q, Kind.U)
        parameter = v.role in (Role.FIXED, Role.TUNABLE)

        def set_(value: float) -> None:
            if not (state or parameter or v.role == Role.INPUT):
                self.log(f"'{v.name}' is computed by the model and cannot be set", Fmi2Status.error)
            elif self.initialized and (state or v.role == Role.FIXED):
                self.log(f"'{v.name}' can be set before initialization ends, not after", Fmi2Status.error)
            else:
                self._write(v, value)

        return set_

    def _write(self, v: Record, value: float) -> None:
        """Set a variable, whatever the state of the run."""
        model, kind = self.model, Kind(v.kind)
        wrong = not math.isfinite(value) or (kind in NOT_NEGATIVE and value < 0.0)
        wrong = wrong or (kind in STEPS and value != 0.0 and value < STEP_LEAST)
        wrong = wrong or (kind == Kind.SOLVER_METHOD and value not in (0, 1, 2))
        wrong = wrong or (kind == Kind.SOLVER_TOLERANCE and not TOLERANCE_LEAST <= value < 1.0)
        wrong = wrong or (kind == Kind.RIGID and v.index % 10 in (0, 4, 5, 6) and value < 0.0)
        if wrong:
            self._refuse(v.name, f"the value {value} of '{v.name}' is out of range")
            return
        self.refused.pop(v.name, None)
        if kind in ARRAYS:
            getattr(model, ARRAYS[kind])[v.index] = value
        elif kind == Kind.LOCKED:
            model.locked[v.index] = bool(value)
        elif kind == Kind.SOLVER_METHOD:
            model.method = int(value)
        elif kind == Kind.SOLVER_STEP:
            model.step_size = value
        elif kind == Kind.SOLVER_MAX_STEP:
            model.max_step = value
        else:
            model.tolerance = value
        model.touch("inputs" if v.role == Role.INPUT else "positions" if kind == Kind.Q else "parameters")

    # ---- state: one block of bytes

    def _get_fmu_state(self) -> dict[str, Any]:
        now = {"stop_time": self.stop_time, "mode": self.entered + self.initialized}
        return {**now, "model": self.model.save()}

    def _set_fmu_state(self, state: dict[str, Any]) -> None:
        try:
            self.model.restore(state["model"])
        except BoughError as error:
            self.log(str(error), Fmi2Status.error)
            return
        self.stop_time, mode = state["stop_time"], state["mode"]
        self.entered, self.initialized = mode > 0, mode > 1

    @staticmethod
    def _fmu_state_to_bytes(state: dict[str, Any]) -> bytes:
        head = f"{float(state['stop_time']).hex()} {state['mode']}\n"
        return head.encode() + bytes(state["model"])

    @staticmethod
    def _fmu_state_from_bytes(state: bytes) -> dict[str, Any]:
        head, _, model = bytes(state).partition(b"\n")
        stop_time, mode = head.split() if len(head.split()) == 2 else (b"inf", b"0")
        return {"stop_time": float.fromhex(stop_time.decode()), "mode": int(mode), "model": model}
