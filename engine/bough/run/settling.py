"""Start values at rest: flexible bodies begin bent as their load bends them, and do not ring from the start."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bough.errors import ArgumentError
from bough.mechanism.equilibrium import equilibrium
from bough.mechanism.mechanism import Mechanism
from bough.model import Body, Model
from bough.run.series_file import Series


def settled(system: Mechanism, series: Mapping[str, Series], settings: Mapping[str, float]) -> dict[str, float]:
    """The settings, and besides them the start values of all modes at rest with the hinges held where they start.

    Args:
        system: The model.
        series: Inputs over time, by name; node loads count as they are at t = 0 s.
        settings: Start values, tunable parameters and constant inputs, by name; gravity and masses count.

    Raises:
        ArgumentError: The start value of a mode is set.
        SimulationError: There is no equilibrium.
    """
    found_here = {c.name for c in (*system.q_table, *system.u_table) if c.modal}
    for name in settings:
        if name in found_here:
            raise ArgumentError(f"settle finds {name} itself: leave out one of the two")
    changed = _changed(system.model, settings)
    statics = system if changed == system.model else Mechanism(changed)
    q, _ = statics.initial_state()
    start = np.array([settings.get(name, value) for name, value in zip(statics.q_names, q, strict=True)])
    at_rest, _ = equilibrium(statics, q=start, loads=_loads(system.model, series, settings))
    found = {c.name: float(at_rest[c.index]) for c in statics.q_table if c.modal}
    return {**settings, **found, **{c.name: 0.0 for c in statics.u_table if c.modal}}


def _loads(model: Model, series: Mapping[str, Series], settings: Mapping[str, float]) -> dict[str, list[float]]:
    """Node loads at the start, N or N.m."""

    def value(name: str) -> float:
        return float(np.interp(0.0, *series[name])) if name in series else settings.get(name, 0.0)

    return {name: [value(f"{name}[{i}]") for i in (1, 2, 3)] for name in model.inputs}


def _changed(model: Model, settings: Mapping[str, float]) -> Model:
    """The model with those settings that the weight depends on."""
    gravity = _vector("gravity", model.gravity, settings)
    return model.model_copy(update={"gravity": gravity, "bodies": tuple(_body(b, settings) for b in model.bodies)})


def _body(body: Body, settings: Mapping[str, float]) -> Body:
    rigid = body.rigid
    if rigid is None or not rigid.tunable:
        return body
    update = {
        "mass": settings.get(f"{body.name}.mass", rigid.mass),
        "com": _vector(f"{body.name}.com", rigid.com, settings),
        "inertia": _vector(f"{body.name}.inertia", rigid.inertia, settings),
    }
    return body.model_copy(update={"rigid": rigid.model_copy(update=update)})


def _vector(name: str, values: tuple[float, ...], settings: Mapping[str, float]) -> tuple[float, ...]:
    return tuple(settings.get(f"{name}[{i}]", value) for i, value in enumerate(values, 1))
