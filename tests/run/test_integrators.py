"""Each integrator shows its order, its stability, and what its tolerance means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel.cases import Array, Dict
from run.cases import blade, states, swinging_chain

from bough import Mechanism, simulate
from bough.mechanism.kernel_sim import KernelSim

STOP = 1.0
TIGHT: dict[str, Any] = {"rtol": 1e-13, "atol": 1e-14}


def at_end(system: Mechanism, **options: Any) -> Array:
    """q and u at the end of a run."""
    run = simulate(system, STOP, step=STOP, **options)
    q, u = states(system, run)
    return np.concatenate([q[-1], u[-1]])


@pytest.fixture(scope="module")
def chain() -> Mechanism:
    """Stiffness, springs, damping, a quaternion: everything a step has to get right."""
    model = swinging_chain()
    for body in model["bodies"]:
        body["hinge"]["damping"] = 0.05
        if "nodal" in body:
            body["nodal"]["damping"] = [0.02, 0.05]
    return Mechanism(model)


@pytest.fixture(scope="module")
def exact(chain: Mechanism) -> Array:
    """The state at the end, to some 1e-12."""
    return at_end(chain, **TIGHT)


@pytest.mark.parametrize("method, order, first", [("rk4", 4, 500), ("rosenbrock2", 2, 800)])
def test_fixed_step_method_has_its_order(chain: Mechanism, exact: Array, method: str, order: int, first: int) -> None:
    """Fitted over a factor 8 of the step. +-0.15: the next term of the error is some percent of the first there."""
    steps = STOP / (first * 2 ** np.arange(4))
    errors = [np.abs(at_end(chain, method=method, solver_step=float(h)) - exact).max() for h in steps]
    fitted = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert abs(fitted - order) < 0.15, (fitted, errors)
    assert errors[-1] < 1e-2


def test_dopri5_error_is_proportional_to_its_tolerance(chain: Mechanism, exact: Array) -> None:
    """Fitted over seven decades; the step control aims at an error per step, so that errors at the end scale with the
    tolerance to the power of about one (4/5 if per unit of time), and stay within a thousand times of it."""
    tolerances = 10.0 ** -np.arange(4, 12)
    errors = np.array([np.abs(at_end(chain, rtol=float(tol)) - exact).max() for tol in tolerances])
    fitted = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert 0.8 < fitted < 1.2, (fitted, errors)
    assert np.all(errors < 1e3 * tolerances)


def test_adaptive_rosenbrock2_error_falls_with_its_tolerance(chain: Mechanism, exact: Array) -> None:
    """The embedded error is of order one, so that the error of order two falls with the tolerance at least."""
    tolerances = [1e-3, 1e-4, 1e-5]
    errors = [np.abs(at_end(chain, method="rosenbrock2", rtol=tol) - exact).max() for tol in tolerances]
    fitted = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert fitted > 0.8, (fitted, errors)


@pytest.mark.parametrize("method", ["radau5", "auto"])
def test_radau5_error_falls_with_the_fifth_power_of_its_steps(chain: Mechanism, exact: Array, method: str) -> None:
    """Over six decades of the tolerance. Stages are found to a part of the tolerance, which counts like the error of
    the steps: 4.3 leaves room for that. `auto` changes the method meanwhile, and both are of order five."""
    runs = [simulate(chain, STOP, step=STOP, method=method, rtol=10.0**-n) for n in range(4, 11)]
    errors = [np.abs(np.hstack(states(chain, run))[-1] - exact).max() for run in runs]
    steps = [run.statistics["steps"] for run in runs]
    assert -np.polyfit(np.log(steps), np.log(errors), 1)[0] > 4.3, (steps, errors)
    assert np.all(np.array(errors) < 1e3 * 10.0 ** -np.arange(4, 11)), errors


def test_dense_output_of_radau5_is_as_good_as_its_tolerance(chain: Mechanism) -> None:
    """The collocation polynomial is of order three, its error over a step of order four, as the error estimate: between
    steps the run is some ten times farther off than at them, and as far as the tolerance says."""
    rough = simulate(chain, STOP, step=STOP / 2000, method="radau5", rtol=1e-7)
    assert rough.statistics["steps"] < 1000
    reference = simulate(chain, STOP, step=STOP / 2000, **TIGHT)
    error = np.abs(np.subtract(*(np.hstack(states(chain, run)) for run in (rough, reference)))).max()
    assert error < 1e3 * 1e-7


def fixed_dopri5(system: Mechanism, h: float, times: Array) -> Array:
    """States at `times` by dopri5 with steps held at h: any error is accepted, and no step may be longer."""
    sim = KernelSim(system._data, 0, "dopri5", 0.0, 1e30, h, h)
    sim.start(0.0, *system.initial_state())
    out = []
    for t in times:
        sim.advance(float(t))
        out.append(np.concatenate([sim.q, sim.u]))
    assert abs(sim.counts[0] - times[-1] / h) < 2
    return np.array(out)


def test_dopri5_steps_have_order_five_and_dense_output_at_least_four(chain: Mechanism) -> None:
    """On a grid that shares no point but the ends with the steps. The continuous extension is of order 4, its error
    over one step of order 5, as the steps' own over all; +-0.3 and 0.1 because the next terms are not small yet."""
    grid = np.linspace(0.0, STOP, 78)[1:]
    run = simulate(chain, STOP, step=float(grid[0]), **TIGHT)
    reference = np.hstack(states(chain, run))[1:]
    steps = STOP / (250 * 2 ** np.arange(4))
    runs = [fixed_dopri5(chain, float(h), grid) for h in steps]
    ends = [np.abs(r[-1] - reference[-1]).max() for r in runs]
    dense = [np.abs(r - reference).max() for r in runs]
    assert np.polyfit(np.log(steps), np.log(ends), 1)[0] > 4.7, ends
    assert np.polyfit(np.log(steps), np.log(dense), 1)[0] > 3.9, dense


