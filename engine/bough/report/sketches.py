"""Modes as pictures: the vibrations of a mechanism, and the modes of flexible bodies."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.flex.body_summary import Shown, bodies_of, facts
from bough.flex.fe.node_shapes import all_shapes
from bough.mechanism.equilibrium import equilibrium, spinning
from bough.mechanism.mechanism import Mechanism
from bough.mechanism.vibration import Vibration, Vibrations, position_at, vibrations
from bough.model import Beam, Model
from bough.report.mode_pictures import Section, Sketch, draw_modes, spanning_edges

Array: TypeAlias = NDArray[np.float64]

DRAWN = 12
"""Modes of a mechanism or of a body that a picture shows."""
MOST_LINES = 4000
"""Lines between nodes beyond which a body is drawn by its nodes alone."""


def draw_vibrations(
    model: Model | Mechanism | str | os.PathLike[str] | Mapping[str, Any],
    path: str | os.PathLike[str],
    at: Mapping[str, float] | None = None,
    spin: Mapping[str, float] | None = None,
    *,
    settle: bool = False,
) -> Vibrations:
    """Write a picture, PNG, of the vibrations that `bough.modes` finds, and return them.

    Args:
        model: A model, or what `bough.load` takes, or a Mechanism.
        path: Of the picture.
        at: See `bough.modes`, like spin and settle.
        spin: See at.
        settle: See at.

    Raises:
        ArgumentError: As of `bough.modes`.
        SimulationError: As of `bough.modes`, or the file cannot be written.
    """
    system = model if isinstance(model, Mechanism) else Mechanism(model)
    q = position_at(system, at or {})
    if settle or spin:
        q, _ = equilibrium(system, q=q, spin=spin)
    found = vibrations(system, q, spinning(system, spin or {}))
    draw_modes([vibration_sketch(system, q, found)], path)
    return found


def draw_bodies(file: str | os.PathLike[str], path: str | os.PathLike[str], body: str | None = None) -> None:
    """Write a picture, PNG, of the modes of flexible bodies, as `bough flex` does.

    Args:
        file: A model file, or the file of one body.
        path: Of the picture.
        body: One body of the model; all flexible ones if not given.

    Raises:
        ModelError: The file is wrong.
        SimulationError: It has no such body, or the picture cannot be written.
    """
    draw_modes(body_sketches(bodies_of(Path(file), body)), path)


def vibration_sketch(system: Mechanism, q: Array, found: Vibrations) -> Sketch:
    """The mechanism at a position and its first vibrations, to be drawn: the motion of all nodes of all bodies."""
    modes, names = found.modes[:DRAWN], system.node_names
    poses, _, _ = system.node_motion(q, np.zeros(system.nu), None, names)
    motions = [system.node_motion(q, mode.shape, None, names)[1] for mode in modes]
    edges, begin = [], 0
    for body in system.model.whole_bodies:
        end = begin + len(body.node_names)
        edges.append(begin + spanning_edges(poses[begin:end, :3]))
        begin = end
    captions = []
    for i, mode in enumerate(modes, 1):
        hertz, _, kind = mode_words(mode)
        captions.append(f"{i}\n{hertz} Hz" if mode.kind == "vibration" else f"{i}\n{kind}")
    return Sketch(system.model.name, poses[:, :3], np.stack(motions, axis=-1), captions, np.concatenate(edges))


def mode_words(mode: Vibration) -> tuple[str, str, str]:
    """Frequency in Hz, damping in % and kind, in words.

    A motion that decays or grows without swinging has the time of a change by a factor of e instead.
    """
    hertz = f"{mode.frequency:.5g}"
    if mode.kind == "vibration":
        return hertz, f"{100 * mode.damping:.3g}" if abs(mode.damping) > 1e-8 else "0", mode.kind
    seconds = 1 / (2 * np.pi * mode.frequency * abs(mode.damping))
    if mode.kind == "decay":
        return "", "", f"decays in {seconds:.3g} s"
    swings = abs(mode.damping) < 1 - 1e-9
    return hertz if swings else "", "", f"{'swings and ' if swings else ''}grows e-fold in {seconds:.3g} s"


def body_sketches(shown: Sequence[Shown]) -> list[Sketch]:
    """Bodies that have modes, and their first modes, to be drawn."""
    return [_body_sketch(each) for each in shown if each.body.nm]


def _body_sketch(shown: Shown) -> Sketch:
    body = shown.body
    positions, shapes, edges = body.node_positions, body.node_shapes, None
    marked: tuple[int, ...] = (body.attach,)
    if shown.fe is not None:
        positions, shapes, edges = all_shapes(shown.fe)
        marked = ()
        if len(edges) > MOST_LINES:
            edges = edges[:0]
    count = min(body.nm, DRAWN)
    captions = []
    for k, mode in enumerate(facts(shown)["modes"][:count]):
        hertz = "no mass" if mode["frequency"] is None else f"{mode['frequency']:.4g} Hz"
        label = mode["name"] if mode["name"] == f"mode {k + 1}" else f"{k + 1}  {mode['name']}"
        captions.append(f"{label}\n{hertz}")
    section = None if shown.beam is None else _section(shown.beam)
    more = f", {count} of {body.nm} modes" if count < body.nm else ""
    return Sketch(f"{shown.name}{more}", positions, shapes[:, :, :count], captions, edges, marked, section)


def _section(beam: Beam) -> Section | None:
    """The rectangle with the beam's second moments per area at its root; None for sections without dimensions."""
    root = beam.section
    if root is None:
        return None
    width, height = np.sqrt(12.0 * np.array([root.Iz, root.Iy]) / root.area)
    return Section(float(width), float(height), beam.up)
