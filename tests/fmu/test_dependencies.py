"""Dependencies are true: they hold every derivative that is not zero, at every scale, and hardly any in vain.

The lists are derived from the mechanism without a number; derivatives are numbers of the kernel.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from fmu.described import ARM, CASES, GOOD, description, one_hinge, system_of, tree
from random_models import N_LIN, N_ROT, random_model, random_state
from ruamel.yaml import YAML

import bough
from bough.fmu.dependencies import dependency_rows
from bough.fmu.package import fmu_files
from bough.mechanism.variable_table import scalar_table

ZERO = 1e-11  # relative to the largest derivative of a row's kind: derivatives of dependent pairs are far above


def source(case: str) -> dict[str, Any]:
    """The case's model as a dict."""
    family, _, rest = case.partition("_")
    if family == "random":
        return random_model(int(rest))
    if family == "one":
        return one_hinge(rest)
    found: dict[str, Any] = YAML(typ="safe").load(GOOD / case)
    return found


def variant(model: dict[str, Any], seed: int, locked: float) -> dict[str, Any]:
    """The model with other tunable parameters, none of them zero, and some hinges locked."""
    rng = np.random.default_rng([seed, 5])
    out = copy.deepcopy(model)
    out["gravity"] = rng.uniform(2, 9, 3).tolist()
    for body in out["bodies"]:
        hinge = body["hinge"]
        if body.get("rigid", {}).get("tunable", body.get("tunable")):
            inertia = [*rng.uniform(1.0, 1.5, 3).tolist(), *rng.uniform(0.05, 0.2, 3).tolist()]
            body["rigid"] |= {"mass": 1.5, "com": rng.uniform(0.1, 0.5, 3).tolist(), "inertia": inertia}
        n_lin, n_rot = N_LIN.get(hinge["type"], 0), N_ROT.get(hinge["type"], 0)
        if n_lin + n_rot == 0:
            continue
        ball = hinge["type"] in ("spherical", "free")
        for key in ("damping", "stiffness", "armature"):
            hinge[key] = rng.uniform(0.5, 2.0, n_lin + n_rot).tolist()
        hinge["rest"] = [*rng.uniform(0.1, 0.5, n_lin), *(np.zeros(n_rot) if ball else rng.uniform(0.1, 0.5, n_rot))]
        hinge["rest"] = [float(x) for x in hinge["rest"]]
        if hinge.get("drive", "torque") != "motion":
            hinge["drive"] = "locked" if rng.random() < locked else "torque"
            for key in ("w", "v"):
                hinge.get("initial", {}).pop(key, None)
    return out


def derivative_pattern(model: dict[str, Any]) -> dict[str, set[str]]:
    """Which states and inputs each output and state derivative has a non-zero derivative to, by name."""
    out: dict[str, set[str]] = {}
    for i, locked in enumerate((0.0, 0.0, 0.5, 1.0)):
        system = bough.Mechanism(variant(model, i, locked))
        q, u, tau = random_state(system, 40 + i, deflection=0.05)
        lin = system.linearize(q, u, tau)
        rows = [f"der({x})" for x in lin.states] + list(lin.outputs)
        matrix = abs(np.block([[lin.A, lin.B], [lin.C, lin.D]]))
        _add(out, system, rows, [*lin.states, *lin.inputs], matrix)
    return out


