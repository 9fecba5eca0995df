"""Two arrays of five panels unfold one after the other: hinges lock and release at run time, the momentum stays."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave

import bough
from bough.report import Curve, Panel, draw_panels
from bough.report.scenes import animate

HERE = Path(__file__).resolve().parent
SIDES, PANELS = ("left", "right"), range(1, 6)
HINGES = [f"{side}_hinge{i}" for side in SIDES for i in PANELS]
STOP, STEP = 60.0, 0.005
"""End of the run and communication step, s: a hinge locks at the first communication point beyond its stop."""


class Craft:
    """The FMU of the spacecraft, unpacked and started."""

    def __init__(self, folder: str) -> None:
        """Build it into a folder."""
        fmu = bough.build_fmu(HERE / "model.yaml", Path(folder) / "craft.fmu", platforms="native")
        description = read_model_description(str(fmu))
        self.refs = {v.name: v.valueReference for v in description.modelVariables}
        self.fmu = FMU2Slave(
            guid=description.guid,
            unzipDirectory=extract(str(fmu), folder),
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="craft",
        )
        self.fmu.instantiate()
        self.fmu.setupExperiment(tolerance=1e-8, startTime=0.0)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def get(self, names: list[str]) -> np.ndarray:
        """Values of variables."""
        return np.array(self.fmu.getReal([self.refs[name] for name in names]))

    def lock(self, hinge: str, shut: bool = True) -> None:
        """Lock a hinge, or release it: its speed jumps to zero, the momentum of the whole is kept."""
        self.fmu.setBoolean([self.refs[f"{hinge}.locked"]], [shut])


def simulate() -> bough.Result:
    """Unfold: a hinge that passes the flat position locks, and the next one of its wing is released."""
    system = bough.Mechanism(HERE / "model.yaml")
    names = [*system.q_names, *system.u_names]
    angles = [f"{hinge}.phi" for hinge in HINGES]
    with tempfile.TemporaryDirectory() as folder:
        craft = Craft(folder)
        rows = [craft.get(names)]
        side = np.sign(craft.get(angles))
        done = np.zeros(len(HINGES), dtype=bool)
        flat = [done.copy()]
        for i in range(round(STOP / STEP)):
            craft.fmu.doStep(currentCommunicationPoint=i * STEP, communicationStepSize=STEP)
            passed = ~done & (side * craft.get(angles) <= 0.0)
            for k in np.flatnonzero(passed):
                craft.lock(HINGES[k])
                if (k + 1) % len(PANELS):
                    craft.lock(HINGES[k + 1], shut=False)
            done |= passed
            rows.append(craft.get(names))
            flat.append(done.copy())
        craft.fmu.terminate()
        craft.fmu.freeInstance()
    columns = dict(zip(names, np.array(rows).T, strict=True))
    columns |= {f"{h}.flat": np.array(flat, dtype=float)[:, k] for k, h in enumerate(HINGES)}
    return bough.Result(STEP * np.arange(len(rows)), columns)


def momenta(result: bough.Result, every: int = 20) -> np.ndarray:
    """Angular momentum about the inertial origin at every so many points, N.m.s, (n, 3)."""
    system = bough.Mechanism(HERE / "model.yaml")
    q = np.column_stack([result[name][::every] for name in system.q_names])
    u = np.column_stack([result[name][::every] for name in system.u_names])
    return np.array([system.momentum(a, b)[1] for a, b in zip(q, u, strict=True)])


def lock_times(result: bough.Result) -> dict[str, float]:
    """When each hinge locked in the flat position, s."""
    return {h: float(result.t[int(np.argmax(result[f"{h}.flat"]))]) for h in HINGES}


def tilt(result: bough.Result) -> np.ndarray:
    """Angle between the hub's axis of the wheel and where it was, deg."""
    x, y = result["flight.Q[1]"], result["flight.Q[2]"]
    return np.degrees(np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0)))


def main(folder: Path = HERE) -> None:
    """Run, tell, draw."""
    result = simulate()
    times = lock_times(result)
    drift = abs(momenta(result) - momenta(result)[0]).max()
    print(f"{len(times)} hinges lock between {min(times.values()):.2f} s and {max(times.values()):.2f} s")
    print(f"the hub tilts by up to {tilt(result).max():.2f} deg; angular momentum drifts by {drift:.1e} N.m.s of 15")
    left, right = ([Curve(f"panel {i}", result[f"{s}_hinge{i}.phi"]) for i in PANELS] for s in SIDES)
    bends = [Curve(f"{s}1", result[f"{s}1.eta[1]"]) for s in SIDES]
    panels = [
        Panel("Hinges of the left wing", "rad", left),
        Panel("Hinges of the right wing", "rad", right),
        Panel("Bending of the inner panels", "first mode", bends),
        Panel("Tilt of the hub", "deg", [Curve("", tilt(result))]),
    ]
    motion = animate(bough.Mechanism(HERE / "model.yaml"), result, stop=21.0)
    draw_panels(result.t, panels, folder / "array_deployment.png", motion)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
