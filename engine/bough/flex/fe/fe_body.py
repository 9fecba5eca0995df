"""From the `fe:` entry of a body to its flexible-body data, once per set of files and settings."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.sparse.linalg import ArpackError

from bough.errors import ModelError
from bough.flex.body import FlexBody
from bough.flex.fe.abaqus import mesh_file, read_abaqus
from bough.flex.fe.calculix import read_calculix
from bough.flex.fe.check import checked
from bough.flex.fe.elements import Part
from bough.flex.fe.fe_model import FeModel
from bough.flex.fe.input_elements import input_parts
from bough.flex.fe.mesh import beside, read_mesh
from bough.flex.fe.nastran.matrices import read_nastran
from bough.flex.fe.nastran.modal_body import nastran_modes
from bough.flex.fe.nastran.parts import read_nastran_parts
from bough.flex.fe.npz import read_npz
from bough.flex.fe.problem import refuse
from bough.flex.fe.reduce import reduced
from bough.flex.fe.si_units import in_si
from bough.flex.fe.stress import with_stress_stiffness
from bough.flex.sid.fe_entry import flex_from_sid
from bough.model import Fe

KEPT = 32
"""Bodies remembered; the one used longest ago goes first."""
_READERS: dict[str, Callable[[Fe], FeModel]] = {
    "npz": read_npz,
    "calculix": read_calculix,
    "abaqus": read_abaqus,
    "nastran": read_nastran,
}
_PARTS: dict[str, Callable[[Fe], list[Part]]] = {
    "calculix": lambda fe: input_parts(read_mesh(beside(fe.file, fe.mesh))),
    "abaqus": lambda fe: input_parts(read_mesh(mesh_file(fe))),
    "nastran": read_nastran_parts,
}
"""Elements of the formats whose files tell them."""
_made: OrderedDict[tuple[object, ...], FlexBody] = OrderedDict()


def read_fe(fe: Fe) -> FeModel:
    """The FE model that the files hold, checked, in SI.

    Raises:
        ModelError: The files cannot be read, or hold no free body.
    """
    return checked(in_si(_READERS[fe.format](fe), fe.units), fe.mass)


def fe_body(fe: Fe, name: str, stiffening: bool = False) -> FlexBody:
    """The flexible body of an `fe:` entry; made anew only if settings or files have changed.

    Args:
        fe: The entry.
        name: Of the body, for messages.
        stiffening: Whether to compute geometric stiffness from the elements where the files do not bring it.

    Raises:
        ModelError: The files cannot be read, hold no free body, or do not have what the entry asks for.
    """
    key = (fe.model_dump_json(), stiffening, *_signatures(fe))
    if key in _made:
        _made.move_to_end(key)
        return _made[key]
    try:
        # Absurd numbers overflow quietly here: what comes of them is refused.
        with np.errstate(all="ignore"):
            body = _read_body(fe, stiffening)
    except ModelError as error:
        raise ModelError([replace(problem, file=f"body {name!r}") for problem in error.problems]) from None
    _made[key] = body
    while len(_made) > KEPT:
        _made.popitem(last=False)
    return body


def _read_body(fe: Fe, stiffening: bool) -> FlexBody:
    if fe.format == "sid":
        return flex_from_sid(fe)
    if fe.modes.boundary == "file":
        return nastran_modes(fe)
    model = read_fe(fe)
    try:
        if stiffening and model.geometric is None and fe.format in _PARTS:
            if (model.dof_node < 0).any():
                cure = "export the matrices of all grids, or set `geometric_stiffening: false`"
                refuse(
                    "file", "nodes alone, for geometric stiffening", "a superelement, whose stress is not known", cure
                )
            model = with_stress_stiffness(model, fe, [part.in_si(fe.units) for part in _PARTS[fe.format](fe)])
        return reduced(model, fe)
    except (np.linalg.LinAlgError, ArpackError, ValueError) as error:
        found = f"those of {model.source}, which fail in it ({' '.join(str(error).split())[:120]})"
        cure = "check units and materials: stiffness or mass that differ too much, or are negative somewhere"
        refuse("file", "matrices whose eigenmodes can be computed", found, cure)


def _signatures(fe: Fe) -> list[object]:
    """Size and time of every file that may be read: all with the stem of one that is named."""
    signatures: list[object] = []
    for path in filter(None, (fe.file, fe.mesh, fe.mass_file)):
        folder, stem = os.path.dirname(path), os.path.basename(path).rpartition(".")[0].split("_STIF")[0]
        try:
            with os.scandir(folder) as entries:
                found = [(e.name, e.stat().st_mtime_ns, e.stat().st_size) for e in entries if e.name.startswith(stem)]
        except OSError:
            found = []
        signatures += sorted(found)
    return signatures
