"""One running FMU: FMI 2 or 3, by FMPy's low-level classes. Whatever fails is told with component and time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bough.errors import SimulationError
from bough.files import unpack
from bough.systems.interface import fmpy
from bough.systems.structure import Component, Value, Variable

MESSAGES = 5
"""Last messages of an FMU that are told when it fails."""
ERROR, FATAL = 3, 4
"""Values of fmi2Status and fmi3Status from which on an instance may only be freed, or not be touched at all."""
PROBLEMS = ("logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal")
"""Standard log categories of what goes wrong."""
_STATUS = {1: "warning", 2: "discard", ERROR: "error", FATAL: "fatal", 5: "pending"}


class Failure(SimulationError):
    """An FMU failed: which, when, in which call, and what it said."""


class Slave:
    """An instance of an FMU.

    Attributes:
        component: What it is an instance of.
        time: Time of its last communication point, s.
    """

    def __init__(self, component: Component, folder: Path) -> None:
        """Unpack, load and instantiate.

        Args:
            component: The FMU.
            folder: Where to unpack it; each instance needs a folder of its own.

        Raises:
            Failure: It cannot be loaded on this machine, or refuses.
        """
        self.component = component
        self.time = 0.0
        self._messages: deque[str] = deque(maxlen=MESSAGES)
        self._worst = 0
        self._fmu: Any = None
        self._initialized = False
        self._instantiate(folder)

    @property
    def name(self) -> str:
        """Name of the component."""
        return self.component.name

    def _instantiate(self, folder: Path) -> None:
        package, interface = fmpy(), self.component.interface
        try:
            unpack(self.component.fmu, folder)
            keys = {"guid": interface.token, "modelIdentifier": interface.identifier, "unzipDirectory": str(folder)}
            if interface.fmi == 2:
                from fmpy.fmi2 import FMU2Slave

                self._fmu = FMU2Slave(instanceName=self.name, **keys)
                self._fmu.instantiate(callbacks=self._callbacks2(), loggingOn=True)
            else:
                from fmpy.fmi3 import FMU3Slave

                self._fmu = FMU3Slave(instanceName=self.name, **keys)
                self._fmu.instantiate(logMessage=self._log, loggingOn=True)
            self._narrow_log()
        except Exception as error:  # FMPy raises whatever it meets
            self._fmu = None
            hint = ""
            if "Cannot find shared library" in str(error):
                hint = f"; it has no binary for this machine ({package.platform}), or is of another runtime"
            raise self._failure(f"cannot be loaded: {error}{hint}") from None

    def _callbacks2(self) -> Any:
        """Call backs of this instance alone: FMPy's formatting one is shared by all, and the last one made gets all."""
        from fmpy import calloc, fmi2, free

        callbacks = fmi2.fmi2CallbackFunctions()
        callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._log)
        callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
        return callbacks

    def _narrow_log(self) -> None:
        """Ask for what went wrong only, where the FMU has the standard's categories for it."""
        wanted = [name for name in self.component.interface.log_categories if name in PROBLEMS]
        if wanted:
            self._fmu.setDebugLogging(True, wanted)

    def _log(self, *arguments: Any) -> None:
        """The call back of both versions: the message comes last, the status before the category."""
        text, status = arguments[-1], arguments[-3]
        if status >= 1:
            said = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
            # FMI 2 takes a format of printf; one without arguments has its percent signs doubled.
            self._messages.append(said.replace("%%", "%") if self.component.interface.fmi == 2 else said)

    # ---- life

    def enter_initialization(self, start: float, stop: float, tolerance: float | None) -> None:
        """Set the values of the component, then begin to initialize."""
        self.time = start
        values = self.component.values
        variables = [self.component.interface.variables[name] for name in values]
        Channel(self, variables).set(list(values.values()))
        if self.component.interface.fmi == 2:
            self.call("fmi2SetupExperiment", self._fmu.setupExperiment, tolerance, start, stop)
            self.call("fmi2EnterInitializationMode", self._fmu.enterInitializationMode)
        else:
            self.call(
                "fmi3EnterInitializationMode",
                self._fmu.enterInitializationMode,
                tolerance,
                startTime=start,
                stopTime=stop,
            )

    def exit_initialization(self) -> None:
        """End the initialization: the FMU is ready to step."""
        self.call("ExitInitializationMode", self._fmu.exitInitializationMode)
        self._initialized = True

    def step(self, time: float, size: float, keep: bool) -> None:
        """Take one communication step.

        Args:
            time: Current communication point, s.
            size: Length of the step, s.
            keep: Whether a state from before this point may be restored.
        """
        if self.component.interface.fmi == 2:
            self.call("fmi2DoStep", self._fmu.doStep, time, size, 0 if keep else 1)
        else:
            _, ended, early, last = self.call("fmi3DoStep", self._fmu.doStep, time, size, not keep)
            if ended:
                raise self._failure(f"asked at t = {last:.9g} s for the simulation to end")
            if early:
                raise self._failure(f"returned early from the step of {size:.9g} s, at t = {last:.9g} s")
        self.time = time + size

    def free(self) -> None:
        """Terminate and free; a broken FMU is left as the standard asks."""
        fmu, self._fmu = self._fmu, None
        if fmu is None or self._worst >= FATAL:
            return
        try:
            if self._initialized and self._worst < ERROR:
                fmu.terminate()
            fmu.freeInstance()
        except Exception:  # the run is over: nothing can be made of it
            return

    # ---- states and derivatives

    def save(self) -> Any:
        """The state of the FMU."""
        return self.call("GetFMUState", self._fmu.getFMUState)

    def restore(self, state: Any) -> None:
        """Back to a state."""
        self.call("SetFMUState", self._fmu.setFMUState, state)

    def forget(self, state: Any) -> None:
        """Free a state."""
        self.call("FreeFMUState", self._fmu.freeFMUState, state)

    def set_derivatives(self, references: Sequence[int], values: Sequence[float]) -> None:
        """First derivatives of inputs over the next step (FMI 2)."""
        orders = [1] * len(references)
        self.call("fmi2SetRealInputDerivatives", self._fmu.setRealInputDerivatives, references, orders, values)

    # ---- values

    def read(self, kind: str, references: Sequence[int], *count: int) -> Sequence[Value]:
        """Values of one type."""
        found: Sequence[Value] = self.call(f"Get{kind}", getattr(self._fmu, f"get{kind}"), references, *count)
        return found

    def write(self, kind: str, references: Sequence[int], values: Sequence[Value]) -> None:
        """Set values of one type."""
        self.call(f"Set{kind}", getattr(self._fmu, f"set{kind}"), references, values)

    # ---- calls

    def call(self, name: str, function: Any, *arguments: Any, **keywords: Any) -> Any:
        """Call the FMU.

        Raises:
            Failure: It did not return OK or a warning.
        """
        try:
            return function(*arguments, **keywords)
        except Exception as error:  # FMICallException, or what ctypes raises
            status = getattr(error, "status", None)
            if status is None:
                raise self._failure(f"{name}: {error}") from None
            self._worst = max(self._worst, status)
            raise self._failure(f"{name} returned {_STATUS.get(status, status)}") from None

    def _failure(self, what: str) -> Failure:
        said = "".join(f"\n  {text}" for text in self._messages)
        return Failure(f"component {self.name} failed at t = {self.time:.9g} s: {what}{said}")


