"""`pinocchio::aba` called from C++: compiled from the headers that the wheels of Pinocchio, Boost and Eigen carry.

The compiler is the kernel's, the instruction set too, and the templates are instantiated here: as fast as it can be.
"""

from __future__ import annotations

import ctypes as c
import functools
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from benchmarks.chains import GRAVITY, Link
from benchmarks.ctimer import OUT, compiler
from benchmarks.timing import WINDOW, Sampler
from bough import _build_info

Array = NDArray[np.float64]
# As pinocchioTargets.cmake has them.
DEFINITIONS = ("NDEBUG", "BOOST_MPL_LIMIT_LIST_SIZE=30", "BOOST_MPL_LIMIT_VECTOR_SIZE=30",
               "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "BOOST_FUSION_INVOKE_MAX_ARITY=12")  # fmt: skip
DOUBLES = c.POINTER(c.c_double)


@functools.cache
def _library() -> c.CDLL:
    include = Path(sysconfig.get_path("platlib")) / "cmeel.prefix" / "include"
    if not (include / "eigen3").is_dir() or not (include / "pinocchio").is_dir():
        raise ImportError("the C++ headers of Pinocchio and Eigen are missing: pip install pin cmeel-eigen")
    OUT.mkdir(parents=True, exist_ok=True)
    source, target = Path(__file__).with_name("pin_timer.cpp"), OUT / "libpin_timer.so"
    wide = _build_info.ISAS and "v3" in _build_info.ISAS
    command = _compiler(bool(wide))
    command += ["-std=c++17", "-w", "-g0", "-fPIC", "-shared", *(f"-D{name}" for name in DEFINITIONS)]
    command += [f"-I{include}", f"-I{include / 'eigen3'}", str(source), "-o", str(target)]
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"the timer of Pinocchio does not compile:\n{done.stderr[-3000:]}")
    library = c.CDLL(str(target))
    library.pin_open.restype, library.pin_open.argtypes = c.c_void_p, [c.c_int, *([DOUBLES] * 5)]
    library.pin_close.argtypes = [c.c_void_p]
    library.pin_accelerations.argtypes = [c.c_void_p, DOUBLES]
    library.pin_single.restype, library.pin_single.argtypes = c.c_double, [c.c_void_p, c.c_long]
    return library


def _compiler(wide: bool) -> list[str]:
    """The C++ side of the kernel's compiler, with the highest optimization there is."""
    command = compiler()
    if "ziglang" in command:  # -O3 alone means O2 to zig, and -Xclang alone nothing
        command[command.index("cc")] = "c++"
        return [*command, "-O3", "-Xclang", "-O3", *(["-mcpu=x86_64_v3"] if wide else [])]
    return ["c++", "-O3", *(["-march=x86-64-v3"] if wide else [])]


class PinTimer:
    """A rigid chain in Pinocchio with one state, timed inside C++."""

    def __init__(self, chain: list[Link], q: Array, u: Array, tau: Array) -> None:
        """Hand over the links and one state, (n,).

        Raises:
            ImportError: The headers are missing.
            RuntimeError: They do not compile.
        """
        self._lib, self._count = _library(), len(chain)
        bodies = np.array(
            [
                np.concatenate(
                    [
                        Rotation.from_quat(k.quaternion).as_matrix().ravel(),
                        k.position,
                        [k.mass],
                        k.com,
                        k.inertia.ravel(),
                    ]
                )
                for k in chain
            ]
        )
        arrays = [np.ascontiguousarray(a, dtype=np.float64) for a in (bodies, np.array(GRAVITY), q, u, tau)]
        self._handle = c.c_void_p(self._lib.pin_open(self._count, *(a.ctypes.data_as(DOUBLES) for a in arrays)))

    def __del__(self) -> None:
        """Free its memory."""
        if getattr(self, "_handle", None):
            self._lib.pin_close(self._handle)

    def accelerations(self) -> Array:
        """Of the state."""
        out = np.empty(self._count)
        self._lib.pin_accelerations(self._handle, out.ctypes.data_as(DOUBLES))
        return out

    def single(self, window: float = WINDOW) -> Sampler:
        """Sampler of the call."""
        call, repeats = self._lib.pin_single, 1
        while (t := call(self._handle, repeats)) * repeats < 0.25 * window:
            repeats *= 2
        repeats = max(1, round(window / t))

        def sample() -> float:
            call(self._handle, 1)  # those measured in between have taken the caches
            return float(call(self._handle, repeats))

        return sample
