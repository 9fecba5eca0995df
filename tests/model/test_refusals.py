"""What the model file refuses: for each mistake the line, the key path, what was expected, what was found."""

from __future__ import annotations

from pathlib import Path

import pytest

from bough.errors import ModelError, Problem
from bough.model import load

ARM = (Path(__file__).parent / "good" / "two_link_arm.yaml").read_text(encoding="utf-8")
PANELS = (Path(__file__).parent / "good" / "panels.yaml").read_text(encoding="utf-8")
BEAM, HAND, PANEL, LEFT = "bodies[0].beam", "bodies[1].rigid", "bodies[2].nodal", "bodies[1].nodal"
MATRIX = f"{PANEL}.damping_matrix"
INERTIA = "[0.01, 0.02, 0.02, 0, 0, 0]"
SECTION = "area: 1e-4, Iy: 1e-9, Iz: 1e-9, J: 2e-9"


def problems_of(text: str, tmp_path: Path) -> tuple[Problem, ...]:
    file = tmp_path / "model.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        load(file)
    for problem in caught.value.problems:
        assert str(problem) in str(caught.value)
        assert problem.file == str(file)
    return caught.value.problems


def refused(text: str, old: str, new: str, tmp_path: Path, key: str, expected: str, found: str) -> Problem:
    """Replace `old`, which is in the text once: this alone is complained about, on its line."""
    assert text.count(old) == 1, old
    problems = problems_of(text.replace(old, new), tmp_path)
    assert len(problems) == 1, problems
    problem = problems[0]
    assert problem.key == key
    assert expected in problem.expected
    assert found in problem.found
    # The mistake is on the line where the replaced text ends, unless the text was removed.
    if new.strip():
        assert problem.line == text[: text.index(old)].count("\n") + new.rstrip("\n").count("\n") + 1
    return problem


