"""The order and the names of parts are the writer's choice: bodies, nodes, inputs, outputs, components, connections."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from metamorphic.cases import SEEDS, Dict, Rng, apart, panel, rectangle, turntable
from random_models import random_model, random_state

import bough
from bough.coupling import run as run_system
from bough.partners import build_partner
from bough.run.studies import Plan, sweep

ROUND = 1e-9
"""Sums of another order differ by some 1e-14 in each of 2,000 evaluations, and random trees stretch differences by less
than a hundred in 0.5 s. Steps are fixed: the length of adaptive ones hangs on last digits."""


def shuffled(model: Dict, rng: Rng) -> Dict:
    """Another order in which parents still come before their children; nodes, inputs and outputs in any order."""
    out = copy.deepcopy(model)
    waiting, placed, bodies = list(out["bodies"]), {"ground"}, []
    while waiting:
        ready = [body for body in waiting if body["parent"] in placed]
        body = ready[int(rng.integers(len(ready)))]
        waiting.remove(body)
        placed.add(body["name"])
        bodies.append(body)
    out["bodies"] = bodies
    for body in bodies:
        if "nodal" in body:
            _shuffle_nodes(body["nodal"], rng)
        elif "rigid" in body and body["rigid"].get("nodes"):
            names = list(body["rigid"]["nodes"])
            body["rigid"]["nodes"] = {names[i]: body["rigid"]["nodes"][names[i]] for i in rng.permutation(len(names))}
    for key in ("inputs", "outputs"):
        out[key] = [out[key][i] for i in rng.permutation(len(out[key]))]
    return out


def _shuffle_nodes(nodal: Dict, rng: Rng) -> None:
    order = rng.permutation(len(nodal["nodes"]))
    nodal["nodes"] = [nodal["nodes"][i] for i in order]
    nodal["modes"] = [[shape[i] for i in order] for shape in nodal["modes"]]


def renamed(model: Dict) -> tuple[Dict, dict[str, str]]:
    """Other names of bodies and hinges, which sort the other way round; new names by old ones."""
    out = copy.deepcopy(model)
    hinges = {body["name"]: body["hinge"].get("name", f"{body['name']}_hinge") for body in out["bodies"]}
    count = len(out["bodies"])
    bodies = {body["name"]: f"z{count - i}_part" for i, body in enumerate(out["bodies"])}
    names = {**bodies, **{hinge: f"a{count - i}_joint" for i, hinge in enumerate(hinges.values())}}
    for body in out["bodies"]:
        body["hinge"]["name"] = names[hinges[body["name"]]]
        body["name"], body["parent"] = bodies[body["name"]], bodies.get(body["parent"], "ground")
    for key in ("inputs", "outputs"):
        out[key] = [f"{bodies[owner]}.{rest}" for owner, _, rest in (item.partition(".") for item in out[key])]
    return out, names


def moved(model: Dict, seed: int, names: dict[str, str] | None = None) -> tuple[bough.Mechanism, bough.Result]:
    """Half a second of a random tree; state and inputs go with the names that it had before it was renamed."""
    system = bough.Mechanism(model)
    old = {new: was for was, new in (names or {}).items()}

    def before(name: str) -> str:
        owner, _, rest = name.partition(".")
        return f"{old.get(owner, owner)}.{rest}"

    labels = [before(name) for name in system.q_names], [before(name) for name in system.u_names]
    q, u, _ = random_state(labels, seed, deflection=0.1)
    inputs = {}
    for name in (v.name for v in system.variables if v.causality == "input"):
        rng = np.random.default_rng([seed, *before(name).encode()])
        inputs[name] = float(rng.normal())
    return system, bough.simulate(system, 0.5, inputs, 0.05, method="rk4", solver_step=1e-3, initial=(q, u))


@pytest.mark.parametrize("seed", range(4 * SEEDS))
def test_order_of_bodies_nodes_inputs_and_outputs_does_not_matter(seed: int) -> None:
    model = random_model(seed, n_bodies=6)
    _, first = moved(model, seed)
    _, second = moved(shuffled(model, np.random.default_rng([seed, 41])), seed)
    assert set(first.names) == set(second.names)
    assert max(apart(first, second, first.names).values()) < 1e2 * ROUND, "accelerations and forces too"
    states = [*bough.Mechanism(model).q_names, *bough.Mechanism(model).u_names]
    assert max(apart(first, second, states).values()) < ROUND


@pytest.mark.parametrize("seed", range(2 * SEEDS))
def test_names_of_bodies_and_hinges_do_not_matter(seed: int) -> None:
    """To the last bit: nothing is sorted by name."""
    model = random_model(seed, n_bodies=5)
    system, first = moved(model, seed)
    other, names = renamed(model)
    _, second = moved(other, seed, names)
    for name in first.names:
        owner, _, rest = name.partition(".")
        assert np.array_equal(first[name], second[f"{names[owner]}.{rest}"]), name


@pytest.mark.parametrize("seed", range(2 * SEEDS))
def test_static_matrices_know_no_order(seed: int) -> None:
    """Mass matrix and linearization by name: round-off of sums of some hundred terms, 1e-12."""
    model = random_model(seed, n_bodies=6)
    found = []
    for tree in (model, shuffled(model, np.random.default_rng([seed, 42]))):
        system = bough.Mechanism(tree)
        q, u, tau = random_state(system, seed, deflection=0.1)
        mass, small = system.mass_matrix(q), system.linearize(q, u, tau)
        rows = np.argsort(system.u_names)
        states, inputs = np.argsort(small.states), np.argsort(small.inputs)
        found.append((mass[np.ix_(rows, rows)], small.A[np.ix_(states, states)], small.B[np.ix_(states, inputs)]))
    for first, second in zip(*found, strict=True):
        assert np.abs(first - second).max() < 1e-11 * np.abs(first).max()


def test_order_of_inputs_in_a_call_does_not_matter() -> None:
    system = bough.Mechanism(random_model(5, n_bodies=4))
    names = [v.name for v in system.variables if v.causality == "input"]
    inputs: dict[str, Any] = {name: rectangle(0.1 + 0.001 * k, 0.3, 1.0 + k).table for k, name in enumerate(names)}
    first = bough.simulate(system, 0.5, inputs, 0.05)
    second = bough.simulate(system, 0.5, dict(reversed(inputs.items())), 0.05)
    assert all(np.array_equal(first[name], second[name]) for name in first.names)


# ---- many runs, many components


def test_order_of_the_runs_of_a_sweep_does_not_matter() -> None:
    """Each run begins from the model's own values, whichever thread and neighbour it had: to the last bit."""
    plan = Plan(2.0, 0.1, {"axis.tau": rectangle(0.3, 0.9, 1.0).table})
    points = [{"axis.damping": d, "axis.w": w} for d in (0.0, 0.5) for w in (0.0, 1.0, 2.0)]
    there = sweep(panel("revolute"), points, plan, jobs=1)
    back = sweep(panel("revolute"), points[::-1], plan, jobs=2)
    for first, second in zip(there.outcomes, reversed(back.outcomes), strict=True):
        assert first.settings == second.settings
        assert np.array_equal(first.measures, second.measures)


