"""What the kernel's tests share: random trees with their oracle, chains, and how errors are measured."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from oracle.particles import Oracle
from random_models import random_loads, random_model, random_state

from bough import Mechanism

Array = NDArray[np.float64]
Dict = dict[str, Any]
Test = TypeVar("Test", bound=Callable[..., None])
ROUND = 24  # consecutive seeds that put every hinge type with every kind of body at the base


def random_trees(max_examples: int = 8, last: int = ROUND + 15) -> Callable[[Test], Test]:
    """Give a test an integer `seed`: always the same draws, and first the round of every hinge and kind of body.

    Most tests draw from few seeds, so that they share the oracles, which are slow to build; `last` widens that.
    """

    def wrap(test: Test) -> Test:
        out = test
        for seed in reversed(range(ROUND)):
            out = example(seed=seed)(out)
        out = given(seed=st.integers(ROUND, last))(out)
        quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]
        return settings(
            max_examples=max_examples, derandomize=True, database=None, deadline=None, suppress_health_check=quiet
        )(out)

    return wrap


@dataclass(frozen=True, eq=False)
class Case:
    """A model, its system and its oracle at a random state."""

    model: Dict
    system: Mechanism
    oracle: Oracle
    q: Array
    u: Array
    tau: Array
    loads: dict[str, Array]


@functools.lru_cache(maxsize=64)
def _built(seed: int, options: tuple[tuple[str, Any], ...]) -> tuple[Dict, Mechanism, Oracle]:
    model = random_model(seed, **{"n_bodies": 2 + seed % 4} | dict(options))
    return model, Mechanism(model), Oracle(model)


def case(seed: int, deflection: float = 0.3, speed: float = 1.0, **options: Any) -> Case:
    """A random tree of two to five bodies and a random state; oracles are kept, building costs more than asking."""
    model, system, oracle = _built(seed, tuple(sorted(options.items())))
    q, u, tau = random_state(system, seed, deflection, speed)
    return Case(model, system, oracle, q, u, tau, random_loads(model, seed))


def error(a: ArrayLike, b: ArrayLike, scale: float | None = None) -> float:
    """Largest difference over `scale`, or over the largest number expected (1e-3 at least: sizes are of order one)."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert a.shape == b.shape and np.all(np.isfinite(a)), "shapes differ or a number is not finite"
    size = max(1e-3, float(np.max(np.abs(b), initial=0.0))) if scale is None else scale
    return float(np.max(np.abs(a - b), initial=0.0)) / size


def force_scale(system: Mechanism, q: Array, udot: Array, tau: Array) -> float:
    """The largest force met: generalized forces balance up to the rounding of M udot, term by term, and of tau."""
    inertial = np.abs(system.mass_matrix(q)) @ np.abs(udot)
    return float(max(1.0, np.max(inertial, initial=0.0), np.max(np.abs(tau), initial=0.0)))


def ruthless(model: Mapping[str, Any]) -> Dict:
    """The same model at the other fidelity."""
    return copy.deepcopy(dict(model)) | {"fidelity": "ruthless"}


def modal(system: Mechanism) -> NDArray[np.bool_]:
    """Which speeds are modal."""
    return np.array([".eta_dot[" in name for name in system.u_names], dtype=bool)


def modal_q(system: Mechanism) -> NDArray[np.bool_]:
    """Which positions are modal."""
    return np.array([".eta[" in name for name in system.q_names], dtype=bool)


def mode_slices(system: Mechanism) -> dict[str, slice]:
    """Where the modal speeds of each flexible body are in u."""
    out: dict[str, slice] = {}
    for i, name in enumerate(system.u_names):
        body, _, what = name.rpartition(".")
        if what.startswith("eta_dot["):
            out[body] = slice(out[body].start if body in out else i, i + 1)
    return out


# ---- chains


def panel(modes: int, seed: int = 5, rotary: bool = True, clamped: bool = True, nodes: int = 8) -> Dict:
    """A nodal body of about 2 kg and 1 m along x with any number of smooth modes, attached at one end."""
    rng = np.random.default_rng([seed, modes])
    x = np.linspace(0.0, 1.0, nodes)
    points: list[Dict] = []
    for j in range(nodes):
        node: Dict = {"name": f"n{j}", "position": [float(x[j]), 0.1 * (j % 2), -0.05 * (j % 3)], "mass": 2.0 / nodes}
        if rotary:
            node["inertia"] = [2e-3, 1e-3, 1.5e-3, 1e-4, 0.0, 2e-4]
        points.append(node)
    growth = (x**2)[:, None] if clamped else 0.4 + (x**2)[:, None]
    shapes = [(rng.uniform(-0.4, 0.4, (nodes, 6)) * growth).tolist() for _ in range(modes)]
    stiffness = [float(20.0 * (r + 1)) for r in range(modes)]
    return {"attach": "n0", "nodes": points, "modes": shapes, "stiffness": stiffness, "damping": [0.01] * modes}


HINGES: dict[str, Dict] = {
    "revolute": {"type": "revolute", "axis": [0.2, 1.0, 0.3]},
    "universal": {"type": "universal", "axes": [[0.0, 1.0, 0.1], [0.1, 0.2, 1.0]]},
    "spherical": {"type": "spherical"},
    "fixed": {"type": "fixed"},
    "prismatic": {"type": "prismatic", "axis": [1.0, 0.4, 0.0]},
    "free": {"type": "free"},
    "cylindrical": {"type": "cylindrical", "axis": [0.3, 0.1, 1.0]},
    "planar": {"type": "planar", "axes": [[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]]},
}


def link(name: str, parent: str, hinge: Mapping[str, Any], part: Mapping[str, Any]) -> Dict:
    """One body; `part` is a nodal body, attached to its parent's last node."""
    at = {} if parent == "ground" else {"at": "n7"}
    return {"name": name, "parent": parent, "hinge": dict(hinge), "nodal": dict(part)} | at


def chain(bodies: int, modes: int, fidelity: str, **options: Any) -> Dict:
    """A chain of equal bodies, hinge axes turning along it; with no modes a chain of rigid nodal bodies."""
    part = panel(modes, **options)
    axes = ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.3, 1.0, 0.2])
    out = []
    for k in range(bodies):
        hinge = {"type": "revolute", "axis": axes[k % 3]}
        out.append(link(f"b{k}", "ground" if k == 0 else f"b{k - 1}", hinge, part))
    return {"bough": 1, "name": "chain", "gravity": [0.5, 0.3, -9.81], "fidelity": fidelity, "bodies": out}
