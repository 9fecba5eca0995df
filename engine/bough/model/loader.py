"""From a file or a mapping to a checked model, with everything that is wrong reported at once."""

from __future__ import annotations

import os
from typing import Any

from bough.model.cut import cut_bodies
from bough.model.file import BodyFile, HeaderFile, ModelFile
from bough.model.file_space import PointGravityFile
from bough.model.frames import vector
from bough.model.mobility import check_mobility
from bough.model.model import Model, PointGravity
from bough.model.resolve_body import resolve_body
from bough.model.resolve_drives import check_starts, rotors
from bough.model.resolve_forces import resolve_forces
from bough.model.resolve_loops import resolve_couplings, resolve_loops
from bough.model.resolve_wheels import expand_wheels
from bough.model.sensors import split_outputs, with_sensors
from bough.model.single_axis import check_turning
from bough.model.synonyms import MODEL_WORDS
from bough.model.tree import Entry, check_ports, check_tree, entry
from bough.text.compose import Data
from bough.text.problems import Report, describe
from bough.text.source import ModelSource, read
from bough.text.translate import check


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
    report = Report(read_source.file, read_source.line_of, read_source.folder, MODEL_WORDS)
    data = dict(read_source.data)
    _check_no_system(data, report)
    bodies_data = data.pop("bodies", _MISSING)
    header = check(HeaderFile, data, (), report, whole=ModelFile)
    files: list[BodyFile] = []
    entries = _bodies(bodies_data, report, files)
    check_tree(entries, report)
    for key in ("inputs", "outputs"):
        ports = data.get(key)
        # Without any body every node would be unknown, which is no news.
        if entries and isinstance(ports, list) and all(isinstance(port, str) for port in ports):
            check_ports(key, ports, entries, report)
    _check_stiffening(data, entries, report)
    report.fail_if_any()
    bodies = tuple(e.body for e in entries if e.body is not None)
    check_mobility(bodies, report)
    check_turning(bodies, report)
    check_starts(bodies, bool(header.loops or header.couplings), report)
    names = {b.name for b in bodies} | {b.hinge.name for b in bodies}
    loops = resolve_loops(header.loops or (), bodies, names, report)
    couplings = resolve_couplings(header.couplings or (), bodies, names, report)
    forces = resolve_forces(header.forces or (), bodies, names, report)
    report.fail_if_any()
    bodies = expand_wheels({b.name: f for b, f in zip(bodies, files, strict=True)}, bodies, report)
    report.fail_if_any()
    bodies = cut_bodies(bodies, report)
    report.fail_if_any()
    gravity = header.gravity
    field = (
        PointGravity(mu=gravity.mu, center=vector(gravity.center)) if isinstance(gravity, PointGravityFile) else None
    )
    outputs, local, deflections = split_outputs(header.outputs or ())
    bodies = with_sensors(bodies, outputs)
    added, rigid = rotors(bodies)
    return Model(
        name=header.name,
        gravity=(0.0, 0.0, 0.0) if field is not None else vector(header.gravity),
        field=field,
        fidelity=header.fidelity,
        geometric_stiffening=header.geometric_stiffening,
        bodies=bodies + added,
        inputs=tuple(header.inputs or ()),
        outputs=outputs,
        local=local,
        deflections=deflections,
        loops=loops,
        couplings=couplings + rigid,
        forces=forces,
    )


def schema() -> dict[str, Any]:
    """JSON schema of the model file, from the definitions that check it."""
    return ModelFile.model_json_schema()


_MISSING = object()
MAX_PROBLEMS = 500


def _check_no_system(data: dict[str, Data], report: Report) -> None:
    """Refuse the other kind of file that bough reads in one sentence: as a model every key of it is unknown."""
    if "bough_system" not in data and not {"components", "connections"} <= set(data):
        return
    file = report.file
    stem = os.path.splitext(os.path.basename(file))[0] if os.path.splitext(file)[1] else "X"
    cure = f"couple it with `bough couple {file} -o {stem}.ssp`, then `bough run {stem}.ssp`"
    models = _models_coupled(data.get("components"))
    if models:
        cure += f"; the model in it is {' or '.join(models[:3])}"
    key = "bough_system" if "bough_system" in data else "components"
    report.add((key,), "a model, with the keys `bough: 1` and `bodies`", "a system file, not a model", cure)
    report.fail()


def _models_coupled(components: Data) -> list[str]:
    """Paths of the model files among the components of a system file."""
    entries = list(components.values()) if isinstance(components, dict) else []
    paths = [entry.get("model") if isinstance(entry, dict) else entry for entry in entries]
    return [path for path in paths if isinstance(path, str) and path.lower().endswith((".yaml", ".yml", ".json"))]


def _bodies(data: Any, report: Report, files: list[BodyFile]) -> list[Entry]:
    expected = str(ModelFile.model_fields["bodies"].description)
    if data is _MISSING and ("bodies",) in report.corrected:
        return []  # a misspelt key is one mistake, and reported already
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
        if file is not None:
            files.append(file)
        entries.append(entry(i, item, None if file is None else resolve_body(file, path, report)))
    return entries


def _check_stiffening(data: dict[str, Any], entries: list[Entry], report: Report) -> None:
    nodal = [e.name for e in entries if e.body is not None and e.body.nodal is not None and e.body.mode_count]
    if data.get("geometric_stiffening") is True and nodal:
        expected = "false: a `nodal` body does not say how loads stiffen it"
        cure = "use a `beam`, or an `fe` body that brings its geometric stiffness"
        report.add(("geometric_stiffening",), expected, f"true, with the nodal body {nodal[0]!r}", cure)
