"""Save, run on, restore, run again: identical bytes, in this process and in another."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmu.conftest import Finder
from fmu.fmi import ERROR, OK, Fmu, Instance
from fmu.hostile import crafted, with_word
from fmu.models import system

import bough

STEPS = (0.01, 0.003, 0.02, 0.0007, 0.05)


def outputs(of: bough.Mechanism) -> list[str]:
    return [v.name for v in of.variables if v.causality == "output"]


def drive(it: Instance, names: list[str]) -> bytes:
    """Unequal steps with inputs and a parameter that change; every output and the state, as bytes."""
    log = b""
    ends = (".tau", ".tau[2]", ".force[3]")
    inputs = [n for n in it.fmu.references if n.endswith(ends) and n != "gear.tau"]  # which a loop exerts
    for i, h in enumerate(STEPS):
        it.set({name: 0.1 * (i + 1) * (-1) ** k for k, name in enumerate(inputs)})
        if i == 2:
            it.set({"gravity[1]": 0.7})
        assert it.step(h) == OK, it.last
        log += it.get(names).tobytes()
    return log + it.state_bytes()


@pytest.mark.parametrize("method", [0, 1, 2, 3, 4], ids=["rk4", "dopri5", "rosenbrock2", "radau5", "auto"])
@pytest.mark.parametrize("model", ["arm", "flyer", "linkage"])
def test_restored_run_repeats_every_bit(fmus: Finder, fmi: str, model: str, method: int) -> None:
    fmu, names = fmus(model, fmi), outputs(system(model))
    with Instance(fmu) as it:
        it.set_integer("solver.method", method)
        it.initialize({"solver.tolerance": 1e-7, "solver.step": 0.0})
        box = it.save()
        for _ in range(2):  # from the start of the run, then from the middle of it
            time = it.time
            first = drive(it, names)
            it.restore(box)
            it.time = time
            assert drive(it, names) == first
            it.save(box)  # the same box again, whatever its size
        it.drop(box)


@pytest.mark.parametrize("model", ["arm", "flyer", "linkage"])
def test_snapshots_of_model_exchange_repeat_every_bit(fmus: Finder, fmi: str, model: str) -> None:
    """Quaternions off unit length by an integrator's error stay as the integrator left them."""
    fmu, names = fmus(model, fmi), outputs(system(model))
    with Instance(fmu, "me") as it:
        it.initialize()
        it.to_continuous()
        x = it.states() * (1 + 1e-9)
        it.set_states(x)
        it.must("SetTime", 0.25)
        box = it.save()
        before = (it.states().tobytes(), it.rates().tobytes(), it.get(names).tobytes(), it.state_bytes())
        it.set_states(0.9 * x)
        it.must("SetTime", 0.5)
        it.must("EnterEventMode")
        it.set({"gravity[2]": 3.0})
        it.update_discrete()
        it.rates()
        it.restore(box)
        after = (it.states().tobytes(), it.rates().tobytes(), it.get(names).tobytes(), it.state_bytes())
        assert after[:3] == before[:3]
        assert it.states().tobytes() == x.tobytes()
        it.drop(box)


CHILD = """
import sys
from pathlib import Path
from fmu.fmi import Fmu, Instance
from fmu.models import references, system
from fmu.test_snapshots import drive, outputs
model, fmi, folder, library, token, state, out = sys.argv[1:]
fmu = Fmu(fmi, Path(folder), Path(library), token, references(system(model)))
with Instance(fmu) as it:
    box = it.deserialize(Path(state).read_bytes())
    it.restore(box)
    it.drop(box)
    it.time = float(it.get(["time"])[0])
    Path(out).write_bytes(drive(it, outputs(system(model))))
"""


@pytest.mark.parametrize("model", ["arm", "flyer"])
def test_run_serialized_here_resumes_in_another_process_with_every_bit(
    fmus: Finder, fmi: str, model: str, tmp_path: Path
) -> None:
    fmu, names = fmus(model, fmi), outputs(system(model))
    with Instance(fmu) as it:
        it.initialize({"solver.tolerance": 1e-7})
        drive(it, names)
        (tmp_path / "state").write_bytes(it.state_bytes())
        here = drive(it, names)
    files = [str(fmu.folder), str(fmu.library), fmu.token, str(tmp_path / "state"), str(tmp_path / "out")]
    tests = Path(__file__).parents[1]
    subprocess.run([sys.executable, "-c", CHILD, model, fmi, *files], check=True, cwd=tests, timeout=120)
    assert (tmp_path / "out").read_bytes() == here


def test_snapshot_serves_any_instance_of_the_model(arm: Fmu) -> None:
    names = outputs(system("arm"))
    with Instance(arm) as it, Instance(arm) as sister:
        it.initialize({"solver.tolerance": 1e-7})
        drive(it, names)
        box = it.save()
        sister.restore(box)
        sister.time = it.time
        it.drop(box)
        assert drive(sister, names) == drive(it, names)


def damaged(data: bytes) -> list[bytes]:
    """Ways in which a serialized state may come back."""
    random = np.random.default_rng(3)
    out = [b"", data[:8], data[:-1], data + b"\0", bytes(len(data))]
    for place in random.integers(0, len(data), 200):
        flipped = bytearray(data)
        flipped[place] ^= 1 << int(random.integers(8))
        out.append(bytes(flipped))
    return out


