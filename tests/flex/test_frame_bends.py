"""Geometric stiffening of beams: buckling loads, spinning beams, and the motion of a beam that is bent for good."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flex.sample import bar, motions, rectangular, slender
from flex.test_frame import PART, stair
from scipy.integrate import simpson
from scipy.linalg import eigh, expm

from bough.flex.beam import frame_bends
from bough.flex.beam.beam import beam_flex
from bough.flex.beam.frame import RX, RY, RZ, Frame, LumpedMass, Station, straight
from bough.flex.beam.modes import ALL_MOTIONS, NO_MOTION, Selection
from bough.flex.body import FlexBody
from bough.flex.integrals import Stiffening, skew

TIP = -1


def tables(body: FlexBody) -> Stiffening:
    assert body.stiffening is not None
    return body.stiffening


def buckling(body: FlexBody, node: int, direction: int, family: str = "") -> float:
    """Smallest load on a node along +-axis at which K - P H of a family's modes is singular, N."""
    kept = [i for i, name in enumerate(body.mode_names) if name.startswith(family)]
    bends = tables(body).node_bends[node, direction]
    loads = 1.0 / eigh(bends[np.ix_(kept, kept)], body.stiffness[np.ix_(kept, kept)], eigvals_only=True)
    return float(np.abs(loads).min())


def test_a_column_buckles_under_eulers_load() -> None:
    beam = rectangular(1.3, 40, height=0.02, width=0.03)
    body = beam_flex(beam, Selection(per_family={"bending_y": 10}))
    euler = np.pi**2 * beam.section.EIy / (4.0 * beam.length**2)
    assert buckling(body, TIP, 0) == pytest.approx(euler, rel=1e-3)
    # Pulling stiffens: no load along +x makes it singular.
    assert np.all(np.linalg.eigvalsh(tables(body).node_bends[TIP, 0]) < 1e-12)


def test_a_column_that_shears_buckles_under_engessers_load() -> None:
    beam = rectangular(0.3, 40, height=0.1, width=0.05, kappa=0.1)
    # Static shapes of the tip, since cantilever modes shear the tip little: 24 of them leave 0.5 %.
    body = beam_flex(beam, Selection(per_family={"bending_y": 20}), interface=(40,))
    euler = np.pi**2 * beam.section.EIy / (4.0 * beam.length**2)
    engesser = euler / (1.0 + euler / beam.section.kGAz)
    assert engesser < 0.8 * euler
    assert buckling(body, TIP, 0, "bending_y") == pytest.approx(engesser, rel=1e-3)


def test_a_narrow_beam_buckles_sideways() -> None:
    # Tip load across a deep cantilever: 4.0126 sqrt(EIz GJ) / L^2 (Timoshenko & Gere 1961, section 6.3).
    beam = rectangular(1.3, 40, height=0.1, width=0.002)
    body = beam_flex(beam, Selection(per_family={"bending_z": 10, "torsion": 10}))
    exact = 4.0126 * np.sqrt(beam.section.EIz * beam.section.GJ) / beam.length**2
    assert buckling(body, TIP, 2) == pytest.approx(exact, rel=1e-3)


def test_a_spinning_beam_has_southwells_coefficients() -> None:
    # omega^2 = omega_0^2 + c Omega^2 for small Omega: c = 1.193 and 6.478 across the plane of rotation, one less
    # in it (Southwell & Gough 1921; Wright et al. 1982 for the digits).
    body = beam_flex(slender(40), Selection(per_family={"bending_y": 2, "bending_z": 2}))
    spin = (tables(body).N1 + body.integrals.N1)[:, 2]  # about z
    across = np.array([name.startswith("bending_y") for name in body.mode_names])
    np.testing.assert_allclose(np.diag(spin)[across], [1.1933, 6.4787], rtol=1e-4)
    np.testing.assert_allclose(np.diag(spin)[~across], [0.1933, 5.4787], rtol=1e-3)


def test_a_fast_rotor_bends_as_a_string() -> None:
    # Without rigidity the first flap frequency of a clamped rotor is its speed, the second sqrt(6) of it.
    body = beam_flex(slender(60), Selection(per_family={"bending_y": 30}))
    speed = 300.0 * body.frequencies[0]
    stiffness = body.stiffness + speed**2 * (tables(body).N1 + body.integrals.N1)[:, 2]
    omega = np.sqrt(eigh(stiffness, body.modal_mass, eigvals_only=True))[:2] / speed
    # What is left of the rigidity makes a boundary layer of width sqrt(EI / T) = 0.016 L at the root.
    np.testing.assert_allclose(omega, [1.0, np.sqrt(6.0)], rtol=0.02)


