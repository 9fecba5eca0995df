"""From a body of the model to its flexible-body data."""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from bough.errors import ModelError
from bough.flex.beam.beam import Damping, Rayleigh, beam_flex
from bough.flex.beam.frame import Frame, General, LumpedMass, Section, Station
from bough.flex.beam.line import coupled, families
from bough.flex.beam.modes import ALL_MOTIONS, NO_MOTION, Selection, normal_modes
from bough.flex.body import FlexBody
from bough.flex.fe.fe_body import fe_body
from bough.flex.nodal import inertia_matrix, nodal_body
from bough.flex.points import Array
from bough.model import Beam, Body, Hinge
from bough.model.beam_data import GeneralSection, Material
from bough.model.beam_data import Section as Dimensions


@dataclass(frozen=True, eq=False)
class _Solved:
    """A flexible body and what it was solved with, beside its part of the model."""

    hinge: tuple[object, ...]
    stiffening: bool
    flex: FlexBody


# By the identity of a part of the model, for as long as that lives: a model is solved once, whoever asks.
_SOLVED: dict[int, _Solved] = {}
# By what a beam is, for as long as a body made of it lives: equal beams are solved once and share their arrays.
_EQUAL: weakref.WeakValueDictionary[tuple[object, ...], FlexBody] = weakref.WeakValueDictionary()


def flex_body(body: Body, stiffening: bool | None = None) -> FlexBody:
    """The data of a nodal body, a beam or an FE body, solved when first asked for.

    Args:
        body: Of the model.
        stiffening: Whether to prepare geometric stiffening; None: of a beam, and of an FE body that brings it along.

    Raises:
        ModelError: The beam has fewer modes than asked for, its motions couple and families were asked for, its
            damping does not fit its modes, or its numbers are beyond floating point.
    """
    part = body.beam or body.nodal or body.fe
    if part is None:
        raise ValueError(f"body {body.name!r} is rigid: it has no flexible-body data")
    stiffening = (body.fe is None) if stiffening is None else stiffening
    hinge = (body.hinge.type, body.hinge.axes)
    known = _SOLVED.get(id(part))
    if known is not None and known.hinge == hinge and (known.stiffening or not stiffening):
        return known.flex
    flex = _solved(body, stiffening)
    if known is None:
        weakref.finalize(part, _SOLVED.pop, id(part), None)
    _SOLVED[id(part)] = _Solved(hinge, stiffening, flex)
    return flex


def _solved(body: Body, stiffening: bool) -> FlexBody:
    if body.nodal is not None:
        return nodal_body(body.nodal)
    if body.fe is not None:
        return fe_body(body.fe, body.name, stiffening)
    if body.beam is None:
        raise ValueError(body.name)
    try:
        # Absurd numbers overflow quietly here: the modes are refused when they are not finite.
        with np.errstate(all="ignore"):
            flex = _equal_beam(body.beam, body.hinge, stiffening)
            return flex if body.cut is None else replace(flex, damping=cut_damping(body.cut.whole, flex))
    except ModelError as error:
        where = f"body {body.label!r}"
        raise ModelError([replace(problem, file=where) for problem in error.problems]) from None


def _equal_beam(beam: Beam, hinge: Hinge, stiffening: bool) -> FlexBody:
    """The beam, or one that is equal to it and lives."""
    pinned = beam.modes.boundary == "pinned"
    key = (beam.model_dump_json(), hinge.type if pinned else "", hinge.axes if pinned else (), stiffening)
    flex = _EQUAL.get(key)
    if flex is None:
        flex = _EQUAL[key] = _beam_body(beam, hinge, stiffening)
    return flex


def beam_frame(beam: Beam) -> Frame:
    """Axis, rigidities and inertias from the beam of a model."""
    names = beam.node_names
    return Frame(
        corners=np.array(beam.points),
        elements=beam.elements,
        stations=_stations(beam),
        masses=tuple(
            LumpedMass(names.index(mass.node), mass.mass, np.array(mass.com), inertia_matrix(mass.inertia))
            for mass in beam.masses
        ),
        up=np.array(beam.up),
    )


def _stations(beam: Beam) -> tuple[Station, ...]:
    """Sections along the beam; general ones that are plain everywhere become plain, with families of modes."""
    own = [s.section for s in beam.stations]
    general = [_general(section) for section in own if isinstance(section, GeneralSection)]
    if not general:
        material = beam.material
        if material is None:
            raise ValueError("a beam of sections with dimensions and without a material")
        plain = [_section(section, material) for section in own if not isinstance(section, GeneralSection)]
        return tuple(Station(s.at, section) for s, section in zip(beam.stations, plain, strict=True))
    simple = [_plain(section) for section in general]
    found = [section for section in simple if section is not None]
    if len(found) == len(general):
        return tuple(Station(s.at, section) for s, section in zip(beam.stations, found, strict=True))
    return tuple(Station(s.at, section) for s, section in zip(beam.stations, general, strict=True))


