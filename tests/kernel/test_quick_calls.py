"""Calls by the extension module: the numbers and messages of the long way by ctypes, at the price of one C call."""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from house.tools import IN_CI, ROOT, require_tool
from random_models import random_model, random_state
from small_models import ARM

import bough
from bough import _build_info
from bough.errors import ArgumentError
from bough.mechanism import quick

CALLS: dict[str, tuple[str, Callable[..., Any]]] = {
    "forward_dynamics": ("quu", lambda m, *a: m.forward_dynamics(*a)),
    "inverse_dynamics": ("quu", lambda m, *a: m.inverse_dynamics(*a)),
    "mass_matrix": ("q", lambda m, *a: m.mass_matrix(*a)),
    "mass_solve": ("qu", lambda m, *a: m.mass_solve(*a)),
    "energy": ("qu", lambda m, *a: m.energy(*a)),
    "energy_parts": ("qu", lambda m, *a: m.energy_parts(*a)),
    "momentum": ("qu", lambda m, *a: m.momentum(*a)),
    "position_rates": ("qu", lambda m, *a: m.position_rates(*a)),
    "pose": ("q", lambda m, *a: m.pose(*a, next(iter(m._node)))),
}
WITHOUT_BATCH_OF_ITS_OWN = {"pose"}


@pytest.fixture(autouse=True)
def _extension_is_there() -> None:
    assert quick.kind() == "extension", "the extension module is built with the package, and loads in this Python"


def arguments(system: bough.Mechanism, inputs: str, batch: int, seed: int = 1) -> list[Any]:
    """States as arrays; quaternions of unit length."""
    rng = np.random.default_rng(seed)
    rows = [random_state(system, seed + i) for i in range(max(batch, 1))]
    q, u = (np.array([row[k] for row in rows]) for k in (0, 1))
    rest = [rng.standard_normal((len(rows), system.nu)) for _ in inputs[2:]]
    every = [q, u, *rest][: len(inputs)]
    return every if batch else [a[0].copy() for a in every]


def flat(found: Any) -> list[Any]:
    return [np.asarray(part) for part in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("batch", [0, 1, 7])
def test_quick_calls_give_the_bits_of_the_long_way(name: str, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, call = CALLS[name]
    for seed in (3, 4):
        system = bough.Mechanism(random_model(seed, 5))
        given = arguments(system, inputs, batch)
        short = flat(call(system, *given))
        with monkeypatch.context() as patch:
            patch.setattr(system._workspace, "quick", quick.Quick(None, None, None, 0, 0))
            long = flat(call(system, *given))
        for a, b in zip(short, long, strict=True):
            assert a.shape == b.shape and a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", CALLS)
def test_arrays_of_float64_go_the_short_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, call = CALLS[name]
    system = bough.Mechanism(ARM)
    given = arguments(system, inputs, 0)

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the long way was taken")

    monkeypatch.setattr(bough.Mechanism, "_rows", refuse)
    call(system, *given)
    if name not in WITHOUT_BATCH_OF_ITS_OWN:
        call(system, *(np.stack([a, a]) for a in given))
    for a in given:
        a.setflags(write=False)
    call(system, *given)


def test_an_evaluation_is_one_python_frame_and_one_c_call() -> None:
    system = bough.Mechanism(ARM)
    q, u, tau = arguments(system, "quu", 0)
    system.forward_dynamics(q, u, tau)
    seen: list[str] = []
    sys.setprofile(lambda frame, event, _: seen.append(event))
    try:
        system.forward_dynamics(q, u, tau)
    finally:
        sys.setprofile(None)
    # the last one is that of setprofile itself
    assert seen == ["call", "c_call", "c_return", "return", "c_call"]


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda a: a.tolist(), id="list"),
        pytest.param(lambda a: a.astype(">f8"), id="other byte order"),
        pytest.param(lambda a: np.repeat(a, 2)[::2], id="every other number"),
        pytest.param(lambda a: a.astype(np.longdouble), id="long double"),
        pytest.param(lambda a: np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(np.float64), id="odd address"),
        pytest.param(lambda a: memoryview(a), id="memoryview"),
        pytest.param(lambda a: np.asmatrix(a).A1, id="matrix"),
    ],
)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_other_arrays_give_the_same_numbers(spoil: Callable[[Any], Any]) -> None:
    system = bough.Mechanism(ARM)
    given = arguments(system, "quu", 0)
    expected = system.forward_dynamics(*given)
    for i in range(3):
        other = [spoil(a) if i == j else a for j, a in enumerate(given)]
        np.testing.assert_array_equal(system.forward_dynamics(*other), expected)
        batch = [np.stack([a, a]) if i != j else a for j, a in enumerate(given)]
        np.testing.assert_array_equal(system.forward_dynamics(*batch)[1], expected)


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments_get_the_messages_of_the_long_way(name: str) -> None:
    inputs, call = CALLS[name]
    system = bough.Mechanism(ARM)
    given = arguments(system, inputs, 0)
    for i in range(len(given)):
        for wrong in (np.zeros(given[i].size + 1), np.zeros((1, 1, given[i].size)), np.zeros(0), np.float64(1.0)):
            with pytest.raises(ArgumentError, match="expected an array of shape"):
                call(system, *given[:i], wrong, *given[i + 1 :])
        for wrong in ("text", None, {}, np.array(["a"] * given[i].size)):
            with pytest.raises(ArgumentError, match="expected an array of"):
                call(system, *given[:i], wrong, *given[i + 1 :])
    if len(given) > 1:
        with pytest.raises(ArgumentError, match="batch sizes differ"):
            call(system, np.stack([given[0]] * 2), np.stack([given[1]] * 3), *given[2:])


