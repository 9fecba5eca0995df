"""Start values at rest: flexible bodies begin bent as their load bends them, and do not ring from the start."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.errors import ArgumentError
from bough.mechanism.drive_block import shafts
from bough.mechanism.equilibrium import equilibrium
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.operating_point import holding_forces
from bough.model import Body, Model
from bough.run.series_file import Series
from bough.run.studies import started


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
    rotors = {system.model.bodies[k].hinge.name for k, _, _ in shafts(system.model)}  # they wind their shafts up
    found_here = {c.name for c in (*system.q_table, *system.u_table) if c.modal or c.owner in rotors}
    for name in settings:
        if name in found_here:
            raise ArgumentError(f"settle finds {name} itself: leave out one of the two")
    changed = _changed(system.model, settings)
    statics = system if changed == system.model else Mechanism(changed)
    _, q, _ = started(system, settings)
    at_rest, _ = equilibrium(statics, q=q, loads=_loads(system.model, series, settings))
    found = {c.name: float(at_rest[c.index]) for c in statics.q_table if c.name in found_here}
    return {**settings, **found, **{c.name: 0.0 for c in statics.u_table if c.name in found_here}}


@dataclass(frozen=True)
class Rest:
    """A mechanism at rest.

    Attributes:
        values: Start values of all modes, and what was set.
        forces: What each hinge takes to stay where it starts, by the name of its input: N or N.m.
    """

    values: Mapping[str, float]
    forces: Mapping[str, float]


def at_rest(
    model: Model | str | os.PathLike[str] | Mapping[str, Any],
    settings: Mapping[str, float],
    driven: Collection[str] = (),
) -> Rest:
    """A model at rest with its hinges held where they start.

    Args:
        model: A model, or what `bough.load` takes.
        settings: Start values, tunable parameters and constant inputs, by name.
        driven: Inputs that somebody drives; with loops these hold the position if they can.

    Raises:
        ArgumentError: The start value of a mode is set.
        SimulationError: There is no equilibrium.
    """
    system = Mechanism(model)
    values = settled(system, {}, settings)
    statics = Mechanism(_changed(system.model, settings))
    _, q, _ = started(system, values)
    inputs = {v.index: v.name for v in statics.variables if v.kind == "tau" and v.causality == "input"}
    tau = holding_forces(statics, q, [index for index, name in inputs.items() if name in driven])
    forces = {name: float(tau[index]) for index, name in inputs.items()}
    return Rest(values, forces)


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
