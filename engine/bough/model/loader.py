"""From a file or a mapping to a checked model, with everything that is wrong reported at once."""

from __future__ import annotations

from typing import Any

from bough.model.file import BodyFile, HeaderFile, ModelFile
from bough.model.frames import vector
from bough.model.mobility import check_mobility
from bough.model.model import Model
from bough.model.report import Report, describe
from bough.model.resolve_body import resolve_body
from bough.model.source import ModelSource, read
from bough.model.translate import check
from bough.model.tree import Entry, check_ports, check_tree, entry


def load(source: ModelSource) -> Model:
    """Read and check a model.

    Args:
        source: Path of a YAML (or JSON) file, or the same content as a mapping; numpy arrays and scalars may
            stand for lists and numbers in it.

    Returns:
        The model, with every default filled in.

    Raises:
        ModelError: Anything is wrong; the message names file, line and key path, what was expected, what was
            found, and the cure.
    """
    read_source = read(source)
    report = Report(read_source.file, read_source.line_of, read_source.folder)
    data = dict(read_source.data)
    bodies_data = data.pop("bodies", _MISSING)
    header = check(HeaderFile, data, (), report)
    entries = _bodies(bodies_data, report)
    check_tree(entries, report)
    for key in ("inputs", "outputs"):
        ports = data.get(key)
        if isinstance(ports, list) and all(isinstance(port, str) for port in ports):
            check_ports(key, ports, entries, report)
    _check_stiffening(data, entries, report)
    report.fail_if_any()
    bodies = tuple(e.body for e in entries if e.body is not None)
    check_mobility(bodies, report)
    report.fail_if_any()
    return Model(
        name=header.name,
        gravity=vector(header.gravity),
        fidelity=header.fidelity,
        geometric_stiffening=header.geometric_stiffening,
        bodies=bodies,
        inputs=tuple(header.inputs or ()),
        outputs=tuple(header.outputs or ()),
    )


def schema() -> dict[str, Any]:
    """JSON schema of the model file, from the definitions that check it."""
    return ModelFile.model_json_schema()


_MISSING = object()
MAX_PROBLEMS = 500


def _bodies(data: Any, report: Report) -> list[Entry]:
    expected = str(ModelFile.model_fields["bodies"].description)
    if not isinstance(data, list) or not data:
        found = "no such key" if data is _MISSING else describe(data)
        report.add(("bodies",), expected, found, "add `bodies:` and under it `- name: ...`")
        return []
    entries = []
    for i, item in enumerate(data):
        # Nobody reads that many messages, and the rest of the file need not be looked at to refuse it.
        if len(report.problems) > MAX_PROBLEMS:
            report.fail()
        path = ("bodies", i)
        file = check(BodyFile, item, path, report)
        entries.append(entry(i, item, None if file is None else resolve_body(file, path, report)))
    return entries


def _check_stiffening(data: dict[str, Any], entries: list[Entry], report: Report) -> None:
    nodal = [e.name for e in entries if e.body is not None and e.body.nodal is not None and e.body.mode_count]
    if data.get("geometric_stiffening") is True and nodal:
        expected = "false: a `nodal` body does not say how loads stiffen it"
        cure = "use a `beam`, or an `fe` body that brings its geometric stiffness"
        report.add(("geometric_stiffening",), expected, f"true, with the nodal body {nodal[0]!r}", cure)