def test_dense_output_is_as_good_as_the_steps(chain: Mechanism) -> None:
    """Eight outputs to a step: between steps no farther off than ten times the farthest that steps themselves
    are (the error over a step is of the same order, with larger constants)."""
    rough = simulate(chain, STOP, step=STOP / 4000, rtol=1e-6)
    assert rough.statistics["steps"] < 500
    reference = simulate(chain, STOP, step=STOP / 4000, **TIGHT)
    error = np.abs(np.subtract(*(np.hstack(states(chain, run)) for run in (rough, reference)))).max(axis=1)
    sim = KernelSim(chain._data, 0, "dopri5", 1e-6, 0.0, 0.0, 0.0)
    sim.start(0.0, *chain.initial_state())
    at_steps = []
    while sim.time < STOP:  # every advance to a time just beyond the last step makes one step
        sim.advance(float(np.nextafter(sim.time, np.inf)))
        at_steps.append(error[min(4000, round(sim.time * 4000))])
    assert error.max() < 10 * max(at_steps)


# ---- stiff modes


def stiff_pendulum(frequency: float) -> Dict:
    """A pendulum that bends softly in one mode, and in another with a frequency given in rad/s."""
    part = blade(2, 60.0)
    moved = sum(n["mass"] * np.square(part["modes"][1][j][3:]).sum() for j, n in enumerate(part["nodes"]))
    part["stiffness"] = [60.0, float(frequency**2 * moved)]
    hinge = {"name": "pivot", "type": "revolute", "axis": [0, 1, 0], "initial": {"phi": 0.4, "w": 0.5}}
    body = {"name": "blade", "parent": "ground", "hinge": hinge, "nodal": part}
    return {"bough": 1, "name": "stiff", "gravity": [0, 0, -9.81], "bodies": [body]}


def slow_motion(model: Dict, **options: Any) -> Array:
    run = simulate(model, 2.0, step=0.1, **options)
    return np.column_stack([run[name] for name in ("pivot.phi", "pivot.w", "blade.eta[1]", "blade.eta_dot[1]")])


def test_implicit_method_takes_a_mode_1000_times_faster_than_the_step() -> None:
    """Period of the mode: a thousandth of the step. Stable, of order two on the slow motion, which is that of the model
    without the mode (its deflection is of the order of g/frequency^2, 1e-9 m), and the mode itself stays at rest."""
    h = 0.0025
    fast = stiff_pendulum(2 * np.pi * 1000 / h)
    soft = stiff_pendulum(1.0)
    soft["bodies"][0]["nodal"]["modes"].pop()
    soft["bodies"][0]["nodal"]["stiffness"].pop()
    exact = slow_motion(soft, **TIGHT)
    errors = [
        np.abs(slow_motion(fast, method="rosenbrock2", solver_step=step) - exact).max() for step in (h, h / 2, h / 4)
    ]
    size = np.abs(exact).max()
    assert errors[0] < 0.01 * size
    assert np.polyfit(np.log([4, 2, 1]), np.log(errors), 1)[0] > 1.8, errors
    run = simulate(fast, 2.0, method="rosenbrock2", solver_step=h, step=h)
    assert np.abs(run["blade.eta[2]"]).max() < 1e-8


