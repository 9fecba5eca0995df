"""From the `nodal:` entry to a checked flexible body: shapes and matrices that belong together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bough.model.file import NodalFile, NodalNodeFile
from bough.model.frames import inertia, vector
from bough.model.model import Matrix, Nodal, NodalNode
from bough.model.report import Path, Report, describe, one_of
from bough.model.resolve_beam import modal_initial

SYMMETRY_SLACK = 1e-9
"""Round-off in a matrix that should be symmetric and not negative, relative to its largest entry."""
_TAKEN = ("eta", "eta_dot")


def resolve_nodal(file: NodalFile, path: Path, report: Report) -> Nodal:
    """The checked body; what is wrong goes into the report."""
    count = len(file.modes)
    nodes = _nodes(file.nodes, (*path, "nodes"), report)
    names = [node.name for node in nodes]
    if file.attach not in names:
        close = report.suggest(file.attach, names)
        cure = "name one of the nodes" if close is None else f"did you mean '{close}'?"
        report.add((*path, "attach"), f"one of the nodes {one_of(names)}", describe(file.attach), cure)
    _check_shapes(file, names, (*path, "modes"), report)
    given = file.model_fields_set
    if "damping" in given and "damping_matrix" in given:
        expected = "damping or damping_matrix, not both"
        report.add((*path, "damping_matrix"), expected, "both", "remove one of them")
    if "damping" in given and len(file.damping) != count:
        expected = f"a list of {count} ratios, one per mode"
        report.add((*path, "damping"), expected, describe(file.damping), f"give {count} values")
    matrix = _matrix(file, "damping_matrix", count, path, report) if "damping_matrix" in given else None
    return Nodal(
        attach=file.attach,
        nodes=nodes,
        modes=tuple(tuple(tuple(row) for row in shape) for shape in file.modes),
        stiffness=_matrix(file, "stiffness", count, path, report),
        damping=tuple(file.damping) if "damping" in given else None,
        damping_matrix=matrix,
        clamped=file.clamped,
        initial=modal_initial(file.initial, count, (*path, "initial"), report),
    )


def _nodes(files: list[NodalNodeFile], path: Path, report: Report) -> tuple[NodalNode, ...]:
    first: dict[str, int] = {}
    nodes = []
    for i, file in enumerate(files):
        if file.name in first:
            found = f"{file.name!r} again, the name of nodes[{first[file.name]}]"
            report.add((*path, i, "name"), "a name that no other node of the body has", found, "rename one")
        elif file.name in _TAKEN:
            found = f"{file.name!r}, the name of the modal coordinates"
            report.add((*path, i, "name"), "a name other than eta, eta_dot", found, "rename the node")
        first.setdefault(file.name, i)
        nodes.append(
            NodalNode(
                name=file.name,
                position=vector(file.position),
                mass=file.mass,
                inertia=inertia(file.inertia, (*path, i, "inertia"), report),
            )
        )
    return tuple(nodes)


def _check_shapes(file: NodalFile, names: list[str], path: Path, report: Report) -> None:
    for i, shape in enumerate(file.modes):
        if len(shape) != len(names):
            expected = f"one row of 6 numbers for each of the {len(names)} nodes"
            report.add((*path, i), expected, describe(shape), f"give {len(names)} rows")
        elif file.clamped and file.attach in names:
            k = names.index(file.attach)
            if any(shape[k]):
                expected = f"zeros at the clamped node {file.attach!r}"
                cure = "use clamped modes, or remove `clamped: true` if the attach node moves with the modes"
                report.add((*path, i, k), expected, describe(shape[k]), cure)


def _matrix(file: NodalFile, key: str, count: int, path: Path, report: Report) -> Matrix:
    """The full symmetric matrix that the file gives as such or by its diagonal."""
    value: list[float] | list[list[float]] = getattr(file, key)
    path = (*path, key)
    rows = [row for row in value if isinstance(row, list)]
    if len(value) != count or any(len(row) != count for row in rows):
        sizes = f" and rows of {', '.join(sorted({str(len(row)) for row in rows}))}" if rows else ""
        expected = f"a list of {count}, or a matrix of {count} x {count}: as many as there are modes"
        found = f"{describe(value)}{sizes}" if key in file.model_fields_set else "no such key"
        report.add(path, expected, found, "give one entry per mode")
        return ()
    full = np.array(rows, dtype=np.float64) if rows else np.diag(np.array(value, dtype=np.float64))
    _check_matrix(full, path, report)
    full = (full + full.T) / 2.0
    return tuple(tuple(row) for row in full.tolist()) if count else ()


def _check_matrix(full: NDArray[np.float64], path: Path, report: Report) -> None:
    slack = SYMMETRY_SLACK * float(np.abs(full).max(initial=0.0))
    skew = np.abs(full - full.T)
    if skew.max(initial=0.0) > slack:
        i, j = np.unravel_index(int(skew.argmax()), full.shape)
        found = f"{full[i, j]:g} in row {i + 1}, column {j + 1}, but {full[j, i]:g} across the diagonal"
        report.add(path, "a symmetric matrix", found, "use the symmetric part, (A + A') / 2")
        return
    lowest = float(np.linalg.eigvalsh(full).min(initial=0.0))
    if lowest < -slack:
        expected = "a matrix without negative eigenvalues"
        report.add(path, expected, f"an eigenvalue of {lowest:g}", "check signs and units")