def difference_pattern(model: dict[str, Any]) -> dict[str, set[str]]:
    """What changes with which state, at prescribed accelerations and loads that are not zero: not so in `linearize`."""
    out: dict[str, set[str]] = {}
    for i, locked in enumerate((0.0, 0.0, 0.5, 1.0)):
        system = bough.Mechanism(variant(model, i, locked))
        q, u, tau = random_state(system, 40 + i, deflection=0.05)
        rng = np.random.default_rng([i, 9])
        motion, loads = rng.normal(size=system.nu), {name: rng.normal(size=3) for name in system.model.inputs}

        def values(q: Any, u: Any, system: Any = system, inputs: Any = (tau, motion, loads)) -> dict[str, float]:
            run = system.hybrid_dynamics(q, u, inputs[0], motion=inputs[1], loads=inputs[2])
            sensors = system.node_motion(q, u, run.udot, system.model.outputs)
            rates = np.concatenate([system.position_rates(q, u), run.udot])
            place = {"q": q, "u": u, "udot": run.udot, "force": run.tau, "reaction": run.reactions}
            place |= dict(zip(("pose", "velocity", "acceleration"), sensors, strict=True))
            found = {f"der({x})": float(y) for x, y in zip([*system.q_names, *system.u_names], rates, strict=True)}
            outputs = [v for v in system.variables if v.causality == "output"]
            return found | {v.name: float(np.ravel(place[v.kind])[v.index]) for v in outputs}

        base = values(q, u)
        matrix = np.zeros((len(base), system.nq + system.nu))
        for j in range(system.nq + system.nu):
            x = np.concatenate([q, u])
            x[j] += 0.3
            moved = values(x[: system.nq], x[system.nq :])
            matrix[:, j] = [abs(moved[name] - base[name]) for name in base]
        _add(out, system, list(base), [*system.q_names, *system.u_names], matrix)
    return out


def _add(out: dict[str, set[str]], system: bough.Mechanism, rows: list[str], columns: list[str], matrix: Any) -> None:
    """Entries that are not zero beside the largest of their unit and kind of column: positions, speeds or inputs."""
    units = {v.name: v.unit for v in scalar_table(system)}
    kinds = [[name in system.q_names for name in columns], [name in system.u_names for name in columns]]
    for kind in (*np.array(kinds, dtype=bool), ~np.any(np.array(kinds, dtype=bool), axis=0)):
        scale: dict[str, float] = {}
        for name, row in zip(rows, matrix[:, kind], strict=True):
            scale[units[name]] = max(scale.get(units[name], 0.0), float(row.max(initial=0.0)))
        for name, row in zip(rows, matrix, strict=True):
            there = np.flatnonzero(kind & (row > ZERO * scale[units[name]]))
            out.setdefault(name, set()).update(columns[j] for j in there)


def declared(root: Any, lists: tuple[str, ...]) -> dict[str, set[str]]:
    names = [v.get("name") for v in root.find("ModelVariables")]
    return {
        names[int(unknown.get("index")) - 1]: {names[int(j) - 1] for j in unknown.get("dependencies").split()}
        for key in lists
        for unknown in root.find("ModelStructure").findall(f"{key}/Unknown")
    }


@pytest.mark.parametrize("case", CASES)
def test_dependencies_are_where_derivatives_are_not_zero(case: str) -> None:
    """Nothing is missing; in vain are some of plane, symmetric and single bodies, which count as spatial ones."""
    found = declared(description(case, "2.0"), ("Outputs", "Derivatives"))
    model = source(case)
    exact = derivative_pattern(model)
    if any(body["hinge"].get("drive") == "motion" for body in model["bodies"]):
        exact = {name: exact[name] | changed for name, changed in difference_pattern(model).items()}
    missing = {name: exact[name] - found[name] for name in found if exact[name] - found[name]}
    assert not missing and set(found) == set(exact)
    vain = sum(len(found[name] - exact[name]) for name in found)
    most = {"random_15": 160, "panels.yaml": 108, "spars.yaml": 18}.get(case, 6)
    assert vain <= most, vain


