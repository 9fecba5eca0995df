"""A robot joint with stiction, backlash and an elastic gear follows a sine and then hunts about its goal."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import bough
from bough.coupling import run
from bough.report import Curve, Panel, new_figure, save_figure
from bough.report.figures import draw_panel

HERE = Path(__file__).resolve().parent
RATIO, BACKLASH, SLIPS = 100.0, 4e-3, 0.002
"""Of the gear, as in the model file; play at the joint, rad; a speed that is surely motion, rad/s."""
SIZE, PERIOD, HOLD, STOP = 0.05, 4.0, 8.6, 20.0
"""Amplitude of the sine, rad; its period, when it stops and the goal stays, and the end of the run, s."""


def wanted(t: float) -> float:
    """Angle that is asked for, rad."""
    return float(SIZE * np.sin(2 * np.pi * min(t, HOLD) / PERIOD))


def simulate() -> bough.Result:
    """Joint, motor and controller, three FMUs; every fifth communication point is kept."""
    return run(HERE / "system.yaml", stop=STOP, inputs={"controller.phi_cmd": wanted}, every=5)


def plateaus(result: bough.Result) -> list[tuple[float, float]]:
    """When the joint sticks and when it breaks away, s; what it does at the very start is left out."""
    edges = np.flatnonzero(np.diff(result["robot.joint.sticking"] > 0.5))
    times = result.t[edges + 1]
    first = 0 if result["robot.joint.sticking"][edges[0] + 1] > 0.5 else 1
    return list(zip(times[first::2], times[first + 1 :: 2], strict=False))


def hunting(result: bough.Result) -> tuple[float, float]:
    """Period of the limit cycle, s, and its size from peak to peak, rad: of the last 9 s."""
    late = result.t > STOP - 9.0
    speed, t = result["robot.joint.w"][late], result.t[late]
    starts = t[1:][(speed[1:] > SLIPS) & (speed[:-1] <= SLIPS)]
    return float(np.diff(starts).mean()), float(np.ptp(result["robot.joint.phi"][late]))


def lost(result: bough.Result) -> np.ndarray:
    """Rotor angle over the ratio less the angle of the joint: play and wind-up of the shaft, rad."""
    gap: np.ndarray = result["robot.joint.rotor.phi"] / RATIO - result["robot.joint.phi"]
    return gap


def main(folder: Path = HERE) -> None:
    """Run, tell, draw."""
    result = simulate()
    stuck = [b - a for a, b in plateaus(result) if a < HOLD - 1.0]
    period, size = hunting(result)
    print(f"following the sine, the joint sticks for up to {max(stuck):.2f} s where it turns back")
    print(f"at its goal it hunts: every {period:.2f} s, by {1e3 * size:.1f} mrad from end to end")
    whole = 1e3 * np.ptp(lost(result))
    print(f"play takes {1e3 * BACKLASH:.1f} mrad at each reversal; the shaft winds up by the rest of {whole:.1f}")
    figure = new_figure(10.0, 8.0)
    grid = figure.add_gridspec(3, 2, height_ratios=(1.0, 1.2, 1.0))
    draw_mechanism(figure.add_subplot(grid[0, 0]))
    draw_lost(figure.add_subplot(grid[0, 1]), result)
    angles = [Curve("asked for", 1e3 * result["controller.phi_ref"]), Curve("joint", 1e3 * result["robot.joint.phi"])]
    axes = figure.add_subplot(grid[1, :])
    draw_panel(
        axes, result.t, Panel("A sine with flat tops, then a goal that is never reached", "mrad", angles), columns=2
    )
    for a, b in plateaus(result):
        axes.axvspan(a, b, color="0.9", lw=0)
    draw_panel(
        figure.add_subplot(grid[2, 0]), result.t, Panel("Joint", "speed, rad/s", [Curve("", result["robot.joint.w"])])
    )
    draw_panel(figure.add_subplot(grid[2, 1]), result.t, Panel("Motor", "current, A", [Curve("", result["motor.i"])]))
    save_figure(figure, folder / "robot_joint.png", dpi=95)


def draw_mechanism(axes) -> None:
    """Rotor, gear with play, spring of the shaft, joint and arm."""
    axes.set_title("Motor, gear, shaft, joint, arm", loc="left", fontsize=11, fontweight="bold")
    axes.axis("off")
    axes.set(xlim=(0, 10), ylim=(0, 4), aspect="equal")
    axes.fill([0.2, 1.6, 1.6, 0.2], [1.2, 1.2, 2.8, 2.8], color="0.8")
    axes.text(0.9, 2.0, "motor", ha="center", va="center", fontsize=8)
    axes.plot([1.6, 2.6], [2, 2], color="black", lw=2)
    for x, low, high in ((2.75, 1.6, 2.4), (3.1, 2.5, 4.0)):  # pinion and wheel
        axes.fill([x - 0.13, x + 0.13, x + 0.13, x - 0.13], [low, low, high, high], color="tab:blue")
    axes.text(3.0, 0.9, "1 : 100, play 4 mrad", ha="center", fontsize=8)
    x = np.linspace(3.3, 5.6, 200)
    axes.plot(x, 3.25 + 0.22 * np.sin(14 * np.pi * (x - 3.3) / 2.3), color="tab:green", lw=1.2)
    axes.text(4.45, 2.55, "shaft", ha="center", fontsize=8, color="tab:green")
    axes.plot([5.6, 6.6], [3.25, 3.25], color="black", lw=2)
    axes.fill([5.85, 6.25, 6.25, 5.85], [3.45, 3.45, 3.75, 3.75], color="tab:red")
    axes.fill([5.85, 6.25, 6.25, 5.85], [2.75, 2.75, 3.05, 3.05], color="tab:red")
    axes.text(6.05, 2.25, "friction", ha="center", fontsize=8, color="tab:red")
    axes.plot([6.6, 9.6], [3.25, 3.25], color="0.3", lw=7, solid_capstyle="round")
    axes.text(8.1, 2.55, "arm, 0.7 m", ha="center", fontsize=8)


def draw_lost(axes, result: bough.Result) -> None:
    """Joint against rotor while it follows the sine: the loop that play and wind-up leave."""
    part = (result.t > 2.0) & (result.t < HOLD)
    axes.plot(1e3 * result["robot.joint.rotor.phi"][part] / RATIO, 1e3 * lost(result)[part], color="tab:blue", lw=1)
    axes.axhspan(-500 * BACKLASH, 500 * BACKLASH, color="tab:orange", alpha=0.2, lw=0)
    axes.set_title("What the gear loses; shaded: its play", loc="left", fontsize=11, fontweight="bold")
    axes.set(xlabel="rotor / 100, mrad", ylabel="rotor / 100 - joint, mrad")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