# (what is replaced, by what, key path, part of what is expected, part of what is found)
IN_ARM = [
    ("bough: 1", "bough: 2", "bough", "which is 1", "the number 2"),
    ("name: two_link_arm", "name: two link arm", "name", "letters", "'two link arm'"),
    ("[0, 0, -9.81]", "[0, 0]", "gravity", "3 numbers", "a list of 2"),
    ("fidelity: full", "fidelity: ful", "fidelity", "full, ruthless", "'ful'"),
    ("stiffening: false", "stiffening: no", "geometric_stiffening", "true or false", "'no'"),
    ("stiffening: false", "stiffening: true", "geometric_stiffening", "does not say how loads stiffen it", "true"),
    ("fidelity: full", "fidelty: full", "fidelty", "fidelity", "'fidelty'"),
    ("fidelity: full", "fidelity: full\nfidelity: full", "fidelity", "each key once", "line 4"),
    ("parent: hand", "parent: hnad", "bodies[2].parent", "an earlier body", "'hnad', which does not exist"),
    ("parent: hand", "parent: panel", "bodies[2].parent", "an earlier body", "a cycle: panel -> panel"),
    ("name: panel", "name: hand", "bodies[2].name", "no other body or hinge", "the name of bodies[1]"),
    ("name: panel", "name: ground", "bodies[2].name", "other than ground", "'ground'"),
    ("name: wrist", "name: hand", "bodies[1].hinge.name", "no other body or hinge", "the name of bodies[1]"),
    ("name: panel", "name: 3rd", "bodies[2].name", "does not begin with a digit", "'3rd'"),
    ("at: tip", "at: tp", "bodies[1].at", "root, n1", "'tp'"),
    ("at: origin", "at: tip", "bodies[0].at", "a node of 'ground': origin", "'tip'"),
    ("type: revolute", "type: revolut", "bodies[0].hinge.type", "fixed, revolute", "'revolut'"),
    ("drive: torque", "drive: force", "bodies[0].hinge.drive", "torque, motion, locked", "'force'"),
    ("phi: 0.0, w: 0.0", "phi: 0.0, v: 0.0", "bodies[0].hinge.initial.v", "only phi, w", "'v'"),
    ("phi: 0.0, w: 0.0", "phi: [0.0, 1.0]", "bodies[0].hinge.initial.phi", "one number", "a list of 2"),
    ("[0, 0, 0, 1]", "[0, 0, 0, 1.1]", "bodies[0].hinge.frame.quaternion", "of length 1", "length 1.1"),
    ("stiffness: 0.0", "stiffness: [0, 0]", "bodies[0].hinge.stiffness", "a list of 1", "a list of 2"),
    ("stiffness: 0.0", "stiffness: -1", "bodies[0].hinge.stiffness", "0 or more", "the number -1"),
    ("stiffness: 0.0", "stiffness: true", "bodies[0].hinge.stiffness", "a number", "true"),
    ("stiffness: 0.0", "stiffness: .inf", "bodies[0].hinge.stiffness", "a number", "inf"),
    ("[0, 0, 1], [0, 1, 0]", "[0, 0, 1], [0, 0, -2]", "bodies[1].hinge.axes", "not parallel", "parallel"),
    ("[0, 0, 1], [0, 1, 0]", "[0, 0, 1]", "bodies[1].hinge.axes", "two axes", "1 axis"),
    ("[0, 0, 1], [0, 1, 0]", "[0, 0, 1], [0, 0, 0]", "bodies[1].hinge.axes[1]", "non-zero", "[0.0, 0.0"),
    ("mass: 2.0", "mass: -2.0", f"{HAND}.mass", "0 or more", "the number -2.0"),
    ("mass: 2.0", "mass: heavy", f"{HAND}.mass", "a number", "the text 'heavy'"),
    ("mass: 2.0", "mass: .nan", f"{HAND}.mass", "a number", "nan"),
    ("mass: 2.0", "mass:", f"{HAND}.mass", "a number", "nothing (null)"),
    ("mass: 2.0", "masss: 2.0", f"{HAND}.masss", "mass, com", "'masss'"),
    ("mass: 2.0", "mass: 1e60", f"{HAND}.mass", "a number", "1e+60"),
    (INERTIA, "[0.01, 0.02, 0.04, 0, 0, 0]", f"{HAND}.inertia", "triangle", "0.04"),
    (INERTIA, "[0.01, 0.02, 0.02, 0, 0.1, 0]", f"{HAND}.inertia", "negative", "-0.08"),
    (INERTIA, "[0.01, 0.02, 0.02]", f"{HAND}.inertia", "6 numbers", "a list of 3"),
    ("{tool: {position: [0.2, 0, 0]}}", "{tool: {position: [0.2, 0, 0]}, origin: {position: [1, 0, 0]}}",
     f"{HAND}.nodes.origin", "always is", "another position"),
    ("axis: [0, 0, 1], momentum: 0.0", "axis: [0, 0, 0], momentum: 0.0",
     f"{HAND}.wheels[0].axis", "non-zero", "[0.0, 0.0, 0.0]"),
    ("elements: 20", "elements: 2.5", f"{BEAM}.elements", "a whole number", "2.5"),
    ("elements: 20", "elements: 0", f"{BEAM}.elements", "from 1", "the number 0"),
    (SECTION, "area: 1e-4, Iy: 1e-9, Iz: 1e-9", f"{BEAM}.section.J", "torsion constant", "no such key"),
    (SECTION, "shape: tub, radius: 1", f"{BEAM}.section.shape", "rectangle, box, circle, tube or I", "'tub'"),
    (SECTION, "shape: circle", f"{BEAM}.section", "exactly one of radius, diameter", "none of them"),
    (SECTION, "shape: circle, radius: 1, diameter: 2", f"{BEAM}.section", "exactly one", "both"),
    (SECTION, "shape: tube, radius: 1, thickness: 2", f"{BEAM}.section.thickness", "a wall", "2.0"),
    (SECTION, "shape: box, width: 1, height: 2, thickness: 0.5", f"{BEAM}.section.thickness", "0.5 m", "0.5"),
    (SECTION, "shape: circle, radius: 1e-200", f"{BEAM}.section", "above 0", "area 0"),
    ("nu: 0.33", "nu: 0.6", f"{BEAM}.material.nu", "up to 0.5", "0.6"),
    ("nu: 0.33", "nu: 0.33, G: 1e9", f"{BEAM}.material", "exactly one of nu, G", "both nu and G"),
    ("count: 4", "count: 4, torsion: 1", f"{BEAM}.modes", "either count", "both count and torsion"),
    (", count: 4", "", f"{BEAM}.modes", "either count", "neither"),
    ("count: 4", "count: 121", f"{BEAM}.modes.count", "at most 120 modes", "121"),
    ("count: 4", "torsion: 21", f"{BEAM}.modes.torsion", "at most 20", "21"),
    ("cantilever", "clamped", f"{BEAM}.modes.boundary", "cantilever, free", "'clamped'"),
    ("damping: 0.01", "damping: [0.01]", f"{BEAM}.damping", "a list of 4", "a list of 1"),
    ("damping: 0.01", "damping: {rayleigh: [1, -1]}", f"{BEAM}.damping.rayleigh", "0 or more", "-1"),
    ("damping: 0.01", "damping: 0.01\n      initial: {eta: [1]}", f"{BEAM}.initial.eta", "a list of 4", "1"),
    ("attach: a", "attach: z", f"{PANEL}.attach", "one of the nodes a, b", "'z'"),
    ("name: b,", "name: a,", f"{PANEL}.nodes[1].name", "no other node", "nodes[0]"),
    ("name: b,", "name: eta,", f"{PANEL}.nodes[1].name", "other than eta", "'eta'"),
    ("mass: 0.4, ", "mass: -0.4, ", f"{PANEL}.nodes[1].mass", "0 or more", "-0.4"),
    ("0.01, 0.01, 0.01, 0", "0.01, 0.01, 0.03, 0", f"{PANEL}.nodes[1].inertia", "triangle", "0.03"),
    ("[0,-1,0, 0,0,1]", "[0,-1,0, 0,0]", f"{PANEL}.modes[0][1]", "[mode][node][6]", "a list of 5"),
    (", [0,-1,0, 0,0,1]", "", f"{PANEL}.modes[0]", "each of the 2 nodes", "a list of 1"),
    ("[0,-1,0, 0,0,1]", "[0,0,0, 0,0,0]", f"{PANEL}.modes", "moves mass", "no mass"),
    ("[50.0]", "[50.0, 1]", f"{PANEL}.stiffness", "a list of 1", "a list of 2"),
    ("[50.0]", "[-50.0]", f"{PANEL}.stiffness", "negative eigenvalues", "-50"),
    ("damping: [0.01]", "damping: [0.01, 0.01]", f"{PANEL}.damping", "1 ratios", "a list of 2"),
    ("damping: [0.01]", "damping: [0.01]\n      damping_matrix: [1]", MATRIX, "not both", "both"),
    ("upper.tip.force", "upper.tip.forces", "inputs[0]", "<body>.<node>.force", "'upper.tip.forces'"),
    ("upper.tip.force", "upper.tipp.force", "inputs[0]", "root, n1", "'tipp'"),
    ("upper.tip.force", "shoulder.tau", "inputs[0]", "a node", "of a hinge"),
    ("hand.tool]", "hand.tool, hand.tool]", "outputs[2]", "each entry once", "outputs[1]"),
    ("hand.tool]", "hnd.tool]", "outputs[1]", "the name of a body", "'hnd', which does not exist"),
    ("hand.tool]", "hand.tol]", "outputs[1]", "origin, tool", "'tol'"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "key", "expected", "found"), IN_ARM)
