"""Calls that are made often, without ctypes: by the extension module `bough._binding` where this Python can load it.

Every call takes C-contiguous arrays of float64 that fit, `(n,)` or `(B, n)`, and returns a new array. It returns None
for anything else, when the kernel fails, and always where there is no extension: `Mechanism` then goes the long way by
ctypes, converts what can be converted and explains the rest. The environment variable `BOUGH_BINDING=ctypes` leaves the
extension out.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

_binding: Any
try:
    _binding = importlib.import_module("bough._binding")
except ImportError:  # PyPy, a free-threaded Python, 3.10 on Windows
    _binding = None

Call: TypeAlias = Callable[..., Any]

FUNCTIONS = (
    "evaluate_rows",
    "forward_dynamics_batch",
    "inverse_dynamics",
    "mass_matrix",
    "mass_solve",
    "energy",
)
"""What the extension calls, in the order of its struct `functions`."""
CALLS = ("forward", "inverse", "mass_matrix", "mass_solve", "energy", "momentum", "position_rates", "pose")
"""Calls in the order in which the extension numbers them."""


def kind() -> str:
    """How often-made calls reach the kernel: "extension" or "ctypes"."""
    return "ctypes" if _binding is None or os.environ.get("BOUGH_BINDING") == "ctypes" else "extension"


def kernel_of(library: ctypes.CDLL) -> object | None:
    """What all calls of a library share; None without extension."""
    if kind() == "ctypes":
        return None
    addresses = [ctypes.cast(getattr(library, f"bough_{name}"), ctypes.c_void_p).value for name in FUNCTIONS]
    made: object = _binding.kernel(*addresses, np.empty)
    return made


def _none(*_: Any) -> None:
    """Every call without extension."""


class Quick:
    """The calls of one model with one work space; they must not outlive these."""

    __slots__ = CALLS
    forward: Call
    inverse: Call
    mass_matrix: Call
    mass_solve: Call
    energy: Call
    momentum: Call
    position_rates: Call
    pose: Call

    def __init__(self, kernel: object | None, model: int | None, data: int | None, nq: int, nu: int) -> None:
        """Make the calls for handles of the kernel."""
        for number, name in enumerate(CALLS):
            made = _none if kernel is None else _binding.call(kernel, number, model or 0, data or 0, nq, nu)
            setattr(self, name, made)