def chain(count: int) -> bough.Mechanism:
    """A chain of rigid links that bends and twists."""
    rigid = {"mass": 1.0, "com": [0.1, 0, 0], "inertia": [0.01, 0.02, 0.02, 0, 0, 0], "nodes": {"tip": {}}}
    rigid["nodes"] = {"tip": {"position": [0.2, 0, 0]}}
    bodies: list[dict[str, Any]] = []
    for i in range(count):
        hinge = {"name": f"j{i}", "type": "revolute", "axis": [0, i % 2, 1 - i % 2]}
        where = {"parent": f"b{i - 1}", "at": "tip"} if i else {"parent": "ground"}
        bodies.append({"name": f"b{i}", **where, "hinge": hinge, "rigid": rigid})
    return bough.Mechanism({"bough": 1, "name": "long", "gravity": [0, 0, -9.81], "bodies": bodies})


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_long_chains_leave_out_the_lists_that_name_every_known_and_keep_the_others(fmi: str) -> None:
    root = tree(fmu_files(chain(400), fmi))
    names = {v.get("valueReference"): v.get("name") for v in root.find("ModelVariables").iter() if v.get("name")}
    index = [v.get("name") for v in root.find("ModelVariables")]
    unknowns = list(root.find("ModelStructure").iter("Unknown" if fmi == "2.0" else "Output"))
    lists = {}
    for x in unknowns:
        name = index[int(x.get("index")) - 1] if fmi == "2.0" else names[x.get("valueReference")]
        lists.setdefault(name, x.get("dependencies"))
    assert lists["j3.a"] is None and lists["j7.reaction_force[1]"] is None
    assert lists["j3.phi"] is not None and len(lists["j3.phi"].split()) == 1
    assert lists["j3.w"] is not None and len(lists["j3.w"].split()) == 1
    assert len(fmu_files(chain(400), fmi)["modelDescription.xml"]) < 2_500_000


def test_short_models_spell_every_list_out_for_importers_that_want_them() -> None:
    for fmi in ("2.0", "3.0"):
        root = tree(fmu_files(chain(10), fmi))
        found = [x for x in root.find("ModelStructure").iter() if "index" in x.attrib or "valueReference" in x.attrib]
        assert found and all("dependencies" in x.attrib for x in found)


def test_positions_and_speeds_do_not_depend_on_torques_accelerations_and_reactions_do() -> None:
    found = declared(description(ARM, "2.0"), ("Outputs",))
    assert found["shoulder.phi"] == {"shoulder.phi"} and found["shoulder.w"] == {"shoulder.w"}
    for name in ("shoulder.a", "shoulder.reaction_force[1]", "hand.tool.a[1]", "wrist.a_rot[2]"):
        assert {"shoulder.tau", "wrist.tau[1]", "upper.tip.force[1]"} <= found[name]
    inputs = {v.get("name") for v in description(ARM, "2.0").find("ModelVariables") if v.get("causality") == "input"}
    for name in ("hand.tool.r[1]", "hand.tool.v[2]", "upper.tip.Q[1]", "upper.tip.w[3]"):
        assert not found[name] & inputs


def test_trees_that_share_only_the_ground_do_not_couple() -> None:
    model = one_hinge("spherical")
    other = copy.deepcopy(model["bodies"][0]) | {"name": "c"}
    model["bodies"].append(other | {"hinge": {"name": "k", "type": "revolute", "axis": [0, 1, 0]}})
    system = bough.Mechanism(model)
    scalars = scalar_table(system)
    rows = dependency_rows(system, scalars)
    first = [i for i, v in enumerate(scalars) if v.name.replace("der(", "").startswith(("h.", "b."))]
    second = [i for i, v in enumerate(scalars) if v.name.replace("der(", "").startswith(("k.", "c."))]
    for own, other in ((first, second), (second, first)):
        assert not any(rows[i] >> j & 1 for i in own for j in other)


def rows_by_name(model: dict[str, Any]) -> dict[str, set[str]]:
    system = bough.Mechanism(model)
    scalars = scalar_table(system)
    bits = dependency_rows(system, scalars)
    return {v.name: {w.name for j, w in enumerate(scalars) if bits[i] >> j & 1} for i, v in enumerate(scalars)}


