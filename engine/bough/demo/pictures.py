"""Pictures of the arm's manoeuvre."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.demo.arm import JOINTS, LINKS, ArmRun
from bough.demo.drive import DriveRun
from bough.report.figures import Curve, Panel, draw_panel, draw_panels, new_figure, save_figure, style_axes
from bough.report.palette import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array: TypeAlias = NDArray[np.float64]

SHOWN = (0.0, 1 / 3, 1 / 2, 2 / 3, 1.0)
"""Parts of the move after which the overview shows the arm."""


Run: TypeAlias = ArmRun | DriveRun
"""What can be drawn."""


def angle_panel(run: Run) -> Panel:
    """Joint angles: planned, and of the arm that bends."""
    curves = []
    for i, joint in enumerate(JOINTS):
        curves.append(Curve(joint, np.degrees(run.result[f"{joint}.phi"]), COLOURS[i]))
        curves.append(Curve(f"{joint}, {run.plan_name}", np.degrees(run.plan[joint]), COLOURS[i], ":"))
    return Panel("Joint angles", "angle, deg", curves)


def torque_panel(run: Run) -> Panel:
    """Joint torques."""
    return Panel("Joint torques", "torque, N.m", [Curve(joint, run.result[f"{joint}.tau"]) for joint in JOINTS])


def deflection_panel(run: Run) -> Panel:
    """Sideways motion of each link's tip against its root."""
    curves = [Curve(f"{link} link", 1e3 * run.deflection[link]) for link in LINKS]
    return Panel("Tip deflection of each link", "deflection, mm", curves)


def mode_panels(run: Run) -> list[Panel]:
    """Modal amplitudes, one panel per link."""
    panels = []
    for link in LINKS:
        names = [name for name in run.result.names if name.startswith(f"{link}.eta[")]
        curves = [Curve(f"mode {i}", run.result[name]) for i, name in enumerate(names, 1)]
        panels.append(Panel(f"Modal amplitudes, {link} link", "amplitude", curves))
    return panels


def energy_panels(run: Run) -> list[Panel]:
    """What the torques put in, where it is, and the gap between the two accounts."""
    kinetic, elastic = run.energy[:, 0], run.energy[:, 2]
    gained = run.energy.sum(axis=1) - run.energy[0].sum()
    parts = [
        Curve("work of the torques", run.work, INK),
        Curve("kinetic", kinetic, COLOURS[0]),
        Curve("elastic", elastic, COLOURS[1]),
        Curve("lost in joints and links", run.loss, COLOURS[6]),
    ]
    gap = 1e9 * (gained - (run.work - run.loss))
    return [
        Panel("Energy", "energy, J", parts),
        Panel("Balance: energy gained minus (work minus losses)", "gap, nJ", [Curve("", gap, COLOURS[7])]),
    ]


def draw_all(run: Run, folder: Path) -> list[Path]:
    """Write every picture of the demonstration; return the files."""
    t = run.result.t
    sets = {
        "joint_angles.png": [angle_panel(run), torque_panel(run)],
        "tip_deflection.png": [deflection_panel(run)],
        "modal_amplitudes.png": mode_panels(run),
        "energy_balance.png": energy_panels(run),
    }
    for name, panels in sets.items():
        draw_panels(t, panels, folder / name)
    overview = folder / "overview.png"
    draw_overview(run, overview)
    return [overview, *(folder / name for name in sets)]


def draw_overview(run: Run, path: str | os.PathLike[str]) -> None:
    """One picture of the whole: the arm seen from above, the joint angles and the tip deflections."""
    figure = new_figure(11.0, 5.2)
    grid = figure.add_gridspec(2, 2, width_ratios=[1.05, 1.0])
    _draw_arm(figure.add_subplot(grid[:, 0]), run)
    for row, panel in enumerate((angle_panel(run), deflection_panel(run))):
        axes = figure.add_subplot(grid[row, 1])
        draw_panel(axes, run.result.t, panel, "" if row == 0 else "time, s", columns=2)
        axes.axvspan(*run.move, color="#eef3f7", zorder=0)
    save_figure(figure, path, dpi=100)


def _draw_arm(axes: Axes, run: Run) -> None:
    from matplotlib import colormaps

    q = np.column_stack([run.result[name] for name in run.system.q_names])
    colours = colormaps["viridis"](np.linspace(0.92, 0.05, len(SHOWN)))
    hand = np.column_stack([run.result[f"payload.origin.r[{i}]"] for i in (1, 2)])
    begin, end = run.move
    moving = run.result.t <= end
    axes.plot(*hand[moving].T, ":", color="#7a7f85", linewidth=1.2)
    for part, colour in zip(SHOWN, colours, strict=True):
        time = begin + part * (end - begin)
        row = q[int(np.argmin(abs(run.result.t - time)))]
        for link in LINKS:
            axes.plot(*_line(run, row, link).T, color=colour, linewidth=3.0, solid_capstyle="round")
        elbow, tip = (run.system.pose(row, node)[0][:2] for node in ("elbow_motor.origin", "payload.origin"))
        axes.plot(*elbow, "o", color=colour, markersize=6)
        axes.plot(*tip, "o", color=colour, markersize=9)
        axes.annotate(f"{time:.2g} s", (tip[0], tip[1]), (9, 4), textcoords="offset points", fontsize=9, color=INK)
    axes.plot(0, 0, "s", color=INK, markersize=10)
    style_axes(axes, "Two-link arm from above, deflections to scale", "x, m", "y, m")
    axes.margins(0.1)
    axes.set_aspect("equal", adjustable="datalim")


def _line(run: Run, q: Array, link: str) -> Array:
    """Bent centre line of a link in the inertial frame, m, (n, 2)."""
    body = next(b for b in run.system.model.bodies if b.name == link)
    return np.array([run.system.pose(q, f"{link}.{node}")[0][:2] for node in body.node_names])