def _general(section: GeneralSection) -> General:
    stiffness = np.array(section.stiffness)
    return General(stiffness, section.mass, np.array(section.center), inertia_matrix(section.inertia), section.twist)


def _plain(section: General) -> Section | None:
    """The same section by nine numbers; None if it takes more."""
    K, J = section.stiffness, section.inertia
    diagonal = np.count_nonzero(K - np.diag(np.diag(K))) == 0 and np.count_nonzero(J - np.diag(np.diag(J))) == 0
    polar = abs(J[0, 0] - J[1, 1] - J[2, 2]) <= 1e-9 * J[0, 0]
    if not diagonal or not polar or section.center.any() or section.twist:
        return None
    k = [float(x) for x in np.diag(K)]
    shear = k[1:3] if len(k) == 6 else [math.inf, math.inf]
    return Section(k[0], k[-3], k[-2], k[-1], section.rho_A, float(J[1, 1]), float(J[2, 2]), *shear)


def _section(section: Dimensions, material: Material) -> Section:
    shear_areas = (section.shear_area_y, section.shear_area_z)
    shear = [math.inf if area is None else material.G * area for area in shear_areas]
    return Section(
        EA=material.E * section.area,
        GJ=material.G * section.J,
        EIy=material.E * section.Iy,
        EIz=material.E * section.Iz,
        rho_A=material.rho * section.area,
        rho_Iy=material.rho * section.Iy,
        rho_Iz=material.rho * section.Iz,
        kGAy=shear[0],
        kGAz=shear[1],
    )


def _beam_body(beam: Beam, hinge: Hinge, stiffening: bool) -> FlexBody:
    modes = beam.modes
    released = NO_MOTION
    if modes.boundary == "free":
        released = ALL_MOTIONS
    elif modes.boundary == "pinned":
        released = pinned_rotations(np.array(modes.axes) if modes.axes else hinge_rotations(hinge))
    names = beam.node_names
    return beam_flex(
        beam_frame(beam),
        Selection(modes.count, modes.families or None, modes.max_frequency),
        released,
        names=names,
        interface=[names.index(name) for name in modes.interfaces],
        damping=0.0 if beam.names else _damping(beam),
        stiffening=stiffening,
    )


def cut_damping(whole: Beam, piece: FlexBody) -> Array:
    """Damping of a piece of a beam, (nm, nm), 1/s: beta K, the same material in every piece.

    A ratio z means beta = 2 z / omega with the first frequency of the whole beam, its root held and nothing on it, in
    each family of its own where the beam has families.
    """
    damping = whole.damping
    if damping.rayleigh is not None:
        return damping.rayleigh[1] * piece.stiffness
    if not damping.ratio:
        return np.zeros_like(piece.stiffness)
    first = first_frequencies(whole)
    beta = [2.0 * damping.ratio / first[name.rpartition(" ")[0]] for name in piece.mode_names]
    return np.diag(beta) @ piece.stiffness


@lru_cache(maxsize=32)
def first_frequencies(beam: Beam) -> Mapping[str, float]:
    """The lowest frequency of every family of a beam with its root held, rad/s, by name; of 'mode' without families."""
    frame = beam_frame(beam)
    lines = families(frame.in_own_axes()) if frame.is_decoupled else (coupled(frame),)
    return {line.name: float(normal_modes(line, most=1).omega[0]) for line in lines}


def _damping(beam: Beam) -> Damping:
    damping = beam.damping
    if damping.rayleigh is not None:
        return Rayleigh(*damping.rayleigh)
    if damping.matrix is not None:
        return damping.matrix
    return damping.ratio or 0.0 if damping.ratios is None else damping.ratios


def hinge_rotations(hinge: Hinge) -> Array:
    """Axes that the hinge turns its body about, (n, 3); z for a hinge that does not turn."""
    return hinge.kind.turns(hinge.axes) if hinge.kind.n_rot else np.array([[0.0, 0.0, 1.0]])


def pinned_rotations(axes: Array) -> Array:
    """Root motions that modes pinned about axes (n, 3) release, (6, n)."""
    return np.vstack([axes.T, np.zeros_like(axes.T)])
