"""A partner of a mechanism (motor, controller) as an FMU in Python (FMI 2.0 for Co-Simulation, by pythonfmu).

It has the variables of the native FMU and gives the same results. It is made to be changed:

    do_step     what happens from one communication point to the next
    __init__    more variables: register them after the partner's own, as pythonfmu's documentation shows, and add them
                to modelDescription.xml (at the end of ModelVariables; outputs also in ModelStructure)

`self.run` is the partner at work: `self.run.value["tau"][0]`, `self.run.memory`, `self.run.time`; see
`bough.partners.partner_run.PartnerRun`. A law of your own is a class derived from `bough.partners.motor.MotorRun` or
`bough.partners.controller.ControllerRun`. What is wrong is logged, and steps are refused until it is mended.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pythonfmu import Boolean, Fmi2Causality, Fmi2Initial, Fmi2Slave, Fmi2Variability, Integer, Real
from pythonfmu.enums import Fmi2Status

from bough.errors import BoughError
from bough.mechanism.variable_table import Role
from bough.partners.opened import Place, open_partner

CAUSALITIES = {
    Role.FIXED: (Fmi2Causality.parameter, Fmi2Variability.fixed, Fmi2Initial.exact),
    Role.TUNABLE: (Fmi2Causality.parameter, Fmi2Variability.tunable, Fmi2Initial.exact),
    Role.INPUT: (Fmi2Causality.input, Fmi2Variability.continuous, None),
    Role.OUTPUT: (Fmi2Causality.output, Fmi2Variability.continuous, Fmi2Initial.calculated),
    Role.INDEPENDENT: (Fmi2Causality.local, Fmi2Variability.continuous, None),  # pythonfmu has no independent one
}


class Slave(Fmi2Slave):  # type: ignore[misc]
    """The partner of `model.bough`, beside this file."""

    def __init__(self, **kwargs: Any) -> None:
        """Open the partner and register its variables in the order of their value references."""
        super().__init__(**kwargs)
        opened = open_partner((Path(self.resources) / "model.bough").read_bytes())
        self.run, self.modelName, self.guid = opened.run, opened.resource.model, opened.resource.token
        self.stop_time = math.inf
        self.initialized = self.fresh = False
        self.refused: dict[str, str] = {}  # what keeps the partner from stepping, by variable
        self.places = opened.places
        for place in opened.places:
            self._register(place)

    # ---- from one communication point to the next

    def do_step(self, current_time: float, step_size: float) -> bool:
        """One communication step; False is fmi2Discard, with a message in the log."""
        run, end = self.run, current_time + step_size
        slack = 1e-9 * (1.0 + abs(run.time))
        if not (math.isfinite(end) and step_size > 0.0 and abs(current_time - run.time) <= slack):
            step = f"step of {step_size} s from {current_time} s"
            return self._discard(f"{step}: expected a positive step from {run.time!r} s on")
        if end > self.stop_time + slack:
            return self._discard(f"the step ends at {end!r} s, beyond the stop time {self.stop_time!r} s")
        if self.refused:
            return self._discard(f"nothing moves until this is mended: {'; '.join(self.refused.values())}")
        try:
            run.step(end)
        except BoughError as error:
            return self._discard(str(error))
        self.fresh = False
        return True

    def setup_experiment(
        self, start_time: float, stop_time: float | None = None, tolerance: float | None = None
    ) -> None:
        """Take the start time and, if it is given, the stop time."""
        self.run.time = self.run.start_time = start_time
        self.stop_time = math.inf if stop_time is None else stop_time
        self.fresh = False

    def exit_initialization_mode(self) -> None:
        """From here on fixed parameters stay."""
        self.initialized = True

    def _discard(self, message: str) -> bool:
        self.log(message, Fmi2Status.discard)
        return False

    # ---- variables

    def _register(self, place: Place) -> None:
        v = place.record
        kind = (Real, Integer, Boolean)[v.type]
        causality, variability, initial = CAUSALITIES[Role(v.role)]
        attributes = {"causality": causality, "variability": variability, "initial": initial}
        self.register_variable(kind(v.name, getter=self._getter(place), setter=self._setter(place), **attributes))

    def _getter(self, place: Place) -> Callable[[], float]:
        if not place.quantity:
            return lambda: self.run.time
        output, convert = place.record.role == Role.OUTPUT, (float, int, bool)[place.record.type]

        def get() -> float:
            if output and not self.fresh:
                try:
                    self.run.evaluate()
                except BoughError as error:
                    self.log(str(error), Fmi2Status.error)
                    return math.nan
                self.fresh = True
            return convert(self.run.value[place.quantity][place.axis])

        return get

    def _setter(self, place: Place) -> Callable[[float], None]:
        name, role = place.record.name, place.record.role

        def set_(value: float) -> None:
            if role not in (Role.FIXED, Role.TUNABLE, Role.INPUT):
                self.log(f"'{name}' is computed and cannot be set", Fmi2Status.error)
            elif self.initialized and role == Role.FIXED:
                self.log(f"'{name}' can be set before initialization ends, not after", Fmi2Status.error)
            elif not (math.isfinite(value) and place.least <= value <= place.most):
                self.refused[name] = f"the value {value} of '{name}' is out of range"
                self.log(self.refused[name], Fmi2Status.error)
            else:
                self.refused.pop(name, None)
                self.run.value[place.quantity][place.axis] = float(value)
                self.run.touched = self.run.touched or role == Role.INPUT
                self.fresh = False

        return set_

    # ---- state: clock, values and memory as numbers

    def _get_fmu_state(self) -> dict[str, Any]:
        run = self.run
        numbers = [run.time, run.start_time, self.stop_time, float(self.initialized), float(run.touched)]
        numbers += [x for values in run.value.values() for x in values] + run.memory
        return {"numbers": numbers}

    def _set_fmu_state(self, state: dict[str, Any]) -> None:
        run, numbers = self.run, list(state["numbers"])
        if len(numbers) != len(self._get_fmu_state()["numbers"]) or not self._fits(numbers):
            self.log("this is not a state of this FMU; nothing is changed", Fmi2Status.error)
            return
        run.time, run.start_time, self.stop_time = numbers[:3]
        self.initialized, run.touched, at = bool(numbers[3]), bool(numbers[4]), 5
        for values in run.value.values():
            values[:] = numbers[at : at + len(values)]
            at += len(values)
        run.memory[:] = numbers[at:]
        self.fresh = False

    def _fits(self, numbers: list[float]) -> bool:
        """Whether a partner can be there: a clock in order, and every value as if it were set."""
        time, start, stop, initialized, touched = numbers[:5]
        clock = math.isfinite(time) and math.isfinite(start) and start <= time and start <= stop
        at, values = 5, {}
        for name, old in self.run.value.items():
            values[name] = numbers[at : at + len(old)]
            at += len(old)
        given = [p for p in self.places if p.quantity and p.record.role in (Role.FIXED, Role.TUNABLE, Role.INPUT)]
        ranges = all(p.least <= values[p.quantity][p.axis] <= p.most for p in given)
        return clock and ranges and {initialized, touched} <= {0.0, 1.0}

    @staticmethod
    def _fmu_state_to_bytes(state: dict[str, Any]) -> bytes:
        return struct.pack(f"<{len(state['numbers'])}d", *state["numbers"])

    @staticmethod
    def _fmu_state_from_bytes(state: bytes) -> dict[str, Any]:
        count = len(state) // 8
        return {"numbers": list(struct.unpack_from(f"<{count}d", bytes(state)))}
