"""Settings as people type them."""

from __future__ import annotations

import pytest

from bough.errors import ArgumentError
from bough.text.ranges import grid_values, named_numbers, named_range


def test_values_are_lists_or_evenly_spaced_with_both_ends() -> None:
    assert grid_values(["a = 1,2.5", "b=0:1:5", "c=7,0:2:3"]) == {
        "a": [1.0, 2.5],
        "b": [0.0, 0.25, 0.5, 0.75, 1.0],
        "c": [7.0, 0.0, 1.0, 2.0],
    }
    assert named_numbers(["hub=52.4, tail=-1", "nose=2e3"]) == {"hub": 52.4, "tail": -1.0, "nose": 2000.0}
    assert named_range("hub=0:60", 4) == ("hub", [0.0, 20.0, 40.0, 60.0])
    assert named_range(" hub = 1:2:3", 4) == ("hub", [1.0, 1.5, 2.0])


@pytest.mark.parametrize("text", ["a", "a=", "a=1:2", "a=1:2:1", "a=0:1:2000000000", "=1", "a=nan", "a=0:inf:3", "a=x"])
def test_values_that_make_no_grid_are_refused_at_once(text: str) -> None:
    with pytest.raises(ArgumentError, match="expected NAME"):
        grid_values([text])


@pytest.mark.parametrize("text", ["hub", "hub=1", "hub=1:2:3:4", "hub=1:2:1", "hub=a:b", "=0:1", "hub=0:1:2000000000"])
def test_ranges_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="expected NAME=FROM:TO"):
        named_range(text, 25)


def test_name_given_twice_and_number_that_is_none_are_refused() -> None:
    with pytest.raises(ArgumentError, match="a is given twice"):
        grid_values(["a=1", "a=2"])
    with pytest.raises(ArgumentError, match=r"expected HINGE=SPEED, rad/s, found 'hub=fast'"):
        named_numbers(["hub=fast"], "HINGE=SPEED, rad/s")
