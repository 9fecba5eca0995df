"""ecos runs a package, in a process of its own: python -m systems.children SSP STEP JOB OUT.

JOB holds the names of variables, OUT gets an array with a row per tenth of a second of them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

ROWS = 8


def main() -> None:
    from ecospy import EcosSimulation

    package, step, job, out = sys.argv[1:]
    names = json.loads(Path(job).read_text(encoding="utf-8"))
    rows = []
    with EcosSimulation(step_size=float(step), ssp_path=package) as run:
        run.init(parameter_set="parameters")
        for _ in range(ROWS):
            run.step(round(0.1 / float(step)))
            rows.append([run.get_real(name.replace(".", "::", 1)) for name in names])
        run.terminate()
    np.save(out, np.array(rows))


if __name__ == "__main__":
    main()
