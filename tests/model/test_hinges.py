"""A hinge type is one record: documents, schema, names and kinematics say what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bough
from bough.mechanism.variables import coordinates
from bough.model import HINGES, load, schema

DOCUMENT = Path(__file__).parents[2] / "docs" / "model-file.md"
AXES = {0: {}, 1: {"axis": [0, 2, 0]}, 2: {"axes": [[1, 0, 0], [0, 1, 0]]}}


def system(kind: str) -> bough.Mechanism:
    hinge = {"name": "h", "type": kind, **AXES[HINGES[kind].n_axes]}
    hinge |= {key: 0.5 for key, _ in HINGES[kind].own}
    body = {"name": "b", "parent": "ground", "hinge": hinge, "rigid": {"mass": 1, "inertia": [1, 2, 2.5, 0, 0, 0]}}
    return bough.Mechanism({"bough": 1, "name": "m", "bodies": [body]})


def ranged(names: list[str]) -> str:
    """Names without their hinge as the document writes them: `s[1..2]`, `phi`."""
    bare: dict[str, int] = {}
    for name in names:
        stem, bracket, _ = name.removeprefix("h.").partition("[")
        bare[stem] = bare.get(stem, 0) + bool(bracket)
    return ", ".join(f"`{stem}[1..{count}]`" if count else f"`{stem}`" for stem, count in bare.items())


def test_the_table_of_hinges_in_the_document_is_the_record() -> None:
    rows = []
    for name, kind in HINGES.items():
        s = system(name)
        axes = ("", "`axis`", "`axes`, two")[kind.n_axes] + (" orthogonal ones in the plane" if kind.normal else "")
        axes += "".join(f", `{key}`" for key, _ in kind.own)
        inputs = [v.name for v in s.variables if v.causality == "input"]
        cells = (f"`{name}`", axes, ranged(s.q_names), ranged(s.u_names), ranged(inputs))
        rows.append("| " + " | ".join(cells) + " |")
    text = DOCUMENT.read_text(encoding="utf-8")
    assert "\n".join(row.replace("|  ", "| ").replace("|  ", "| ") for row in rows) in text


def test_the_schema_offers_the_types_of_the_record() -> None:
    assert schema()["$defs"]["HingeFile"]["properties"]["type"]["enum"] == list(HINGES)


@pytest.mark.parametrize("name", HINGES)
def test_the_first_motion_of_every_hinge_is_along_its_slides_and_about_its_turns(name: str) -> None:
    s, kind = system(name), HINGES[name]
    q, _ = s.initial_state()
    axes = s.model.bodies[0].hinge.axes
    slides, turns = kind.slides(axes), kind.turns(axes)
    assert (len(slides), len(turns), s.nq, s.nu) == (kind.n_lin, kind.n_rot, kind.nq, kind.nu)
    for j in range(s.nu):
        _, velocity, _ = s.node_motion(q, np.eye(s.nu)[j], None, ["b.origin"])
        turn, slide = velocity[0, :3], velocity[0, 3:]
        lead = kind.lead(s.model.bodies[0].hinge.own)
        wanted = (np.zeros(3), slides[j]) if j < kind.n_lin else (turns[j - kind.n_lin], lead * turns[j - kind.n_lin])
        np.testing.assert_allclose((turn, slide), wanted, atol=1e-15)  # one rounding of unit vectors


def test_the_table_of_coordinates_names_owner_kind_unit_and_place() -> None:
    beam = {"length": 1.0, "elements": 4, "section": {"shape": "circle", "diameter": 0.02}}
    beam |= {"material": {"E": 7e10, "nu": 0.3, "rho": 2700}, "modes": {"boundary": "cantilever", "count": 2}}
    model = {
        "bough": 1,
        "name": "m",
        "bodies": [
            {"name": "a", "parent": "ground", "hinge": {"name": "h", "type": "free"}, "beam": beam},
            {"name": "w", "parent": "a", "at": "tip", "hinge": {"name": "x", "type": "revolute", "axis": [0, 0, 1]}}
            | {"rigid": {"mass": 1, "inertia": [1, 1, 1, 0, 0, 0]}},
        ],
    }
    q, u = coordinates(load(model))
    assert [(c.owner, c.kind, c.unit, c.number) for c in q] == [
        *[("h", "translation", "m", i) for i in (1, 2, 3)],
        *[("h", "quaternion", "", i) for i in (1, 2, 3, 4)],
        *[("a", "mode", "", i) for i in (1, 2)],
        ("x", "rotation", "rad", 1),
    ]
    assert [(c.owner, c.kind, c.unit, c.number) for c in u] == [
        *[("h", "translation", "m/s", i) for i in (1, 2, 3)],
        *[("h", "rotation", "rad/s", i) for i in (1, 2, 3)],
        *[("a", "mode", "1/s", i) for i in (1, 2)],
        ("x", "rotation", "rad/s", 1),
    ]
    assert [c.index for c in q] == list(range(10)) and [c.index for c in u] == list(range(9))
    assert {c.body for c in q if c.owner in ("a", "h")} == {"a"}
