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
from small_models import ARM, FLYER

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


WHEEL = {"name": "rw1", "axis": [1, 2, 2], "inertia": 0.05, "w": 20.0, "static": 1e-3}


def satellite() -> dict[str, Any]:
    """The flyer with a wheel on hub and boom, thruster, instruments and a modal force, near a point mass."""
    made = copy.deepcopy(FLYER) | {"name": "satellite", "gravity": {"mu": 40.0, "center": [0.0, 6.0, 0.0]}}
    made["bodies"][0]["rigid"]["wheels"] = [WHEEL]
    made["bodies"][1]["beam"]["wheels"] = [{"name": "tw", "axis": [0, 0, 1], "inertia": 1e-3, "mass": 0.1, "at": "tip"}]
    made["inputs"] = ["hub.side.local_force", "boom.tip.local_torque", "boom.modal_force"]
    made["outputs"] = ["hub.origin.local", "boom.tip.deflection", "boom.tip.local"]
    return made


@pytest.fixture(scope="module")
def system() -> bough.Mechanism:
    """The flexible arm with every type of force."""
    return bough.Mechanism(copy.deepcopy(ARM) | {"name": "forced", "forces": FORCES})


@pytest.fixture(scope="module", params=VERSIONS)
def fmu(request: pytest.FixtureRequest, system: bough.Mechanism, tmp_path_factory: pytest.TempPathFactory) -> Fmu:
    """Its FMU, unpacked."""
    return unpack(system, str(request.param), Path(tmp_path_factory.mktemp("forced")))


@pytest.mark.parametrize("fmi", VERSIONS)
def test_a_satellite_has_exact_derivatives_and_runs_as_in_python(fmi: str, tmp_path: Path) -> None:
    """Wheels, loads and sensors in node axes, modal forces and the field of a point mass in FMUs."""
    system = bough.Mechanism(satellite())
    fmu = unpack(system, fmi, tmp_path)
    check_derivatives(fmu, system, "me")
    names = [
        "hub.rw1.w",
        "hub.rw1.h",
        "boom.tw.w",
        "hub.origin.specific_force[2]",
        "boom.tip.deflection[3]",
        "flight.w[1]",
    ]
    given = {"hub.rw1.tau": 0.2, "hub.side.local_force[1]": 0.5, "boom.modal_force[1]": 0.01}
    run = bough.simulate(system, stop=0.4, step=0.1, inputs=given, rtol=1e-8)
    with Instance(fmu, "cs") as it:
        it.set(given)
        it.initialize(tolerance=1e-8)
        for i in range(1, run.t.size):
            it.step(float(run.t[i] - run.t[i - 1]))
            for name, value in zip(names, it.get(names), strict=True):
                assert value == pytest.approx(run[name][i], rel=1e-5, abs=1e-5 * np.abs(run[name]).max())


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
    said = dependencies(fmu)
    assert "cylinder.f" in said["der(shoulder.w)"]
    assert "cylinder.f" not in said["strut.f"]
    outputs = [v.name for v in system.variables if v.causality == "output"]
    own = ("strut", "mount", "foot", "cylinder")
    assert not any("shoulder.tau" in said[n] for n in outputs if n.split(".")[0] in own)
    check_derivatives(fmu, system, kind)


def check_derivatives(fmu: Fmu, system: bough.Mechanism, kind: str) -> None:
    """Directional derivatives are those of `linearize`, and dependencies hold all of them."""
    states = [*system.q_names, *system.u_names]
    inputs = [v.name for v in system.variables if v.causality == "input"]
    outputs = [v.name for v in system.variables if v.causality == "output"]
    unknowns, knowns = [f"der({n})" for n in states] + outputs, states + inputs
    said = dependencies(fmu)
    assert set(said) == set(unknowns)
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
