"""What the messages about a model file say to somebody who comes from another program, or has slipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from bough.errors import ModelError, Problem
from bough.model import load
from bough.model.file import ModelFile

ARM = """\
bough: 1
name: arm
gravity: [0, 0, -9.81]
bodies:
  - name: link
    parent: ground
    hinge: {name: shoulder, type: revolute, axis: [0, 0, 1], damping: 0.1}
    beam:
      length: 1.0
      elements: 4
      section: {shape: rectangle, width: 0.003, height: 0.04}
      material: {E: 70e9, nu: 0.33, rho: 2700}
      modes: {boundary: cantilever, count: 4}
  - name: load
    parent: link
    at: tip
    hinge: {type: fixed}
    rigid: {mass: 0.2}
outputs: [link.tip]
"""
SYSTEM = """\
name: drive
bough_system: 1
components:
  arm: models/arm.yaml
  twin: {model: twin.json, partner: model-controller}
  motor: {partner: motor}
connections: [motor.tau -> arm.shoulder.tau]
master: {step: 1e-3}
"""


def problems_of(text: str, tmp_path: Path) -> tuple[Problem, ...]:
    file = tmp_path / "drive.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        load(file)
    return caught.value.problems


def problem_of(text: str, tmp_path: Path) -> Problem:
    (problem,) = problems_of(text, tmp_path)
    return problem


def test_a_system_file_is_one_problem_with_the_command_that_takes_it(tmp_path: Path) -> None:
    problem = problem_of(SYSTEM, tmp_path)
    assert (problem.line, problem.found) == (2, "a system file, not a model")
    assert f"`bough couple {tmp_path / 'drive.yaml'} -o drive.ssp`" in problem.cure
    assert problem.cure.endswith("the model in it is models/arm.yaml or twin.json")


def test_a_system_file_without_its_version_is_recognized_by_its_parts(tmp_path: Path) -> None:
    assert problem_of(SYSTEM.replace("bough_system: 1\n", ""), tmp_path).found == "a system file, not a model"


def test_an_unknown_key_at_the_top_is_answered_with_all_keys_of_a_model(tmp_path: Path) -> None:
    problem = problem_of(ARM + "zzz: 1\n", tmp_path)
    assert problem.cure == "remove it"
    assert problem.expected == f"one of the keys {', '.join(ModelFile.model_fields)}"
    assert "bodies" in problem.expected


# (what is replaced, by what, the key that is meant)
SYNONYMS = [
    ("gravity:", "gravitation:", "gravity"),
    ("gravity:", "g:", "gravity"),
    ("bodies:", "links:", "bodies"),
    ("bodies:", "bodys:", "bodies"),
    ("outputs:", "sensors:", "outputs"),
    ("damping: 0.1", "friction: 0.1", "damping"),
    ("hinge: {name", "joint: {name", "hinge"),
    ("rho: 2700", "density: 2700", "rho"),
    ("E: 70e9", "young: 70e9", "E"),
    ("nu: 0.33", "poisson: 0.33", "nu"),
    ("mass: 0.2", "mass: 0.2, cog: [0, 0, 0]", "com"),
    ("mass: 0.2", "mass: 0.2, inertia_tensor: [1, 1, 1, 0, 0, 0]", "inertia"),
]


@pytest.mark.parametrize(("old", "new", "meant"), SYNONYMS)
def test_a_key_by_the_name_of_another_program_is_one_problem_with_ours(
    old: str, new: str, meant: str, tmp_path: Path
) -> None:
    assert ARM.count(old) == 1
    assert problem_of(ARM.replace(old, new), tmp_path).cure == f"did you mean '{meant}'?"


def test_a_key_with_a_unit_is_told_which_units_count(tmp_path: Path) -> None:
    problem = problem_of(ARM.replace("length: 1.0", "length_mm: 1000"), tmp_path)
    assert problem.cure.startswith("did you mean 'length'? Numbers are in SI units: m, kg")


@pytest.mark.parametrize(("key", "option"), [("dt", "--step"), ("stop_time", "--stop"), ("solver", "--method")])
def test_a_key_about_the_run_is_sent_to_the_command(key: str, option: str, tmp_path: Path) -> None:
    assert problem_of(f"{ARM}{key}: 1\n", tmp_path).cure.endswith(f"`bough run {option}`")


@pytest.mark.parametrize("text", ["link.tip", "link.tip, load.origin"])
def test_names_without_brackets_are_put_into_them(text: str, tmp_path: Path) -> None:
    problem = problem_of(ARM.replace("[link.tip]", text), tmp_path)
    assert problem.cure == f"write a list, in brackets: [{text}]"


def test_a_mapping_where_a_list_of_mappings_belongs_is_told_how_to_become_one(tmp_path: Path) -> None:
    problem = problem_of(ARM.replace("mass: 0.2", "mass: 0.2, wheels: {axis: [0, 0, 1], momentum: 1}"), tmp_path)
    assert problem.cure.startswith("write a list: put `- ` before")


HINGE = "line 17, `hinge: {type: fixed}`"
# (line that is changed, what it becomes, words of the cure)
MISPLACED = [
    (18, "     rigid: {mass: 0.2}", f"move it 1 to the left, to column 5, to align it with {HINGE}"),
    (18, "   rigid: {mass: 0.2}", f"move it 1 to the right, to column 5, to align it with {HINGE}"),
    (18, "  rigid: {mass: 0.2}", f"move it 2 to the right, to column 5, to align it with {HINGE}"),
    (14, " - name: load", "move it 1 to the right, to column 3, to align it with line 5, `- name: link`"),
    (14, "   - name: load", "move it 1 to the left, to column 3, to align it with line 5, `- name: link`"),
    (14, "  -name: load", "put a blank after the `-`"),
    (3, " gravity: [0, 0, -9.81]", "move it 1 to the left, to column 1, to align it with line 2, `name: arm`"),
    (18, "\trigid: {mass: 0.2}", "indent with blanks: YAML allows no tabs"),
    (16, "    at:tip", "put a colon and a blank between key and value"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "text", "cure"), MISPLACED)
def test_a_line_in_the_wrong_column_is_told_which_line_to_align_with(
    line: int, text: str, cure: str, tmp_path: Path
) -> None:
    lines = ARM.splitlines()
    lines[line - 1] = text
    problem = problem_of("\n".join(lines), tmp_path)
    # No key path: a line in the wrong place belongs to no body, and least of all to one that does not exist.
    assert (problem.line, problem.key, problem.cure) == (line, "", cure)
    assert "<block" not in problem.found + problem.expected


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("width: 0.003, height: 0.04}", "width: 0.003, height: 0.04", ["bracket `}`", "line 11 still open"]),
        ("[link.tip]", "[link.tip", ["bracket `]`", "line 19 still open"]),
        ("name: arm", 'name: "arm', ["quotation mark", "line 2"]),
        ("name: arm", "name: arm: two", ["one `key: value` in a line", "second colon"]),
    ],
)
def test_what_is_left_open_is_told_by_the_line_where_it_opens(
    old: str, new: str, words: list[str], tmp_path: Path
) -> None:
    problem = problem_of(ARM.replace(old, new), tmp_path)
    for word in words:
        assert word in str(problem)
