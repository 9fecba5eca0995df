"""The kernel's library as ctypes sees it: the structures and functions of `bough.h`, and pointers to arrays."""

from __future__ import annotations

import ctypes as c
import importlib.resources
import os
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough import _build_info

Array: TypeAlias = NDArray[np.float64]
Nodes: TypeAlias = NDArray[np.intc]

_D, _P = c.POINTER(c.c_double), c.c_void_p
INPUT_FN = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_double, *[_D] * 5)


class _Where(c.Structure):
    _fields_ = (("body", c.c_int), ("time", c.c_double), ("constraint", c.c_int))


class _Options(c.Structure):
    _fields_ = (
        ("method", c.c_int),
        ("rtol", c.c_double),
        ("atol", c.c_double),
        ("step", c.c_double),
        ("step_max", c.c_double),
        ("pause", c.c_int64),
    )


_SIZES: tuple[str, ...] = (
    "nq",
    "nu",
    "bodies",
    "nodes",
    "loads",
    "elements",
    "element_values",
    "loops",
    "couplings",
    "rows",
)
_SIZES += ("drives", "modes", "indicators")


class _Sizes(c.Structure):
    _fields_ = (
        *((name, c.c_int) for name in _SIZES),
        ("memory", c.c_size_t),
    )


class _Method(c.Structure):
    _fields_ = (("name", c.c_char_p), ("note", c.c_char_p), ("order", c.c_int), ("stepping", c.c_int))


POINT = ("q", "u", "tau", "motion", "loads")
"""Arguments of an evaluation, and those that directional derivatives are taken by."""


class _Point(c.Structure):
    _fields_ = (("t", c.c_double), *((name, _P) for name in (*POINT, "udot")))


VALUES = (
    *("qdot", "udot", "force", "reaction", "pose", "velocity", "acceleration"),
    *("local", "deflection"),
    *("closure", "coupling", "element"),
    *("friction", "sticking", "contact", "indicator"),
)
"""What an evaluation gives, and directional derivatives are given of."""
DRIVE_VALUES = ("friction", "sticking", "contact")
"""Of these what friction exerts, where it holds, and which limit is touched."""


class _Values(c.Structure):
    _fields_ = tuple((name, _P) for name in VALUES)


class _Rows(c.Structure):
    _fields_ = (
        ("times", _P),
        ("knot_count", c.c_int),
        ("knots", _P),
        ("input_count", c.c_int),
        ("places", _P),
        ("input_values", _P),
        ("input_slopes", _P),
        ("work", _P),
        ("count", c.c_int),
        ("nodes", _P),
        *((name, _P) for name in ("q", "u", "motion", "loads")),
        ("values", _Values),
    )


class _Counts(c.Structure):
    _fields_ = (("steps", c.c_int64), ("rejected", c.c_int64), ("evaluations", c.c_int64))


_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "status_text": (c.c_char_p, [c.c_int]),
    "model_create": (c.c_int, [c.c_char_p, c.c_size_t, c.POINTER(_P)]),
    "model_free": (None, [_P]),
    "model_sizes": (_Sizes, [_P]),
    "data_create": (c.c_int, [_P, c.c_int, c.POINTER(_P)]),
    "data_free": (None, [_P]),
    "data_memory": (c.c_size_t, [_P]),
    "data_where": (_Where, [_P]),
    "data_isa": (c.c_int, [_P]),
    "data_set_isa": (c.c_int, [_P, c.c_int]),
    "data_set": (c.c_int, [_P, c.c_int, _D, c.c_int]),
    "data_get": (c.c_int, [_P, c.c_int, _D, c.c_int]),
    "data_copy": (c.c_int, [_P, _P]),
    "evaluate_rows": (c.c_int, [_P, _P, c.c_int, c.POINTER(_Point), c.c_int, _P, c.POINTER(_Values)]),
    "directional": (c.c_int, [_P, _P, c.POINTER(_Point), c.POINTER(_Point), c.c_int, _P, c.POINTER(_Values)]),
    "inverse_directional": (c.c_int, [_P, _P, c.POINTER(_Point), c.POINTER(_Point), _P]),
    "forward_dynamics_batch": (c.c_int, [_P, _P, c.c_int, _D, _D, _D, _D]),
    "forward_composite": (c.c_int, [_P, _P, c.c_int, *[_D] * 7]),
    "inverse_dynamics": (c.c_int, [_P, _P, c.c_int, *[_D] * 5]),
    "mass_matrix": (c.c_int, [_P, _P, c.c_int, _D, _D]),
    "mass_factors": (c.c_int, [_P, _P, c.c_int, _D, _D, _D]),
    "mass_solve": (c.c_int, [_P, _P, c.c_int, _D, _D, _D]),
    "energy": (c.c_int, [_P, _P, c.c_int, *[_D] * 4]),
    "method_about": (c.POINTER(_Method), [c.c_int]),
    "normalize": (None, [_P, _D]),
    "sim_create": (c.c_int, [_P, _P, c.POINTER(_Options), c.POINTER(_P)]),
    "sim_free": (None, [_P]),
    "sim_start": (c.c_int, [_P, c.c_double, _D, _D]),
    "sim_set_stop": (None, [_P, c.c_double]),
    "sim_disturb": (None, [_P]),
    "sim_set_inputs": (c.c_int, [_P, c.c_double, c.c_int, _D]),
    "sim_excursion": (c.c_int, [_P, _D, _D]),
    "sim_advance": (c.c_int, [_P, c.c_double, c.c_int, INPUT_FN, _P, _D, _D]),
    "sim_record": (c.c_int, [_P, c.POINTER(_Rows), c.c_int, c.POINTER(c.c_int), c.POINTER(c.c_int)]),
    "sim_time": (c.c_double, [_P]),
    "sim_get_counts": (_Counts, [_P]),
    "sim_where": (_Where, [_P]),
}


def _open() -> c.CDLL:
    path = importlib.resources.files("bough").joinpath(*_build_info.LIBRARY.split("/"))
    library = c.CDLL(os.environ.get("BOUGH_KERNEL_LIBRARY") or str(path))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, f"bough_{name}")
        function.restype, function.argtypes = result, arguments
    return library


_lib = _open()


def _where(a: Array | Nodes) -> int:
    """Address of an array whose entries follow one another, as C reads them.

    Raises:
        ValueError: They do not: a column or a transposed matrix, whose neighbours C would take for its entries.
    """
    about = a.__array_interface__
    if about["strides"] is not None:
        raise ValueError(f"an array of shape {a.shape} is not contiguous: the kernel would read other numbers")
    place: int = about["data"][0]
    return place


def _ptr(a: Array | None) -> Any:
    return None if a is None else c.cast(_where(a), _D)


def _address(a: Array | None) -> Any:
    """Pointer to a C-contiguous float64 array; the cheap way, for calls that are made often."""
    return None if a is None else c.cast(_where(a), _D)


def _place(a: Array | Nodes | None) -> int | None:
    """Address of a C-contiguous array, for a field of a structure."""
    return None if a is None else _where(a)


def status_text(status: int) -> str:
    """One line of English for a kernel status."""
    text: bytes = _lib.bough_status_text(status)
    return text.decode()
