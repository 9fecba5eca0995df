"""A crane picks a load up, carries it along its rails and sets it down: ropes that pull, and a load that swings."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import bough
from bough.report import Curve, Panel, new_figure, save_figure
from bough.report.figures import draw_panel

HERE = Path(__file__).resolve().parent
HEIGHT, SLING = 10.0, 1.5
"""Of the rails above the ground, and length of the sling, m."""
ROPE, LOSS = 3e5, 5e3
"""Stiffness and damping of the hoist rope, N/m and N.s/m."""
STOP, STEP = 20.0, 0.02
"""End of the run and distance of its rows, s."""
SERVO = (4e3, 6e3)
"""Drive of the trolley: force for a distance from its path and for a speed, N/m and N.s/m."""


def blend(t: float, begin: float, takes: float) -> tuple[float, float]:
    """A move from 0 to 1, from rest to rest, and its rate, 1/s."""
    s = min(max((t - begin) / takes, 0.0), 1.0)
    return s**3 * (10 - 15 * s + 6 * s * s), 30 * (s * (1 - s)) ** 2 / takes


def paid_out(t: float) -> tuple[float, float]:
    """Length of rope that the winch has let go, m, and its rate: up by three metres, and down again."""
    up, down = blend(t, 0.5, 4.0), blend(t, 14.0, 4.0)
    return 7.8 - 3.0 * up[0] + 3.2 * down[0], -3.0 * up[1] + 3.2 * down[1]


def wanted(t: float) -> tuple[float, float]:
    """Place of the trolley on its rails, m, and its rate."""
    part = blend(t, 5.0, 6.0)
    return 5.0 * part[0], 5.0 * part[1]


def winch(t: float, state: Mapping[str, float]) -> float:
    """Force of the hoist rope, N: it pulls where it is longer than what is let go, and never pushes."""
    line = np.array([state["hang.s[1]"] - state["rail.s"], state["hang.s[2]"], state["hang.s[3]"] - HEIGHT])
    rate = np.array([state["hang.v[1]"] - state["rail.v"], state["hang.v[2]"], state["hang.v[3]"]])
    s = float(np.linalg.norm(line))
    free, speed = paid_out(t)
    pull = ROPE * (s - free) + LOSS * (float(line @ rate) / s - speed)
    return -max(pull, 0.0) if s > free else 0.0


def drive(t: float, state: Mapping[str, float]) -> float:
    """Force on the trolley, N."""
    place, speed = wanted(t)
    return SERVO[0] * (place - state["rail.s"]) + SERVO[1] * (speed - state["rail.v"])


def simulate() -> bough.Result:
    """Up, along, down."""
    inputs = {"hoist.f": winch, "rail.f": drive}
    return bough.simulate(HERE / "model.yaml", stop=STOP, step=STEP, inputs=inputs, rtol=3e-7)


def sway(result: bough.Result) -> np.ndarray:
    """Angle of the line from the trolley to the load against the vertical, deg."""
    aside = result["flight.s[1]"] - result["rail.s"]
    return np.degrees(np.arctan2(aside, HEIGHT - result["flight.s[3]"]))


def main(folder: Path = HERE) -> None:
    """Run, tell, draw."""
    result = simulate()
    taut = result.t[np.argmax(result["sling.f"] < 0.0)]
    lifted = (result["floor.f"] == 0.0) & (result["sling.f"] < 0.0)
    print(f"the sling is taut at {taut:.2f} s and pulls with up to {-1e-3 * result['sling.f'].min():.1f} kN; the load")
    flight, aside = STEP * lifted.sum(), abs(sway(result)[lifted]).max()
    print(f"weighs 9.8 kN, flies for {flight:.1f} s and sways by up to {aside:.1f} deg")
    hoist, sling = result["hoist.f"].max(), result["sling.f"].max()
    print(f"no rope ever pushes: the largest forces are {hoist:.0f} N and {sling:.0f} N")
    figure = new_figure(10.0, 7.5)
    grid = figure.add_gridspec(3, 2, width_ratios=(1.2, 1.0))
    draw_mechanism(figure.add_subplot(grid[:, 0]), result)
    pulls = [Curve("hoist", -1e-3 * result["hoist.f"]), Curve("sling", -1e-3 * result["sling.f"])]
    pulls.append(Curve("floor", 1e-3 * result["floor.f"]))
    draw_panel(figure.add_subplot(grid[0, 1]), result.t, Panel("Pull of the ropes", "kN", pulls), columns=3)
    places = [Curve("trolley", result["rail.s"]), Curve("load", result["flight.s[1]"])]
    draw_panel(figure.add_subplot(grid[1, 1]), result.t, Panel("Along the rails", "m", places), columns=2)
    draw_panel(figure.add_subplot(grid[2, 1]), result.t, Panel("Sway", "deg", [Curve("", sway(result))]))
    save_figure(figure, folder / "crane.png", dpi=95)


def draw_mechanism(axes, result: bough.Result) -> None:
    """Rails, trolley, ropes, hook and load at five times, and the way of the load."""
    axes.plot([-1.0, 7.0], [HEIGHT + 0.3] * 2, color="0.4", lw=5)
    axes.axhline(0.0, color="0.4", lw=1)
    axes.plot(result["flight.s[1]"], result["flight.s[3]"], color="tab:orange", lw=1)
    for t, shade in ((0.0, 0.75), (5.0, 0.6), (8.0, 0.45), (11.0, 0.3), (STOP, 0.0)):
        i = round(t / STEP)
        colour = str(shade)
        x = result["rail.s"][i]
        hook, load = ([result[f"{h}.s[{k}]"][i] for k in (1, 3)] for h in ("hang", "flight"))
        axes.fill([x - 0.35, x + 0.35, x + 0.35, x - 0.35], [HEIGHT - 0.15] * 2 + [HEIGHT + 0.2] * 2, color=colour)
        axes.plot([x, hook[0], load[0]], [HEIGHT, hook[1], load[1]], color=colour, lw=1.2, marker="o", ms=3)
        turn = np.linspace(0.0, 2.0 * np.pi, 60)
        axes.fill(load[0] + 0.5 * np.cos(turn), load[1] + 0.5 * np.sin(turn), color=colour)
        axes.annotate(f"{t:g} s", (load[0], load[1] - 0.85), ha="center", fontsize=8, color="black")
    axes.set(xlim=(-1.5, 7.8), ylim=(-0.8, 10.8), aspect="equal", xlabel="x, m", ylabel="height, m")
    axes.set_title("Up, along, down", loc="left", fontsize=11, fontweight="bold")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
