"""The picture of a Campbell diagram."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from bough.report.figures import new_figure, save_figure, style_axes
from bough.report.palette import COLOURS, GRID, INK

ORDERS = (1, 2, 3, 4, 6)
"""Multiples of the speed that are drawn: what a rotor excites."""


def draw_campbell(
    path: str | os.PathLike[str],
    name: str,
    speeds: NDArray[np.float64],
    frequencies: NDArray[np.float64],
    damping: NDArray[np.float64],
    most: int = 12,
) -> None:
    """Write frequencies over speed, with rays at multiples of the speed, as PNG or SVG.

    Args:
        path: Of the file; its ending tells the format.
        name: Of the mechanism and the hinge.
        speeds: rad/s, (n,).
        frequencies: Hz, (n, m); NaN where there is none.
        damping: Ratios, (n, m); motions that grow are drawn red.
        most: Number of curves, the lowest.
    """
    shown, grows = frequencies[:, :most], damping[:, :most] < -1e-6
    figure = new_figure(8.0, 5.0)
    axes = figure.subplots()
    top = 1.08 * float(np.nanmax(shown, initial=1e-9))
    for order in ORDERS:
        axes.plot(speeds, order * abs(speeds) / (2 * np.pi), color=GRID, linewidth=1.2, zorder=1)
        x = min(speeds.max(), top * 2 * np.pi / order)
        axes.annotate(f"{order}x", (x, order * x / (2 * np.pi)), fontsize=8, color=INK, ha="right", va="bottom")
    for i in range(shown.shape[1]):
        axes.plot(speeds, shown[:, i], "-", color=COLOURS[i % len(COLOURS)], linewidth=1.5, zorder=2)
    wild = np.argwhere(grows)
    if wild.size:
        axes.plot(speeds[wild[:, 0]], shown[wild[:, 0], wild[:, 1]], "o", color="#d1242f", markersize=4, label="grows")
        axes.legend(fontsize=8.5, frameon=False)
    style_axes(axes, name, "speed, rad/s", "frequency, Hz (turning along)")
    axes.set_xlim(float(speeds.min()), float(speeds.max()))
    axes.set_ylim(0.0, top)
    save_figure(figure, path)