def test_a_mistake_in_the_arm_is_located_and_named(
    old: str, new: str, key: str, expected: str, found: str, tmp_path: Path
) -> None:
    refused(ARM, old, new, tmp_path, key, expected, found)


IN_PANELS = [
    ("[[0, 0, 0, 0, 0, 0], [0.8,", "[[0, 0, 0, 0, 0, 1e-9], [0.8,", f"{LEFT}.modes[0][0]", "zeros", "1e-09"),
    ("[[20, 1], [1, 300]]", "[[20, 1], [2, 300]]", f"{LEFT}.stiffness", "symmetric", "row 1, column 2"),
    ("[[20, 1], [1, 300]]", "[[20, 90], [90, 300]]", f"{LEFT}.stiffness", "negative eigen", "-6"),
    ("[[20, 1], [1, 300]]", "[[20, 1], [1]]", f"{LEFT}.stiffness", "2 x 2", "rows of 1, 2"),
    ("damping_matrix: [0.1, 0.2]", "damping_matrix: [0.1, -0.2]", f"{LEFT}.damping_matrix", "neg", "-0.2"),
    ("eta_dot: [0, 0.1]", "eta_dot: [0]", f"{LEFT}.initial.eta_dot", "2 numbers", "a list of 1"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "key", "expected", "found"), IN_PANELS)
