"""What a beam that is cut into bodies may say, and what it may not."""

from __future__ import annotations

from bough.model.beam_data import Boundary
from bough.model.damping import DampingMapping
from bough.model.file_beam import BeamFile
from bough.text.problems import Path, Report, describe

CUT_BOUNDARY: Boundary = "craig-bampton"
"""Of the pieces of a beam: their tips carry moments."""


def check_cut(file: BeamFile, path: Path, report: Report) -> None:
    """Elements, modes and damping of a beam with `bodies`; what is wrong goes into the report."""
    if file.elements < file.bodies:
        expected = f"at least {file.bodies} elements, one for each of the bodies"
        report.add((*path, "elements"), expected, describe(file.elements), "use more elements, or fewer bodies")
    given = file.modes.model_fields_set
    if "boundary" in given and file.modes.boundary != CUT_BOUNDARY:
        expected = f"{CUT_BOUNDARY}, or no boundary, for a beam cut into bodies"
        cure = "remove `boundary`: other modes carry no moment where the beam is cut, and converge to a wrong limit"
        report.add((*path, "modes", "boundary"), expected, describe(file.modes.boundary), cure)
    for key in ("interfaces", "max_frequency", "axis", "axes"):
        if key in given and not (key.startswith("ax") and "boundary" in given):
            cure = "remove it: every node that carries a hinge or a mass is an interface"
            if key != "interfaces":
                cure = "remove it, or give `count`: modes of each body beyond its static ones"
            report.add((*path, "modes", key), "no such key for a beam cut into bodies", "there", cure)
    _check_damping(file, (*path, "damping"), report)


def _check_damping(file: BeamFile, path: Path, report: Report) -> None:
    """Damping in proportion to stiffness is the same for a beam and for its pieces; nothing else is."""
    damping = file.damping
    expected = "one ratio, at the first frequency, or {rayleigh: [0, beta]}, for a beam cut into bodies"
    cure = "give one ratio: it grows with the frequency, as that of a material does"
    if isinstance(damping, list):
        report.add(path, expected, "a list of ratios", cure)
    elif isinstance(damping, DampingMapping):
        if "matrix" in damping.model_fields_set:
            report.add(path, expected, "a matrix", cure)
        elif damping.rayleigh[0] != 0.0:
            expected = "alpha 0 for a beam cut into bodies: its pieces do not know how the whole moves"
            report.add((*path, "rayleigh"), expected, describe(damping.rayleigh), "give [0, beta], or one ratio")
