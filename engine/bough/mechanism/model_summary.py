"""A model in numbers: what `bough check` tells of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from bough.flex import flex_body, load
from bough.mechanism.foresight import foreseen, strong_damper
from bough.mechanism.mechanism import Mechanism
from bough.model import Body, Model, plausibility_notes
from bough.text.source import ModelSource


def check(model: str | os.PathLike[str] | Mapping[str, Any]) -> dict[str, Any]:
    """Check a model, and sum up what is in it, as `bough check --json` writes it.

    Args:
        model: What `bough.load` takes.

    Returns:
        `name`, `fidelity`, `gravity` (m/s2), `mass` (kg), numbers of `positions`, `speeds` and `modes`, `bodies` with
        their hinges (flexible ones with `fidelity` and frequencies, Hz), names of `inputs` and `outputs`, and `notes`
        on what looks like a slip.

    Raises:
        ModelError: The model is wrong.
        SimulationError: Its inertia is singular at the start.

    Example:
        >>> import bough
        >>> cart = {"bough": 1, "name": "cart", "bodies": [{"name": "box", "parent": "ground",
        ...     "hinge": {"name": "rail", "type": "prismatic", "axis": [1, 0, 0]}, "rigid": {"mass": 2.0}}]}
        >>> bough.check(cart)["mass"]
        2.0
    """
    system = Mechanism(load(model))
    q, u = system.initial_state()
    system.forward_dynamics(q, u, np.zeros(system.nu))
    return summary(system, model)


def summary(system: Mechanism, source: ModelSource | None = None) -> dict[str, Any]:
    """A model in numbers, ready for JSON, with notes on what looks odd in what it was loaded from."""
    model = system.model
    bodies = [_body(body, model) for body in model.whole_bodies]
    return {
        "ok": True,
        "name": model.name,
        "fidelity": model.fidelity,
        "gravity": list(model.gravity),
        **({} if model.field is None else {"field": {"mu": model.field.mu, "center": list(model.field.center)}}),
        "mass": sum(body["mass"] for body in bodies),
        "positions": system.nq,
        "speeds": system.nu,
        "modes": sum(body.mode_count for body in model.bodies),
        "bodies": bodies,
        "loops": _loops(system),
        "forces": [{"name": force.name, "type": force.type} for force in model.forces],
        "inputs": [v.name for v in system.variables if v.causality == "input"],
        "outputs": [v.name for v in system.variables if v.causality != "input"],
        "notes": [
            *(asdict(note) | {"text": str(note)} for note in plausibility_notes(model, source)),
            *(_ahead(text) for text in foreseen(system)),
            *_damper(system),
        ],
    }


def _ahead(text: str) -> dict[str, Any]:
    """A warning of the run to come as a note."""
    found, _, cure = text.partition(" Cure: ")
    why = "modes are linear: beyond this the answer is wrong"
    return {"file": "", "line": None, "key": "", "found": found, "why": why, "cure": cure, "text": text}


def _damper(system: Mechanism) -> list[dict[str, Any]]:
    """A damper so strong that the default method hardly moves on, as a note."""
    told = strong_damper(system)
    if told is None:
        return []
    found, why, cure = told
    text = f"{found}; {why}; {cure}"
    return [{"file": "", "line": None, "key": "", "found": found, "why": why, "cure": cure, "text": text}]


def _loops(system: Mechanism) -> dict[str, Any]:
    """Loops and couplings, the freedoms they leave, and what assembly moved."""
    model, left = system.model, system.freedom(system.initial_state()[0])
    return {
        "names": [loop.name for loop in model.loops] + [c.name for c in model.couplings],
        "freedoms": left.freedoms,
        "equations": left.equations,
        "redundant": left.loops,
        "moved": [asdict(m) for m in system.moved],
    }


def _body(body: Body, model: Model) -> dict[str, Any]:
    hinge, pieces = body.hinge, len(model.pieces(body.name))
    row: dict[str, Any] = {
        "name": body.name,
        "kind": body.kind,
        "parent": body.parent,
        "at": body.at,
        "hinge": {"name": hinge.name, "type": hinge.type, "dofs": hinge.kind.nu, "drive": hinge.drive},
        "frequencies": [],
        "mode_names": [],
    }
    if body.rigid is not None:
        return row | {"mass": body.rigid.mass}
    flex = flex_body(body)
    hertz = [float(w) / (2 * np.pi) if np.isfinite(w) else None for w in flex.frequencies]
    row |= {"bodies": pieces} if pieces > 1 else {}
    row["fidelity"] = body.fidelity or model.fidelity
    return row | {"mass": flex.mass, "frequencies": hertz, "mode_names": list(flex.mode_names)}
