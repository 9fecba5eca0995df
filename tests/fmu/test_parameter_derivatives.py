"""Derivatives by every known that ModelStructure declares, parameters included, against differences of values."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree

import numpy as np
import pytest
from fmu.conftest import Finder
from fmu.fmi import Array, Fmu, Instance
from fmu.models import system

from bough.fmu.dependencies import is_known
from bough.mechanism.variable_table import scalar_table

START = 5e-9  # of the largest value of a kind: central differences of sixth order leave this much


def reals(model: str) -> tuple[list[str], list[str], dict[str, float]]:
    """Unknowns, tunable real parameters, and these with their start values."""
    table = scalar_table(system(model))
    parameters = {v.name: v.start[0] for v in table if v.variability == "tunable" and v.type == "Real"}
    unknowns = [v.name for v in table if v.causality in ("output", "local")]
    return unknowns, list(parameters), parameters


def values_at(fmu: Fmu, names: list[str], start: Mapping[str, float]) -> Array:
    """Values in initialization mode."""
    with Instance(fmu) as it:
        it.set(start)
        assert it.enter() == 0
        return it.get(names)


def settings(model: str) -> dict[str, float]:
    """Parameters that are not zero, states and inputs that move everything."""
    of, random = system(model), np.random.default_rng(3)
    sizes = {n: 0.003 if ".eta" in n else 0.3 for n in of.q_names + of.u_names}
    out = {n: size * float(x) for (n, size), x in zip(sizes.items(), random.normal(size=of.nq + of.nu), strict=True)}
    out |= {v.name: float(random.normal()) for v in of.variables if v.causality == "input"}
    for name, value in reals(model)[2].items():
        out[name] = value * float(random.uniform(0.9, 1.1)) if value else 0.0
        if name.split(".")[-1].split("[")[0] in ("damping", "stiffness", "rest", "armature"):
            out[name] = float(random.uniform(0.1, 0.5))
    return out


@pytest.mark.parametrize("model", ["arm", "flyer"])
def test_derivatives_by_parameters_are_those_of_the_values(fmus: Finder, fmi: str, model: str) -> None:
    """Central differences of order six, with steps large enough for rounding not to matter."""
    fmu = fmus(model, fmi)
    unknowns, parameters, _ = reals(model)
    start = settings(model)
    weights = {1: 45.0 / 60.0, 2: -9.0 / 60.0, 3: 1.0 / 60.0}
    with Instance(fmu) as it:
        it.set(start)
        assert it.enter() == 0
        size = np.abs(it.get(unknowns))
        for name in parameters:
            got = it.directional(unknowns, [name], [1.0])
            kind = name.split(".")[-1].split("[")[0]
            h = {"com": 2e-4, "inertia": 1e-6}.get(kind, 0.01 * (abs(start[name]) or 1.0))
            expected = np.zeros(len(unknowns))
            for k, weight in weights.items():
                up, down = ({**start, name: start[name] + s * k * h} for s in (1.0, -1.0))
                expected += weight * (values_at(fmu, unknowns, up) - values_at(fmu, unknowns, down)) / h
            scale = np.abs(expected).max() + size.max() / h * 1e-4
            assert np.abs(got - expected).max() < START * scale, name


@pytest.mark.parametrize("model", ["arm", "flyer"])
def test_every_declared_real_known_has_a_derivative(fmus: Finder, fmi: str, model: str) -> None:
    """FMI 3 declares parameters for outputs, FMI 2 for initial unknowns: each is answered, and time too."""
    root = ElementTree.fromstring((fmus(model, fmi).folder / "modelDescription.xml").read_text())
    variables = list(root.find("ModelVariables"))  # type: ignore[arg-type]
    table = {v.name: v for v in scalar_table(system(model))}
    names = [v.get("name", "") for v in variables]
    structure = root.find("ModelStructure")
    assert structure is not None
    with Instance(fmus(model, fmi)) as it:
        assert it.enter() == 0
        asked: set[str] = set()
        for unknown in structure.iter():
            listed = unknown.get("dependencies")
            if not listed or "InitialUnknown" not in (unknown.tag, "InitialUnknown"):
                continue
            first = 1 if fmi == "2.0" else 0
            found = {names[int(j) - first] for j in listed.split()}
            assert all(is_known(table[n]) for n in found)
            asked |= {n for n in found if table[n].type == "Real"}
        output = next(n for n in names if table[n].causality == "output")
        for name in ["time", *sorted(asked)]:
            assert np.isfinite(it.directional([output], [name], [1.0])).all(), name
        assert any(table[n].causality == "parameter" for n in asked)


def test_parameters_are_as_before_after_a_derivative(arm: Fmu) -> None:
    unknowns, parameters, _ = reals("arm")
    with Instance(arm) as it:
        it.initialize()
        before = it.get(unknowns + parameters)
        it.directional(unknowns, parameters, [1.0] * len(parameters))
        assert (it.get(unknowns + parameters) == before).all()
        it.set({parameters[0]: 1.0})  # all is computed again
        it.set({parameters[0]: before[len(unknowns)]})
        assert (it.get(unknowns + parameters) == before).all()
