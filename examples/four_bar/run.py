"""A four-bar linkage whose bars bend, beside the same one with stiff bars."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import bough
from bough.report import Curve, Panel, new_figure, save_figure
from bough.report.figures import draw_panel, style_axes

HERE = Path(__file__).resolve().parent
TURN = 2 * np.pi / 35.0  # s
STOP, STEP = 2 * TURN, TURN / 400
CRANK, COUPLER, ROCKER, PIVOT = 0.1, 0.28, 0.27, np.array([0.25, 0.0])  # m
LARGER = 5
"""Bending in the picture, against the truth."""


def simulate() -> bough.Result:
    """Two turns of the crank."""
    return bough.simulate(HERE / "model.yaml", stop=STOP, step=STEP, rtol=1e-8)


def place(result: bough.Result, node: str) -> np.ndarray:
    """Path of a node in the plane, (n, 2), m."""
    return np.column_stack([result[f"{node}.r[{k}]"] for k in (1, 2)])


def knee(result: bough.Result) -> np.ndarray:
    """Path of the pin between crank and coupler, (n, 2), m."""
    return CRANK * np.column_stack([np.cos(result["motor.phi"]), np.sin(result["motor.phi"])])


def stiff_pin(crank: np.ndarray) -> np.ndarray:
    """Where the pin would be if nothing bent: where two circles meet, (n, 2), m."""
    across = PIVOT - crank
    distance = np.linalg.norm(across, axis=1)[:, None]
    along = (COUPLER**2 - ROCKER**2 + distance**2) / (2 * distance)
    e = across / distance
    return crank + along * e + np.sqrt(COUPLER**2 - along**2) * np.column_stack([-e[:, 1], e[:, 0]])


def bent(start: np.ndarray, end: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """Deflection of the middle of a bar from the line between its ends, m."""
    along = (end - start) / np.linalg.norm(end - start, axis=1)[:, None]
    off = middle - start
    return off[:, 1] * along[:, 0] - off[:, 0] * along[:, 1]


def main(folder: Path = HERE) -> None:
    """Run, tell, draw."""
    result = simulate()
    crank, pin = knee(result), place(result, "coupler.tip")
    bends = {
        "coupler": bent(crank, pin, place(result, "coupler.n8")),
        "rocker": bent(np.tile(PIVOT, (len(pin), 1)), pin, place(result, "rocker.n8")),
    }
    off = 1e3 * np.linalg.norm(pin - stiff_pin(crank), axis=1)
    force = np.hypot(result["pin.reaction_force[1]"], result["pin.reaction_force[2]"])
    for name, bend in bends.items():
        print(f"the {name} bends by up to {1e3 * abs(bend).max():.2f} mm", end="; ")
    print(f"the pin is up to {off.max():.2f} mm from where stiff bars would have it")
    print(f"the pin carries up to {force.max():.0f} N, the motor gives up to {abs(result['motor.tau']).max():.2f} N.m")
    figure = new_figure(9.0, 7.0)
    axes = figure.subplot_mosaic([["mechanism", "bend"], ["mechanism", "force"]], width_ratios=[1.15, 1.0])
    draw_mechanism(axes["mechanism"], result, bends)
    curves = [Curve(name, 1e3 * bend) for name, bend in bends.items()]
    draw_panel(axes["bend"], result.t, Panel("Bending in the middle", "mm", curves))
    draw_panel(axes["force"], result.t, Panel("Force in the pin", "N", [Curve("", force)]))
    save_figure(figure, folder / "four_bar.png", dpi=100)


def draw_mechanism(axes, result: bough.Result, bends: dict[str, np.ndarray]) -> None:
    """The linkage at five instants of the second turn."""
    style_axes(axes, f"Second turn, bending {LARGER} times as large", "x, m", "y, m")
    crank, pin, x = knee(result), place(result, "coupler.tip"), np.linspace(0, 1, 21)[:, None]
    for shade, i in zip(np.linspace(0.25, 1.0, 5), range(400, 800, 80), strict=True):
        axes.plot([0, crank[i, 0]], [0, crank[i, 1]], color="tab:orange", lw=4, alpha=shade, solid_capstyle="round")
        for name, start, colour in (("coupler", crank[i], "tab:blue"), ("rocker", PIVOT, "tab:green")):
            along = (pin[i] - start) / np.linalg.norm(pin[i] - start)
            bar = start + x * (pin[i] - start)
            bar = bar + LARGER * bends[name][i] * np.sin(np.pi * x) * np.array([-along[1], along[0]])
            axes.plot(*bar.T, color=colour, lw=2, alpha=shade)
        axes.plot(*pin[i], "o", color="black", ms=4, alpha=shade)
    axes.plot(*place(result, "coupler.n8").T, color="0.6", lw=1, zorder=0)
    axes.plot([0, PIVOT[0]], [0, PIVOT[1]], "k^", ms=9)
    axes.set_aspect("equal")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
