"""Instances know nothing of each other: thirty-two of them on eight threads equal their serial runs bit for bit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from fmu.fmi import DISCARD, OK, Fmu, Instance
from fmu.models import system

INSTANCES, THREADS, STEPS = 32, 8, 25


def prepared(fmu: Fmu, i: int) -> Instance:
    """Each with its own start, torque, tolerance and solver."""
    it = Instance(fmu)
    it.set_integer("solver.method", (1, 1, 2, 0)[i % 4])
    it.initialize({"shoulder.phi": 0.05 * i, "shoulder.tau": 0.1 * (i % 5), "solver.tolerance": 10.0 ** -(5 + i % 4)})
    return it


def one_step(it: Instance, i: int, n: int, names: list[str]) -> bytes:
    """A step, its outputs; now and then a refusal, a derivative or a snapshot in between."""
    if (n + i) % 7 == 0:
        assert it.try_set({"shoulder.tau": float("nan")}) == DISCARD
    if (n + i) % 5 == 0:
        it.directional(["shoulder.a"], ["shoulder.tau"], [1.0])
        box = it.save()
        it.restore(box)
        it.drop(box)
    assert it.step(0.002 * (1 + i % 3)) == OK
    return it.get(names).tobytes()


def test_thirty_two_instances_on_eight_threads_equal_their_serial_runs_bit_for_bit(arm: Fmu) -> None:
    """Every instance goes from thread to thread from step to step; ctypes lets the threads run side by side."""
    names = [v.name for v in system("arm").variables if v.causality == "output"]
    serial = []
    for i in range(INSTANCES):
        with prepared(arm, i) as it:
            serial.append([one_step(it, i, n, names) for n in range(STEPS)])
    with ThreadPoolExecutor(THREADS) as pool:
        instances = list(pool.map(lambda i: prepared(arm, i), range(INSTANCES)))
        parallel: list[list[bytes]] = [[] for _ in range(INSTANCES)]
        for n in range(STEPS):
            tasks = [pool.submit(one_step, it, i, n, names) for i, it in enumerate(instances)]
            for i, task in enumerate(tasks):
                parallel[i].append(task.result())
        list(pool.map(lambda it: it.free(), instances))
    assert parallel == serial
    assert len({run[-1] for run in serial}) == INSTANCES  # all different runs
