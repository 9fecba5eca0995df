"""Runs that are stepped from outside: the part of `kernel` that an FMU in Python needs."""

from __future__ import annotations

import ctypes as c
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.mechanism import kernel
from bough.mechanism.kernel import (
    _D,
    _P,
    INPUT_FN,
    OK,
    Array,
    KernelData,
    KernelError,
    KernelModel,
    KernelSim,
    _lib,
    _ptr,
)


class _Range(c.Structure):
    _fields_ = (("q0", c.c_int), ("nq", c.c_int), ("u0", c.c_int), ("nu", c.c_int))


_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "model_hinge": (_Range, [_P, c.c_int]),
    "data_set_rigid": (c.c_int, [_P, c.c_int, c.c_double, _D, _D]),
    "stop_impulse": (c.c_int, [_P, _P, _D, c.POINTER(c.c_ubyte), _D]),
    "sim_step": (c.c_int, [_P, c.c_double, INPUT_FN, _P, _D, _D]),
    "sim_set": (c.c_int, [_P, _D, _D]),
    "sim_state_size": (c.c_size_t, [_P]),
    "sim_save": (c.c_int, [_P, c.c_char_p, c.c_size_t]),
    "sim_restore": (c.c_int, [_P, c.c_char_p, c.c_size_t]),
}
for _name, (_result, _arguments) in _SIGNATURES.items():
    _function = getattr(_lib, f"bough_{_name}")
    _function.restype, _function.argtypes = _result, _arguments


def loads(model: KernelModel) -> int:
    """Number of nodes that take a load."""
    return model.loads


def hinge(model: KernelModel, body: int) -> tuple[slice, slice]:
    """Where the hinge's coordinates are in q and in u."""
    r = _lib.bough_model_hinge(model.handle, body)
    return slice(r.q0, r.q0 + r.nq), slice(r.u0, r.u0 + r.nu)


def normalize(model: KernelModel, q: Array) -> None:
    """Scale every quaternion in q to unit length, in place."""
    _lib.bough_normalize(model.handle, _ptr(q))


def _check(status: int, data: KernelData) -> None:
    if status != OK:
        where = _lib.bough_data_where(data.handle)
        raise KernelError(status, where.body, where.time)


def set_rigid(data: KernelData, body: int, numbers: Array) -> None:
    """Mass, mass centre (3) and inertia about it (6) of a rigid body, in the user's axes."""
    com, inertia = np.ascontiguousarray(numbers[1:4]), np.ascontiguousarray(numbers[4:])
    _check(_lib.bough_data_set_rigid(data.handle, body, float(numbers[0]), _ptr(com), _ptr(inertia)), data)


def stop_impulse(data: KernelData, q: Array, stop: NDArray[np.uint8], u: Array) -> None:
    """Bring the held speeds marked in `stop` to rest at once, in place; the momentum of everything else is kept."""
    marks = stop.ctypes.data_as(c.POINTER(c.c_ubyte))
    _check(_lib.bough_stop_impulse(data.model.handle, data.handle, _ptr(q), marks, _ptr(u)), data)


class KernelRun(KernelSim):
    """A time integration that stops after every internal step, and can be saved."""

    def step(self, limit: float, q: Array, u: Array) -> None:
        """One internal step that ends at `limit`, s, at the latest; q and u get the state it reached."""
        status = _lib.bough_sim_step(self.handle, limit, self._callback, None, _ptr(q), _ptr(u))
        if status != OK:
            where = _lib.bough_sim_where(self.handle)
            raise KernelError(status, where.body, where.time)

    @property
    def attempts(self) -> int:
        """Steps so far, accepted and rejected."""
        return sum(self.counts[:2])

    def set_state(self, q: Array, u: Array) -> None:
        """Change the state in place; the time stays."""
        status = _lib.bough_sim_set(self.handle, _ptr(q), _ptr(u))
        if status != OK:
            raise KernelError(status, -1, self.time)

    def save(self) -> bytes:
        """Everything that the run remembers, parameters included."""
        size = int(_lib.bough_sim_state_size(self.handle))
        block = c.create_string_buffer(size)
        status = _lib.bough_sim_save(self.handle, block, size)
        if status != OK:
            raise KernelError(status, -1, self.time)
        return block.raw

    def restore(self, block: bytes) -> None:
        """Continue from what `save` gave, bit for bit."""
        status = _lib.bough_sim_restore(self.handle, block, len(block))
        if status != OK:
            raise KernelError(status, -1, self.time)


METHOD_NAMES = {method.number: name for name, method in kernel.METHODS.items()}
