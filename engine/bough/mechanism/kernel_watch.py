"""Warnings before the theory ends: the part of `kernel` that tells when a body leaves the limits of its modes."""

from __future__ import annotations

import ctypes as c
from collections.abc import Sequence
from typing import Any

from bough.mechanism.kernel import KernelData
from bough.mechanism.kernel_calls import _D, _P, Array, _lib, _ptr

UNDAMPED = 5
"""Kind of the warning that a ruthless body without damping gains energy in a run: `BOUGH_WARN_UNDAMPED`."""


class _Warning(c.Structure):
    _fields_ = (
        ("kind", c.c_int),
        ("body", c.c_int),
        *((name, c.c_double) for name in ("t", "value", "limit", "length")),
    )


_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "data_watch": (c.c_int, [_P, _P, c.c_double, _D, _D, _D]),
    "data_warning": (c.c_int, [_P, c.POINTER(_Warning)]),
    "warning_text": (None, [c.POINTER(_Warning), c.c_char_p, c.c_char_p, c.c_size_t]),
}
for _name, (_result, _arguments) in _SIGNATURES.items():
    _function = getattr(_lib, f"bough_{_name}")
    _function.restype, _function.argtypes = _result, _arguments


def watch(
    data: KernelData, t: float, q: Array | None = None, u: Array | None = None, reaction: Array | None = None
) -> None:
    """Compare a state, or the reactions of all hinges, with the limits of the bodies."""
    _lib.bough_data_watch(data.model.handle, data.handle, t, _ptr(q), _ptr(u), _ptr(reaction))


def new_warnings(data: KernelData, bodies: Sequence[str], but: int | None = None) -> list[str]:
    """What has been passed and not been told yet, a line each; bodies by these names; one kind may be left out."""
    out, warning, text = [], _Warning(), c.create_string_buffer(1024)
    while _lib.bough_data_warning(data.handle, warning):
        if warning.kind == but:
            continue
        _lib.bough_warning_text(warning, bodies[warning.body].encode(), text, len(text))
        out.append(text.value.decode())
    return out
