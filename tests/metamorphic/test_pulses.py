"""A pulse of torque at any place of a run, down to one row long, turns a satellite at rest as the closed form says."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from metamorphic.cases import (
    RIGID,
    SEEDS,
    TORQUE,
    Array,
    Pulse,
    angle,
    draw,
    linear_response,
    panel,
    rate,
    rectangle,
    turntable,
)
from typer.testing import CliRunner

import bough
from bough.cli import app
from bough.coupling import run as run_system
from bough.run.studies import Plan, sweep

HINGES = sorted(RIGID)
ADAPTIVE = ("dopri5", "rosenbrock2")
CLOSED = 1e-6
"""What the angle may miss of the closed form. Steps that end at the corners of a rigid satellite's torque are exact up
to rounding (the motion between is a cubic); a corner that is stepped over shows by orders of magnitude."""
RTOL = {"revolute": 1e-6, "free": 1e-8}
"""The standard tolerance; a closer one for quaternions, which are no cubic and have the error of each step."""
SPLIT = 1e-9
"""Relative tolerance where a jump within a step is found by the error alone: some ten steps around each of two jumps,
each with an error of the tolerance, leave 2e-8 of the rate, and of the angle at most 50 times as much behind it."""


LINEAR = {"dopri5": (1e-9, 1e-6), "rosenbrock2": (1e-6, 1e-3)}
"""Relative tolerance, and what it leaves after twelve periods of the first mode, a thousand times as much."""


def moved(run: bough.Result, system: bough.Mechanism) -> dict[tuple[str, ...], float]:
    """How far the positions of the hinge, its speeds, the modes and their rates have gone, each together."""
    parts = []
    for names in (system.q_names, system.u_names):
        parts += [tuple(n for n in names if n.startswith(owner)) for owner in ("axis", "panel")]
    return {part: max(float(np.abs(run[name] - run[name][0]).max()) for name in part) for part in parts}


def drawn(seed: int, rows: int = 1000) -> tuple[float, float, Pulse]:
    """Stop, distance of rows, and a rectangle of torque that turns the satellite by some tenths of a radian."""
    rng = np.random.default_rng([seed, 11])
    stop = float(np.exp(rng.uniform(np.log(2.0), np.log(200.0))))
    begin, end = draw(rng, stop, stop / rows)
    pulse = rectangle(begin, end, 1.6 / (stop * (end - begin)))
    if seed % 2:  # half of the tables begin and end with the run, the others with a jump
        pulse = Pulse(np.array([0.0, *pulse.t, stop]), np.array([0.0, *pulse.tau, 0.0]))
    return stop, stop / rows, pulse


def close(found: Array, w: Array, pulse: Pulse, stop: float, within: float = CLOSED) -> None:
    phi, speed = pulse.motion(stop)
    assert w[-1] == pytest.approx(speed, rel=within)
    assert found[-1] == pytest.approx(phi, rel=within)


# ---- Python


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("hinge", HINGES)
@pytest.mark.parametrize("seed", range(3 * SEEDS))
def test_pulse_of_a_table_is_felt(seed: int, hinge: str, method: str) -> None:
    stop, row, pulse = drawn(seed)
    run = bough.simulate(RIGID[hinge](), stop, {TORQUE[hinge]: pulse.table}, row, method=method, rtol=RTOL[hinge])
    close(angle(run, hinge), rate(run, hinge), pulse, stop)


@pytest.mark.parametrize("hinge", HINGES)
@pytest.mark.parametrize("seed", range(2 * SEEDS))
def test_pulse_of_a_series_on_the_rows_is_felt(seed: int, hinge: str) -> None:
    """A series is linear from row to row: one value alone is a triangle of two rows."""
    stop, row, _ = drawn(seed, rows=400)
    rng = np.random.default_rng([seed, 12])
    first, count = int(rng.integers(1, 300)), int(rng.choice([1, 2, 20, 80]))
    model = RIGID[hinge]()
    times = bough.simulate(model, stop, {}, row).t
    tau = np.zeros(times.size)
    tau[first : first + count] = 1.6 / (stop * row * count)
    run = bough.simulate(model, stop, {TORQUE[hinge]: tau}, row, rtol=RTOL[hinge])
    close(angle(run, hinge), rate(run, hinge), Pulse(times, tau), stop)


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_pulse_of_a_function_is_felt(seed: int, method: str) -> None:
    """A function tells nothing of its jumps: no step may be longer than a row, and the error finds them."""
    stop, row, pulse = drawn(seed)
    (begin, end), tau = np.unique(pulse.t[np.flatnonzero(pulse.tau)]), float(pulse.tau.max())
    inputs = {"axis.tau": lambda t: tau if begin <= t < end else 0.0}
    # The first-order error of rosenbrock2 takes steps down to the tolerance's share of a row: 1e-7 is enough to find.
    rtol = SPLIT if method == "dopri5" else 1e-7
    run = bough.simulate(turntable(), stop, inputs, row, method=method, rtol=rtol)
    close(angle(run, "revolute"), rate(run, "revolute"), pulse, stop, CLOSED if method == "dopri5" else 1e-5)


@pytest.mark.parametrize("factor", [0.3, 1.0])
def test_longest_step_finds_what_lies_within_a_row(factor: float) -> None:
    """Rows of 1 s; the torque acts for 0.1 s, and `max_step` is as long or shorter."""
    pulse = rectangle(3.37, 3.47, 0.5)
    inputs = {"axis.tau": lambda t: 0.5 if 3.37 <= t < 3.47 else 0.0}
    run = bough.simulate(turntable(), 10.0, inputs, 1.0, max_step=0.1 * factor, rtol=SPLIT)
    close(angle(run, "revolute"), rate(run, "revolute"), pulse, 10.0)


def test_pulse_of_a_table_is_felt_by_fixed_steps() -> None:
    """Fixed steps end at corners too: with rk4 a constant torque gives the exact parabola."""
    pulse = rectangle(3.3337, 3.3421, 2.0)
    for method in ("rk4", "rosenbrock2"):
        run = bough.simulate(turntable(), 10.0, {"axis.tau": pulse.table}, 0.1, method=method, solver_step=0.1)
        close(angle(run, "revolute"), rate(run, "revolute"), pulse, 10.0)


def test_rows_see_the_torque_and_the_speed_that_it_has_made() -> None:
    """At each row: speed and angle belong to the torque of the same table, during the pulse as well."""
    pulse = rectangle(20.0, 24.0, 0.5)
    run = bough.simulate(turntable(), 30.0, {"axis.tau": pulse.table}, 0.25)
    felt = np.clip(run.t - 20.0, 0.0, 4.0)
    assert run["axis.w"] == pytest.approx(0.5 / 8.0 * felt, abs=1e-12)
    coasting = np.clip(run.t - 24.0, 0.0, None)
    assert run["axis.phi"] == pytest.approx(0.5 / 8.0 * (felt**2 / 2 + 4.0 * coasting), abs=1e-12)
    within = (run.t > 20.0) & (run.t < 24.0)
    assert np.all(run["axis.tau"][within] == 0.5) and np.all(run["axis.a"][within] == pytest.approx(0.0625, rel=1e-12))


@pytest.mark.parametrize("method", ["dopri5", "rosenbrock2", "rk4"])
def test_corners_beside_rows_by_a_rounding_error_do_not_stall_the_run(method: str) -> None:
    """Sums of 0.1 and products by it differ in the last digit; so do corners of one table and those of another."""
    rows = 0.1 * np.arange(101)
    beside = np.cumsum(np.full(100, 0.1))
    assert np.any(beside != rows[1:]) and np.allclose(beside, rows[1:])
    tau = np.where((np.arange(100) >= 30) & (np.arange(100) < 50), 0.5, 0.0)
    other = (np.nextafter(beside, np.inf), 0.0 * tau + 2.0)
    model = turntable() | {"inputs": ["hub.origin.torque"]}
    inputs = {"axis.tau": (beside, tau), "hub.origin.torque[1]": other}
    run = bough.simulate(model, 10.0, inputs, 0.1, method=method)
    close(run["axis.phi"], run["axis.w"], Pulse(beside, tau), 10.0)


@pytest.mark.parametrize("hinge", HINGES)
@pytest.mark.parametrize("method", ADAPTIVE)
def test_pulse_on_a_flexible_panel_leaves_the_linear_response(hinge: str, method: str) -> None:
    """Against exponentials of the linear equations; angles of 1e-7 rad leave 1e-14 to what is not linear."""
    system = bough.Mechanism(panel(hinge))
    pulse = rectangle(21.337, 22.01, 1e-6)
    rtol, within = LINEAR[method]
    run = bough.simulate(system, 40.0, {TORQUE[hinge]: pulse.table}, 0.1, rtol=rtol, method=method)
    x = linear_response(system, TORQUE[hinge], pulse, 40.0)
    names = [*system.q_names, *system.u_names]
    found = {name: run[name][-1:] for name in names}
    exact = {name: x[i : i + 1] for i, name in enumerate(names)}
    gaps = {name: abs(float(found[name][0] - exact[name][0])) for name in names}
    for part, size in moved(run, system).items():
        worst = max(gaps[name] for name in names if name in part)
        assert worst < within * size, part


@pytest.mark.parametrize("seed", range(SEEDS))
def test_momentum_after_a_pulse_is_its_impulse(seed: int) -> None:
    """Of hub and panel together, whatever the panel does: to the tolerance 1e-8 of some hundred steps."""
    stop, row, pulse = drawn(seed)
    system = bough.Mechanism(panel("free"))
    run = bough.simulate(system, stop, {"axis.tau[3]": pulse.table}, row, rtol=1e-8)
    q, u = (np.array([run[name][-1] for name in names]) for names in (system.q_names, system.u_names))
    # the torque acts about the axis of the hub, which stays z: the motion is planar
    impulse = float(np.sum(np.diff(pulse.t) * (pulse.tau[1:] + pulse.tau[:-1]) / 2))
    assert system.momentum(q, u)[1][2] == pytest.approx(impulse, rel=CLOSED)


# ---- the command line, sweeps, FMUs, systems


def written(folder: Path, name: str, pulse: Pulse) -> Path:
    path = folder / "pulse.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["time", name])
        writer.writerows([repr(float(t)), repr(float(tau))] for t, tau in zip(*pulse.table, strict=True))
    return path


def command(*arguments: object) -> None:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output


def modelled(folder: Path, model: dict[str, Any]) -> Path:
    path = folder / "model.json"
    path.write_text(json.dumps(model), encoding="utf-8")
    return path


@pytest.mark.parametrize("hinge", HINGES)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_bough_run_feels_the_pulse_of_a_file(seed: int, hinge: str, tmp_path: Path) -> None:
    stop, row, pulse = drawn(seed)
    model, file = modelled(tmp_path, RIGID[hinge]()), written(tmp_path, TORQUE[hinge], pulse)
    options = ("--stop", stop, "--step", row, "--rtol", RTOL[hinge])
    command("run", model, "--input", file, *options, "-o", tmp_path / "run.csv")
    run = bough.Result.from_csv(tmp_path / "run.csv")
    close(angle(run, hinge), rate(run, hinge), pulse, stop)


@pytest.mark.parametrize("setting", [[], ["--set", "axis.damping=0"], ["--set", "hub.mass=12"]])
def test_bough_run_feels_the_pulse_whatever_is_set_besides(setting: list[str], tmp_path: Path) -> None:
    """Settings of parameters take another way through the code than runs without."""
    pulse = rectangle(20.0, 24.0, 0.1)
    model, file = modelled(tmp_path, turntable()), written(tmp_path, "axis.tau", pulse)
    command("run", model, "--input", file, "--stop", 30, *setting, "-o", tmp_path / "run.csv")
    run = bough.Result.from_csv(tmp_path / "run.csv")
    close(run["axis.phi"], run["axis.w"], pulse, 30.0)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_run_of_a_sweep_feels_the_pulse(seed: int, tmp_path: Path) -> None:
    """Each with its own inertia: 8 kg.m2 and the armature."""
    stop, row, pulse = drawn(seed)
    points = [{"axis.armature": x} for x in (0.0, 4.0, 8.0)]
    runs: dict[int, bough.Result] = {}
    done = sweep(turntable(), points, Plan(stop, row, {"axis.tau": pulse.table}), keep=runs.__setitem__)
    assert all(outcome.ok for outcome in done.outcomes)
    for number, point in enumerate(points, 1):
        phi, w = pulse.motion(stop, 8.0 + point["axis.armature"])
        assert runs[number]["axis.phi"][-1] == pytest.approx(phi, rel=CLOSED)
        assert runs[number]["axis.w"][-1] == pytest.approx(w, rel=CLOSED)


def test_bough_sweep_feels_the_pulse_of_a_file(tmp_path: Path) -> None:
    pulse = rectangle(20.0, 24.0, 0.1)
    model, file = modelled(tmp_path, turntable()), written(tmp_path, "axis.tau", pulse)
    table = tmp_path / "sweep.csv"
    command(
        "sweep", model, "--input", file, "--stop", 30, "--set", "axis.armature=0,8", "--only", "axis.phi", "-o", table
    )
    with table.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    expected = [pulse.motion(30.0, inertia)[0] for inertia in (8.0, 16.0)]
    assert [float(row["axis.phi.final"]) for row in rows] == pytest.approx(expected, rel=CLOSED)


@pytest.fixture(scope="module")
def fmu(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """The satellites as FMUs, each built once."""
    folder = tmp_path_factory.mktemp("fmus")

    def find(hinge: str, fmi: str) -> Path:
        path = folder / f"{hinge}{fmi[0]}.fmu"
        return path if path.is_file() else bough.build_fmu(RIGID[hinge](), path, fmi=fmi, platforms="native")

    return find


@pytest.mark.parametrize(("hinge", "fmi"), [("free", "2.0"), ("revolute", "2.0"), ("revolute", "3.0")])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_bough_run_of_an_fmu_feels_the_pulse_of_a_file(
    seed: int, hinge: str, fmi: str, fmu: Callable[[str, str], Path], tmp_path: Path
) -> None:
    """A jump of the table is a communication point: an input that is held until the next is then exact."""
    stop, row, pulse = drawn(seed, rows=200)
    file = written(tmp_path, TORQUE[hinge], pulse)
    options = ("--stop", stop, "--step", row, "--rtol", RTOL[hinge])
    command("run", fmu(hinge, fmi), "--input", file, *options, "-o", tmp_path / "run.csv")
    run = bough.Result.from_csv(tmp_path / "run.csv")
    close(angle(run, hinge), rate(run, hinge), pulse, stop)


def test_inputs_that_a_table_does_not_name_keep_their_start_values(tmp_path: Path) -> None:
    """`--set axis.f[1]=3` beside a table of the torque alone: the hub of 12 kg is pushed as well."""
    pulse = rectangle(2.0, 3.0, 0.1)
    fmu = bough.build_fmu(RIGID["free"](), tmp_path / "flyer.fmu", platforms="native")
    file = written(tmp_path, "axis.tau[3]", pulse)
    command("run", fmu, "--input", file, "--stop", 4, "--step", 0.1, "--set", "axis.f[1]=3", "-o", tmp_path / "run.csv")
    run = bough.Result.from_csv(tmp_path / "run.csv")
    assert run["axis.s[1]"][-1] == pytest.approx(3.0 / 12.0 * 16.0 / 2.0, rel=CLOSED)
    close(angle(run, "free"), rate(run, "free"), pulse, 4.0)


def alone(folder: Path, extrapolation: str) -> Path:
    """A system of one component, stepped by 20 ms."""
    data = {
        "bough_system": 1,
        "name": "alone",
        "components": {"sat": modelled(folder, turntable()).name},
        "connections": [],
        "master": {"step": 0.02, "stop": 10.0, "extrapolation": extrapolation},
    }
    path = folder / "system.yaml"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("extrapolation", ["constant", "linear"])
def test_component_of_a_system_feels_the_pulse(seed: int, extrapolation: str, tmp_path: Path) -> None:
    """An input from outside, with jumps at communication points, from one step of the master to a third of the run."""
    rng = np.random.default_rng([seed, 13])
    step = 0.02
    first, count = int(rng.integers(1, 300)), int(rng.choice([1, 2, 150]))
    pulse = rectangle(first * step, (first + count) * step, 1.6 / (10.0 * count * step))
    path = alone(tmp_path, extrapolation)
    run = run_system(path, inputs={"sat.axis.tau": pulse.table})
    close(run["sat.axis.phi"], run["sat.axis.w"], pulse, 10.0)
    command("run", path, "--input", written(tmp_path, "sat.axis.tau", pulse), "-o", tmp_path / "run.csv")
    again = bough.Result.from_csv(tmp_path / "run.csv")
    assert np.array_equal(again["sat.axis.phi"], run["sat.axis.phi"])


@pytest.mark.parametrize("seed", range(SEEDS))
def test_component_of_a_system_feels_a_pulse_between_communication_points(seed: int, tmp_path: Path) -> None:
    """A table's jumps are communication points, as in a run of the FMU alone; rows stay where they are."""
    rng = np.random.default_rng([seed, 14])
    begin, length = float(rng.uniform(0.1, 7.0)), float(rng.choice([0.02, 0.05, 1.234]))
    pulse = rectangle(begin, begin + length, 1.6 / (10.0 * length))
    path = alone(tmp_path, "constant")
    run = run_system(path, inputs={"sat.axis.tau": pulse.table})
    assert run.t == pytest.approx(0.02 * np.arange(501), abs=1e-12)
    close(run["sat.axis.phi"], run["sat.axis.w"], pulse, 10.0)
