"""The C functions of an FMU, called as a master calls them: both FMI versions through one small class."""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fmu.signatures import SIGNATURES
from numpy.typing import NDArray

OK, WARNING, DISCARD, ERROR, FATAL = range(5)
Array = NDArray[np.float64]

_TYPES = {"p": c.c_void_p, "d": c.c_double, "i": c.c_int, "b": c.c_bool, "z": c.c_size_t, "u": c.c_uint32}

LOG2 = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p, c.c_int, c.c_char_p, c.c_char_p)
LOG3 = c.CFUNCTYPE(None, c.c_void_p, c.c_int, c.c_char_p, c.c_char_p)
UPDATE3 = c.CFUNCTYPE(
    None, c.c_void_p, c.c_double, c.c_bool, c.c_bool, c.c_bool, c.c_bool, c.POINTER(c.c_bool), c.POINTER(c.c_double)
)


class Callbacks2(c.Structure):
    """fmi2CallbackFunctions."""

    _fields_ = (
        ("logger", LOG2),
        ("allocate", c.c_void_p),
        ("free", c.c_void_p),
        ("step_finished", c.c_void_p),
        ("environment", c.c_void_p),
    )


class EventInfo2(c.Structure):
    """fmi2EventInfo."""

    _fields_ = tuple((name, c.c_int) for name in ("again", "terminate", "nominals", "values", "defined")) + (
        ("time", c.c_double),
    )


@dataclass(frozen=True)
class Message:
    """What an instance told its host."""

    status: int
    category: str
    text: str


@dataclass(frozen=True)
class Fmu:
    """An unpacked FMU: its folder, library, token, and the value references by name."""

    fmi: str
    folder: Path
    library: Path
    token: str
    references: Mapping[str, int]

    @property
    def resources(self) -> Path:
        return self.folder / "resources"

    def load(self) -> c.CDLL:
        """The library, its functions told their arguments."""
        library = c.CDLL(str(self.library))
        for name, kinds in SIGNATURES[self.fmi].items():
            function = getattr(library, f"fmi{self.fmi[0]}{name}")
            function.restype, function.argtypes = c.c_int, [c.c_void_p, *(_TYPES[k] for k in kinds)]
        return library


class Failed(AssertionError):
    """A call that should have gone well did not."""


def pointer(values: NDArray[Any]) -> int:
    """Address of an array's numbers."""
    return values.ctypes.data


