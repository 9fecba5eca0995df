"""Directional and adjoint derivatives against `Mechanism.linearize`; what is declared independent does not change.

That nothing is declared dependent for nothing is not shown here.
"""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from fmu.conftest import Finder
from fmu.fmi import OK, Array, Fmu, Instance
from fmu.models import VERSIONS, system

# Both sides run the complex step through the same kernel, compiled twice: rounding is all that differs.
ROUNDING = 1e-12


def moved(fmu: Fmu, model: str, seed: int, kind: str = "cs") -> Instance:
    """An instance in some state, inputs at zero."""
    of, random = system(model), np.random.default_rng(seed)
    it = Instance(fmu, kind)
    # A unit of the torsion mode turns the tip by 500 rad: deflections are kept to what a beam may bear.
    sizes = {n: 0.01 if ".eta" in n else 0.3 for n in of.q_names + of.u_names}
    it.set({n: size * x for (n, size), x in zip(sizes.items(), random.normal(size=of.nq + of.nu), strict=True)})
    it.initialize()
    return it


def sides(model: str) -> tuple[list[str], list[str], list[str]]:
    of = system(model)
    states = [*of.q_names, *of.u_names]
    inputs = [v.name for v in of.variables if v.causality == "input"]
    return states, inputs, [v.name for v in of.variables if v.causality == "output"]


def jacobian(it: Instance, unknowns: list[str], knowns: list[str]) -> Array:
    eye = np.eye(len(knowns))
    rows: Array = np.array([it.directional(unknowns, knowns, row.tolist()) for row in eye]).T
    return rows


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["cs", "me"])
@pytest.mark.parametrize("model", ["arm", "flyer"])
def test_directional_derivatives_equal_the_linearization(
    fmus: Finder, fmi: str, model: str, kind: str, seed: int
) -> None:
    of = system(model)
    states, inputs, outputs = sides(model)
    rates = [f"der({n})" for n in states]
    with moved(fmus(model, fmi), model, seed, kind) as it:
        q, u = it.get(of.q_names), it.get(of.u_names)
        ss = of.linearize(q, u, np.zeros(of.nu))
        assert (list(ss.states), list(ss.inputs), list(ss.outputs)) == (states, inputs, outputs)
        got = jacobian(it, rates + outputs, states + inputs)
        expected = np.block([[ss.A, ss.B], [ss.C, ss.D]])
        scale = np.maximum(1.0, np.abs(expected).max(axis=1, keepdims=True))
        assert np.abs((got - expected) / scale).max() < ROUNDING


def test_seeds_of_several_knowns_add_up(arm: Fmu) -> None:
    states, inputs, outputs = sides("arm")
    random = np.random.default_rng(5)
    with moved(arm, "arm", 3) as it:
        whole = jacobian(it, outputs, states + inputs)
        seed = random.normal(size=len(states + inputs))
        got, expected = it.directional(outputs, states + inputs, list(seed)), whole @ seed
        assert np.abs(got - expected).max() < ROUNDING * np.abs(whole).sum(axis=1).max() * np.abs(seed).max()
        twice = it.directional(["shoulder.a"], ["shoulder.tau", "shoulder.tau"], [1.0, 2.0])
        assert twice[0] == pytest.approx(3.0 * it.directional(["shoulder.a"], ["shoulder.tau"], [1.0])[0], rel=1e-14)


@pytest.mark.parametrize("model", ["arm", "flyer", "linkage"])
def test_adjoint_is_the_transpose(fmus: Finder, model: str) -> None:
    states, inputs, outputs = sides(model)
    unknowns, knowns = [f"der({n})" for n in states] + outputs, states + inputs
    random = np.random.default_rng(6)
    with moved(fmus(model, "3.0"), model, 1) as it:
        whole = jacobian(it, unknowns, knowns)
        for _ in range(3):
            seed = random.normal(size=len(unknowns))
            expected = whole.T @ seed
            got = it.adjoint(unknowns, knowns, list(seed))
            bound = np.abs(whole).T @ np.abs(seed)  # of what was added up
            assert (np.abs(got - expected) <= ROUNDING * np.maximum(1.0, bound)).all()


