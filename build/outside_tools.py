"""Run every example's FMU through other people's tools, where they are installed, and write the table of the results.

    python build/outside_tools.py                    # all tools that are here; writes docs/outside-tools.md
    python build/outside_tools.py --only fmpy,ecos   # some of them; prints the table, writes nothing

A run takes 0.1 s of simulated time in steps of 0.01 s, with the FMU's solver at a tolerance of 1e-10. Where a tool
hands back numbers, positions at the end are compared with bough.simulate. Each tool runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "outside-tools.md"
STOP, STEP, TOLERANCE = 0.1, 0.01, 1e-10
AGREE = 1e-7
"""Of the largest position: tools make the solver stop at other points, so that steps differ."""
SECONDS = 600


@dataclass(frozen=True)
class Job:
    """One FMU: example, version of FMI, file, and positions at the end by name."""

    example: str
    fmi: str
    path: str
    expected: dict[str, float]


# ---- tools that hand back numbers: positions at the end


def _fmpy(path: str, names: Sequence[str], kind: str = "CoSimulation") -> list[float]:
    import fmpy

    start = {"solver.tolerance": TOLERANCE} if kind == "CoSimulation" else {}
    out = fmpy.simulate_fmu(
        path, stop_time=STOP, step_size=STEP, output_interval=STEP, start_values=start, output=list(names),
        fmi_type=kind, relative_tolerance=TOLERANCE if kind == "CoSimulation" else 1e-6,
    )  # fmt: skip
    return [float(out[name][-1]) for name in names]


def _fmpy_exchange(path: str, names: Sequence[str]) -> list[float]:
    return _fmpy(path, names, "ModelExchange")


def _ecos(path: str, names: Sequence[str]) -> list[float]:
    from ecospy import EcosSimulation, EcosSimulationStructure

    with EcosSimulationStructure() as structure:
        structure.add_model("it", path)
        structure.add_parameter_set("start", {"it::solver.tolerance": TOLERANCE})
        with EcosSimulation(structure=structure, step_size=STEP) as run:
            run.init(parameter_set="start")
            run.step(round(STOP / STEP))
            found = [run.get_real(f"it::{name}") for name in names]
            run.terminate()
    return found


def _libcosim(path: str, names: Sequence[str]) -> list[float]:
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    run = CosimExecution.from_step_size(round(STEP * 1e9))
    index = run.add_local_slave(CosimLocalSlave(path, "it"))
    references = {v.name.decode(): v.reference for v in run.slave_variables(index)}
    run.real_initial_value(index, references["solver.tolerance"], TOLERANCE)
    observer = CosimObserver.create_last_value()
    run.add_observer(observer)
    run.simulate_until(round(STOP * 1e9))
    return list(observer.last_real_values(index, [references[n] for n in names]))


def _fmucontainer(path: str, names: Sequence[str]) -> list[float]:
    import fmpy

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        shutil.copyfile(path, folder / "it.fmu")
        automatic = {"auto_input": True, "auto_output": True, "auto_link": False, "auto_parameter": True}
        description = {"name": "nest.fmu", "fmu": ["it.fmu"], "step_size": STEP, **automatic}
        (folder / "nest.json").write_text(json.dumps(description), encoding="utf-8")
        major = fmpy.read_model_description(path, validate=False).fmiVersion[0]
        program = str(Path(sys.executable).with_name("fmucontainer"))
        command = [program, "-container", "nest.json", "-fmu-directory", scratch, "-fmi", major]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=scratch)
        nest = str(folder / "nest.fmu")
        if not Path(nest).exists():
            raise RuntimeError((done.stdout + done.stderr).strip().splitlines()[-1])
        known = {v.name for v in fmpy.read_model_description(nest, validate=False).modelVariables}
        start = {next(n for n in known if n.endswith("solver.tolerance")): TOLERANCE}
        out = fmpy.simulate_fmu(nest, stop_time=STOP, step_size=STEP, output_interval=STEP, start_values=start,
                                output=list(names), fmi_type="CoSimulation", validate=False)  # fmt: skip
        return [float(out[name][-1]) for name in names]


def _pyfmi(path: str, names: Sequence[str]) -> list[float]:
    import pyfmi

    model = pyfmi.load_fmu(path, kind="CS")
    model.set("solver.tolerance", TOLERANCE)
    result = model.simulate(final_time=STOP, options={"ncp": round(STOP / STEP), "result_handling": "memory"})
    return [float(result[name][-1]) for name in names]


def _omsimulator(path: str, names: Sequence[str]) -> list[float]:
    from OMSimulator import OMSimulator

    oms = OMSimulator()
    oms.newModel("m")
    oms.addSystem("m.s", oms.system_wc)
    oms.addSubModel("m.s.it", path)
    oms.setReal("m.s.it.solver.tolerance", TOLERANCE)
    oms.setFixedStepSize("m.s", STEP)
    oms.setStopTime("m", STOP)
    oms.instantiate("m")
    oms.initialize("m")
    oms.simulate("m")
    return [float(oms.getReal(f"m.s.it.{name}")[0]) for name in names]


# ---- programs that say whether they are content


def _program(*command: str) -> Callable[[str, Sequence[str]], list[float]]:
    """A program that ends with zero where it finds nothing wrong; {} stands for the FMU."""

    def call(path: str, names: Sequence[str]) -> list[float]:
        words = [word.replace("{}", path) for word in command]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=SECONDS)
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr).strip().splitlines()[-1])
        return []

    return call


@dataclass(frozen=True)
class Tool:
    """One tool: what it is called, how it is found, what runs it, which versions of FMI it knows."""

    title: str
    module: str
    program: str
    run: Callable[[str, Sequence[str]], list[float]]
    versions: tuple[str, ...] = ("2.0", "3.0")

    def here(self) -> bool:
        """Whether it is installed."""
        if self.program:
            return shutil.which(self.program) is not None
        done = subprocess.run([sys.executable, "-c", f"import {self.module}"], capture_output=True, check=False)
        return done.returncode == 0


TOOLS = {
    "fmpy": Tool("FMPy, Co-Simulation", "fmpy", "", _fmpy),
    "fmpy-me": Tool("FMPy, Model Exchange with CVODE", "fmpy", "", _fmpy_exchange),
    "ecos": Tool("ecos (ecospy)", "ecospy", "", _ecos),
    "libcosim": Tool("libcosim (libcosimpy)", "libcosimpy", "", _libcosim, ("2.0",)),
    "fmucontainer": Tool("fmucontainer, run by FMPy", "fmu_manipulation_toolbox", "", _fmucontainer),
    "pyfmi": Tool("PyFMI", "pyfmi", "", _pyfmi),
    "omsimulator": Tool("OMSimulator", "OMSimulator", "", _omsimulator),
    "fmusim": Tool("fmusim (Reference-FMUs)", "", "fmusim",
                   _program("fmusim", "--stop-time", str(STOP), "{}")),
    "fmucheck": Tool("fmuCheck (FMUComplianceChecker)", "", "fmuCheck.linux64",
                     _program("fmuCheck.linux64", "-e", os.devnull, "-s", str(STOP), "{}"), ("2.0",)),
    "vdmcheck2": Tool("VDMCheck2", "", "VDMCheck2.sh", _program("VDMCheck2.sh", "{}"), ("2.0",)),
    "vdmcheck3": Tool("VDMCheck3", "", "VDMCheck3.sh", _program("VDMCheck3.sh", "{}"), ("3.0",)),
    "mastersim": Tool("MasterSim (reads the description)", "", "MasterSimulator",
                      _program("MasterSimulator", "--test-init", "{}"), ("2.0",)),
}  # fmt: skip


# ---- runs


def jobs_of(models: dict[str, Any], folder: Path) -> list[Job]:
    """FMUs of some models in both versions, and the positions that they should end at.

    Args:
        models: What `bough.build_fmu` takes, by name.
        folder: Where the FMUs go.
    """
    import bough

    out = []
    for name, model in models.items():
        mechanism = bough.Mechanism(model)
        run = bough.simulate(mechanism, STOP, step=STEP, rtol=TOLERANCE)
        expected = {q: float(run[q][-1]) for q in mechanism.q_names}
        for fmi in ("2.0", "3.0"):
            path = bough.build_fmu(mechanism, folder / f"{name}{fmi[0]}.fmu", fmi=fmi, platforms="native")
            out.append(Job(name, fmi, str(path), expected))
    return out


def run_tool(name: str, jobs: Sequence[Job]) -> dict[str, str]:
    """What a tool makes of some FMUs, each run in one other process: 'ok', or what went wrong, by path."""
    fitting = [job for job in jobs if job.fmi in TOOLS[name].versions]
    with tempfile.TemporaryDirectory() as scratch:
        listed, told = Path(scratch) / "jobs.json", Path(scratch) / "told.json"
        listed.write_text(json.dumps([vars(job) for job in fitting]), encoding="utf-8")
        command = [sys.executable, "-X", "faulthandler", __file__, "--child", name, str(listed), str(told)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        found: dict[str, str] = json.loads(told.read_text(encoding="utf-8")) if told.exists() else {}
    last = (done.stderr.strip().splitlines() or ["no word"])[-1]
    return {job.path: found.get(job.path, f"ended with {done.returncode}: {last}") for job in fitting}


def _child(name: str, listed: Path, told: Path) -> None:
    found: dict[str, str] = {}
    for job in json.loads(listed.read_text(encoding="utf-8")):
        names = list(job["expected"])
        try:
            values = TOOLS[name].run(job["path"], names)
            found[job["path"]] = _judged(name, values, list(job["expected"].values()))
        except Exception as error:
            found[job["path"]] = f"{type(error).__name__}: {error}"
        told.write_text(json.dumps(found), encoding="utf-8")  # what is done is kept if the next one crashes


def _judged(name: str, values: Sequence[float], expected: Sequence[float]) -> str:
    """'ok', or how far positions are off; a tool that hands back none has been content."""
    if not values:
        return "ok"
    size = max((abs(x) for x in expected), default=0.0) or 1.0
    off = max((abs(a - b) / size for a, b in zip(values, expected, strict=True)), default=0.0)
    return "ok" if off < (1e-3 if name == "fmpy-me" else AGREE) else f"positions differ by {off:.1e}"


def table(results: dict[str, dict[str, str]], jobs: Sequence[Job]) -> str:
    """The page: a row per tool, and below it what went wrong."""
    lines = [
        "# FMUs in other people's tools",
        "",
        "Made by `python build/outside_tools.py`, which runs every example's FMU through each tool that is installed:",
        "FMI 2.0 and 3.0, 0.1 s in steps of 0.01 s. Where a tool hands back numbers, positions at the end agree with",
        "`bough.simulate` to 1e-7 of the largest one (1e-3 for CVODE, at a tolerance of 1e-6). Tools that are not",
        "installed here are marked. CI runs FMPy, ecos, libcosim and fmucontainer (`tests/masters`).",
        "",
        "| tool | FMI 2.0 | FMI 3.0 |",
        "|---|---|---|",
    ]
    wrong = []
    by_path = {job.path: job for job in jobs}
    for name, tool in TOOLS.items():
        cells = []
        for fmi in ("2.0", "3.0"):
            found = {p: text for p, text in results.get(name, {}).items() if by_path[p].fmi == fmi}
            good = sum(text == "ok" for text in found.values())
            count = f"{good} of {len(found)}" if found else "not installed"
            cells.append(count if fmi in tool.versions else "does not know it")
            bad = {by_path[p].example: text for p, text in found.items() if text != "ok"}
            wrong += [f"- {tool.title}, {example}, FMI {fmi}: {text}" for example, text in bad.items()]
        lines.append(f"| {tool.title} | {' | '.join(cells)} |")
    return "\n".join([*lines, *(["", "What went wrong:", "", *wrong] if wrong else [])]) + "\n"


def main() -> None:
    """Run what is here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="tools, separated by commas: " + ", ".join(TOOLS))
    parser.add_argument("--child", nargs=3, metavar=("TOOL", "JOBS", "TOLD"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        _child(given.child[0], Path(given.child[1]), Path(given.child[2]))
        return
    wanted = given.only.split(",") if given.only else list(TOOLS)
    unknown = [name for name in wanted if name not in TOOLS]
    if unknown:
        parser.error(f"there is no tool {unknown[0]!r}; there are {', '.join(TOOLS)}")
    folders = [path.parent.name for path in (ROOT / "examples").glob("*/model.yaml")]
    examples = sorted(name for name in folders if name != "fe_bracket")  # its data are made by CalculiX
    with tempfile.TemporaryDirectory() as scratch:
        jobs = jobs_of({name: ROOT / "examples" / name / "model.yaml" for name in examples}, Path(scratch))
        results = {name: run_tool(name, jobs) for name in wanted if TOOLS[name].here()}
        text = table(results, jobs)
    sys.stdout.write(text)
    if not given.only:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
