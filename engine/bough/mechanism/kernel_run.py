"""Parameters of single hinges and bodies: the part of `kernel` that studies need."""

from __future__ import annotations

import ctypes as c
from typing import Any

import numpy as np

from bough.mechanism.kernel import (
    _D,
    _P,
    OK,
    Array,
    KernelData,
    KernelError,
    KernelModel,
    _lib,
    _ptr,
)


class _Range(c.Structure):
    _fields_ = (("q0", c.c_int), ("nq", c.c_int), ("u0", c.c_int), ("nu", c.c_int))


_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "model_hinge": (_Range, [_P, c.c_int]),
    "data_set_rigid": (c.c_int, [_P, c.c_int, c.c_double, _D, _D]),
}
for _name, (_result, _arguments) in _SIGNATURES.items():
    _function = getattr(_lib, f"bough_{_name}")
    _function.restype, _function.argtypes = _result, _arguments


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
        raise KernelError(status, where.body, where.time, where.constraint - 1)


def set_rigid(data: KernelData, body: int, numbers: Array) -> None:
    """Mass, mass centre (3) and inertia about it (6) of a rigid body, in the user's axes."""
    com, inertia = np.ascontiguousarray(numbers[1:4]), np.ascontiguousarray(numbers[4:])
    _check(_lib.bough_data_set_rigid(data.handle, body, float(numbers[0]), _ptr(com), _ptr(inertia)), data)
