"""A slider-crank with a rod that bends, beside the same one with a stiff rod."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import bough
from bough.report import Curve, Panel, new_figure, save_figure
from bough.report.figures import draw_panel, style_axes

HERE = Path(__file__).resolve().parent
STOP, STEP = 0.25, 2.5e-4


def simulate() -> bough.Result:
    """Four turns of the crank."""
    return bough.simulate(HERE / "model.yaml", stop=STOP, step=STEP, rtol=1e-8)


def bent(result: bough.Result) -> np.ndarray:
    """Deflection of the middle of the rod from the line between its ends, m."""
    phi = result["main.phi"]
    pin = 0.1 * np.column_stack([np.cos(phi), np.sin(phi)])
    tip, middle = (np.column_stack([result[f"rod.{n}.r[1]"], result[f"rod.{n}.r[2]"]]) for n in ("tip", "n8"))
    along = (tip - pin) / np.linalg.norm(tip - pin, axis=1)[:, None]
    off = middle - pin
    return off[:, 1] * along[:, 0] - off[:, 0] * along[:, 1]


def left_open(result: bough.Result) -> float:
    """The largest residual of the loop in any row, m and m/s."""
    system = bough.Mechanism(HERE / "model.yaml")
    q = np.column_stack([result[n] for n in system.q_names])
    u = np.column_stack([result[n] for n in system.u_names])
    return max(max(vars(system.closure_error(a, b)["wrist"]).values()) for a, b in zip(q, u, strict=True))


def main(folder: Path = HERE) -> None:
    """Run, tell, draw."""
    result = simulate()
    deflection, force = (
        1e3 * bent(result),
        np.hypot(result["wrist.reaction_force[1]"], result["wrist.reaction_force[2]"]),
    )
    print(f"the rod bends by up to {abs(deflection).max():.3f} mm; the wrist carries up to {force.max():.0f} N")
    print(f"the loop is open by {left_open(result):.0e} m, or m/s, at most")
    figure = new_figure(9.0, 6.5)
    axes = figure.subplot_mosaic([["mechanism", "mechanism"], ["bend", "force"]], height_ratios=[1.1, 1.0])
    draw_mechanism(axes["mechanism"], result)
    draw_panel(axes["bend"], result.t, Panel("Bending of the rod", "mm", [Curve("", deflection)]))
    draw_panel(axes["force"], result.t, Panel("Force in the wrist pin", "N", [Curve("", force)]))
    save_figure(figure, folder / "slider_crank.png", dpi=140)


def draw_mechanism(axes, result: bough.Result) -> None:
    """Crank, rod and piston at six instants of one turn; bending of the rod is drawn fifty times as large."""
    style_axes(axes, "One turn, bending of the rod fifty times as large", "x, m", "y, m")
    for shade, i in zip(np.linspace(0.2, 1.0, 6), np.linspace(0, 0.1 / STEP, 7).astype(int)[:6], strict=True):
        phi = result["main.phi"][i]
        pin = 0.1 * np.array([np.cos(phi), np.sin(phi)])
        wrist = np.array([result["rod.tip.r[1]"][i], result["rod.tip.r[2]"][i]])
        x = np.linspace(0, 1, 21)[:, None]
        along = (wrist - pin) / np.linalg.norm(wrist - pin)
        rod = pin + x * (wrist - pin) + 50 * bent(result)[i] * np.sin(np.pi * x) * np.array([-along[1], along[0]])
        axes.plot([0, pin[0]], [0, pin[1]], color="tab:orange", lw=4, alpha=shade, solid_capstyle="round")
        axes.plot(rod[:, 0], rod[:, 1], color="tab:blue", lw=2, alpha=shade)
        axes.plot(wrist[0], wrist[1], marker="s", color="black", ms=12, alpha=shade, fillstyle="none")
    axes.plot(0, 0, "ko")
    axes.axhline(0, color="0.7", lw=1, zorder=0)
    axes.set_aspect("equal")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
