"""From the `fe:` entry to a checked body: files that exist, interfaces that are told apart."""

from __future__ import annotations

import os
import re

from bough.model.beam_data import ModalInitial
from bough.model.damping import ModalDamping, resolve_damping
from bough.model.fe_data import Fe, FeBoundary, FeFormat, FeInterface, FeModes, FeUnits
from bough.model.file_fe import FeFile, FeInterfaceFile
from bough.model.frames import vector
from bough.text.kinds import NAME_LENGTH, NAME_PATTERN
from bough.text.problems import Path, Report, describe, one_of

ENDINGS: dict[str, FeFormat] = {
    ".npz": "npz",
    ".sti": "calculix",
    ".mtx": "abaqus",
    ".bdf": "nastran",
    ".dat": "nastran",
    ".nas": "nastran",
    ".op2": "nastran",
    ".op4": "nastran",
    ".pch": "nastran",
    ".asm": "nastran",
    ".sid": "sid",
    ".sid_fem": "sid",
}
_NAME = re.compile(NAME_PATTERN[:-1] + r"\Z")
_TAKEN = ("eta", "eta_dot")


def resolve_fe(file: FeFile, path: Path, report: Report) -> Fe:
    """The checked body; what is wrong goes into the report. The FE files themselves are not read here."""
    kind = _format(file, (*path, "format"), report)
    paths = {key: _existing(getattr(file, key), (*path, key), report) for key in ("file", "mesh", "mass_file")}
    interfaces = tuple(
        _interface(name, interface, (*path, "interfaces", name), report) for name, interface in file.interfaces.items()
    )
    attach = next(iter(file.interfaces)) if file.attach is None else file.attach
    if attach not in file.interfaces:
        close = report.suggest(attach, file.interfaces)
        cure = "name one of the interfaces" if close is None else f"did you mean '{close}'?"
        report.add((*path, "attach"), f"one of the interfaces {one_of(file.interfaces)}", describe(attach), cure)
    given = file.initial.model_fields_set
    damped = (*path, "damping")
    return Fe(
        file=paths["file"] or "",
        format=kind,
        mesh=paths["mesh"],
        mass_file=paths["mass_file"],
        matrices={key: value for key, value in file.matrices.model_dump().items() if value},
        units=FeUnits(length=file.units.length, mass=file.units.mass, time=file.units.time),
        mass=file.mass,
        interfaces=interfaces,
        attach=attach,
        modes=_modes(file, kind, (*path, "modes"), report),
        damping=ModalDamping() if file.damping is None else resolve_damping(file.damping, None, damped, report),
        initial=ModalInitial(
            eta=tuple(file.initial.eta) if "eta" in given else (),
            eta_dot=tuple(file.initial.eta_dot) if "eta_dot" in given else (),
        ),
    )


def _format(file: FeFile, path: Path, report: Report) -> FeFormat:
    if file.format is not None:
        return file.format
    ending = os.path.splitext(file.file)[1].lower()
    if ending not in ENDINGS:
        expected = f"a file name that ends in one of {', '.join(ENDINGS)}, or the key `format`"
        report.add((*path[:-1], "file"), expected, describe(file.file), "add e.g. `format: npz`")
    return ENDINGS.get(ending, "npz")


def _existing(name: str | None, path: Path, report: Report) -> str | None:
    """Absolute path of a file that can be read, from the model file's folder."""
    if name is None:
        return None
    full = os.path.abspath(os.path.join(report.folder, name))
    shown = repr(full) if len(full) <= 300 else f"{full[:300]!r}..."
    if "\0" in name or not os.path.exists(full):
        cure = "check the name; a relative path starts at the model file's folder (for a dict: the current one)"
        report.add(path, "a file that exists", f"no file {shown}", cure)
    elif not os.path.isfile(full):
        report.add(path, "a file", f"{shown}, which is a folder or a device", "name a file")
    elif not os.access(full, os.R_OK):
        report.add(path, "a file that can be read", f"{shown} without permission", "check its permissions")
    return full


def _interface(name: str, file: FeInterfaceFile, path: Path, report: Report) -> FeInterface:
    if not _NAME.match(name) or len(name) > NAME_LENGTH:
        expected = "an interface name of letters, digits and underscores that does not begin with a digit"
        report.add(path, expected, describe(name), "rename the interface")
    elif name in _TAKEN:
        found = f"{name!r}, the name of the modal coordinates"
        report.add(path, "a name other than eta, eta_dot", found, "rename the interface")
    given = [key for key in ("nodes", "set", "box") if key in file.model_fields_set]
    if len(given) != 1:
        found = " and ".join(given) if given else "none of them"
        report.add(path, "exactly one of nodes, set, box: which FE nodes", found, "write e.g. {nodes: [1, 2, 3]}")
    if len(set(file.nodes)) != len(file.nodes):
        twice = next(number for number in file.nodes if file.nodes.count(number) > 1)
        report.add((*path, "nodes"), "every node once", f"node {twice} again", "remove it")
    return FeInterface(
        name=name,
        nodes=tuple(file.nodes),
        set=file.set or None,
        box=(vector(file.box[0]), vector(file.box[1])) if file.box else None,
        position=vector(file.position) if "position" in file.model_fields_set else None,
        coupling=file.coupling,
    )


def _modes(file: FeFile, kind: FeFormat, path: Path, report: Report) -> FeModes:
    given = file.modes.model_fields_set
    boundary: FeBoundary = file.modes.boundary
    op2 = kind == "nastran" and file.file.lower().endswith(".op2")
    if (kind == "sid" or op2) and "boundary" not in given:
        boundary = "file"
    if kind == "sid" and boundary != "file":
        report.add((*path, "boundary"), "file: a SID file holds its modes already", boundary, "remove `boundary`")
    elif op2 and boundary != "file":
        cure = "remove `boundary`, or export matrices (.op4, .pch)"
        report.add((*path, "boundary"), "file: an OP2 file holds modes, not matrices", boundary, cure)
    elif boundary == "file" and kind != "sid" and not op2:
        expected = "one of craig-bampton, cantilever, free: the modes are computed from the matrices"
        report.add((*path, "boundary"), expected, "file", "write e.g. {boundary: craig-bampton, count: 8}")
    if boundary != "file" and not {"count", "max_frequency"} & given:
        expected = "count, or max_frequency, or both: how many modes to keep"
        report.add(path, expected, "neither", "write e.g. {boundary: craig-bampton, count: 8}")
    return FeModes(
        boundary=boundary,
        count=file.modes.count if "count" in given else None,
        max_frequency=file.modes.max_frequency if "max_frequency" in given else None,
    )
