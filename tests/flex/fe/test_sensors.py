"""Sensors on nodes of FE bodies that are no interfaces: they move as the modes say, and change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flex.fe.fem import document, entry, solid, straight

import bough
from bough import ModelError
from bough.flex import FlexBody, flex_body
from bough.flex.fe.fe_body import read_fe
from bough.flex.fe.recovery import recovery
from bough.flex.fe.rigid import rigid_motions
from bough.model import load


def sensed(fe: dict[str, Any], *outputs: str) -> FlexBody:
    return flex_body(load(document(fe) | {"outputs": list(outputs)}).bodies[0])


@pytest.mark.parametrize("boundary", ["cantilever", "craig-bampton", "free"])
def test_a_node_with_rotations_moves_as_an_interface_there_would(boundary: str, tmp_path: Path) -> None:
    """Averaging over one node is the node itself, and under clamped modes an interface there changes no shape."""
    path, modes = tmp_path / "beam.npz", {"boundary": boundary, "count": 5}
    fe = entry(path, straight(1.0, 8), modes=modes)
    body, plain = sensed(fe, "arm.n4", "arm.tip.deflection", "arm.n4.deflection"), sensed(fe)
    assert body.node_names == ("root", "tip", "n4") and body.nm == plain.nm
    assert np.array_equal(body.node_shapes[:2], plain.node_shapes)
    assert body.node_positions[2] == pytest.approx([3 / 8, 0, 0])
    if boundary == "cantilever":
        interfaces = fe["interfaces"] | {"n4": {"nodes": [4], "coupling": "average"}}
        other = sensed(fe | {"interfaces": interfaces})
        assert body.node_shapes == pytest.approx(other.node_shapes, abs=1e-9 * abs(other.node_shapes).max())


def test_a_node_of_a_solid_turns_as_its_section_does(tmp_path: Path) -> None:
    """Quadratic bricks; the middle of a section turns with it, but for the shear within: some thousandths."""
    path = tmp_path / "solid.npz"
    model = solid((10, 2, 2), (1.0, 0.03, 0.02))
    centre = int(np.argmin(np.linalg.norm(model.positions - [0.5, 0.0, 0.0], axis=1))) + 1
    section = (np.flatnonzero(abs(model.positions[:, 0] - 0.5) < 1e-9) + 1).tolist()
    fe = entry(path, model, modes={"boundary": "cantilever", "count": 3})
    fe["interfaces"]["middle"] = {"nodes": section, "coupling": "average"}
    body = sensed(fe, f"arm.n{centre}")
    middle, node = body.node_shapes[2], body.node_shapes[3]
    size = abs(middle).max(axis=1)
    assert node[:3] == pytest.approx(middle[:3], abs=0.01 * size[:3].max())
    assert node[3:] == pytest.approx(middle[3:], abs=0.002 * size[3:].max())


def test_rigid_motions_are_recovered_at_corners_edges_and_within(tmp_path: Path) -> None:
    path = tmp_path / "solid.npz"
    model = solid((4, 1, 1), (1.0, 0.1, 0.1))
    numbers = model.node_ids[::7]
    loaded = load(document(entry(path, model)) | {"outputs": [f"arm.n{k}" for k in numbers]})
    fe = loaded.bodies[0].fe
    assert fe is not None
    read = read_fe(fe)
    where, G = recovery(read, fe)
    for k, position in enumerate(where):
        assert G[6 * k : 6 * k + 6] @ rigid_motions(read, position) == pytest.approx(np.eye(6), abs=1e-9)


def test_a_run_tells_what_the_node_does(tmp_path: Path) -> None:
    fe = entry(tmp_path / "beam.npz", straight(1.0, 8), modes={"boundary": "cantilever", "count": 3})
    model = document(fe, type="revolute", axis=[0, 0, 1], name="h") | {"outputs": ["arm.n5", "arm.n5.local"]}
    run = bough.simulate(model, stop=0.01, step=1e-3, inputs={"h.tau": 1.0})
    system = bough.Mechanism(model)
    at = system.pose(np.array([run["h.phi"][-1], *(run[f"arm.eta[{k}]"][-1] for k in (1, 2, 3))]), "arm.n5")[0]
    assert [run[f"arm.n5.r[{k}]"][-1] for k in (1, 2, 3)] == pytest.approx(at, abs=1e-12)
    assert abs(run["arm.n5.a[2]"]).max() > 0.0


def test_what_is_no_sensor_is_refused(tmp_path: Path) -> None:
    fe = entry(tmp_path / "beam.npz", straight(1.0, 8))
    with pytest.raises(ModelError, match="no node 77"):
        sensed(fe, "arm.n77")
    with pytest.raises(ModelError, match="a node of 'arm': root, tip"):
        load(document(fe) | {"outputs": ["arm.middle"]})
    with pytest.raises(ModelError, match="inputs"):
        load(document(fe) | {"inputs": ["arm.n5.force"], "outputs": ["arm.n5"]})
    model = document(fe) | {"outputs": ["arm.n5"]}
    hung = {"name": "b", "parent": "arm", "at": "n5", "hinge": {"type": "fixed"}, "rigid": {"mass": 1.0}}
    with pytest.raises(ModelError, match="a node of 'arm'"):
        load(model | {"bodies": [*model["bodies"], hung]})
