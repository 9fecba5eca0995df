"""What forces, wheels and gravity refuse: with place, expectation and cure."""

from __future__ import annotations

from typing import Any

import pytest
from small_models import body, hinge, model, rigid

import bough

HUB = body(
    "hub",
    "ground",
    hinge("free", "h", initial={"s": [1, 0, 0]}),
    rigid=rigid(2.0, (1, 1, 1), nodes={"eye": {"position": [0.1, 0, 0]}}),
)
BETWEEN = ["ground.origin", "hub.eye"]


def made(**more: Any) -> dict[str, Any]:
    """A free body with something on it."""
    return model("m", HUB, **more)


def force(**keys: Any) -> dict[str, Any]:
    """A model with one force."""
    return made(forces=[{"name": "f", "between": BETWEEN, **keys}])


def wheel(**keys: Any) -> dict[str, Any]:
    """A model with one wheel."""
    found = made()
    found["bodies"][0]["rigid"]["wheels"] = [{"name": "rw", "axis": [0, 0, 1], **keys}]
    return found


SPRING = {"type": "spring", "stiffness": 1.0}
CONTACT = {"type": "contact", "radius": 0.1, "normal": [-1, 0, 0], "stiffness": 1e4}
CASES: list[tuple[dict[str, Any], str, str]] = [
    (force(**SPRING | {"stiffness": [[0, 0], [0, 1]]}), "forces[0].stiffness[1]", "sort the table"),
    (force(**SPRING | {"stiffness": [[0, 0], [1, -5]]}), "forces[0].stiffness[1]", "force that resists"),
    (force(**SPRING | {"stiffness": [[0.9, -5], [1.1, 5]]}), "forces[0].stiffness", "count from the free length"),
    (force(**SPRING | {"damping": [[-1, 1], [1, 2]]}), "forces[0].damping", "let the table go through [0, 0]"),
    (force(**SPRING | {"stiffness": -3.0}), "forces[0].stiffness", "a positive one pulls back"),
    (force(**SPRING | {"between": ["hub.eye", "hub.eye"]}), "forces[0].between", "two different nodes"),
    (force(**SPRING | {"between": ["hub.eye", "hub.origin"]}), "forces[0].between", "both on 'hub'"),
    (force(**SPRING | {"between": ["hub.eye", "ground.eye"]}), "forces[0].between[1]", "origin"),
    (force(**SPRING | {"only": "pull"}), "forces[0].only", "tension, compression"),
    (force(type="spring"), "forces[0].stiffness", "neither"),
    (force(type="actuator", stiffness=1.0), "forces[0].stiffness", "no `stiffness` for an actuator"),
    (force(type="bushing", stiffness=[1, 2, 3]), "forces[0].stiffness", "write six of them"),
    (force(type="bushing", stiffness=[1, 1, 1, 1, 1, -1]), "forces[0].stiffness", "negative"),
    (force(**CONTACT | {"radius": [0.1, 0.2]}), "forces[0].radius", "a normal and two radii"),
    (force(**CONTACT | {"stiffness": 0.0}), "forces[0].stiffness", "more than 0"),
    (made(forces=[{"name": "hub", "between": BETWEEN, **SPRING}]), "forces[0].name", "another name"),
    (wheel(), "bodies[0].rigid.wheels[0].inertia", "write e.g. `inertia: 0.1`"),
    (wheel(inertia=3.0), "bodies[0].rigid.wheels[0].inertia", "wheels included"),
    (wheel(inertia=0.1, momentum=2.0), "bodies[0].rigid.wheels[0]", "remove one of them"),
    (wheel(inertia=0.1, at="eyes"), "bodies[0].rigid.wheels[0].at", "did you mean 'eye'?"),
    (wheel(inertia=0.1) | {"gravity": {"mu": -1.0}}, "gravity.mu", "more than 0"),
    (made(outputs=["hub.eye.deflection"]), "outputs[0]", "a rigid body has no modes"),
    (made(inputs=["hub.eye.push"]), "inputs[0]", "<body>.<node>.force"),
]


@pytest.mark.parametrize(("source", "place", "words"), CASES, ids=[f"{p}-{w[:12]}" for _, p, w in CASES])
def test_nonsense_is_refused_with_its_place_and_a_cure(source: dict[str, Any], place: str, words: str) -> None:
    """The message names the key and says what to do."""
    with pytest.raises(bough.ModelError) as error:
        bough.load(source)
    assert place in str(error.value)
    assert words in str(error.value)


def test_what_only_the_drawing_shows_is_refused_when_it_is_drawn() -> None:
    """A contact that begins inside, and ends without a direction between them."""
    inside = force(**CONTACT | {"between": ["hub.eye", "ground.origin"], "normal": [1, 0, 0], "radius": 1.2})
    with pytest.raises(bough.ModelError, match="'f': .* 0.1 m inside; move the start position"):
        bough.Mechanism(inside)
    nowhere = force(type="actuator", frames=[{"position": [1.1, 0, 0]}, {}])
    with pytest.raises(bough.ModelError, match="no direction"):
        bough.Mechanism(nowhere)


def test_a_body_that_is_wrong_itself_is_not_called_rigid() -> None:
    """One mistake, one message: the sensor of a beam with a misspelt section is not blamed."""
    section = {"shape": "tube", "outer": 0.2, "thickness": 0.006}
    beam = {"length": 1.0, "elements": 4, "section": section, "material": {"E": 7e10, "nu": 0.3, "rho": 2700}}
    wrong = model("m", body("boom", "ground", hinge("revolute", "h"), beam=beam), outputs=["boom.tip.deflection"])
    with pytest.raises(bough.ModelError) as error:
        bough.load(wrong)
    assert "bodies[0].beam.section.outer" in str(error.value)
    assert "outputs[0]" not in str(error.value)