def test_a_mistake_in_nodal_data_is_located_and_named(
    old: str, new: str, key: str, expected: str, found: str, tmp_path: Path
) -> None:
    refused(PANELS, old, new, tmp_path, key, expected, found)


@pytest.mark.parametrize(
    ("removed", "key", "line"),
    [
        ("bough: 1\n", "bough", 1),
        ("name: two_link_arm\n", "name", 1),
        ("    hinge: {type: fixed}\n", "bodies[2].hinge", 38),
        ("      length: 1.0\n", f"{BEAM}.length", 21),
        ("      mass: 2.0\n", f"{HAND}.mass", 32),
        ("      attach: a\n", f"{PANEL}.attach", 42),
        ("      stiffness: [50.0]\n", f"{PANEL}.stiffness", 42),
        ("      axis: [0, 0, 1]\n", "bodies[0].hinge.axis", 10),
    ],
)
def test_a_missing_key_is_reported_where_it_should_stand(removed: str, key: str, line: int, tmp_path: Path) -> None:
    assert removed in ARM
    (problem,) = problems_of(ARM.replace(removed, "", 1), tmp_path)
    assert (problem.key, problem.line) == (key, line)
    assert problem.found in ("no such key", "no axis")
    assert problem.cure.startswith(("add", "write", "give"))


def test_a_cycle_of_two_is_reported_as_a_chain(tmp_path: Path) -> None:
    first = problems_of(ARM.replace("parent: ground", "parent: hand"), tmp_path)[0]
    assert (first.key, first.line) == ("bodies[0].parent", 8)
    assert first.found == "a cycle: upper -> hand -> upper"


def _loop_problems(text: str, tmp_path: Path) -> list[tuple[str, str]]:
    found = problems_of(ARM.replace("inputs:", f"{text}\ninputs:"), tmp_path)
    line = ARM[: ARM.index("inputs:")].count("\n") + 2
    assert all(problem.line == line for problem in found)
    return [(problem.key, problem.found) for problem in found]


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ("{type: revolute, between: [hand.tool, ground.origin]}", "loops[0].axis"),
        ("{type: revolute, axis: [0, 0, 0], between: [hand.tool, ground.origin]}", "loops[0].axis"),
        ("{type: free, between: [hand.tool, ground.origin]}", "loops[0].type"),
        ("{type: spherical, between: [hand.tool]}", "loops[0].between"),
        ("{type: spherical, between: [hand.tool, hand.tool]}", "loops[0].between"),
        ("{type: spherical, between: [hand.tool, hand.origin]}", "loops[0].between"),
        ("{type: spherical, between: [hand.tol, ground.origin]}", "loops[0].between[0]"),
        ("{type: spherical, between: [hand.tool, groud.origin]}", "loops[0].between[1]"),
        ("{type: spherical, between: [hand.tool, ground.tip]}", "loops[0].between[1]"),
        ("{type: rod, length: 0, between: [hand.tool, ground.origin]}", "loops[0].length"),
        ("{type: spherical, length: 1, between: [hand.tool, ground.origin]}", "loops[0].length"),
        ("{type: rolling, axis: [0, 0, 1], between: [hand.tool, ground.origin]}", "loops[0].radius"),
        ("{name: hand, type: spherical, between: [hand.tool, ground.origin]}", "loops[0].name"),
        ("{type: spherical, between: [hand.tool, ground.origin], frames: [{}]}", "loops[0].frames"),
    ],
)
def test_what_is_wrong_with_a_loop_is_reported_at_its_line(entry: str, key: str, tmp_path: Path) -> None:
    assert key in [k for k, _ in _loop_problems(f"loops:\n  - {entry}", tmp_path)]


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ("{of: {shoulder.psi: 1}}", "couplings[0].of.'shoulder.psi'"),
        ("{of: {wrist.phi: 1}}", "couplings[0].of.'wrist.phi'"),
        ("{of: {shoulder.phi: 0}}", "couplings[0].of.'shoulder.phi'"),
        ("{of: {}}", "couplings[0].of"),
        ("{name: upper, of: {shoulder.phi: 1}}", "couplings[0].name"),
    ],
)
def test_what_is_wrong_with_a_coupling_is_reported_at_its_line(entry: str, key: str, tmp_path: Path) -> None:
    assert key in [k for k, _ in _loop_problems(f"couplings:\n  - {entry}", tmp_path)]


