"""Files that users bring, spoilt: each is read, or refused with a BoughError, within bounds of time and memory.

    python tests/fuzz/files.py TARGET [-runs=N] [-seed=N] [-artifact_prefix=FOLDER/]

Guided by coverage: a spoilt file that makes a line of bough run for the first time is kept and spoilt further. The good
files to begin with are written by the tests' own writers; stored ones that once found something are replayed first.
"""

from __future__ import annotations

import hashlib
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from coupling.parts import MOTOR, RIGID
from flex.fe.fem import entry, imported, solid
from flex.fe.test_formats import triangle, write_calculix, write_inp
from flex.fe.test_nastran import superelement, whole
from flex.fe.test_nastran_modes import modes_entry
from flex.test_sid_files import handmade
from fuzz.spoil import spoil

import bough
from bough import BoughError, build_fmu
from bough.coupling import couple
from bough.coupling.run_system import open_system
from bough.coupling.single import open_fmu
from bough.flex.sid.sid import read_sid
from bough.partners import build_partner
from bough.report.page import write_page
from bough.run.result import Result
from bough.run.series_file import read_series

PACKAGE = str(Path(bough.__file__).parent)
REGRESSIONS = Path(__file__).parent / "regressions"
SECONDS, BYTES = 20, 6 << 30
"""What one file may take: seconds of CPU time; bytes of address space of the whole process."""
KEPT = 400
Use = Callable[[Path], object]


@dataclass(frozen=True)
class Target:
    """`make` writes good files into a folder and returns what to do with them, and the names of those to spoil."""

    make: Callable[[Path], tuple[Use, list[str]]]


def _calculix(folder: Path) -> tuple[Use, list[str]]:
    write_calculix(folder, solid((2, 1, 1), (0.2, 0.03, 0.04)))
    return lambda at: imported(entry(at / "job.sti")), ["job.sti", "job.mas", "job.dof", "job.inp"]


def _abaqus(folder: Path) -> tuple[Use, list[str]]:
    model = solid((2, 1, 1), (0.2, 0.03, 0.04))
    write_inp(folder / "job.inp", model)
    node, direction = model.node_ids[model.dof_node], model.dof_component + 1
    for kind, matrix in (("STIF", model.K), ("MASS", model.M)):
        rows = triangle(matrix)
        lines = [f"{node[i - 1]},{direction[i - 1]}, {node[j - 1]},{direction[j - 1]},  {v:.15e}" for i, j, v in rows]
        (folder / f"job_{kind}2.mtx").write_text("\n".join([*lines, ""]))
    return lambda at: imported(entry(at / "job_STIF2.mtx")), ["job_STIF2.mtx", "job_MASS2.mtx", "job.inp"]


def _npz(folder: Path) -> tuple[Use, list[str]]:
    entry(folder / "model.npz", solid((2, 1, 1), (0.2, 0.03, 0.04)))
    return lambda at: imported(entry(at / "model.npz")), ["model.npz"]


def _moved(fe: dict[str, Any], at: Path) -> dict[str, Any]:
    return fe | {key: str(at / Path(fe[key]).name) for key in ("file", "mesh") if key in fe}


def _nastran(write: Callable[[Path], dict[str, Any]]) -> Callable[[Path], tuple[Use, list[str]]]:
    def make(folder: Path) -> tuple[Use, list[str]]:
        fe = write(folder)
        return lambda at: imported(_moved(fe, at)), [Path(fe[key]).name for key in ("file", "mesh") if key in fe]

    return make


def _sid(folder: Path) -> tuple[Use, list[str]]:
    (folder / "body.sid").write_text("\n".join([*handmade(), ""]))
    return lambda at: read_sid(at / "body.sid"), ["body.sid"]


def _model(folder: Path) -> tuple[Use, list[str]]:
    good = sorted((Path(__file__).parents[1] / "model" / "good").glob("*.yaml"))
    for file in good:
        shutil.copy(file, folder)

    def use(at: Path) -> None:
        for file in at.iterdir():  # one of them is there
            bough.load(file)

    return use, [file.name for file in good]


def _table(folder: Path) -> tuple[Use, list[str]]:
    (folder / "input.csv").write_text("time,a.tau,b.tau\n0,1,2\n0.5,1e-3,-2\n0.5,3,4\n1.0,0,0\n")
    return lambda at: read_series(at / "input.csv", ["a.tau", "b.tau"]), ["input.csv"]


def _system(folder: Path) -> tuple[Use, list[str]]:
    build_fmu(RIGID, folder / "arm.fmu", platforms="native")
    build_partner("motor", folder / "motor.fmu", values=MOTOR, platforms="native")
    (folder / "system.yaml").write_text(
        "bough_system: 1\nname: drive\ncomponents:\n  arm: arm.fmu\n  motor: motor.fmu\nconnections:\n"
        "  - motor.tau -> arm.shoulder.tau\n  - arm.shoulder.w -> motor.w\n"
        "set: {arm.solver.tolerance: 1e-6, motor.u: 2.0}\nmaster: {step: 0.01, stop: 0.8}\n"
    )

    def use(at: Path) -> None:
        with tempfile.TemporaryDirectory() as built:
            open_system(at / "system.yaml", Path(built))

    return use, ["system.yaml", "motor.fmu"]


def _package(folder: Path) -> tuple[Use, list[str]]:
    _system(folder)
    couple(folder / "system.yaml", folder / "drive.ssp")
    for name in ("system.yaml", "arm.fmu", "motor.fmu"):
        (folder / name).unlink()

    def use(at: Path) -> None:
        with tempfile.TemporaryDirectory() as built:
            open_system(at / "drive.ssp", Path(built) / "in")
            outside = [file for file in Path(built).iterdir() if file.name != "in"]
            if outside:
                raise RuntimeError(f"unpacked outside its folder: {outside}")

    return use, ["drive.ssp"]


