"""Each command answers as its documentation says, and fails with one message and the right code."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from house.tools import ROOT
from typer.testing import CliRunner, Result

import bough
from bough.cli import app
from bough.demo import MODEL
from bough.run.result import decimals, short_times

ARM = str(MODEL)
FAULTY = """\
bough: 1
name: faulty
bodies:
  - name: a
    parent: ground
    hinge: {type: revolut, axis: [0, 0, 1]}
    rigid: {mass: -1}
"""


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    path = tmp_path / "faulty.yaml"
    path.write_text(FAULTY, encoding="utf-8")
    return path


def test_check_sums_up_a_model() -> None:
    done = invoke("check", ARM)
    assert done.exit_code == 0
    assert "4 bodies, 8 degrees of freedom, 6 modes, 2.634 kg" in done.stdout
    # First bending frequency of a cantilever: 1.875104^2 / (2 pi L^2) sqrt(E I / (rho A)) = 4.11 Hz
    assert re.search(r"upper .*shoulder .*revolute .*beam .*0.81 .*4\.11", done.stdout)


@pytest.mark.parametrize("example", ["four_bar", "excavator"])
def test_check_shows_how_far_assembly_moved_each_coordinate(example: str) -> None:
    """From and to differ by the way that is told, to a tenth, however small it is."""
    path = ROOT / "examples" / example / "model.yaml"
    lines = re.findall(r"assembly moved (\S+) from (\S+) to (\S+), by (\S+)\n", invoke("check", path).stdout)
    moved = bough.Mechanism(bough.load(path)).moved
    assert [line[0] for line in lines] == [m.name for m in moved]
    for m, (_, drawn, closed, way) in zip(moved, lines, strict=True):
        assert float(way) == pytest.approx(m.closed - m.drawn, rel=5e-3)
        assert float(closed) - float(drawn) == pytest.approx(m.closed - m.drawn, rel=0.11)


def test_check_answers_a_program_in_json() -> None:
    data = json.loads(invoke("check", ARM, "--json").stdout)
    assert data["ok"] is True
    assert [body["name"] for body in data["bodies"]] == ["upper", "elbow_motor", "lower", "payload"]
    assert data["speeds"] == 8
    assert data["inputs"] == ["shoulder.tau", "elbow.tau"]
    assert len(data["bodies"][0]["frequencies"]) == 3


def test_check_locates_every_problem(faulty: Path) -> None:
    done = invoke("check", faulty)
    assert done.exit_code == 1
    assert done.stdout == ""
    for place in (f"{faulty}:6: bodies[0].hinge.type", f"{faulty}:7: bodies[0].rigid.mass"):
        assert place in done.stderr


def test_check_hands_problems_to_a_program(faulty: Path) -> None:
    done = invoke("check", faulty, "--json")
    assert done.exit_code == 1
    data = json.loads(done.stdout)
    assert data["ok"] is False
    assert {"line": 7, "key": "bodies[0].rigid.mass"}.items() <= data["problems"][1].items()


def test_run_writes_what_simulate_computes(tmp_path: Path) -> None:
    target = tmp_path / "run.csv"
    done = invoke("run", ARM, "--stop", 0.2, "--step", 0.05, "--set", "shoulder.tau=2", "-o", target)
    assert (done.exit_code, done.stderr) == (0, ""), "no progress where no terminal is"
    assert re.fullmatch(rf"{re.escape(str(target))}: 5 rows of \d+ variables to t = 0.2 s \([^\n]*\)\n", done.stdout)
    expected = bough.simulate(MODEL, stop=0.2, step=0.05, inputs={"shoulder.tau": 2.0})
    written = bough.Result.from_csv(target)
    assert written.names == expected.names
    for name in expected.names:
        # Numbers are written so that they read back the same.
        assert np.array_equal(written[name], expected[name]), name


def test_run_takes_inputs_from_a_table(tmp_path: Path) -> None:
    table = tmp_path / "torques.csv"
    table.write_text("elbow.tau,time\n0,0\n1,0.1\n\n", encoding="utf-8")
    done = invoke("run", ARM, "--stop", 0.2, "--step", 0.05, "--input", table, "-o", tmp_path / "run.csv")
    assert done.exit_code == 0, done.stderr
    tau = bough.Result.from_csv(tmp_path / "run.csv")["elbow.tau"]
    assert tau == pytest.approx([0.0, 0.5, 1.0, 1.0, 1.0], abs=1e-15)


def test_run_writes_to_stdout() -> None:
    done = invoke("run", ARM, "--stop", 0.1, "--step", 0.1, "-o", "-")
    lines = done.stdout.splitlines()
    assert len(lines) == 3, "data only"
    assert lines[0].startswith("time,shoulder.tau,")
    assert done.stderr.startswith("stdout: 2 rows of ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("method", ["dopri5", "rk4", "rosenbrock2"])
def test_run_tells_a_program_how_it_went(method: str, tmp_path: Path) -> None:
    target = tmp_path / "run.csv"
    done = invoke("run", ARM, "--stop", 0.01, "--step", 1e-4, "--method", method, "-o", target, "--json")
    data = json.loads(done.stdout)
    assert data["ok"] is True
    assert (data["rows"], data["time"], data["method"], data["output"]) == (101, 0.01, method, str(target))
    assert data["evaluations"] > 0


def test_run_that_fails_keeps_what_it_has(tmp_path: Path) -> None:
    target = tmp_path / "run.csv"
    # Runge-Kutta with steps a hundred times too long for the stiffest mode: grows until the sweep cannot go on.
    arguments = ["run", ARM, "--method", "rk4", "--step", 0.1, "--stop", 50, "--set", "shoulder.tau=1", "-o", target]
    done = invoke(*arguments, "--json")
    assert done.exit_code == 1
    assert re.search(r"at body '\w+' .* at t = [\d.]+ s", done.stderr)
    data = json.loads(done.stdout)
    assert data["ok"] is False
    assert 1 <= data["rows"] < 501
    assert f"the {data['rows']} rows until t = " in done.stderr
    assert len(bough.Result.from_csv(target)) == data["rows"]


def test_modes_of_a_pendulum_with_a_spring_are_those_of_the_formula(tmp_path: Path) -> None:
    m, length, g, k, d = 2.0, 0.7, 9.81, 3.0, 0.4
    hinge = {"name": "pivot", "type": "revolute", "axis": [0, 1, 0], "stiffness": k, "damping": d}
    rigid = {"mass": m, "com": [0, 0, -length]}
    body = {"name": "bob", "parent": "ground", "hinge": hinge, "rigid": rigid}
    path = tmp_path / "pendulum.json"
    path.write_text(json.dumps({"bough": 1, "name": "p", "gravity": [0, 0, -g], "bodies": [body]}), encoding="utf-8")
    (mode,) = json.loads(invoke("modes", path, "--json").stdout)["modes"]
    inertia = m * length**2
    omega = np.sqrt((k + m * g * length) / inertia)
    # Exact derivatives: round-off only.
    assert mode["frequency"] == pytest.approx(omega / (2 * np.pi), rel=1e-12)
    assert mode["damping"] == pytest.approx(d / (2 * inertia * omega), rel=1e-12)
    assert mode["moves"] == {"pivot.w": pytest.approx(1.0)}


def test_modes_of_a_gyrostat_show_its_nutation(tmp_path: Path) -> None:
    inertia, h = (2.0, 5.0, 3.0), 1.5
    rigid = {"mass": 4.0, "inertia": [*inertia, 0, 0, 0], "wheels": [{"axis": [0, 1, 0], "momentum": h}]}
    body = {"name": "hub", "parent": "ground", "hinge": {"type": "free"}, "rigid": rigid}
    path = tmp_path / "gyrostat.json"
    path.write_text(json.dumps({"bough": 1, "name": "g", "bodies": [body]}), encoding="utf-8")
    data = json.loads(invoke("modes", path, "--json").stdout)
    assert data["unsprung"] == 6
    (nutation,) = data["modes"]
    assert nutation["frequency"] == pytest.approx(h / np.sqrt(inertia[0] * inertia[2]) / (2 * np.pi), rel=1e-12)


def test_modes_prints_a_table() -> None:
    done = invoke("modes", ARM)
    assert done.exit_code == 0
    assert "2 motions without stiffness" in done.stdout
    assert re.search(r"lower\.eta_dot\[1\] \(bending_z 1\) \d+ %", done.stdout)


def test_schema_accepts_the_arm(tmp_path: Path) -> None:
    target = tmp_path / "schema.json"
    assert invoke("schema", "-o", target).exit_code == 0
    text = target.read_text(encoding="utf-8")
    assert json.loads(text) == json.loads(invoke("schema").stdout)
    pendulum = json.loads((ROOT / "tests" / "model" / "good" / "pendulum.json").read_text(encoding="utf-8"))
    jsonschema.validate(pendulum, json.loads(text))


def test_version_is_that_of_the_package() -> None:
    assert invoke("--version").stdout == f"bough {bough.__version__}\n"


USAGE = {
    "no such command": ["frobnicate"],
    "no such option": ["check", ARM, "--frobnicate"],
    "no model": ["run"],
    "time before the start": ["run", ARM, "--stop", "-1"],
    "time that is no number": ["run", ARM, "--stop", "soon"],
    "time without end": ["run", ARM, "--stop", "inf"],
    "step of nothing": ["run", ARM, "--step", "0"],
    "too many rows": ["run", ARM, "--step", "1e-12"],
    "no such method": ["run", ARM, "--method", "euler"],
    "tolerance of nothing": ["run", ARM, "--rtol", "0"],
    "setting without a value": ["run", ARM, "--set", "shoulder.tau"],
    "setting of what is computed": ["run", ARM, "--set", "shoulder.a=1"],
    "the same input twice": ["run", ARM, "--set", "shoulder.tau=1", "--set", "shoulder.tau=2"],
    "two answers on stdout": ["run", ARM, "-o", "-", "--json"],
}


@pytest.mark.parametrize("arguments", USAGE.values(), ids=USAGE)
def test_wrong_use_ends_with_two(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = invoke(*arguments)
    assert done.exit_code == 2
    assert "Usage: " in done.stderr
    assert not list(tmp_path.iterdir())


FAILURES = {
    "no such model": (["check", "nowhere.yaml"], "no such file"),
    "a directory as the model": (["check", "."], "a directory"),
    "a binary as the model": (["run", "blob"], "UTF-8"),
    "no such folder for the result": (["run", ARM, "-o", "nowhere/run.csv"], "there is no directory"),
    "a directory as the result": (["run", ARM, "-o", "."], "it is a directory"),
    "no such table": (["run", ARM, "--input", "nowhere.csv"], "cannot read nowhere.csv"),
    "a table without times": (["run", ARM, "--input", "timeless.csv"], "timeless.csv:1: expected a header"),
    "a table of something else": (["run", ARM, "--input", "other.csv"], "there is no input 'wrist.tau'"),
    "a table with a word in it": (["run", ARM, "--input", "word.csv"], "word.csv:3: shoulder.tau: expected a finite"),
    "a table with a short row": (["run", ARM, "--input", "short.csv"], "short.csv:2: expected 2 numbers, found 1"),
    "a table that goes back": (["run", ARM, "--input", "back.csv"], "the time goes back"),
    "a table without rows": (["run", ARM, "--input", "empty.csv"], "at least one row"),
    "no such result": (["report", "nowhere.csv"], "cannot read nowhere.csv"),
    "a model as the result": (["report", "other.yaml"], "other.yaml: expected the CSV file of a run, found a model"),
    "a result that is none": (["report", "headless.csv"], "headless.csv:1: expected a header"),
    "a result without rows": (["report", "empty.csv", "-o", "x.html"], "nothing to report"),
    "no such folder for the schema": (["schema", "-o", "nowhere/schema.json"], "there is no directory"),
    "a file as the folder of the demo": (["demo", "-o", "blob"], "cannot write to blob"),
}


@pytest.mark.parametrize(("arguments", "message"), FAILURES.values(), ids=FAILURES)
def test_failure_ends_with_one_and_says_why(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "timeless.csv": "t,shoulder.tau\n0,1\n",
        "other.csv": "time,wrist.tau\n0,1\n",
        "word.csv": "time,shoulder.tau\n0,1\n1,much\n",
        "short.csv": "time,shoulder.tau\n0\n",
        "back.csv": "time,shoulder.tau\n0,1\n2,1\n1,1\n",
        "empty.csv": "time,shoulder.tau\n",
        "headless.csv": "0.0,1.0\n",
        "other.yaml": FAULTY,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "blob").write_bytes(bytes(range(256)))
    done = invoke(*arguments)
    assert done.exit_code == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert {p.name for p in tmp_path.iterdir()} == {*files, "blob"}, "nothing is left behind"


def plain(text: str) -> str:
    """Text of a message without its frame, which the terminal's width breaks."""
    return " ".join(text.replace("│", " ").split())


