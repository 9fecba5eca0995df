"""Flexible bodies that never leave a plane declare what happens in it, and out of it nothing in vain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fmu.test_dependency_scales import Probe
from metamorphic.examples import model_of

import bough
from bough.fmu.placed import Knowns, Placed

MODELS = 40
STATES = 30
SECTION = {"area": 1e-4, "Iy": 2e-9, "Iz": 1e-9, "J": 2e-9}


def beam(rng: np.random.Generator, families: list[str], stiffened: bool, askew: bool) -> dict[str, Any]:
    """A light beam with modes of some families."""
    boundary = "cantilever" if askew else str(rng.choice(["cantilever", "pinned", "free"]))
    modes: dict[str, Any] = {"boundary": boundary} | dict.fromkeys(families, 2)
    material = {"E": 7e9, "nu": 0.33, "rho": 2700}
    return {"length": 0.8, "elements": 6, "section": SECTION, "material": material, "modes": modes}


def model(seed: int) -> dict[str, Any]:
    """A chain of flat beams and rigid bodies: all hinges normal to the plane, or one not; loads in any direction."""
    rng = np.random.default_rng([seed, 21])
    normal = int(rng.integers(1, 3))  # the beams lie along x
    families = [["bending_y"], ["bending_z"]][normal - 1] + (["axial"] if rng.random() < 0.3 else [])
    stiffened = bool(seed % 4 == 3)
    askew = seed % 3 == 0
    count = int(rng.integers(2, 5))
    bodies: list[dict[str, Any]] = []
    for i in range(count):
        axis = [float(j == normal) for j in range(3)]
        out_of_plane = askew and i == seed % count
        if out_of_plane:
            axis = rng.normal(size=3).tolist() if seed % 2 else [float(j == 0) for j in range(3)]
        where = {"parent": f"b{i - 1}", "at": "tip"} if i else {"parent": "ground"}
        frame = {"position": (0.1 * rng.normal(size=3) * (rng.random() < 0.3)).tolist()}
        body: dict[str, Any] = {"name": f"b{i}", **where, "hinge": {"type": "revolute", "axis": axis, "frame": frame}}
        if rng.random() < 0.7 or i == count - 1:
            if not stiffened and rng.random() < 0.3:
                body["fidelity"] = "ruthless"
            body["beam"] = beam(rng, families, stiffened, out_of_plane)
        else:
            body["rigid"] = {"mass": 1.0, "com": [0.1, 0.02, 0.0], "inertia": [0.02, 0.03, 0.04, 0.001, 0, 0]}
            body["rigid"]["nodes"] = {"tip": {"position": [0.2, 0, 0]}}
        bodies.append(body)
    tip = f"b{count - 1}.tip"
    more = {"inputs": [f"{tip}.force", f"{tip}.torque"]} if rng.random() < 0.5 else {}
    model = {"bough": 1, "name": "flat", "gravity": [1, 2, -9], "geometric_stiffening": stiffened, "bodies": bodies}
    return model | more | {"outputs": [tip]}


@pytest.mark.parametrize("block", range(4))
def test_derivatives_of_mechanisms_with_flat_bodies_are_declared(block: int) -> None:
    flat = 0
    for seed in range(block, MODELS, 4):
        system = bough.Mechanism(model(seed))
        placed = Placed(system, Knowns({}))
        flat += sum(placed.flat(k) is not None for k in range(len(placed.bodies)) if placed.bodies[k].mode_count)
        probe = Probe(system)
        assert not {row for state in range(STATES) for row in probe.undeclared(state)}, seed
    assert flat >= MODELS // 4


def in_vain(probe: Probe) -> tuple[int, int]:
    """How many entries are declared, and how many of them are zero at eight states."""
    seen = np.zeros_like(probe.declared)
    for state in range(1, 9):
        matrix = probe.matrix(state)
        seen |= matrix > 1e-14 * matrix.max(axis=1, keepdims=True)
    return int(probe.declared.sum()), int((probe.declared & ~seen).sum())


@pytest.mark.parametrize("name", ["arm_control", "flexible_chain", "two_link_arm", "station_arm", "array_deployment"])
def test_of_what_examples_that_are_trees_declare_less_than_one_percent_is_in_vain(name: str) -> None:
    """Those of plane beams among them, whose reactions out of the plane no motor changes."""
    declared, vain = in_vain(Probe(bough.Mechanism(model_of(name))))
    assert vain < 0.01 * declared, (declared, vain)


def test_reactions_out_of_the_plane_depend_on_gravity_there_and_no_motor() -> None:
    probe = Probe(bough.Mechanism(model_of("two_link_arm")))
    names = [probe.scalars[i].name for i in probe.rows]
    columns = [probe.scalars[j].name for j in probe.columns]
    row = probe.declared[names.index("shoulder.reaction_force[3]")]
    assert not row.any(), [columns[j] for j in np.flatnonzero(row)]
