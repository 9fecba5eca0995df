"""Inertia about one axis only is accepted, with a note, where a body turns about that axis alone."""

from __future__ import annotations

import pytest
from small_models import Dict, body, hinge, model, rigid

import bough

WHEEL = rigid(1.0, (0, 0, 2.0))
HALF = [0, 2**-0.5, 0, 2**-0.5]
"""Quarter turn about y: z of the hinge's frame is x of the node."""


def wheel(*hinges: Dict, **more: object) -> Dict:
    """A wheel at the end of a chain of bodies."""
    bodies = []
    for k, one in enumerate(hinges):
        last = k == len(hinges) - 1
        parent = "ground" if k == 0 else f"b{k - 1}"
        bodies.append(body(f"b{k}", parent, one, rigid=WHEEL if last else rigid(1.0, (1, 1, 1))))
    return model("wheel", *bodies)


@pytest.mark.parametrize(
    "hinges",
    [
        (hinge("revolute", "a", [0, 0, 1]),),
        (hinge("cylindrical", "a", [0, 0, -2]),),
        (hinge("fixed", "a"),),
        (hinge("prismatic", "a", [1, 0, 0]), hinge("revolute", "b", [0, 0, 1])),
        (hinge("revolute", "a", [1, 0, 0]), hinge("revolute", "b", [0, 0, 1], frame={"quaternion": HALF})),
        (hinge("planar", "a", [[1, 0, 0], [0, 1, 0]]),),
    ],
)
def test_a_wheel_on_its_axle_is_accepted_with_a_note(hinges: tuple[Dict, ...]) -> None:
    notes = bough.check(wheel(*hinges))["notes"]
    assert len(notes) == 1
    assert "inertia about one axis only" in notes[0]["text"]


@pytest.mark.parametrize(
    "hinges",
    [
        (hinge("revolute", "a", [1, 0, 0]),),
        (hinge("universal", "a", [[0, 0, 1], [0, 1, 0]]),),
        (hinge("spherical", "a"),),
        (hinge("revolute", "a", [0, 1, 0]), hinge("revolute", "b", [0, 0, 1])),
        (hinge("revolute", "a", [0, 0, 1]), hinge("revolute", "b", [0, 0, 1], frame={"quaternion": HALF})),
    ],
)
def test_one_that_tumbles_is_refused(hinges: tuple[Dict, ...]) -> None:
    with pytest.raises(bough.ModelError, match="triangle inequality"):
        bough.load(wheel(*hinges))


def test_the_wheel_turns_as_its_inertia_says() -> None:
    run = bough.simulate(wheel(hinge("revolute", "a", [0, 0, 1])), 1.0, inputs={"a.tau": 3.0})
    assert run["a.w"][-1] == pytest.approx(1.5, rel=1e-9)