def test_axes_of_a_gantry_do_not_couple() -> None:
    rigid = {"mass": 2.0, "com": [0.1, 0.2, 0.3], "inertia": [0.3, 0.4, 0.5, 0.01, 0.02, 0.03]}
    bodies = [
        {"name": f"c{i}", "parent": f"c{i - 1}" if i else "ground", "rigid": rigid}
        | {"hinge": {"name": "xyz"[i], "type": "prismatic", "axis": [float(i == j) for j in range(3)]}}
        for i in range(3)
    ]
    found = rows_by_name({"bough": 1, "name": "gantry", "gravity": [0, 0, -9.81], "bodies": bodies})
    for axis in "xyz":
        others = set("xyz") - {axis}
        assert f"{axis}.f" in found[f"{axis}.a"] and not {f"{other}.f" for other in others} & found[f"{axis}.a"]


def test_arms_on_a_body_that_follows_a_given_motion_do_not_couple() -> None:
    rigid = {"mass": 2.0, "com": [0.1, 0.2, 0.3], "inertia": [0.3, 0.4, 0.5, 0.01, 0.02, 0.03]}
    bodies: list[dict[str, Any]] = [
        {"name": "hub", "parent": "ground", "hinge": {"name": "spin", "type": "revolute", "axis": [0, 0, 1]}},
        {"name": "p", "parent": "hub", "hinge": {"name": "left", "type": "revolute", "axis": [0, 1, 0]}},
        {"name": "r", "parent": "hub", "hinge": {"name": "right", "type": "revolute", "axis": [1, 0, 0]}},
    ]
    for drive in ("motion", "torque"):
        bodies[0]["hinge"]["drive"] = drive
        found = rows_by_name({"bough": 1, "name": "hub", "bodies": [{**b, "rigid": rigid} for b in bodies]})
        assert ("right.tau" in found["left.a"]) == (drive == "torque")
        assert "spin.w" in found["left.a"] and ("spin.a" in found["left.a"]) == (drive == "motion")


@pytest.mark.parametrize("seed", [0, 1, 2, 5, 9])
def test_initial_unknowns_depend_on_the_parameters_that_change_them(seed: int) -> None:
    """Parameters by way of the model file: another number there, another acceleration or reaction."""
    model = variant(random_model(seed), 3, 0.0)
    system = bough.Mechanism(model)
    rng = np.random.default_rng(seed)
    q, u, tau = random_state(system, seed, deflection=0.1)
    found = declared(description(f"random_{seed}", "2.0"), ("InitialUnknowns",))
    base = system.hybrid_dynamics(q, u, tau)
    checked = 0
    for k, body in enumerate(model["bodies"]):
        if N_LIN.get(body["hinge"]["type"], 0) + N_ROT.get(body["hinge"]["type"], 0) == 0:
            continue
        name = system.model.bodies[k].hinge.name
        for key in ("damping", "stiffness", "armature"):
            changed = copy.deepcopy(model)
            values = changed["bodies"][k]["hinge"][key]
            values[0] *= 1.5 + rng.random()
            now = bough.Mechanism(changed).hybrid_dynamics(q, u, tau)
            parameter = f"{name}.{key}" if len(values) == 1 else f"{name}.{key}[1]"
            for j, speed in enumerate(system.u_names):
                depends = abs(now.udot[j] - base.udot[j]) > 1e-9 * abs(base.udot).max()
                assert not depends or (parameter in found[f"der({speed})"]), (parameter, speed)
                checked += 1
    assert checked


def test_constant_factors_are_declared_where_a_variable_is_another_one() -> None:
    root = description(ARM, "2.0")
    names = [v.get("name") for v in root.find("ModelVariables")]
    constant = {
        names[int(x.get("index")) - 1]
        for x in root.find("ModelStructure").iter("Unknown")
        if "constant" in x.get("dependenciesKind", "")
    }
    system = system_of(ARM)
    assert constant == {*system.q_names, *system.u_names, *(f"der({x})" for x in system.q_names)}