PLAIN_WORDS = {
    "a word as a time": (["run", ARM, "--stop", "abc"], "'--stop': expected a number, found 'abc'"),
    "a fraction as a count": (["sweep", ARM, "--set", "a=1", "--jobs", "1.5"], "expected a whole number, found '1.5'"),
    "too small a count": (["sweep", ARM, "--set", "a=1", "--jobs", "0"], "expected 1 or more, found '0'"),
    "an unknown choice": (["build", ARM, "--fmi", "4"], "'--fmi': '4' is not one of '2.0', '3.0'"),
    "a misspelt command": (["chek", ARM], "There is no command 'chek'; did you mean 'check'?"),
    "a command that is none": (["frobnicate"], "There is no command 'frobnicate'; there are: check, run, "),
    "a misspelt parameter": (["run", ARM, "--set", "elbow.dampin=1"], "did you mean 'elbow.damping'?"),
}


@pytest.mark.parametrize(("arguments", "message"), PLAIN_WORDS.values(), ids=PLAIN_WORDS)
def test_wrong_use_is_told_in_plain_words(arguments: list[str], message: str) -> None:
    done = invoke(*arguments)
    assert done.exit_code == 2
    assert message in plain(done.stderr)
    assert "Value error" not in done.stderr
    assert "Input should be" not in done.stderr


