"""The screw hinge: it turns and advances together, by `pitch` metres in a turn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from kernel.cases import HINGES, case, error, force_scale, link, panel
from random_models import random_state
from small_models import body, hinge, model, rigid

import bough

TOLERANCE = 1e-9  # as in test_oracle_agreement
TYPES = ("screw", "screw", "revolute", "universal", "cylindrical", "free")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["rigid", "clamped", "unclamped"])
def test_trees_with_screws_equal_the_oracle(seed: int, kind: str) -> None:
    c = case(seed, kinds=(kind, "rigid"), hinge_types=TYPES)
    assert c.system.q_names == c.oracle.q_names and c.system.u_names == c.oracle.u_names
    udot = c.oracle.forward_dynamics(c.q, c.u, c.tau, c.loads)
    assert error(c.system.forward_dynamics(c.q, c.u, c.tau, loads=c.loads), udot) < TOLERANCE
    composite = c.system.forward_dynamics(c.q, c.u, c.tau, method="composite", loads=c.loads)
    assert error(composite, udot) < TOLERANCE
    scale = force_scale(c.system, c.q, udot, c.tau)
    assert error(c.system.inverse_dynamics(c.q, c.u, udot, loads=c.loads), c.tau, scale) < TOLERANCE
    assert error(c.system.mass_matrix(c.q), c.oracle.mass_matrix(c.q)) < TOLERANCE
    assert error(c.system.energy(c.q, c.u)[0], c.oracle.energy(c.q, c.u)[0]) < TOLERANCE
    for name in c.model["outputs"]:
        _, velocity, acceleration = c.system.node_motion(c.q, c.u, udot, [name])
        expected = c.oracle.node_motion(c.q, c.u, udot, name)
        assert acceleration is not None
        assert error(c.system.pose(c.q, name)[0], c.oracle.pose(c.q, name)[0]) < TOLERANCE
        assert error(velocity[0], np.concatenate([expected.w, expected.v])) < TOLERANCE
        assert error(acceleration[0], np.concatenate([expected.alpha, expected.a])) < TOLERANCE


PITCH = 0.02


def nut(**more: object) -> dict[str, object]:
    """A nut of 3 kg and 0.004 kg.m^2 on a vertical screw."""
    screw = hinge("screw", "thread", [0, 0, 1], pitch=PITCH, **more)
    return model("nut", body("nut", "ground", screw, rigid=rigid(3.0, (0.01, 0.01, 0.004))), gravity=[0, 0, -9.81])


def test_a_turn_to_the_right_lifts_the_nut_by_its_pitch() -> None:
    system = bough.Mechanism(nut())
    assert (system.q_names, system.u_names) == (["thread.phi"], ["thread.w"])
    position, quaternion = system.pose(np.array([2 * math.pi]), "nut.origin")
    np.testing.assert_allclose(position, [0, 0, PITCH], atol=1e-17)
    np.testing.assert_allclose(abs(quaternion), [0, 0, 0, 1], atol=1e-15)


def test_gravity_drives_the_nut_as_the_lead_says() -> None:
    """(J + m h^2) a = tau - m g h with the lead h = pitch / 2 pi: the one equation of a screw without friction."""
    lead = PITCH / (2 * math.pi)
    for tau in (0.0, 0.7):
        a = bough.Mechanism(nut()).forward_dynamics(np.zeros(1), np.zeros(1), np.array([tau]))
        np.testing.assert_allclose(a, (tau - 3.0 * 9.81 * lead) / (0.004 + 3.0 * lead**2), rtol=1e-14)
    result = bough.simulate(nut(), stop=1.0, inputs={"thread.tau": 3.0 * 9.81 * lead})
    np.testing.assert_allclose(result["thread.phi"], 0.0, atol=1e-12)  # a torque that holds the weight


@pytest.mark.parametrize("modes", [1, 5, 9])
def test_a_screw_on_a_ruthless_body_leaves_the_two_port(modes: int) -> None:
    screw = {"type": "screw", "axis": [0.3, 0.1, 1.0], "pitch": 1.5}
    part = panel(modes)
    bodies = [link("a", "ground", HINGES["revolute"], part), link("b", "a", screw, panel(modes, seed=6))]
    system = bough.Mechanism({"bough": 1, "name": "two", "fidelity": "ruthless", "bodies": bodies})
    for seed in range(3):
        q, u, tau = random_state(system, seed)
        expected = system.forward_dynamics(q, u, tau, method="composite")
        assert error(system.forward_dynamics(q, u, tau), expected) < TOLERANCE
        batch = system.forward_dynamics(np.stack([q] * 5), np.stack([u] * 5), np.stack([tau] * 5))
        assert error(batch[4], expected) < TOLERANCE


@pytest.mark.parametrize(
    ("spoilt", "says"),
    [
        ({"type": "screw", "axis": [0, 0, 1]}, "a number other than 0 for a screw hinge"),
        ({"type": "screw", "axis": [0, 0, 1], "pitch": 0}, "a number other than 0 for a screw hinge"),
        ({"type": "screw", "axis": [0, 0, 1], "pitch": "fine"}, "a number"),
        ({"type": "screw", "pitch": 0.01}, "one axis, three numbers, for a screw hinge"),
        ({"type": "revolute", "axis": [0, 0, 1], "pitch": 0.01}, "no `pitch` for a revolute hinge"),
        ({"type": "screw", "axis": [0, 0, 1], "pitch": 0.01, "initial": {"s": 1}}, "only phi, w for a screw hinge"),
    ],
)
def test_a_screw_needs_a_pitch_and_nothing_else_has_one(spoilt: dict[str, object], says: str) -> None:
    with pytest.raises(bough.ModelError, match=says):
        bough.load(model("m", body("b", "ground", spoilt, rigid=rigid(1.0, (1, 1, 1)))))


def test_mass_alone_resists_a_screw() -> None:
    """A point mass on the axis is no inertia to a revolute hinge, which is refused, but it is to a screw."""
    point = rigid(1.0, (0, 0, 0))
    system = bough.Mechanism(model("m", body("b", "ground", hinge("screw", "h", [0, 0, 1], pitch=0.5), rigid=point)))
    np.testing.assert_allclose(system.mass_matrix(np.zeros(1)), [[(0.5 / (2 * math.pi)) ** 2]], rtol=1e-14)
