"""`bough flex` and the position of `bough modes`: numbers of the textbook, files, pictures, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flex.fe.fem import straight
from typer.testing import CliRunner, Result

import bough
from bough.cli import app
from bough.demo import MODEL
from bough.flex import flex_body
from bough.flex.fe.npz import write_npz
from bough.flex.sid.sid import read_sid
from bough.report.mode_pictures import Sketch, mode_figure, spanning_edges

SHARES = [(2 * sigma / mu) ** 2 for sigma, mu in ((0.734096, 1.875104), (1.018467, 4.694091), (0.999224, 7.854757))]
"""Of a uniform cantilever's mass, that its bending modes move: (integral of the shape)^2, Blevins' sigma and mu."""


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures go to the current folder."""
    monkeypatch.chdir(tmp_path)


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def facts(*arguments: object) -> dict[str, Any]:
    done = invoke("flex", *arguments, "--json")
    assert done.exit_code == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def is_picture(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000


def test_bar_has_the_mass_inertia_and_effective_masses_of_the_formulas() -> None:
    upper, lower = facts(MODEL)["bodies"]
    assert (upper["name"], lower["name"]) == ("upper", "lower")
    beam = bough.load(MODEL).bodies[0].beam
    assert beam is not None
    m, length = upper["mass"], 1.0
    np.testing.assert_allclose(upper["centre"], [length / 2, 0, 0], atol=1e-12)
    # m L^2 / 12, and little more for the width of the bar.
    np.testing.assert_allclose(upper["inertia"][1:3], m * length**2 / 12, rtol=5e-3)
    np.testing.assert_allclose(upper["inertia"][3:], 0, atol=1e-12)
    found = [mode["effective_mass"][1] for mode in upper["modes"]]
    np.testing.assert_allclose(found, SHARES, rtol=1e-3)
    np.testing.assert_allclose(upper["effective_mass"], [0, sum(found), 0], atol=1e-12)
    assert [mode["damping"] for mode in upper["modes"]] == pytest.approx([0.01] * 3)


def test_tables_and_a_picture(tmp_path: Path) -> None:
    done = invoke("flex", MODEL, "upper")
    assert done.exit_code == 0, done.stderr
    assert "upper (beam): 0.81 kg, 17 nodes, 3 modes" in done.stdout
    assert "4.1126" in done.stdout
    assert "61.3" in done.stdout
    assert "lower" not in done.stdout
    assert is_picture(tmp_path / "two_link_arm_modes.png")
    assert done.stdout.endswith("two_link_arm_modes.png: the modes\n"), "the user is told of the file"


def test_json_leaves_no_picture_unless_asked(tmp_path: Path) -> None:
    facts(MODEL)
    assert not list(tmp_path.glob("*.png"))
    facts(MODEL, "-o", "asked.png")
    assert is_picture(tmp_path / "asked.png")


def test_body_written_as_sid_is_shown_the_same(tmp_path: Path) -> None:
    data = facts(MODEL, "lower", "--sid", "lower.sid")
    assert data["nodes"] == {name: i for i, name in enumerate(data["bodies"][0]["nodes"], 1)}
    (body,) = facts("lower.sid")["bodies"]
    (given,) = data["bodies"]
    for key in ("mass", "centre", "inertia", "effective_mass"):
        np.testing.assert_allclose(body[key], given[key], rtol=1e-14, atol=1e-15)
    for one, other in zip(body["modes"], given["modes"], strict=True):
        assert one["name"] == other["name"]
        assert one["frequency"] == pytest.approx(other["frequency"], rel=1e-13)
    # The model does not ask for geometric stiffening: the file is without.
    assert read_sid(tmp_path / "lower.sid").stiffening is None


def test_stiffening_is_written_if_the_model_asks_for_it(tmp_path: Path) -> None:
    text = MODEL.read_text(encoding="utf-8")
    stiff = tmp_path / "stiff.yaml"
    stiff.write_text("geometric_stiffening: true\n" + text, encoding="utf-8")
    facts(stiff, "lower", "--sid", "lower.sid")
    assert read_sid(tmp_path / "lower.sid").stiffening is not None


def test_matrices_by_themselves_are_shown_free(tmp_path: Path) -> None:
    """Free-free bar: first bending at 22.3733 / (2 pi L^2) sqrt(E I / (rho A))."""
    write_npz(tmp_path / "bar.npz", straight(1.5, 12, width=0.02, height=0.03))
    done = invoke("flex", "bar.npz")
    assert done.exit_code == 0, done.stderr
    assert is_picture(tmp_path / "bar_modes.png")
    (body,) = facts("bar.npz")["bodies"]
    assert body["mass"] == pytest.approx(2700 * 0.02 * 0.03 * 1.5, rel=1e-12)
    thin = 22.3733 / (2 * np.pi * 1.5**2) * np.sqrt(70e9 * 0.02**2 / 12 / 2700)
    assert body["modes"][0]["frequency"] == pytest.approx(thin, rel=2e-3)
    np.testing.assert_allclose(body["effective_mass"], 0, atol=1e-12)


def test_fe_body_of_a_model_is_drawn_at_all_of_its_nodes(tmp_path: Path) -> None:
    write_npz(tmp_path / "bar.npz", straight(1.5, 12))
    fe = {"file": "bar.npz", "interfaces": {"root": {"nodes": [1]}, "tip": {"nodes": [13]}}}
    fe |= {"modes": {"boundary": "craig-bampton", "count": 2}}
    body = {"name": "bar", "parent": "ground", "hinge": {"type": "fixed"}, "fe": fe}
    (tmp_path / "m.json").write_text(json.dumps({"bough": 1, "name": "m", "bodies": [body]}), encoding="utf-8")
    (data,) = facts("m.json", "-o", "m.png")["bodies"]
    assert list(data["nodes"]) == ["root", "tip"]
    assert is_picture(tmp_path / "m.png")
    from bough.flex.fe.node_shapes import all_shapes

    entry = bough.load(tmp_path / "m.json").bodies[0]
    assert entry.fe is not None
    positions, shapes, edges = all_shapes(entry.fe)
    # The body's own nodes are among them, with the same motion.
    flex = flex_body(entry)
    tip = int(np.argmax(positions[:, 0]))
    np.testing.assert_allclose(shapes[tip], flex.node_shapes[1], atol=1e-9 * abs(shapes).max())
    assert sorted(map(tuple, edges.tolist())) == [(i, i + 1) for i in range(12)]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["flex", MODEL, "hand"], 1, "there is no body 'hand'; flexible bodies are: upper, lower"),
        (["flex", MODEL, "uper"], 1, "did you mean 'upper'?"),
        (["flex", MODEL, "payload"], 1, "the body 'payload' is rigid; flexible bodies are: upper, lower"),
        (["flex", "nothing.yaml"], 1, "no such file"),
        (["flex", "nothing.sid"], 1, "no such file"),
        (["flex", MODEL, "-o", "x.pdf"], 2, "ends in .png"),
        (["flex", MODEL, "-o", "none/x.png"], 1, "there is no directory"),
        (["flex", MODEL, "--sid", "x.sid"], 2, "name one body"),
        (["modes", MODEL, "--at", "shoulder.w=1"], 2, "no coordinate 'shoulder.w'"),
        (["modes", MODEL, "--at", "shoulder.phi=nan"], 2, "finite"),
        (["modes", MODEL, "-o", "x.pdf"], 2, "ends in .png"),
    ],
)
def test_wrong_use_is_one_message(arguments: list[object], code: int, message: str) -> None:
    done = invoke(*arguments)
    assert done.exit_code == code
    assert message in " ".join(done.stderr.replace("│", "").split())
    assert "Traceback" not in done.stderr


