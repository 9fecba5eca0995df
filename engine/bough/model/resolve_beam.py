"""From the `beam:` entry to a checked beam: section constants, shear modulus, one damping value per mode."""

from __future__ import annotations

import math

from bough.model.beam import FAMILIES, Beam, BeamDamping, BeamModes, Material, ModalInitial, Section
from bough.model.file_beam import (
    BeamFile,
    BeamModesFile,
    Box,
    Circle,
    MaterialFile,
    ModalInitialFile,
    Rayleigh,
    Rectangle,
    SectionFile,
    SectionNumbers,
    Tube,
)
from bough.model.report import Path, Report, describe

Dimensions = tuple[float, float, float, float]
"""area (m^2), Iy, Iz, J (m^4)."""


def resolve_beam(file: BeamFile, path: Path, report: Report) -> Beam:
    """The checked beam; what is wrong goes into the report."""
    modes = _modes(file.modes, file.elements, (*path, "modes"), report)
    return Beam(
        length=file.length,
        elements=file.elements,
        section=_section(file.section, (*path, "section"), report),
        material=_material(file.material, (*path, "material"), report),
        modes=modes,
        damping=_damping(file, modes.total, (*path, "damping"), report),
        initial=modal_initial(file.initial, modes.total, (*path, "initial"), report),
    )


def modal_initial(file: ModalInitialFile, count: int, path: Path, report: Report) -> ModalInitial:
    """Start values, zero where none are given; as many as there are modes."""
    values: dict[str, tuple[float, ...]] = {}
    for key in ("eta", "eta_dot"):
        given = tuple(getattr(file, key))
        if key in file.model_fields_set and len(given) != count:
            expected = f"a list of {count} numbers, one per mode"
            report.add((*path, key), expected, describe(list(given)), f"give {count} values")
        values[key] = given if len(given) == count else (0.0,) * count
    return ModalInitial(**values)


def _one_of(file: object, keys: tuple[str, ...], what: str, path: Path, report: Report) -> str | None:
    """The one key of several that is given; none or two are a problem."""
    given = [key for key in keys if key in getattr(file, "model_fields_set", ())]
    if len(given) == 1:
        return given[0]
    found = f"both {' and '.join(given)}" if given else "none of them"
    report.add(path, f"exactly one of {', '.join(keys)}: {what}", found, "give one of them")
    return None


def _section(file: SectionFile, path: Path, report: Report) -> Section:
    if isinstance(file, SectionNumbers):
        area, iy, iz, j = file.area, file.Iy, file.Iz, file.J
    elif isinstance(file, Rectangle):
        area, iy, iz, j = _rectangle(file.width, file.height)
    elif isinstance(file, Box):
        area, iy, iz, j = _box(file, path, report)
    elif isinstance(file, Circle):
        key = _one_of(file, ("radius", "diameter"), "the size of the circle", path, report)
        area, iy, iz, j = _ring(file.radius if key == "radius" else file.diameter / 2.0, 0.0)
    else:
        area, iy, iz, j = _tube(file, path, report)
    if not report.problems and min(area, iy, iz, j) <= 0.0:
        found = f"area {area:g} m^2, Iy {iy:g}, Iz {iz:g}, J {j:g} m^4"
        report.add(path, "a section whose constants are above 0", found, "give the dimensions in metres")
    return Section(
        area=area,
        Iy=iy,
        Iz=iz,
        J=j,
        shear_area_y=file.shear_area_y if "shear_area_y" in file.model_fields_set else None,
        shear_area_z=file.shear_area_z if "shear_area_z" in file.model_fields_set else None,
    )


def _rectangle(width: float, height: float) -> Dimensions:
    """Solid rectangle; J by Saint-Venant's series for the sides a >= b.

    J = a b^3 / 3 (1 - 192 b / (pi^5 a) sum over odd n of tanh(n pi a / 2 b) / n^5)
    """
    a, b = max(width, height), min(width, height)
    # The terms fall like n^-5: with 40 of them what is left is below 1e-8 of the sum's first term.
    total = math.fsum(math.tanh(n * math.pi * a / (2.0 * b)) / n**5 for n in range(1, 400, 2))
    j = a * b**3 / 3.0 * (1.0 - 192.0 * b / (math.pi**5 * a) * total)
    return width * height, width * height**3 / 12.0, height * width**3 / 12.0, j


