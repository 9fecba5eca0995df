"""From the `beam:` entry to a checked beam: its axis, section constants, shear modulus, modes and damping."""

from __future__ import annotations

import numpy as np

from bough.model.beam_data import (
    FAMILIES,
    STATIC_MODES,
    Beam,
    BeamMass,
    BeamModes,
    GeneralSection,
    Material,
    ModalInitial,
    Section,
    Station,
    Vector3,
    beam_node_names,
)
from bough.model.damping import resolve_damping
from bough.model.file_beam import BeamFile, ModalInitialFile
from bough.model.frames import inertia, unit, vector
from bough.model.resolve_cut import CUT_BOUNDARY, check_cut
from bough.model.resolve_section import one_given, resolve_section
from bough.text.kinds import MAX_MODES
from bough.text.problems import Path, Report, describe, one_of

SHORTEST = 1e-9
"""Shortest segment of an axis, over its length."""
PARALLEL = 1e-6
"""Smallest angle, rad, between a segment and `up`."""
BEYOND = 1e-6
"""How far a station may lie beyond the tip, over the length: the length of a polyline is rarely a round number."""


def resolve_beam(file: BeamFile, path: Path, report: Report) -> Beam:
    """The checked beam; what is wrong goes into the report."""
    points, length = _axis(file, path, report)
    up = unit(file.up, (*path, "up"), report)
    _check_up(points, up, file, path, report)
    if file.elements < len(points) - 1:
        expected = f"at least {len(points) - 1} elements, one for each segment of the axis"
        report.add((*path, "elements"), expected, describe(file.elements), "use more elements")
    names = beam_node_names(file.elements)
    modes = _modes(file, names, (*path, "modes"), report)
    cut = file.bodies > 1
    if cut:
        check_cut(file, path, report)
    stations = _stations(file, length, path, report)
    # The modes of a beam that is cut are those of all its pieces, counted when it is.
    count = None if cut else modes.total
    return Beam(
        points=points,
        length=length,
        up=up,
        elements=file.elements,
        stations=stations,
        material=_material(file, stations, path, report),
        masses=_masses(file, names, (*path, "masses"), report),
        modes=modes,
        damping=resolve_damping(file.damping, count, (*path, "damping"), report),
        initial=modal_initial(file.initial, count, (*path, "initial"), report),
        bodies=file.bodies,
    )


def modal_initial(file: ModalInitialFile, count: int | None, path: Path, report: Report) -> ModalInitial:
    """Start values, zero where none are given; as many as there are modes, if that is known."""
    values: dict[str, tuple[float, ...]] = {}
    for key in ("eta", "eta_dot"):
        given = tuple(getattr(file, key)) if key in file.model_fields_set else ()
        if count is None:
            values[key] = given
            continue
        if key in file.model_fields_set and len(given) != count:
            expected = f"a list of {count} numbers, one per mode"
            report.add((*path, key), expected, describe(list(given)), f"give {count} values")
        values[key] = given if len(given) == count else (0.0,) * count
    return ModalInitial(**values)


def _either(file: BeamFile, one: str, other: str, path: Path, report: Report) -> bool:
    """Whether the first of two keys is the one that is given; both or neither are a problem."""
    given = file.model_fields_set
    if one in given and other in given:
        report.add((*path, other), f"either {one} or {other}", "both", f"remove `{one}` or `{other}`")
    elif one not in given and other not in given:
        expected = BeamFile.model_fields[one].description or one
        report.add((*path, one), f"{expected}; or `{other}`", "no such key", f"add `{one}: ...`")
    return other not in given


def _axis(file: BeamFile, path: Path, report: Report) -> tuple[tuple[Vector3, ...], float]:
    """Points of the axis and its length."""
    if _either(file, "length", "points", path, report):
        return ((0.0, 0.0, 0.0), (file.length, 0.0, 0.0)), file.length
    points = tuple(vector(point) for point in file.points)
    lengths = np.linalg.norm(np.diff(np.array(points), axis=0), axis=1)
    for i in np.flatnonzero(lengths <= SHORTEST * lengths.sum()):
        found = f"points[{i}] again" if lengths[i] == 0.0 else f"{lengths[i]:g} m from points[{i}]"
        cure = "remove one of the two"
        report.add((*path, "points", int(i) + 1), "a point away from the one before it", found, cure)
    return points, float(lengths.sum())


