"""Stops every writing command at its system calls, by strace, and looks at the files that are left.

    python tests/files/kills.py KILLS [ERRORS]

kills so many processes (SIGKILL on entering a system call) and fails so many single calls (ENOSPC), spread over all
commands. After a kill every output is its old self or its new self, byte for byte; after a failing call it is the old
one with exit code 1 and a message, or the new one. Nothing else in the folder changes; a killed process may leave a
file `*.part`, a failing one none. The report is JSON: counts, and what was wrong.

One process imports bough; each trial is a fork of it which strace joins, so that a trial takes as long as its command.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CALLS = (
    "write,writev,pwrite64,fsync,fdatasync,ftruncate,fallocate,rename,renameat,renameat2,link,linkat,unlink,unlinkat,"
    "fchmod,fchown,mkdir,openat,close"
)
FAILING = "write,writev,pwrite64,fsync,rename,renameat,renameat2"
"""Calls that fail when a disk is full or broken."""
OLD = b"what was there before\n" * 40

ARM: dict[str, Any] = {
    "bough": 1,
    "name": "arm",
    "gravity": [0, 0, -9.81],
    "bodies": [
        {
            "name": "upper",
            "parent": "ground",
            "hinge": {"name": "shoulder", "type": "revolute", "axis": [0, 0, 1], "damping": 0.1},
            "rigid": {"mass": 2.0, "com": [0.5, 0, 0], "inertia": [0.01, 0.2, 0.2, 0, 0, 0], "tunable": True},
        },
        {
            "name": "blade",
            "parent": "upper",
            "hinge": {"name": "root", "type": "fixed"},
            "beam": {
                "length": 1.0,
                "elements": 4,
                "section": {"shape": "rectangle", "width": 0.02, "height": 0.01},
                "material": {"E": 70e9, "nu": 0.33, "rho": 2700.0},
                "modes": {"boundary": "cantilever", "count": 2},
                "damping": 0.01,
            },
        },
    ],
}
SYSTEM: dict[str, Any] = {
    "bough_system": 1,
    "name": "drive",
    "components": {"arm": "arm.json", "motor": {"partner": "motor"}},
    "connections": ["arm.shoulder.w -> motor.w", "motor.tau -> arm.shoulder.tau"],
    "master": {"step": 0.01, "stop": 0.05},
}
SHORT = ("--stop", "0.05", "--step", "0.005")


@dataclass(frozen=True)
class Case:
    """A command, and the files that it writes."""

    name: str
    arguments: tuple[str, ...]
    outputs: tuple[str, ...]
    most: int = 1000
    """Trials at most: some commands take long."""
    stable: bool = True
    """Whether the same command gives the same bytes."""


CASES = (
    Case("run a model", ("run", "arm.json", *SHORT, "-o", "out.csv"), ("out.csv",)),
    Case("run with a table", ("run", "arm.json", *SHORT, "--input", "torque.csv", "-o", "out.csv"), ("out.csv",)),
    Case("run an FMU", ("run", "arm.fmu", *SHORT, "-o", "out.csv"), ("out.csv",)),
    Case("run a system", ("run", "drive.json", "-o", "out.csv"), ("out.csv",)),
    Case("run a package", ("run", "drive.ssp", "-o", "out.csv"), ("out.csv",)),
    Case("report", ("report", "run.csv", "-o", "out.html"), ("out.html",)),
    Case("report with a model", ("report", "run.csv", "--model", "arm.json", "-o", "out.html"), ("out.html",)),
    Case("flex", ("flex", "arm.json", "-o", "out.png", "--sid", "out.sid"), ("out.png", "out.sid")),
    Case("modes", ("modes", "arm.json", "-o", "out.png"), ("out.png",)),
    Case("schema", ("schema", "-o", "out.json"), ("out.json",)),
    Case("build", ("build", "arm.json", "--platform", "native", "-o", "out.fmu"), ("out.fmu",)),
    Case("build FMI 3", ("build", "arm.json", "--fmi", "3.0", "-o", "out.fmu"), ("out.fmu",)),
    Case("build sources", ("build", "arm.json", "--runtime", "source", "-o", "out.fmu"), ("out.fmu",)),
    Case("build-partner", ("build-partner", "motor", "-o", "out.fmu"), ("out.fmu",)),
    Case("couple", ("couple", "drive.json", "--platform", "native", "-o", "out.ssp"), ("out.ssp",)),
    Case(
        "couple as a container",
        ("couple", "drive.json", "--platform", "native", "-o", "out.ssp", "--container", "out.fmu"),
        ("out.ssp", "out.fmu"),
        stable=False,
    ),
    Case(
        "record",
        ("record", "arm.json", *SHORT, "--force", "--name", "old"),
        ("arm.old.reference.csv", "arm.old.reference.json"),
    ),
    Case(
        "verify and update",
        ("verify", "arm.json", "--update", "--reference", "arm.known.reference.csv"),
        ("arm.known.reference.csv", "arm.known.reference.json"),
    ),
    Case(
        "sweep",
        ("sweep", "arm.json", "--set", "shoulder.tau=0,1", *SHORT, "-o", "out.csv", "--runs", ".", "--jobs", "1"),
        ("out.csv", "run_0001.csv", "run_0002.csv"),
    ),
    Case("demo", ("demo", "-o", "."), ("run.csv", "run.html", "model.yaml", "arm_drive.ssp", "overview.png"), 8),
)


@dataclass(frozen=True)
class Call:
    """A system call: its name, the how manieth of that name it is, whether it touches the folder; as strace tells."""

    name: str
    number: int
    touches: bool
    text: str


@dataclass
class Report:
    """What the trials showed."""

    kills: int = 0
    errors: int = 0
    kept: int = 0
    replaced: int = 0
    wrong: list[str] = field(default_factory=list)


class Bench:
    """A folder with inputs and old outputs, from which each trial gets a fresh copy."""

    def __init__(self, place: Path) -> None:
        self.base, self.work, self.said, self.log = (place / name for name in ("base", "work", "said", "log"))
        self.base.mkdir()
        self._write("arm.json", json.dumps(ARM))
        self._write("drive.json", json.dumps(SYSTEM))
        self._write("torque.csv", "time,shoulder.tau\n0,0\n1,2\n")
        for arguments in (
            ("run", "arm.json", *SHORT),
            ("build", "arm.json", "--platform", "native"),
            ("couple", "drive.json", "--platform", "native"),
            ("record", "arm.json", *SHORT, "--name", "known"),
        ):
            code = self._child(arguments, self.base, lambda _: contextlib.nullcontext())
            assert code == 0, (arguments, self.said.read_text(encoding="utf-8"))
        self._write("arm.json", json.dumps(ARM).replace('"mass": 2.0', '"mass": 2.5'))

    def _write(self, name: str, text: str) -> None:
        (self.base / name).write_text(text, encoding="utf-8")

    def fresh(self, case: Case) -> dict[str, bytes]:
        """A new copy, with something old under the name of every output; what is in it."""
        shutil.rmtree(self.work, ignore_errors=True)
        if case.name == "demo":
            self.work.mkdir()
        else:
            shutil.copytree(self.base, self.work)
        for name in case.outputs:
            if not (self.work / name).exists() and not name.endswith(".yaml"):
                (self.work / name).write_bytes(OLD)
        return self.content()

    def content(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.work.iterdir()}

    def run(self, case: Case, *options: str) -> int:
        """Run a case under strace; exit code, or minus the signal."""
        return self._child(case.arguments, self.work, lambda pid: self._traced(pid, options))

    @contextlib.contextmanager
    def _traced(self, pid: int, options: tuple[str, ...]) -> Iterator[None]:
        command = ["strace", "-f", "-y", "-qq", "-o", str(self.log), "-p", str(pid), *options]
        tracer = subprocess.Popen(command, stderr=subprocess.PIPE)
        status = Path(f"/proc/{pid}/status")
        while "TracerPid:\t0\n" in status.read_text(encoding="utf-8"):
            if tracer.poll() is not None:
                assert tracer.stderr is not None
                raise RuntimeError(f"strace: {tracer.stderr.read().decode()}")
            time.sleep(0.002)
        yield
        tracer.wait()
        assert tracer.stderr is not None
        tracer.stderr.close()

    def _child(self, arguments: tuple[str, ...], folder: Path, traced: Callable[[int], Any]) -> int:
        """A fork of this process that is a command, once the tracer has joined it."""
        ready, go = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(go)
            code = 99
            try:
                out = os.open(self.said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(out, 1)
                os.dup2(out, 2)
                os.chdir(folder)
                os.read(ready, 1)
                code = command(arguments)
            finally:
                os._exit(code)
        os.close(ready)
        with traced(pid):
            os.write(go, b"x")
            os.close(go)
            _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status)

    def calls(self) -> list[Call]:
        """System calls that were made, in order."""
        counts: Counter[tuple[str, str]] = Counter()
        out = []
        for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines():
            match = re.match(r"(\d+) +(\w+)\(", line)
            if match is not None:
                counts[match[1], match[2]] += 1  # strace counts the calls of each thread by their names
                touches = str(self.work) in line and "O_RDONLY" not in line
                out.append(Call(match[2], counts[match[1], match[2]], touches, line))
        return out


def command(arguments: tuple[str, ...]) -> int:
    """The command line in this process."""
    from bough.cli.app import main

    sys.argv = ["bough", *arguments]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def judge(case: Case, before: dict[str, bytes], new: dict[str, bytes], after: dict[str, bytes], killed: bool) -> str:
    """What is wrong in the folder; nothing if all is well."""
    for name, data in after.items():
        if name in case.outputs:
            whole = data == new[name] or (not case.stable and _is_zip(data))
            if not whole and data != before.get(name):
                return f"{name} is neither the old file nor the new one ({len(data)} bytes)"
        elif name.endswith(".part"):
            if not killed:
                return f"{name} was left"
        elif data not in (before.get(name), _expected(name, new, after)):
            return f"{name} has changed"
    lost = [name for name in before if name not in after]
    return f"{lost[0]} is lost" if lost else ""


def _expected(name: str, new: dict[str, bytes], after: dict[str, bytes]) -> bytes | None:
    """The new file; the metadata of a sweep's folder names the runs that were written, and no other."""
    if name != "csv-metadata.json" or name not in new:
        return new.get(name)
    about = json.loads(new[name])
    about["tables"] = [each for each in about["tables"] if after.get(each["url"]) == new[each["url"]]]
    return f"{json.dumps(about, indent=1)}\n".encode()