def test_wrong_sid_file_is_refused_with_its_line(tmp_path: Path) -> None:
    facts(MODEL, "lower", "--sid", "lower.sid")
    lines = (tmp_path / "lower.sid").read_text().splitlines()
    (tmp_path / "short.sid").write_text("\n".join(lines[:200]))
    done = invoke("flex", "short.sid")
    assert done.exit_code == 1
    assert "short.sid:200" in done.stderr
    assert "cut off" in done.stderr


def test_files_that_need_more_say_which_keys(tmp_path: Path) -> None:
    (tmp_path / "part.sti").write_text("1 1 1.0\n", encoding="utf-8")
    done = invoke("flex", "part.sti")
    assert done.exit_code == 1
    assert "fe: {file: part.sti" in done.stderr


def pendulum(tmp_path: Path) -> Path:
    """A point mass on a rod, hinged about y, with a ball on a quaternion hinge beside it."""
    bob = {"name": "bob", "parent": "ground", "hinge": {"name": "h", "type": "revolute", "axis": [0, 1, 0]}}
    ball = {"name": "ball", "parent": "ground", "hinge": {"name": "s", "type": "spherical", "stiffness": 2.0}}
    bodies = [
        {**bob, "rigid": {"mass": 2.0, "com": [0, 0, -0.7], "nodes": {"end": {"position": [0, 0, -0.7]}}}},
        {**ball, "rigid": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
    ]
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"bough": 1, "name": "p", "gravity": [0, 0, -9.81], "bodies": bodies}))
    return path


