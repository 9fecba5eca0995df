"""What a newcomer meets: notes on odd numbers, tables in a narrow terminal, runs that start at rest."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

import bough
from bough.cli import app
from bough.cli.summary import print_summary
from bough.cli.vibration_table import print_vibrations
from bough.demo import MODEL
from bough.demo.pictures import vibration_panels
from bough.demo.show import _missed
from bough.mechanism.model_summary import summary
from bough.mechanism.vibration import vibrations
from bough.report.palette import line_style

ARM = """\
bough: 1
name: arm
gravity: [0, 0, -9.81]
bodies:
  - name: link
    parent: ground
    hinge: {name: shoulder, type: revolute, axis: [0, 0, 1]}
    beam:
      length: 1.0
      elements: 8
      section: {shape: rectangle, width: 0.02, height: 0.02}
      material: {E: 70e9, nu: 0.33, rho: 2700}
      modes: {boundary: cantilever, count: 4}
      damping: 0.01
  - name: load
    parent: link
    at: tip
    hinge: {type: fixed}
    rigid: {mass: 0.2, tunable: true}
inputs: [link.tip.force]
outputs: [link.tip]
"""
SYSTEM = "bough_system: 1\nname: drive\ncomponents: {arm: arm.yaml}\nconnections: []\n"


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / "arm.yaml"
    path.write_text(ARM, encoding="utf-8")
    return path


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    path = tmp_path / "odd.yaml"
    path.write_text(ARM.replace("70e9", "70").replace("damping: 0.01", "damping: 1.0"), encoding="utf-8")
    return path


def tips(model: Path, *arguments: object) -> bough.Result:
    target = model.with_suffix(".csv")
    done = invoke("run", model, "--stop", 0.05, "--step", 0.01, *arguments, "-o", target)
    assert done.exit_code == 0, done.stderr
    return bough.Result.from_csv(target)


def test_check_notes_what_looks_odd_below_its_table_and_still_succeeds(odd: Path) -> None:
    done = invoke("check", odd)
    assert done.exit_code == 0
    notes = [line for line in done.stdout.splitlines() if line.startswith("note: ")]
    assert [re.match(r"note: (\S+?):(\d+): (\S+):", note)[2] for note in notes] == ["12", "14"]  # type: ignore[index]
    assert notes[0].startswith(f"note: {odd}:12: bodies[0].beam.material.E: ")
    assert "70 GPa is 70e9" in notes[0]
    assert done.stdout.rstrip().endswith(notes[-1]), "after the table"


def test_check_hands_notes_to_a_program(odd: Path, arm: Path) -> None:
    notes = json.loads(invoke("check", odd, "--json").stdout)["notes"]
    assert [(note["line"], note["key"]) for note in notes] == [
        (12, "bodies[0].beam.material.E"),
        (14, "bodies[0].beam.damping"),
    ]
    assert all(note["file"] == str(odd) and note["found"] and note["why"] and note["cure"] for note in notes)
    assert json.loads(invoke("check", arm, "--json").stdout)["notes"] == []


def test_run_and_build_warn_of_what_looks_odd_in_a_line_each(odd: Path, tmp_path: Path) -> None:
    for command in (["run", odd, "--stop", "1e-3", "-o", tmp_path / "x.csv"], ["build", odd, "-o", tmp_path / "x.fmu"]):
        done = invoke(*command)
        assert done.exit_code == 0
        assert [line.partition(f": {odd}:")[0] for line in done.stderr.splitlines()] == ["warning"] * 2


@pytest.mark.parametrize("arguments", [["check"], ["modes"], ["build"], ["report", "run.csv", "--model"]])
def test_a_system_file_is_sent_to_couple_wherever_a_model_is_wanted(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drive.yaml").write_text(SYSTEM, encoding="utf-8")
    (tmp_path / "run.csv").write_text("time,shoulder.phi\n0,0\n1,0\n", encoding="utf-8")
    done = invoke(*arguments, "drive.yaml")
    assert done.exit_code == 1
    assert done.stderr.count("expected:") == 1
    assert "`bough couple drive.yaml -o drive.ssp`" in done.stderr


@pytest.mark.parametrize("width", [20, 40, 50, 60, 70, 80, 100, 120, 160])
def test_no_width_of_the_terminal_breaks_a_name(width: int) -> None:
    system, out = bough.Mechanism(MODEL), io.StringIO()
    print_summary(summary(system), Console(file=out, width=width, highlight=False))
    head, _, shown = out.getvalue().partition("m/s2")
    assert "two_link_arm:" in head
    for body in system.model.bodies:
        assert re.search(rf"(?<!\w){body.name}(?!\w)", shown)
        if body.hinge.type != "fixed" or width > 90:
            assert re.search(rf"(?<!\w){body.hinge.name}(?!\w)", shown)
    table = [line for line in shown.splitlines() if line[:1] in ("┃", "│")]
    assert len({len(line) for line in table}) <= 1
    assert all(len(line) <= width and line.endswith(("┃", "│")) for line in table)
    if width < 100:
        assert not table or "no room here for DOF" in shown, "it says what it leaves out"
    else:
        assert re.search(r"DOF .*kind .*mass, kg .*modes, Hz", shown)


def test_a_settled_run_starts_and_stays_where_the_weight_bends_the_arm(arm: Path) -> None:
    ringing, calm = tips(arm), tips(arm, "--settle")
    assert ringing["link.tip.r[3]"][0] == 0.0
    # w L^4 / 8 E I + m g L^3 / 3 E I; four modes lack a percent of it.
    stiffness = 70e9 * 0.02**4 / 12
    sag = 9.81 * (2700 * 0.02**2 / 8 + 0.2 / 3) / stiffness
    assert calm["link.tip.r[3]"] == pytest.approx(-sag, rel=0.02)
    assert np.ptp(calm["link.tip.r[3]"]) < 1e-3 * sag
    assert not calm["shoulder.phi"].any()


@pytest.mark.parametrize(
    ("settings", "factor"),
    [
        (["--set", "gravity[3]=0"], 0.0),
        (["--set", "gravity[3]=-19.62"], 2.0),
        (["--set", "load.mass=0", "--set", "link.tip.force[3]=-1.962"], 1.0),
    ],
)
def test_settling_knows_what_is_set(arm: Path, settings: list[str], factor: float) -> None:
    plain, other = (tips(arm, "--settle", *more)["link.tip.r[3]"] for more in ([], settings))
    # Deflections are small: linear in the load but for the square of the slope.
    assert other == pytest.approx(factor * plain, rel=1e-4, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "arm.yaml", "--settle", "--set", "link.eta[1]=0.1"], "--settle finds link.eta[1] itself"),
        (["run", "arm.fmu", "--settle"], "for model files and system files only"),
    ],
)
def test_settling_refuses_what_it_cannot_take(
    arm: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(arm.parent)
    done = invoke(*arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_modes_tells_which_force_is_missing_in_its_unit_and_how_to_settle(arm: Path) -> None:
    loose, settled = invoke("modes", arm), invoke("modes", arm, "--settle")
    assert re.search(
        r"is not an equilibrium: holding it takes \S+ J per unit of link\.eta\[\d\], on mode \d of body 'link'",
        loose.stderr,
    )
    assert "--settle bends" in loose.stderr
    assert (settled.exit_code, settled.stderr) == (0, "")
    assert "the start position, settled" in settled.stdout


def test_modes_breaks_no_name_in_a_terminal_of_80_columns(arm: Path) -> None:
    text = ARM.replace("link", "telescopic_boom_of_the_left")
    arm.write_text(text.replace("[0, 0, 1]}", "[0, 0, 1], damping: 0.1}"), encoding="utf-8")
    system, out = bough.Mechanism(arm), io.StringIO()
    print_vibrations("arm", vibrations(system), Console(file=out, width=80, highlight=False))
    assert "decays in" in " ".join(re.sub(r"[^\w ]", " ", out.getvalue()).split())
    for i in (1, 2, 3, 4):
        assert f"telescopic_boom_of_the_left.eta_dot[{i}]" in out.getvalue()


def test_modes_tells_the_torque_that_holds_a_hinge(tmp_path: Path) -> None:
    path = tmp_path / "pendulum.yaml"
    path.write_text(
        "bough: 1\nname: p\ngravity: [0, 0, -10]\nbodies:\n"
        "  - {name: bob, parent: ground, hinge: {name: pivot, type: revolute, axis: [0, 1, 0]},"
        " rigid: {mass: 2, com: [1, 0, 0]}}\n",
        encoding="utf-8",
    )
    assert "holding it takes -20 N.m at hinge 'pivot' (pivot.w)" in invoke("modes", path).stderr


SATELLITE = """\
bough: 1
name: satellite
bodies:
  - name: bus
    parent: ground
    hinge: {name: flight, type: free}
    rigid: {mass: 100, inertia: [10, 12, 14, 0, 0, 0]}
  - name: panel
    parent: bus
    hinge: {name: drive, type: universal, axes: [[0, 1, 0], [0, 0, 1]], damping: DAMPING}
    rigid: {mass: 5, com: [1, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}
"""


@pytest.mark.parametrize(
    ("damping", "listed", "told"),
    [
        ("0.5", 2, "8 motions without stiffness: 6 of them move freely, at 0 Hz, and are not listed"),
        ("[0.5, 0]", 1, "8 motions without stiffness: 7 of them move freely, at 0 Hz, and are not listed"),
        ("0", 0, "8 motions without stiffness: they move freely, at 0 Hz, and are not listed"),
    ],
)
def test_modes_accounts_for_every_motion_without_stiffness(
    damping: str, listed: int, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "satellite.yaml"
    path.write_text(SATELLITE.replace("DAMPING", damping), encoding="utf-8")
    done = invoke("modes", path)
    assert told in " ".join(done.stdout.split())
    data = json.loads(invoke("modes", path, "--json").stdout)
    assert (len(data["modes"]), data["unsprung"], data["free"]) == (listed, 8, 8 - listed)


@pytest.mark.parametrize(("name", "told"), [("link.end", "; nodes of link: root, n1, ..., tip"),
                                            ("link", "; nodes of link: root, n1, ..., tip"),
                                            ("link.tp", "; did you mean 'link.tip'?"),
                                            ("load.end", "; nodes of load: origin")])  # fmt: skip
def test_python_answers_an_unknown_node_with_those_of_its_body(name: str, told: str, arm: Path) -> None:
    system = bough.Mechanism(arm)
    with pytest.raises(ValueError, match="there is no node") as caught:
        system.pose(system.initial_state()[0], name)
    assert str(caught.value) == f"there is no node {name!r}{told}"


def test_both_controllers_have_the_same_names_and_colours_on_paper_and_on_the_screen() -> None:
    t = np.linspace(0.0, 2.0, 9)
    runs: list[Any] = [
        SimpleNamespace(result=SimpleNamespace(t=t), move=(0.0, 1.0), miss=size * t, vibration=size)
        for size in (1e-2, 1e-3)
    ]
    paper = [(curve.label.partition(":")[0], curve.colour) for curve in vibration_panels(*runs)[0].curves]
    assert paper == [(name, line_style(i)[0]) for i, name in enumerate(_missed(*runs).curves)]


def test_report_without_a_model_tells_how_to_add_the_animation(arm: Path, tmp_path: Path) -> None:
    tips(arm)
    hint = "; `--model MODEL` adds the animation"
    assert invoke("report", tmp_path / "arm.csv").stdout.rstrip().endswith(hint)
    assert hint not in invoke("report", tmp_path / "arm.csv", "--model", arm).stdout
    other = tmp_path / "other.csv"
    other.write_text("time,motor.u,motor.i\n0,0,0\n1,1,2\n", encoding="utf-8")
    done = invoke("report", other)
    assert (done.exit_code, hint in done.stdout) == (0, False)
