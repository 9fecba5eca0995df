"""A station's arm picks up three tonnes in flight: its FMU, stepped by FMPy, with a controller written here."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave

import bough
from bough.flex import flex_body
from bough.report import Curve, Panel, draw_panels
from bough.report.scenes import animate

HERE = Path(__file__).resolve().parent
HINGES = [f"j{i}" for i in range(1, 8)]
TURN = np.array([0.3, 0.1, 0.25, -0.4, 0.2, 0.3, 0.4])
"""How far each hinge turns in a move, rad: there before the payload is gripped, back with it."""
MOVE, GRIP, STOP = 30.0, 40.0, 120.0
"""Duration of a move, when the payload is gripped, end of the run, s."""
STEP = 0.01
"""Sample time of the controller and communication step, s."""
STIFFNESS, RATE = 4e4, 8e4
"""Gains of the controller, N.m/rad and N.m.s/rad."""
PAYLOAD = {"payload.mass": 3000.0, "payload.com[1]": 1.5} | {f"payload.inertia[{i}]": 2500.0 for i in (1, 2, 3)}
LIMIT = 1500.0
"""Largest torque of a joint, N.m."""
SEEN = [f"{h}.{x}" for h in HINGES for x in ("phi", "w")]
KEPT = [f"{h}.phi" for h in HINGES] + [f"{boom}.eta[{i}]" for boom in ("upper", "lower") for i in range(1, 6)]
KEPT += [f"payload.origin.r[{i}]" for i in (1, 2, 3)] + [f"j3.reaction_torque[{i}]" for i in (1, 2, 3)]


def path(t: float) -> tuple[float, float]:
    """Fraction of the move that is due, and its rate, 1/s: out at once, back ten seconds after the grip."""
    x = t / MOVE if t < GRIP else (t - GRIP - 10.0) / MOVE
    x = min(max(x, 0.0), 1.0)
    s, v = x**3 * (10 - 15 * x + 6 * x * x), 30 * x * x * (1 - x) ** 2 / MOVE
    return (s, v) if t < GRIP else (1.0 - s, -v)


def simulate() -> bough.Result:
    """Out with an empty hand, grip, back with three tonnes in it."""
    with tempfile.TemporaryDirectory() as folder:
        fmu = bough.build_fmu(HERE / "model.yaml", Path(folder) / "arm.fmu", platforms="native")
        description = read_model_description(str(fmu))
        names = {v.name: v.valueReference for v in description.modelVariables}
        arm = FMU2Slave(
            guid=description.guid,
            unzipDirectory=extract(str(fmu), folder),
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="arm",
        )
        arm.instantiate()
        arm.setupExperiment(tolerance=1e-7, startTime=0.0)
        arm.enterInitializationMode()
        arm.exitInitializationMode()
        seen, torque, kept = ([names[n] for n in group] for group in (SEEN, [f"{h}.tau" for h in HINGES], KEPT))
        home = np.array(arm.getReal(seen))[::2]
        rows, torques = [arm.getReal(kept)], []
        for i in range(round(STOP / STEP)):
            t = i * STEP
            if i == round(GRIP / STEP):  # the payload drifts with the hand: mass is there, and nothing jerks
                arm.setReal([names[n] for n in PAYLOAD], list(PAYLOAD.values()))
            state = np.array(arm.getReal(seen)).reshape(-1, 2)
            s, v = path(t)
            tau = STIFFNESS * (home + s * TURN - state[:, 0]) + RATE * (v * TURN - state[:, 1])
            tau = np.clip(tau, -LIMIT, LIMIT)
            arm.setReal(torque, tau.tolist())
            arm.doStep(currentCommunicationPoint=t, communicationStepSize=STEP)
            rows.append(arm.getReal(kept))
            torques.append(tau)
        arm.terminate()
        arm.freeInstance()
    columns = dict(zip(KEPT, np.array(rows).T, strict=True))
    effort = np.vstack([torques[:1], torques])
    columns |= {f"{h}.tau": effort[:, i] for i, h in enumerate(HINGES)}
    return bough.Result(STEP * np.arange(len(rows)), columns)


def bend(result: bough.Result, boom: str) -> np.ndarray:
    """How far a boom's tip is off its straight line, across and up, m, (n, 2)."""
    flex = flex_body(next(b for b in bough.load(HERE / "model.yaml").bodies if b.name == boom))
    eta = np.column_stack([result[f"{boom}.eta[{i + 1}]"] for i in range(flex.nm)])
    return eta @ flex.node_shapes[-1, 4:6].T


def lateness(result: bough.Result) -> float:
    """Largest gap between the first hinge and its plan, rad."""
    due = np.array([path(t)[0] for t in result.t]) * TURN[0]
    return float(abs(result["j1.phi"] - due).max())


def main(folder: Path = HERE) -> None:
    """Run, tell, draw."""
    result = simulate()
    bends = {boom: bend(result, boom) for boom in ("upper", "lower")}
    empty = result.t < GRIP
    largest = [1e3 * abs(bends["upper"][part]).max() for part in (empty, ~empty)]
    print(f"largest bend of the upper boom: {largest[0]:.2f} mm empty, {largest[1]:.1f} mm with three tonnes")
    print(f"the first hinge is at most {lateness(result):.4f} rad behind its plan")
    curves = [
        Curve(f"{boom}, {way}", 1e3 * bends[boom][:, i]) for boom in bends for i, way in enumerate(("across", "up"))
    ]
    panels = [
        Panel("Hinges", "rad", [Curve(h, result[f"{h}.phi"]) for h in HINGES]),
        Panel("Torques", "N.m", [Curve(h, result[f"{h}.tau"]) for h in HINGES]),
        Panel("Bend of the booms", "mm", curves),
    ]
    motion = animate(bough.Mechanism(HERE / "model.yaml"), result)
    draw_panels(result.t, panels, folder / "station_arm.png", motion)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