def _is_zip(data: bytes) -> bool:
    import io

    with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.testzip() is None
    return False


def kill(bench: Bench, case: Case, count: int, report: Report) -> None:
    """Kill a command at so many places: those that touch its folder first, then others, evenly."""
    before = bench.fresh(case)
    code = bench.run(case, "-e", f"trace={CALLS}")
    new = bench.content()
    if code != 0:
        report.wrong.append(f"{case.name}: exit code {code}: {bench.said.read_text(encoding='utf-8')}")
        return
    calls = bench.calls()
    chosen = _spread([call for call in calls if call.touches], count)
    for call in chosen + _spread([call for call in calls if not call.touches], count - len(chosen)):
        bench.fresh(case)
        code = bench.run(case, "-e", f"trace={CALLS}", "-e", f"inject={call.name}:signal=SIGKILL:when={call.number}")
        after = bench.content()
        report.kills += code == -9
        report.kept += all(after.get(name) == before.get(name) for name in case.outputs)
        report.replaced += all(after.get(name) != before.get(name) for name in case.outputs)
        found = judge(case, before, new, after, True)
        if found or code not in (-9, 0):
            report.wrong.append(f"{case.name}, killed at {call.text[:200]}: code {code}, {found}")


def fail(bench: Bench, case: Case, count: int, report: Report) -> None:
    """Let single calls on the outputs fail."""
    before = bench.fresh(case)
    bench.run(case, "-e", f"trace={FAILING}")
    new = bench.content()
    for call in _spread([call for call in bench.calls() if call.touches], count):
        bench.fresh(case)
        code = bench.run(case, "-e", f"trace={FAILING}", "-e", f"inject={call.name}:error=ENOSPC:when={call.number}")
        after, said = bench.content(), bench.said.read_text(encoding="utf-8")
        report.errors += 1
        found = judge(case, before, new, after, False)
        deaf = any(
            "INJECTED" in each.text and str(bench.said) in each.text for each in bench.calls()
        )  # each thread counts
        if (
            code == 1
            and not deaf
            and ("cannot write" not in said or "No space left" not in said or "Traceback" in said)
        ):
            found = f"{found}; said {said!r}"
        if code not in (0, 1):
            found = f"{found}; exit code {code}; said {said!r}"
        if code == 0 and any(after[name] == before.get(name) != new[name] for name in case.outputs):
            found = f"{found}; success, and the old file"
        if found:
            report.wrong.append(f"{case.name}, failed at {call.text[:200]}: {found}")


def _spread(calls: list[Call], count: int) -> list[Call]:
    """So many of the calls, evenly, the last one included."""
    if count >= len(calls):
        return calls
    return [calls[-1 - i * len(calls) // count] for i in range(max(count, 0))]


def main() -> None:
    """Entry point."""
    kills, errors = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    import fmpy  # noqa: F401  (what commands import is imported once)
    import matplotlib.figure  # noqa: F401
    import plotly.graph_objects  # noqa: F401

    import bough.cli.app
    import bough.coupling
    import bough.demo
    import bough.regression
    import bough.report.retrace
    import bough.report.scenes  # noqa: F401

    report = Report()
    cases = [case for case in CASES if case.most < 1000 and kills >= 400] + [c for c in CASES if c.most == 1000]
    with tempfile.TemporaryDirectory(prefix="bough-kills-") as folder:
        bench = Bench(Path(folder))
        for i, case in enumerate(cases):
            left = len(cases) - i
            kill(bench, case, min(case.most, -(-(kills - report.kills) // left)), report)
            if errors and case.most == 1000:
                fail(bench, case, -(-(errors - report.errors) // left), report)
    print(json.dumps(vars(report), indent=1))
    sys.exit(1 if report.wrong else 0)


if __name__ == "__main__":
    main()
