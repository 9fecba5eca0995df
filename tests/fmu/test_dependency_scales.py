"""Declared dependencies hold every derivative that is not zero at 200 states and scales, and hardly any in vain.

Light chains pass a torque on in full, heavy rotors hide it; a mode that is straight does not couple, one that is bent
does. So parameters, deflections and speeds go over many powers of ten.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fmu.described import system_of
from metamorphic.examples import NAMES, model_of
from random_models import random_model, random_state

import bough
from bough.fmu.dependencies import dependency_rows, is_known
from bough.mechanism import kernel
from bough.mechanism.fields import Kind
from bough.mechanism.variable_table import scalar_table

STATES = 200
TREES = range(100)
KEYS = {"q": Kind.Q, "u": Kind.U, "tau": Kind.TAU, "motion": Kind.MOTION, "loads": Kind.LOAD}
SEEN = 1e-12  # of the largest derivative of a row


class Probe:
    """Exact derivatives of a mechanism at random states: parameters, deflections and speeds from tiny to large."""

    def __init__(self, system: bough.Mechanism) -> None:
        self.system, self.scalars = system, scalar_table(system)
        self.data = kernel.KernelData(system._kernel_model, kernel.LANES_TANGENT)
        self.nodes = system._node_index(system.model.outputs)
        self.rows = [i for i, v in enumerate(self.scalars) if v.causality in ("output", "local") and not v.state]
        self.columns = [j for j, v in enumerate(self.scalars) if is_known(v) and v.kind in KEYS.values()]
        self.sizes = {
            "q": system.nq,
            "u": system.nu,
            "tau": system.nu,
            "motion": system.nu,
            "loads": 6 * len(system.block.loads),
        }
        bits = dependency_rows(system, self.scalars)
        self.declared = np.array([[bool(bits[i] >> j & 1) for j in self.columns] for i in self.rows])
        self.units = np.array([self.scalars[i].unit for i in self.rows])
        names = {kind: key for key, kind in KEYS.items()}
        self.ways = _by_key([(names[self.scalars[j].kind], self.scalars[j].index) for j in self.columns])
        self.places = _by_key([(self.scalars[i].kind.name.lower(), self.scalars[i].index) for i in self.rows])
        self.group()
        bodies = system.model.bodies
        self.owner = np.concatenate(
            [np.full(b.hinge.kind.nu + b.mode_count, k) for k, b in enumerate(bodies)] + [np.zeros(0)]
        ).astype(int)
        hinge = [x for b in bodies for x in [True] * b.hinge.kind.nu + [False] * b.mode_count]
        self.hinge = np.array(hinge, dtype=bool)
        self.rotor = np.array([name.endswith(".rotor.w") for name in system.u_names], dtype=bool)
        self.driven = self.hinge & np.array([bodies[k].hinge.drive == "motion" for k in self.owner], dtype=bool)

    def state(self, seed: int) -> dict[str, Any]:
        """A random state; sets the parameters of the kernel as well."""
        rng, system = np.random.default_rng([seed, 11]), self.system

        def scale() -> float:
            return float(10.0 ** rng.uniform(-4, 1))

        for which in (kernel.DAMPING, kernel.STIFFNESS, kernel.REST, kernel.ARMATURE):
            size = scale() if rng.random() < 0.7 else 0.0
            values = np.where(self.hinge, size * rng.uniform(0.5, 2.0, system.nu), 0.0)
            if which == kernel.ARMATURE:  # all the inertia that a rotor has
                values = np.where(self.rotor, np.maximum(values, 1e-5), values)
            self.data.set(which, values)
        self.data.set(kernel.GRAVITY, rng.normal(size=3) * 9.81 * (rng.random() < 0.8))
        locked = rng.random(len(system.model.bodies)) < (0.3 if seed % 3 == 0 else 0.0)
        self.data.set(kernel.HELD, (self.driven | (self.hinge & locked[self.owner])).astype(float))
        q, u, tau = random_state(system, seed, deflection=float(10.0 ** rng.uniform(-5, -1)), speed=scale())
        return {
            "q": q,
            "u": u,
            "tau": scale() * tau,
            "motion": np.where(self.driven, rng.normal(size=system.nu), 0.0),
            "loads": rng.normal(size=self.sizes["loads"]),
        }

    def along(self, at: dict[str, Any], seeds: Any) -> Any:
        """Derivatives of the rows along one direction, one number for each column."""
        direction = {key: np.zeros(size) for key, size in self.sizes.items()}
        for key, here, index in self.ways:
            direction[key][index] = seeds[here]
        found = self.data.directional(at, direction, self.nodes, len(self.system.model.bodies))
        out = np.empty(len(self.rows))
        for key, here, index in self.places:
            out[here] = found[key].ravel()[index]
        return out

    def undeclared(self, seed: int) -> set[str]:
        """Rows that change when everything moves but what they declare; two of the lists that occur, in turn."""
        rng, at = np.random.default_rng([seed, 13]), self.state(seed)
        sizes = 10.0 ** rng.uniform(-0.5, 0.5, len(self.columns)) * rng.choice([-1.0, 1.0], len(self.columns))
        largest = abs(self.along(at, sizes))
        out = set()
        for turn in (2 * seed, 2 * seed + 1):
            if not self.lists:
                break
            these, row = self.lists[turn % len(self.lists)]
            change = abs(self.along(at, np.where(row, 0.0, sizes)))
            for i in these:
                # a row that is zero by symmetry is judged by those of its unit: what is left of it is rounding
                floor = 1e-14 * largest[self.units == self.units[i]].max()
                if change[i] > max(SEEN * largest[i], floor):
                    out.add(self.scalars[self.rows[i]].name)
        return out

    def group(self) -> None:
        """Rows by what they declare; those that declare everything cannot miss anything."""
        groups: dict[bytes, list[int]] = {}
        for i, row in enumerate(self.declared):
            if not row.all():
                groups.setdefault(row.tobytes(), []).append(i)
        self.lists = [(these, self.declared[these[0]]) for these in groups.values()]

    def matrix(self, seed: int) -> Any:
        """All derivatives at a state."""
        at = self.state(seed)
        return abs(np.stack([self.along(at, row) for row in np.eye(len(self.columns))], axis=1))


def _by_key(ends: list[tuple[str, int]]) -> list[tuple[str, Any, Any]]:
    """Array, places in the list, places in the array."""
    out = []
    for key in sorted({key for key, _ in ends}):
        here = [n for n, (other, _) in enumerate(ends) if other == key]
        out.append((key, np.array(here), np.array([ends[n][1] for n in here])))
    return out


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_of_every_example_at_200_states_and_scales_are_declared(name: str) -> None:
    probe = Probe(bough.Mechanism(model_of(name)))
    missing = {row for seed in range(STATES) for row in probe.undeclared(seed)}
    assert not missing


@pytest.mark.parametrize("block", range(10))
def test_derivatives_of_random_trees_at_200_states_and_scales_are_declared(block: int) -> None:
    """Of 100 trees in blocks of ten."""
    for number in TREES[block::10]:
        probe = Probe(system_of(f"random_{number}"))
        assert not {row for seed in range(STATES) for row in probe.undeclared(seed)}, number


@pytest.mark.parametrize("seed", range(6))
def test_derivatives_of_trees_with_screws_are_declared(seed: int) -> None:
    """A screw moves its body by the angle: torque and force meet in one DOF."""
    probe = Probe(bough.Mechanism(random_model(seed, n_bodies=4, hinge_types=("screw", "revolute", "universal"))))
    assert not {name for state in range(STATES // 4) for name in probe.undeclared(state)}


def test_of_what_random_trees_declare_less_than_one_percent_is_in_vain() -> None:
    total = vain = 0
    for number in TREES[::5]:
        probe = Probe(system_of(f"random_{number}"))
        seen = np.zeros_like(probe.declared)
        for seed in (1, 2, 3, 4, 5, 6):
            matrix = probe.matrix(seed)
            seen |= matrix > 1e-14 * matrix.max(axis=1, keepdims=True)
        total, vain = total + int(probe.declared.sum()), vain + int((probe.declared & ~seen).sum())
    assert total > 50_000 and vain < 0.01 * total


def test_a_declared_list_that_lacks_one_known_is_noticed() -> None:
    """The probe itself: without one of them, whichever, it complains."""
    probe = Probe(system_of("random_1"))
    rng = np.random.default_rng(0)
    for i, j in rng.permutation(np.argwhere(probe.declared))[:20]:
        probe.declared[i, j] = False
        probe.group()
        probe.lists = [(these, row) for these, row in probe.lists if i in these]
        name = probe.scalars[probe.rows[i]].name
        assert any(name in probe.undeclared(seed) for seed in range(12)), (name, probe.scalars[probe.columns[j]].name)
        probe.declared[i, j] = True