def test_damaged_or_foreign_state_is_refused_and_nothing_changes(arm: Fmu, flyer: Fmu) -> None:
    with Instance(arm) as it, Instance(flyer) as stranger, Instance(arm, "me") as other_kind:
        it.initialize()
        assert it.step(0.01) == OK
        good = it.state_bytes()
        for data in [*damaged(good), stranger.state_bytes(), other_kind.state_bytes()]:
            assert it.resume(data) == ERROR
            assert "'arm'" in it.last and "Nothing is changed" in it.last
        assert it.state_bytes() == good
        assert it.step(0.01) == OK


def test_buffer_that_is_too_small_is_refused_and_not_written(arm: Fmu) -> None:
    import ctypes as c

    with Instance(arm) as it:
        box = it.save()
        size = len(it.serialize(box))
        buffer: Any = (c.c_char * size)(*([b"x"] * size))
        name = "SerializeFMUState" if it.new else "SerializeFMUstate"
        assert it.call(name, box, c.addressof(buffer), size - 1) == ERROR
        assert str(size - 1) in it.last and str(size) in it.last
        assert bytes(buffer) == b"x" * size
        it.drop(box)


def test_reset_restores_everything(arm: Fmu) -> None:
    """After a run with other parameters, locks, inputs, times and solver, the state is that of a new instance."""
    names = outputs(system("arm"))
    with Instance(arm) as it, Instance(arm) as fresh:
        new = fresh.state_bytes()
        assert it.state_bytes() == new
        it.set_integer("solver.method", 2)
        it.set({"shoulder.phi": 1.0, "hand.mass": 2.0, "gravity[1]": 3.0, "shoulder.damping": 1.0, "solver.step": 1e-3})
        it.initialize(start=2.0, stop=5.0, tolerance=1e-4)
        it.set_flag("wrist.locked", True)
        if not it.new:
            it.input_derivative("shoulder.tau", 1, 2.0)
        assert it.step(0.05) == OK
        it.must("Reset")
        assert it.state_bytes() == new
        it.time = 0.0
        it.initialize()
        fresh.initialize()
        assert drive(it, names) == drive(fresh, names)


SIZES = (2**64 - 1, 2**64 - 8, 2**64 - 16, 2**63, 2**62, 2**32 + 8, 2**31)


def test_size_that_is_not_the_state_s_is_refused_before_anything_is_read(arm: Fmu) -> None:
    with Instance(arm) as it:
        it.initialize()
        good = it.state_bytes()
        for size in (*SIZES, len(good) + 1, len(good) - 1, 183, 8, 1, 0):
            assert it.resume(good, size) == ERROR, size
            assert "Nothing is changed" in it.last
        assert it.resume(good) == OK
        assert it.state_bytes() == good


@pytest.mark.parametrize("kind", ["cs", "me"])
def test_crafted_state_is_refused_or_leaves_nothing_behind_a_reset(arm: Fmu, kind: str) -> None:
    """Parameters that no variable reaches stay the model's; those of variables pass the checks of setting them."""
    names = outputs(system("arm"))
    with Instance(arm, kind) as it:
        fresh = it.state_bytes()
        it.initialize()
        first = it.get(names).tobytes()
        if kind == "cs":
            assert it.step(0.01) == OK
        good, accepted, refused = it.state_bytes(), 0, 0
        for place, value, state in crafted(good, 90):
            if it.resume(state) != OK:
                assert it.state_bytes() == good, (place, value)
                refused += 1
                continue
            accepted += 1
            it.must("Reset")
            assert it.state_bytes() == fresh, (place, value)
            it.initialize()
            assert it.get(names).tobytes() == first, (place, value)
            assert it.resume(good) == OK
            assert it.state_bytes() == good, (place, value)
        assert refused > 300 and accepted > 100  # results and stages may hold any number


@pytest.mark.parametrize("name", ["shoulder.damping", "hand.mass", "solver.tolerance"])
def test_restored_parameter_passes_the_check_of_setting_it(arm: Fmu, name: str) -> None:
    import struct

    with Instance(arm) as it:
        it.set({name: 0.4371})
        good = it.state_bytes()
        place = good.index(struct.pack("<d", 0.4371)) // 8
        assert it.resume(with_word(good, place, 0.25)) == OK
        assert it.get([name])[0] == 0.25
        for value in (-0.25, float("nan")):
            assert it.resume(with_word(good, place, value)) == ERROR
            assert it.get([name])[0] == 0.25


def test_state_with_parameters_to_come_is_restored_with_them(arm: Fmu) -> None:
    """Set, saved before the next step applies them, restored elsewhere: the same bits as without the detour."""
    names = outputs(system("arm"))
    with Instance(arm) as it, Instance(arm) as sister:
        it.initialize()
        sister.initialize()
        assert it.step(0.01) == sister.step(0.01) == OK
        it.set({"hand.mass": 2.0, "gravity[1]": 1.0, "shoulder.damping": 0.5})
        it.set_flag("wrist.locked", True)
        assert sister.resume(it.state_bytes()) == OK
        assert drive(sister, names) == drive(it, names)