def system_file(folder: Path, name: str, components: Dict, connections: list[str], order: str) -> Path:
    data = {
        "bough_system": 1,
        "name": "permuted",
        "components": components,
        "connections": connections,
        "set": {"motor.u": 2.0},
        "master": {"step": 0.01, "stop": 1.0, "order": order},
    }
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


@pytest.mark.parametrize("order", ["jacobi", "gauss-seidel"])
def test_order_of_components_and_connections_does_not_matter(order: str, tmp_path: Path) -> None:
    """To the last bit. The order of components says who steps first by Gauss-Seidel, and moves the result by the error
    of the coupling: there only the connections change places."""
    values = {"R": 0.5, "L": 0.02, "Kt": 0.3, "Kb": 0.3, "N": 2.0, "J": 0.001, "Ka": 1.0, "eta": 1.0}
    (tmp_path / "sat.json").write_text(json.dumps(turntable()), encoding="utf-8")
    build_partner("motor", tmp_path / "motor.fmu", values=values, platforms="native")
    components = {"sat": "sat.json", "motor": "motor.fmu", "other": "sat.json"}
    links = ["motor.tau -> sat.axis.tau", "sat.axis.w -> motor.w", "motor.tau -> other.axis.tau"]
    listed = dict(reversed(components.items())) if order == "jacobi" else components
    first = run_system(system_file(tmp_path, "one", components, links, order))
    second = run_system(system_file(tmp_path, "two", listed, links[::-1], order))
    assert set(first.names) == set(second.names)
    for name in first.names:
        assert np.array_equal(first[name], second[name]), name
    assert first["sat.axis.w"][-1] > 0.0
