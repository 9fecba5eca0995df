"""One Mechanism may be used from many threads at once; a run in progress is safe from what its inputs call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import bough
from bough.mechanism import kernel
from bough.mechanism.equilibrium import equilibrium
from bough.run.studies import Plan, run_set

THREADS, ROUNDS = 4, 4
ROWS = np.linspace(0.5, 1.0, 40)[:, None]
"""Batches keep C busy for longer than a thread's turn."""
SLOW = ("equilibrium", "linearize")


def chain(links: int = 12) -> dict[str, Any]:
    """Flexible links in a row, some with springs; long enough that a call in C takes longer than a thread's turn."""
    hinge = {"type": "revolute", "axis": [0, 0, 1], "stiffness": 40.0, "damping": 0.2}
    beam = {
        "length": 0.5,
        "elements": 8,
        "section": {"shape": "rectangle", "width": 0.005, "height": 0.05},
        "material": {"E": 7e10, "nu": 0.33, "rho": 2700},
        "modes": {"boundary": "cantilever", "bending_y": 1, "bending_z": 2},
    }
    bodies = []
    for i in range(links):
        place = {"parent": f"link{i - 1}", "at": "tip"} if i else {"parent": "ground"}
        bodies.append({"name": f"link{i}", **place, "hinge": {"name": f"hinge{i}", **hinge}, "beam": beam})
    return {
        "bough": 1,
        "name": "chain",
        "gravity": [0, -9.81, -5],
        "bodies": bodies,
        "outputs": [f"link{links - 1}.tip"],
    }


