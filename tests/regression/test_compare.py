"""The rule by which a run has moved or not."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.regression import Tolerance, compare, table

T = np.linspace(0.0, 1.0, 101)


def _result(**columns: np.ndarray) -> bough.Result:
    named = {name.replace("__", "."): y for name, y in columns.items()}
    units = {name: "N" if ".f" in name else "rad" for name in named}
    return bough.Result(T, named, units)


def test_tolerance_is_a_part_of_each_variables_own_amplitude() -> None:
    small, large = 1e-6 * np.sin(6 * T), 1e3 * np.sin(6 * T)
    reference = _result(a__phi=small, b__f=large)
    off = np.where(T == T[40], 1.0, 0.0)
    for factor, moved in ((0.9, False), (1.1, True)):
        amplitude = np.ptp(small)
        found = compare(reference, _result(a__phi=small + factor * 1e-4 * amplitude * off, b__f=large))
        worst = found.deviations[0]
        assert (worst.name, worst.time) == ("a.phi", T[40])
        assert worst.relative == pytest.approx(factor * 1e-4, rel=1e-6)
        assert found.ok is not moved
        assert [d.name for d in found.moved] == (["a.phi"] if moved else [])


def test_shift_in_time_is_not_forgiven() -> None:
    slow = np.sin(6 * T)
    found = compare(_result(a__phi=slow), _result(a__phi=np.sin(6 * (T - 0.001))))
    assert found.deviations[0].size == pytest.approx(0.006, rel=0.01), "the largest slope times the shift"
    assert not found.ok


def test_single_spike_is_not_smoothed_away() -> None:
    y = np.sin(6 * T)
    spiked = y.copy()
    spiked[70] += 0.01
    (worst,) = compare(_result(a__phi=y), _result(a__phi=spiked)).moved
    assert (worst.time, worst.size) == (T[70], pytest.approx(0.01))


def test_offset_does_not_widen_the_tolerance_beyond_the_solvers() -> None:
    reference = _result(a__phi=1.0 + 0.5 * np.sin(6 * T))
    assert not compare(reference, _result(a__phi=reference["a.phi"] + 2e-4)).ok
    held = _result(a__phi=np.full(T.size, 5.0))
    # A constant: OFFSET of its magnitude is its amplitude, 1e-4 of that is allowed: 5e-6.
    assert compare(held, _result(a__phi=np.full(T.size, 5.0 + 4e-6))).ok
    assert not compare(held, _result(a__phi=np.full(T.size, 5.0 + 6e-6))).ok


def test_round_off_of_a_cancelled_component_does_not_count() -> None:
    y = np.sin(6 * T)
    noise = 1e-15 * np.random.default_rng(1).normal(size=T.size)
    reference = _result(a__phi=y, b__phi=noise)
    assert compare(reference, _result(a__phi=y, b__phi=-noise)).ok
    assert not compare(reference, _result(a__phi=y, b__phi=noise + 1e-9)).ok, "1e-4 of a millionth of its kin is 2e-10"


def test_what_is_zero_may_move_by_the_absolute_tolerance() -> None:
    zero = _result(a__phi=np.zeros(T.size))
    assert compare(zero, _result(a__phi=np.full(T.size, 9e-13))).ok
    assert not compare(zero, _result(a__phi=np.full(T.size, 2e-12))).ok
    assert compare(zero, _result(a__phi=np.full(T.size, 2e-12)), Tolerance(absolute=1e-11)).ok


def test_tolerances_by_pattern_take_brackets_as_they_are() -> None:
    rule = Tolerance(1e-4, variables={"*.w[1]": 1e-2, "arm.*": 1e-3, "arm.h.a": 1e-1})
    assert [rule.of(n) for n in ("h.w[1]", "h.w1", "arm.w[1]", "arm.h.a")] == [1e-2, 1e-4, 1e-3, 1e-1]


def test_value_that_is_not_finite_has_moved() -> None:
    y = np.sin(6 * T)
    broken = y.copy()
    broken[33:] = np.nan
    found = compare(_result(a__phi=y), _result(a__phi=broken))
    assert not found.ok
    assert found.deviations[0].time == T[33]


def test_variables_that_are_gone_fail_and_new_ones_are_told() -> None:
    y = np.sin(6 * T)
    found = compare(_result(a__phi=y, b__phi=y), _result(a__phi=y, c__phi=y))
    assert (found.gone, found.new, found.ok) == (("b.phi",), ("c.phi",), False)


def test_other_times_are_refused() -> None:
    y = np.sin(6 * T)
    with pytest.raises(bough.SimulationError, match=r"101 rows to t = 1 s, the run 51 rows"):
        compare(_result(a__phi=y), bough.Result(T[:51], {"a.phi": y[:51]}))
    with pytest.raises(bough.SimulationError, match="times differ"):
        compare(_result(a__phi=y), bough.Result(1.001 * T, {"a.phi": y}))


def test_table_lists_the_worst_first_and_counts_the_rest() -> None:
    y = np.sin(6 * T)
    columns = {f"h{i}.phi": y for i in range(15)}
    moved = {f"h{i}.phi": y * (1 + 1e-3 * (i + 1)) for i in range(15)}
    text = table(compare(bough.Result(T, columns), bough.Result(T, moved)).moved)
    lines = text.splitlines()
    assert lines[1].startswith("h14.phi")
    assert lines[1].endswith("MOVED")
    assert lines[-1] == "... and 5 more that moved"
