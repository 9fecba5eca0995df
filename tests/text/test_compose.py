"""YAML becomes plain data whose every key and value knows its line."""

from __future__ import annotations

import pytest

from bough.text.compose import MAX_EXPANSION, ComposeError, Document, compose


def document(text: str) -> Document:
    return compose(text, "m.yaml")


def test_every_key_and_every_item_knows_its_line() -> None:
    text = "a:\n  b: 1\n  c:\n  - 2\n  -\n    d: 3\n"
    lines = {(): 1, ("a",): 1, ("a", "b"): 2, ("a", "c"): 3, ("a", "c", 0): 4, ("a", "c", 1, "d"): 6}
    found = document(text)
    assert found.data == {"a": {"b": 1, "c": [2, {"d": 3}]}}
    assert {path: found.line_of(path) for path in lines} == lines
    assert found.line_of(("a", "c", 7, "x")) == 3  # of the nearest value above


def test_merged_keys_come_after_own_ones_and_keep_the_line_where_they_are_written() -> None:
    found = document("base: &b\n  x: 1\n  y: 2\nbody:\n  <<: *b\n  y: 5\n")
    assert found.data["body"] == {"y": 5, "x": 1}
    assert (found.line_of(("body", "x")), found.line_of(("body", "y"))) == (2, 6)


def test_an_anchor_on_a_key_can_be_used_again() -> None:
    assert document("&k mass: 1\nname: *k\n").data == {"mass": 1, "name": "mass"}


def test_quotes_and_the_tag_for_text_keep_a_number_as_text() -> None:
    assert document("[1e-4, '1e-4', ! 1e-4, !!str 1e-4, !!float 1]").data == [1e-4, "1e-4", "1e-4", "1e-4", 1.0]


def test_what_is_wrong_before_a_slip_of_the_parser_is_reported_with_it() -> None:
    with pytest.raises(ComposeError) as caught:
        document("a: 1\na: 2\nb: [1, 2\n")
    first, second = caught.value.problems
    assert (first.line, first.key, second.key) == (2, "a", "b[2]")
    assert "first given on line 1" in first.found


def test_merging_one_large_mapping_many_times_is_refused_before_the_memory_is_taken() -> None:
    keys, times = 1000, MAX_EXPANSION // 1000 + 5
    text = "a: &a {" + ", ".join(f"k{i}: 0" for i in range(keys)) + "}\nb:\n" + "- {<<: *a}\n" * times
    with pytest.raises(ComposeError) as caught:
        document(text)
    (problem,) = caught.value.problems
    assert (problem.line, problem.key) == (2 + MAX_EXPANSION // keys + 1, f"b[{MAX_EXPANSION // keys}]")
    assert "aliases" in problem.expected