def test_derivatives_leave_the_instance_alone(arm: Fmu) -> None:
    states, inputs, outputs = sides("arm")
    with moved(arm, "arm", 2) as it, moved(arm, "arm", 2) as quiet:
        for _ in range(3):
            jacobian(it, outputs[:4], inputs)
            if it.new:
                it.adjoint(outputs[:4], inputs, [1.0] * 4)
            it.output_derivatives(outputs)
            assert it.step(0.01) == quiet.step(0.01) == OK
        assert it.get(outputs).tobytes() == quiet.get(outputs).tobytes()
        assert it.state_bytes() == quiet.state_bytes()


# ---- dependencies


def dependencies(fmu: Fmu) -> dict[str, set[str]]:
    """What modelDescription.xml says each output and derivative depends on, by name."""
    root = ElementTree.parse(fmu.folder / "modelDescription.xml").getroot()
    structure = root.find("ModelStructure")
    assert structure is not None
    by_reference = {r: n for n, r in fmu.references.items()}
    out: dict[str, set[str]] = {}
    for node in structure.iter():
        if node.tag in ("InitialUnknowns", "InitialUnknown"):
            break
        if "dependencies" not in node.attrib:
            continue
        shift = 1 if node.get("index") else 0  # FMI 2 counts variables from 1
        name = by_reference[int(node.get("index") or node.get("valueReference") or 0) - shift]
        out[name] = {by_reference[int(x) - shift] for x in node.attrib["dependencies"].split()}
    return out


@pytest.mark.parametrize("fmi", VERSIONS)
@pytest.mark.parametrize("model", ["arm", "flyer", "linkage"])
def test_what_does_not_depend_on_a_known_does_not_change_with_it(fmus: Finder, model: str, fmi: str) -> None:
    """Perturb one known after the other, by a lot. Inputs leave every bit of what is independent of them alone; states
    may move a zero that is a sum of cancelling terms, such as a speed across the plane of motion, by rounding."""
    fmu = fmus(model, fmi)
    states, inputs, outputs = sides(model)
    unknowns, knowns = outputs + [f"der({n})" for n in states], states + inputs
    said = dependencies(fmu)
    assert set(said) == set(unknowns)
    independent = np.array([[known not in said[unknown] for known in knowns] for unknown in unknowns])
    for seed in range(3):
        with moved(fmu, model, seed, "me") as it:
            it.to_continuous()
            it.set({n: 0.1 * (i + 1) for i, n in enumerate(inputs)})
            x, base = it.states(), it.get(unknowns)
            for j, known in enumerate(knowns):
                if known in inputs:
                    old = float(it.get([known])[0])
                    it.set({known: old + 0.37})
                    bound = np.zeros_like(base)
                else:
                    y = x.copy()
                    y[j] += 0.011
                    it.set_states(y)
                    bound = 1e-12 * np.maximum(1.0, np.abs(base).max())
                change = np.abs(it.get(unknowns) - base)
                wrong = independent[:, j] & (change > bound)
                assert not wrong.any(), (known, [n for n, w in zip(unknowns, wrong, strict=True) if w])
                if known in inputs:
                    assert (change > 0).any()
                    it.set({known: old})
                it.set_states(x)
            assert it.get(unknowns).tobytes() == base.tobytes()


def test_positions_and_speeds_do_not_depend_on_torques_but_accelerations_do(arm: Fmu) -> None:
    said = dependencies(arm)
    assert said["shoulder.phi"] == {"shoulder.phi"} and said["shoulder.w"] == {"shoulder.w"}
    assert not any("tau" in n or "force" in n for n in said["hand.tool.r[1]"] | said["hand.tool.v[1]"])
    for name in ("shoulder.a", "hand.tool.a[1]", "shoulder.reaction_force[1]"):
        assert {"shoulder.tau", "lower.tip.force[1]"} <= said[name]
