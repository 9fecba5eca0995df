"""A mechanism or a controller as an FMU in Python (FMI 2.0 for Co-Simulation, by pythonfmu), made to be changed.

It has the variables of the native FMU and is a thin layer over the same C code: results are equal to the last bit.
Where to change what:

    inputs      forces and loads within a step, of a mechanism: a motor, friction, a controller between `shoulder.tau`
                and the hinge
    do_step     what happens from one communication point to the next
    __init__    more variables: register them after the model's own, as pythonfmu's documentation shows, and add them
                to modelDescription.xml (at the end of ModelVariables; outputs also in ModelStructure)

`self.model` has every variable by name: `self.model.get("shoulder.phi")`, `self.model.set("shoulder.damping", 0.2)`;
see `bough.mechanism.instance.Instance`. What is wrong is logged, and steps are refused until it is fixed: an exception
that leaves this file ends the FMU, and with pythonfmu's binary maybe its host.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pythonfmu import Boolean, Fmi2Causality, Fmi2Initial, Fmi2Slave, Fmi2Variability, Integer, Real
from pythonfmu.enums import Fmi2Status

from bough.errors import BoughError
from bough.mechanism.fields import Kind
from bough.mechanism.instance import INITIALIZATION, Array, Instance, ValueRefused
from bough.mechanism.resource import Record
from bough.mechanism.variable_table import Role

CAUSALITIES = {
    Role.FIXED: (Fmi2Causality.parameter, Fmi2Variability.fixed),
    Role.TUNABLE: (Fmi2Causality.parameter, Fmi2Variability.tunable),
    Role.INPUT: (Fmi2Causality.input, Fmi2Variability.continuous),
    Role.OUTPUT: (Fmi2Causality.output, Fmi2Variability.continuous),
    Role.LOCAL: (Fmi2Causality.local, Fmi2Variability.continuous),
    Role.INDEPENDENT: (Fmi2Causality.local, Fmi2Variability.continuous),  # pythonfmu has no independent one
}
STATES = (Kind.Q, Kind.U)


class Slave(Fmi2Slave):  # type: ignore[misc]
    """The model of `model.bough`, beside this file."""

    def __init__(self, **kwargs: Any) -> None:
        """Open the model and register its variables in the order of their value references."""
        super().__init__(**kwargs)
        self.model = Instance((Path(self.resources) / "model.bough").read_bytes(), "model")
        self.modelName, self.guid = self.model.name, self.model.token
        if not self.model.partner:
            self.model.set_input(self.inputs)
        self.refused: dict[str, str] = {}  # what keeps the model from stepping, by variable; 'model' for all of it
        for v in self.model.variables:
            self._register(v)

    # ---- from one communication point to the next

    def inputs(self, t: float, q: Array, u: Array, tau: Array, motion: Array, loads: Array) -> None:
        """Change inputs at one stage of the solver; they hold what the master set last.

        Args:
            t: Time of the stage, s.
            q: Positions there, in the order of `bough.Mechanism.q_names`. A force that depends on them, or on u,
                belongs here and not in `do_step`: it then takes part in the solver's error control.
            u: Speeds there, in the order of `u_names`.
            tau: To be changed: force of every DOF, in the order of u.
            motion: To be changed: acceleration of driven DOFs, in the order of u.
            loads: To be changed: torque and force at every load node, (n, 6), inertial frame.
        """

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Integrate over one communication step; False is fmi2Discard, with a message in the log."""
        if "model" in self.refused:
            self.exit_initialization_mode()
        if self.refused:
            return self._discard(f"no step is taken until this is fixed: {'; '.join(self.refused.values())}")
        try:
            self.model.step(current_time, step_size)
        except BoughError as error:
            return self._discard(str(error))
        finally:
            self._warn()
        return True

    def setup_experiment(
        self, start_time: float, stop_time: float | None = None, tolerance: float | None = None
    ) -> None:
        """Take the start time and, if they are given, stop time and tolerance."""
        self._try("model", lambda: self.model.setup(start_time, stop_time, tolerance or None))

    def enter_initialization_mode(self) -> None:
        """From here on states are what the run starts with: quaternions of length one, locked hinges at rest."""
        self._try("model", self.model.enter_initialization)

    def exit_initialization_mode(self) -> None:
        """Check that the model can move."""
        if self.model.state == INITIALIZATION:
            self._try("model", self.model.exit_initialization)
            self._warn()

    # ---- what is wrong

    def _warn(self) -> None:
        """Log where a body leaves the limits of its modes."""
        for text in self.model.warned:
            self.log(text, Fmi2Status.warning)
        self.model.warned.clear()

    def _discard(self, message: str) -> bool:
        self.log(message, Fmi2Status.discard)
        return False

    def _try(self, key: str, call: Callable[[], None]) -> None:
        """Do what may fail; steps are refused until it succeeds."""
        try:
            call()
        except BoughError as error:
            self.refused[key] = str(error)
            self.log(str(error), Fmi2Status.error)
        else:
            self.refused.pop(key, None)

    # ---- variables

    def _register(self, v: Record) -> None:
        kind, convert = ((Real, float), (Integer, int), (Boolean, bool), (Integer, int))[v.type]
        causality, variability = CAUSALITIES[Role(v.role)]
        initial = None if v.role in (Role.INPUT, Role.INDEPENDENT) else Fmi2Initial.calculated
        if v.role in (Role.FIXED, Role.TUNABLE) or v.kind in STATES:
            initial = Fmi2Initial.exact

        def get() -> float:
            try:
                return convert(self.model.get(v.name))
            except BoughError as error:
                self.log(str(error), Fmi2Status.error)
                return math.nan

        attributes = {"causality": causality, "variability": variability, "initial": initial}
        self.register_variable(kind(v.name, getter=get, setter=self._setter(v), **attributes))

    def _setter(self, v: Record) -> Callable[[float], None]:
        def set_(value: float) -> None:
            try:
                self.model.set(v.name, value)
            except ValueRefused as error:  # a wrong value; steps are refused until it is put right
                self.refused[v.name] = str(error)
                self.log(str(error), Fmi2Status.error)
            except BoughError as error:  # not a variable to be set now
                self.log(str(error), Fmi2Status.error)
            else:
                self.refused.pop(v.name, None)

        return set_

    # ---- state: one block of bytes

    def _get_fmu_state(self) -> dict[str, Any]:
        return {"model": self.model.save(), "refused": dict(self.refused)}

    def _set_fmu_state(self, state: dict[str, Any]) -> None:
        try:
            self.model.restore(state["model"])
        except BoughError as error:
            self.log(str(error), Fmi2Status.error)
        else:
            self.refused = dict(state["refused"])

    @staticmethod
    def _fmu_state_to_bytes(state: dict[str, Any]) -> bytes:
        return bytes(state["model"])

    @staticmethod
    def _fmu_state_from_bytes(state: bytes) -> dict[str, Any]:
        return {"model": bytes(state), "refused": {}}
