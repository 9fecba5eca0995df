"""CasADi imports the Model Exchange FMU: Jacobians are exact, and solve an optimal-control problem."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest
from fmu.models import system
from masters.conftest import Builder
from small_models import LINK

import bough
from bough import build_fmu

INTERVALS, STOP, SUBSTEPS = 40, 1.0, 4


def imported(path: Path, folder: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return casadi.DaeBuilder(path.stem, str(folder))


def order(names: tuple[str, ...], wanted: list[str]) -> list[int]:
    return [names.index(n) for n in wanted]


def test_jacobians_in_casadi_equal_the_linearization(built: Builder, fmi: str, tmp_path: Path) -> None:
    """Both are the complex step through one kernel: equal to rounding, 1e-12 of the largest entry."""
    of = system("arm")
    dae = imported(built("arm", fmi), tmp_path / "fmu")
    f = dae.create("f", ["x", "u"], ["ode", "y"])
    jacobian = f.factory("J", f.name_in(), ["jac:ode:x", "jac:ode:u", "jac:y:x", "jac:y:u"])
    random = np.random.default_rng(4)
    for _ in range(3):
        q, u = 0.2 * random.normal(size=of.nq), 0.3 * random.normal(size=of.nu)
        ss = of.linearize(q, u, np.zeros(of.nu))
        x, w, y = order(ss.states, dae.x()), order(ss.inputs, dae.u()), order(ss.outputs, dae.y())
        got = jacobian(np.concatenate([q, u])[x], np.zeros(len(w)))
        for mine, rows, columns, theirs in zip(ss, (x, x, y, y), (x, w, x, w), got, strict=True):
            error = np.abs(np.array(theirs) - mine[np.ix_(rows, columns)]).max()
            assert error < 1e-12 * np.abs(mine).max()


def swing_up(dae: Any) -> tuple[np.ndarray[Any, Any], Any]:
    """Torque of least effort that lifts the hanging link level and leaves it at rest, bending included."""
    f, names = dae.create("f", ["x", "u"], ["ode"]), dae.x()
    h, start, problem = STOP / INTERVALS / SUBSTEPS, np.zeros(len(names)), casadi.Opti()
    start[names.index("pivot.phi")] = -math.pi / 2
    x, u = problem.variable(len(names), INTERVALS + 1), problem.variable(1, INTERVALS)
    for k in range(INTERVALS):
        at = x[:, k]
        for _ in range(SUBSTEPS):  # rk4
            k1 = f(x=at, u=u[:, k])["ode"]
            k2 = f(x=at + h / 2 * k1, u=u[:, k])["ode"]
            k3 = f(x=at + h / 2 * k2, u=u[:, k])["ode"]
            k4 = f(x=at + h * k3, u=u[:, k])["ode"]
            at = at + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        problem.subject_to(x[:, k + 1] == at)
    problem.subject_to(x[:, 0] == start)
    for name in names:
        if name != "rod.eta[1]":
            problem.subject_to(x[names.index(name), INTERVALS] == 0.0)
    problem.minimize(STOP / INTERVALS * casadi.sumsqr(u))
    problem.set_initial(x, np.linspace(start, 0 * start, INTERVALS + 1).T)
    quiet: dict[str, Any] = {"print_level": 0, "sb": "yes", "hessian_approximation": "limited-memory", "max_iter": 300}
    problem.solver("ipopt", {"print_time": False}, quiet)
    solution = problem.solve()
    return np.atleast_1d(solution.value(u)), problem.stats()


@pytest.mark.filterwarnings("default")
def test_optimal_control_with_the_derivatives_of_the_fmu_reaches_its_goal_in_simulate(fmi: str, tmp_path: Path) -> None:
    of = bough.Mechanism(LINK)
    path = build_fmu(of, tmp_path / "link.fmu", fmi=fmi, platforms="native")
    torque, stats = swing_up(imported(path, tmp_path / "fmu"))
    assert stats["return_status"] == "Solve_Succeeded" and stats["iter_count"] < 100
    q, u = of.initial_state()
    for k, value in enumerate(torque):
        times = (k * STOP / INTERVALS, (k + 1) * STOP / INTERVALS)
        run = bough.simulate(
            of, times[1], {"pivot.tau": float(value)}, step=1.0, start=times[0], rtol=1e-10, initial=(q, u)
        )
        q, u = np.array([run[n][-1] for n in of.q_names]), np.array([run[n][-1] for n in of.u_names])
    # rk4 with steps of 6 ms against a mode of some 20 rad/s: its error over the second is far below a thousandth
    assert abs(q[0]) < 1e-3 and np.abs(u).max() < 5e-3
    assert np.ptp(torque) > 0.5  # it had something to do
