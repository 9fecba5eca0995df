"""From `forces:` to checked ones: names, ends, coefficients that fit the type."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bough.model.ends import resolve_ends
from bough.model.file_forces import ForceFile, ForceType
from bough.model.frames import unit
from bough.model.model import Body, Force, Matrix
from bough.model.resolve_loops import take_name
from bough.model.tree import GROUND
from bough.text.problems import Path, Report, describe

Table = tuple[tuple[float, float], ...]

KEYS: dict[ForceType, tuple[str, ...]] = {
    "spring": ("stiffness", "damping", "length", "only"),
    "actuator": (),
    "bushing": ("stiffness", "damping"),
    "contact": ("normal", "radius", "stiffness", "damping", "exponent", "law", "friction", "slip"),
}
"""Keys beside name, type, between and frames."""
SLIP = 1e-3
"""Slip at which regularized friction has 71 % of its force, m/s, where the file does not say."""


def resolve_forces(
    files: Sequence[ForceFile], bodies: Sequence[Body], names: set[str], report: Report
) -> tuple[Force, ...]:
    """The checked forces; `names` that are taken grows by theirs."""
    nodes = {b.name: b.node_names for b in bodies}
    rigid = {b.name for b in bodies if b.rigid is not None} | {GROUND}
    forces = []
    for i, file in enumerate(files):
        path: Path = ("forces", i)
        name = file.name or f"force{i + 1}"
        take_name(name, "force", (*path, "name"), names, report)
        _check_keys(file, path, report)
        ends = resolve_ends(file.between, file.frames, nodes, path, report)
        if ends[0].body == ends[1].body and ends[0].body in rigid and file.between[0] != file.between[1]:
            cure = "name nodes of two bodies, or of a flexible one"
            found = f"both on {ends[0].body!r}"
            report.add((*path, "between"), "two nodes that can move against each other", found, cure)
        force = Force(name=name, type=file.type, ends=ends)
        if file.type == "spring":
            force = _spring(file, force, path, report)
        elif file.type == "bushing":
            force = _bushing(file, force, path, report)
        elif file.type == "contact":
            force = _contact(file, force, path, report)
        forces.append(force)
    return tuple(forces)


def _check_keys(file: ForceFile, path: Path, report: Report) -> None:
    known = ("name", "type", "between", "frames", *KEYS[file.type])
    for key in sorted(file.model_fields_set - set(known)):
        owners = [t for t, keys in KEYS.items() if key in keys]
        cure = f"remove it: {' and '.join(owners)} {'has' if len(owners) == 1 else 'have'} one"
        report.add((*path, key), f"no `{key}` for {_a(file.type)}", "it is there", cure)


def _a(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def _spring(file: ForceFile, force: Force, path: Path, report: Report) -> Force:
    if file.stiffness is None and file.damping is None:
        cure = "write e.g. `stiffness: 1000.0`; a force that an input gives is an actuator"
        report.add((*path, "stiffness"), "a stiffness or a damping, or both", "neither", cure)
    k, k_table = _number_or_table(file.stiffness, (*path, "stiffness"), "m", report)
    d, d_table = _number_or_table(file.damping, (*path, "damping"), "m/s", report)
    return force.model_copy(
        update={
            "stiffness": k,
            "damping": d,
            "stiffness_table": k_table,
            "damping_table": d_table,
            "length": file.length,
            "only": file.only,
        }
    )


def _number_or_table(value: object, path: Path, unit_: str, report: Report) -> tuple[float, Table]:
    """A coefficient, 0 or more, or the points of a table."""
    if value is None:
        return 0.0, ()
    if not isinstance(value, list):
        number = float(value)  # type: ignore[arg-type]
        if number < 0.0:
            report.add(path, "a number, 0 or more", describe(value), "check its sign: a positive one pulls back")
        return number, ()
    rows = value if all(isinstance(row, list) and len(row) == 2 for row in value) else None
    if rows is None or len(rows) < 2:
        expected = f"a table of at least two points [[x, f], ...], x in {unit_}, f in N"
        report.add(path, expected, describe(value), f"write e.g. [[{_EXAMPLE[unit_]}]]".replace("[[[", "[["))
        return 0.0, ()
    table = tuple((float(x), float(f)) for x, f in rows)
    _check_table(table, path, unit_, report)
    return 0.0, table


_EXAMPLE = {"m": "[-0.01, -20], [0, 0], [0.01, 50]", "m/s": "[-1, -200], [0, 0], [1, 50]"}


def _check_table(table: Table, path: Path, unit_: str, report: Report) -> None:
    """First column rising, second not falling, both through zero: what pulls back grows with what stretches."""
    what = "elongation" if unit_ == "m" else "speed"
    for i in range(1, len(table)):
        if table[i][0] <= table[i - 1][0]:
            found = f"{table[i][0]!r} after {table[i - 1][0]!r}"
            report.add((*path, i), f"an {what} above the one before, {unit_}", found, "sort the table; no value twice")
            return
        if table[i][1] < table[i - 1][1]:
            cure = f"give the force that resists: it grows with the {what}, positive when stretched"
            found = f"{table[i][1]!r} after {table[i - 1][1]!r}"
            report.add((*path, i), "a force no smaller than the one before, N", found, cure)
            return
    if not table[0][0] <= 0.0 <= table[-1][0]:
        cure = "count from the free length" if unit_ == "m" else "let it begin at a negative speed, or at 0"
        found = f"{table[0][0]!r} to {table[-1][0]!r}"
        report.add(path, f"a table whose {what} begins at or below 0 and ends at or above it, {unit_}", found, cure)
    elif unit_ == "m/s" and _at_zero(table) != 0.0:
        found = f"{_at_zero(table):g} N"
        report.add(
            path, "no force at speed 0", found, "let the table go through [0, 0]: a force at rest is not damping"
        )


def _at_zero(table: Table) -> float:
    return float(np.interp(0.0, [x for x, _ in table], [f for _, f in table]))


def _bushing(file: ForceFile, force: Force, path: Path, report: Report) -> Force:
    if file.stiffness is None:
        report.add((*path, "stiffness"), _SIX, "no such key", "write e.g. [100, 100, 100, 1e5, 1e5, 1e5]")
    K = _six(file.stiffness, (*path, "stiffness"), report)
    return force.model_copy(
        update={"stiffness_matrix": K, "damping_matrix": _six(file.damping, (*path, "damping"), report)}
    )


_SIX = "6 numbers (rotation, then translation) or a symmetric matrix of 6 x 6"


def _six(value: object, path: Path, report: Report) -> Matrix:
    matrix = np.zeros((6, 6))
    if value is not None:
        rows = value if isinstance(value, list) else []
        if len(rows) == 6 and not any(isinstance(row, list) for row in rows):
            matrix = np.diag(np.array(rows, dtype=np.float64))
        elif len(rows) == 6 and all(isinstance(row, list) and len(row) == 6 for row in rows):
            matrix = np.array(rows, dtype=np.float64)
        else:
            report.add(path, _SIX, describe(value), "write six of them; N.m/rad first, then N/m")
    scale = float(np.abs(matrix).max())
    if np.abs(matrix - matrix.T).max() > 1e-9 * scale:
        report.add(path, _SIX, "a matrix that is not symmetric", "make it symmetric: it would create energy")
    elif np.linalg.eigvalsh(0.5 * (matrix + matrix.T)).min() < -1e-9 * scale:
        report.add(path, f"{_SIX}, without negative eigenvalues", "one that is negative", "check signs and units")
    half = 0.5 * (matrix + matrix.T)
    return tuple(tuple(float(x) for x in row) for row in half)


def _contact(file: ForceFile, force: Force, path: Path, report: Report) -> Force:
    pair = isinstance(file.radius, list)
    radius = tuple(float(r) for r in (file.radius if isinstance(file.radius, list) else [file.radius or 1.0]))
    if file.radius is None:
        expected = "the radius of the sphere on the first node, m, or of two spheres"
        report.add((*path, "radius"), expected, "no such key", "write e.g. `radius: 0.02`")
    elif pair == (file.normal is not None):
        expected = "`normal` and one `radius` (sphere on a plane), or `radius: [r1, r2]` (two spheres)"
        found = "a normal and two radii" if pair else "one radius and no normal"
        report.add((*path, "radius"), expected, found, "write `normal: [0, 0, 1]`, or a second radius")
    if not isinstance(file.stiffness, float) or file.stiffness <= 0.0:
        found = "no such key" if file.stiffness is None else describe(file.stiffness)
        report.add((*path, "stiffness"), "a number, more than 0: N/m^exponent", found, "write e.g. `stiffness: 1e5`")
    damping = file.damping if isinstance(file.damping, float) else 0.0
    if (file.damping is not None and not isinstance(file.damping, float)) or damping < 0.0:
        report.add((*path, "damping"), "a number, 0 or more", describe(file.damping), "write e.g. `damping: 10`")
    normal = (0.0, 0.0, 1.0)
    return force.model_copy(
        update={
            "stiffness": file.stiffness if isinstance(file.stiffness, float) else 1.0,
            "damping": damping,
            "normal": unit(file.normal, (*path, "normal"), report) if file.normal is not None else normal,
            "radius": radius,
            "exponent": 1.0 if file.exponent is None else file.exponent,
            "law": file.law or "linear",
            "friction": file.friction or 0.0,
            "slip": SLIP if file.slip is None else file.slip,
        }
    )
