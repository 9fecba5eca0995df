"""From a section as written to its constants: area, second moments, torsion constant."""

from __future__ import annotations

import math

from bough.model.beam_data import GeneralSection, Section
from bough.model.file_beam import (
    Box,
    Circle,
    Rectangle,
    SectionFile,
    SectionMatrices,
    SectionNumbers,
    SectionRigidities,
    Tube,
    WideFlange,
)
from bough.model.resolve_general import matrices, rigidities
from bough.text.problems import Path, Report, describe

Dimensions = tuple[float, float, float, float]
"""area (m^2), Iy, Iz, J (m^4)."""


def one_given(file: object, keys: tuple[str, ...], what: str, path: Path, report: Report) -> str | None:
    """The one key of several that is given; none or two are a problem."""
    given = [key for key in keys if key in getattr(file, "model_fields_set", ())]
    if len(given) == 1:
        return given[0]
    found = f"both {' and '.join(given)}" if given else "none of them"
    report.add(path, f"exactly one of {', '.join(keys)}: {what}", found, "give one of them")
    return None


def resolve_section(file: SectionFile, path: Path, report: Report) -> Section | GeneralSection:
    """The constants of a section; what is wrong goes into the report."""
    if isinstance(file, SectionRigidities):
        return rigidities(file, path, report)
    if isinstance(file, SectionMatrices):
        return matrices(file, path, report)
    if isinstance(file, SectionNumbers):
        area, iy, iz, j = file.area, file.Iy, file.Iz, file.J
    elif isinstance(file, Rectangle):
        area, iy, iz, j = _rectangle(file.width, file.height)
    elif isinstance(file, Box):
        area, iy, iz, j = _box(file, path, report)
    elif isinstance(file, WideFlange):
        area, iy, iz, j = _wide_flange(file, path, report)
    elif isinstance(file, Circle):
        key = one_given(file, ("radius", "diameter"), "the size of the circle", path, report)
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


def _wide_flange(file: WideFlange, path: Path, report: Report) -> Dimensions:
    """I-section; J of open thin walls, the sum of s t^3 / 3 over their middle lines s, fillets left out."""
    w, h, flange, web = file.width, file.height, file.flange, file.web
    if 2.0 * flange >= h:
        expected = f"a flange thinner than half the height, {h / 2.0:g} m"
        report.add((*path, "flange"), expected, describe(flange), "use `shape: rectangle` for a solid section")
        return (1.0, 1.0, 1.0, 1.0)
    if web > w:
        expected = f"a web no thicker than the flanges are wide, {w:g} m"
        report.add((*path, "web"), expected, describe(web), "check web against flange and width, and the units")
        return (1.0, 1.0, 1.0, 1.0)
    clear = h - 2.0 * flange
    iy = (w * h**3 - (w - web) * clear**3) / 12.0
    iz = (2.0 * flange * w**3 + clear * web**3) / 12.0
    return 2.0 * w * flange + clear * web, iy, iz, (2.0 * w * flange**3 + (h - flange) * web**3) / 3.0


def _tube(file: Tube, path: Path, report: Report) -> Dimensions:
    outer_keys = ("radius", "diameter", "outer_radius", "outer_diameter")
    outer_key = one_given(file, outer_keys, "the outer size", path, report)
    inner_key = one_given(file, ("thickness", "inner_radius", "inner_diameter"), "the wall", path, report)
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