def test_radau5_takes_a_mode_of_a_megahertz_and_keeps_its_tolerance_on_the_slow_motion() -> None:
    """The mode is at rest but for a deflection of 1e-13 m, so the slow motion is that of the model without it. A step
    of dopri5 would be a fraction of a microsecond: two million of them."""
    fast, soft = stiff_pendulum(2 * np.pi * 1e6), stiff_pendulum(1.0)
    soft["bodies"][0]["nodal"]["modes"].pop()
    soft["bodies"][0]["nodal"]["stiffness"].pop()
    exact = slow_motion(soft, **TIGHT)
    for method in ("radau5", "auto"):
        run = simulate(fast, 2.0, step=0.1, method=method, rtol=1e-6)
        names = ("pivot.phi", "pivot.w", "blade.eta[1]", "blade.eta_dot[1]")
        error = np.abs(np.column_stack([run[name] for name in names]) - exact).max(axis=0)
        assert np.all(error < 1e-4 * np.abs(exact).max(axis=0)), (method, error)
        assert run.statistics["evaluations"] < 40_000


@pytest.mark.parametrize("frequency, stop, most", [(30.0, 5.0, 1.1), (3e4, 1.0, 0.03)])
def test_auto_takes_the_method_that_costs_less(frequency: float, stop: float, most: float) -> None:
    """Against dopri5: some percent for its trials where accuracy binds the steps, a small part where stability does."""
    model = stiff_pendulum(frequency)
    counts = [
        simulate(model, stop, step=0.01, method=method, rtol=1e-6).statistics["evaluations"]
        for method in ("auto", "dopri5")
    ]
    assert counts[0] < most * counts[1], counts


def test_implicit_method_agrees_with_a_tight_explicit_run_of_the_same_stiff_model() -> None:
    """A mode of 3000 rad/s with a step of 0.00125 s: the slow motion is that of the explicit run but for an error of
    order h^2, some (54 rad/s h)^2/6 of the soft mode's own speed. rk4 cannot take 0.01 s, where 3000 h = 30."""
    model = stiff_pendulum(3000.0)
    exact = slow_motion(model, rtol=1e-9)
    implicit = slow_motion(model, method="rosenbrock2", solver_step=0.00125)
    assert np.abs(implicit - exact).max() < 2e-3 * np.abs(exact).max()
    with pytest.raises(Exception, match="not finite"):
        slow_motion(model, method="rk4", solver_step=0.01)


def test_implicit_method_damps_a_stiff_mode_that_starts_deflected() -> None:
    model = stiff_pendulum(2 * np.pi * 1e5)
    model["bodies"][0]["nodal"]["initial"] = {"eta": [0.0, 1e-3]}
    run = simulate(model, 1.0, method="rosenbrock2", solver_step=0.01, step=0.01)
    assert np.abs(run["blade.eta[2]"][5:]).max() < 1e-8  # L-stable: gone within a few steps


def test_stiff_hinge_spring_is_implicit_too() -> None:
    """A hinge held by a spring a thousand times too stiff for the step behaves as a fixed one."""
    model = stiff_pendulum(60.0)
    hinge = {"name": "joint", "type": "universal", "axes": [[0, 0, 1], [1, 0, 0]], "stiffness": 1e9}
    tip = {"mass": 0.3, "com": [0.1, 0, 0], "inertia": [1e-3, 2e-3, 2e-3, 0, 0, 0]}
    loose = {"name": "tip", "parent": "blade", "at": "n4", "hinge": hinge, "rigid": tip}
    fixed = loose | {"hinge": {"name": "joint", "type": "fixed"}}
    a, b = (
        slow_motion(model | {"bodies": [*model["bodies"], body]}, method="rosenbrock2", solver_step=0.0025)
        for body in (loose, fixed)
    )
    assert np.abs(a - b).max() < 1e-5 * np.abs(b).max()  # the spring gives by torque/1e9, and fast motion is damped out
