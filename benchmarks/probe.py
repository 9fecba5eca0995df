"""Ten bodies with five modes each, against a speed probe of the method that is kept outside the repository.

The probe is one C file that knows one mechanism: a serial chain of revolute hinges with cantilever modes, ruthlessly
linearized. It says what the hardware gives; bough reads a general tree from data. Skipped where the probe is not found.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import bough
from benchmarks.chains import flexible_model, flexible_states
from benchmarks.ctimer import OUT, ROOT, Timer
from benchmarks.timing import Sampler

BODIES, BATCH = 10, 64
CASES = (
    ("ruthless, 5 modes", 5, "ruthless", True),
    ("full, 5 modes", 5, "full", True),
    ("full, 5 modes, point masses", 5, "full", False),
    ("rigid", 0, "full", True),
    ("ruthless, 10 modes", 10, "ruthless", True),
    ("full, 10 modes", 10, "full", True),
)


def folder() -> Path | None:
    """Where the probe's source is: $BOUGH_PROTOTYPE, or ../shared/prototype beside the checkout."""
    named = os.environ.get("BOUGH_PROTOTYPE")
    path = Path(named) if named else ROOT.parent / "shared" / "prototype"
    return path if (path / "flexchain.c").exists() else None


def run(quick: bool) -> dict[str, Any]:
    """Seconds per evaluation of bough and of the probe's variants, interleaved."""
    source, gcc = folder(), shutil.which("gcc")
    if source is None or gcc is None:
        why = "no gcc" if source else "its source is not here (set BOUGH_PROTOTYPE)"
        return {"skipped": f"the probe was left out: {why}"}
    program = OUT / "probe"
    if not _build(gcc, source, program):
        return {"skipped": "the probe was left out: it does not compile"}
    version = subprocess.run([gcc, "-dumpfullversion"], capture_output=True, text=True, check=False).stdout.strip()

    timers, samplers = [], dict[str, dict[str, Sampler]]()
    for name, modes, fidelity, rotary in CASES:
        system = bough.Mechanism(flexible_model(BODIES, modes, fidelity, rotary=rotary))
        timer = Timer(system, *flexible_states(BODIES, modes, BATCH))
        timers.append(timer)
        samplers[name] = {"single": timer.single(0.001), "batch": timer.batch(0.001)}
    best = {name: dict.fromkeys(kinds, float("inf")) for name, kinds in samplers.items()}
    probe: dict[int, dict[str, float]] = {}
    for _ in range(4 if quick else 20):
        _probe_round(program, probe)
        for name, kinds in samplers.items():
            for kind, sample in kinds.items():
                best[name][kind] = min(best[name][kind], *(sample() for _ in range(5)))
    rows = [
        {"case": name, "modes": modes, **best[name], "probe": probe[modes], "limit": _limit(name)}
        for name, modes, _, _ in CASES
    ]
    return {"rows": rows, "gcc": version, "bodies": BODIES}


def _build(gcc: str, source: Path, program: Path) -> bool:
    """Compile the probe as its author did, unless that was done before: it takes gcc the better part of a minute."""
    newest = max(path.stat().st_mtime for path in source.iterdir())
    if program.exists() and program.stat().st_mtime > newest:
        return True
    OUT.mkdir(parents=True, exist_ok=True)
    command = [gcc, "-O3", "-march=x86-64-v3", str(source / "flexchain.c"), "-lm", "-o", str(program)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _limit(case: str) -> float | None:
    """What we ask of the single call, as a multiple of evalB."""
    return {"ruthless, 5 modes": 1.3, "full, 5 modes": 4.0, "full, 5 modes, point masses": 4.0}.get(case)


def _probe_round(program: Path, best: dict[int, dict[str, float]]) -> None:
    """One run of the probe; keeps the smallest seconds per evaluation, by number of modes."""
    env = {**os.environ, "ONLYN": str(BODIES)}
    done = subprocess.run([str(program), "x", "8", "0.0006"], env=env, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        row = json.loads(line)
        kept = best.setdefault(row["nm"], {})
        for name, key in (("evalB", "nsB"), ("evalS", "nsS"), ("evalB4", "nsB4_per_chain")):
            kept[name] = min(kept.get(name, float("inf")), 1e-9 * row[key])
