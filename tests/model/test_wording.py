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
    ("damping: 0.1", "viscous_friction: 0.1", "damping"),
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


def test_a_key_of_the_hinge_beside_it_is_sent_there(tmp_path: Path) -> None:
    problem = problem_of(
        ARM.replace("    rigid: {mass: 0.2", "    friction: {coulomb: 1}\n    rigid: {mass: 0.2"), tmp_path
    )
    assert problem.cure == "write it into the body's `hinge: {..., friction: ...}`"


def test_a_number_where_a_mapping_is_wanted_is_shown_as_one(tmp_path: Path) -> None:
    problem = problem_of(ARM.replace("damping: 0.1", "friction: 0.1"), tmp_path)
    assert problem.cure == "write a mapping, such as `friction: {coulomb: 0.1}`"


def test_a_number_in_the_list_of_bodies_is_refused_in_its_place() -> None:
    with pytest.raises(ModelError) as caught:
        load({"bough": 1, "name": "x", "bodies": [0]})
    (problem,) = caught.value.problems
    assert (problem.found, problem.cure) == ("the number 0", "write a mapping of `key: value` lines")


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


BLOCKS = """\
bough: 1
name: arm
bodies:
  - name: link
    parent: ground
    hinge:
      type: revolute
      axis: [0, 0, 1]
    rigid:
      mass: 1.0
      com: [1, 0, 0]
  - name: mast
    parent: link
    hinge: {type: fixed}
    beam:
      # its axis
      points: [[0, 0, 0], [1, 0, 0]]
      elements: 4
      section: {shape: rectangle, width: 0.003, height: 0.04}
      material: {E: 70e9, nu: 0.33, rho: 2700}
      modes: {count: 4}
"""


# One to the left it takes a third line of the block to tell which of the first two is wrong.
LEFT = [(7, 2, "`hinge:` of line 6"), (10, 2, "`rigid:` of line 9"), (17, 2, "`beam:` of line 15"),
        (17, 1, "`beam:` of line 15")]  # fmt: skip


@pytest.mark.parametrize(("line", "left", "key"), LEFT)
def test_the_first_line_of_a_block_that_has_left_it_is_blamed_and_not_the_next(
    line: int, left: int, key: str, tmp_path: Path
) -> None:
    lines = BLOCKS.splitlines()
    lines[line - 1] = lines[line - 1][left:]
    problem = problem_of("\n".join(lines), tmp_path)
    assert problem.line == line
    assert problem.found.startswith(f"`{lines[line - 1].strip()}`")
    after = lines[line].strip()
    way = f"move it {left} to the right, to column 7"
    assert problem.cure.startswith(f"{way}, into {key}, like line {line + 1}, `{after[:40]}")


def test_the_first_lines_of_a_block_that_have_left_it_are_blamed_together(tmp_path: Path) -> None:
    text = BLOCKS.replace("      points", "    points").replace("      elements", "    elements")
    problem = problem_of(text, tmp_path)
    assert problem.line == 17
    assert problem.cure.startswith("move lines 17 to 18 2 to the right, to column 7, into `beam:` of line 15")


def test_a_body_on_a_beam_that_does_not_say_where_is_told_that_it_is_missing(tmp_path: Path) -> None:
    problem = problem_of(ARM.replace("    at: tip\n", ""), tmp_path)
    assert (problem.line, problem.key) == (14, "bodies[1].at")
    assert problem.found == "`at` is missing; its default 'origin' is not a node of a beam"
    assert problem.cure == "write `at: tip`"


def test_an_origin_that_the_file_has_written_is_quoted(tmp_path: Path) -> None:
    assert problem_of(ARM.replace("at: tip", "at: origin"), tmp_path).found == "the text 'origin'"


# (what is replaced, by what, the cure)
WITH_UNITS = [
    ("E: 70e9", 'E: "20 GPa"', "Pa: 20e9"),
    ("E: 70e9", "E: 200000MPa", "Pa: 200000e6"),
    ("E: 70e9", "E: 7e4 N/mm^2", "Pa: 7e+10"),
    ("length: 1.0", "length: 300 mm", "m: 0.3"),
    ("length: 1.0", "length: 12.5 cm", "m: 0.125"),
    ("length: 1.0", "length: 1.50 m", "m: 1.50"),
    ("rho: 2700", "rho: 2.7 g/cm3", "kg/m^3: 2700"),
    ("rho: 2700", "rho: 2.7 g/cm**3", "kg/m^3: 2700"),
    ("mass: 0.2", "mass: 200 g", "kg: 0.2"),
    ("mass: 0.2", "mass: 2 kg", "kg: 2"),
    ("axis: [0, 0, 1]", "axis: [0, 0, 1], initial: {phi: 90 deg}", "rad: 1.570796327"),
    ("axis: [0, 0, 1]", "axis: [0, 0, 1], initial: {w: 60 rpm}", "rad/s: 6.283185307"),
    ("count: 4}", "count: 4, max_frequency: 2 kHz}", "Hz: 2000"),
    ("count: 4}", "count: 4}\n      damping: 2 %", "parts of one: 0.02"),
    ("-9.81]", "-1 g]", "m/s^2: -9.80665"),
    ("damping: 0.1", "damping: 5 N.m.s/rad", "N.m.s/rad: 5"),
]


@pytest.mark.parametrize(("old", "new", "number"), WITH_UNITS)
def test_a_number_with_a_unit_is_told_as_the_number_to_write(old: str, new: str, number: str, tmp_path: Path) -> None:
    assert problem_of(ARM.replace(old, new), tmp_path).cure == f"write the number alone, in {number}"


@pytest.mark.parametrize("text", ["3 kg", "3 miles", "GPa", "1.2.3 m", "1e999 mm"])
def test_a_unit_that_does_not_fit_or_is_not_known_is_not_converted(text: str, tmp_path: Path) -> None:
    problem = problem_of(ARM.replace("length: 1.0", f"length: {text}"), tmp_path)
    assert problem.cure == "write a plain number, such as 0.5 or 1e-4"


@pytest.mark.parametrize(
    ("text", "vector"), [("x", "[1, 0, 0]"), ("Y", "[0, 1, 0]"), ("-z", "[0, 0, -1]"), ("up", "[0, 0, 1] for z")]
)
def test_an_axis_by_its_letter_is_told_as_numbers(text: str, vector: str, tmp_path: Path) -> None:
    problem = problem_of(ARM.replace("axis: [0, 0, 1]", f"axis: {text}"), tmp_path)
    assert problem.cure.endswith(vector)


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
