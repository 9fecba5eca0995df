"""A run with variables, in C: a thin, typed layer over `engine/kernel/include/instance.h` by ctypes.

What happens between two calls (inputs, steps, states that are saved, which call is allowed) is that of every FMU.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import SimulationError, choices
from bough.mechanism.fields import Kind
from bough.mechanism.kernel import KernelData
from bough.mechanism.kernel_calls import _D, _P, INPUT_FN, _lib, _ptr
from bough.mechanism.resource import Record, read_resource
from bough.mechanism.threads import OneThread, one_thread

Array: TypeAlias = NDArray[np.float64]
InputFunction: TypeAlias = Callable[[float, Array, Array, Array, Array, Array], None]
"""Changes tau (nu,), motion (nu,) and loads (n, 6), which hold what has been set, for a time in s and the state
q (nq,), u (nu,) of a stage."""

OK, WARNING, DISCARD, ERROR = 0, 1, 2, 3
INSTANTIATED, INITIALIZATION, STEP, FAILED = 1, 2, 16, 64
_CALL_SETUP, _CALL_ENTER, _CALL_EXIT, _CALL_SET, _CALL_STATE, _CALL_STEP = 1, 2, 3, 7, 8, 19
_LOG_FN = c.CFUNCTYPE(None, _P, c.c_int, c.c_char_p, c.c_char_p)
_LOG_DEFAULT = 1 | 2 | 16 | 32
_VR = c.POINTER(c.c_uint32)


class _Setting(c.Structure):
    _fields_ = (
        ("resource", c.c_char_p),
        ("size", c.c_size_t),
        ("token", c.c_char_p),
        ("cosimulation", c.c_int),
        ("log_mask", c.c_int),
        ("log", _LOG_FN),
        ("host", _P),
    )


_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "create": (_P, [c.POINTER(_Setting)]),
    "free": (None, [_P]),
    "allowed": (c.c_int, [_P, c.c_int, c.c_char_p]),
    "state": (c.c_int, [_P]),
    "time": (c.c_double, [_P]),
    "setup": (c.c_int, [_P, c.c_double, c.c_int, c.c_double, c.c_int, c.c_double]),
    "enter_initialization": (c.c_int, [_P]),
    "exit_initialization": (c.c_int, [_P]),
    "hand_over": (c.c_int, [_P, _P, _D, _D]),
    "reset": (c.c_int, [_P]),
    "read": (c.c_int, [_P, _VR, c.c_size_t, _D]),
    "write": (c.c_int, [_P, _VR, c.c_size_t, _D]),
    "set_input": (c.c_int, [_P, INPUT_FN, _P]),
    "step": (c.c_int, [_P, c.c_double, c.c_double, _P, _P, _D]),
    "state_get": (c.c_int, [_P, c.POINTER(_P)]),
    "state_set": (c.c_int, [_P, _P]),
    "state_free": (c.c_int, [c.POINTER(_P)]),
    "state_size": (c.c_int, [_P, _P, c.POINTER(c.c_size_t)]),
    "state_write": (c.c_int, [_P, _P, c.c_char_p, c.c_size_t]),
    "state_read": (c.c_int, [_P, c.c_char_p, c.c_size_t, c.POINTER(_P)]),
}
for _name, (_result, _arguments) in _SIGNATURES.items():
    _function = getattr(_lib, f"bough_instance_{_name}")
    _function.restype, _function.argtypes = _result, _arguments
_read, _write = _lib.bough_instance_read, _lib.bough_instance_write
_step, _allowed = _lib.bough_instance_step, _lib.bough_instance_allowed


class ValueRefused(SimulationError):
    """A value that a variable cannot have: not finite, or out of range."""


class Place:
    """Where a variable, or several, are: value references as C takes them, and a buffer for the values."""

    __slots__ = ("buffer", "count", "references")

    def __init__(self, references: Sequence[int]) -> None:
        """Keep the references of scalars."""
        self.count = len(references)
        self.references = (c.c_uint32 * self.count)(*references)
        self.buffer = (c.c_double * self.count)()


class Instance:
    """A mechanism or a partner at work: variables by name, steps, states that are saved.

    Belongs to one thread at a time: a call while another thread is at work in it raises SimulationError.

    Attributes:
        variables: What the resource says of each variable, in the order of the value references.
        name: The model's name.
        token: Of the resource.
        partner: Whether it is a motor or a controller, and not a mechanism.
        warned: What it has warned of and nobody has told yet: whoever tells it clears the list.
    """

    def __init__(self, resource: bytes, what: str = "Instance") -> None:
        """Open a resource, the bytes of a `model.bough`.

        Args:
            resource: See `bough.mechanism.resource`.
            what: What users know this object as, for messages.

        Raises:
            SimulationError: It is damaged, or there is no memory.
        """
        self._handle: int | None = None
        self._one_thread = OneThread(what)
        self._said: list[str] = []
        said = self._said

        self.warned: list[str] = []
        warned = self.warned

        def log(_: Any, status: int, _category: bytes, text: bytes) -> None:
            (warned if status == WARNING else said).append(text.decode("utf-8", "replace"))

        self._log, self._input = _LOG_FN(log), INPUT_FN(0)
        self._failure: BaseException | None = None
        self._reached = c.c_double()
        setting = _Setting(resource, len(resource), None, 1, _LOG_DEFAULT, self._log, None)
        self._handle = _lib.bough_instance_create(c.byref(setting))
        if not self._handle:
            raise SimulationError(self._message())
        content = read_resource(resource)
        if any(v.count != 1 for v in content.variables):
            raise SimulationError("this resource has arrays; Python takes one with scalar variables")
        self._sizes = tuple(sum(v.kind == kind for v in content.variables) for kind in (Kind.Q, Kind.U))
        self._loads = max((v.index // 6 + 1 for v in content.variables if v.kind == Kind.LOAD), default=0)
        self.variables: tuple[Record, ...] = content.variables
        self.name, self.token, self.partner = content.model, content.token, content.partner[0] != 0
        self._place = {v.name: Place([i]) for i, v in enumerate(self.variables)}

    def __del__(self) -> None:
        """Free the kernel's memory."""
        if getattr(self, "_handle", None) and _lib is not None:
            _lib.bough_instance_free(self._handle)

    # ---- what went wrong

    def _message(self) -> str:
        """What has been logged since the last call, in one line."""
        text = "; ".join(self._said) or "the call failed"
        self._said.clear()
        return text

    def _fail(self, status: int = ERROR) -> None:
        """Raise what a call back raised, or what has been logged."""
        if self._failure is not None:
            error, self._failure = self._failure, None
            self._said.clear()
            raise error
        raise (ValueRefused if status == DISCARD else SimulationError)(self._message())

    def _check(self, status: int) -> None:
        if status != OK:
            self._fail()

    def _enter(self, call: int, name: bytes) -> None:
        if not _allowed(self._handle, call, name):
            self._fail()

    # ---- life

    @one_thread
    def initialize(self, start: float = 0.0, stop: float | None = None, tolerance: float | None = None) -> None:
        """Start the run at a time, s.

        Raises:
            SimulationError: The times are wrong, or the model cannot move.
        """
        self.setup(start, stop, tolerance)
        self.enter_initialization()
        self.exit_initialization()

    @one_thread
    def setup(self, start: float, stop: float | None = None, tolerance: float | None = None) -> None:
        """Start and stop time, s, and relative tolerance of the experiment."""
        self._enter(_CALL_SETUP, b"setup")
        times = (start, tolerance is not None, tolerance or 0.0, stop is not None, stop or 0.0)
        self._check(_lib.bough_instance_setup(self._handle, *times))

    @one_thread
    def enter_initialization(self) -> None:
        """From here on states are what the run starts with: quaternions of length one, locked hinges at rest."""
        self._enter(_CALL_ENTER, b"initialization")
        self._check(_lib.bough_instance_enter_initialization(self._handle))

    @one_thread
    def exit_initialization(self) -> None:
        """Check that the model can move; from here on it can step."""
        self._enter(_CALL_EXIT, b"initialization")
        self._check(_lib.bough_instance_exit_initialization(self._handle))

    @one_thread
    def hand_over(self, data: KernelData) -> tuple[Array, Array]:
        """What a run of one's own starts from, in initialization mode: parameters go to `data`, of the same mechanism.

        Returns:
            The start state q, u: quaternions of length one, locked hinges at rest, loops closed.

        Raises:
            SimulationError: There is no such state; the message says why.
        """
        q, u = (np.empty(n) for n in self._sizes)
        self._enter(_CALL_EXIT, b"initialization")
        self._check(_lib.bough_instance_hand_over(self._handle, data.handle, _ptr(q), _ptr(u)))
        return q, u

    @one_thread
    def reset(self) -> None:
        """Everything as it was after creation."""
        self._check(_lib.bough_instance_reset(self._handle))

    @property
    def state(self) -> int:
        """INSTANTIATED, INITIALIZATION, STEP or FAILED."""
        return int(_lib.bough_instance_state(self._handle))

    @property
    def time(self) -> float:
        """Where the instance is, s."""
        return float(_lib.bough_instance_time(self._handle))

    # ---- variables

    def place(self, *names: str) -> Place:
        """References of variables, to be used again and again.

        Raises:
            SimulationError: There is no such variable.
        """
        for name in names:
            if name not in self._place:
                raise SimulationError(f"there is no variable {name!r}{choices(name, list(self._place))}")
        return Place([self._place[name].references[0] for name in names])

    @one_thread
    def get(self, name: str) -> float:
        """The present value of a variable; Booleans are 0 or 1."""
        place = self._place.get(name) or self.place(name)
        if _read(self._handle, place.references, 1, place.buffer):
            self._fail()
        return place.buffer[0]

    @one_thread
    def read(self, place: Place) -> Array:
        """Present values of several variables."""
        if _read(self._handle, place.references, place.count, place.buffer):
            self._fail()
        return np.array(place.buffer)

    @one_thread
    def set(self, name: str, value: float) -> None:
        """Set an input, a parameter or, before the run, a start value.

        Raises:
            SimulationError: The name is unknown, the value is out of range, or the variable cannot be set now.
        """
        place = self._place.get(name) or self.place(name)
        place.buffer[0] = value
        self._write(place)

    @one_thread
    def set_all(self, values: Mapping[str, float]) -> None:
        """Set several variables: all of them, or none if one is refused."""
        place = self.place(*values)
        place.buffer[:] = list(values.values())
        self._write(place)

    def _write(self, place: Place) -> None:
        self._enter(_CALL_SET, b"set")
        status = _write(self._handle, place.references, place.count, place.buffer)
        if status:
            self._fail(status)

    # ---- time

    def set_input(self, function: InputFunction | None) -> None:
        """A function that changes inputs at every stage and every evaluation, of a mechanism.

        What it raises ends the call. None: inputs stay as they are set.
        """
        if function is None:
            self._input = INPUT_FN(0)
        else:
            view, (nq, nu), loads = np.ctypeslib.as_array, self._sizes, self._loads

            def call(_: Any, t: float, q: Any, u: Any, tau: Any, motion: Any, load: Any) -> int:
                try:
                    forces = view(load, (loads, 6)) if loads else np.empty((0, 6))
                    function(t, view(q, (nq,)), view(u, (nu,)), view(tau, (nu,)), view(motion, (nu,)), forces)
                except BaseException as error:  # every error must cross the C frames as a status
                    self._failure = error
                    return 1
                return 0

            self._input = INPUT_FN(call)
        self._check(_lib.bough_instance_set_input(self._handle, self._input, None))

    @one_thread
    def step(self, time: float, step: float) -> None:
        """From one time, where the instance must be, to another, s.

        Raises:
            SimulationError: The step cannot be finished; `time` says how far it got.
        """
        self._enter(_CALL_STEP, b"step")
        if _step(self._handle, time, step, None, None, self._reached):
            self._fail()

    # ---- states

    @one_thread
    def save(self) -> bytes:
        """Everything the instance remembers, without pointers: `restore` continues bit for bit."""
        box, size = _P(), c.c_size_t()
        try:
            self._check(_lib.bough_instance_state_get(self._handle, c.byref(box)))
            self._check(_lib.bough_instance_state_size(self._handle, box, c.byref(size)))
            block = c.create_string_buffer(size.value)
            self._check(_lib.bough_instance_state_write(self._handle, box, block, size.value))
            return block.raw
        finally:
            _lib.bough_instance_state_free(c.byref(box))

    @one_thread
    def restore(self, state: bytes) -> None:
        """Go back to what `save` gave, in this process or another.

        Raises:
            SimulationError: It is not a state of this model; nothing is changed.
        """
        box = _P()
        try:
            self._enter(_CALL_STATE, b"restore")
            self._check(_lib.bough_instance_state_read(self._handle, state, len(state), c.byref(box)))
            self._check(_lib.bough_instance_state_set(self._handle, box))
        finally:
            _lib.bough_instance_state_free(c.byref(box))
