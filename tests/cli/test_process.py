"""The command as a process: exit codes, closed pipes, interrupts, devices."""

from __future__ import annotations

import os
import pty
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from house.tools import ROOT

from bough.demo import MODEL

BOUGH = [sys.executable, "-m", "bough"]
CHAIN = str(ROOT / "examples" / "flexible_chain" / "model.yaml")


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*BOUGH, *arguments], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--version"], 0), (["check", str(MODEL)], 0), (["check", "nowhere.yaml"], 1), (["frobnicate"], 2)],
)
def test_process_ends_with_its_code(arguments: list[str], code: int, tmp_path: Path) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_reader_that_has_seen_enough_is_no_failure(tmp_path: Path) -> None:
    process = subprocess.Popen([*BOUGH, "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=600) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [["schema"], ["run", str(MODEL), "--stop", "0.1", "-o", "-"]])
def test_full_disk_behind_stdout_is_one_message(arguments: list[str], tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*BOUGH, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_warning_that_nobody_can_read_does_not_end_the_run(tmp_path: Path) -> None:
    text = MODEL.read_text(encoding="utf-8").replace("gravity: [0, 0, -9.81]", "gravity: [0, 0, -981]")
    (tmp_path / "odd.yaml").write_text(text, encoding="utf-8")
    assert "warning" in run("run", "odd.yaml", "--stop", "0.01", cwd=tmp_path).stderr
    (tmp_path / "run.csv").unlink()
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*BOUGH, "run", "odd.yaml", "--stop", "0.01"], stderr=full, cwd=tmp_path, check=False)
    assert done.returncode == 0 and (tmp_path / "run.csv").exists()


def test_device_as_output_stays_a_device(tmp_path: Path) -> None:
    done = run("run", str(MODEL), "--stop", "0.1", "-o", os.devnull, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def work_for(pid: int, seconds: float) -> None:
    """Wait until a process has used so many seconds of a processor, those of children that ended included."""
    fields = Path(f"/proc/{pid}/stat")
    while sum(map(int, fields.read_text().rpartition(")")[2].split()[11:15])) < seconds * os.sysconf("SC_CLK_TCK"):
        time.sleep(0.05)


def interrupted(arguments: list[str], number: signal.Signals, folder: Path, output: str) -> tuple[int, str]:
    """Exit code and message of a command that gets a signal once it has something to keep."""
    for seconds in (2, 4, 8, 16, 32, 64):  # of its own work: a busy machine takes longer for them
        # What runs in the background of a shell ignores Ctrl-C, and so would its children.
        process = subprocess.Popen(
            [*BOUGH, *arguments],
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        work_for(process.pid, seconds)
        process.send_signal(number)
        try:
            _, said = process.communicate(timeout=600)
        finally:
            process.kill()
        if (folder / output).exists():
            break
    return process.returncode, said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name)
def test_interrupted_run_keeps_its_rows(number: signal.Signals, tmp_path: Path) -> None:
    # Tight and long enough to be still at it when the signal comes.
    arguments = ["run", CHAIN, "--stop", "1e4", "--step", "0.01", "--rtol", "1e-8"]
    code, said = interrupted(arguments, number, tmp_path, "run.csv")
    assert code == 1
    rows = len((tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()) - 1
    end = f"{(rows - 1) * 0.01:.9g}"
    assert rows > 1
    lines = [line for line in said.splitlines() if not line.startswith("warning: ")]
    assert lines == [f"interrupted at t = {end} s", f"the {rows} rows until t = {end} s are in run.csv"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda s: s.name)
def test_interrupted_sweep_keeps_its_runs_and_names_the_others(number: signal.Signals, tmp_path: Path) -> None:
    values = "shoulder.tau=0:1:2000"
    arguments = ["sweep", str(MODEL), "--set", values, "--stop", "0.2", "--jobs", "2", "--only", "*.phi", "--runs", "r"]
    code, said = interrupted(arguments, number, tmp_path, "sweep.csv")
    assert code == 1
    numbers = [int(line.split(",")[0]) for line in (tmp_path / "sweep.csv").read_text().splitlines()[1:]]
    assert 0 < len(numbers) < 2000
    kept = sorted(path.name for path in (tmp_path / "r").iterdir())
    assert kept == ["csv-metadata.json", *(f"run_{n:04d}.csv" for n in numbers)]
    first = next(n for n in range(1, 2001) if n not in numbers)
    assert f"sweep.csv has the {len(numbers)} runs that had ended; missing: {first}, " in said
    assert f"({2000 - len(numbers)} in all)" in said
    assert "Traceback" not in said


def on_a_terminal(*arguments: str, cwd: Path) -> tuple[int, bytes]:
    """Exit code, and what a person sees."""
    ours, theirs = pty.openpty()
    command = [*BOUGH, *arguments]
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, cwd=cwd, close_fds=True)
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:  # Linux ends a pseudo-terminal with EIO
        pass
    os.close(ours)
    return process.wait(timeout=600), seen


def test_terminal_sees_progress_and_the_outcome(tmp_path: Path) -> None:
    code, seen = on_a_terminal("run", str(MODEL), "--stop", "0.5", cwd=tmp_path)
    assert code == 0
    assert b"100 %" in seen
    assert b"run.csv: 1001 rows" in seen


def test_setting_that_is_refused_is_all_that_a_terminal_sees(tmp_path: Path) -> None:
    code, seen = on_a_terminal("sweep", str(MODEL), "--set", "payload.mass=0:1:3", cwd=tmp_path)
    assert code == 1
    assert b"mark the body `tunable: true`" in seen
    assert b"%" not in seen, "no progress of what does not begin"
    assert b"\x1b" not in seen