def test_a_fixed_hinge_refuses_everything_that_moves(tmp_path: Path) -> None:
    problems = problems_of(ARM.replace("type: revolute", "type: fixed"), tmp_path)
    keys = ["axis", "damping", "initial.phi", "initial.w"]
    assert [problem.key for problem in problems] == [f"bodies[0].hinge.{key}" for key in keys]


def test_a_misspelt_key_is_one_problem_with_a_suggestion(tmp_path: Path) -> None:
    (problem,) = problems_of(ARM.replace("length: 1.0", "lenght: 1.0"), tmp_path)
    assert problem.key == f"{BEAM}.lenght"
    assert problem.cure == "did you mean 'length'?"


def test_all_problems_of_a_file_come_in_one_message_in_the_order_of_its_lines(tmp_path: Path) -> None:
    text = ARM.replace("mass: 2.0", "mass: -2.0").replace("type: revolute", "type: hook")
    text = text.replace("upper.tip.force", "upper.tap.force").replace("parent: hand", "parent: foot")
    problems = problems_of(text, tmp_path)
    assert [p.key for p in problems] == ["bodies[0].hinge.type", f"{HAND}.mass", "bodies[2].parent"]
    assert [p.line for p in problems] == sorted(p.line or 0 for p in problems)


def test_a_body_is_made_of_exactly_one_kind(tmp_path: Path) -> None:
    two = ARM.replace("    rigid:\n", "    beam: {}\n    rigid:\n", 1)
    assert any(p.key == "bodies[1].beam.elements" for p in problems_of(two, tmp_path))
    body = {"name": "a", "parent": "ground", "hinge": {"type": "fixed"}}
    with pytest.raises(ModelError, match=r"bodies\[0\]\n  expected: exactly one of rigid, beam, nodal"):
        load({"bough": 1, "name": "m", "bodies": [body]})


def test_mode_shapes_that_repeat_each_other_are_refused(tmp_path: Path) -> None:
    lines = PANELS.splitlines()
    i = lines.index("      modes:")
    lines[i + 2] = lines[i + 1]
    (problem,) = problems_of("\n".join(lines), tmp_path)
    assert (problem.key, problem.line) == (f"{LEFT}.modes", i + 1)
    assert "independent" in problem.expected


def test_a_parent_that_comes_later_is_told_apart_from_a_cycle(tmp_path: Path) -> None:
    rigid = {"hinge": {"type": "fixed"}, "rigid": {"mass": 1}}
    bodies = [{"name": "a", "parent": "b", **rigid}, {"name": "b", "parent": "ground", **rigid}]
    with pytest.raises(ModelError, match="'b', which comes later\n  cure:     move 'b' before this body"):
        load({"bough": 1, "name": "m", "bodies": bodies})


@pytest.mark.parametrize(
    ("hinge", "rigid"),
    [
        ({"type": "free"}, {"mass": 0}),
        ({"type": "free"}, {"mass": 1}),
        ({"type": "revolute", "axis": [0, 0, 1]}, {"mass": 1, "com": [0, 0, 1]}),
        ({"type": "spherical"}, {"mass": 1, "com": [0, 0, 1]}),
        ({"type": "universal", "axes": [[1, 0, 0], [0, 0, 1]]}, {"mass": 1, "com": [1, 0, 0]}),
    ],
)
def test_a_hinge_that_moves_no_inertia_is_refused(hinge: dict[str, object], rigid: dict[str, object]) -> None:
    body = {"name": "a", "parent": "ground", "hinge": hinge, "rigid": rigid}
    with pytest.raises(ModelError, match=r"bodies\[0\]\.rigid\n.*\n.*neither mass nor inertia\n.*armature"):
        load({"bough": 1, "name": "m", "bodies": [body]})


