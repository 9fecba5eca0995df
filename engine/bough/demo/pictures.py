"""Pictures of the arm's manoeuvre."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.demo.arm import JOINTS, LINKS, ArmRun
from bough.demo.drive import DriveRun
from bough.flex import flex_body
from bough.report.figures import Curve, Panel, draw_panel, draw_panels, new_figure, save_figure, style_axes
from bough.report.palette import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array: TypeAlias = NDArray[np.float64]

SHOWN = (0.0, 1 / 3, 1 / 2, 2 / 3, 1.0)
"""Parts of the move after which, to the nearest tenth of a second, the overview shows the arm."""
ENERGIES = (("J", 1.0), ("mJ", 1e3), ("µJ", 1e6), ("nJ", 1e9))
BAND = "#eef3f7"
GREY = "#7a7f85"
CONTROLLERS = ("a controller for each joint", "a model of the arm inside")
"""Both controllers that are compared, in the order of the colours on paper and on the screen."""


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
    return Panel("Joint torques", "torque, N·m", [Curve(joint, run.result[f"{joint}.tau"]) for joint in JOINTS])


def deflection_panel(run: Run) -> Panel:
    """Sideways motion of each link's tip against its root."""
    curves = [Curve(f"{link} link", 1e3 * run.deflection[link]) for link in LINKS]
    return Panel("Tip deflection of each link", "deflection, mm", curves)


def mode_panels(run: Run, link: str) -> tuple[Panel, Panel]:
    """What the modes of a link add to its tip deflection: the first, and the others, which are far smaller."""
    flex = flex_body(next(body for body in run.system.model.bodies if body.name == link))
    along_y = flex.node_shapes[flex.node("tip"), 4]
    curves = [
        Curve(f"mode {i + 1}", 1e3 * along_y[i] * run.result[f"{link}.eta[{i + 1}]"], COLOURS[i])
        for i in range(flex.nm)
    ]
    title = f"{link.capitalize()} link, tip deflection"
    return Panel(title, "by the first mode, mm", curves[:1]), Panel("", "by the other modes, mm", curves[1:])


def energy_panels(run: Run) -> list[Panel]:
    """What the torques put in, where it is, and how far the two accounts are apart."""
    kinetic, elastic = run.energy[:, 0], run.energy[:, 2]
    gained = run.energy.sum(axis=1) - run.energy[0].sum()
    parts = [
        Curve("work of the torques", run.work, INK),
        Curve("kinetic", kinetic, COLOURS[0]),
        Curve("elastic", elastic, COLOURS[1]),
        Curve("lost in joints and links", run.loss, COLOURS[6]),
    ]
    error = gained - (run.work - run.loss)
    unit, scale = next(((u, s) for u, s in ENERGIES if s * np.max(abs(error)) >= 1.0), ENERGIES[-1])
    about = "Zero if no energy were lost or made by the coupling and by the tolerance of the solver."
    return [
        Panel("Energy", "energy, J", parts),
        Panel(
            "Energy gained minus (work minus losses)", f"error, {unit}", [Curve("", scale * error, COLOURS[7])], about
        ),
    ]


def vibration_panels(run: DriveRun, calm: DriveRun) -> list[Panel]:
    """How far the payload is from where it is to rest, with a controller for each joint and with a model inside."""
    curves = [
        Curve(f"{name}: {1e3 * each.vibration:.3g} mm", 1e3 * each.miss, colour)
        for name, each, colour in zip(CONTROLLERS, (run, calm), COLOURS, strict=False)
    ]
    about = "In the legend: swing from side to side after the move. The move is shaded, and the same for both."
    return [
        Panel("Distance of the payload from its goal", "distance, mm", curves),
        Panel("", "distance, mm", [Curve("", curve.y, curve.colour) for curve in curves], about, log=True),
    ]


def draw_all(run: DriveRun, calm: DriveRun, folder: Path, done: Callable[[], None]) -> dict[Path, str]:
    """Write every picture of the demonstration; return what each file shows.

    Args:
        run: The arm with a controller for each joint.
        calm: The arm with a controller that has a model of it inside.
        folder: Where they go.
        done: Called after each picture.
    """
    t = run.result.t
    work: dict[str, tuple[str, Callable[[Path], None]]] = {
        "residual_vibration.png": (
            "what is left after the move, with both controllers",
            lambda p: draw_calm(run, calm, p),
        ),
        "overview.png": ("the arm from above, joint angles and tip deflections", lambda p: draw_overview(run, p)),
        "joint_angles.png": (
            "joint angles with their references, and torques",
            lambda p: draw_panels(t, [angle_panel(run), torque_panel(run)], p),
        ),
        "tip_deflection.png": ("how far the links bend", lambda p: draw_panels(t, [deflection_panel(run)], p)),
        "modal_amplitudes.png": ("the same, mode by mode", lambda p: draw_modes(run, p)),
        "energy_balance.png": (
            "where the energy goes, and that none is missing",
            lambda p: draw_panels(t, energy_panels(run), p),
        ),
    }
    for name, (_, draw) in work.items():
        draw(folder / name)
        done()
    return {folder / name: text for name, (text, _) in work.items()}


