"""From the `nodal:` entry to a checked flexible body: shapes and matrices that belong together."""

from __future__ import annotations

from bough.model.damping import symmetric_matrix
from bough.model.file import NodalFile, NodalNodeFile
from bough.model.frames import inertia, vector
from bough.model.model import Nodal, NodalNode
from bough.model.resolve_beam import check_mode_count, modal_initial
from bough.text.problems import Path, Report, describe, one_of

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
    check_mode_count(count, (*path, "modes"), report)
    given = file.model_fields_set
    if "damping" in given and "damping_matrix" in given:
        expected = "damping or damping_matrix, not both"
        report.add((*path, "damping_matrix"), expected, "both", "remove one of them")
    if "damping" in given and len(file.damping) != count:
        expected = f"a list of {count} ratios, one per mode"
        report.add((*path, "damping"), expected, describe(file.damping), f"give {count} values")
    damping_matrix = None
    if "damping_matrix" in given:
        damping_matrix = symmetric_matrix(file.damping_matrix, count, (*path, "damping_matrix"), report)
    stiffness = symmetric_matrix(file.stiffness, count, (*path, "stiffness"), report, "stiffness" not in given)
    return Nodal(
        attach=file.attach,
        nodes=nodes,
        modes=tuple(tuple(tuple(row) for row in shape) for shape in file.modes),
        stiffness=stiffness,
        damping=tuple(file.damping) if "damping" in given else None,
        damping_matrix=damping_matrix,
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
                com=vector(file.com),
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
