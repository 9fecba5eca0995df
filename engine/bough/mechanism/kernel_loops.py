"""What of the kernel concerns loops and couplings."""

from __future__ import annotations

import ctypes as c
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.mechanism.kernel import OK, KernelData, KernelError, KernelModel
from bough.mechanism.kernel_calls import _D, _P, Array, _lib, _ptr

_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "residuals": (c.c_int, [_P, _P, *[_D] * 6]),
    "freedom": (c.c_int, [_P, _P, _D, c.POINTER(c.c_int), c.POINTER(c.c_ubyte)]),
    "rate_directional": (c.c_int, [_P, _P, *[_D] * 4]),
    "project": (c.c_int, [_P, _P, _D, _D]),
    "row_owner": (c.c_int, [_P, c.c_int, c.POINTER(c.c_int)]),
}
for _name, (_result, _arguments) in _SIGNATURES.items():
    _function = getattr(_lib, f"bough_{_name}")
    _function.restype, _function.argtypes = _result, _arguments


@dataclass(frozen=True, eq=False)
class Residuals:
    """Equations of loops and couplings at a state, a row each, in m and rad.

    Attributes:
        g: Positions, (rows,).
        rate: Speeds, J u.
        bias: Jdot u, so that J udot + bias = 0.
        J: (rows, nu).
    """

    g: Array
    rate: Array
    bias: Array
    J: Array


def _check(status: int, data: KernelData) -> None:
    if status != OK:
        where = _lib.bough_data_where(data.handle)
        raise KernelError(status, where.body, where.time, where.constraint - 1)


def residuals(data: KernelData, q: Array, u: Array) -> Residuals:
    """Equations of loops and couplings at a state."""
    m = data.model
    out = Residuals(np.zeros(m.rows), np.zeros(m.rows), np.zeros(m.rows), np.zeros((m.rows, m.nu)))
    arrays = (_ptr(a) for a in (q, u, out.g, out.rate, out.bias, out.J))
    _check(_lib.bough_residuals(m.handle, data.handle, *arrays), data)
    return out


def rate_directional(data: KernelData, q: Array, u: Array, dq: Array) -> Array:
    """Derivative of J u along dq, u constant, (rows,); `data` is made with LANES_TANGENT."""
    out = np.zeros(data.model.rows)
    arrays = (_ptr(np.ascontiguousarray(a)) for a in (q, u, dq, out))
    _check(_lib.bough_rate_directional(data.model.handle, data.handle, *arrays), data)
    return out


def freedom(data: KernelData, q: Array) -> tuple[int, NDArray[np.bool_]]:
    """Rank of the equations on DOFs that are not held, and which of them say nothing new."""
    rank, redundant = c.c_int(0), np.zeros(max(data.model.rows, 1), dtype=np.uint8)
    marks = redundant.ctypes.data_as(c.POINTER(c.c_ubyte))
    _check(_lib.bough_freedom(data.model.handle, data.handle, _ptr(q), c.byref(rank), marks), data)
    return rank.value, redundant[: data.model.rows].astype(bool)


def project(data: KernelData, q: Array, u: Array) -> None:
    """Close loops and couplings from near by, in place."""
    _check(_lib.bough_project(data.model.handle, data.handle, _ptr(q), _ptr(u)), data)


def row_owners(model: KernelModel) -> tuple[NDArray[np.intc], NDArray[np.bool_]]:
    """Loop, or (after these) coupling of each row, and whether the row is in rad."""
    turns = c.c_int(0)
    owners = np.zeros(model.rows, dtype=np.intc)
    in_rad = np.zeros(model.rows, dtype=bool)
    for i in range(model.rows):
        owners[i] = _lib.bough_row_owner(model.handle, i, c.byref(turns))
        in_rad[i] = bool(turns.value)
    return owners, in_rad


def normalize(model: KernelModel, q: Array) -> None:
    """Scale every quaternion in q to unit length, in place."""
    _lib.bough_normalize(model.handle, _ptr(q))