def draw_calm(run: DriveRun, calm: DriveRun, path: Path) -> None:
    """Both controllers compared: what the payload still does after the move."""
    figure = new_figure(8.0, 5.6)
    axes = figure.subplots(2, 1, sharex=True)
    for i, panel in enumerate(vibration_panels(run, calm)):
        draw_panel(axes[i], run.result.t, panel, "time, s" if i else "", columns=1)
        axes[i].axvspan(*run.move, color=BAND, zorder=0)
    # Before the move the distance is that of the move itself; below a tenth of a millimetre nothing is to be seen.
    axes[1].set_ylim(bottom=0.1)
    figure.align_ylabels(list(axes))
    save_figure(figure, path)


def draw_modes(run: Run, path: Path) -> None:
    """What each mode adds to the tip deflections: a column for each link."""
    figure = new_figure(10.0, 5.0)
    axes = figure.subplots(2, len(LINKS), sharex=True)
    for column, link in enumerate(LINKS):
        for row, panel in enumerate(mode_panels(run, link)):
            draw_panel(axes[row, column], run.result.t, panel, "time, s" if row else "")
    figure.align_ylabels(list(axes.flat))
    save_figure(figure, path)


def draw_overview(run: Run, path: str | os.PathLike[str]) -> None:
    """One picture of the whole: the arm seen from above, the joint angles and the tip deflections."""
    figure = new_figure(11.0, 5.2)
    grid = figure.add_gridspec(2, 2, width_ratios=[1.05, 1.0])
    _draw_arm(figure.add_subplot(grid[:, 0]), run)
    curves = []
    for row, panel in enumerate((angle_panel(run), deflection_panel(run))):
        axes = figure.add_subplot(grid[row, 1])
        draw_panel(axes, run.result.t, panel, "" if row == 0 else "time, s", columns=2)
        axes.axvspan(*run.move, color=BAND, zorder=0)
        curves.append(axes)
    where = curves[0].get_xaxis_transform()
    curves[0].text(0.5 * sum(run.move), 0.03, "the move", transform=where, ha="center", fontsize=8.5, color=GREY)
    figure.align_ylabels(curves)
    save_figure(figure, path, dpi=180)


def _draw_arm(axes: Axes, run: Run) -> None:
    from matplotlib import colormaps

    q = np.column_stack([run.result[name] for name in run.system.q_names])
    colours = colormaps["viridis"](np.linspace(0.92, 0.05, len(SHOWN)))
    hand = np.column_stack([run.result[f"payload.origin.r[{i}]"] for i in (1, 2)])
    begin, end = run.move
    axes.plot(*hand[run.result.t <= end].T, ":", color=GREY, linewidth=1.2)
    for part, colour in zip(SHOWN, colours, strict=True):
        time = round(begin + part * (end - begin), 1)
        k = int(np.argmin(abs(run.result.t - time)))
        for link in LINKS:
            axes.plot(*_line(run, q[k], link).T, color=colour, linewidth=3.0, solid_capstyle="round")
        elbow, tip = (run.system.pose(q[k], node)[0][:2] for node in ("elbow_motor.origin", "payload.origin"))
        axes.plot(*elbow, "o", color=colour, markersize=6)
        axes.plot(*tip, "o", color=colour, markersize=9)
        # The poses that follow the first one lie on its outer side.
        _label(axes, f"{time:.1f} s", hand, k, outwards=part > 0.0)
    axes.plot(0, 0, "s", color=INK, markersize=10)
    style_axes(axes, "Two-link arm from above, deflections to scale", "x, m", "y, m")
    axes.margins(0.1)
    axes.set_aspect("equal", adjustable="datalim")


def _label(axes: Axes, text: str, path: Array, k: int, outwards: bool) -> None:
    """A label beside a point of a path, square to the path: away from the shoulder, or towards it."""
    # Far enough apart that the direction counts also where the path begins and ends at rest.
    ahead, behind = path[min(k + 150, len(path) - 1)], path[max(k - 150, 0)]
    normal = np.array([ahead[1] - behind[1], behind[0] - ahead[0]])
    normal *= (1.0 if outwards else -1.0) * np.sign(normal @ path[k]) / (np.linalg.norm(normal) or 1.0)
    offset = (15.0 * normal[0] + (4.0 if normal[0] > 0 else -4.0), 15.0 * normal[1] - 3.0)
    side = "left" if normal[0] > 0.0 else "right"
    axes.annotate(text, tuple(path[k]), offset, textcoords="offset points", fontsize=9, color=INK, ha=side)


def _line(run: Run, q: Array, link: str) -> Array:
    """Bent centre line of a link in the inertial frame, m, (n, 2)."""
    body = next(b for b in run.system.model.bodies if b.name == link)
    return np.array([run.system.pose(q, f"{link}.{node}")[0][:2] for node in body.node_names])