class Channel:
    """Some variables of one FMU, read or written together."""

    def __init__(self, slave: Slave, variables: Sequence[Variable]) -> None:
        """Group the variables by type: each type has functions of its own."""
        self._slave = slave
        self.size = sum(v.size for v in variables)
        new = slave.component.interface.fmi == 3
        groups: dict[str, tuple[list[int], list[int]]] = {}
        place = 0
        for v in variables:
            name = ("Int64" if new else "Integer") if v.fmi_type == "Enumeration" else v.fmi_type
            references, places = groups.setdefault(name, ([], []))
            references.append(v.reference)
            places.extend(range(place, place + v.size))
            place += v.size
        self._groups = [
            # FMI 3 wants to know how many values come: an array has several for one reference.
            (name, references, places, (len(places),) if new else ())
            for name, (references, places) in groups.items()
        ]

    def get(self) -> list[float]:
        """Values in the order of the variables, elements of arrays one after the other."""
        out = [0.0] * self.size
        for name, references, places, count in self._groups:
            values = self._slave.read(name, references, *count)
            for place, value in zip(places, values, strict=True):
                out[place] = float(value)
        return out

    def set(self, values: Sequence[Value]) -> None:
        """Set them, each in its own type."""
        for name, references, places, _ in self._groups:
            convert = float if name in ("Real", "Float64", "Float32") else bool if name == "Boolean" else round
            self._slave.write(name, references, [convert(values[place]) for place in places])
