"""Masters with native code, each run in a process of its own: python -m masters.children MASTER FMU JOB OUT.

OUT gets an array: a row per tenth of a second of the model's outputs, in the order of the model description.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

STEP, EVERY, ROWS = 0.01, 10, 10


def ecos(fmu: str, names: list[str], start: dict[str, float]) -> list[list[float]]:
    from ecospy import EcosSimulation, EcosSimulationStructure

    with EcosSimulationStructure() as structure:
        structure.add_model("it", fmu)
        structure.add_parameter_set("start", {f"it::{name}": value for name, value in start.items()})
        with EcosSimulation(structure=structure, step_size=STEP) as run:
            run.init(parameter_set="start")
            rows = []
            for _ in range(ROWS):
                run.step(EVERY)
                rows.append([run.get_real(f"it::{name}") for name in names])
            run.terminate()
    return rows


def cosim(fmu: str, names: list[str], start: dict[str, float]) -> list[list[float]]:
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    run = CosimExecution.from_step_size(round(STEP * 1e9))
    index = run.add_local_slave(CosimLocalSlave(fmu, "it"))
    references = {v.name.decode(): v.reference for v in run.slave_variables(index)}
    for name, value in start.items():
        assert run.real_initial_value(index, references[name], value)
    observer = CosimObserver.create_last_value()
    assert run.add_observer(observer)
    rows = []
    for i in range(1, ROWS + 1):
        assert run.simulate_until(round(i * EVERY * STEP * 1e9))
        rows.append(list(observer.last_real_values(index, [references[n] for n in names])))
    return rows


def container(fmu: str, names: list[str], start: dict[str, float]) -> list[list[float]]:
    import fmpy

    stop, options = ROWS * EVERY * STEP, {"output_interval": STEP, "step_size": STEP}
    out = fmpy.simulate_fmu(fmu, stop_time=stop, fmi_type="CoSimulation", start_values=start, output=names, **options)
    return [[float(out[name][i]) for name in names] for i in range(EVERY, len(out), EVERY)]


def main() -> None:
    master, fmu, job, out = sys.argv[1:]
    names, start = json.loads(Path(job).read_text(encoding="utf-8"))
    np.save(out, np.array({"ecos": ecos, "cosim": cosim, "container": container}[master](fmu, names, start)))


if __name__ == "__main__":
    main()