def test_a_state_at_which_the_kernel_fails_is_explained() -> None:
    system = bough.Mechanism(ARM)
    q, u, tau = arguments(system, "quu", 0)
    u[0] = np.nan
    with pytest.raises(bough.SimulationError, match="a number is not finite at body 'upper'"):
        system.forward_dynamics(q, u, tau)


def test_calls_hold_no_reference_to_what_they_were_given() -> None:
    system = bough.Mechanism(ARM)
    given = arguments(system, "quu", 0)
    wrong = np.zeros(given[0].size + 1)
    everything = [*given, wrong, None]
    gc.collect()
    before = [sys.getrefcount(a) for a in everything]
    for _ in range(10_000):
        system.forward_dynamics(*given)
        system._workspace.quick.forward(given[0], given[1], wrong)
    after = [sys.getrefcount(a) for a in everything]
    assert after[:-1] == before[:-1]
    # None is counted too in Pythons before 3.12; the garbage of others makes its count move a little
    assert abs(after[-1] - before[-1]) < 5_000


# A Python without NumPy is enough: `array` has the buffers that the extension asks for.
ALONE = """
import array, ctypes, importlib.machinery, importlib.util, json, sys
extension, library, block, q, u, tau = json.load(sys.stdin)
loader = importlib.machinery.ExtensionFileLoader("_binding", extension)
binding = importlib.util.module_from_spec(importlib.util.spec_from_file_location("_binding", extension, loader=loader))
loader.exec_module(binding)
lib = ctypes.CDLL(library)
names = FUNCTIONS
address = [ctypes.cast(getattr(lib, "bough_" + n), ctypes.c_void_p).value for n in names]
kernel = binding.kernel(*address, lambda n: array.array("d", bytes(8 * n)))
block, model, data = bytes.fromhex(block), ctypes.c_void_p(), ctypes.c_void_p()
lib.bough_model_create.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]
lib.bough_data_create.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
assert lib.bough_model_create(block, len(block), ctypes.byref(model)) == 0
assert lib.bough_data_create(model, 1, ctypes.byref(data)) == 0
call = binding.call(kernel, 0, model.value, data.value, len(q), len(u))
arrays = [array.array("d", a) for a in (q, u, tau)]
for _ in range(1000):
    udot = call(*arrays)
    assert call(q, *arrays[1:]) is None
for wrong in ((), (kernel, 99, 1, 1, 1, 1), (1, 0, 1, 1, 1, 1)):
    try:
        binding.call(*wrong)
    except (TypeError, ValueError):
        continue
    raise SystemExit("binding.call takes anything")
json.dump(udot.tolist(), sys.stdout)
"""


