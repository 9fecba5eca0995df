"""Mass centres beside the nodes of a nodal body: the same as a node of its own on a rigid arm."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from small_models import Dict, body, hinge, model

import bough

ARM = np.array([0.05, -0.1, 0.2])
INERTIA = [0.02, 0.03, 0.025, 0.001, -0.002, 0.003]
SHAPES = np.array([[[0, 0.3, 0.1, 0.1, 0.2, -0.4]], [[0.5, -0.2, 0.3, 0.0, -0.3, 0.2]]])
"""Of the tip, mode by mode; the root is held."""


def panel(beside: bool, fidelity: str) -> Dict:
    nodes = [{"name": "root", "position": [0, 0, 0], "mass": 0.5}, {"name": "tip", "position": [1, 0.2, 0]}]
    modes = [[[0] * 6, list(shape[0])] for shape in SHAPES.tolist()]
    load = {"mass": 0.7, "inertia": INERTIA}
    if beside:
        nodes[1] |= {**load, "com": ARM.tolist()}
    else:
        nodes.append({"name": "centre", "position": (np.array([1, 0.2, 0]) + ARM).tolist(), **load})
        for mode in modes:
            turn, move = np.array(mode[1][:3]), np.array(mode[1][3:])
            mode.append([*turn, *(move + np.cross(turn, ARM))])
    nodal = {"attach": "root", "nodes": nodes, "modes": modes, "stiffness": [50.0, 80.0]}
    made = model("panel", body("panel", "ground", hinge("revolute", "hub", [0, 1, 0]), nodal=nodal), fidelity=fidelity)
    return copy.deepcopy(made) | {"gravity": [0, 0, -9.81]}


@pytest.mark.parametrize("fidelity", ["full", "ruthless"])
def test_an_offset_is_an_arm(fidelity: str) -> None:
    one, other = (bough.Mechanism(panel(beside, fidelity)) for beside in (True, False))
    rng = np.random.default_rng(3)
    q, u, tau = (0.3 * rng.normal(size=3) for _ in range(3))
    expected = other.forward_dynamics(q, u, tau)
    assert one.forward_dynamics(q, u, tau) == pytest.approx(expected, rel=1e-11)
    assert abs(one.forward_dynamics(q, u, tau) - bough.Mechanism(_bare()).forward_dynamics(q, u, tau)).max() > 1e-3


def _bare() -> Dict:
    made = panel(True, "full")
    del made["bodies"][0]["nodal"]["nodes"][1]["com"]
    return made