def test_gravity_bends_down_a_column_of_the_critical_height() -> None:
    # A column buckles under its own weight at rho A g L^3 = 7.8373 EI (Greenhill 1881).
    beam = rectangular(1.3, 40, height=0.02, width=0.03)
    body = beam_flex(beam, Selection(per_family={"bending_y": 10}))
    weight = np.abs(1.0 / eigh(tables(body).E1[:, 0], body.stiffness, eigvals_only=True)).min()
    assert weight * beam.section.rho_A * beam.length**3 == pytest.approx(7.8373 * beam.section.EIy, rel=1e-3)


# ---- a beam that is bent for good: strains linear in eta, integrated with finite rotations


def exponential(v: np.ndarray) -> np.ndarray:
    return np.asarray(expm(skew(v)))


def bent_nodes(body: FlexBody, frame: Frame, eta: np.ndarray, arm: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the nodes, and of an arm on the tip, for strains that are those of the modes times eta.

    R' = R kappa~ and x' = R e, step by step; the steps are the elements, which should be many. Stretch only matters
    at second order times a rotation, and is left out.
    """
    theta, shift = body.node_shapes[:, :3] @ eta, body.node_shapes[:, 3:] @ eta
    R, x = exponential(theta[0]), body.node_positions[0] + shift[0]
    positions = [x]
    for e in range(frame.elements):
        along = body.node_positions[e + 1] - body.node_positions[e]
        kappa = theta[e + 1] - theta[e]
        x = x + R @ exponential(0.5 * kappa) @ along
        R = R @ exponential(kappa)
        positions.append(x)
    return np.array(positions), x + R @ arm


def second_derivatives(body: FlexBody, frame: Frame, arm: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """H of the nodes (nn, 3, nm, nm) and of the arm's end (3, nm, nm), by central differences."""
    nm = body.nm
    step = 3e-3 / np.abs(body.node_shapes[:, :3]).max(axis=(0, 1))
    nodes, end = np.zeros((body.nn, 3, nm, nm)), np.zeros((3, nm, nm))
    for r in range(nm):
        for s in range(nm):
            for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                eta = np.zeros(nm)
                eta[r] += signs[0] * step[r]
                eta[s] += signs[1] * step[s]
                a, b = bent_nodes(body, frame, eta, arm)
                weight = signs[0] * signs[1] / (4.0 * step[r] * step[s])
                nodes[:, :, r, s] += weight * a
                end[:, r, s] += weight * b
    return nodes, end


@pytest.mark.parametrize("root", [NO_MOTION, motions(RX, RZ), ALL_MOTIONS], ids=["clamped", "pinned", "free"])
def test_bends_are_those_of_a_beam_bent_with_finite_rotations(root: np.ndarray) -> None:
    frame = stair(90)
    body = beam_flex(frame, Selection(count=4), root)
    expected, _ = second_derivatives(body, frame, np.zeros(3))
    # The finite steps here leave 4.4e-3 with 45 elements, 1.1e-3 with 90, 2.7e-4 with 180.
    np.testing.assert_allclose(tables(body).node_bends, expected, atol=1.5e-3 * np.abs(expected).max())


def test_twist_and_both_bendings_together_bend_a_straight_beam() -> None:
    frame = rectangular(1.3, 80, height=0.02, width=0.03)
    body = beam_flex(frame, Selection(per_family={"bending_y": 1, "bending_z": 1, "torsion": 2}))
    expected, _ = second_derivatives(body, frame, np.zeros(3))
    np.testing.assert_allclose(tables(body).node_bends, expected, atol=1e-3 * np.abs(expected).max())
    torsion, bending = body.mode_names.index("torsion 1"), body.mode_names.index("bending_z 1")
    assert abs(expected[TIP, 2, torsion, bending]) > 0.1 * np.abs(expected).max()


def weighted(frame: Frame, body: FlexBody, values: np.ndarray) -> np.ndarray:
    """The integral of rho A times values at the nodes, segment by segment, by Simpson's rule."""
    total = np.zeros(values.shape[1:])
    breaks = [int(np.argmin(np.abs(frame.node_s - s))) for s in frame.corner_s]
    for a, b in zip(breaks, breaks[1:], strict=False):
        total += frame.section.rho_A * simpson(values[a : b + 1], x=frame.node_s[a : b + 1], axis=0)
    return total


@pytest.mark.parametrize("part", [None, PART], ids=["bare", "with a part"])
def test_tables_are_sums_of_bends_over_the_mass(part: LumpedMass | None) -> None:
    lumps = () if part is None else (replace(part, node=60),)
    frame = stair(60, masses=lumps)
    body = beam_flex(frame, Selection(count=3))
    bends, arms = tables(body).node_bends, body.node_positions
    omega = np.array([0.3, -1.1, 0.7])
    pull = np.cross(omega, np.cross(omega, arms))
    E1 = weighted(frame, body, bends)
    F1 = weighted(frame, body, np.cross(arms[:, :, None, None], bends, axis=1))
    N1 = weighted(frame, body, np.einsum("ni,nirs->nrs", pull, bends))
    for lump in lumps:
        # The node moves on by H, its section turns by theta and theta_2: the arm's end by finite rotations.
        _, end = second_derivatives(body, frame, lump.com)
        at = arms[TIP] + lump.com
        E1 += lump.mass * end
        F1 += lump.mass * np.cross(at[:, None, None], end, axis=0)
        N1 += lump.mass * np.einsum("i,irs->rs", np.cross(omega, np.cross(omega, at)), end)
    w2 = np.array([*(omega**2), omega[0] * omega[1], omega[0] * omega[2], omega[1] * omega[2]])
    found = tables(body)
    tolerance = 1e-4 if part is None else 1e-3
    np.testing.assert_allclose(found.E1.transpose(1, 2, 0), E1, atol=tolerance * np.abs(E1).max())
    np.testing.assert_allclose(found.F1.transpose(1, 2, 0), F1, atol=tolerance * np.abs(F1).max())
    np.testing.assert_allclose(np.einsum("i,sir->rs", w2, found.N1), N1, atol=tolerance * np.abs(N1).max())


def test_tables_do_not_depend_on_how_many_elements_are_taken_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = stair(24, masses=(PART,))
    at_once = tables(beam_flex(frame, Selection(count=5)))
    monkeypatch.setattr(frame_bends, "CHUNK", 175)
    in_pieces = tables(beam_flex(frame, Selection(count=5)))
    for name in ("E1", "F1", "N1", "node_bends"):
        a, b = getattr(at_once, name), getattr(in_pieces, name)
        np.testing.assert_allclose(a, b, atol=1e-12 * np.abs(a).max())


def test_bends_of_a_pinned_beam_begin_with_the_turn_of_its_root() -> None:
    beam = rectangular(1.0, 20, height=0.02, width=0.03)
    body = beam_flex(beam, Selection(per_family={"bending_y": 2}), motions(RY))
    slope = body.node_shapes[0, RY]
    # Near the root the beam is straight yet: u_2 = -slope^2 x / 2.
    near = tables(body).node_bends[1, 0] / body.node_positions[1, 0]
    np.testing.assert_allclose(near, -np.outer(slope, slope), rtol=0.1)
    np.testing.assert_array_equal(tables(body).node_bends[0], 0.0)


def test_stiffening_can_be_left_out() -> None:
    beam = rectangular(1.0, 8, height=0.02, width=0.03)
    assert beam_flex(beam, Selection(count=2), stiffening=False).stiffening is None
    assert tables(beam_flex(beam, Selection(count=0))).node_bends.shape == (9, 3, 0, 0)


def test_a_tapered_column_buckles_under_the_load_of_its_equation() -> None:
    # EI linear from 1 to 0.2 of itself: the work of the tip load against Ritz with x^2 polynomials.
    section = bar(1e-3, 1e-2)
    tip = replace(section, EIy=0.2 * section.EIy)
    frame = replace(straight(1.0, 40, section), stations=(Station(0.0, section), Station(1.0, tip)))
    body = beam_flex(frame, Selection(per_family={"bending_y": 16}))
    x, weights = np.polynomial.legendre.leggauss(40)
    xi, weights = 0.5 * (x + 1.0), 0.5 * weights
    powers = np.arange(2, 12)[:, None]
    slope, curvature = powers * xi ** (powers - 1), powers * (powers - 1) * xi ** (powers - 2)
    K = (curvature * weights * section.EIy * (1.0 - 0.8 * xi)) @ curvature.T
    exact = 1.0 / eigh((slope * weights) @ slope.T, K, eigvals_only=True).max()
    assert buckling(body, TIP, 0) == pytest.approx(exact, rel=1e-3)