@pytest.mark.parametrize("command", [[], ["run"], ["build"], ["record"], ["sweep"], ["build-partner", "motor"]])
def test_flags_look_as_if_they_take_no_value(command: list[str]) -> None:
    assert "bool" not in invoke(*command, "--help").stdout.lower()


def test_every_command_says_in_one_line_what_it_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = {
        "run.csv": ["run", ARM, "--stop", 0.1, "--step", 0.01, "-o", "run.csv"],
        "run.html": ["report", "run.csv"],
        "arm.fmu": ["build", ARM, "-o", "arm.fmu", "--platform", "native"],
        "arm.reference.csv": ["record", "arm.fmu", "--stop", 0.1],
        "sweep.csv": ["sweep", ARM, "--set", "elbow.phi=0,1", "--stop", 0.1],
        "schema.json": ["schema", "-o", "schema.json"],
    }
    for name, arguments in commands.items():
        done = invoke(*arguments)
        assert (done.exit_code, done.stderr) == (0, ""), done.output
        assert done.stdout.startswith(f"{name}: ")
        assert done.stdout.count("\n") == 1
        assert done.stdout.rstrip("\n").isprintable(), "no bar, no control characters"
        assert (tmp_path / name).is_file()


def test_what_was_written_is_told_beside_an_answer_for_a_program(tmp_path: Path) -> None:
    for arguments, name in ((["build", ARM, "--platform", "native"], "x.fmu"), (["run", ARM, "--stop", 0.1], "x.csv")):
        target = tmp_path / name
        done = invoke(*arguments, "-o", target, "--json")
        assert json.loads(done.stdout)["ok"] is True
        assert done.stderr.startswith(f"{target}: ")
        assert done.stderr.count("\n") == 1