@pytest.fixture(autouse=True)
def _short_turns() -> Iterator[None]:
    """Threads take turns often: races show in a fraction of a second."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="module")
def system() -> bough.Mechanism:
    """What all threads share."""
    return bough.Mechanism(chain())


def states(system: bough.Mechanism, count: int) -> np.ndarray[Any, Any]:
    """Positions, speeds and forces for every thread and round, (count, nq + 2 nu)."""
    return 1e-3 * np.random.default_rng(1).standard_normal((count, system.nq + 2 * system.nu))


def split(system: bough.Mechanism, x: np.ndarray[Any, Any]) -> tuple[Any, Any, Any]:
    """Positions, speeds, forces."""
    return x[: system.nq], x[system.nq : system.nq + system.nu], x[system.nq + system.nu :]


def _held(system: bough.Mechanism, q: Any, u: Any, tau: Any) -> Any:
    held = [f"hinge{int(abs(1e7 * q[0])) % 12}"]  # another hinge for every state
    out = system.hybrid_dynamics(q, u, tau, held=held)
    return out.udot, out.tau, out.reactions


def _run(system: bough.Mechanism, q: Any, u: Any, tau: Any) -> Any:
    inputs = {"hinge0.tau": float(tau[0])}
    result = bough.simulate(system, 2e-3, inputs, step=1e-3, initial=(q, u), method="rosenbrock2", solver_step=5e-4)
    return [result[name] for name in result.names]


def _set(system: bough.Mechanism, q: Any, u: Any, tau: Any) -> Any:
    settings = {"hinge3.stiffness": float(abs(tau[0]) * 5e4), "hinge2.phi": float(q[2])}
    result = run_set(system, settings, Plan(stop=2e-3, step=1e-3))
    return [result[name] for name in result.names]


def _batch(system: bough.Mechanism, q: Any, u: Any, tau: Any) -> Any:
    return system.forward_dynamics(ROWS * q, ROWS * u, ROWS * tau)


CALLS: dict[str, Callable[[bough.Mechanism, Any, Any, Any], Any]] = {
    "forward": lambda s, q, u, tau: s.forward_dynamics(q, u, tau),
    "composite": lambda s, q, u, tau: s.forward_dynamics(ROWS * q, u, tau, method="composite"),
    "batch": _batch,
    "held": _held,
    "inverse": lambda s, q, u, tau: s.inverse_dynamics(ROWS * q, u, tau),
    "mass matrix": lambda s, q, u, tau: s.mass_matrix(ROWS * q),
    "mass factors": lambda s, q, u, tau: s.mass_factors(ROWS * q),
    "mass solve": lambda s, q, u, tau: s.mass_solve(ROWS * q, tau),
    "linearize": lambda s, q, u, tau: tuple(s.linearize(q, u, tau)),
    "pose": lambda s, q, u, tau: s.pose(ROWS * q, "link11.tip"),
    "pose of any node": lambda s, q, u, tau: s.pose(ROWS * q, "link5.n3"),
    "node motion": lambda s, q, u, tau: s.node_motion(q, u, tau, ["link11.tip"]),
    "energy": lambda s, q, u, tau: s.energy_parts(ROWS * q, u),
    "momentum": lambda s, q, u, tau: s.momentum(q, u),
    "position rates": lambda s, q, u, tau: s.position_rates(q, u),
    "simulate": _run,
    "run with settings": _set,
    "equilibrium": lambda s, q, u, tau: equilibrium(s, tau=tau),
}


def same(a: Any, b: Any) -> bool:
    """Equal to the last bit, whatever it is made of."""
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))


@pytest.mark.parametrize("name", CALLS)
def test_many_threads_get_the_numbers_of_one(system: bough.Mechanism, name: str) -> None:
    call, count = CALLS[name], THREADS * (1 if name in SLOW else ROUNDS)
    jobs = [split(system, x) for x in states(system, count)]
    alone = [call(system, *job) for job in jobs]
    start = Barrier(THREADS)

    def work(thread: int) -> list[Any]:
        start.wait()
        return [call(system, *job) for job in jobs[thread::THREADS] for _ in range(3)]

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(work, range(THREADS)))
    for thread in range(THREADS):
        for i, job in enumerate(found[thread]):
            assert same(job, alone[thread + THREADS * (i // 3)]), f"{name}: thread {thread}, call {i}"


def test_threads_may_ask_for_different_things(system: bough.Mechanism) -> None:
    names = list(CALLS)
    jobs = [split(system, x) for x in states(system, len(names))]
    alone = {name: CALLS[name](system, *job) for name, job in zip(names, jobs, strict=True)}

    def work(thread: int) -> None:
        for i in range(len(names)):
            k = (i * (2 * thread + 1) + thread) % len(names)
            assert same(CALLS[names[k]](system, *jobs[k]), alone[names[k]]), names[k]

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))


@pytest.mark.parametrize("method", ["rk4", "dopri5", "rosenbrock2"])
def test_an_input_function_may_ask_the_system_that_runs(method: str) -> None:
    system = bough.Mechanism(chain(3))
    q, u = system.initial_state()

    def curious(t: float) -> float:
        system.hybrid_dynamics(q + 1.0, u + 1.0, np.ones(system.nu), held=["hinge1"])
        system.mass_factors(q + t)
        return 0.3 * t

    plain, asked = (
        bough.simulate(system, 0.01, {"hinge0.tau": each}, step=1e-3, method=method)
        for each in (lambda t: 0.3 * t, curious)
    )
    for name in plain.names:
        np.testing.assert_array_equal(asked[name], plain[name], err_msg=name)


def test_what_a_thread_used_is_freed_with_it(system: bough.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    freed: list[int] = []
    q, _ = system.initial_state()

    class Seen(kernel.KernelData):
        def __del__(self) -> None:
            freed.append(1)
            super().__del__()

    monkeypatch.setattr(kernel, "KernelData", Seen)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(system.mass_matrix, [q] * THREADS * 4))
    assert 1 <= len(freed) <= THREADS


def test_a_run_that_two_threads_step_at_once_says_so() -> None:
    system = bough.Mechanism(chain(3))
    said: list[str] = []
    ready: list[bough.Run] = []

    def torque(_: float) -> float:
        def other() -> None:
            with pytest.raises(bough.BoughError, match="another thread") as refused:
                ready[0].step(0.02)
            said.append(str(refused.value))

        if ready and not said:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(other).result()
        return 0.0

    name = next(v.name for v in system.variables if v.causality == "input")
    run = bough.Run(system, inputs={name: torque})
    ready.append(run)
    run.step(0.01)
    assert run.time == 0.01
    assert "a Run of its own" in said[0]