def _box(file: Box, path: Path, report: Report) -> Dimensions:
    """Hollow rectangle; J by Bredt's formula for thin walls, on the wall's middle line."""
    w, h, t = file.width, file.height, file.thickness
    if 2.0 * t >= min(w, h):
        report.add(
            (*path, "thickness"),
            f"a wall thinner than half the smaller side, {min(w, h) / 2.0:g} m",
            describe(t),
            "use `shape: rectangle` for a solid section",
        )
        return (1.0, 1.0, 1.0, 1.0)
    wi, hi = w - 2.0 * t, h - 2.0 * t
    j = 2.0 * t * (w - t) ** 2 * (h - t) ** 2 / ((w - t) + (h - t))
    return w * h - wi * hi, (w * h**3 - wi * hi**3) / 12.0, (h * w**3 - hi * wi**3) / 12.0, j


def _tube(file: Tube, path: Path, report: Report) -> Dimensions:
    outer_keys = ("radius", "diameter", "outer_radius", "outer_diameter")
    outer_key = _one_of(file, outer_keys, "the outer size", path, report)
    inner_key = _one_of(file, ("thickness", "inner_radius", "inner_diameter"), "the wall", path, report)
    if outer_key is None or inner_key is None:
        return (1.0, 1.0, 1.0, 1.0)
    outer = getattr(file, outer_key) / (2.0 if "diameter" in outer_key else 1.0)
    given = getattr(file, inner_key)
    inner = {"thickness": outer - given, "inner_radius": given, "inner_diameter": given / 2.0}[inner_key]
    if not 0.0 <= inner < outer:
        cure = "check radius against diameter, and the units"
        expected = f"a wall between 0 and the outer radius, {outer:g} m"
        report.add((*path, inner_key), expected, describe(given), cure)
    return _ring(outer, inner)


def _ring(outer: float, inner: float) -> Dimensions:
    i = math.pi * (outer**4 - inner**4) / 4.0
    return math.pi * (outer**2 - inner**2), i, i, 2.0 * i


def _material(file: MaterialFile, path: Path, report: Report) -> Material:
    key = _one_of(file, ("nu", "G"), "Poisson's ratio or the shear modulus", path, report)
    # Isotropic material: G = E / (2 (1 + nu)).
    g = file.G if key == "G" else file.E / (2.0 * (1.0 + file.nu))
    return Material(E=file.E, G=g, rho=file.rho)


def _modes(file: BeamModesFile, elements: int, path: Path, report: Report) -> BeamModes:
    given = file.model_fields_set
    families = [name for name in FAMILIES if name in given]
    if ("count" in given) == bool(families):
        found = f"both count and {', '.join(families)}" if families else "neither"
        expected = f"either count, or numbers for {', '.join(FAMILIES)}"
        report.add(path, expected, found, "write e.g. {boundary: cantilever, count: 4}")
    if families:
        modes = BeamModes(boundary=file.boundary, **{name: getattr(file, name) for name in FAMILIES})
    else:
        modes = BeamModes(boundary=file.boundary, count=file.count)
    # A beam held at one end, or free without its rigid motions, has six elastic modes per element:
    # two in each bending plane, one in torsion, one in tension. Held at both ends it has an element's less.
    cure = "keep fewer modes, or use more elements"
    inner = elements - (file.boundary == "craig-bampton")
    for name, number in modes.families.items():
        most = inner * (2 if name.startswith("bending") else 1)
        if number > most:
            expected = f"at most {most} {name} modes from {elements} elements"
            report.add((*path, name), expected, describe(number), cure)
    if modes.count is not None and modes.total > 6 * elements:
        expected = f"at most {6 * elements} modes from {elements} elements"
        report.add((*path, "count"), expected, f"{modes.total} modes", cure)
    return modes


def _damping(file: BeamFile, count: int, path: Path, report: Report) -> BeamDamping:
    damping = file.damping
    if isinstance(damping, Rayleigh):
        alpha, beta = damping.rayleigh
        if min(alpha, beta) < 0.0:
            expected = "alpha and beta of 0 or more"
            report.add((*path, "rayleigh"), expected, describe(damping.rayleigh), "use positive values")
        return BeamDamping(rayleigh=(alpha, beta))
    if not isinstance(damping, list):
        return BeamDamping(ratios=(float(damping),) * count)
    if len(damping) != count:
        found = describe(damping)
        report.add(path, f"one ratio, or a list of {count}, one per mode", found, f"give {count} values")
    return BeamDamping(ratios=tuple(damping))