def pythons() -> list[str]:
    """The running Python, and others of this machine that bough is for."""
    found = [sys.executable]
    for minor in range(10, 20):
        path = shutil.which(f"python3.{minor}")
        if path and subprocess.run([path, "-c", "import ctypes"], capture_output=True, check=False).returncode == 0:
            found.append(path)
    return found


@pytest.mark.parametrize("python", pythons())
def test_one_extension_serves_every_python(python: str) -> None:
    extension = str(files("bough").joinpath("_binding.abi3.so" if sys.platform != "win32" else "_binding.pyd"))
    library = str(files("bough").joinpath(*_build_info.LIBRARY.split("/")))
    system = bough.Mechanism(ARM)
    given = arguments(system, "quu", 0)
    message = json.dumps([extension, library, system.block.data.hex(), *(a.tolist() for a in given)])
    script = ALONE.replace("FUNCTIONS", repr(quick.FUNCTIONS))
    done = subprocess.run([python, "-c", script], input=message, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(json.loads(done.stdout), system.forward_dynamics(*given))


LAYOUT = """
#include HEADER
#include <stddef.h>
#include <stdio.h>
#define SIZE(what) printf("size " #what " %zu\\n", sizeof(what))
#define AT(type, field) printf("at " #type "." #field " %zu\\n", offsetof(type, field))
#define NUMBER(what) printf(#what " %d\\n", (int)(what))
int main(void) {
  SIZE(Py_ssize_t); SIZE(PyMethodDef); SIZE(PyModuleDef); SIZE(Py_buffer);
  AT(PyMethodDef, ml_name); AT(PyMethodDef, ml_meth); AT(PyMethodDef, ml_flags); AT(PyMethodDef, ml_doc);
  AT(PyModuleDef, m_base); AT(PyModuleDef, m_name); AT(PyModuleDef, m_doc); AT(PyModuleDef, m_size);
  AT(PyModuleDef, m_methods); AT(PyModuleDef, m_slots); AT(PyModuleDef, m_free);
  AT(Py_buffer, buf); AT(Py_buffer, obj); AT(Py_buffer, len); AT(Py_buffer, itemsize); AT(Py_buffer, readonly);
  AT(Py_buffer, ndim); AT(Py_buffer, format); AT(Py_buffer, shape); AT(Py_buffer, strides); AT(Py_buffer, suboffsets);
  AT(Py_buffer, internal);
  NUMBER(METH_FASTCALL); NUMBER(PyBUF_WRITABLE); NUMBER(PyBUF_FORMAT);
  NUMBER(PyBUF_C_CONTIGUOUS & ~PyBUF_FORMAT);
  return 0;
}
"""


def test_the_stable_abi_is_declared_as_python_does(tmp_path: Path) -> None:
    include = Path(sysconfig.get_paths()["include"])
    if not (include / "Python.h").exists():
        (pytest.fail if IN_CI else pytest.skip)("the headers of this Python are not installed")
    source = tmp_path / "layout.c"
    source.write_text(LAYOUT, encoding="utf-8")
    tables = []
    for header, folder in (("<Python.h>", include), ('"stable_abi.h"', ROOT / "engine" / "binding")):
        program = tmp_path / "layout"
        command = [sys.executable, "-m", "ziglang", "cc", f"-DHEADER={header}", f"-I{folder}", str(source)]
        subprocess.run([*command, "-o", str(program)], check=True)
        tables.append(subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout)
    assert tables[0] == tables[1] and "PyBUF_C_CONTIGUOUS" in tables[0]


def test_the_extension_needs_the_stable_abi_alone() -> None:
    extension = str(files("bough").joinpath("_binding.abi3.so"))
    nm = require_tool("nm")
    listed = subprocess.run([nm, "-D", "--undefined-only", extension], capture_output=True, text=True, check=True)
    needed = {line.split()[-1].partition("@")[0] for line in listed.stdout.splitlines()}
    declared = (ROOT / "engine" / "binding" / "stable_abi.h").read_text(encoding="utf-8")
    foreign = {name for name in needed if name not in declared}
    assert foreign <= {"__cxa_finalize", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__gmon_start__",
                       "memset", "strlen"}  # fmt: skip
