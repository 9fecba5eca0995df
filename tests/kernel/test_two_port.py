"""Ruthless bodies with their modes eliminated at set-up (two-port) against the general path, which carries the modes.

The composite method and the inverse dynamics run the general path; the articulated sweep runs the two-port one wherever
a body has at most one outboard hinge, without translations.
"""

from __future__ import annotations

import numpy as np
import pytest
from kernel.cases import HINGES, error, force_scale, link, panel
from random_models import random_state

from bough import Mechanism

TOLERANCE = 1e-11
"""Of the largest acceleration, or force: round-off (1e-14) times a condition of some hundreds."""

CHILDREN = ["revolute", "universal", "spherical", "fixed", "prismatic", "free"]


def pair(modes: int, hinge: str, armature: bool, clamped: bool = True) -> Mechanism:
    """A flexible body on a revolute hinge, and one more on `hinge` at its far end."""
    child = HINGES[hinge] | {"frame": {"position": [0.1, -0.2, 0.05], "quaternion": [0.1, 0.7, -0.1, 0.7]}}
    if armature and hinge != "fixed":
        child["armature"] = 0.3
    part = panel(modes, clamped=clamped or modes == 0)
    bodies = [link("a", "ground", HINGES["revolute"], part), link("b", "a", child, panel(modes, seed=6))]
    model = {"bough": 1, "name": "pair", "gravity": [1.0, 2.0, -9.0], "fidelity": "ruthless", "bodies": bodies}
    return Mechanism(model | {"inputs": ["a.n5.force", "a.n7.torque", "b.n7.force"]})


LOADS = {"a.n5.force": [1.0, -2.0, 0.5], "a.n7.torque": [0.3, 0.2, -1.0], "b.n7.force": [0.0, 1.0, 2.0]}


@pytest.mark.parametrize("armature", [False, True])
@pytest.mark.parametrize("hinge", CHILDREN)
@pytest.mark.parametrize("modes", range(11))
def test_two_port_equals_general_path(modes: int, hinge: str, armature: bool) -> None:
    system = pair(modes, hinge, armature, clamped=modes % 2 == 0)
    for seed in range(2):
        q, u, tau = random_state(system, seed)
        for loads in (None, LOADS):
            udot = system.forward_dynamics(q, u, tau, loads=loads)
            assert error(udot, system.forward_dynamics(q, u, tau, method="composite", loads=loads)) < TOLERANCE
            back = system.inverse_dynamics(q, u, udot, loads=loads)
            assert error(back, tau, force_scale(system, q, udot, tau)) < TOLERANCE


@pytest.mark.parametrize("modes", [1, 4, 5, 6, 9])
def test_two_port_equals_general_path_in_a_batch(modes: int) -> None:
    for hinge in CHILDREN:
        system = pair(modes, hinge, armature=False)
        q, u, tau = (np.stack(x) for x in zip(*(random_state(system, i) for i in range(5)), strict=True))
        expected = system.forward_dynamics(q, u, tau, method="composite")
        assert error(system.forward_dynamics(q, u, tau), expected) < TOLERANCE


@pytest.mark.parametrize("modes", [1, 3, 5, 8])
def test_two_port_next_to_held_hinges_and_modes_equals_general_path(modes: int) -> None:
    """Holding the child's hinge puts its axis back into the port; holding modes turns the two-port off."""
    for hinge in CHILDREN:
        system = pair(modes, hinge, armature=False)
        q, u, tau = random_state(system, 4)
        everything = [["a_hinge"], ["a"], ["b"], ["a", "b"]] + ([["b_hinge"]] if hinge != "fixed" else [])
        for held in everything:
            out = system.hybrid_dynamics(q, u, tau, motion=tau, held=held)
            back = system.inverse_dynamics(q, u, out.udot)
            assert error(back, out.tau, force_scale(system, q, out.udot, out.tau)) < TOLERANCE


@pytest.mark.parametrize("modes", [0, 1, 3, 6, 10])
def test_branching_ruthless_tree_equals_general_path(modes: int) -> None:
    """a carries b and c (general path); b carries d; c carries e on a sliding hinge (general); d is a tip."""
    part = panel(modes)
    bodies = [
        link("a", "ground", HINGES["free"], part),
        link("b", "a", HINGES["revolute"], part),
        link("c", "a", HINGES["universal"], part) | {"at": "n3"},
        link("d", "b", HINGES["spherical"], part) | {"at": "n2"},
        link("e", "c", HINGES["cylindrical"], part),
    ]
    model = {"bough": 1, "name": "tree", "gravity": [0, 0, -9.81], "fidelity": "ruthless", "bodies": bodies}
    system = Mechanism(model)
    for seed in range(4):
        q, u, tau = random_state(system, seed)
        udot = system.forward_dynamics(q, u, tau)
        assert error(udot, system.forward_dynamics(q, u, tau, method="composite")) < TOLERANCE
        back = system.inverse_dynamics(q, u, udot)
        assert error(back, tau, force_scale(system, q, udot, tau)) < TOLERANCE