@pytest.mark.parametrize(
    ("hinge", "rigid"),
    [
        ({"type": "prismatic", "axis": [0, 0, 1]}, {"mass": 1}),
        ({"type": "revolute", "axis": [0, 0, 1], "armature": 0.1}, {"mass": 0}),
        ({"type": "revolute", "axis": [0, 0, 1], "drive": "locked"}, {"mass": 0}),
        ({"type": "fixed"}, {"mass": 0}),
        # The axes of a universal hinge are judged where it starts: here the mass is off the first one.
        (
            {"type": "universal", "axes": [[1, 0, 0], [0, 0, 1]], "initial": {"phi": [0, 1]}},
            {"mass": 1, "com": [1, 0, 0]},
        ),
    ],
)
def test_a_hinge_that_moves_some_inertia_is_accepted(hinge: dict[str, object], rigid: dict[str, object]) -> None:
    load(
        {
            "bough": 1,
            "name": "m",
            "bodies": [{"name": "a", "parent": "ground", "hinge": hinge, "rigid": rigid}],
        }
    )


def test_massless_bodies_at_the_end_of_a_chain_are_refused_but_not_in_the_middle() -> None:
    turn = {"type": "revolute", "axis": [0, 0, 1]}
    first = {"name": "a", "parent": "ground", "hinge": turn, "rigid": {"mass": 0}}
    last = {"name": "b", "parent": "a", "hinge": {"type": "fixed"}, "rigid": {"mass": 1, "com": [1, 0, 0]}}
    load({"bough": 1, "name": "m", "bodies": [first, last]})
    with pytest.raises(ModelError, match=r"bodies\[0\]\.rigid"):
        load({"bough": 1, "name": "m", "bodies": [first, {**last, "rigid": {"mass": 0}}]})


@pytest.mark.parametrize(
    ("hinge", "key"),
    [
        ({"type": "planar", "axes": [[1, 0, 0], [1e-5, 1, 0]]}, "axes"),
        ({"type": "spherical", "axis": [0, 0, 1]}, "axis"),
        ({"type": "revolute", "axis": [0, 0, 1], "axes": [[0, 0, 1]]}, "axes"),
        ({"type": "spherical", "rest": 0.1}, "rest"),
        ({"type": "free", "rest": [0, 0, 0, 0, 0, 1]}, "rest"),
        ({"type": "fixed", "drive": "motion"}, "drive"),
        ({"type": "fixed", "stiffness": 1}, "stiffness"),
        ({"type": "revolute", "axis": [0, 0, 1], "drive": "locked", "initial": {"w": 1}}, "initial"),
        ({"type": "spherical", "initial": {"Q": [1, 1, 0, 0]}}, "initial.Q"),
        ({"type": "spherical", "initial": {"phi": 0}}, "initial.phi"),
        ({"type": "universal", "axes": [[1, 0, 0], [0, 1, 0]], "initial": {"phi": 1}}, "initial.phi"),
        ({"type": "cylindrical", "axis": [0, 0, 1], "damping": [1, -1]}, "damping[1]"),
    ],
)
def test_a_hinge_refuses_what_its_type_does_not_have(hinge: dict[str, object], key: str) -> None:
    rigid = {"mass": 1, "inertia": [1, 1, 1, 0, 0, 0]}
    with pytest.raises(ModelError) as caught:
        load(
            {
                "bough": 1,
                "name": "m",
                "bodies": [{"name": "a", "parent": "ground", "hinge": hinge, "rigid": rigid}],
            }
        )
    assert [problem.key for problem in caught.value.problems] == [f"bodies[0].hinge.{key}"]


def test_geometric_stiffening_is_accepted_where_nothing_is_flexible() -> None:
    body = {"name": "a", "parent": "ground", "hinge": {"type": "fixed"}, "rigid": {"mass": 1}}
    assert load({"bough": 1, "name": "m", "geometric_stiffening": True, "bodies": [body]}).geometric_stiffening
