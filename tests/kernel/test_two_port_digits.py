"""A light ruthless boom under a heavy load keeps its digits: where the two-port would lose them, it is not taken."""

from __future__ import annotations

import numpy as np
import pytest
from small_models import ALUMINIUM, Dict, body, hinge, model, rigid

import bough


def boom(load: float, on: str = "fixed") -> Dict:
    """A tube of 0.2 kg with a payload."""
    modes = {"boundary": "cantilever", "bending_y": 3, "bending_z": 3, "torsion": 2, "axial": 1}
    beam = {"length": 2.0, "elements": 10, "section": {"shape": "tube", "radius": 0.01, "thickness": 0.0006}}
    beam |= {"material": ALUMINIUM, "modes": modes, "damping": 0.01}
    wrist = hinge(on, "wrist") if on == "fixed" else hinge(on, "wrist", [0, 0, 1], stiffness=1e3)
    payload = rigid(load, (load / 10, load / 10, load / 10))
    return model(
        "boom",
        body("boom", "ground", hinge("fixed", "root"), beam=beam),
        body("load", "boom.tip", wrist, rigid=payload),
        fidelity="ruthless",
    )


@pytest.mark.parametrize("on", ["fixed", "revolute"])
@pytest.mark.parametrize("load", [0.2, 20.0, 200.0, 2e4, 2e6])
def test_accelerations_balance_the_forces_whatever_the_ratio(on: str, load: float) -> None:
    """Inverse dynamics of the accelerations against the elastic forces: what is left of them.

    By the two-port it was 3e-4 at a thousand times the boom's mass, and 15 at a hundred thousand times.
    """
    system = bough.Mechanism(boom(load, on))
    q, u = system.initial_state()
    q = 1e-3 * np.random.default_rng(0).normal(size=q.shape)
    udot = system.forward_dynamics(q, u, np.zeros(system.nu))
    elastic = np.abs(system.inverse_dynamics(q, u, np.zeros(system.nu))).max()
    left = np.abs(system.inverse_dynamics(q, u, udot)).max() / elastic
    assert left < 1e-6 * max(1.0, load / 2e4) ** 0.5


def test_loads_as_heavy_as_the_boom_keep_the_two_port() -> None:
    """The fast path is for these: eliminated modes have no cost that grows with their square."""
    from bough.mechanism.block import _is_two_port, _places, _port_tables

    for load, taken in ((0.2, True), (200.0, False)):
        system = bough.Mechanism(boom(load))
        bodies = system.block.bodies
        where = {f"{b.name}.{n.name}": 0 for b, d in zip(system.model.bodies, bodies, strict=True) for n in d.nodes}
        places = _places(system.model, bodies, where)
        assert _is_two_port(system.model, 0, bodies[0], places)
        assert bool(_port_tables(system.model, 0, bodies, places).arrays) == taken
