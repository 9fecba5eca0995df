"""Loops and couplings against derivations that share nothing with the kernel.

Tolerances are 1e-9, the promise to the user, of the largest acceleration; trees whose loops leave a nearly singular
J M^-1 J' (condition above 1e8) lose more digits on either side and are drawn again.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from kernel.cases import error
from oracle.closures import Closed
from oracle.particles import Oracle
from random_loops import TYPES, random_loops, with_start
from random_models import random_model, random_state

from bough import Mechanism
from bough.mechanism import kernel_loops

Array = Any
TOLERANCE = 1e-9
SEEDS = range(3 * len(TYPES))


@dataclass(frozen=True, eq=False)
class LoopCase:
    """A random tree with loops at a closed state."""

    model: dict[str, Any]
    system: Mechanism
    closed: Closed
    q: Array
    u: Array
    tau: Array


@functools.lru_cache(maxsize=64)
def loop_case(seed: int, **options: Any) -> LoopCase:
    """One to three loops on a tree of four bodies; every type comes first in three seeds."""
    for draw in range(50):
        tree = random_model(1000 * draw + seed, n_bodies=4, **options)
        oracle = Oracle(tree)
        q, u, tau = random_state(oracle, 1000 * draw + seed)
        count = 1 + seed // len(TYPES) % 3
        model = with_start(tree, oracle, q) | {"loops": random_loops(tree, oracle, q, seed, count)}
        closed = Closed(oracle, model)
        J = closed.relations(q, u)[1]
        if oracle.nu < 6 or np.abs(J).max() < 1e-9 or np.linalg.matrix_rank(J) >= oracle.nu:
            continue
        A = J @ np.linalg.solve(oracle.mass_matrix(q), J.T)
        s = np.linalg.eigvalsh(A)
        s = s[s > 1e-10 * s[-1]]
        if s[-1] / s[0] < 1e5:
            break
    else:
        raise AssertionError("no tree was found")
    system = Mechanism(model)
    return LoopCase(model, system, closed, q, closed.speeds(q, u), tau)


@pytest.mark.parametrize("seed", SEEDS)
def test_accelerations_and_reactions_with_loops_equal_the_oracle(seed: int) -> None:
    c = loop_case(seed)
    start, _ = c.system.initial_state()
    assert error(start, c.q) < 1e-8  # drawn closed: nothing moves
    expected = c.closed.forward_dynamics(c.q, c.u, c.tau)
    found = c.system.forward_dynamics(c.q, c.u, c.tau)
    assert error(found, expected) < TOLERANCE
    oracle = c.closed.oracle
    reactions = c.system.reactions(c.q, c.u, c.tau)
    wrenches = {i: reactions[loop["name"]] for i, loop in enumerate(c.model["loops"])}
    needed = oracle.inverse_dynamics(c.q, c.u, expected) - c.tau
    scale = max(
        1.0,
        float(np.abs(oracle.mass_matrix(c.q) @ expected).max()),
        *(float(np.abs(w).max()) for w in wrenches.values()),
    )
    assert error(c.closed.generalized(c.q, wrenches), needed, scale) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
def test_residuals_of_a_closed_state_vanish(seed: int) -> None:
    c = loop_case(seed)
    for left in c.system.closure_error(c.q, c.u).values():
        assert max(left.m, left.rad, left.m_per_s, left.rad_per_s) < 1e-11


@pytest.mark.parametrize("seed", range(len(TYPES)))
def test_the_freedom_of_loops_is_that_of_the_oracle(seed: int) -> None:
    c = loop_case(seed)
    J = c.closed.relations(c.q, c.u)[1]
    found = c.system.freedom(c.q)
    assert found.freedoms == c.system.nu - np.linalg.matrix_rank(J, 1e-7)
    assert found.equations - found.redundant == np.linalg.matrix_rank(J, 1e-7)


@pytest.mark.parametrize("seed", range(len(TYPES)))
def test_held_and_driven_dofs_in_loops_equal_the_oracle(seed: int) -> None:
    c = loop_case(seed)
    J = c.closed.relations(c.q, c.u)[1]
    rank = np.linalg.matrix_rank(J, 1e-7)
    hinges = [i for i, name in enumerate(c.system.u_names) if "eta" not in name]
    # a DOF that decides the loops cannot be driven against them
    first = next(i for i in hinges if np.linalg.matrix_rank(np.delete(J, i, axis=1), 1e-7) == rank)
    name = c.system.u_names[first]
    motion = np.zeros(c.system.nu)
    motion[first] = 0.7
    found = c.system.hybrid_dynamics(c.q, c.u, c.tau, motion=motion, held=[name])
    expected = c.closed.forward_dynamics(c.q, c.u, c.tau, {name: 0.7})
    assert error(found.udot, expected) < TOLERANCE
    again = c.tau.copy()
    again[first] = found.tau[first]
    assert error(c.system.forward_dynamics(c.q, c.u, again), expected) < 100 * TOLERANCE


@pytest.mark.parametrize("seed", range(len(TYPES)))
def test_reactions_of_hinges_balance_with_loops(seed: int) -> None:
    """A rigid body at the tip: hinge, loops, gravity and inertia leave nothing."""
    c = loop_case(seed)
    found = c.system.hybrid_dynamics(c.q, c.u, c.tau)
    loads: dict[str, Array] = {}
    oracle = c.closed.oracle
    reactions = c.system.reactions(c.q, c.u, c.tau)
    p, rot = oracle._place(c.q)
    for loop in c.model["loops"]:
        point, R = c.closed._numbers(loop, 1, p, rot)
        for end, sign in ((1, 1.0), (0, -1.0)):
            if loop["between"][end].startswith("ground."):
                continue
            node, w = loop["between"][end], sign * reactions[loop["name"]]
            force, torque = R @ w[3:], R @ w[:3]
            torque = torque + np.cross(point - p[oracle._node(node)], force)
            for key, value in (("force", force), ("torque", torque)):
                loads[f"{node}.{key}"] = loads.get(f"{node}.{key}", np.zeros(3)) + value
    wrenches = oracle.reactions(c.q, c.u, found.udot, loads)
    expected = np.array([np.concatenate([w.torque, w.force]) for w in wrenches.values()])
    scale = max(1.0, float(np.abs(expected).max()), *(float(np.abs(x).max()) for x in loads.values()))
    assert error(found.reactions, expected, scale) < 10 * TOLERANCE


@pytest.mark.parametrize("seed", range(len(TYPES)))
@pytest.mark.parametrize("fidelity", ["full", "ruthless"])
def test_multipliers_by_sweeps_equal_the_dense_solution(seed: int, fidelity: str) -> None:
    c = loop_case(seed)
    system = Mechanism(c.model | {"fidelity": fidelity})
    r = kernel_loops.residuals(system._data, c.q, c.u)
    M = system.mass_matrix(c.q)
    free = np.linalg.solve(M, c.tau - system.inverse_dynamics(c.q, c.u, np.zeros(system.nu)))
    W = np.linalg.solve(M, r.J.T)
    lam = np.linalg.lstsq(r.J @ W, -(r.bias + r.J @ free), rcond=1e-11)[0]
    assert error(system.forward_dynamics(c.q, c.u, c.tau), free + W @ lam) < TOLERANCE


@pytest.mark.parametrize("seed", range(len(TYPES)))
def test_rows_are_the_derivatives_of_the_residuals(seed: int) -> None:
    """J u and Jdot u by differences of g and J u along the motion; rows of rolling alone have no g."""
    c = loop_case(seed)
    at = kernel_loops.residuals(c.system._data, c.q, c.u)
    h = 1e-5
    rate = c.system.position_rates(c.q, c.u)
    ahead, behind = (kernel_loops.residuals(c.system._data, c.q + s * h * rate, c.u) for s in (1, -1))
    assert error(at.J @ c.u, at.rate, 1.0) < 1e-11
    assert np.abs((ahead.rate - behind.rate) / (2 * h) - at.bias).max() < 1e-6 * (1 + np.abs(at.bias).max())
    assert np.abs((ahead.g - behind.g) / (2 * h) - np.where(ahead.g == behind.g, 0.0, at.rate)).max() < 1e-6


@pytest.mark.parametrize("base", [False, True], ids=["on the ground", "on a base that is held"])
def test_loops_that_stand_apart_answer_as_if_alone(base: bool) -> None:
    """Four-bars side by side, their rows interleaved: A is factorized group by group, redundant rows included."""

    def bars(numbers: list[int]) -> dict[str, Any]:
        link = {
            "mass": 1.0,
            "com": [0.5, 0, 0],
            "inertia": [0.01, 0.1, 0.1, 0, 0, 0],
            "nodes": {"tip": {"position": [1, 0, 0]}},
        }
        bodies: list[dict[str, Any]] = []
        if base:
            bodies.append({"name": "base", "parent": "ground", "hinge": {"type": "fixed"}, "rigid": link})
        for i in numbers:
            for name, parent, x, phi in (("a", "", 0.0, 1.0 + 0.2 * i), ("b", f"a{i}", 0.0, 0.0), ("c", "", 1.3, 1.4)):
                hinge: dict[str, Any] = {"name": f"{name}{i}_h", "type": "revolute", "axis": [0, 0, 1]}
                if parent:
                    place = {"parent": parent, "at": "tip"}
                else:
                    place = {"parent": "base" if base else "ground"}
                    hinge |= {
                        "frame": {"position": [x, 3.0 * i, 0]},
                        "initial": {"phi": phi, "w": 1.0 if name == "a" else 0.0},
                    }
                bodies.append({"name": f"{name}{i}", **place, "hinge": hinge, "rigid": link})
        kinds = ("slot", "revolute", "spherical")
        loops = [
            {"name": f"l{i}", "type": kinds[i], "between": [f"b{i}.tip", f"c{i}.tip"]}
            | ({"axis": [0, 0, 1]} if kinds[i] != "spherical" else {})
            for i in sorted(numbers, reverse=True)
        ]
        return {"bough": 1, "name": "bars", "gravity": [0, -9.81, 0], "bodies": bodies, "loops": loops}

    together = Mechanism(bars([0, 1, 2]))
    q, u = together.initial_state()
    udot = together.forward_dynamics(q, u, np.zeros(together.nu))
    reactions = together.reactions(q, u, np.zeros(together.nu))
    redundant = 0
    for i in range(3):
        alone = Mechanism(bars([i]))
        mine = [together.u_names.index(name) for name in alone.u_names]
        q1, u1 = q[mine], u[mine]  # one angle each
        np.testing.assert_allclose(udot[mine], alone.forward_dynamics(q1, u1, np.zeros(3)), rtol=1e-11, atol=1e-11)
        own = alone.reactions(q1, u1, np.zeros(3))
        np.testing.assert_allclose(reactions[f"l{i}"], own[f"l{i}"], rtol=1e-10, atol=1e-10)
        redundant += alone.freedom(q1).redundant
    assert together.freedom(q).redundant == redundant > 0
