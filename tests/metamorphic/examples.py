"""The models of the examples, as they are and at rest."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from examples.make_golden import EXAMPLES, script
from examples.test_examples import require_parts

import bough
from bough.model import Model

NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/model.yaml"))
SMALL = 1e-8
"""Largest motion of an example under the load that `at_rest` gives, roughly, in rad, m or modal units."""


@functools.cache
def _bracket() -> tempfile.TemporaryDirectory[str]:
    """Files of the FE bracket: a coarse mesh, matrices by scikit-fem. They stay until the tests end."""
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    script("fe_bracket").make(Path(folder.name), 25.0, with_calculix=False)
    return folder


@functools.cache
def model_of(name: str) -> Model:
    """The model of an example."""
    require_parts(name)
    folder = Path(_bracket().name) if name == "fe_bracket" else EXAMPLES / name
    return bough.load(folder / "model.yaml")


def _freed(model: Model) -> Model:
    """Without gravity, dry friction, springs of hinges and start values: it stays where it is, and a small load moves
    it. Where forces act between nodes it stays at its start position, where they were drawn."""
    bodies = []
    for body in model.bodies:
        hinge, zero = body.hinge, tuple(0.0 for _ in body.hinge.stiffness)
        straight = (*(0.0 for _ in hinge.initial_q[1:]), float(hinge.kind.quaternion))
        update: dict[str, Any] = {"stiffness": zero, "initial_u": zero, "friction": ()}
        if not model.forces:
            update["initial_q"] = straight[-len(hinge.initial_q) :] if zero else ()
        if hinge.gear is not None:
            update["gear"] = hinge.gear.model_copy(update={"friction": None})
        bodies.append(body.model_copy(update={"hinge": hinge.model_copy(update=update)}))
    return model.model_copy(update={"gravity": (0.0, 0.0, 0.0), "field": None, "bodies": tuple(bodies)})


@functools.cache
def at_rest(name: str) -> tuple[bough.Mechanism, dict[str, float], float]:
    """An example at rest; a load for each input that moves it a little; the period of its slowest vibration, s."""
    system = bough.Mechanism(_freed(model_of(name)))
    q, u = system.initial_state()
    assert not u.any() and not system.forward_dynamics(q, u, np.zeros(system.nu)).any(), "at rest"
    small = system.linearize(q, u, np.zeros(system.nu))
    turns = np.abs(np.linalg.eigvals(small.A).imag)
    swings = turns[turns > 1e-3 * max(turns.max(), 1e-300)]
    period = 2.0 * np.pi / float(swings.min()) if swings.size else 1.0
    loads = {}
    for key, column in zip(small.inputs, small.B.T, strict=True):
        start = float(np.abs(column).max())  # acceleration per load
        if start > 1e-12 * np.abs(small.B).max():  # less is rounding: driven hinges hold it by loops
            loads[key] = SMALL / (start * period**2)
    return system, loads, period


@functools.cache
def excited(name: str) -> tuple[bough.Mechanism, dict[str, Any], float]:
    """An example as its file has it; inputs that move it: numbers, tables and functions in turn; how long to look, s.

    The inputs accelerate each coordinate so that it goes by about 0.1 in the time, a tenth of the largest motion of
    what they do alone; the time is two periods of the slowest vibration, one second at most.
    """
    system = bough.Mechanism(model_of(name))
    _, small, period = at_rest(name)
    # Without its controller the platform falls flat in 0.7 s, where the universal hinges of all its legs lock.
    span = min(2.0 * period, 0.6 if name == "stewart_platform" else 1.0)
    rng = np.random.default_rng([len(name), 31])
    inputs: dict[str, Any] = {}
    for k, (key, load) in enumerate(small.items()):
        top = 0.1 * load / SMALL * (period / span) ** 2
        times = span * np.array([0.1, 0.1, 0.4, 0.7, 0.7])
        table = (times, top * np.array([0.0, 1.0, *rng.normal(size=2), 0.0]))
        inputs[key] = [table, lambda t, a=top: a * np.cos(6.0 * t / span), 0.5 * top][k % 3]
    return system, inputs, span
