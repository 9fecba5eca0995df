"""The rooms of the package: one module beside them, no module name with two meanings, all of them in CONTRIBUTING."""

from __future__ import annotations

import re
from collections import defaultdict

from house.tools import ROOT

import bough

PACKAGE = ROOT / "engine" / "bough"
ROOMS = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("__init__.py")} - {"."}


def test_one_module_stands_beside_the_rooms() -> None:
    assert {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"} == {"errors"}


def test_no_module_name_stands_in_two_rooms() -> None:
    """A room may have a module of its own name (`mechanism.mechanism`): that means the same thing."""
    places = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        if path.stem not in {"__init__", "__main__", path.parent.name}:
            places[path.stem].add(path.parent.relative_to(PACKAGE).as_posix())
    for room in ROOMS:
        places[room.rpartition("/")[2]].add(room)
    assert not {name: rooms for name, rooms in places.items() if len(rooms) > 1}


def test_contributing_lists_every_room_and_no_other() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`engine/bough/[^|]*) \|", text, re.M)
    listed = {name.removeprefix("engine/bough/") for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert listed - {"errors.py"} == {room for room in ROOMS if "/" not in room}


def test_every_room_has_its_place_in_the_import_contract() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (layers,) = re.findall(r"^layers = \[\n(.*?)^\]", text, re.M | re.S)
    assert set(re.findall(r"\w+", layers)) - {"errors"} == {room for room in ROOMS if "/" not in room}


def test_a_mechanism_has_one_name() -> None:
    """Names that documents of the time before the first release use are gone, not kept beside the new ones."""
    assert bough.Mechanism.__module__ == "bough.mechanism.mechanism"
    assert not {"System", "systems"} & set(dir(bough))
