"""Files and dicts that cannot even be read end in a ModelError that says why."""

from __future__ import annotations

import pickle
import re
import time
from pathlib import Path
from typing import Any

import pytest

from bough.errors import BoughError, BuildError, ModelError, Problem, SimulationError
from bough.model import load

BODY = {"name": "a", "parent": "ground", "hinge": {"type": "fixed"}, "rigid": {"mass": 1}}


def problem_of(source: Any) -> Problem:
    with pytest.raises(ModelError) as caught:
        load(source)
    return caught.value.problems[0]


def problem_in(content: str | bytes, tmp_path: Path) -> Problem:
    file = tmp_path / "m.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    problem = problem_of(file)
    assert problem.file == str(file)
    return problem


def test_a_file_that_does_not_exist_is_named() -> None:
    problem = problem_of("no/such/arm.yaml")
    assert problem.file == "no/such/arm.yaml"
    assert problem.found == "no such file"


def test_a_directory_is_no_model(tmp_path: Path) -> None:
    assert problem_of(tmp_path).found == "a directory"


@pytest.mark.parametrize("source", [None, 3, b"arm.yaml", [], object(), "a\0b", "x" * 5000])
def test_what_is_no_path_and_no_mapping_is_refused(source: Any) -> None:
    assert problem_of(source).expected


def test_yaml_text_instead_of_a_path_is_recognized() -> None:
    problem = problem_of("bough: 1\nname: m\n")
    assert problem.cure == "give the path of a file, not its text"
    assert "\n" not in problem.file


def test_an_empty_file_is_no_model(tmp_path: Path) -> None:
    assert problem_in("", tmp_path).found == "an empty file"
    assert problem_in("# only a comment\n", tmp_path).line is not None


def test_a_byte_that_is_not_utf8_is_located(tmp_path: Path) -> None:
    problem = problem_in(b"bough: 1\nname: caf\xe9\n", tmp_path)
    assert problem.line == 2
    assert "0xe9 at offset 18" in problem.found


def test_a_binary_file_is_recognized(tmp_path: Path) -> None:
    assert "binary" in problem_in(b"\x7fELF\n\0\0\0", tmp_path).found


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    text = "bough: 1\nname: m\nbodies:\n- {name: a, parent: ground, hinge: {type: fixed}, rigid: {mass: 1}}\n"
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert load(file).name == "m"


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("bough: 1\nname: [a\nbodies: 3\n", 3, "name"),
        ("bough: 1\nname: 'a\n", 3, "name"),
        ("bough: 1\n  name: a\n", 2, ""),
        ("bough: 1\nname: *nobody\n", 2, "name"),
        ("bough: 1\nname: m\nname: n\n", 3, "name"),
        ("bough: 1\n? [a, b]\n: 3\n", 2, ""),
        ("bough: 1\n---\nbough: 1\n", 2, ""),
        ("bough: 1\nname: !thing m\n", 2, "name"),
        ("bough: 1\nname: \x07\n", 2, ""),
        ("- bough: 1\n", 1, ""),
        ("just words\n", 1, ""),
        ('bough: 1\nname: "\\UFFFFFFFF"\n', 2, "name"),
    ],
)
def test_a_slip_in_the_yaml_is_located(text: str, line: int, key: str, tmp_path: Path) -> None:
    problem = problem_in(text, tmp_path)
    assert problem.line == line
    assert problem.key.startswith(key)


@pytest.mark.parametrize("text", ["[" * 20000, "{a: " * 20000, "- " * 20000, '{"a":' * 20000, "? " * 20000])
def test_no_depth_of_nesting_exhausts_the_stack(text: str, tmp_path: Path) -> None:
    assert problem_in(text, tmp_path).line == 1


def test_aliases_of_aliases_are_refused_before_they_are_written_out(tmp_path: Path) -> None:
    lines = ["bough: 1", "name: m", "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 20)]
    begin = time.process_time()
    problem = problem_in("\n".join(lines), tmp_path)
    assert "aliases" in problem.expected
    assert time.process_time() - begin < 2.0


def test_an_alias_inside_of_its_own_anchor_is_refused(tmp_path: Path) -> None:
    assert "itself" in problem_in("bough: 1\nname: m\nbodies: &b [*b]\n", tmp_path).found


def test_a_long_chain_of_aliases_is_too_deep(tmp_path: Path) -> None:
    lines = ["a0: &a0 [1]"] + [f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 3000)]
    assert "levels" in problem_in("\n".join(lines), tmp_path).expected


