"""Closures that are unreachable, contradictory, locked solid, singular or doubled: refused by name, or solved."""

from __future__ import annotations

import copy
import time
from typing import Any

import numpy as np
import pytest
from run.test_loops import drift, four_bar, states

import bough
from bough.errors import BoughError

Dict = dict[str, Any]
TYPES = (
    "fixed",
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "planar",
    "spherical",
    "rod",
    "slot",
    "plane",
    "rolling",
)
NODES = ("crank.tip", "coupler.tip", "rocker.tip", "coupler.origin", "ground.origin")
CASES = 250


def axes(kind: str, random: np.random.Generator) -> Dict:
    """Axes as the type takes them, now and then parallel or zero."""
    a, b = random.integers(-1, 2, 3).tolist(), random.integers(-1, 2, 3).tolist()
    if kind in ("revolute", "prismatic", "cylindrical", "slot", "rolling"):
        return {"axis": a} | ({"radius": float(random.uniform(0.1, 1.0))} if kind == "rolling" else {})
    if kind in ("universal", "planar", "plane"):
        return {"axes": [a, b]}
    return {"length": float(random.choice([0.0, 0.5, 2.0, 1e3]))} if kind == "rod" and random.random() < 0.5 else {}


def another(name: str, random: np.random.Generator) -> Dict:
    """Any closure between any two nodes, maybe one and the same."""
    kind = str(random.choice(TYPES))
    out: Dict = {"name": name, "type": kind, "between": [str(n) for n in random.choice(NODES, 2)], **axes(kind, random)}
    if random.random() < 0.5:
        out["frames"] = [{"position": random.uniform(-1, 1, 3).round(2).tolist()}, {}]
    return out


def unreachable(model: Dict, random: np.random.Generator) -> None:
    model["bodies"][2]["hinge"]["frame"]["position"] = [float(random.uniform(4.6, 50)), 0, 0]


def contradictory(model: Dict, random: np.random.Generator) -> None:
    for i in range(2):
        model["loops"].append(
            {
                "name": f"rod{i}",
                "type": "rod",
                "between": ["crank.tip", "rocker.tip"],
                "length": 1.5 + i * random.uniform(0, 1),
            }
        )


def locked_solid(model: Dict, random: np.random.Generator) -> None:
    for body in model["bodies"]:
        body["hinge"]["drive"] = str(random.choice(["locked", "motion", "torque"], p=[0.6, 0.2, 0.2]))
    if random.random() < 0.5:
        model["bodies"][1]["hinge"]["initial"] = {"phi": float(random.uniform(-3, 3))}


def singular(model: Dict, random: np.random.Generator) -> None:
    """All links on one line."""
    model["bodies"][2]["hinge"]["frame"]["position"] = [1.5, 0, 0]
    for body, phi in zip(model["bodies"], (0.0, 0.0, 0.0), strict=True):
        body["hinge"]["initial"] = {
            "phi": phi,
            "w": float(random.choice([0.0, 1.0])) if body is model["bodies"][0] else 0.0,
        }


def doubled(model: Dict, random: np.random.Generator) -> None:
    for i in range(int(random.integers(1, 4))):
        model["loops"].append(model["loops"][0] | {"name": f"again{i}"})


def senseless(model: Dict, random: np.random.Generator) -> None:
    node = str(random.choice(NODES))
    model["loops"].append(another("self", random) | {"between": [node, node]})


def coupled(model: Dict, random: np.random.Generator) -> None:
    names = ["crank_h.phi", "coupler_h.phi", "rocker_h.phi"]
    of = {str(n): float(random.choice([1.0, -1.0, 2.0, 1e6])) for n in random.choice(names, int(random.integers(1, 4)))}
    model["couplings"] = [{"name": "gear", "of": of, "offset": float(random.choice([0.0, 0.3, 1e3]))}]


def anything(model: Dict, random: np.random.Generator) -> None:
    for i in range(int(random.integers(1, 3))):
        model["loops"].append(another(f"extra{i}", random))


MUTATIONS = (unreachable, contradictory, locked_solid, singular, doubled, senseless, coupled, anything)


def outcome(seed: int) -> str:
    """What becomes of a mutated model: its refusal, or "" if it runs and stays closed."""
    random = np.random.default_rng([seed, 1414])
    model = copy.deepcopy(four_bar())
    for _ in range(int(random.integers(1, 3))):
        MUTATIONS[int(random.integers(len(MUTATIONS)))](model, random)
    try:
        system = bough.Mechanism(model)
        run = bough.simulate(system, stop=0.02, step=0.01, method="rk4", solver_step=2e-3)
    except BoughError as error:
        return str(error)
    q, u = states(system, run)
    assert np.isfinite(q).all() and drift(system, q, u) < 1e-9 * max(1.0, float(np.abs(u).max()))
    return ""


def judged(seed: int) -> bool:
    """Whether a mutated model was solved; one that was not has been refused by name, and neither took long."""
    began = time.process_time()
    text = outcome(seed)
    assert time.process_time() - began < 10.0, (seed, text)
    names = ("pin", "rod", "again", "self", "gear", "extra", "loops[", "couplings[", "hinge")
    assert not text or any(name in text for name in names), (seed, text)
    return not text


def test_mutated_closures_are_refused_by_name_or_solved() -> None:
    """A slice; `make fuzz FUZZ_ARGS="--only closures"` runs a thousand."""
    solved = sum(judged(seed) for seed in range(CASES))
    assert 0.2 * CASES < solved < 0.8 * CASES


@pytest.mark.parametrize(
    ("spoil", "told"), [(unreachable, "'pin' cannot be closed: "), (contradictory, "cannot be closed: ")]
)
def test_what_is_left_is_told_in_metres(spoil: Any, told: str) -> None:
    model = four_bar()
    spoil(model, np.random.default_rng(3))
    with pytest.raises(BoughError, match=f"{told}.* m is left at best"):
        bough.Mechanism(model)
