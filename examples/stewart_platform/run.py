"""A Stewart platform that follows a path: six legs with force servos; the loops make a pose of their lengths."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import bough
from bough.report import Curve, Panel, new_figure, save_figure
from bough.report.figures import draw_panel

HERE = Path(__file__).resolve().parent
LEGS = range(1, 7)
STOP, STEP, PERIOD = 2.0, 5e-3, 2.0
STIFFNESS, DAMPING = 4e4, 2e3  # N/m, N.s/m: of the servo of each leg
MODEL = bough.load(HERE / "model.yaml")
BODIES = {body.name: body for body in MODEL.bodies}
FEET = np.array([BODIES[f"tube{i}"].hinge.position for i in LEGS])
BALLS = np.array([BODIES["platform"].rigid.nodes[f"p{i}"].position for i in LEGS])


def wanted(t: float) -> tuple[np.ndarray, Rotation]:
    """Path of the platform: a circle of 0.1 m that begins softly, and a tilt of six degrees."""
    soft = 1.0 - np.exp(-((t / 0.3) ** 2))
    a = 2 * np.pi * t / PERIOD
    place = np.array([0.1 * soft * np.sin(a), 0.1 * soft * (1 - np.cos(a)), 1.1])
    return place, Rotation.from_rotvec([0.1 * soft * np.sin(a), 0.0, 0.0])


def lengths(t: float) -> np.ndarray:
    """Lengths of the legs on the path, m."""
    place, turn = wanted(t)
    return np.linalg.norm(place + turn.apply(BALLS) - FEET, axis=1)


def servo(i: int, hold: float) -> Callable[..., float]:
    """Force of leg i: what holds the platform at the start, and a spring and a damper to the length wanted."""

    def force(t: float, state: Mapping[str, float]) -> float:
        before, after = lengths(t - 1e-4)[i - 1], lengths(t + 1e-4)[i - 1]
        length, speed = 0.5 * (before + after), (after - before) / 2e-4
        return hold + STIFFNESS * (length - state[f"leg{i}.s"]) + DAMPING * (speed - state[f"leg{i}.v"])

    return force


def simulate() -> bough.Result:
    """One round."""
    system = bough.Mechanism(MODEL)
    q, u = system.initial_state()
    hold = system.hybrid_dynamics(q, u, np.zeros(system.nu), held=[f"leg{i}" for i in LEGS]).tau
    place = {name: i for i, name in enumerate(system.u_names)}
    inputs = {f"leg{i}.f": servo(i, float(hold[place[f"leg{i}.v"]])) for i in LEGS}
    return bough.simulate(system, stop=STOP, step=STEP, inputs=inputs, rtol=1e-6)


def main(folder: Path = HERE) -> None:
    """Run, tell, draw."""
    result = simulate()
    path = np.array([wanted(t)[0] for t in result.t])
    place = np.column_stack([result[f"platform.origin.r[{k}]"] for k in (1, 2, 3)])
    force = np.column_stack([result[f"leg{i}.f"] for i in LEGS])
    print(f"the platform is up to {1e3 * np.linalg.norm(place - path, axis=1).max():.1f} mm off its path")
    print(
        f"legs push with {force.min():.0f} N to {force.max():.0f} N; the platform and the rods weigh {9.81 * 52:.0f} N"
    )
    figure = new_figure(9.0, 6.5)
    grid = figure.add_gridspec(2, 2)
    scene = figure.add_subplot(grid[:, 0], projection="3d")
    draw_mechanism(scene, result)
    off = [Curve(axis, 1e3 * (place - path)[:, k]) for k, axis in enumerate("xyz")]
    draw_panel(figure.add_subplot(grid[0, 1]), result.t, Panel("Distance from the path", "mm", off))
    pushes = [Curve(f"{i}", force[:, i - 1]) for i in LEGS]
    draw_panel(figure.add_subplot(grid[1, 1]), result.t, Panel("Legs", "force, N", pushes), columns=6)
    save_figure(figure, folder / "stewart_platform.png", dpi=110)


def draw_mechanism(axes, result: bough.Result) -> None:
    """Legs and platform at the start and half a second later, and the path of the centre."""
    for i, colour in ((0, "0.7"), (len(result) // 4, "tab:blue")):
        place = np.array([result[f"platform.origin.r[{k}]"][i] for k in (1, 2, 3)])
        turn = Rotation.from_quat([result[f"platform.origin.Q[{k}]"][i] for k in (1, 2, 3, 4)])
        balls = place + turn.apply(BALLS)
        for foot, ball in zip(FEET, balls, strict=True):
            axes.plot(*zip(foot, ball, strict=True), color=colour, lw=2)
        axes.plot(*np.vstack([balls, balls[:1]]).T, color=colour, lw=3)
    axes.plot(*np.vstack([FEET, FEET[:1]]).T, color="black", lw=1)
    axes.plot(*(result[f"platform.origin.r[{k}]"] for k in (1, 2, 3)), color="tab:orange", lw=1.5)
    axes.set_aspect("equal")
    axes.set_title("At the start (grey) and at half a second", loc="left", fontsize=11, fontweight="bold")
    axes.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1], zticks=[0, 0.5, 1], xlabel="x, m", ylabel="y, m", zlabel="z, m")
    axes.view_init(elev=18, azim=-60)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