@pytest.mark.parametrize("digits", [400, 5000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_of_thousands_of_digits_is_not_finite(digits: int, sign: str, tmp_path: Path) -> None:
    text = f"bough: 1\nname: m\ngravity: [0, 0, {sign}{'9' * digits}]\nbodies: []\n"
    problem = problem_in(text, tmp_path)
    assert (problem.key, problem.line) == ("gravity[2]", 3)
    number = int(f"{sign}1") * 10 ** min(digits, 4000)
    assert problem_of({"bough": 1, "name": "m", "gravity": [0, 0, number], "bodies": [BODY]}).key == "gravity[2]"


def test_json_keeps_its_lines_even_when_indented_with_tabs(tmp_path: Path) -> None:
    problem = problem_in('{\n\t"bough": 1,\n\t"name": "m",\n\t"bodies": [\n\t\t{"name": 3}\n\t]\n}\n', tmp_path)
    assert (problem.key, problem.line) == ("bodies[0].name", 5)


def test_a_key_twice_in_json_is_refused(tmp_path: Path) -> None:
    problem = problem_in('{"bough": 1,\n"name": "m",\n"name": "n"}', tmp_path)
    assert (problem.key, problem.line) == ("name", 3)


def test_a_dict_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert "itself" in problem_of({"bough": 1, "name": "m", "bodies": loop}).found


@pytest.mark.parametrize("value", [1j, object(), {1, 2}, b"1", lambda: 1, range(3), float])
def test_objects_that_no_file_can_hold_are_refused(value: Any) -> None:
    problem = problem_of({"bough": 1, "name": "m", "gravity": value, "bodies": [BODY]})
    assert (problem.key, problem.line) == ("gravity", None)
    assert problem.found.startswith("an object of type")


def test_keys_of_a_dict_are_text() -> None:
    assert problem_of({"bough": 1, "name": "m", "bodies": [{1: 2}]}).key == "bodies[0]"


def test_problems_of_a_dict_have_a_key_path_and_no_line() -> None:
    problem = problem_of({"bough": 1, "name": "m", "bodies": [{**BODY, "rigid": {"mass": -1}}]})
    assert (problem.file, problem.line, problem.key) == ("<dict>", None, "bodies[0].rigid.mass")


def test_one_exception_family_and_errors_survive_pickling() -> None:
    assert all(issubclass(kind, BoughError) for kind in (ModelError, SimulationError, BuildError))
    for error in (ModelError("words"), ModelError(Problem("f", 3, "a.b", "x", "y", "z"))):
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error) and again.problems == error.problems


def test_a_long_list_of_problems_is_cut_and_counted() -> None:
    bodies = [{**BODY, "name": f"b{i}", "rigid": {"mass": -1}} for i in range(30)]
    with pytest.raises(ModelError) as caught:
        load({"bough": 1, "name": "m", "bodies": bodies})
    assert len(caught.value.problems) == 30
    assert len(re.findall("expected:", str(caught.value))) == 20
    assert str(caught.value).endswith("... and 10 more problems")


def test_a_thousand_bodies_load_in_seconds() -> None:
    rigid = {
        "mass": 1,
        "com": [0.1, 0, 0],
        "inertia": [1, 1, 1, 0, 0, 0],
        "nodes": {"tip": {"position": [1, 0, 0]}},
    }
    bodies = [{**BODY, "name": "b0", "rigid": rigid}]
    for i in range(1, 1000):
        hinge = {"name": f"h{i}", "type": "revolute", "axis": [0, 0, 1], "damping": 0.1}
        bodies.append({"name": f"b{i}", "parent": f"b{i - 1}", "at": "tip", "hinge": hinge, "rigid": rigid})
    begin = time.process_time()
    assert len(load({"bough": 1, "name": "m", "bodies": bodies}).bodies) == 1000
    # 0.3 s of a processor
    assert time.process_time() - begin < 2.0