def _fmu(folder: Path) -> tuple[Use, list[str]]:
    build_partner("motor", folder / "motor.fmu", values=MOTOR, platforms="native")
    return lambda at: open_fmu(at / "motor.fmu"), ["motor.fmu"]


class _Inert(HTMLParser):
    """Nothing that a name brought is a tag: a script of its own, a picture, or an attribute that runs."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if tag in ("img", "iframe", "object") or any(
            value and "alert(1)" in value and name[:2] == "on" for name, value in attrs
        ):
            raise RuntimeError(f"a name became <{tag} {names}>")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script" and data.strip() == "alert(1)":
            raise RuntimeError("a name became a script")


def _page(folder: Path) -> tuple[Use, list[str]]:
    names = ["shoulder.phi", "shoulder.w", "<b>x</b>", "link.eta[1]"]
    rows = [",".join(["time", *names]), *(",".join(map(str, [t, t, 2 * t, 0, 1])) for t in np.linspace(0, 1, 5))]
    (folder / "run.csv").write_text("\n".join([*rows, ""]))

    def use(at: Path) -> None:
        result = Result.from_csv(at / "run.csv")
        title = result.names[0] if result.names else ""
        write_page(result, at / "run.html", title, source=title)
        _Inert().feed((at / "run.html").read_text(encoding="utf-8", errors="surrogateescape"))

    return use, ["run.csv"]


TARGETS = {
    "calculix": Target(_calculix),
    "abaqus": Target(_abaqus),
    "npz": Target(_npz),
    "op4": Target(_nastran(whole)),
    "op4_binary": Target(_nastran(lambda folder: superelement(folder, 4, "op4"))),
    "punch": Target(_nastran(lambda folder: superelement(folder, 4, "dmig"))),
    "op2": Target(_nastran(modes_entry)),
    "sid": Target(_sid),
    "model": Target(_model),
    "table": Target(_table),
    "system": Target(_system),
    "package": Target(_package),
    "fmu": Target(_fmu),
    "page": Target(_page),
}
FE_TARGETS = ("calculix", "abaqus", "npz", "op4", "op4_binary", "punch", "op2", "sid")


class _Lines:
    """Lines of bough that have run."""

    def __init__(self) -> None:
        self.seen: set[tuple[CodeType, int]] = set()

    def _call(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._line if frame.f_code.co_filename.startswith(PACKAGE) else None

    def _line(self, frame: FrameType, event: str, argument: object) -> Any:
        self.seen.add((frame.f_code, frame.f_lineno))
        return self._line

    def during(self, action: Callable[[], object]) -> None:
        sys.settrace(self._call)
        try:
            action()
        finally:
            sys.settrace(None)


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


@dataclass
class Loop:
    """One target: spoils its files again and again."""

    name: str
    folder: Path
    artifacts: Path
    lines: _Lines = field(default_factory=_Lines)
    runs: int = 0
    found: dict[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        good = self.folder / "good"
        good.mkdir(parents=True)
        self.use, names = TARGETS[self.name].make(good)
        self.good = {file.name: file.read_bytes() for file in good.iterdir() if file.is_file()}
        self.corpus = [(name, self.good[name]) for name in names]
        self.alone = self.name == "model"

    def run(self, name: str, data: bytes) -> None:
        """Use the good files with this one in place of its own; note what is neither success nor a refusal."""
        at = self.folder / "at"
        shutil.rmtree(at, ignore_errors=True)
        at.mkdir()
        for other, content in {**({} if self.alone else self.good), name: data}.items():
            (at / other).write_bytes(content)
        before = len(self.lines.seen)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            self.lines.during(lambda: self.use(at))
        except BoughError as error:
            str(error).encode("utf-8")
        except Exception as error:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.note(error, name, data)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        self.runs += 1
        if len(self.lines.seen) > before and len(self.corpus) < KEPT:
            self.corpus.append((name, data))

    def note(self, error: Exception, name: str, data: bytes) -> None:
        """Keep one file of each kind of failure."""
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(PACKAGE)]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
        kind = f"{type(error).__name__} at {place}"
        if kind in self.found:
            return
        self.artifacts.mkdir(parents=True, exist_ok=True)
        target = self.artifacts / f"{self.name}-{hashlib.sha256(data).hexdigest()[:8]}__{name}"
        target.write_bytes(data)
        self.found[kind] = target
        print(f"{self.name}: {kind}: {str(error)[:200]}: {target}", file=sys.stderr)

    def replay(self) -> None:
        """Good files, which must be taken, and stored ones."""
        self.use(self.folder / "good")
        for name, data in list(self.corpus):
            self.run(name, data)
        for file in sorted((REGRESSIONS / self.name).glob("*__*")):
            self.run(file.name.partition("__")[2], file.read_bytes())

    def go(self, runs: int, seed: int) -> None:
        """Spoil so many files."""
        rng = Random(seed)
        for _ in range(runs):
            name, data = rng.choice(self.corpus)
            self.run(name, spoil(data, rng))


def main(arguments: list[str]) -> int:
    """See above."""
    options = dict(a[1:].split("=", 1) for a in arguments[1:] if a.startswith("-"))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    signal.signal(signal.SIGPROF, _too_long)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        loop = Loop(arguments[0], Path(folder), Path(options.get("artifact_prefix", "build/out/fuzz/findings/")))
        loop.replay()
        loop.go(int(options.get("runs", "1000")), int(options.get("seed", "1")))
    print(f"stat::number_of_executed_units: {loop.runs}\ncov: {len(loop.lines.seen)} corp: {len(loop.corpus)}")
    return 1 if loop.found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
