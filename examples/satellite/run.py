"""A satellite with four wheels, thrusters and flexible arrays turns in its orbit and holds its attitude."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import bough
from bough.report import Curve, Panel, new_figure, save_figure
from bough.report.figures import draw_panel

HERE = Path(__file__).resolve().parent
WHEELS = range(1, 5)
AXES = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [-1.0, 0.0, 1.0], [0.0, -1.0, 1.0]]) / np.sqrt(2.0)
SHARE = np.linalg.pinv(AXES.T)
"""Torques of the four wheels for a torque on the bus: the least sum of squares."""
INERTIA = np.array([460.0, 32.0, 465.0])
"""About of the whole, kg.m2; the controller need not know it well."""
RATE, DAMPING, LIMIT = 0.15, 0.9, 1.0
"""Bandwidth of the control, rad/s; its damping ratio; greatest torque of a wheel, N.m."""
RADIUS, MU = 6.878137e6, 3.986004418e14
ORBIT = float(np.sqrt(MU / RADIUS**3))
"""Turn of the orbit, rad/s."""
STATE = (
    [f"flight.Q[{k}]" for k in (1, 2, 3, 4)] + [f"flight.w[{k}]" for k in (1, 2, 3)] + [f"bus.rw{i}.w" for i in WHEELS]
)
SHOWN = [f"flight.{x}[{k}]" for x in "sv" for k in (1, 2, 3)] + [f"bus.rw{i}.tau" for i in WHEELS]
SHOWN += [f"{side}_array.tip.deflection[{k}]" for side in ("left", "right") for k in (1, 2, 3)]
STOP, STEP, SLEW, JETS = 150.0, 0.1, (20.0, 50.0), (100.0, 110.0)
"""End and step of the control; when it turns; when two thrusters fire: s."""
THRUST, TARGET = 0.04, np.radians(20.0)
"""N for each of two thrusters, a couple of 0.04 N.m; angle of the turn about the line to the earth, rad."""


def wanted(t: float) -> tuple[Rotation, np.ndarray]:
    """Attitude that is asked for and its rate in body axes: along the orbit, and turned about the vertical."""
    s = min(max((t - SLEW[0]) / (SLEW[1] - SLEW[0]), 0.0), 1.0)
    part, rate = s**3 * (10 - 15 * s + 6 * s * s), 30 * (s * (1 - s)) ** 2 / (SLEW[1] - SLEW[0])
    turn = Rotation.from_rotvec([TARGET * part, 0.0, 0.0])
    w = turn.inv().apply([0.0, 0.0, ORBIT]) + [TARGET * rate, 0.0, 0.0]
    return Rotation.from_rotvec([0.0, 0.0, ORBIT * t]) * turn, w


def error(t: float, Q: np.ndarray) -> np.ndarray:
    """Rotation from where it looks to where it should, rad, in body axes."""
    turned: np.ndarray = (Rotation.from_quat(Q).inv() * wanted(t)[0]).as_rotvec()
    return turned


def torques(t: float, state: Mapping[str, float]) -> np.ndarray:
    """Motor torques of the wheels, N.m: what the bus is to feel, opposite, and the gyroscopic torque of the wheels."""
    Q = np.array([state[f"flight.Q[{k}]"] for k in (1, 2, 3, 4)])
    w = np.array([state[f"flight.w[{k}]"] for k in (1, 2, 3)])
    h = AXES.T @ np.array([0.02 * state[f"bus.rw{i}.w"] for i in WHEELS])
    bus = INERTIA * (RATE**2 * error(t, Q) + 2.0 * DAMPING * RATE * (wanted(t)[1] - w)) + np.cross(w, h)
    out: np.ndarray = np.clip(-SHARE @ bus, -LIMIT, LIMIT)
    return out


def simulate() -> bough.Result:
    """The wheels get new torques every tenth of a second; two thrusters disturb what they hold."""
    run = bough.Run(HERE / "model.yaml", rtol=1e-9)
    names = [*STATE, *SHOWN]
    rows = []
    for i in range(round(STOP / STEP) + 1):
        t = i * STEP
        fire = THRUST if JETS[0] <= t < JETS[1] else 0.0
        tau = torques(t, dict(zip(STATE, run.values(*STATE), strict=True)))
        run.set({f"bus.rw{k}.tau": float(tau[k - 1]) for k in WHEELS})
        run.set({"bus.jet1.local_force[1]": fire, "bus.jet2.local_force[1]": -fire})
        rows.append(run.values(*names))
        if t < STOP:
            run.step(STEP)
    return bough.Result(STEP * np.arange(len(rows)), dict(zip(names, np.array(rows).T, strict=True)))


def pointing(result: bough.Result) -> np.ndarray:
    """Angle between where it looks and where it should, deg."""
    Q = np.column_stack([result[f"flight.Q[{k}]"] for k in (1, 2, 3, 4)])
    return np.degrees([np.linalg.norm(error(t, q)) for t, q in zip(result.t, Q, strict=True)])


def height_error(result: bough.Result) -> float:
    """Largest distance of the bus from the circle of its orbit, m."""
    r = np.linalg.norm([result[f"flight.s[{k}]"] for k in (1, 2, 3)], axis=0)
    return float(abs(r - RADIUS).max())


def main(folder: Path = HERE) -> None:
    """Run, tell, draw."""
    result = simulate()
    off = pointing(result)
    first, later = off[: round(JETS[0] / STEP)].max(), off[round(JETS[0] / STEP) :].max()
    at = {name: off[round(t / STEP)] for name, t in (("before", JETS[0]), ("end", STOP))}
    bend = max(abs(result[f"{side}_array.tip.deflection[3]"]).max() for side in ("left", "right"))
    print(f"it turns by 20 deg in 30 s, {first:.2f} deg off at most; then {at['before']:.3f} deg are left")
    print(f"thrusters push it {later:.2f} deg aside; at the end {at['end']:.3f} deg are left")
    circle = 1e3 * height_error(result)
    print(f"tips of the arrays bend by up to {1e3 * bend:.1f} mm; the orbit is a circle within {circle:.1f} mm")
    figure = new_figure(10.0, 8.0)
    grid = figure.add_gridspec(2, 2)
    scene = figure.add_subplot(grid[0, 0], projection="3d")
    draw_mechanism(scene, result)
    draw_panel(figure.add_subplot(grid[0, 1]), result.t, Panel("Off its target", "deg", [Curve("", off)]))
    wheels = [Curve(f"rw{i}", result[f"bus.rw{i}.w"]) for i in WHEELS]
    draw_panel(figure.add_subplot(grid[1, 0]), result.t, Panel("Wheels", "speed, rad/s", wheels), columns=4)
    bends = [Curve(side, 1e3 * result[f"{side}_array.tip.deflection[3]"]) for side in ("left", "right")]
    draw_panel(figure.add_subplot(grid[1, 1]), result.t, Panel("Tips of the arrays", "mm", bends), columns=2)
    save_figure(figure, folder / "satellite.png", dpi=95)


def draw_mechanism(axes, result: bough.Result) -> None:
    """Bus, wheel axes and arrays at the start and after the turn, seen along the orbit; the bend is drawn ten times."""
    for t, colour in ((0.0, "0.7"), (40.0, "tab:blue"), (90.0, "black")):
        i = round(t / STEP)
        Q = [result[f"flight.Q[{k}]"][i] for k in (1, 2, 3, 4)]
        turn = Rotation.from_rotvec([0.0, 0.0, -ORBIT * t]) * Rotation.from_quat(Q)
        box = 0.5 * np.array([[1, 1, 1], [-1, 1, 1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [1, 1, -1], [-1, 1, -1]])
        box = np.vstack([box, 0.5 * np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1]])])
        axes.plot(*turn.apply(box).T, color=colour, lw=2)
        for side, sign in (("left", 1.0), ("right", -1.0)):
            tip = result[f"{side}_array.tip.deflection[3]"][i]
            x = np.linspace(0.0, 1.0, 20)
            line = np.column_stack([0 * x, sign * (0.6 + 5.0 * x), 10.0 * tip * x**2 * (3 - x) / 2])
            for edge in (-0.5, 0.5):
                axes.plot(*turn.apply(line + [edge, 0, 0]).T, color=colour, lw=1.5)
    for axis in AXES:
        axes.plot(*np.array([np.zeros(3), 0.9 * axis]).T, color="tab:orange", lw=1)
    axes.set_aspect("equal")
    axes.set_title("At 0 s (grey), 40 s (blue) and 90 s", loc="left", fontsize=11, fontweight="bold")
    axes.set(xticks=[], yticks=[-5, 0, 5], zticks=[-2, 0, 2], ylabel="y, m")
    axes.view_init(elev=15, azim=-25)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
