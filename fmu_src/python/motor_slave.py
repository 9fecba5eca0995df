"""A DC motor as an FMU in Python (FMI 2.0 for Co-Simulation, by pythonfmu): an example of a law that you change.

It has the variables of the native motor FMU and gives the same results. The law is the class `Circuit`; nothing here
calls the C code. Where to change what:

    Circuit     the equations of one axis
    do_step     what happens from one communication point to the next
    __init__    more variables: register them after the motor's own, as pythonfmu's documentation shows, and add them
                to modelDescription.xml (at the end of ModelVariables; outputs also in ModelStructure)

`self.value["R"][0]` is a parameter, an input or an output of the first axis; `self.current[0]` is what the motor
remembers. What is wrong is logged, and no step is taken until it is fixed.

    v = Ka u, at most u_max either way            amplifier
    v = R i + L di/dt + Kb N w                    winding; w is the speed of the hinge
    tau = N eta Kt i                              torque at the hinge

The amplifier keeps |i| <= i_max as far as its voltage reaches. Inputs are constant over a step, so the current
approaches (v - Kb N w)/R exponentially: each stretch between limits is exact. With L = 0 the current is there at once.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pythonfmu import Fmi2Causality, Fmi2Initial, Fmi2Slave, Fmi2Variability, Real
from pythonfmu.enums import Fmi2Status

from bough.mechanism.variable_table import Role
from bough.partners.opened import Place, open_partner

CAUSALITIES = {
    Role.FIXED: (Fmi2Causality.parameter, Fmi2Variability.fixed, Fmi2Initial.exact),
    Role.TUNABLE: (Fmi2Causality.parameter, Fmi2Variability.tunable, Fmi2Initial.exact),
    Role.INPUT: (Fmi2Causality.input, Fmi2Variability.continuous, None),
    Role.OUTPUT: (Fmi2Causality.output, Fmi2Variability.continuous, Fmi2Initial.calculated),
    Role.INDEPENDENT: (Fmi2Causality.local, Fmi2Variability.continuous, None),  # pythonfmu has no independent one
}
SETTABLE = (Role.FIXED, Role.TUNABLE, Role.INPUT)


class Circuit:
    """Amplifier and winding of an axis at one instant.

    `aim`, `least` and `most` are the currents that v, -u_max and u_max lead to, A.
    """

    def __init__(self, value: dict[str, list[float]], a: int) -> None:
        """Look at the axis `a`."""
        u_max, self.R, self.L = value["u_max"][a], value["R"][a], value["L"][a]
        self.i_max = value["i_max"][a]
        self.v = min(max(value["Ka"][a] * value["u"][a], -u_max), u_max)
        self.emf = value["Kb"][a] * value["N"][a] * value["w"][a]
        self.aim, self.least, self.most = ((v - self.emf) / self.R for v in (self.v, -u_max, u_max))

    def hold(self) -> float:
        """The current limit as far as the voltage reaches, A."""
        if self.aim > self.i_max:
            return max(self.least, self.i_max)
        if self.aim < -self.i_max:
            return min(self.most, -self.i_max)
        return self.aim

    def after(self, i: float, h: float) -> float:
        """Current i, A, after h seconds."""
        if self.L == 0.0:
            return self.hold()
        x, side = h * self.R / self.L, -1.0 if i < 0.0 else 1.0
        if side * i > self.i_max:  # beyond the limit: all voltage against it
            start, against = side * i, side * (self.least if side > 0.0 else self.most)
            needed = math.log((start - against) / (self.i_max - against)) if against < self.i_max else x
            if needed >= x:
                return side * approach(start, against, x)
            x, i = x - needed, side * self.i_max
        if self.aim > self.i_max:
            return into_limit(i, self.aim, self.least, self.i_max, x)
        if self.aim < -self.i_max:
            return -into_limit(-i, -self.aim, -self.most, self.i_max, x)
        return approach(i, self.aim, x)

    def voltage(self, i: float) -> float:
        """Voltage at the winding for the current i, V."""
        if self.L == 0.0:
            return self.R * i + self.emf
        if abs(i) > self.i_max:
            return self.R * (self.least if i > 0.0 else self.most) + self.emf
        held = (i == self.i_max and self.aim > i) or (i == -self.i_max and self.aim < i)
        return self.R * self.hold() + self.emf if held else self.v


def approach(i: float, aim: float, x: float) -> float:
    """Current x time constants on, A."""
    return i - (aim - i) * math.expm1(-x)


def into_limit(i: float, aim: float, least: float, i_max: float, x: float) -> float:
    """From |i| <= i_max with an aim above the limit, x time constants on; signs as for a positive aim."""
    free = approach(i, aim, x)
    if free <= i_max:
        return free
    if least <= i_max:
        return i_max
    return approach(i_max, least, x - math.log((aim - i) / (aim - i_max)))  # pushed through the limit from outside


class Slave(Fmi2Slave):  # type: ignore[misc]
    """The motor of `model.bough`, beside this file."""

    def __init__(self, **kwargs: Any) -> None:
        """Read start values and register the variables in the order of their value references."""
        super().__init__(**kwargs)
        opened = open_partner((Path(self.resources) / "model.bough").read_bytes())
        self.modelName, self.guid, self.places = opened.resource.model, opened.resource.token, opened.places
        self.value = opened.start_values()
        self.current = [0.0] * len(self.value["tau"])
        self.time, self.start_time, self.stop_time = 0.0, 0.0, math.inf
        self.initialized = False
        self.refused: dict[str, str] = {}  # what keeps the motor from stepping, by variable
        for place in self.places:
            self._register(place)

    # ---- the motor

    def evaluate(self) -> None:
        """Outputs for the present inputs, parameters and currents."""
        v = self.value
        for a, remembered in enumerate(self.current):
            c, N = Circuit(v, a), v["N"][a]
            i = c.hold() if c.L == 0.0 else remembered
            tau = N * v["eta"][a] * v["Kt"][a] * i
            v["i"][a], v["v"][a], v["tau"][a] = i, c.voltage(i), tau
            v["power"][a], v["armature"][a] = tau * v["w"][a], v["J"][a] * N * N

    def do_step(self, current_time: float, step_size: float) -> bool:
        """One communication step; False is fmi2Discard, with a message in the log."""
        end, slack = current_time + step_size, 1e-9 * (1.0 + abs(self.time))
        if not (math.isfinite(end) and step_size > 0.0 and abs(current_time - self.time) <= slack):
            step = f"step of {step_size} s from {current_time} s"
            return self._discard(f"{step}: expected a positive step from {self.time!r} s on")
        if end > self.stop_time + slack:
            return self._discard(f"the step ends at {end!r} s, beyond the stop time {self.stop_time!r} s")
        if self.refused:
            return self._discard(f"no step is taken until this is fixed: {'; '.join(self.refused.values())}")
        self.current = [Circuit(self.value, a).after(i, end - self.time) for a, i in enumerate(self.current)]
        self.time = end
        return True

    def setup_experiment(
        self, start_time: float, stop_time: float | None = None, tolerance: float | None = None
    ) -> None:
        """Take the start time and, if it is given, the stop time."""
        self.time = self.start_time = start_time
        self.stop_time = math.inf if stop_time is None else stop_time

    def exit_initialization_mode(self) -> None:
        """From here on fixed parameters stay."""
        self.initialized = True

    def _discard(self, message: str) -> bool:
        self.log(message, Fmi2Status.discard)
        return False

    # ---- variables

    def _register(self, place: Place) -> None:
        causality, variability, initial = CAUSALITIES[Role(place.record.role)]

        def get() -> float:
            if not place.quantity:
                return self.time
            if place.record.role == Role.OUTPUT:
                self.evaluate()
            return self.value[place.quantity][place.axis]

        attributes = {"causality": causality, "variability": variability, "initial": initial}
        self.register_variable(Real(place.record.name, getter=get, setter=self._setter(place), **attributes))

    def _setter(self, place: Place) -> Callable[[float], None]:
        name, role = place.record.name, place.record.role

        def set_(value: float) -> None:
            if role not in SETTABLE:
                self.log(f"'{name}' is computed and cannot be set", Fmi2Status.error)
            elif self.initialized and role == Role.FIXED:
                self.log(f"'{name}' can be set before initialization ends, not after", Fmi2Status.error)
            elif not place.least <= value <= place.most:
                self.refused[name] = f"the value {value} of '{name}' is out of range"
                self.log(self.refused[name], Fmi2Status.error)
            else:
                self.refused.pop(name, None)
                self.value[place.quantity][place.axis] = float(value)

        return set_

    # ---- state: clock, values and currents as numbers

    def _get_fmu_state(self) -> dict[str, Any]:
        numbers = [self.time, self.start_time, self.stop_time, float(self.initialized), *self.current]
        return {"numbers": numbers + [x for values in self.value.values() for x in values]}

    def _set_fmu_state(self, state: dict[str, Any]) -> None:
        numbers, axes = list(state["numbers"]), len(self.current)
        left = iter(numbers[4 + axes :])
        value = {name: [x for _, x in zip(values, left)] for name, values in self.value.items()}  # noqa: B905
        if len(numbers) != len(self._get_fmu_state()["numbers"]) or not self._fits(numbers, value):
            self.log("this is not a state of this FMU; nothing is changed", Fmi2Status.error)
            return
        self.time, self.start_time, self.stop_time, self.initialized = *numbers[:3], bool(numbers[3])
        self.current, self.value = numbers[4 : 4 + axes], value

    def _fits(self, numbers: list[float], value: dict[str, list[float]]) -> bool:
        """Whether a motor can be there: a clock in order, finite currents, and every value as if it were set."""
        time, start, stop, initialized, *rest = numbers
        given = [p for p in self.places if p.record.role in SETTABLE]
        ranges = all(p.least <= value[p.quantity][p.axis] <= p.most for p in given)
        clock = math.isfinite(time) and -math.inf < start <= min(time, stop) and initialized in (0.0, 1.0)
        return clock and ranges and all(math.isfinite(i) for i in rest[: len(self.current)])

    @staticmethod
    def _fmu_state_to_bytes(state: dict[str, Any]) -> bytes:
        return struct.pack(f"<{len(state['numbers'])}d", *state["numbers"])

    @staticmethod
    def _fmu_state_from_bytes(state: bytes) -> dict[str, Any]:
        return {"numbers": list(struct.unpack_from(f"<{len(state) // 8}d", bytes(state)))}
