"""Forces between nodes in FMUs: derivatives, dependencies, and the same trajectories as in Python."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmu.fmi import Fmu, Instance
from fmu.models import VERSIONS, unpack
from fmu.test_derivatives import dependencies, jacobian
from small_models import ARM

import bough

FORCES: list[dict[str, Any]] = [
    {"name": "strut", "type": "spring", "between": ["upper.tip", "ground.origin"], "stiffness": 300.0, "length": 0.9},
    {"name": "cylinder", "type": "actuator", "between": ["hand.tool", "ground.origin"]},
    {
        "name": "mount",
        "type": "bushing",
        "between": ["lower.tip", "ground.origin"],
        "stiffness": [1, 2, 3, 20, 30, 10],
        "damping": [0.1, 0.1, 0.2, 1, 2, 1],
    },
    {
        "name": "foot",
        "type": "contact",
        "between": ["hand.tool", "upper.tip"],
        "radius": [0.2, 0.5],
        "stiffness": 200.0,
        "damping": 2.0,
        "friction": 0.5,
    },
]


@pytest.fixture(scope="module")
def system() -> bough.Mechanism:
    """The flexible arm with every type of force."""
    return bough.Mechanism(copy.deepcopy(ARM) | {"name": "forced", "forces": FORCES})


@pytest.fixture(scope="module", params=VERSIONS)
def fmu(request: pytest.FixtureRequest, system: bough.Mechanism, tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    """Its FMU, unpacked."""
    return unpack(system, str(request.param), Path(tmp_path_factory.mktemp("forced")))


def moved(fmu: Fmu, system: bough.Mechanism, seed: int, kind: str) -> Instance:
    """An instance in some state."""
    random = np.random.default_rng(seed)
    it = Instance(fmu, kind)
    sizes = {n: 0.01 if ".eta" in n else 0.3 for n in system.q_names + system.u_names}
    it.set({n: s * x for (n, s), x in zip(sizes.items(), random.normal(size=len(sizes)), strict=True)})
    it.initialize()
    return it


@pytest.mark.parametrize("kind", ["cs", "me"])
def test_derivatives_equal_the_linearization_and_dependencies_hold_them(
    fmu: Fmu, system: bough.Mechanism, kind: str
) -> None:
    """Every derivative that is not zero is declared."""
    states = [*system.q_names, *system.u_names]
    inputs = [v.name for v in system.variables if v.causality == "input"]
    outputs = [v.name for v in system.variables if v.causality == "output"]
    unknowns, knowns = [f"der({n})" for n in states] + outputs, states + inputs
    said = dependencies(fmu)
    assert set(said) == set(unknowns)
    assert "cylinder.f" in said["der(shoulder.w)"]
    assert "cylinder.f" not in said["strut.f"]
    assert not any(
        "shoulder.tau" in said[n] for n in outputs if n.split(".")[0] in ("strut", "mount", "foot", "cylinder")
    )
    for seed in range(3):
        with moved(fmu, system, seed, kind) as it:
            q, u = it.get(system.q_names), it.get(system.u_names)
            ss = system.linearize(q, u, np.zeros(system.nu))
            got = jacobian(it, unknowns, knowns)
            expected = np.block([[ss.A, ss.B], [ss.C, ss.D]])
            scale = np.maximum(1.0, np.abs(expected).max(axis=1, keepdims=True))
            assert np.abs((got - expected) / scale).max() < 1e-12
            for i, unknown in enumerate(unknowns):
                there = {known for j, known in enumerate(knowns) if abs(got[i, j]) > 1e-9 * scale[i, 0]}
                assert there <= said[unknown], (unknown, there - said[unknown])


def test_a_run_equals_that_of_python(fmu: Fmu, system: bough.Mechanism) -> None:
    """Co-Simulation with the cylinder pushing, against `simulate`."""
    run = bough.simulate(system, stop=0.5, step=0.05, inputs={"cylinder.f": 20.0})
    names = ["shoulder.phi", "strut.s", "strut.f", "mount.tau[2]", "foot.f", "cylinder.s", "hand.tool.r[3]"]
    with Instance(fmu, "cs") as it:
        it.set({"cylinder.f": 20.0})
        it.initialize()
        for i in range(1, run.t.size):
            it.step(float(run.t[i] - run.t[i - 1]))
            for name, value in zip(names, it.get(names), strict=True):
                assert value == pytest.approx(run[name][i], rel=1e-4, abs=1e-4 * np.abs(run[name]).max())
