"""The page in an FMU says what drives each hinge, and shows the mechanism from where it looks largest."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import bough
from bough.fmu.package import fmu_files
from bough.fmu.picture import largest_views

BLOCK: dict[str, Any] = {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}
HINGES: dict[str, tuple[dict[str, Any], str]] = {
    "mast": ({"type": "fixed"}, "fixed"),
    "slew": ({"type": "revolute", "axis": [0, 0, 1]}, "revolute, torque is an input"),
    "trolley": ({"type": "prismatic", "axis": [1, 0, 0]}, "prismatic, force is an input"),
    "sway": ({"type": "universal", "axes": [[1, 0, 0], [0, 1, 0]]}, "universal, torques are inputs"),
    "ram": ({"type": "cylindrical", "axis": [1, 0, 0]}, "cylindrical, force and torque are inputs"),
    "ship": ({"type": "free"}, "free, forces and torques are inputs"),
    "table": ({"type": "revolute", "axis": [0, 0, 1], "drive": "motion"}, "revolute, acceleration is an input"),
    "lid": ({"type": "revolute", "axis": [0, 0, 1], "drive": "locked"}, "revolute, locked at the start"),
}


def _page(bodies: list[dict[str, Any]]) -> str:
    system = bough.Mechanism({"bough": 1, "name": "crane", "bodies": bodies})
    return fmu_files(system, "2.0")["documentation/index.html"].decode()


def test_page_names_what_drives_each_hinge() -> None:
    page = _page(
        [
            {"name": name, "parent": "ground", "hinge": {"name": f"{name}_hinge", **hinge}, "rigid": BLOCK}
            for name, (hinge, _) in HINGES.items()
        ]
    )
    told = dict(re.findall(r"<td>(\w+)_hinge</td><td>([^<]*)</td>", page))
    assert told == {name: text for name, (_, text) in HINGES.items()}


@pytest.mark.parametrize("axis", range(3))
def test_no_view_of_a_straight_mechanism_is_a_lone_point(axis: int) -> None:
    end = [0.0, 0.0, 0.0]
    end[axis] = 5.0
    assert all(axis in view[2:] for view in largest_views(np.array(end)))
    body = {**BLOCK, "com": end, "nodes": {"top": {"position": end}}}
    page = _page([{"name": "mast", "parent": "ground", "hinge": {"type": "fixed"}, "rigid": body}])
    drawing = page[page.index("<svg") : page.index("</svg>")]
    lines = re.findall(r'<path d="([^"]*)" fill="none" stroke="#[0-9a-f]{6}" stroke-width="3"', drawing)
    assert len(lines) == 2
    for line in lines:
        points = np.array([[float(x) for x in place.split()] for place in re.split("[ML]", line) if place])
        assert np.ptp(points, axis=0).max() > 100.0, "pixels"


def test_flat_mechanism_is_seen_on_its_broad_side_first() -> None:
    names = [right + up for right, up, _, _ in largest_views(np.array([2.0, 1.0, 0.0]))]
    assert names == ["xy", "xz"]
    assert largest_views(np.array([0.0, 1.0, 2.0]))[0][:2] == ("y", "z")