def _check_up(points: tuple[Vector3, ...], up: Vector3, file: BeamFile, path: Path, report: Report) -> None:
    segments = np.diff(np.array(points), axis=0)
    lengths = np.linalg.norm(segments, axis=1)
    across = np.linalg.norm(np.cross(segments, np.array(up)), axis=1)
    parallel = np.flatnonzero((lengths > 0.0) & (across <= PARALLEL * lengths))
    if parallel.size:
        i = int(parallel[0])
        expected = "`up`, to which the section's z axis leans, across every segment of the axis"
        found = (
            f"{list(up)}, along the segment from points[{i}]" if "points" in file.model_fields_set else f"{list(up)}"
        )
        free = np.eye(3, dtype=int)[int(np.argmin(np.abs(segments / lengths[:, None]).max(axis=0)))].tolist()
        report.add((*path, "up"), expected, found, f"give another direction, such as `up: {free}`")


def _stations(file: BeamFile, length: float, path: Path, report: Report) -> tuple[Station, ...]:
    if _either(file, "section", "stations", path, report):
        return (Station(at=0.0, section=resolve_section(file.section, (*path, "section"), report)),)
    stations: list[Station] = []
    for i, station in enumerate(file.stations):
        here = (*path, "stations", i)
        section = resolve_section(station.section, (*here, "section"), report)
        if stations and station.at < stations[-1].at:
            expected = f"a place from {stations[-1].at:g} m, the station before, on"
            report.add((*here, "at"), expected, describe(station.at), "list the stations from root to tip")
        elif station.at > length * (1.0 + BEYOND):
            expected = f"a place on the axis, which is {length:g} m long"
            report.add((*here, "at"), expected, describe(station.at), "give the distance from the root in metres")
        if stations and isinstance(section, Section) != isinstance(stations[0].section, Section):
            expected = "all stations by dimensions, or all by rigidities or matrices"
            report.add((*here, "section"), expected, "both kinds", "describe all stations in one way")
        sheared = [s.section for s in (*stations[:1], Station(at=0.0, section=section))]
        if len({len(s.stiffness) for s in sheared if isinstance(s, GeneralSection)}) > 1:
            expected = "shear rigidities at all stations, or at none"
            report.add((*here, "section"), expected, "some with and some without", "give GAy and GAz everywhere")
        for key in ("shear_area_y", "shear_area_z"):
            if not isinstance(section, Section):
                continue
            if stations and (getattr(section, key) is None) != (getattr(stations[0].section, key, None) is None):
                found = "this one without" if getattr(section, key) is None else "stations[0] without"
                expected = f"{key} at all stations, or at none"
                report.add((*here, "section"), expected, found, f"give `{key}` everywhere, or nowhere")
        stations.append(Station(at=station.at, section=section))
    return tuple(stations)


def _material(beam: BeamFile, stations: tuple[Station, ...], path: Path, report: Report) -> Material | None:
    file, needed = beam.material, any(isinstance(s.section, Section) for s in stations)
    if file is None:
        if needed:
            expected = str(BeamFile.model_fields["material"].description)
            report.add((*path, "material"), expected, "no such key", "add `material: ...`")
        return None
    path = (*path, "material")
    if not needed:
        expected = "no material: the sections bring their rigidities and their mass"
        report.add(path, expected, "one", "remove `material`, or give sections by their dimensions")
    key = one_given(file, ("nu", "G"), "Poisson's ratio or the shear modulus", path, report)
    # Isotropic material: G = E / (2 (1 + nu)).
    g = file.G if key == "G" else file.E / (2.0 * (1.0 + file.nu))
    return Material(E=file.E, G=g, rho=file.rho)


def _check_node(name: str, names: tuple[str, ...], path: Path, report: Report) -> None:
    if name not in names:
        close = report.suggest(name, names)
        cure = "name one of the nodes" if close is None else f"did you mean '{close}'?"
        report.add(path, f"one of the nodes {one_of(names)}", describe(name), cure)


def _masses(file: BeamFile, names: tuple[str, ...], path: Path, report: Report) -> tuple[BeamMass, ...]:
    masses = []
    for i, mass in enumerate(file.masses):
        _check_node(mass.at, names, (*path, i, "at"), report)
        moments = inertia(mass.inertia, (*path, i, "inertia"), report)
        masses.append(BeamMass(node=mass.at, mass=mass.mass, com=vector(mass.com), inertia=moments))
    return tuple(masses)


