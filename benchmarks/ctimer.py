"""The C timer: built on demand with the compiler of the kernel, linked to the installed kernel library."""

from __future__ import annotations

import ctypes as c
import functools
import importlib.resources
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import bough
from benchmarks.timing import WINDOW, Sampler
from bough import _build_info

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "out" / "benchmarks"

Array = NDArray[np.float64]


def compiler() -> list[str]:
    """The C compiler that built the kernel."""
    if _build_info.COMPILER.startswith("zig"):
        return [sys.executable, "-m", "ziglang", "cc", "-target", _build_info.TARGET]
    return [os.environ.get("BOUGH_CC") or "cc"]


@functools.cache
def _library() -> c.CDLL:
    OUT.mkdir(parents=True, exist_ok=True)
    kernel = Path(str(importlib.resources.files("bough").joinpath(*_build_info.LIBRARY.split("/"))))
    source, target = Path(__file__).with_name("timer.c"), OUT / "libtimer.so"
    include = ROOT / "engine" / "kernel" / "include"
    command = [*compiler(), "-O2", "-std=gnu99", "-fPIC", "-shared", f"-I{include}", str(source), str(kernel)]
    command += [f"-Wl,-rpath,{kernel.parent}", "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the timer does not compile:\n{done.stderr}")
    library = c.CDLL(str(target))
    doubles = c.POINTER(c.c_double)
    library.timer_open.restype = c.c_void_p
    library.timer_open.argtypes = [c.c_char_p, c.c_size_t, c.c_int, doubles, doubles, doubles]
    library.timer_close.argtypes = [c.c_void_p]
    for name in ("timer_single", "timer_batch"):
        getattr(library, name).restype, getattr(library, name).argtypes = c.c_double, [c.c_void_p, c.c_long]
    library.timer_isa.argtypes = [c.c_void_p, c.c_int]
    library.timer_memory.restype, library.timer_memory.argtypes = c.c_size_t, [c.c_void_p]
    library.timer_memory_model.restype, library.timer_memory_model.argtypes = c.c_size_t, [c.c_void_p]
    return library


class Timer:
    """One system with its states, timed inside C."""

    def __init__(self, system: bough.Mechanism, q: Array, u: Array, tau: Array, isa: int | None = None) -> None:
        """Hand over the model block and (B, n) states.

        Args:
            system: What to evaluate.
            q: Positions, (B, nq).
            u: Speeds, (B, nu).
            tau: Applied forces, (B, nu).
            isa: 0 for the baseline build of the kernel, 1 for x86-64-v3; by default what the kernel picks.
        """
        self._lib = _library()
        arrays = [np.ascontiguousarray(a, dtype=np.float64).ctypes.data_as(c.POINTER(c.c_double)) for a in (q, u, tau)]
        block = system.block.data
        self._handle = c.c_void_p(self._lib.timer_open(block, len(block), q.shape[0], *arrays))
        if not self._handle:
            raise RuntimeError("the kernel refuses the model")
        if isa is not None and self._lib.timer_isa(self._handle, isa):
            raise RuntimeError("this CPU lacks the instructions")
        self._count = q.shape[0]

    def __del__(self) -> None:
        """Free the kernel's memory."""
        if getattr(self, "_handle", None):
            self._lib.timer_close(self._handle)

    @property
    def memory(self) -> tuple[int, int]:
        """Bytes of the model, and of model and workspace together."""
        return int(self._lib.timer_memory_model(self._handle)), int(self._lib.timer_memory(self._handle))

    def single(self, window: float = WINDOW) -> Sampler:
        """Sampler of the single call."""
        return self._sampler("timer_single", 1, window)

    def batch(self, window: float = WINDOW) -> Sampler:
        """Sampler of the batch call, per state."""
        return self._sampler("timer_batch", self._count, window)

    def _sampler(self, name: str, count: int, window: float) -> Sampler:
        call = getattr(self._lib, name)
        repeats = 1
        while (t := call(self._handle, repeats)) * repeats * count < 0.25 * window:
            if t < 0:
                raise RuntimeError("the kernel call failed")
            repeats *= 2
        repeats = max(1, round(window / (t * count)))

        def sample() -> float:
            call(self._handle, 1)  # those measured in between have taken the caches
            seconds = float(call(self._handle, repeats))
            if seconds < 0:
                raise RuntimeError("the kernel call failed")
            return seconds

        return sample
