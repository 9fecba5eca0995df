"""Friction, limits and gears that make no sense are refused with a place and a cure."""

from __future__ import annotations

from typing import Any

import pytest

import bough


def model(type: str = "revolute", **hinge: Any) -> dict[str, Any]:
    """One body on the ground."""
    axis = {"revolute": {"axis": [0, 0, 1]}, "universal": {"axes": [[1, 0, 0], [0, 1, 0]]}}.get(type, {})
    body = {
        "name": "b",
        "parent": "ground",
        "hinge": {"name": "j", "type": type, **axis, **hinge},
        "rigid": {"mass": 1.0},
    }
    return {"bough": 1, "name": "m", "bodies": [{**body, "rigid": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}}]}


@pytest.mark.parametrize(
    ("hinge", "place", "words"),
    [
        ({"friction": {"coulomb": 1.0, "stribeck": -0.1}}, "friction.stribeck", "0 or more"),
        ({"friction": {"coulomb": -1.0}}, "friction.coulomb", "0 or more"),
        ({"friction": {"coulomb": 1.0, "static": 0.5}}, "friction.static", "not less than friction in motion"),
        ({"friction": {"coulomb": 1.0}, "drive": "motion"}, "friction", "drive: torque"),
        ({"friction": {"coulomb": [1.0, 2.0]}}, "friction.coulomb", "one per degree of freedom"),
        ({"limits": {"lower": 1.0, "upper": -1.0, "restitution": 0.5}}, "limits.upper", "swap"),
        ({"limits": {"upper": 1.0, "restitution": 0.5}, "initial": {"phi": 2.0}}, "initial.phi", "within the limits"),
        ({"limits": {"upper": 1.0}}, "limits", "stiffness"),
        ({"limits": {"upper": 1.0, "restitution": 0.5, "latch": True}}, "limits", "keep one of them"),
        ({"limits": {"upper": 1.0, "restitution": 1.5}}, "limits.restitution", "0 to 1"),
        ({"limits": {"restitution": 0.5}}, "limits", "lower"),
        ({"type": "spherical", "limits": {"upper": 1.0, "restitution": 0.5}}, "limits", "no coordinates"),
        ({"type": "universal", "gear": {"ratio": 10.0, "inertia": 1.0}}, "gear", "one degree of freedom"),
        ({"gear": {"ratio": 0.0, "inertia": 1.0}}, "gear.ratio", "other than 0"),
        ({"gear": {"ratio": 10.0, "inertia": 1.0, "backlash": 0.1}}, "gear.backlash", "stiffness"),
    ],
)
def test_nonsense_is_refused_with_its_place(hinge: dict[str, Any], place: str, words: str) -> None:
    with pytest.raises(bough.ModelError) as caught:
        bough.load(model(**hinge))
    assert f"bodies[0].hinge.{place}" in str(caught.value)
    assert words in str(caught.value)


def test_rotor_of_a_gear_is_no_oddity(recwarn: pytest.WarningsRecorder) -> None:
    gear = {"ratio": 100.0, "inertia": 1e-3, "stiffness": 100.0}
    found = bough.load(model(gear=gear, initial={"phi": 0.5}))  # 50 rad of the rotor
    assert [body.hinge.name for body in found.bodies] == ["j", "j.rotor"]
    bough.Mechanism(found)
    assert not recwarn.list