def test_fmu_gets_its_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = invoke("build", ARM, "-o", "arm.v2", "--platform", "native")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("arm.v2.fmu: ")
    assert [p.name for p in tmp_path.iterdir()] == ["arm.v2.fmu"]


@pytest.mark.parametrize(("options", "step"), [([], Decimal("0.003")), (["--step", "0.01"], Decimal("0.01"))])
def test_times_of_a_result_are_written_as_one_would_write_them(
    options: list[str], step: Decimal, tmp_path: Path
) -> None:
    fmu = bough.build_fmu(MODEL, tmp_path / "arm.fmu", platforms="native")
    for source in (ARM, fmu):
        target = tmp_path / "run.csv"
        assert invoke("run", source, "--stop", 3, *options, "-o", target).exit_code == 0
        times = [line.split(",")[0] for line in target.read_text(encoding="utf-8").splitlines()[1:]]
        assert times == [repr(float(i * step)) for i in range(len(times))]
        assert times[-1] == "3.0"


def test_times_are_changed_by_rounding_only() -> None:
    step = np.pi / 100
    odd = step * np.arange(101)
    assert np.array_equal(short_times(odd, decimals(step)), odd), "there is no short form"
    coarse = 0.0125 * np.arange(101)
    assert abs(short_times(coarse, 2) - coarse).max() <= np.spacing(1.25), "two decimals are too few for most of them"
    fine = 1e-3 * np.arange(10_001)
    assert 0 < abs(short_times(fine, 3) - fine).max() <= np.spacing(10.0)
