"""What an FMU does not declare does not change its values: seen by setting knowns, in mechanisms with every feature.

No derivative of the kernel is asked: the FMU is set to a random state, then everything that a row does not declare
moves at once, parameters and locks too, and the row must stay as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmu.fmi import OK, Array, Instance
from fmu.models import unpack
from lxml import etree
from metamorphic.examples import NAMES, model_of
from random_models import random_state
from rich_models import rich_model

import bough
from bough.fmu.dependencies import dependency_rows, is_known, start_rows
from bough.mechanism.variable_table import scalar_table

MODELS = 100
STATES = 5
SEEN = 1e-12  # of a row's value; or, of rows that are zero by symmetry, a tenth of it of the largest of their unit
Values = Mapping[str, float]


class Box:
    """An FMU with its table, its lists, and values at given knowns."""

    def __init__(self, system: bough.Mechanism, folder: Path) -> None:
        self.system, self.fmu, self.table = system, unpack(system, "3.0", folder), scalar_table(system)
        bits = dependency_rows(system, self.table)
        rows = [i for i, v in enumerate(self.table) if v.causality in ("output", "local") and not v.state]
        self.rows = [i for i in rows if self.table[i].type == "Real"]
        self.knowns = [j for j, v in enumerate(self.table) if is_known(v)]
        self.lists = {"run": self._matrix(bits), "start": self._matrix(start_rows(system, self.table, bits))}
        self.names = [self.table[i].name for i in self.rows]
        self.units = np.array([self.table[i].unit for i in self.rows])
        self.known_names = [self.table[j].name for j in self.knowns]
        self.states = [v.name[4:-1] for v in self.table if v.name.startswith("der(")]
        self.looped = bool(system.model.loops or system.model.couplings)
        # with loops start values are those that close: all of them follow from all
        self.times = ("run",) if self.looped else ("run", "start")

    def _matrix(self, bits: list[int]) -> Any:
        return np.array([[bool(bits[i] >> j & 1) for j in self.knowns] for i in self.rows])

    @cached_property
    def groups(self) -> dict[str, list[tuple[list[int], Any]]]:
        """Rows by what they declare; those that declare everything cannot miss anything."""
        out: dict[str, list[tuple[list[int], Any]]] = {}
        for when, matrix in self.lists.items():
            found: dict[bytes, list[int]] = {}
            for i, row in enumerate(matrix):
                if not row.all():
                    found.setdefault(row.tobytes(), []).append(i)
            out[when] = [(these, matrix[these[0]]) for these in found.values()]
        return out

    def draw(self, seed: int) -> dict[str, float]:
        """A value for each known, over many powers of ten."""
        rng = np.random.default_rng([seed, 11])

        def scale() -> float:
            return float(10.0 ** rng.uniform(-4, 1))

        deflection, speed = float(10.0 ** rng.uniform(-5, -1)), scale() if seed % 4 else 0.0
        q, u, _ = random_state(self.system, seed, deflection=deflection, speed=speed)
        out = dict(zip([*self.system.q_names, *self.system.u_names], [*q, *u], strict=True))
        usual = {key: scale() for key in ("damping", "stiffness", "rest", "armature")}
        for j in self.knowns:
            v, key = self.table[j], self.table[j].name.split(".")[-1].split("[")[0]
            if v.causality == "input":
                out[v.name] = float(rng.normal()) * scale()
            elif v.causality == "parameter":
                near = v.start[0] * float(rng.uniform(1.0, 1.2))
                ranges = {
                    "gravity": float(rng.normal()) * 9.81,
                    "locked": float(rng.random() < 0.3 and seed % 3 == 0 and not self.looped),
                }
                out[v.name] = usual[key] * float(rng.uniform(0.5, 2)) if key in usual else ranges.get(key, near)
        return out

    def at(self, values: Values, when: str) -> Array:
        """The rows at these knowns: in Model Exchange as it runs, or at initialization."""
        tuned = {self.table[j].name: self.table[j] for j in self.knowns if self.table[j].causality == "parameter"}
        reals = {n: values[n] for n, v in tuned.items() if v.type == "Real"}
        inputs = {n: values[n] for n in self.known_names if n not in tuned and n not in self.states}
        with Instance(self.fmu, "me") as it:
            if when == "start":
                it.set({**reals, **{n: values[n] for n in self.states}})
            else:
                it.initialize()
                it.set(reals)
            for name, v in tuned.items():
                if v.type == "Boolean" and values[name]:
                    it.set_flag(name, True)
            if when == "start":
                assert it.enter() == OK
            else:
                it.to_continuous()
                it.set_states(np.array([values[n] for n in self.states]))
            it.set(inputs)
            return it.get(self.names)

    def undeclared(self, seed: int, when: str) -> set[str]:
        """Rows that change when everything moves but what they declare; two of the lists that occur, in turn."""
        base, other = self.draw(seed), self.draw(seed + 10_000)
        values, out = self.at(base, when), set()
        lists = self.groups[when]
        for turn in range(2 * seed, 2 * seed + min(2, len(lists))):
            these, row = lists[turn % len(lists)]
            moved = dict(base)
            for name, declared in zip(self.known_names, row, strict=True):
                if not declared:
                    step = other[name] - base[name]
                    moved[name] = other[name] if name.endswith(".locked") else base[name] + 0.1 * step
            now = self.at(moved, when)
            for i in these:
                alike = self.units == self.units[i]
                floor = 0.1 * SEEN * max(abs(values[alike]).max(), abs(now[alike]).max())
                if abs(now[i] - values[i]) > max(SEEN * abs(values[i]), floor):
                    out.add(self.names[i])
        return out


@pytest.mark.parametrize("block", range(10))
def test_values_of_mechanisms_with_every_feature_change_with_what_is_declared_only(block: int, tmp_path: Path) -> None:
    """Of 100 models in blocks of ten."""
    for number in range(block, MODELS, 10):
        model, features = rich_model(number)
        box = Box(bough.Mechanism(model), tmp_path / str(number))
        for when in box.times:
            missing = {name for seed in range(STATES) for name in box.undeclared(seed, when)}
            assert not missing, (number, when, sorted(features), sorted(missing)[:10])


@pytest.mark.parametrize("name", NAMES)
def test_values_of_every_example_change_with_what_is_declared_only(name: str, tmp_path: Path) -> None:
    box = Box(bough.Mechanism(model_of(name)), tmp_path)
    for when in box.times:
        assert not {row for seed in range(4 * STATES) for row in box.undeclared(seed, when)}


def test_a_list_that_lacks_one_known_is_noticed_by_values(tmp_path: Path) -> None:
    """The probe itself: without one of them, whichever, it complains."""
    model, _ = rich_model(3, frozenset({"forces", "drives", "local"}))
    box, rng, seen = Box(bough.Mechanism(model), tmp_path), np.random.default_rng(0), 0
    whole = box.lists["run"].copy()
    tries = rng.permutation(np.argwhere(whole))[:20]
    for i, j in tries:
        box.lists["run"] = whole.copy()
        box.lists["run"][i, j] = False
        box.__dict__.pop("groups", None)
        box.groups["run"] = [(these, row) for these, row in box.groups["run"] if i in these]
        seen += any(box.names[i] in box.undeclared(seed, "run") for seed in range(1, 20))
    assert seen >= 15  # some declare what a lock, a contact or friction at rest would need


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_initial_unknowns_know_that_a_lock_stops_a_hinge_and_that_quaternions_are_scaled(
    fmi: str, tmp_path: Path
) -> None:
    body = {"mass": 1.0, "com": [0.1, 0.2, 0.0], "inertia": [0.1, 0.2, 0.2, 0, 0, 0]}
    ball = {"name": "b", "parent": "ground", "hinge": {"name": "h", "type": "spherical"}, "rigid": body}
    system = bough.Mechanism({"bough": 1, "name": "ball", "bodies": [ball]})
    root = etree.parse(str(unpack(system, fmi, tmp_path).folder / "modelDescription.xml")).getroot()
    table = scalar_table(system)
    first, way = (1, ".//InitialUnknowns/Unknown") if fmi == "2.0" else (0, ".//InitialUnknown")
    key = "index" if fmi == "2.0" else "valueReference"
    lists = {
        table[int(x.get(key)) - first].name: {table[int(j) - first].name for j in x.get("dependencies").split()}
        for x in root.iterfind(way)
    }
    assert {"h.locked", "h.Q[1]", "h.Q[2]", "h.Q[3]", "h.Q[4]", "h.w[1]"} <= lists["der(h.Q[1])"]
