"""FMUs: time and size of an export; cost of a communication step from a C master, side by side with the kernel."""

from __future__ import annotations

import importlib.util
import subprocess
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import bough
from benchmarks.ctimer import OUT, ROOT, compiler
from bough.fmu import build_fmu
from bough.fmu.package import native_platform

HINGES = 7
LINK = {
    "section": {"shape": "tube", "outer_radius": 0.05, "thickness": 0.003},
    "material": {"E": 70e9, "nu": 0.33, "rho": 2700},
}


def arm() -> dict[str, Any]:
    """Seven hinges, two long flexible links of four modes, five rigid bodies, like an arm on a space station."""
    axes = ([0, 0, 1], [0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0])
    bodies: list[dict[str, Any]] = []
    for k, axis in enumerate(axes):
        hinge = {"name": f"h{k + 1}", "type": "revolute", "axis": list(axis), "damping": 0.5}
        body: dict[str, Any] = {"name": f"b{k + 1}", "parent": f"b{k}" if k else "ground", "hinge": hinge}
        if k:
            body["at"] = "tip"
        if k in (1, 2):
            body["beam"] = {"length": 3.0, "elements": 10, **LINK, "modes": {"count": 4}, "damping": 0.01}
        else:
            nodes = {"tip": {"position": [0.3, 0, 0]}}
            body["rigid"] = {"mass": 4.0, "com": [0.15, 0, 0], "inertia": [0.02, 0.05, 0.05, 0, 0, 0], "nodes": nodes}
        bodies.append(body)
    return {"bough": 1, "name": "station_arm", "bodies": bodies}


def _program() -> Path:
    spec = importlib.util.find_spec("fmpy")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("fmpy")
    headers = Path(spec.submodule_search_locations[0]) / "c-code"
    library = bough.mechanism.kernel_calls._lib._name  # the installed kernel
    target = OUT / "fmu_timer"
    OUT.mkdir(parents=True, exist_ok=True)
    include = [f"-I{ROOT / 'engine' / 'kernel' / 'include'}", "-isystem", str(headers)]
    command = [*compiler(), "-O2", "-std=gnu99", *include, str(Path(__file__).with_name("fmu_timer.c")), str(library)]
    command += [f"-Wl,-rpath,{Path(library).parent}", "-ldl", "-lm", "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the FMU timer does not compile:\n{done.stderr}")
    return target


def run(quick: bool) -> dict[str, Any]:
    """Export for all platforms, then step the native one."""
    from fmpy import read_model_description

    model = bough.load(arm())
    with tempfile.TemporaryDirectory() as folder:
        fmu = Path(folder) / "arm.fmu"
        seconds = []
        for _ in range(2 if quick else 5):
            began = time.perf_counter()
            build_fmu(model, fmu)
            seconds.append(time.perf_counter() - began)
        unpacked = Path(folder) / "unpacked"
        zipfile.ZipFile(fmu).extractall(unpacked)
        description = read_model_description(str(fmu))
        reference = {v.name: v.valueReference for v in description.modelVariables}
        block = Path(folder) / "model.blk"
        system = bough.Mechanism(model)
        block.write_bytes(system.block.data)
        binary = next((unpacked / "binaries").glob("linux64/*" if "x86_64" in native_platform() else "*/*"))
        ports = [str(reference[f"h{k}.tau"]) for k in range(1, HINGES + 1)]
        ports += [str(reference[f"h{k}.phi"]) for k in range(1, HINGES + 1)]
        command = [str(_program()), str(binary), str(unpacked / "resources"), description.guid, str(block)]
        command += ["200", "20" if quick else "200", *ports]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        exchange, step, kernel = (float(x) for x in out)
        return {
            "export_seconds": min(seconds),
            "bytes": fmu.stat().st_size,
            "exchange_us": exchange,
            "step_us": step,
            "kernel_us": kernel,
        }


def table(result: dict[str, Any]) -> str:
    """The numbers as a Markdown table."""
    rows = [
        ("export for five platforms, s", f"{result['export_seconds']:.2f}"),
        ("size of the FMU, kB", f"{result['bytes'] / 1000:.0f}"),
        ("set 7 torques, step 1 ms, get 7 angles, microseconds", f"{result['exchange_us']:.1f}"),
        ("step alone, microseconds", f"{result['step_us']:.1f}"),
        ("the same steps by the bare kernel, microseconds", f"{result['kernel_us']:.1f}"),
        ("FMI layer / kernel", f"{result['step_us'] / result['kernel_us']:.3f}"),
    ]
    return "\n".join(["| 7 hinges, two links of 4 modes | |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)])
