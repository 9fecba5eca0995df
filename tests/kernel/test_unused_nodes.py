"""Nodes that carry nothing stay out of the kernel until they are asked for, and then are where they should be."""

from __future__ import annotations

import numpy as np
import pytest
from random_models import random_model, random_state

from bough import Mechanism


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["clamped", "unclamped"])
def test_nodes_without_hinge_load_or_sensor_move_as_sensors_do(seed: int, kind: str) -> None:
    model = random_model(seed, n_bodies=4, kinds=(kind, "rigid"))
    sensed = Mechanism(model)
    bare = Mechanism({**model, "inputs": [], "outputs": []})
    assert len(bare.block.nodes) < len(sensed.block.nodes)
    assert bare.node_names == sensed.node_names
    q, u, tau = random_state((sensed.q_names, sensed.u_names), seed)
    udot = sensed.forward_dynamics(q, u, tau)
    nodes = model["outputs"]
    for here, there in zip(bare.node_motion(q, u, udot, nodes), sensed.node_motion(q, u, udot, nodes), strict=True):
        assert here is not None and there is not None
        # the same sweep over the same numbers: no rounding can differ
        assert np.array_equal(here, there)
    with pytest.raises(ValueError, match="there is no node 'nowhere.at_all'"):
        bare.pose(q, "nowhere.at_all")
