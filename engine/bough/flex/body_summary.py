"""Flexible bodies in numbers: mass, inertia, nodes, modes."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.errors import ModelError, Problem, SimulationError, did_you_mean, listed
from bough.flex.body import FlexBody
from bough.flex.build import flex_body
from bough.flex.count import load
from bough.flex.fe.fe_body import fe_body, read_fe
from bough.flex.fe.node_shapes import counted_entry, free_entry
from bough.flex.integrals import inertia_tensor
from bough.flex.sid.sid import load_sid, sid_body
from bough.model import Beam, Body, Fe, Model
from bough.model.resolve_fe import ENDINGS

Array: TypeAlias = NDArray[np.float64]


def flex_summary(file: str | os.PathLike[str], body: str | None = None) -> list[dict[str, Any]]:
    """Flexible bodies in numbers, as `bough flex --json` writes them; SI units.

    Args:
        file: A model file, or the file of one body: `.sid`, `.npz`, `.sti`, `.mtx`, `.bdf` and so on.
        body: One body of the model; all flexible ones if not given.

    Returns:
        For each body: `name`, `kind`, `mass` (kg), `centre` (m), `inertia` (about the centre, kg.m2: xx, yy, zz, xy,
        xz, yz), `attach`, `nodes` (m, by name), `modes` (each with `name`, `frequency` in Hz, `damping` as a ratio and
        `effective_mass`, shares along x, y, z), and `effective_mass` of all modes together.

    Raises:
        ModelError: The file is wrong.
        SimulationError: It has no such body.
    """
    return [facts(each) for each in bodies_of(Path(file), body)]


@dataclass(frozen=True, eq=False)
class Shown:
    """A flexible body, of a model or of a file by itself.

    Attributes:
        name: Of the body, or of its file.
        body: Its data.
        kind: 'beam', 'nodal' or 'fe', or the format of a file that is no model.
        fe: Entry of an FE body whose modes are known at nodes that the body does not have; None for another.
        beam: Entry of a beam; None for another.
        stiffening: Whether its model asks for geometric stiffening.
        note: What a user should know of the file or the body; empty if nothing.
        pieces: Bodies that a beam is cut into.
    """

    name: str
    body: FlexBody
    kind: str
    fe: Fe | None = None
    beam: Beam | None = None
    stiffening: bool = True
    note: str = ""
    pieces: int = 1


def bodies_of(file: Path, wanted: str | None = None) -> list[Shown]:
    """The flexible bodies of a model, or that of a file.

    Raises:
        ModelError: The file is wrong.
        SimulationError: It has no such body.
    """
    if not file.is_file():
        raise SimulationError(f"cannot read {file}: there is no such file")
    kind = ENDINGS.get(file.suffix.lower())
    if kind is not None:
        if wanted is not None:
            raise SimulationError(f"{file} holds one body: leave out {wanted!r}")
        return [_sid_file(file) if kind == "sid" else _fe_file(file, kind)]
    model = load(file)
    flexible = [each for each in model.whole_bodies if each.rigid is None]
    if not flexible:
        raise SimulationError(f"{file}: all bodies are rigid")
    if wanted is not None:
        names = [each.name for each in flexible]
        flexible = [each for each in flexible if each.name == wanted]
        if not flexible:
            rigid = any(each.name == wanted for each in model.whole_bodies)
            told = f"the body {wanted!r} is rigid" if rigid else f"there is no body {wanted!r}"
            hint = "" if rigid else did_you_mean(wanted, names)
            raise SimulationError(f"{file}: {told}; flexible bodies are: {listed(names)}{hint}")
    return [_of_model(each, model) for each in flexible]


def _of_model(body: Body, model: Model) -> Shown:
    whole = body.fe if body.fe is not None and body.fe.format != "sid" and body.fe.modes.boundary != "file" else None
    pieces, note = model.pieces(body.name), ""
    if len(pieces) > 1:
        modes = sum(piece.mode_count for piece in pieces)
        note = f"{body.name} moves as {len(pieces)} bodies with {modes} modes; shown are mass and modes of the whole"
    return Shown(
        body.name,
        flex_body(body, model.geometric_stiffening or None),
        body.kind,
        whole,
        body.beam,
        model.geometric_stiffening,
        note,
        len(pieces),
    )


def _sid_file(file: Path) -> Shown:
    sid = load_sid(file)
    turned = sum(bool(abs(node.AP.M0 - np.eye(3)).max() > 1e-9) for node in sid.nodes)
    note = (
        f"{turned} nodes have axes of their own in the file; bough's are parallel to the body frame" if turned else ""
    )
    return Shown(file.stem, sid_body(sid), "sid", note=note)


def _fe_file(file: Path, kind: str) -> Shown:
    """A file by itself: free-free modes; what else it needs can only be told in a model file."""
    fe = free_entry(os.path.abspath(file), kind)
    try:
        fe = counted_entry(fe, read_fe(fe))
        return Shown(file.stem, fe_body(fe, file.stem), kind, fe)
    except ModelError as error:
        raise ModelError([_told(problem, file) for problem in error.problems]) from None


def _told(problem: Problem, file: Path) -> Problem:
    """A problem of a file by itself, with the way out that a model file is."""
    keys = "mesh, mass_file, matrices, units, interfaces"
    cure = (
        f"{problem.cure}; or write a model file whose body says the rest: fe: {{file: {file.name}, ...}}, with {keys}"
    )
    return replace(problem, file=str(file), cure=cure)


def facts(shown: Shown) -> dict[str, Any]:
    """A body in numbers, ready for JSON; SI units."""
    body = shown.body
    m, offset = body.mass, body.integrals.inertia[1:4] / body.mass
    J = inertia_tensor(body.integrals.inertia) - m * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    shares = effective_masses(body)
    return {
        "name": shown.name,
        "kind": shown.kind,
        "mass": m,
        "centre": (body.node_positions[body.attach] + offset).tolist(),
        "inertia": [float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))],
        "attach": body.node_names[body.attach],
        "nodes": {name: at.tolist() for name, at in zip(body.node_names, body.node_positions, strict=True)},
        "geometric_stiffening": body.stiffening is not None,
        "modes": [_mode(body, k, shares[:, k]) for k in range(body.nm)],
        "effective_mass": total_effective_mass(body).tolist(),
    }


def _mode(body: FlexBody, k: int, shares: Array) -> dict[str, Any]:
    omega = float(body.frequencies[k])
    stiffness, mass = float(body.stiffness[k, k]), float(body.modal_mass[k, k])
    critical = 2.0 * np.sqrt(max(stiffness * mass, 0.0))
    return {
        "name": body.mode_names[k] if body.mode_names else f"mode {k + 1}",
        "frequency": omega / (2 * np.pi) if np.isfinite(omega) else None,
        "damping": float(body.damping[k, k]) / critical if critical > 0.0 else None,
        "effective_mass": shares.tolist(),
    }


def effective_masses(body: FlexBody) -> Array:
    """Share of the body's mass that each mode by itself moves along x, y, z, (3, nm): (sum m gam)^2 / (M_rr m)."""
    mass = np.diag(body.modal_mass) * body.mass
    return np.divide(body.integrals.F0[3:] ** 2, mass, out=np.zeros((3, body.nm)), where=mass > 0.0)


def total_effective_mass(body: FlexBody) -> Array:
    """Share of the body's mass that its modes move together, (3,): E M^-1 E' / m."""
    E = body.integrals.F0[3:]
    if not body.nm:
        return np.zeros(3)
    total: Array = np.einsum("ir,ri->i", E, np.linalg.lstsq(body.modal_mass, E.T, rcond=1e-12)[0]) / body.mass
    return total
