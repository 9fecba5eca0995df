"""One running FMU, in this process or in one of its own. A failure is reported with component, time and call."""

from __future__ import annotations

import zipfile
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bough.coupling.assembly import Component, Value, Variable
from bough.coupling.fmu_interface import fmpy
from bough.coupling.loaded import Loaded, Refused
from bough.coupling.own import is_own
from bough.coupling.supervised import GRACE, Gone, Supervised
from bough.errors import SimulationError
from bough.files import unpack

CALL_TIMEOUT = 60.0
"""Longest time of a call of an FMU in a process of its own, s."""
MESSAGES = 5
"""Last messages of an FMU that a failure shows."""
ERROR, FATAL = 3, 4
"""Values of fmi2Status and fmi3Status from which on an instance may only be freed, or not be touched at all."""
_STATUS = {1: "warning", 2: "discard", ERROR: "error", FATAL: "fatal", 5: "pending"}


class Failure(SimulationError):
    """An FMU failed: which, when, in which call, and what it said."""


class Slave:
    """An instance of an FMU.

    Attributes:
        component: What it is an instance of.
        time: Time of its last communication point, s.
    """

    def __init__(
        self,
        component: Component,
        folder: Path,
        isolate: bool | None = None,
        call_timeout: float = CALL_TIMEOUT,
        title: str | None = None,
    ) -> None:
        """Unpack, load and instantiate.

        Args:
            component: The FMU.
            folder: Where to unpack it; each instance needs a folder of its own.
            isolate: Whether it gets a process of its own; None: unless its code is bough's.
            call_timeout: Longest time of a call there, s; 0: none.
            title: What messages call it; `component NAME` if not given.

        Raises:
            Failure: It cannot be loaded on this machine, or refuses.
        """
        self.component = component
        self.time = 0.0
        self._title = title or f"component {component.name}"
        self._messages: deque[str] = deque(maxlen=MESSAGES)
        self._worst = 0
        self._initialized = False
        self._loaded: Loaded | Supervised | None = None
        try:
            unpack(component.fmu, folder)
        except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise self.failure(f"cannot be unpacked: {error}") from None
        if isolate is None:
            isolate = not is_own(folder, component.interface)
        self._load(folder, isolate, call_timeout)

    @property
    def name(self) -> str:
        """Name of the component."""
        return self.component.name

    def _load(self, folder: Path, isolate: bool, limit: float) -> None:
        about = self.component.interface
        say = self._messages.append
        try:
            if isolate:
                work = folder.with_name(f"{folder.name}-work")
                work.mkdir()
                self._loaded = Supervised(self.name, about.fmi, work, limit, say)
            else:
                self._loaded = Loaded(say)
            self._loaded.load(
                about.fmi,
                self.name,
                about.identifier,
                about.token,
                str(folder.absolute()),
                about.log_categories,
                dict(about.helped),
            )
        except Gone as gone:
            raise self._refused(gone) from None
        except Refused as refusal:
            hint = ""
            if "Cannot find shared library" in str(refusal):
                hint = f"; it has no binary for this machine ({fmpy().platform}), or is of another runtime"
            self._worst = FATAL
            self.free()
            raise self.failure(f"cannot be loaded: {refusal}{hint}") from None
        except BaseException:
            self.free()
            raise

    # ---- life

    def warned(self) -> list[str]:
        """What the FMU has warned of so far, each once."""
        return [f"{self._title}: {text}" for text in dict.fromkeys(self._messages)]

    def enter_initialization(self, start: float, stop: float, tolerance: float | None) -> None:
        """Set the values of the component, and begin to initialize: FMUs take inputs when that has begun.

        Some FMUs forget at set-up what was set before, others when initialization begins: those are told again.
        """
        self.time = start
        about, values = self.component.interface.variables, self.component.values
        inputs = [name for name in values if about[name].causality == "input"]
        others = [name for name in values if about[name].causality != "input"]
        if self.component.interface.fmi == 2:
            self.call("setupExperiment", tolerance, start, stop)
            self._set_values(others)
            self.call("enterInitializationMode")
        else:
            self._set_values(others)
            self.call("enterInitializationMode", tolerance, start, stop)
        self._set_values([*self._forgotten(others), *inputs])

    def _set_values(self, names: Sequence[str]) -> None:
        about, values = self.component.interface.variables, self.component.values
        Channel(self, [about[name] for name in names]).set([values[name] for name in names])

    def _forgotten(self, names: Sequence[str]) -> list[str]:
        """Values that the FMU no longer has, of those that may be set while it initializes."""
        about, values = self.component.interface.variables, self.component.values
        exact = [about[name] for name in names if about[name].initial == "exact" and about[name].size == 1]
        found = [Channel(self, [v]).take()[0] for v in exact]
        return [v.name for v, now in zip(exact, found, strict=True) if now != values[v.name]]

    def exit_initialization(self) -> None:
        """End the initialization: the FMU is ready to step."""
        self.call("exitInitializationMode")
        self._initialized = True

    def step(self, time: float, size: float, keep: bool) -> None:
        """Take one communication step.

        Args:
            time: Current communication point, s.
            size: Length of the step, s.
            keep: Whether a state from before this point may be restored.
        """
        if self.component.interface.fmi == 2:
            self.call("doStep", time, size, 0 if keep else 1)
        else:
            _, ended, early, last = self.call("doStep", time, size, not keep)
            if ended:
                raise self.failure(f"asked at t = {last:.9g} s for the simulation to end")
            if early:
                raise self.failure(f"returned early from the step of {size:.9g} s, at t = {last:.9g} s")
        self.time = time + size

    def end(self) -> None:
        """Terminate and free after a run that went well.

        Raises:
            Failure: It failed now.
        """
        self.call("terminate")
        self._initialized = False
        loaded, self._loaded = self._loaded, None
        assert loaded is not None
        try:
            loaded.close(free=True)
        except Refused as refusal:
            self._loaded = loaded
            raise self._refused(refusal) from None

    def free(self) -> None:
        """Terminate and free after a run that failed; a broken FMU is left as the standard asks."""
        loaded, self._loaded = self._loaded, None
        if loaded is None:
            return
        if isinstance(loaded, Supervised):
            loaded.limit = min(loaded.limit or GRACE, GRACE)
        try:
            if self._initialized and self._worst < ERROR:
                loaded.call("terminate")
        except Refused:  # the run is over, and what failed first is known
            pass
        try:
            loaded.close(free=self._worst < FATAL)
        except Refused:
            pass

    # ---- states and derivatives

    def save(self) -> int:
        """The state of the FMU: where it keeps it."""
        address: int = self.call("getFMUState")
        return address

    def restore(self, state: int) -> None:
        """Back to a state."""
        self.call("setFMUState", state)

    def forget(self, state: int) -> None:
        """Free a state."""
        self.call("freeFMUState", state)

    def set_derivatives(self, references: Sequence[int], values: Sequence[float]) -> None:
        """First derivatives of inputs over the next step (FMI 2)."""
        self.call("setRealInputDerivatives", list(references), [1] * len(references), list(values))

    # ---- values

    def read(self, kind: str, references: Sequence[int], *count: int) -> Sequence[Value]:
        """Values of one type."""
        found: Sequence[Value] = self.call(f"get{kind}", references, *count)
        return found

    def write(self, kind: str, references: Sequence[int], values: Sequence[Value]) -> None:
        """Set values of one type."""
        self.call(f"set{kind}", references, values)

    # ---- calls

    def call(self, function: str, *arguments: Any) -> Any:
        """Call the FMU, by FMPy's name of the function.

        Raises:
            Failure: It did not return OK or a warning.
        """
        assert self._loaded is not None
        self._loaded.time = self.time
        try:
            return self._loaded.call(function, *arguments)
        except Refused as refusal:
            raise self._refused(refusal) from None

    def _refused(self, refusal: Refused) -> Failure:
        """The failure of a call: this one, or one before it that had been put off."""
        function, status = refusal.function, refusal.status
        name = f"fmi{self.component.interface.fmi}{function[0].upper()}{function[1:]}"
        if refusal.time is not None:
            self.time = refusal.time
        if isinstance(refusal, Gone):
            self._worst = FATAL
            if isinstance(self._loaded, Supervised):
                self._messages.extend(self._loaded.printed)
            return self.failure(f"{name} {refusal}")
        if status is None:
            return self.failure(f"{name}: {refusal}")
        self._worst = max(self._worst, status)
        return self.failure(f"{name} returned {_STATUS.get(status, status)}")

    def failure(self, what: str) -> Failure:
        """An error with the name of the FMU, its time and its last messages."""
        said = "".join(f"\n  {text}" for text in self._messages)
        return Failure(f"{self._title} failed at t = {self.time:.9g} s: {what}{said}")


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
        """Numbers in the order of the variables, elements of arrays one after the other."""
        return [float(x) for x in self.take()]

    def take(self) -> list[Any]:
        """Values as they are, numbers, texts or bytes: whole ones stay exact."""
        out: list[Any] = [None] * self.size
        for name, references, places, count in self._groups:
            values = self._slave.read(name, references, *count)
            for place, value in zip(places, values, strict=True):
                out[place] = (
                    (value or b"").decode("utf-8", "replace")
                    if name == "String" and isinstance(value, bytes)
                    else value
                )
        return out

    def set(self, values: Sequence[Value]) -> None:
        """Set them, each in its own type."""
        for name, references, places, _ in self._groups:
            convert = _CONVERT.get(name, _whole)
            self._slave.write(name, references, [convert(values[place]) for place in places])


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else round(value)


_CONVERT: dict[str, Any] = {
    "Real": float,
    "Float64": float,
    "Float32": float,
    "Boolean": bool,
    "String": str,
    "Binary": bytes,
}