class Instance:
    """One instance. Methods in lower case expect to succeed; `call` hands back the status."""

    def __init__(
        self,
        fmu: Fmu,
        kind: str = "cs",
        *,
        token: str | None = None,
        location: str | None = "",
        logging: bool = True,
        early_return: bool = False,
        update: Callable[..., Any] | None = None,
        name: str = "it",
        event_mode: bool = False,
    ) -> None:
        self.fmu, self.new, self.kind, self.library = fmu, fmu.fmi == "3.0", kind, fmu.load()
        self.messages: list[Message] = []
        self.names_seen: list[str] = []
        self.time = 0.0
        where = str(fmu.resources) if location == "" else location
        token_ = (fmu.token if token is None else token).encode()
        encoded = None if where is None else where.encode()
        if self.new:
            self._log = LOG3(lambda _, status, category, text: self._heard(status, category, text))
            self._update = UPDATE3(update) if update else UPDATE3()
            start = [
                c.c_char_p(name.encode()),
                c.c_char_p(token_),
                c.c_char_p(encoded),
                c.c_bool(False),
                c.c_bool(logging),
            ]
            function = "fmi3InstantiateModelExchange" if kind == "me" else "fmi3InstantiateCoSimulation"
            middle: list[Any] = []
            if kind == "cs":
                middle = [c.c_bool(event_mode), c.c_bool(early_return), c.c_void_p(None), c.c_size_t(0)]
            end = [c.c_void_p(None), self._log] + ([self._update] if kind == "cs" else [])
            arguments = [*start, *middle, *end]
        else:
            self._log = LOG2(lambda _, who, status, category, text: self._heard(status, category, text, who))
            self._callbacks = Callbacks2(self._log, None, None, None, None)
            function = "fmi2Instantiate"
            arguments = [
                c.c_char_p(name.encode()),
                c.c_int(1 if kind == "cs" else 0),
                c.c_char_p(token_),
                c.c_char_p(encoded),
                c.byref(self._callbacks),
                c.c_int(0),
                c.c_int(logging),
            ]
        create = getattr(self.library, function)
        create.restype = c.c_void_p
        self.handle: int | None = create(*arguments)

    def _heard(self, status: int, category: bytes, text: bytes, who: bytes = b"") -> None:
        self.messages.append(Message(status, category.decode(), text.decode()))
        self.names_seen.append(who.decode())

    def __enter__(self) -> Instance:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def free(self) -> None:
        """Free the instance; once is enough."""
        if self.handle is not None:
            function = getattr(self.library, f"fmi{self.fmu.fmi[0]}FreeInstance")
            function.restype, function.argtypes = None, [c.c_void_p]
            function(self.handle)
            self.handle = None

    def call(self, name: str, *arguments: Any) -> int:
        """Call a function by its name without the prefix, and return its status."""
        return int(getattr(self.library, f"fmi{self.fmu.fmi[0]}{name}")(self.handle, *arguments))

    def must(self, name: str, *arguments: Any) -> None:
        """Call a function that must succeed."""
        status = self.call(name, *arguments)
        if status != OK:
            raise Failed(f"{name} returned {status}: {[m.text for m in self.messages[-3:]]}")

    @property
    def last(self) -> str:
        """Text of the last message."""
        return self.messages[-1].text if self.messages else ""

    # ---- variables

    def vr(self, names: Iterable[str | int]) -> NDArray[np.uint32]:
        """Value references of names; numbers are taken as they are."""
        return np.array([n if isinstance(n, int) else self.fmu.references[n] for n in names], dtype=np.uint32)

    def values(self, way: str, kind: str, names: Sequence[str | int], numbers: NDArray[Any]) -> int:
        """Get or set values; the status."""
        refs = self.vr(names)
        if self.new:
            kind = {"Real": "Float64", "Integer": "Int32"}.get(kind, kind)
            return self.call(way + kind, pointer(refs), refs.size, pointer(numbers), numbers.size)
        return self.call(way + kind, pointer(refs), refs.size, pointer(numbers))

    def get(self, names: Sequence[str | int]) -> Array:
        """Values of reals."""
        out = np.full(len(names), np.nan)
        status = self.values("Get", "Real", names, out)
        if status != OK:
            raise Failed(f"get returned {status}: {self.last}")
        return out

    def try_set(self, values: Mapping[str, float]) -> int:
        """Set reals; the status."""
        return self.values("Set", "Real", list(values), np.array(list(values.values()), dtype=np.float64))

    def set(self, values: Mapping[str, float]) -> None:
        """Set reals."""
        if (status := self.try_set(values)) != OK:
            raise Failed(f"set returned {status}: {self.last}")

    def _flag(self) -> Any:
        return np.zeros(1, dtype=np.bool_ if self.new else np.intc)

    def set_flag(self, name: str, value: bool) -> None:
        """Set a boolean."""
        flag = self._flag()
        flag[0] = value
        if self.values("Set", "Boolean", [name], flag) != OK:
            raise Failed(self.last)

    def get_flag(self, name: str) -> bool:
        """Get a boolean."""
        flag = self._flag()
        if self.values("Get", "Boolean", [name], flag) != OK:
            raise Failed(self.last)
        return bool(flag[0])

    def set_integer(self, name: str, value: int) -> None:
        """Set an integer."""
        if self.values("Set", "Integer", [name], np.array([value], dtype=np.intc)) != OK:
            raise Failed(self.last)

    # ---- life

    def enter(self, start: float = 0.0, stop: float | None = None, tolerance: float | None = None) -> int:
        """Into initialization mode; the status."""
        self.time = start
        has_stop, has_tolerance = stop is not None, tolerance is not None
        if self.new:
            return self.call("EnterInitializationMode", has_tolerance, tolerance or 0.0, start, has_stop, stop or 0.0)
        status = self.call("SetupExperiment", has_tolerance, tolerance or 0.0, start, has_stop, stop or 0.0)
        return status or self.call("EnterInitializationMode")

    def initialize(self, values: Mapping[str, float] | None = None, **options: Any) -> Instance:
        """Through initialization, with start values and parameters."""
        if values:
            self.set(values)
        if self.enter(**options) != OK:
            raise Failed(self.last)
        self.must("ExitInitializationMode")
        return self

    def step(self, h: float, time: float | None = None) -> int:
        """One communication step; the status. The instance's own clock follows."""
        at = self.time if time is None else time
        if self.new:
            flags, reached = (c.c_bool * 3)(), c.c_double(at)
            places = [c.addressof(flags) + i for i in range(3)]
            status = self.call("DoStep", at, h, True, *places, c.addressof(reached))
            self.early = bool(flags[2])
            if status == OK:
                self.time = reached.value if self.early else at + h
        else:
            status = self.call("DoStep", at, h, 1)
            if status == OK:
                self.time = at + h
        return status

    def run(self, stop: float, h: float, names: Sequence[str]) -> Array:
        """Step to `stop`, and return the values at every communication point, the first included."""
        rows = [self.get(names)]
        first, count = self.time, round((stop - self.time) / h)
        for i in range(count):
            if self.step(first + h * (i + 1) - self.time) != OK:
                raise Failed(self.last)
            rows.append(self.get(names))
        return np.array(rows)

    # ---- state

    def save(self, box: c.c_void_p | None = None) -> c.c_void_p:
        """A snapshot, in a box."""
        box = c.c_void_p(None) if box is None else box
        self.must("GetFMUState" if self.new else "GetFMUstate", c.addressof(box))
        return box

    def restore(self, box: c.c_void_p) -> None:
        """Back to a snapshot."""
        self.must("SetFMUState" if self.new else "SetFMUstate", box)

    def drop(self, box: c.c_void_p) -> None:
        """Free a box."""
        self.must("FreeFMUState" if self.new else "FreeFMUstate", c.addressof(box))

    def serialize(self, box: c.c_void_p) -> bytes:
        """The bytes of a snapshot."""
        word = "State" if self.new else "state"
        size = c.c_size_t(0)
        self.must(f"SerializedFMU{word}Size", box, c.addressof(size))
        out = (c.c_char * size.value)()
        self.must(f"SerializeFMU{word}", box, c.addressof(out), size.value)
        return bytes(out)

    def deserialize(self, data: bytes) -> c.c_void_p:
        """A box from bytes."""
        box, copy = c.c_void_p(None), c.create_string_buffer(data, len(data))
        name = "DeserializeFMUState" if self.new else "DeSerializeFMUstate"
        self.must(name, c.addressof(copy), len(data), c.addressof(box))
        return box

    def resume(self, data: bytes, size: int | None = None) -> int:
        """Go on from bytes, or from what is said to be `size` bytes; OK, or the status of the call that refused."""
        box, copy = c.c_void_p(None), c.create_string_buffer(data, len(data))
        name, word = ("DeserializeFMUState", "State") if self.new else ("DeSerializeFMUstate", "state")
        status = self.call(name, c.addressof(copy), len(data) if size is None else size, c.addressof(box))
        if status != OK:
            return status
        status = self.call(f"SetFMU{word}", box)
        self.drop(box)
        return status

    def state_bytes(self) -> bytes:
        """The present state as bytes."""
        box = self.save()
        data = self.serialize(box)
        self.drop(box)
        return data

    # ---- derivatives

    def directional(self, unknowns: Sequence[str], knowns: Sequence[str], seed: Sequence[float]) -> Array:
        """Directional derivative."""
        z, v, s, out = (
            self.vr(unknowns),
            self.vr(knowns),
            np.array(seed, dtype=np.float64),
            np.full(len(unknowns), np.nan),
        )
        if self.new:
            sizes: list[Any] = [pointer(s), s.size, pointer(out), out.size]
        else:
            sizes = [pointer(s), pointer(out)]
        self.must("GetDirectionalDerivative", pointer(z), z.size, pointer(v), v.size, *sizes)
        return out

    def adjoint(self, unknowns: Sequence[str], knowns: Sequence[str], seed: Sequence[float]) -> Array:
        """Adjoint derivative, FMI 3."""
        z, v, s, out = (
            self.vr(unknowns),
            self.vr(knowns),
            np.array(seed, dtype=np.float64),
            np.full(len(knowns), np.nan),
        )
        arrays = [pointer(z), z.size, pointer(v), v.size, pointer(s), s.size, pointer(out), out.size]
        self.must("GetAdjointDerivative", *arrays)
        return out

    def output_derivatives(self, names: Sequence[str]) -> Array:
        """First time derivative of outputs."""
        refs, orders, out = self.vr(names), np.ones(len(names), dtype=np.intc), np.full(len(names), np.nan)
        name = "GetOutputDerivatives" if self.new else "GetRealOutputDerivatives"
        self.must(name, pointer(refs), refs.size, pointer(orders), pointer(out), *([out.size] if self.new else []))
        return out

    def input_derivative(self, name: str, order: int, value: float) -> int:
        """Derivative of an input, FMI 2; the status."""
        refs, orders, values = self.vr([name]), np.array([order], dtype=np.intc), np.array([value])
        return self.call("SetRealInputDerivatives", pointer(refs), 1, pointer(orders), pointer(values))

    # ---- Model Exchange

    def states(self) -> Array:
        """Continuous states."""
        out = np.zeros(sum(name.startswith("der(") for name in self.fmu.references))
        self.must("GetContinuousStates", pointer(out), out.size)
        return out

    def set_states(self, x: Array) -> None:
        """Set the continuous states."""
        self.must("SetContinuousStates", pointer(np.ascontiguousarray(x)), x.size)

    def rates(self) -> Array:
        """Derivatives of the continuous states."""
        out = np.zeros(sum(name.startswith("der(") for name in self.fmu.references))
        self.must("GetContinuousStateDerivatives" if self.new else "GetDerivatives", pointer(out), out.size)
        return out

    def update_discrete(self) -> bool:
        """Event iteration; whether continuous states have changed."""
        if not self.new:
            info = EventInfo2()
            self.must("NewDiscreteStates", c.addressof(info))
            return bool(info.values)
        flags, time = (c.c_bool * 5)(), c.c_double(0.0)
        self.must("UpdateDiscreteStates", *(c.addressof(flags) + i for i in range(5)), c.addressof(time))
        return bool(flags[3])

    def to_continuous(self) -> None:
        """From event mode on."""
        self.update_discrete()
        self.must("EnterContinuousTimeMode")
