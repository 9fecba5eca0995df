"""A component that a master steps: how it divides the time, and whether it goes back in between, changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from fmu.fmi import OK, Fmu, Instance
from fmu.models import unpack
from metamorphic.cases import EVERY, SEEDS, J, linear_response, panel, rectangle, turntable

import bough

VERSIONS = ("2.0", "3.0")
METHODS = {"rk4": 0, "dopri5": 1, "rosenbrock2": 2, "radau5": 3, "auto": 4}
Finder = Callable[[str, str], Fmu]


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finder]:
    """The rigid satellite and the one with a panel, unpacked once."""
    made: dict[tuple[str, str], Fmu] = {}
    models = {"rigid": turntable, "panel": panel}

    def find(name: str, fmi: str) -> Fmu:
        if (name, fmi) not in made:
            made[name, fmi] = unpack(bough.Mechanism(models[name]()), fmi, tmp_path_factory.mktemp(f"{name}{fmi[0]}"))
        return made[name, fmi]

    yield find


def started(fmu: Fmu, method: str = "dopri5", rtol: float = 1e-9, **values: float) -> Instance:
    it = Instance(fmu)
    it.set_integer("solver.method", METHODS[method])
    it.set({"solver.tolerance": rtol, **{key.replace("_", ".", 1): value for key, value in values.items()}})
    return it.initialize()


def go(it: Instance, end: float, parts: int = 1) -> None:
    first = it.time
    for i in range(1, parts + 1):
        assert it.step(first + (end - first) * i / parts - it.time) == OK, it.last


def states(it: Instance) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    system = bough.Mechanism(panel())
    names = [*system.q_names, *system.u_names]
    return it.get([name for name in names if name in it.fmu.references])


@pytest.mark.parametrize("fmi", VERSIONS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("parts", [1, 7, 100])
def test_torque_that_a_master_holds_turns_the_satellite(fmus: Finder, fmi: str, method: str, parts: int) -> None:
    """At rest for 20 s, 4 s of torque, 6 s after it, each in one step or in many: exact, the motion is a parabola."""
    with started(fmus("rigid", fmi), method, 1e-6) as it:
        go(it, 20.0, parts)
        it.set({"axis.tau": 0.1})
        go(it, 24.0, parts)
        it.set({"axis.tau": 0.0})
        go(it, 30.0, parts)
        phi, w = rectangle(20.0, 24.0, 0.1).motion(30.0)
        assert it.get(["axis.phi", "axis.w"]) == pytest.approx([phi, w], rel=1e-9)


@pytest.mark.parametrize("torque", [1.0, 1e-3, 1e-6, 1e-9])
def test_torque_of_any_size_turns_the_flexible_satellite_alike(fmus: Finder, torque: float) -> None:
    """Against the linear response. The largest turns it by 3e-4 rad; the rest is of the order of its square."""
    span = 0.4
    pulse = rectangle(0.1, 0.2, torque)
    with started(fmus("panel", "2.0")) as it:
        go(it, 0.1)
        it.set({"axis.tau": torque})
        go(it, 0.2)
        it.set({"axis.tau": 0.0})
        go(it, span)
        exact = linear_response(bough.Mechanism(panel()), "axis.tau", pulse, span)
        found = states(it)
    half = len(exact) // 2
    for part in (slice(0, half), slice(half, None)):
        assert np.abs(found[part] - exact[part]).max() < 1e-5 * np.abs(exact[part]).max()


@pytest.mark.parametrize("fmi", VERSIONS)
@pytest.mark.parametrize("method", METHODS)
def test_one_step_of_ten_milliseconds_is_ten_of_one(fmus: Finder, fmi: str, method: str) -> None:
    """Inputs held over 10 ms, for 0.5 s. dopri5: tolerance 1e-9, some fifty steps; rk4 has its step of 1 ms either way;
    rosenbrock2 is of order two, and shorter steps make it better by what its tolerance lets it be worse; of those at
    1e-6 radau5 is better than its tolerance, and auto may take either method on either way."""
    found = []
    for parts in (1, 10):
        with started(fmus("panel", fmi), method, 1e-9 if method == "dopri5" else 1e-6) as it:
            for i in range(50):
                it.set({"axis.tau": float(np.sin(0.3 * i))})
                go(it, 0.01 * (i + 1), parts)
            found.append(states(it))
    half = len(found[0]) // 2
    within = {"rk4": 1e-10, "dopri5": 1e-7, "rosenbrock2": 1e-4, "radau5": 1e-6, "auto": 1e-5}[method]
    for part in (slice(0, half), slice(half, None)):
        assert np.abs(found[0][part] - found[1][part]).max() < within * np.abs(found[0][part]).max()


@pytest.mark.parametrize("fmi", VERSIONS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_going_back_within_a_pulse_changes_nothing(fmus: Finder, fmi: str, method: str, seed: int) -> None:
    """Saved at a random time of the pulse, led astray, restored: in the same instance after another input, and in a new
    instance from bytes. Both go on to the last bit as the one that was left alone."""
    rng = np.random.default_rng([seed, 71])
    pause = float(rng.uniform(0.31, 0.69))
    ends = []
    with started(fmus("panel", fmi), method, 1e-6) as alone, started(fmus("panel", fmi), method, 1e-6) as it:
        for one in (alone, it):
            go(one, 0.3)
            one.set({"axis.tau": 2.0})
            go(one, pause, 3)
        box = it.save()
        data = it.serialize(box)
        now = it.time
        it.set({"axis.tau": -50.0})
        go(it, now + 0.5, 2)
        it.restore(box)
        it.time = now
        it.drop(box)
        with Instance(fmus("panel", fmi)) as other:
            other.initialize()
            new = other.deserialize(data)
            other.restore(new)
            other.drop(new)
            other.time = now
            for one in (alone, it, other):
                go(one, 0.7, 2)
                one.set({"axis.tau": 0.0})
                go(one, 1.5, 4)
                ends.append(states(one))
    assert np.array_equal(ends[0], ends[1])
    assert np.array_equal(ends[0], ends[2])
    assert abs(ends[0][0]) > 1e-3, "it has turned"


def test_slope_of_an_input_is_integrated_exactly(fmus: Finder) -> None:
    """A ramp of torque in one step of FMI 2: the angle is its cubic."""
    with started(fmus("rigid", "2.0"), "dopri5", 1e-6) as it:
        go(it, 3.0)
        it.set({"axis.tau": 0.2})
        it.input_derivative("axis.tau", 1, 0.1)
        go(it, 5.0)
        assert it.get(["axis.phi", "axis.w"]) == pytest.approx([(0.2 * 2 + 0.1 * 8 / 6) / J, (0.4 + 0.2) / J], rel=1e-9)


@pytest.mark.parametrize("fmi", VERSIONS)
@pytest.mark.parametrize("method", ["dopri5", "rosenbrock2"])
def test_longest_step_of_the_fmu_does_not_change_the_motion(fmus: Finder, fmi: str, method: str) -> None:
    """`solver.max_step`: 0 leaves the steps to the tolerance; 1 ms divides them, and results agree within it."""
    found = []
    for longest in (0.0, 0.01, 1e-3):
        with started(fmus("panel", fmi), method, 1e-8 if method == "dopri5" else 1e-6, solver_max_step=longest) as it:
            it.set({"axis.tau": 0.5})
            go(it, 1.0)
            found.append(states(it))
    half = len(found[0]) // 2
    for other in found[1:]:
        for part in (slice(0, half), slice(half, None)):
            assert (
                np.abs(found[0][part] - other[part]).max()
                < (1e-5 if method == "dopri5" else 1e-2) * np.abs(found[0][part]).max()
            )


def test_fmu_and_simulation_agree_on_a_pulse_that_both_are_given(fmus: Finder, tmp_path: Path) -> None:
    """The same jumps by table and by a master that holds the input: tolerance 1e-9, some hundred steps each."""
    system = bough.Mechanism(panel())
    pulse = rectangle(0.37, 1.21, 0.5)
    run = bough.simulate(system, 3.0, {"axis.tau": pulse.table}, 0.5, rtol=1e-9)
    with started(fmus("panel", "2.0")) as it:
        for end, torque in ((0.37, 0.0), (1.21, 0.5), (3.0, 0.0)):
            it.set({"axis.tau": torque})
            go(it, end, 20 if EVERY else 3)
        found = states(it)
    names = [*system.q_names, *system.u_names]
    exact = np.array([run[name][-1] for name in names])
    half = system.nq
    for part in (slice(0, half), slice(half, None)):
        assert np.abs(found[part] - exact[part]).max() < 1e-6 * np.abs(exact[part]).max()
