"""A run that cannot go on says why, where and when, and hands back what it has."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from kernel.cases import Dict, chain
from run.cases import swinging_chain
from run.test_inputs import cart

import bough.mechanism.bodies
from bough import Mechanism, SimulationError, simulate
from bough.flex import flex_body
from bough.mechanism.kernel import INERTIA

METHODS: list[tuple[str, dict[str, Any]]] = [
    ("dopri5", {}),
    ("rk4", {}),
    ("rosenbrock2", {}),
    ("radau5", {}),
    ("auto", {}),
    ("rosenbrock2", {"solver_step": 0.02}),
]


def told_time(error: SimulationError) -> float:
    found = re.search(r"t = ([-+0-9.e]+) s", str(error))
    assert found, str(error)
    return float(found.group(1))


@pytest.mark.parametrize("method, options", METHODS)
@pytest.mark.parametrize("when", [0.0, 0.5])
def test_input_function_that_raises_ends_the_run(when: float, method: str, options: dict[str, Any]) -> None:
    def force(t: float) -> float:
        if t >= when:
            raise ZeroDivisionError("no more")
        return 1.0

    with pytest.raises(SimulationError, match="input function failed.*no more") as caught:
        simulate(cart(), 1.0, inputs={"rail.f": force}, step=0.1, method=method, **options)
    assert when <= told_time(caught.value) <= 1.0
    run = caught.value.result
    assert run is not None and np.all(run.t < when) and np.all(np.isfinite(run["rail.s"]))
    if when:
        # dopri5 may have failed in the first step, which looks ahead of the output times
        assert len(run) >= (1 if method == "dopri5" else 5)


def test_interrupt_in_an_input_function_is_not_swallowed() -> None:
    def force(t: float) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(cart(), 1.0, inputs={"rail.f": force}, step=0.1)


@pytest.mark.parametrize("method, options", METHODS)
def test_input_that_becomes_nan_names_body_and_time(method: str, options: dict[str, Any]) -> None:
    def force(t: float) -> float:
        return 1.0 if t < 0.5 else float("nan")

    with pytest.raises(SimulationError, match="not finite at body 'box'") as caught:
        simulate(cart(), 1.0, inputs={"rail.f": force}, step=0.1, method=method, **options)
    assert 0.4 <= told_time(caught.value) <= 1.0
    run = caught.value.result
    assert run is not None and len(run) >= 1 and np.all(run.t < 0.5) and np.all(np.isfinite(run["rail.s"]))


def gimbal() -> Dict:
    """A point mass on a universal hinge: when the second angle is 90 degrees, the first axis runs through the mass."""
    hinge = {"name": "knee", "type": "universal", "axes": [[0, 1, 0], [0, 0, 1]], "initial": {"w": [0.0, 1.0]}}
    rigid = {"mass": 1.5, "com": [1.0, 0, 0], "inertia": [0] * 6}
    return {
        "bough": 1,
        "name": "gimbal",
        "bodies": [
            {"name": "arm", "parent": "ground", "hinge": hinge, "rigid": rigid},
        ],
    }


def test_singular_inertia_names_the_body_and_says_what_to_do() -> None:
    system = Mechanism(gimbal())
    q = [0.3, np.pi / 2]
    with pytest.raises(SimulationError, match="singular inertia at body 'arm'.*hinge 'knee', universal.*armature"):
        system.forward_dynamics(q, [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(SimulationError, match="singular inertia at body 'arm'"):
        system.mass_factors(q)
    with pytest.raises(SimulationError, match="singular inertia at body 'arm'"):
        system.mass_solve(q, [1.0, 0.0])
    with pytest.raises(SimulationError, match="singular inertia at body 'arm'"):
        system.forward_dynamics([[0.3, 0.1], q, [0.2, 0.3]], [0.0, 0.0], [0.0, 0.0])
    near = system.forward_dynamics([0.3, 1.5], [0.0, 0.0], [0.0, 0.0])
    assert np.all(np.isfinite(near))
    system.forward_dynamics([0.3, 0.0], [0.0, 0.0], [0.0, 0.0])  # an error leaves nothing behind


def test_singular_inertia_is_blamed_on_the_body_that_has_it() -> None:
    """Inboard of it every inertia is spoilt too: it must be told from those, in one state and in a batch."""
    arm = gimbal()["bodies"][0]["rigid"] | {"nodes": {"tip": {"position": [1.0, 0, 0]}}}
    solid = arm | {"inertia": [0.1, 0.2, 0.2, 0, 0, 0]}
    hinge = {"type": "universal", "axes": [[0, 1, 0], [0, 0, 1]]}
    bodies: list[Dict] = [{"name": "a", "parent": "ground", "hinge": hinge, "rigid": solid}]
    for name, parent, part in (("b", "a", solid), ("c", "b", arm), ("d", "a", solid)):
        bodies.append({"name": name, "parent": parent, "at": "tip", "hinge": hinge, "rigid": part})
    system = Mechanism({"bough": 1, "name": "tree", "gravity": [0, 0, -9.81], "bodies": bodies})
    q, u = np.full(8, 0.2), np.full(8, 0.1)
    assert np.all(np.isfinite(system.forward_dynamics(q, u, u)))
    q[5] = np.pi / 2
    with pytest.raises(SimulationError, match="singular inertia at body 'c'"):
        system.forward_dynamics(q, u, u)
    with pytest.raises(SimulationError, match="singular inertia at body 'c'"):
        system.forward_dynamics(np.stack([q] * 4), u, u)


def test_inertia_of_exactly_zero_is_singular_and_nan_is_not() -> None:
    system = Mechanism(cart())
    system._data.set(INERTIA, np.zeros(10))
    for force in (0.0, 1.0):
        with pytest.raises(SimulationError, match="singular inertia at body 'box'"):
            system.forward_dynamics([0.0], [0.0], [force])
    chain = Mechanism(swinging_chain())
    q, u = chain.initial_state()
    for i in range(chain.nq):
        bad = q.copy()
        bad[i] = np.nan
        with pytest.raises(SimulationError, match="not finite"):
            chain.forward_dynamics(bad, u, u)
        with pytest.raises(SimulationError, match="not finite"):
            chain.mass_solve(bad, u)
    for call in (chain.mass_matrix, chain.mass_factors):
        bad = q.copy()
        bad[chain.q_names.index("h1.phi[2]")] = np.nan
        with pytest.raises(SimulationError, match="not finite"):
            call(bad)


@pytest.mark.parametrize("method, options", METHODS)
def test_run_into_a_singular_inertia_stops_there(method: str, options: dict[str, Any]) -> None:
    """The angle grows as t: output number 50 falls on the singular position, to rounding."""
    step = np.pi / 2 / 50
    if "solver_step" in options:
        options = {"solver_step": step}
    with pytest.raises(SimulationError, match="singular inertia at body 'arm'") as caught:
        simulate(gimbal(), 2.0, step=step, method=method, **options)
    assert abs(told_time(caught.value) - np.pi / 2) < 1e-6
    run = caught.value.result
    assert run is not None and len(run) in (49, 50) and np.abs(run["knee.phi[2]"] - run.t).max() < 1e-9


def test_unstable_run_stops_with_body_and_time() -> None:
    """rk4 with a step far too long for the modes."""
    with pytest.raises(SimulationError, match="not finite at body 'b[012]'") as caught:
        simulate(swinging_chain(stiffness=1e6), 5.0, step=0.05, method="rk4")
    run = caught.value.result
    assert run is not None and 0 < len(run) < 101 and 0.0 < told_time(caught.value) <= run.t[-1] + 0.1


@pytest.mark.parametrize("angle", [2e15, -1e20, 1e40, -1e300])
@pytest.mark.parametrize("rows", [None, 5])
def test_an_angle_beyond_all_digits_is_told_as_such(angle: float, rows: int | None) -> None:
    """Its sine would be noise, and an inertia made of noise may look singular."""
    system = Mechanism(swinging_chain())
    q, u = system.initial_state()
    q[system.q_names.index("h1.phi[2]")] = angle
    state = [q, u, np.zeros(system.nu)]
    with pytest.raises(SimulationError, match="not finite at body"):
        system.forward_dynamics(*(state if rows is None else [np.tile(x, (rows, 1)) for x in state]))


@pytest.mark.parametrize("rows", [None, 5])
def test_modes_that_lose_their_inertia_are_told_with_their_body(
    rows: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rotary inertia right to first order, far beyond it: the modal pivot is negative, and what follows from it NaN.

    The bodies bring tables, as those of SID files do: with points the inertia would be positive.
    """
    tables = lambda body, stiffening: replace(flex_body(body, stiffening), points=None)  # noqa: E731
    monkeypatch.setattr(bough.mechanism.bodies, "flex_body", tables)
    model = copy.deepcopy(chain(3, 3, "full"))
    for node in model["bodies"][0]["nodal"]["nodes"]:  # one entry for all bodies
        node["inertia"] = [0.2, 0.1, 0.15, 0, 0, 0]
    system = Mechanism(model)
    modes = [i for i, name in enumerate(system.u_names) if name.startswith("b2.eta_dot")]
    found = 0
    for seed in range(20):
        q, u = system.initial_state()
        q[[system.q_names.index(f"b2.eta[{i}]") for i in (1, 2, 3)]] = np.random.default_rng(seed).uniform(-200, 200, 3)
        if np.linalg.eigvalsh(system.mass_matrix(q)[np.ix_(modes, modes)])[0] > 0.0:
            continue
        found += 1
        state = [q, u, np.zeros(system.nu)]
        with pytest.raises(SimulationError, match="singular inertia at body 'b2'.*right for small deflections only"):
            system.forward_dynamics(*(state if rows is None else [np.tile(x, (rows, 1)) for x in state]))
    assert found >= 10


def test_initial_state_that_is_not_finite_is_refused() -> None:
    with pytest.raises(SimulationError, match="not finite"):
        simulate(cart(), 1.0, initial=([np.nan], [0.0]))


@pytest.mark.parametrize("call", ["forward_dynamics", "inverse_dynamics"])
def test_nan_in_gives_an_error_with_the_body(call: str) -> None:
    system = Mechanism(swinging_chain())
    q, u = system.initial_state()
    tau = np.zeros(system.nu)
    tau[system.u_names.index("h2.w[1]")] = np.nan
    with pytest.raises(SimulationError, match="not finite at body"):
        getattr(system, call)(q, u, tau)
