"""Numbers that the papers print, and docs/papers.md repeats."""

from __future__ import annotations

import importlib
import re
import sys
from types import ModuleType

import numpy as np
import pytest
from examples.make_golden import script
from house.tools import ROOT

import bough

sys.path.insert(0, str(ROOT))
from benchmarks import papers


@pytest.fixture(scope="module")
def jsc() -> ModuleType:
    sys.path.insert(0, str(ROOT / "examples" / "msat_beam"))
    return importlib.import_module("jsc_figures")


PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_polynomials_of_section_8_give_the_factors_of_figure_2() -> None:
    """The text says over 3 at five modes and over 7 at ten."""
    assert round(papers.ratio(5), 2) == 3.68 and round(papers.ratio(10), 2) == 7.27
    rows = re.findall(r"^\| (\d+) \| (\d+) \| (\d+) \| ([\d.]+) \| [\d.]+ \| [\d.]+ \|", PAGE, re.M)
    assert len(rows) == 10
    for nm, composite, articulated, ratio in rows:
        assert float(composite) == round(papers.composite_cost(int(nm)))
        assert float(articulated) == round(papers.articulated_cost(int(nm)))
        assert float(ratio) == round(papers.ratio(int(nm)), 2)


def test_methods_change_at_seven_modes_as_the_paper_says() -> None:
    """Explicit inversion of D_f is the cheaper one up to seven modes, the inversion lemma from eight on."""

    def explicit(n: int) -> float:
        return 5 / 3 * n**3 + 23 * n**2 + 1312 / 3 * n + 344

    def indirect(n: int) -> float:
        return 25 * n**2 + 437 * n + 1017

    assert explicit(7) < indirect(7) and explicit(9) > indirect(9)


@pytest.mark.parametrize(("modes", "factor"), [(5, 3.0), (10, 7.0)])
def test_measured_articulated_bodies_save_at_least_what_the_paper_says(modes: int, factor: float) -> None:
    composite, articulated = papers.measured(modes)
    assert composite > factor * articulated


def test_printed_roots_are_those_of_another_mass_ratio() -> None:
    """Table 2: mu_1, mu_2, mu_3 and mu_5 for Xi = 5.20, to the digits printed."""
    example = script("msat_beam")

    def left(mu: float, xi: float) -> float:
        return float(1 / np.tan(mu) - 1 / np.tanh(mu) - 2 * xi * mu)

    printed = {3.171011466: 1e-9, 6.298221427: 1e-9, 9.434866134: 1e-9, 15.71404495: 1e-8}
    for mu, digit in printed.items():
        slope = (left(mu + 1e-6, 5.20) - left(mu - 1e-6, 5.20)) / 2e-6
        assert abs(left(mu, 5.20) / slope) < digit, "a root for 5.20 within the last digit"
        assert abs(left(mu, 5.18) / slope) > 1e-5, "no root for 5.18"
    ours = example.roots(5)
    assert all(f"{mu:.9f}" in PAGE for mu in ours)
    assert all(text in PAGE for text in ("5.2834", "20.842", "46.770", "83.068", "129.738"))
    np.testing.assert_allclose(example.frequencies(ours), [5.2834, 20.842, 46.770, 83.068, 129.738], rtol=3e-5)


# ---- figures 5 to 11 of the JSC paper


def test_body_data_with_pinned_modes_are_equations_31_to_37_transformed_by_6_and_7(jsc: ModuleType) -> None:
    """Closed forms of the paper, (34) with the density that it lacks, against the engine's sums over 48 nodes."""
    n, length, xi, rho, mass = 16, jsc.msat.LENGTH, jsc.msat.XI, jsc.msat.RHO, jsc.BEAM_MASS
    mu = jsc.msat.roots(n)
    sinh, cosh, sin, cos = np.sinh(mu), np.cosh(mu), np.sin(mu), np.cos(mu)
    norm = 1 + xi + 2 * xi * mu * (xi * mu + cosh / sinh)
    A = 1 / np.sqrt(length * norm)  # (27)
    M_rr = mass * np.array(
        [[length**2 / 3, length / 2], [length / 2, 1]]
    )  # (31): rotation about z, translation along y
    along = mass * A / mu * ((cosh - 1) / sinh - (cos - 1) / sin)  # (33)
    about = length**2 * A * ((cosh / mu - 1 / mu**2 * sinh) / sinh + (-cos / mu + sin / mu**2) / sin)  # (34)
    M_er = np.column_stack([rho * about, along])
    M_ee = -4 * rho * xi * length * np.outer(A, A)  # (36)
    M_ee[np.diag_indices(n)] = rho * (norm - 4 * xi) / norm  # (37)
    S = np.vstack([A * mu / length * (1 / sinh + 1 / sin), np.zeros(n)])  # (41) at x = 0
    M_er_star = M_er - S.T @ M_rr  # (6)
    M_ee_star = M_ee - M_er @ S - S.T @ M_er.T + S.T @ M_rr @ S  # (7)
    system = bough.Mechanism(jsc.model(n))
    Mm = system.articulated(system.initial_state()[0])["boom"].Mm
    at = [n + 2, n + 4]
    np.testing.assert_allclose(Mm[np.ix_(at, at)], M_rr, rtol=1e-13)
    assert abs(Mm[:n, at] - M_er_star).max() < 1e-13 * abs(M_er_star).max()
    assert abs(Mm[:n, :n] - M_ee_star).max() < 1e-13 * abs(M_ee_star).max()


def test_beam_with_separate_tip_mass_has_the_frequencies_of_equation_23(jsc: ModuleType) -> None:
    found = bough.modes(jsc.model(8))
    omega = np.sort([2 * np.pi * m.frequency for m in found.modes if m.frequency > 0.1])
    np.testing.assert_allclose(omega[:8], jsc.msat.frequencies(jsc.msat.roots(8)), rtol=1e-9)


def test_figures_5_and_6_equal_equation_30(jsc: ModuleType) -> None:
    """Both are sums over the same modes, so they agree to rounding beside the peaks' sharpness."""
    printed, found = jsc.frequency_responses(2 * np.pi * np.arange(1, 41) / 10, modes=8)
    assert (abs(found - printed) / abs(printed)).max() < 1e-8


def test_differences_of_figures_9_and_11_are_of_third_order_and_as_the_page_says(jsc: ModuleType) -> None:
    """Large angles: a tenth of the torque leaves a thousandth at the tip; numbers of the page's row for four modes."""
    result = jsc.simulate(4)
    hub, tip = (abs(d).max() for d in jsc.differences(result, 4))
    peaks = [abs(result[name]).max() for name in ("motor.phi", "tip.origin.r[2]")]
    all_hub, all_tip = (
        abs(d).max() / p for d, p in zip(jsc.differences(result, jsc.msat.ALL_TERMS), peaks, strict=True)
    )
    row = next(line for line in PAGE.splitlines() if line.startswith("| 4 |") and "mrad" in line)
    shown = [float(x) for x in re.findall(r"[\d.]+(?:e-\d+)?", row)][1:]
    measured = [1e3 * hub, hub / peaks[0], 1e3 * tip, tip / peaks[1], 100 * all_hub, 100 * all_tip]
    np.testing.assert_allclose(shown, measured, rtol=0.05)
    assert f"{1e3 * peaks[0]:.1f} mrad" in PAGE and f"{1e3 * peaks[1]:.2f} mm" in PAGE
    weak = jsc.simulate(4, 0.1)
    less = abs(weak["tip.origin.r[2]"] - 0.1 * jsc.msat.transfer_functions(weak.t, terms=4)[1]).max()
    assert tip / less == pytest.approx(1000, rel=0.1)
