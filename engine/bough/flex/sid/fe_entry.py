"""The `fe:` body whose file is a SID_FEM file."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from bough.errors import ModelError, Problem
from bough.flex.body import TRANSLATION, FlexBody
from bough.flex.integrals import ModalIntegrals, Stiffening
from bough.flex.points import Array
from bough.flex.sid.sid import load_sid, sid_body, truncated

if TYPE_CHECKING:
    from bough.model.fe_data import Fe, FeUnits

MASS_SLACK = 0.01
"""Difference from the key `mass` that is refused, relative."""


def flex_from_sid(fe: Fe) -> FlexBody:
    """The body of an `fe:` entry with `format: sid`: its nodes, the modes asked for, damping of the file or its own.

    Raises:
        ModelError: The file is wrong, or does not have what the entry asks for.
    """
    nodes = _nodes(fe)
    try:
        body = sid_body(load_sid(fe.file), nodes, fe.attach)
    except ModelError as error:
        raise ModelError([_at_key(fe, problem) for problem in error.problems]) from None
    if not fe.units.is_si:
        body = in_si(body, fe.units)
    if fe.mass is not None and abs(body.mass - fe.mass) > MASS_SLACK * fe.mass:
        cure = "correct `mass`, or give `units`: what one unit of the file is in SI"
        _refuse("mass", f"a body of {fe.mass:g} kg", f"{body.mass:.6g} kg in the file", cure)
    keep = np.arange(body.nm, dtype=np.intp)
    if fe.modes.max_frequency is not None:
        keep = keep[body.frequencies <= 2 * np.pi * fe.modes.max_frequency]
    if fe.modes.count is not None:
        if fe.modes.count > keep.size:
            below = "" if keep.size == body.nm else f" up to {fe.modes.max_frequency:g} Hz"
            expected = f"at most {keep.size} modes, as the file has{below}"
            _refuse("modes.count", expected, str(fe.modes.count), "ask for fewer modes")
        keep = keep[: fe.modes.count]
    if keep.size < body.nm:
        body = truncated(body, keep)
    return replace(body, damping=_damping(fe, body))


def _nodes(fe: Fe) -> dict[str, int]:
    """Number of each named node."""
    numbers: dict[str, int] = {}
    for interface in fe.interfaces:
        if len(interface.nodes) != 1 or interface.position is not None or interface.coupling != "rigid":
            given = "position" if interface.position is not None else "coupling: average"
            found = given if len(interface.nodes) == 1 else f"{len(interface.nodes) or 'no'} nodes by number"
            expected = "the number of one node of the SID file, such as {nodes: [12]}"
            _refuse(f"interfaces.{interface.name}", expected, found, "couple nodes where the file is made")
        numbers[interface.name] = interface.nodes[0]
    return numbers


def _damping(fe: Fe, body: FlexBody) -> Array:
    given, n = fe.damping, body.nm
    if given.rayleigh is not None:
        rayleigh: Array = given.rayleigh[0] * body.modal_mass + given.rayleigh[1] * body.stiffness
        return rayleigh
    if given.matrix is not None:
        matrix = np.array(given.matrix, dtype=np.float64)
        if matrix.shape != (n, n):
            _refuse("damping.matrix", f"{n} rows, one per mode", f"{len(matrix)} rows", "give one row per mode")
        return matrix
    ratios = given.ratio if given.ratios is None else np.array(given.ratios, dtype=np.float64)
    if ratios is None:
        return body.damping
    if np.ndim(ratios) and np.size(ratios) != n:
        cure = "give one number for all modes, or as many as the body has modes"
        _refuse("damping", f"{n} ratios, one per mode", f"{np.size(ratios)} ratios", cure)
    return np.diag(np.broadcast_to(2.0 * ratios * np.sqrt(np.diag(body.stiffness) * np.diag(body.modal_mass)), (n,)))


def in_si(body: FlexBody, units: FeUnits) -> FlexBody:
    """The body with lengths times L, masses times m, times times t; modal coordinates stay as they are."""
    L, m, t = units.length, units.mass, units.time
    i, extra = body.integrals, body.stiffening
    energy = m * L**2
    sizes = np.array([m, *[m * L] * 3, *[energy] * 6])
    rows = np.array([energy] * 3 + [m * L] * 3)[:, np.newaxis]
    tables = (energy * i.Mff, energy * i.N0, energy * i.N1, energy * i.F1, energy * i.Z)
    integrals = ModalIntegrals(sizes * i.inertia, rows * i.F0, *tables, i.rotary)
    if extra is not None:
        Z = None if extra.Z is None else energy * extra.Z
        extra = Stiffening(m * L * extra.E1, energy * extra.F1, energy * extra.N1, L * extra.node_bends, Z)
    shapes = body.node_shapes.copy()
    shapes[:, TRANSLATION] *= L
    return replace(
        body,
        integrals=integrals,
        node_positions=L * body.node_positions,
        node_shapes=shapes,
        stiffness=energy / t**2 * body.stiffness,
        damping=energy / t * body.damping,
        frequencies=body.frequencies / t,
        stiffening=extra,
    )


def _at_key(fe: Fe, problem: Problem) -> Problem:
    """What is wrong in the SID file, told at the key that names it."""
    place = replace(problem, file=os.path.basename(fe.file)).location
    return replace(problem, file="", line=None, key=f"fe.file: {place}")


def _refuse(key: str, expected: str, found: str, cure: str) -> NoReturn:
    raise ModelError(Problem("", None, f"fe.{key}", expected, found, cure))