def test_modes_at_a_position_are_those_of_the_formula(tmp_path: Path) -> None:
    """A pendulum held at an angle swings with g cos(angle): upright, it falls."""
    path = pendulum(tmp_path)

    def bob(*arguments: object) -> dict[str, Any]:
        done = invoke("modes", path, *arguments, "--json")
        assert done.exit_code == 0, done.stderr
        (mode,) = [
            mode for mode in json.loads(done.stdout)["modes"] if "h.w" in mode["moves"] and mode["damping"] <= 1e-6
        ]
        return dict(mode)

    omega = np.sqrt(9.81 / 0.7) / (2 * np.pi)
    assert bob()["frequency"] == pytest.approx(omega, rel=1e-12)
    assert bob("--at", "h.phi=0.8")["frequency"] == pytest.approx(omega * np.sqrt(np.cos(0.8)), rel=1e-12)
    upright = bob("--at", f"h.phi={np.pi}, s.Q[1]=0.0")
    assert (upright["kind"], upright["frequency"]) == ("unstable", pytest.approx(omega, rel=1e-9))


def test_position_needs_whole_quaternions(tmp_path: Path) -> None:
    path = pendulum(tmp_path)
    done = invoke("modes", path, "--at", "s.Q[1]=0.5")
    assert done.exit_code == 2
    assert "length" in done.stderr
    done = invoke("modes", path, "--at", "s.Q[1]=0.6,s.Q[4]=0.8", "--at", "h.phi=0.1")
    assert done.exit_code == 0, done.stderr
    assert "small motions about the position s.Q[1]=0.6,s.Q[4]=0.8, h.phi=0.1" in done.stdout


def test_motions_of_a_mechanism_are_drawn(tmp_path: Path) -> None:
    done = invoke("modes", MODEL, "--at", "elbow.phi=-1.2", "-o", "arm.png")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.endswith("arm.png: the motions\n")
    assert is_picture(tmp_path / "arm.png")
    assert invoke("modes", pendulum(tmp_path), "-o", "p.png").exit_code == 0
    assert is_picture(tmp_path / "p.png")


def test_nodes_are_joined_to_their_neighbours() -> None:
    """Whatever their order; two in one place as well."""
    x = np.array([0.0, 3.0, 1.0, 2.0, 3.0])
    edges = spanning_edges(np.column_stack([x, 0 * x, 0 * x]))
    lengths = sorted(abs(x[i] - x[j]) for i, j in edges)
    assert lengths == [0.0, 1.0, 1.0, 1.0]
    assert len(spanning_edges(np.zeros((1, 3)))) == 0


def test_picture_has_a_panel_for_every_mode() -> None:
    positions = np.column_stack([np.linspace(0, 1, 5), np.zeros(5), np.zeros(5)])
    shapes = np.zeros((5, 6, 3))
    shapes[:, 0, 0] = positions[:, 0]
    shapes[:, 4, 1] = positions[:, 0] ** 2
    body = Sketch("bar", positions, shapes, ["twist", "bend", "nothing"], marked=[0])
    figure = mode_figure([body, Sketch("point", positions[:1], shapes[:1], ["a", "b", "c"])])
    assert [axes.get_title() for axes in figure.axes] == ["twist", "bend", "nothing", "a", "b", "c"]
    for axes in figure.axes:
        assert [text.get_text() for text in axes.texts] == ["x", "y", "z"], "every panel shows the body's axes"