def _modes(file: BeamFile, names: tuple[str, ...], path: Path, report: Report) -> BeamModes:
    given, cut = file.modes.model_fields_set, file.bodies > 1
    if "modes" not in file.model_fields_set and not cut:
        expected = str(BeamFile.model_fields["modes"].description)
        report.add(path, expected, "no such key", "add `modes: ...`")
        return BeamModes(boundary="cantilever", count=0)
    families = [name for name in FAMILIES if name in given]
    if "count" in given and families:
        expected = f"either count, or numbers for {', '.join(FAMILIES)}"
        found = f"both count and {', '.join(families)}"
        report.add(path, expected, found, "write e.g. {boundary: cantilever, count: 4}")
    elif not families and not {"count", "max_frequency"} & given and not cut:
        expected = f"either count, or numbers for {', '.join(FAMILIES)}, or max_frequency"
        report.add(path, expected, "neither", "write e.g. {boundary: cantilever, count: 4}")
    modes = BeamModes(
        boundary=CUT_BOUNDARY if cut else file.modes.boundary,
        count=file.modes.count if "count" in given or (cut and not families) else None,
        max_frequency=file.modes.max_frequency if "max_frequency" in given else None,
        axes=_pin_axes(file, path, report),
        interfaces=("tip",) if cut else _interfaces(file, names, (*path, "interfaces"), report),
        **({name: getattr(file.modes, name) for name in FAMILIES} if families and "count" not in given else {}),
    )
    _check_numbers(modes, max(file.elements // file.bodies, 1), path, report)
    return modes


def _check_numbers(modes: BeamModes, elements: int, path: Path, report: Report) -> None:
    """No more modes than the elements, of the shortest piece if the beam is cut, have.

    A beam held at one end, or free without its rigid motions, has six elastic modes per element: two in each bending
    plane, one in torsion, one in tension. Every interface that is held too takes six away.
    """
    cure = "keep fewer modes, or use more elements"
    inner = elements - len(modes.interfaces)
    for name, number in modes.families.items():
        most = inner * (2 if name.startswith("bending") else 1)
        if number > most:
            expected = f"at most {most} {name} modes from {elements} elements"
            report.add((*path, name), expected, describe(number), cure)
    total = (modes.count or 0) + STATIC_MODES * len(modes.interfaces)
    if modes.count is not None and total > 6 * elements:
        expected = f"at most {6 * elements} modes from {elements} elements"
        report.add((*path, "count"), expected, f"{total} modes", cure)
    check_mode_count(total + sum(modes.families.values()), path, report)


def check_mode_count(count: int, path: Path, report: Report) -> None:
    """No more modes than the tables of a body have room for."""
    if count > MAX_MODES:
        cure = "keep fewer modes: tables hold the cube of their number"
        report.add(path, f"at most {MAX_MODES} modes", f"{count} modes", cure)


def _pin_axes(file: BeamFile, path: Path, report: Report) -> tuple[Vector3, ...]:
    """Unit vectors about which pinned modes turn; none if the hinge tells."""
    given = [key for key in ("axis", "axes") if key in file.modes.model_fields_set]
    if given and file.modes.boundary != "pinned":
        expected = "`boundary: pinned`, whose modes turn about an axis"
        report.add((*path, given[0]), expected, f"`boundary: {file.modes.boundary}`", f"remove `{given[0]}`")
    if len(given) == 2:
        report.add((*path, "axes"), "either axis or axes", "both", "remove `axis` or `axes`")
    if not given:
        return ()
    if given[0] == "axis":
        return (unit(file.modes.axis, (*path, "axis"), report),)
    return tuple(unit(axis, (*path, "axes", i), report) for i, axis in enumerate(file.modes.axes))


def _interfaces(file: BeamFile, names: tuple[str, ...], path: Path, report: Report) -> tuple[str, ...]:
    """Interface nodes of a Craig-Bampton set; none for other boundaries."""
    given = "interfaces" in file.modes.model_fields_set
    if file.modes.boundary != "craig-bampton":
        if given:
            expected = "`boundary: craig-bampton`, whose static modes belong to interfaces"
            report.add(path, expected, f"`boundary: {file.modes.boundary}`", "remove `interfaces`")
        return ()
    for i, name in enumerate(file.modes.interfaces):
        if name == "root":
            cure = "remove it: the root is an interface as it is"
            report.add((*path, i), "a node other than root, which is held", describe(name), cure)
        elif name in file.modes.interfaces[:i]:
            report.add((*path, i), "every node once", f"{name!r} again", "remove it")
        else:
            _check_node(name, names, (*path, i), report)
    return tuple(file.modes.interfaces)
